"""The uses of a spec's fields by its functions: who writes, who lists, who only asks pointwise.

The answers choose the slots (see `dsl.view`) and what may be taken for constant. They err on the
side of "written" and "listed": a field that is passed on, returned or bound to a name may be
anything.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from statewalk.dsl.source.known_effects import MAKING, called_by_python
from statewalk.dsl.source.nodes import parents_of, parts_of, read_word, walk
from statewalk.dsl.source.scopes import binds
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.lists import CHANGING
from statewalk.dsl.words.declare import pairs

LISTING = frozenset({"items", "keys", "values", "copy", "clear"})
_LOOKING = frozenset({"len", "sum", "any", "all", "set", "frozenset", "bool"})
_PASSING_ON = frozenset({"sorted", "min", "max", "tuple", "list"})  # elements, as they are
_ELEMENTS_OF = frozenset({"get", "items", "values", "copy"})


class Reach(IntEnum):
    """The part of a field that can be changed through the value of an expression."""

    NOTHING = 0
    ELEMENTS = 1  # what it contains, as after ``sorted(self.jobs)``
    CONTENT = 2  # itself where it is a container, as after ``self.jobs or []``
    ANYTHING = 3


@dataclass
class Usage:
    """The uses of one field in a spec."""

    written: bool = False
    reach: Reach = Reach.NOTHING
    listed: bool = False
    pointwise: bool = True


_USED_UP = (
    ast.Compare | ast.UnaryOp | ast.If | ast.While | ast.Assert | ast.FormattedValue | ast.Expr
)


_ANYTHING = Usage(written=True, listed=True, pointwise=False)
_HIDING = frozenset(
    {"getattr", "setattr", "delattr", "vars", "attrgetter", "methodcaller", "inspect", "eval"}
    | {"exec", "__dict__", "__getattribute__", "__getattr__", "__builtins__"}
)
"""Words by which a field is found without its name."""


@dataclass
class Analysis:
    """Usage per (role class name, field name); everything is assumed where ``blind``."""

    usage: dict[tuple[str, str], Usage] = field(default_factory=dict)
    blind: bool = False


def analyse(tree: SpecTree) -> Analysis:
    """Look at every function of the spec."""
    result = Analysis()
    for cls in tree.roles:
        for name in cls._fields:
            result.usage[(cls.__name__, name)] = Usage()
    called = {name for module in tree.loading.modules for name in _named(tree.text_of(module))}
    own = {f.name for f in tree.functions if f.owner in tree.records}
    for function in [*tree.functions, *_others(tree)]:
        _Uses(tree, result, function, called, own).run()
    for module in tree.loading.modules:
        for node in walk(tree.text_of(module)):
            for name in _named_in_pattern(node, tree):
                for cls in tree.roles:
                    if name in cls._fields:
                        result.usage[(cls.__name__, name)] = _ANYTHING
    result.blind = hides_fields(tree)
    if result.blind:
        result.usage = dict.fromkeys(result.usage, _ANYTHING)
    return result


def hides_fields(tree: SpecTree) -> bool:
    """Return whether the text has a way to fields that does not name them."""
    asked: set[int] = set()
    for module in tree.loading.modules:
        for node in walk(tree.text_of(module)):
            if _asks_by_name(node):
                asked.add(id(node.func))  # type: ignore[attr-defined]
            if id(node) not in asked and _hides_names(node):
                return True
    return False


def _named(module: ast.AST) -> Iterator[str]:
    """Yield the names that are read in a text, in whatever way."""
    for node in walk(module):
        word = read_word(node)
        if word is not None:
            yield word


def _others(tree: SpecTree) -> Iterator[Function]:
    """Yield functions of the modules that are not in the tree; anybody may call them."""
    read = {(f.module.name, f.node.lineno) for f in tree.functions}
    for module in tree.loading.modules:
        todo: list[ast.AST] = [tree.text_of(module)]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Lambda):
                body = ast.copy_location(ast.Return(node.body), node)
                made = ast.FunctionDef("<lambda>", node.args, [body], [])
                node = ast.copy_location(made, node)
            if not isinstance(node, ast.FunctionDef):
                todo += parts_of(node)
            elif (module.name, node.lineno) not in read:
                yield Function(node.name, module, None, node, _nothing)


def _nothing() -> None:
    """Stand for a function of which only the text is read."""


def _asks_by_name(node: ast.AST) -> bool:
    """``getattr(o, "x")`` and ``hasattr(o, "x")``, which are mentions of a field."""
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("getattr", "hasattr")
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    )


def _hides_names(node: ast.AST) -> bool:
    """Return whether a node is a way to fields that does not name them in the text."""
    if isinstance(node, ast.Constant):
        return node.value in _HIDING if isinstance(node.value, str) else False
    word = getattr(node, "id", None) or getattr(node, "attr", None)
    if isinstance(node, ast.alias):
        word = node.name
    return word in _HIDING


def _named_in_pattern(node: ast.AST, tree: SpecTree) -> Iterable[str]:
    """Return the attributes that ``case C(x, a=y)`` looks at."""
    if not isinstance(node, ast.MatchClass):
        return ()
    by_place = [n for c in tree.roles for n in getattr(c, "__match_args__", ())]
    return [*node.kwd_attrs, *(by_place if node.patterns else ())]


class _Uses:
    """The uses of fields in one function."""

    def __init__(
        self, tree: SpecTree, result: Analysis, function: Function, called: Set[str], own: Set[str]
    ) -> None:
        self.tree = tree
        self.result = result
        self.function = function
        self.parents = parents_of(function.node)
        self.types = Receivers(tree, function)
        self.is_called = function.name in called
        self.own = own  # what records do under such a name is not what containers do
        self.operators = {name for name in own if name[:2] == "__"} - {*MAKING}

    def run(self) -> None:
        in_init = self.function.marked("init") is not None and not self.is_called
        for node, meant in mentions(self.function.node):
            owners = self.types.owners(meant)
            if owners:
                self.note(node, meant.attr, owners, in_init)

    def note(self, node: ast.expr, name: str, owners: list[type[Role]], in_init: bool) -> None:
        use = self.classify(node)
        for cls in owners:
            usage = self.result.usage[(cls.__name__, name)]
            if not in_init:
                usage.written |= use.written
                usage.reach = max(usage.reach, use.reach)
            usage.listed |= use.listed
            usage.pointwise &= use.pointwise

    def builtin(self, function: ast.expr) -> str:
        """Return the name of what is called, where it means Python's own; otherwise empty."""
        name = getattr(function, "id", "")
        return name if self.types.python(name) is not None else ""

    def classify(self, node: ast.expr) -> Usage:
        """Return what one mention of a field does."""
        parent = self.parents.get(node)
        stored = not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        stored |= isinstance(parent, ast.AugAssign) and parent.target is node
        if stored or self.is_answered(parent):
            return _ANYTHING
        if isinstance(parent, ast.Attribute):
            called = isinstance(self.parents.get(parent), ast.Call)
            if parent.attr in self.own:
                return _ANYTHING
            if called and parent.attr in ("add", "discard"):
                return Usage(written=True)
            if called and parent.attr in CHANGING:
                return Usage(written=True, listed=parent.attr in LISTING, pointwise=False)
            if called and parent.attr == "get":
                return Usage(reach=self.reach(self.parents[parent]), pointwise=False)
            if called and parent.attr in LISTING:
                return Usage(reach=self.reach(node), listed=True, pointwise=False)
            if called:
                return _ANYTHING
            return Usage(reach=self.reach(parent), listed=True, pointwise=False)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return Usage(reach=self.reach(parent), pointwise=False)
        if isinstance(parent, ast.Compare):
            at = parent.comparators.index(node) if node in parent.comparators else -1
            is_last = at == len(parent.ops) - 1  # of a chain; else it is compared with the next
            if is_last and isinstance(parent.ops[at], ast.In | ast.NotIn):
                return Usage()
            return Usage(listed=True, pointwise=False)
        return Usage(reach=self.reach(node), listed=True, pointwise=False)

    def is_answered(self, node: ast.AST | None) -> bool:
        """Return whether a method of a record may run here that is not called by its name."""
        names = called_by_python(node) if self.operators and node is not None else ()
        return not self.operators.isdisjoint(names)

    def reach(self, node: ast.AST) -> Reach:
        """Return what can be changed by someone who got hold of what an expression denotes."""
        reach = Reach.ANYTHING
        while True:
            parent = self.parents.get(node)
            stored = not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
            if stored or self.is_answered(parent):
                return reach
            if isinstance(parent, ast.Attribute):
                call = self.parents.get(parent)
                if parent.attr in self.own:
                    return reach
                if not isinstance(call, ast.Call):
                    node = parent
                elif parent.attr in _ELEMENTS_OF:
                    node, reach = call, min(reach, Reach.ELEMENTS)
                else:
                    return Reach.NOTHING if parent.attr in ("keys", "count", "index") else reach
            elif isinstance(parent, ast.Subscript):
                if parent.value is not node:
                    return Reach.NOTHING
                node = parent
            elif isinstance(parent, ast.Call):
                name = self.builtin(parent.func)
                if name not in _PASSING_ON:
                    return Reach.NOTHING if name in _LOOKING and len(parent.args) == 1 else reach
                one_of = name in ("min", "max") and len(parent.args) > 1
                node, reach = parent, min(reach, Reach.CONTENT if one_of else Reach.ELEMENTS)
            elif isinstance(parent, ast.BoolOp | ast.IfExp):
                if isinstance(parent, ast.IfExp) and parent.test is node:
                    return Reach.NOTHING
                node, reach = parent, min(reach, Reach.CONTENT)
            elif isinstance(parent, ast.BinOp):
                node, reach = parent, min(reach, Reach.ELEMENTS)
            elif isinstance(parent, ast.AugAssign):
                return min(reach, Reach.ELEMENTS)
            else:
                return Reach.NOTHING if isinstance(parent, _USED_UP) else reach


