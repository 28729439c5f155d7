"""A .fizz file cannot run Python: every way out that was thought of is refused before it runs.

An escape stands where MARK is replaced by the name of a file that must not come to be.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError, SpecErrors
from statewalk.dsl.fizz.convert import convert
from statewalk.dsl.fizz.rules.allowed import builtins_of_fizz
from tests.cases import some

# Each is an expression; it is tried as a constant, in Init, an action, a property, a function, ...
EXPRESSIONS = [
    "__import__('os').system('touch MARK')",
    "__import__('pathlib').Path('MARK').touch()",
    "open('MARK', 'w')",
    "open('MARK', 'w').write('x')",
    "eval(\"open('MARK', 'w')\")",
    "exec(\"open('MARK', 'w')\")",
    "compile(\"open('MARK', 'w')\", '', 'eval')",
    "__builtins__['open']('MARK', 'w')",
    "__builtins__.open('MARK', 'w')",
    "globals()['__builtins__']['open']('MARK', 'w')",
    "locals()",
    "vars()",
    "vars(len)",
    "().__class__.__base__.__subclasses__()",
    "[].__class__.__mro__[1].__subclasses__()",
    "''.__class__",
    "(1).__class__.__bases__",
    "getattr((), '__class__')",
    "getattr((), '__cl' + 'ass__')",
    "getattr((), *['__class__'])",
    "getattr((), name)",
    "hasattr((), '__class__')",
    "list(map(getattr, [()], ['__class__']))",
    "sorted([()], key=getattr)",
    "'{0.__class__}'.format(1)",
    "'{0.__class__.__base__}'.format(())",
    "'{a[__class__]}'.format(a=1)",
    "'{:{0.__class__}}'.format(1)",
    "('{0.__cl' + 'ass__}').format(1)",
    "text.format(1)",
    "str.format('{0.__class__}', 1)",
    "'{0.__class__}'.format_map({'0': 1})",
    "['{0.__class__}'.format][0](1)",
    "type(1).mro()",
    "type('X', (), {})",
    "str.mro()",
    "(lambda: open('MARK', 'w'))()",
    "(lambda f=open: f('MARK', 'w'))()",
    "(lambda *a: a[0].__class__)(1)",
    "[open('MARK', 'w') for x in [1]]",
    "[f('MARK', 'w') for f in [open]]",
    "{k: __import__('os') for k in [1]}",
    "{x.__class__ for x in [1]}",
    "list(x.gi_frame for x in [(y for y in [1])])",
    "(x for x in [1]).gi_frame.f_globals",
    "(x for x in [1]).gi_frame.f_back.f_builtins",
    "(x for x in [1]).gi_code",
    "record.__init__.__globals__",
    "record(a=1)._freeze()",
    "record(__class__=1)",
    "record(_bytes=None)",
    "record(_freeze=lambda: 1)",
    "struct(**{'_bytes': 1}).__dict__",
    "enum('__class__').__class__",
    "genericset([1])._content",
    "genericmap().__init__",
    "bag([1])._content",
    "deepcopy.__globals__['freeze']",
    "fail.__globals__",
    "len.__self__",
    "len.__self__.open('MARK', 'w')",
    "print.__self__",
    "math.__loader__",
    "math.__dict__",
    "itertools.__spec__",
    "itertools.chain.from_iterable([])",
    "itertools.sys",
    "math.factorial(10)",
    "symmetry.__class__",
    "state.__class__",
    "shared._fields",
    "Shared.x",
    "State",
    "Role._instances",
    "Role.__subclasses__()",
    "Actor._instances",
    "Actor._fields",
    "Actor.mro()",
    "Actor.__init__.__globals__",
    "[Actor][0]",
    "actor._index",
    "actor.__dict__",
    "actor.Move.__globals__",
    "actor.Move.__func__.__code__",
    "Move.__code__",
    "helper.__globals__['__builtins__']",
    "helper.__code__.co_consts",
    "helper.__defaults__",
    "helper.__kwdefaults__",
    "__sw__.builtins",
    "__sw__",
    "__name__",
    "__file__",
    "__package__",
    "__annotations__",
    "__build_class__",
    "__debug__",
    "__returns__.__class__",
    "__id__.name",
    "actor.__id__.__class__",
    "next_states()[0].__class__",
    "next_states.__globals__",
    "resolve_role.__class__",
    "breakpoint()",
    "input()",
    "help()",
    "license",
    "exit()",
    "quit(3)",
    "copyright",
    "setattr(actor, 'x', 1)",
    "delattr(actor, 'x')",
    "object()",
    "super()",
    "property(len).fget",
    "classmethod(len)",
    "memoryview(b'a').obj",
    "id(1)",
    "dir",
    "any_of([1])",
    "require",
    "action",
    "Constant",
    "Any",
    "max_actions(3)",
    "intern_key(1)",
    "freeze(1)",
    "_at_once",
    "\uff3f\uff3fimport\uff3f\uff3f('os')",
    "().\uff3f\uff3fclass\uff3f\uff3f",
    "().__\uff43lass__",
    "\uff4fpen('MARK', 'w')",
    "\ufe33\ufe33builtins\ufe33\ufe33",
    "os.system('touch MARK')",
    "sys.modules",
    "subprocess.run(['touch', 'MARK'])",
    "load('os', 'system')",
    "importlib.import_module('os')",
]  # fmt: skip
PLACES = {
    "constant": "K = {}\n",
    "choice": "action A:\n    k = oneof [{}]\n",
    "action": "atomic action A:\n    k = {}\n",
    "guard": "action A:\n    require {}\n    pass\n",
    "function": "atomic func f(a):\n    return {}\natomic action A:\n    b = f(1)\n",
    "default": "func g(a={}):\n    return a\n",
    "method": "role S:\n    def m(self, a={}):\n        return a\n",
    "property": "always assertion P:\n    return {}\n",
    "invariants": "invariants:\n    always {}\n",
    "lambda": "always assertion P:\n    return (lambda a: a)({})\n",
}
BASE = """
name = "__class__"
text = "{0.__class__}"
def helper(a):
    return a
