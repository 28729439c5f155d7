"""Expressions of .fizz text as expressions of the embedded language.

State variables become fields of one `State`, Starlark's functions become Python's or those of
`dsl.fizz.runtime.values`, and what has no counterpart is refused by name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.fizz.names import Names
from statewalk.dsl.fizz.text.build import no_arguments
from statewalk.dsl.source.nodes import copied
from statewalk.dsl.source.scopes import names as names_in


@dataclass
class Scope:
    """The scope of an expression: its locals, and whether ``self`` and the state are in sight."""

    role: str | None = None
    locals: set[str] = field(default_factory=set)
    state: bool = True
    before: str | None = None
    after: str | None = None


# What translated text imports, and from where. Of Python's own only what has another name here.
PYTHON = "builtins"
SOURCES = {
    PYTHON: ("bool", "dict", "int", "len", "list", "range", "set", "str", "tuple"),
    "statewalk": (
        "Bag", "Constant", "Flow", "Role", "State", "action", "always", "any_of", "atomic",
        "crashes", "deadlock", "eventually", "exists", "init", "interrupt", "old", "on_step",
        "oneof", "parallel", "require", "serial", "symmetric_values", "threads",
    ),
    "statewalk.dsl.fizz.runtime.values": (
        "Loop", "at_most", "deepcopy", "enum", "fail", "genericmap", "genericset", "in_flight",
        "max_actions", "no_liveness", "record", "struct", "type_name",
    ),
    "statewalk.dsl.blocks.steps": (
        "acted", "acts", "chooses", "chose", "done", "ends", "fell", "gives_way", "next_turns",
        "over", "remaining", "settles", "took", "turn_of", "waits", "without_turn",
    ),
    "statewalk.dsl.fizz.runtime.symmetry": ("nominal",),
    "statewalk.dsl.fizz.runtime.numbered": ("interval", "ordinal", "rotational"),
    "statewalk.dsl.fizz.runtime.next": ("before_step", "next_states"),
}  # fmt: skip
MODULES = ("itertools", "math")


# By kind of domain: what can be asked of it, and what that is called here.
_ALL = {"fresh": "fresh", "values": "used"}
_ANY, _ENDS = (
    {**_ALL, "choices": "choices", "choose": "choose"},
    {**_ALL, "min": "min", "max": "max"},
)
_METHODS = {
    "nominal": _ANY, "rotational": _ANY, "interval": _ENDS,
    "ordinal": {**_ENDS, "segments": "segments"},
}  # fmt: skip
_HELP = f"There are: {', '.join(f'symmetry.{kind}(...)' for kind in sorted(_METHODS))}."


def kind_of_domain(node: ast.AST) -> str | None:
    """Return the kind of domain that ``symmetry.kind(...)`` declares; None for any other node."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id == "symmetry" else None
    return None


def declared_domain(x: Expressions, node: ast.Call) -> ast.expr | None:
    """Return what declares a domain; None for other calls. Raises SpecError[SW152, SW153]."""
    kind = kind_of_domain(node)
    if kind is None or _is_shadowed(x):
        return None
    if kind not in _METHODS:
        raise x.wrong(node, f"There is no symmetry.{kind}(...).", _HELP)
    if x.scope.state or x.scope.role is not None:
        raise x.wrong(node, "Domains are declared at the top level of the file.")
    return x.imported(kind, node)


def asked_of_domain(x: Expressions, function: ast.expr) -> str | None:
    """Return the method that is called of a domain, or None. Raises SpecError[SW153]."""
    if not isinstance(function, ast.Attribute):
        return None
    of = function.value
    named = isinstance(of, ast.Name) and of.id in x.names.domains and of.id not in x.scope.locals
    kind = x.names.domains[of.id] if named and isinstance(of, ast.Name) else kind_of_domain(of)
    if kind not in _METHODS or (not named and _is_shadowed(x)):
        return None
    methods = _METHODS[kind]
    if function.attr not in methods:
        help = f"There are: {', '.join(f'{name}()' for name in sorted(methods))}."
        raise x.wrong(function, f"A domain of kind {kind} has no {function.attr}().", help=help)
    return methods[function.attr]


def _is_shadowed(x: Expressions) -> bool:
    known = (x.scope.locals, x.names.constants, x.names.members, x.names.state)
    return any("symmetry" in names for names in known)


E = TypeVar("E", bound=ast.AST)

