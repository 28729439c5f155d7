"""Every name and attribute of a .fizz file, held against what there is, before anything runs.

A name is the file's own or one of `dsl.fizz.rules.allowed`; an attribute is a field or method of
the file's own or a method of Starlark's values; nothing begins with an underscore. So a .fizz file
cannot reach Python, and what is misspelt is told with its place.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import string
from collections.abc import Iterable, Iterator
from unicodedata import normalize

from statewalk.dsl.blocks import tree
from statewalk.dsl.errors import Mistakes, Span, did_you_mean
from statewalk.dsl.fizz.names import Names, RoleInfo, parameters, stored_names
from statewalk.dsl.fizz.rules.allowed import (
    FUNCTIONS,
    INSIDES,
    INSTEAD,
    LITERALS,
    MODULES,
    OWN,
    TAKEN,
    VALUES,
    Fields,
)
from statewalk.dsl.fizz.rules.meanings import (
    check_defaults,
    check_meanings,
    check_twice,
    early_reads,
    functions_as_text,
)
from statewalk.dsl.source.nodes import parts_of, walk
from statewalk.dsl.source.scopes import names as names_in

_COMBINED = "Write all roles and actions into one .fizz file."
_ALLOWED = "`statewalk docs fizz` lists what a .fizz file can use."
_SANDBOX = "A .fizz file can be checked without trust in who wrote it: it never runs Python."
_OUTSIDE = (("_", ast.Name), ("__returns__", ast.Name), ("__id__", ast.Attribute))
_NAMED = (tree.Act, tree.Func, tree.Role, tree.Assertion, ast.FunctionDef)
_BODIES = (tree.Act, tree.Func, tree.Assertion, tree.InitStanza, ast.FunctionDef)


def check_names(names: Names, file: str) -> None:
    """Raise SpecErrors (SW101, SW108, SW152, SW153, SW155) for names that mean nothing."""
    mistakes = Mistakes()
    check_twice(names, file, mistakes)
    check_defaults(names, file, mistakes)
    _Check(names, file, mistakes).run()
    check_meanings(names, file, mistakes)
    mistakes.raise_if_any()


class _Check:
    def __init__(self, names: Names, file: str, mistakes: Mistakes) -> None:
        self.names = names
        self.file = file
        self.mistakes = mistakes
        self.top = {*names.constants, *names.members, *names.roles}
        self.fields = Fields(names)
        self.role: RoleInfo | None = None

    def run(self) -> None:
        combined = [n for n in self.names.module.body if isinstance(n, tree.Compose)]
        for joined in combined:
            said = f"'{joined.name}:' combines specifications, which is not supported."
            self.mistakes.add("SW152", said, at=self._at(joined), help=_COMBINED)
        if combined:
            return
        for node in self.names.module.body:
            if isinstance(node, tree.Role):
                self._role(node)
            elif isinstance(node, tree.Node):
                self.visit(node, self.top | set(self.names.state))
            else:  # constants and functions of constants
                self.visit(node, self.top)
        for part in walk(self.names.module):
            for name, made in _written(part):
                self._spelling(name, part)
                taken = name in TAKEN and (isinstance(part, _NAMED) or not self._may_be_own(name))
                if made and taken:
                    self.python(part, f"'{name}' cannot be redefined: it is a predefined name.")
            if isinstance(part, tree.ChoiceBlock | ast.For | ast.comprehension):
                if not _is_names(part.target):
                    said = "A loop variable must be a name, or several names."
                    self.python(part.target, said)
        for shown in functions_as_text(self.names):
            said = f"str(...) of the function '{shown.id}' differs from run to run."
            self.python(shown, said, help=f'Write its name: "{shown.id}".')
        for name, read in early_reads(self.names):
            self._early(name, read)

    def _role(self, node: tree.Role) -> None:
        for decorator in node.decorators:
            self._decorator(decorator)
            self._lost(decorator, self.names.roles[node.name])
        for again in node.decorators[1:]:
            self.wrong(again, "A role can have only one @state(...).", "Remove this one.")
        for member in node.body:
            visible = self.top | set(self.names.state)
            if not isinstance(member, ast.FunctionDef):
                visible.add("self")
            if isinstance(member, tree.Assertion):
                said = f"The assertion '{member.name}' is inside a role, which is not supported."
                why = "Fizzbee reads it there and never checks it."
                help = "Write it outside, about the state: all([... for r in ...]) of each "
                help += f"{node.name}."
                self.mistakes.add("SW152", said, at=self._at(member), why=why, help=help)
                continue
            self.role = self.names.roles[node.name]
            self.visit(member, visible)
        self.role = None

    def visit(self, node: ast.AST, visible: set[str], *, called: bool = False) -> None:
        """Hold what is below a node against the names that are visible there."""
        if isinstance(node, ast.Name):
            self._name(node, visible)
            return
        if isinstance(node, _BODIES):
            for default in node.args.defaults if hasattr(node, "args") else ():
                self.visit(default, visible)
            visible = visible | _bound(node)
            for statement in node.body:
                self.visit(statement, visible)
            return
        if isinstance(node, ast.Lambda):
            for default in node.args.defaults:
                self.visit(default, visible)
            self.visit(node.body, visible | set(parameters(node.args)))
            return
        if isinstance(node, ast.Attribute):
            self._attribute(node, visible, called=called)
        elif isinstance(node, ast.Call):
            self._call(node, visible)
        else:
            visible = visible | _targets(node)
            for child in parts_of(node):
                self.visit(child, visible)

    # -- names --------------------------------------------------------------------------------
    def _name(self, node: ast.Name, visible: set[str], *, called: bool = False) -> None:
        word = node.id
        if (
            self._is_own(word, visible, called=called)
            or word == "__returns__"
            or not isinstance(node.ctx, ast.Load)
        ):
            if word in self.names.roles and not called:
                self.wrong(
                    node,
                    f"'{word}' is a role: it can only be called, {word}().",
                )
            return
        if word in FUNCTIONS:
            if not called and word not in VALUES | {"symmetry"}:
                self.python(node, f"'{word}' can only be called.")
        elif word[:1] == "_":
            pass  # said of every name, see _spelling
        elif hasattr(builtins, word):
            self.python(node, f"'{word}' is a function of Python's, not of this language.", word)
        else:
            self._unknown(node, visible)

    def _is_own(self, word: str, visible: set[str], *, called: bool = False) -> bool:
        """Return whether a name is one of the file's where it stands."""
        return word in visible and (word not in TAKEN or (self._may_be_own(word) and not called))

    def _may_be_own(self, word: str) -> bool:
        """Return whether a name of Python's may be that of a variable: not of one of the module."""
        return word in OWN and word not in self.top

    def _unknown(self, node: ast.Name, visible: set[str]) -> None:
        word = node.id
        if word in self.names.state:
            self._hidden(node)
        elif word == "self":
            said = "'self' is an instance of a role, but this is outside of roles."
            self.wrong(node, said, "Name the instance, or write the function in the role.")
        elif word == "load":
            self.wrong(node, "A .fizz file loads no modules.", "Copy the functions into this file.")
        else:
            self.wrong(node, f"There is no name '{word}'.", self._meant(word, visible))

    def _early(self, word: str, node: ast.Name) -> None:
        if word in self.names.state:
            self._hidden(node)
        else:
            known = set(self.names.state) | set(self.names.constants)
            help = self._meant(word, known)
            self.wrong(node, f"'{word}' is read before it has a value.", help)

    def _hidden(self, node: ast.Name) -> None:
        self.wrong(
            node,
            f"'{node.id}' is shared state, which does not exist yet when this runs.",
            "Init gives it a value. A function that uses it is written func, in place of def.",
        )

    def _meant(self, word: str, visible: Iterable[str]) -> str:
        if self.names.init is None:
            other = [n for n in self.names.members if n.lower() == "init"]
            called = f"It is called so, and not '{other[0]}'." if other else ""
            why = "There is no action Init, which makes the shared state."
            return f"{why} {called or f'Write action Init: with {word} = ... in it.'}"
        if word in ("null", "nil"):
            return "Nothing is written None."
        calls = (tree.Act, tree.Assertion)
        named = {n for n, m in self.names.members.items() if isinstance(m, calls)}
        own = sorted(set(visible) - named - {"self"})
        close = difflib.get_close_matches(word, [*own, *FUNCTIONS, *LITERALS], n=1)
        return f"Did you mean '{close[0]}'?" if close else did_you_mean(word, own)

    def _spelling(self, word: str, node: ast.AST) -> None:
        """A name that Python would read in another way, or that leads into its insides."""
        if word != normalize("NFKC", word) or not word.isidentifier():
            self.wrong(node, f"'{word}' is written with letters that names do not have.")
        elif word[:1] == "_" and (word, type(node)) not in _OUTSIDE:
            bare = word.strip("_")
            help = f"Name it {bare}." if bare.isidentifier() and word[:2] != "__" else ""
            self.python(node, f"'{word}' begins with an underscore.", help=help)
        elif word in INSIDES:
            self.python(node, f"'{word}' is the name of a Python internal.")

    # -- attributes and calls -----------------------------------------------------------------
    def _attribute(self, node: ast.Attribute, visible: set[str], *, called: bool = False) -> None:
        word, root = node.attr, node.value
        own = isinstance(root, ast.Name) and self._is_own(root.id, visible)
        if isinstance(root, ast.Name) and not own and root.id in FUNCTIONS:
            if root.id == "symmetry":
                return  # the translation says which kinds there are
            known = MODULES.get(root.id, frozenset())
            if word not in known or not isinstance(node.ctx, ast.Load):
                self.python(
                    node, f"{root.id} has no '{word}' here.", help=did_you_mean(word, sorted(known))
                )
            return
        self.visit(root, visible)
        if word == "format":
            self.python(node, "'format' can only be called on a string literal.")
        elif word not in INSIDES and word[:1] != "_":
            wrong = self.fields.wrong(node, self.role, called=called)
            if wrong is not None:
                message, why, help = wrong
                self.mistakes.add("SW101", message, at=self._at(node), why=why, help=help)

    def _call(self, node: ast.Call, visible: set[str]) -> None:
        function = node.func
        if isinstance(function, ast.Name):
            self._name(function, visible, called=True)
            if function.id in ("getattr", "hasattr"):
                self._asked(node)
            elif function.id == "type" and len(node.args) != 1:
                self.python(node, "'type' asks for the type of one value.", help="type(x)")
        elif isinstance(function, ast.Attribute) and function.attr == "format":
            self._format(node, function, visible)
        else:
            self.visit(function, visible, called=True)
        for argument in (*node.args, *(k.value for k in node.keywords)):
            self.visit(argument, visible)

    def _asked(self, node: ast.Call) -> None:
        """``getattr`` and ``hasattr`` ask for what could be written with a dot."""
        asked = node.args[1] if len(node.args) > 1 else None
        word = asked.value if isinstance(asked, ast.Constant) else None
        if not isinstance(word, str) or any(isinstance(a, ast.Starred) for a in node.args):
            self.python(
                node, "The name of a field is written here as text.", help='getattr(x, "a")'
            )
        elif word[:1] == "_" or word in INSIDES | {"format"} or word != normalize("NFKC", word):
            self.python(asked or node, f"'{word}' cannot be accessed.")

    def _format(self, node: ast.Call, function: ast.Attribute, visible: set[str]) -> None:
        text = function.value.value if isinstance(function.value, ast.Constant) else None
        if isinstance(text, str):
            if any(set(field) & set(".[") for field in _placeholders(text)):
                said = "What is put into text is a value as a whole."
                self.python(function.value, said, help='"{}".format(x.field)')
        else:
            self._attribute(function, visible, called=True)

    def _decorator(self, node: ast.expr) -> None:
        name = node.func if isinstance(node, ast.Call) else node
        given = node.keywords if isinstance(node, ast.Call) else []
        known = isinstance(name, ast.Name) and name.id == "state"
        if known and isinstance(node, ast.Call) and node.args:
            known = False
        for keyword in given:
            known &= keyword.arg in ("ephemeral", "durable") and _is_list_of_text(keyword.value)
        if not known:
            self.wrong(
                node,
                f"'@{ast.unparse(node)}' is not known.",
                'Declare what a crash loses: @state(ephemeral=["a"]) or @state(durable=["b"]).',
            )

    def _lost(self, node: ast.expr, role: RoleInfo) -> None:
        """Check that a crash takes or leaves fields of the role."""
        given = node.keywords if isinstance(node, ast.Call) else []
        for keyword in given[1:]:
            said = "A role takes either ephemeral= or durable=, not both."
            self.wrong(keyword, said, "Remove one of them.")
        for name in (n for keyword in given for n in walk(keyword.value)):
            word = name.value if isinstance(name, ast.Constant) else None
            if isinstance(word, str) and word not in role.fields:
                said = f"Role {role.node.name} sets no field '{word}'."
                help = did_you_mean(word, role.fields)
                self.mistakes.add("SW101", said, at=self._at(name), help=help)

    # -- errors -------------------------------------------------------------------------------
    def wrong(self, node: ast.AST, message: str, help: str = "") -> None:
        """Note an inconsistency, SW153."""
        self.mistakes.add("SW153", message, at=self._at(node), help=help)

    def python(self, node: ast.AST, message: str, word: str = "", help: str = "") -> None:
        """Something that would lead to Python, SW155."""
        help = help or INSTEAD.get(word, _ALLOWED)
        self.mistakes.add("SW155", message, at=self._at(node), why=_SANDBOX, help=help)

    def _at(self, node: ast.AST) -> Span:
        place = Span.of(node, self.file)
        if isinstance(node, ast.Attribute) and place.end_column:
            begin = place.end_column - len(node.attr)
            return Span(self.file, place.line, begin, place.end_column)
        return place