def mentions(function: ast.AST) -> Iterator[tuple[ast.expr, ast.Attribute]]:
    """Yield where attributes are named, as ``o.x`` or ``getattr(o, "x")``, each with its form
    ``o.x``.
    """
    for node in walk(function):
        if isinstance(node, ast.Attribute):
            yield node, node
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
            match node.args:
                case [of, ast.Constant(value=str(name)), *_]:
                    yield node, ast.copy_location(ast.Attribute(of, name, ast.Load()), node)


class Receivers:
    """The possible role classes of an attribute's receiver, from declared types; by name where
    unknown.

    A local is known where all that binds it, in the function and inside of it, agrees.
    """

    def __init__(self, tree: SpecTree, function: Function) -> None:
        self.tree = tree
        self.function = function
        self.namespace = function.module.namespace
        sources: dict[str, list[Any]] = {}
        for name, source in self._bound():
            sources.setdefault(name, []).append(source)
        self.known: dict[str, type | None] = dict.fromkeys(sources)
        for name, found in sources.items():
            classes = {self._element(s) if isinstance(s, ast.expr) else s for s in found}
            self.known[name] = classes.pop() if len(classes) == 1 else None

    def _bound(self) -> Iterator[tuple[str, type | ast.expr | None]]:
        """Yield the names that the function binds, each with its class, or what a loop takes
        it from.
        """
        head = self.function.node.args
        classes = {id(a): self._annotated(a.annotation) for a in self.function.parameters()}
        if self.function.owner is not None and not self.function.is_static:
            first = [*head.posonlyargs, *head.args][:1]
            classes.update((id(argument), self.function.owner) for argument in first)
        looped: dict[int, ast.expr] = {}
        for node in walk(self.function.node)[1:]:
            if isinstance(node, ast.For | ast.comprehension):
                looped.update((id(part), node.iter) for part in walk(node.target))
            elif isinstance(node, ast.arg):
                yield node.arg, classes.get(id(node))
            for name in binds(node):
                yield name, looped.get(id(node))

    def _annotated(self, annotation: ast.expr | None) -> type | None:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            found = self.namespace.get(annotation.value)
        else:
            found = self.namespace.get(getattr(annotation, "id", ""))
        return found if isinstance(found, type) and issubclass(found, Role) else None

    def _element(self, source: ast.expr) -> type | None:
        """Return the role class of the elements of a module-level list of instances."""
        match source:
            case ast.Call(ast.Name(name), [given, *_]) if name not in self.known:
                called = self.namespace.get(name, getattr(builtins, name, None))
                known = called is pairs or called is sorted or called is list
                return self._element(given) if known else None
            case ast.Name(name) if name not in self.known:
                return class_of_all(self.namespace.get(name))
        return None

    def receiver(self, node: ast.expr) -> type | None:
        """Return the class of an expression, if it is known to be one role class."""
        if isinstance(node, ast.Name):
            if node.id in self.known:
                return self.known[node.id]
            value = self.namespace.get(node.id)
            return type(value) if isinstance(value, Role) else None
        if isinstance(node, ast.Subscript):
            return self._element(node.value)
        return None

    def python(self, name: str) -> Any:
        """Return the builtin that a name means; None where it means something else."""
        meant = getattr(builtins, name, None)
        is_own = name in self.known or self.namespace.get(name, meant) is not meant
        return None if is_own else meant

    def owners(self, node: ast.Attribute) -> list[type[Role]]:
        """Return the role classes whose field an attribute may be."""
        cls = self.receiver(node.value)
        candidates = self.tree.roles
        if cls is not None:
            candidates = [c for c in candidates if issubclass(c, cls)]
        return [c for c in candidates if node.attr in c._fields]


def class_of_all(value: Any) -> type[Role] | None:
    """Return the role class of which everything in a list is an instance, if it is one."""
    if isinstance(value, list | tuple) and value and all(isinstance(v, Role) for v in value):
        classes = {type(v) for v in value}
        return classes.pop() if len(classes) == 1 else None
    return None