# Functions that are imported. The others are Python's own.
RUNTIME = {
    "bag": "Bag",
    "record": "record", "struct": "struct", "enum": "enum", "genericset": "genericset",
    "genericmap": "genericmap", "deepcopy": "deepcopy", "fail": "fail", "type": "type_name",
    "math": "math", "itertools": "itertools",
}  # fmt: skip
_TAKES_ANY_ITERABLE = frozenset({
    "list", "set", "tuple", "sorted", "len", "sum", "min", "max", "any", "all", "reversed",
    "enumerate", "zip", "bag", "genericset", "dict", "frozenset", "genericmap",
})  # fmt: skip
_TAKES_LISTS = frozenset({"len", "reversed"})
AT_ONCE = "at_once"
_LAZY = frozenset({"range", "zip", "enumerate", "reversed"})
_VIEWS = frozenset({"keys", "values", "items"})
_REFUSED = {
    "Channel": "Channels deliver calls as steps of their own",
    "symmetric_values": "Symmetric values",
    "symmetry": "'symmetry' without a kind",
}


class Expressions:
    """Translates expressions of one specification."""

    def __init__(self, names: Names, file: str, dsl: dict[str, str], state: str) -> None:
        self.names = names
        self.file = file
        self.dsl = dsl
        self.state = state
        self.needs: set[str] = set()
        self.scope = Scope()
        self.has_state = False
        self.created: list[tuple[str, ast.Call]] = []
        self.may_create = False
        self.twins: set[str] = set()
        self.at_once = False
        self._inside = 0

    # -- building -----------------------------------------------------------------------------
    def name(self, word: str, at: ast.AST) -> ast.expr:
        """Return a name that the translation brings along."""
        return ast.copy_location(ast.Name(word, ast.Load()), at)

    def stored(self, word: str, at: ast.AST) -> ast.expr:
        """Return the same as a target."""
        return ast.copy_location(ast.Name(word, ast.Store()), at)

    def word(self, word: str) -> str:
        """Return what one of the `SOURCES` gives, by the name that it has in this module."""
        self.needs.add(word)
        return self.dsl[word]

    def imported(self, word: str, at: ast.AST) -> ast.expr:
        """Return the same as an expression."""
        return self.name(self.word(word), at)

    def type(self, text: str) -> str:
        """Return a type, by the names that it has in this module."""
        found = ast.parse(text, mode="eval").body
        for part in ast.walk(found):
            if isinstance(part, ast.Name) and part.id in self.dsl:
                part.id = self.word(part.id)
        return ast.unparse(found)

    def is_python(self, word: str) -> bool:
        """Return whether a name that the file says is none of its own, and means one of
        Python's.
        """
        names = self.names
        own = (self.scope.locals, names.constants, names.members, names.roles, names.state)
        return not any(word in known for known in own)

    def call(self, function: ast.expr, *arguments: ast.expr) -> ast.Call:
        """Return a call, placed where the function's name is."""
        return ast.copy_location(ast.Call(function, list(arguments), []), function)

    def refuse(self, node: ast.AST, what: str, help: str = "") -> SpecError:
        """Return the error of a construct that is known and not supported."""
        return SpecError(
            "SW152", f"{what}, which is not supported.", at=Span.of(node, self.file), help=help
        )

    def wrong(self, node: ast.AST, message: str, help: str = "") -> SpecError:
        """Return the error of a construct that the language does not allow."""
        return SpecError("SW153", message, at=Span.of(node, self.file), help=help)

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Translate in another scope for a while."""
        saved, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = saved

    @contextmanager
    def bound(self, names: set[str]) -> Iterator[None]:
        """Translate where a comprehension or lambda binds names."""
        added = names - self.scope.locals
        self.scope.locals |= added
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self.scope.locals -= added

    # -- translating --------------------------------------------------------------------------
    def __call__(self, node: ast.expr) -> ast.expr:
        """Return an expression of the embedded language."""
        found: ast.expr = getattr(self, "_" + type(node).__name__.lower(), self.plainly)(node)
        return found

    def optional(self, node: ast.expr | None) -> ast.expr | None:
        """Return the same for what may be missing."""
        return self(node) if node is not None else None

    def iterable(self, node: ast.expr) -> ast.expr:
        """Return an expression that is only gone through: no list needs to be made of it."""
        if isinstance(node, ast.Call) and self._is_lazy(node):
            return self._plain_call(node)
        if isinstance(node, ast.GeneratorExp):
            return self._comprehension(node, "elt")
        return self(node)

    def plainly(self, node: E) -> E:
        """Return a node of which only the parts need translating."""
        changed: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                changed[name] = self(value)
            elif isinstance(value, list):
                changed[name] = [self(v) if isinstance(v, ast.expr) else v for v in value]
            else:
                changed[name] = value
        return ast.copy_location(type(node)(**changed), node)

    def is_state(self, word: str) -> bool:
        """Return whether a name means a state variable here."""
        scope = self.scope
        return scope.state and word in self.names.state and word not in scope.locals

    def _name(self, node: ast.Name) -> ast.expr:
        word = node.id
        if word == "__returns__":
            return self.field(self.names.make("returns"), node)
        if self.is_state(word):
            return self.field(word, node)
        scope = self.scope
        if word in scope.locals or word in self.names.constants or word in self.names.members:
            return ast.copy_location(ast.Name(word, node.ctx), node)
        if word in RUNTIME and isinstance(node.ctx, ast.Load):
            return self.imported(RUNTIME[word], node)
        if word in _REFUSED:
            raise self.refuse(node, _REFUSED[word])
        if word in (scope.before, scope.after) and word is not None:
            said = f"'{word}' stands for the whole state here"
            raise self.refuse(node, said, help=f"Ask for a variable of it: {word}.x")
        return ast.copy_location(ast.Name(word, node.ctx), node)

    def field(self, word: str, node: ast.expr) -> ast.expr:
        """Return a state variable."""
        context = getattr(node, "ctx", ast.Load())
        return ast.copy_location(ast.Attribute(self.name(self.state, node), word, context), node)

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "__id__":
            return self(node.value)
        if node.attr == "name" and isinstance(node.value, ast.Attribute):
            if node.value.attr == "__id__":
                of = self.call(self.name("type", node), self(node.value))
                return ast.copy_location(ast.Attribute(of, "__name__", ast.Load()), node)
        root = _root(node)
        if isinstance(root, ast.Name) and root.id in (self.scope.before, self.scope.after):
            return self._of_state(node, root)
        return self.plainly(node)

    def _of_state(self, node: ast.expr, root: ast.Name) -> ast.expr:
        """``before.x.y`` in a transition assertion: `old` of the whole chain."""
        word = root.id

        def rebuilt(part: ast.expr) -> ast.expr:
            if isinstance(part, ast.Attribute) and part.value is root:
                return self.field(part.attr, part)
            assert isinstance(part, ast.Attribute)
            return ast.copy_location(ast.Attribute(rebuilt(part.value), part.attr, part.ctx), part)

        found = rebuilt(node)
        if word == self.scope.before:
            if self.dsl.get("old", "old") != "old":
                raise self.wrong(
                    node, "A specification with transition assertions cannot use the name 'old'."
                )
            if not self.names.roles:
                return self.call(self.imported("old", node), found)
            asked = self.imported("before_step", node)
            return self.call(asked, ast.copy_location(ast.Lambda(no_arguments(), found), node))
        return found

    def _is_lazy(self, node: ast.Call) -> bool:
        if asked_of_domain(self, node.func) is not None:
            return False
        if isinstance(node.func, ast.Name):
            return node.func.id in _LAZY and self.is_python(node.func.id)
        return _is_of_itertools(node) or _is_view(node)

    def _call(self, node: ast.Call) -> ast.expr:
        if self._is_lazy(node):
            return self.call(self.imported("list", node), self._plain_call(node))
        return self._plain_call(node)

    def _plain_call(self, node: ast.Call) -> ast.expr:
        domain = declared_domain(self, node)
        if domain is not None:
            return self._rebuilt(node, domain, [self(a) for a in node.args])
        asked = asked_of_domain(self, node.func)
        if asked is not None and isinstance(node.func, ast.Attribute):
            method = ast.Attribute(self(node.func.value), asked, ast.Load())
            return self._rebuilt(node, ast.copy_location(method, node.func), node.args)
        function = self._twin(node.func)
        if isinstance(function, ast.Name) and function.id not in self.scope.locals:
            word = function.id
            if word in self.names.roles:
                return self._create(node, word)
            if word == "next_states" and not node.args:
                ahead = self.imported(word, node)
                return self.call(ahead, *([self.name(self.state, node)] * self.has_state))
            if word == "symmetric_values" and 1 <= len(node.args) <= 2:
                prefix = ast.copy_location(ast.Constant("value"), node)
                given = [self(a) for a in node.args]
                return self.call(self.imported(word, node), *([prefix, *given])[-2:])
            if word == "resolve_role" and len(node.args) == 1:
                return self(node.args[0])
            if word == "print":
                return ast.copy_location(ast.Constant(None), node)
            if word in _TAKES_ANY_ITERABLE and self.is_python(word):
                lists = word in _TAKES_LISTS
                arguments = [
                    self(a) if lists and not _has_length(a) else self.iterable(a) for a in node.args
                ]
                return self._rebuilt(node, self(function), arguments)
        return self._rebuilt(node, self(function), [self(a) for a in node.args])

    def _twin(self, function: ast.expr) -> ast.expr:
        """Return where no step can end, a function that gives way is called as one that
        does not.
        """
        if self.at_once and isinstance(function, ast.Name) and function.id in self.twins:
            name = ast.Name(self.names.make(function.id, AT_ONCE), ast.Load())
            return ast.copy_location(name, function)
        if self.at_once and isinstance(function, ast.Attribute) and function.attr in self.twins:
            twin = self.names.make(function.attr, AT_ONCE)
            method = ast.Attribute(function.value, twin, ast.Load())
            return ast.copy_location(method, function)
        return function

    def _rebuilt(self, node: ast.Call, function: ast.expr, arguments: list[ast.expr]) -> ast.expr:
        named = [ast.copy_location(ast.keyword(k.arg, self(k.value)), k) for k in node.keywords]
        return ast.copy_location(ast.Call(function, arguments, named), node)

    def _create(self, node: ast.Call, word: str) -> ast.expr:
        """Return a new role: made in a statement of its own, so that its Init runs right after."""
        if not self.may_create:
            said = f"{word}(...) makes a role outside of Init and of steps."
            raise self.wrong(node, said, help="Make it in an action, or in a func that one calls.")
        if self._inside:
            said = f"{word}(...) makes a role inside a comprehension."
            raise self.wrong(node, said, help="One role is made per statement: use a for loop.")
        named = [ast.copy_location(ast.keyword(k.arg, self(k.value)), k) for k in node.keywords]
        made = ast.copy_location(ast.Call(self.name(word, node), [], named), node)
        self.created.append((word, made))
        return made

    def _compare(self, node: ast.Compare) -> ast.expr:
        known = _between_literals(node)
        if known is not None:
            return ast.copy_location(ast.Constant(known), node)
        operators: list[ast.cmpop] = []
        values = [node.left, *node.comparators]
        for index, operator in enumerate(node.ops):
            pair = values[index], values[index + 1]
            single = any(_is_singleton(v) for v in pair)
            if single and isinstance(operator, ast.Eq):
                operators.append(ast.Is())
            elif single and isinstance(operator, ast.NotEq):
                operators.append(ast.IsNot())
            else:
                operators.append(operator)
        members = [isinstance(o, ast.In | ast.NotIn) for o in operators]
        right = [
            self.iterable(v) if m else self(v)
            for v, m in zip(node.comparators, members, strict=True)
        ]
        return ast.copy_location(ast.Compare(self(node.left), operators, right), node)

    def _comprehension(self, node: Any, *parts: str) -> ast.expr:
        generators: list[ast.comprehension] = []
        names = names_in(*(g.target for g in node.generators))
        first = self.iterable(node.generators[0].iter)
        with self.bound(names):
            for index, g in enumerate(node.generators):
                source = first if index == 0 else self.iterable(g.iter)
                conditions = [self(c) for c in g.ifs]
                generators.append(ast.comprehension(g.target, source, conditions, is_async=0))
            values = [self(getattr(node, part)) for part in parts]
        made: ast.expr = type(node)(*values, generators)
        return ast.copy_location(made, node)

    def _listcomp(self, node: ast.ListComp | ast.SetComp) -> ast.expr:
        return self._comprehension(node, "elt")

    _setcomp = _listcomp

    def _generatorexp(self, node: ast.GeneratorExp) -> ast.expr:
        """Return a list, as everything here: it can be gone through again."""
        listed = ast.ListComp(node.elt, node.generators)
        return self._comprehension(ast.copy_location(listed, node), "elt")

    def _dictcomp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(node, "key", "value")

    def _lambda(self, node: ast.Lambda) -> ast.expr:
        defaults = [self(d) for d in node.args.defaults]
        with self.bound({a.arg for a in node.args.args}):
            body = self(node.body)
        arguments = copied(node.args)
        arguments.defaults = defaults
        return ast.copy_location(ast.Lambda(arguments, body), node)


def _is_of_itertools(node: ast.Call) -> bool:
    of = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(of, ast.Name) and of.id == "itertools"


def _is_view(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args


def _has_length(node: ast.expr) -> bool:
    """Return whether an expression has a length even where no list is made of it."""
    if not isinstance(node, ast.Call):
        return not isinstance(node, ast.GeneratorExp)
    if isinstance(node.func, ast.Name) and node.func.id in _LAZY:
        return node.func.id == "range"
    return not _is_of_itertools(node)


def _is_singleton(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _between_literals(node: ast.Compare) -> bool | None:
    """``0 == False`` is false in Starlark: what is known of a singleton compared with a literal."""
    sides = [node.left, *node.comparators]
    if len(sides) != 2 or not any(map(_is_singleton, sides)):
        return None
    if not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return None
    literals = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
    if not all(isinstance(side, literals) for side in sides):
        return None
    equal = all(map(_is_singleton, sides)) and ast.dump(sides[0]) == ast.dump(sides[1])
    return equal == isinstance(node.ops[0], ast.Eq)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