def _bound(node: ast.AST) -> set[str]:
    """Return the names that a function binds: its parameters and all that is assigned in it."""
    arguments = getattr(node, "args", None)
    found = set(parameters(arguments)) if arguments is not None else set()
    if isinstance(node, tree.Assertion) and "transition" in node.kinds:
        found |= {"before", "after"}
    found |= {n.name for n in walk(node) if isinstance(n, ast.FunctionDef)}
    return found | set(stored_names(node.body))  # type: ignore[attr-defined]


def _targets(node: ast.AST) -> set[str]:
    """Return the names that a comprehension binds, or the condition of a choice asks about."""
    if isinstance(node, tree.Choice):
        return names_in(node.target)
    return names_in(*(g.target for g in getattr(node, "generators", ())))


def _written(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that a node writes down, and whether it gives them a meaning."""
    if isinstance(node, ast.Name):
        yield node.id, not isinstance(node.ctx, ast.Load)
    elif isinstance(node, ast.Attribute):
        yield node.attr, False
    elif isinstance(node, ast.arg | ast.keyword) and node.arg is not None:
        yield node.arg, isinstance(node, ast.arg)
    elif isinstance(node, _NAMED):
        yield node.name, True


def _is_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_is_names, target.elts))
    return isinstance(target, ast.Name)


def _placeholders(text: str) -> Iterator[str]:
    """Yield what the braces of a text ask for, at any depth."""
    try:
        for _, field, form, _ in string.Formatter().parse(text):
            if field is not None:
                yield field
                yield from _placeholders(form or "")
    except ValueError:
        yield "."


def _is_list_of_text(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple) and all(
        isinstance(e, ast.Constant) and isinstance(e.value, str) for e in node.elts
    )