role Actor:
    action Init:
        self.x = 0
    atomic action Move:
        self.x = 1 - self.x
action Init:
    n = 0
    actor = Actor()
"""
# Whole files.
FILES = {
    "import": "import os\n",
    "from": "from os import system\n",
    "import in an action": "action A:\n    import os\n",
    "class": "class X:\n    pass\n",
    "decorator": "@print\nrole R:\n    action Init:\n        self.x = 0\n",
    "decorator called": "@open('MARK', 'w')\nrole R:\n    action Init:\n        self.x = 0\n",
    "argument of a decorator": "@state(ephemeral=open('MARK', 'w'))\nrole R:\n    action Init:\n"
    "        self.x = 0\n",
    "decorator of other text": "@state([].__class__)\nrole R:\n    action Init:\n        pass\n",
    "name of a function": "def __init_subclass__(a):\n    return a\n",
    "name of an action": "action __init__:\n    pass\n",
    "name of a role": "role __builtins__:\n    action Init:\n        self.x = 0\n",
    "name of a method": "role R:\n    def __getattr__(self, name):\n        return name\n",
    "name of a parameter": "func f(__import__):\n    return __import__\n",
    "name of an assertion": "always assertion __import__:\n    return True\n",
    "name of state": "action Init:\n    __builtins__ = {}\n",
    "name of a field": "role R:\n    action Init:\n        self.__class__ = 1\n",
    "name of a loop": "action A:\n    for __builtins__ in [1]:\n        pass\n",
    "name of a choice": "action A:\n    oneof __builtins__ in [1]:\n        pass\n",
    "field of a class": "role R:\n    action Init:\n        self._instances = []\n",
    "field of the insides": "role R:\n    action Init:\n        self.gi_frame = 1\n",
    "a field called format": "K = record(format=1)\nL = ('{0.__cl' + 'ass__}').format(K)\n",
    "a member called format": "K = enum('format')\nL = ('{0.__cl' + 'ass__}').format(K)\n",
    "a member called mro": "K = enum('mro')\nL = K.mro()\n",
    "options with code": "---\naction_options:\n  'A\\nimport os':\n    max_actions: 1\n---\n"
    "action A:\n    pass\n",
    "options of a role": "---\naction_options:\n  'R#0).x(':\n    max_actions: 1\n---\n"
    "action A:\n    pass\n",
    "field by keyword": "action Init:\n    a = record(gi_frame=1)\n    b = [].gi_frame\n",
    "method of a module": "math.floor = 3\n",
    "method of a class": "bag.add = 3\n",
    "method of a function": "def f(a):\n    return a\nf.__code__ = 3\n",
    "a class as an argument": "def f(a):\n    a.add = 3\nK = f(bag)\n",
    "builtins changed": "__builtins__['len'] = 3\n",
    "label": "action A:\n    `x` k = open('MARK', 'w')\n",
    "nested function": "action A:\n    def g(a):\n        return open('MARK', 'w')\n    k = g(1)\n",
    "print": "action A:\n    print(open('MARK', 'w'))\n",
    "text in front": "---\noptions: !!python/object/apply:os.system ['touch MARK']\n---\n",
    "tag in front": "---\n!!python/name:os.system\n---\n",
    "f-string": "K = f\"{open('MARK', 'w')}\"\n",
    "walrus": "K = (a := open)\n",
    "star": "from statewalk import *\n",
    "type comment": "K = [] # type: open('MARK', 'w')\nL = open('MARK', 'w')\n",
    "exception": "action A:\n    try:\n        k = 1\n    except Exception as e:\n        k = e\n",
    "with": "action A:\n    with open('MARK', 'w') as f:\n        pass\n",
    "await": "action A:\n    await x\n",
    "yield": "action A:\n    yield 1\n",
    "global": "action A:\n    global __builtins__\n",
    "two at once": "action A:\n    a, b = open('MARK', 'w'), 1\n",
    "index": "action Init:\n    d = {}\n    d[open('MARK', 'w')] = 1\n",
    "slice": "K = [1][open('MARK', 'w'):]\n",
    "bounds of a for": "action A:\n    for x in open('MARK', 'w'):\n        pass\n",
    "condition of a choice": "action A:\n    x = oneof [1] if open('MARK', 'w')\n",
    "while": "atomic action A:\n    while open('MARK', 'w'):\n        pass\n",
    "return": "action A:\n    return open('MARK', 'w')\n",
    "augmented": "action Init:\n    n = 1\n    n += open('MARK', 'w')\n",
    # names that have no value where they are looked up, whatever the file says of them elsewhere
    "bound later": "X = getattr((), '__class__')\ngetattr = 1\n",
    "bound in no turn": "for getattr in []:\n    pass\nX = getattr((), '__class__')\n",
    "bound where nothing goes": "if False:\n    getattr = 1\ndef g(a):\n"
    "    return getattr(a, '__class__')\n",
    "bound for a converted file": "OUT = eval('1')\neval = 1\n",
    "bound by a loop for a converted file": "for open in []:\n    pass\n"
    "T = open('MARK', 'w')\n",
    "bound by a comprehension": "always assertion T:\n"
    "    a = [getattr for getattr in [getattr((), '__class__')]][0]\n    return True\n",
    "bound by an assertion": "always assertion T(getattr):\n"
    "    return getattr((), '__class__')\n",
    "bound by more of an assertion": "always assertion T(*getattr):\n"
    "    return getattr((), '__class__')\n",
    "bound by a transition assertion": "transition assertion T(a, b, getattr):\n"
    "    return getattr((), '__class__')\n",
    "bound inside": "def h(a):\n    def g():\n        getattr = 1\n        return getattr\n"
    "    return getattr((), '__class__')\n",
    "bound by a default": "role R:\n    action Init:\n        self.x = 0\n"
    "    func peek(getattr=1):\n        return getattr(self, '__class__')\n",
    "target of a comprehension": "D = {}\nX = [0 for D[getattr((), '__class__')] in [1]]\n",
    "target that is shared": "action A:\n    q = [0 for type(record(a=1)).a in [lambda: 1]]\n",
    "target in a module": "action A:\n    q = [0 for math.pi in [1]]\n",
    "target of a loop": "action A:\n    for math.pi in [1]:\n        pass\n",
    "init stanza": "init:\n    n = open('MARK', 'w')\n",
}  # fmt: skip


def files() -> Iterator[tuple[str, str]]:
    for expression in EXPRESSIONS:
        for place, text in PLACES.items():
            yield f"{expression} as {place}", BASE + text.replace("{}", expression)
    for name, text in FILES.items():
        yield name, text


def told(error: SpecError) -> list[SpecError]:
    return error.errors if isinstance(error, SpecErrors) else [error]


ESCAPES = dict(files())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", some([*EXPRESSIONS, *FILES], every=21))
def test_a_way_out_is_refused_with_its_place_before_anything_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mark, path = tmp_path / "marker", tmp_path / "escape.fizz"
    texts = [t for n, t in ESCAPES.items() if n == name or n.startswith(f"{name} as ")]

    for number, text in enumerate(texts):
        path.write_text(text.replace("MARK", str(mark)), encoding="utf-8")
        for run in (check, convert) if not number else (check,):
            with pytest.raises(SpecError) as refused:
                run(str(path))

            found = told(refused.value)
            assert {e.code for e in found} <= {"SW101", "SW150", "SW151", "SW152", "SW153", "SW155"}
            assert all(e.at is not None and e.at.line > 0 for e in found)
        assert ["escape.fizz"] == [p.name for p in tmp_path.iterdir()]


@pytest.mark.parametrize(
    "text",
    [
        "action Init:\n    a = record(**{'_bytes': 1})\n",
        "action Init:\n    a = record(**{'_fr' + 'eeze': 1})\n",
        "K = enum('_x')\n",
        "K = struct(**{'__class__': 1})\n",
    ],
)
def test_names_that_are_made_up_while_running_do_not_reach_inside(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "inside.fizz"
    path.write_text(text + "action A:\n    pass\n")

    with pytest.raises(SpecError, match="cannot be called"):
        check(path)


def test_a_module_of_a_fizz_file_has_no_other_functions_of_python_while_it_runs() -> None:
    found = builtins_of_fizz()

    assert not {"open", "eval", "exec", "compile", "globals", "vars", "input"} & set(found)
    for name in ("os", "sys", "builtins", "statewalk.dsl.loader", "checker"):
        with pytest.raises(ImportError):
            found["__import__"](name)
    for parts in (("eval",), ("list", "open"), ("*",)):
        with pytest.raises(ImportError):
            found["__import__"]("builtins", parts=parts)


def test_the_name_of_a_file_does_not_reach_the_converted_text(tmp_path: Path) -> None:
    path = tmp_path / 'a"""; import os; """.fizz'
    path.write_text("action Init:\n    n = 0\naction A:\n    pass\n")

    (text, *_) = ast.parse(convert(str(path))).body

    assert isinstance(text, ast.Expr)
    assert "import os" in ast.unparse(text)
