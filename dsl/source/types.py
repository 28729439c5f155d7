"""Types of the expressions in a function, from declarations: fields, parameters, results, loops.

Good for finding mistakes, not for proving their absence: what is not declared has no type here, and
nothing is said of it. Types are annotations as `typing` has them, without ``None`` and without
``Annotated``, except that an element of a set (or a key of a dict) carries an `ElementOf`.
"""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cached_property, partial
from typing import Annotated, Any

from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.nodes import parts_of
from statewalk.dsl.source.scopes import arguments
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.source.usage import Receivers, class_of_all
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Bag, Record

Scope = Mapping[str, Any]
_SAME = frozenset({"copy", "union", "intersection", "difference", "symmetric_difference"})
_AS_LIST = frozenset({"sorted", "list", "reversed", "iter", "filter"})
_ELEMENTS = frozenset({"any_of", "next", "min", "max"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLAIN = frozenset({dict, list, set, frozenset, tuple, Bag, str, bytes, int, bool, float})
_MAKING: dict[str, type] = {t.__name__: t for t in _PLAIN - {Bag}} | {"sorted": list}
_FORMS: dict[type, type] = {
    ast.JoinedStr: str, ast.Tuple: tuple, ast.Dict: dict, ast.DictComp: dict,
    ast.List: list, ast.ListComp: list, ast.Set: set, ast.SetComp: set,
}  # fmt: skip

_MEMBERS = {
    set: "an element of the set",
    frozenset: "an element of the set",
    Bag: "an element of the bag",
    dict: "a key of the dict",
}
"""How the members of containers are called that are values."""


class ElementOf(str):
    """The description of a value without a place of its own: "an element of the set self.inbox"."""

    __slots__ = ()


def bare(hint: Any) -> Any:
    """Return a type without ``None`` and ``Annotated``; None where several remain."""
    while typing.get_origin(hint) is Annotated:
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        rest = [a for a in typing.get_args(hint) if a is not type(None)]
        return bare(rest[0]) if len(rest) == 1 else None
    return hint


def spec_class(hint: Any) -> type[Role] | type[Record] | None:
    """Return the role or record class that a type is."""
    found = bare(hint)
    return found if isinstance(found, type) and issubclass(found, Role | Record) else None


def element_of(hint: Any) -> str:
    """Return the set or bag that holds values of this type, or the dict with such keys."""
    while typing.get_origin(hint) is Annotated:
        for extra in typing.get_args(hint)[1:]:
            if isinstance(extra, ElementOf):
                return str(extra)
        hint = typing.get_args(hint)[0]
    return ""


def element(hint: Any, text: str = "") -> Any:
    """Return the type of the elements of a container (of the keys of a dict), written as
    ``text``.
    """
    hint = bare(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if not args or origin is None:
        return None
    if origin is tuple and args[-1] is not Ellipsis:
        return args[0] if all(a == args[0] for a in args) else None
    word = _MEMBERS.get(origin)
    return Annotated[args[0], ElementOf(f"{word} {text}")] if word and text else args[0]


def _is_word(value: Any) -> bool:
    """Return whether it is Python's or the language's, and means what its name says."""
    module = str(attribute(value, "__module__", ""))
    return module == "builtins" or module.startswith("statewalk.dsl")


def is_plain(node: ast.expr, receivers: Receivers) -> bool:
    """Return whether an expression surely gives a value or container, and neither role
    nor record.
    """
    hint = _surely(node, receivers)
    return (typing.get_origin(hint) or hint) in _PLAIN


def _surely(node: ast.expr, receivers: Receivers) -> Any:
    """Return the type of an expression, by its form or by fields, which hold what they declare."""
    match node:
        case ast.Constant(value=value):
            return type(value)
        case ast.Attribute(value=value) if receivers.receiver(value) is not None:
            try:
                hints = [receivers.tree.hints(c).get(node.attr) for c in receivers.owners(node)]
            except Exception:
                return None
            return _agreed(hints)
        case ast.Subscript(value=value, slice=index):
            return _item(_surely(value, receivers), index)
        case ast.Call(func=ast.Name(id=name)) if name in _MAKING and receivers.python(name):
            return _MAKING[name]
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _SAME:
            return _surely(value, receivers)
    return _FORMS.get(type(node))


class Types:
    """The types in one function."""

    def __init__(self, tree: SpecTree, function: Function) -> None:
        self.tree = tree
        self.function = function
        self.namespace = function.module.namespace
        self.names = {**tree.classes, **self.namespace}
        self._hints: dict[type, dict[str, Any]] = {}
        self.locals: dict[str, Any] = {}
        parameters = dict(self._parameters(function.node))
        bindings = list(self._bindings(function.node))
        for _ in range(4):
            found: dict[str, list[Any]] = {name: [hint] for name, hint in parameters.items()}
            for target, value in bindings:
                self._bind(target, value(self.locals), found)
            self.locals = {name: _agreed(hints) for name, hints in found.items()}

    # -- names ---------------------------------------------------------------------------------

    def _parameters(self, node: ast.FunctionDef) -> Iterator[tuple[str, Any]]:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for at, argument in enumerate(arguments):
            if at == 0 and self.function.owner is not None and not self.function.is_static:
                is_class = argument.arg == self.function.class_parameter
                yield argument.arg, None if is_class else self.function.owner
            else:
                yield argument.arg, self.annotation(argument.annotation)
        for other in (node.args.vararg, node.args.kwarg):
            if other is not None:
                yield other.arg, None

    def _bindings(self, root: ast.FunctionDef) -> Iterator[tuple[ast.expr, Callable[[Scope], Any]]]:
        for node in _outside_scopes(root):
            match node:
                case ast.Assign(targets=targets, value=value):
                    yield from ((target, partial(self.of, value)) for target in targets)
                case ast.AnnAssign(target=target, annotation=annotation):
                    yield target, partial(self._declared, annotation)
                case ast.AugAssign(target=ast.Name() as target):
                    yield target, partial(self.of, target)
                case ast.NamedExpr(target=target, value=value):
                    yield target, partial(self.of, value)
                case ast.For(target=target, iter=value):
                    yield target, partial(self._looped, value)
                case ast.withitem(optional_vars=ast.expr() as target):
                    yield target, _unknown
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    yield ast.Name(name, ast.Store()), _unknown
                case ast.MatchMapping(rest=str(name)):
                    yield ast.Name(name, ast.Store()), _unknown
                case ast.FunctionDef(name=name) if node is not root:
                    yield ast.Name(name, ast.Store()), _unknown

    def _declared(self, annotation: ast.expr, scope: Scope) -> Any:
        return self.annotation(annotation)

    def _looped(self, iterated: ast.expr, scope: Scope) -> Any:
        return element(self.of(iterated, scope), ast.unparse(iterated))

    def _bind(self, target: ast.expr, hint: Any, found: dict[str, list[Any]]) -> None:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(hint)
        elif isinstance(target, ast.Tuple | ast.List):
            args = typing.get_args(bare(hint))
            fits = typing.get_origin(bare(hint)) is tuple and len(args) == len(target.elts)
            for at, part in enumerate(target.elts):
                self._bind(part, args[at] if fits and Ellipsis not in args else None, found)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, None, found)

    @cached_property
    def nodes(self) -> list[tuple[ast.AST, Scope]]:
        """Every node of the body with the scope it is in."""
        return [
            found
            for statement in self.function.node.body
            for found in self._walk(statement, self.locals)
        ]

    def _walk(self, node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        yield node, scope
        inner = scope
        if isinstance(node, _COMPREHENSIONS):
            inner = self.inside(node, scope)
        elif isinstance(node, _FUNCTIONS):
            inner = {**scope, **dict.fromkeys(arguments(node.args))}
        for child in parts_of(node):
            yield from self._walk(child, inner)

    def inside(self, node: ast.expr, scope: Scope) -> Scope:
        """Return the scope inside a comprehension."""
        inner = dict(scope)
        for generator in getattr(node, "generators", ()):
            found: dict[str, list[Any]] = {}
            hint = element(self.of(generator.iter, inner), ast.unparse(generator.iter))
            self._bind(generator.target, hint, found)
            inner.update({name: hints[0] for name, hints in found.items()})
        return inner

    # -- types ---------------------------------------------------------------------------------

    def annotation(self, node: ast.expr | None) -> Any:
        """Return the type that an annotation names; None where it cannot be evaluated."""
        if node is None:
            return None
        text = node.value if isinstance(node, ast.Constant) else ast.unparse(node)
        if not isinstance(text, str):
            return None
        try:
            return eval(text, self.names)
        except Exception:
            return None

    def fields(self, cls: type) -> dict[str, Any]:
        """Return the types of the fields of a role or record class."""
        if cls not in self._hints:
            try:
                self._hints[cls] = self.tree.hints(cls)
            except Exception:
                self._hints[cls] = {}
        return self._hints[cls]

    def of(self, node: ast.expr, scope: Scope) -> Any:
        """Return the type of an expression; None where nothing is known."""
        match node:
            case ast.Name(id=name):
                return scope[name] if name in scope else _of_value(self.namespace.get(name))
            case ast.Constant(value=value):
                return type(value)
            case ast.Attribute(value=value, attr=attr):
                return self._attribute(value, attr, scope)
            case ast.Call():
                return self._call(node, scope)
            case ast.Subscript(value=value, slice=index):
                return _item(self.of(value, scope), index)
            case ast.NamedExpr(value=value):
                return self.of(value, scope)
            case ast.IfExp(body=one, orelse=other):
                return _agreed([self.of(one, scope), self.of(other, scope)])
            case ast.BoolOp(values=values):
                return _agreed([self.of(v, scope) for v in values])
            case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.Add()):
                return self.of(left, scope)
            case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
                return _made(list, self.of(elt, self.inside(node, scope)))
            case ast.SetComp(elt=elt):
                return _made(set, self.of(elt, self.inside(node, scope)))
            case ast.List(elts=[first, *_]):
                return _made(list, self.of(first, scope))
            case ast.Set(elts=[first, *_]):
                return _made(set, self.of(first, scope)) or set
            case ast.Tuple(elts=elts) if elts and not any(isinstance(e, ast.Starred) for e in elts):
                hints = [self.of(e, scope) for e in elts]
                return tuple[tuple(hints)] if all(h is not None for h in hints) else tuple  # type: ignore[misc]
        return None

    def _attribute(self, value: ast.expr, attr: str, scope: Scope) -> Any:
        if isinstance(value, ast.Name) and value.id not in scope:
            found = self.namespace.get(value.id)
            if isinstance(found, types.ModuleType):
                return _of_value(getattr(found, attr, None))
            if isinstance(found, type) and issubclass(found, Enum):
                return found
        cls = spec_class(self.of(value, scope))
        if cls is None:
            return None
        if attr == "index" and issubclass(cls, Role):
            return int
        return self.fields(cls).get(attr)

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        func = node.func
        if isinstance(func, ast.Attribute):
            return self._method(func, scope)
        if not isinstance(func, ast.Name) or func.id in scope:
            return None
        value = self.namespace.get(func.id)
        if isinstance(value, type) and issubclass(value, Role | Record):
            return value
        function = next((f for f in self.tree.functions if f.function is value), None)
        if function is not None:
            return self.annotation(function.node.returns)
        if value is not None and not _is_word(value):
            return None
        first = self.of(node.args[0], scope) if node.args else None
        text = ast.unparse(node.args[0]) if node.args else ""
        if func.id in _AS_LIST:
            return _made(list, element(first, text))
        if func.id in ("set", "frozenset", "Bag"):
            return _made(set, element(first)) or (set if func.id == "set" else None)
        if func.id in _ELEMENTS and len(node.args) == 1:
            return element(first, text)
        if func.id in ("replace", "old"):
            return bare(first)
        if func.id == "pairs" and (one := element(first, text)) is not None:
            return list[tuple[one, one]]  # type: ignore[valid-type]
        if func.id == "enumerate" and (one := element(first, text)) is not None:
            return list[tuple[int, one]]  # type: ignore[valid-type]
        return {"len": int, "sum": None, "range": list[int], "maybe": bool}.get(func.id)

    def _method(self, func: ast.Attribute, scope: Scope) -> Any:
        hint = bare(self.of(func.value, scope))
        cls = spec_class(hint)
        if cls is not None:
            found = [f for f in self.tree.functions if f.name == func.attr]
            own = [f for f in found if f.owner is not None and issubclass(cls, f.owner)]
            return self.annotation(own[-1].node.returns) if own else None
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if func.attr in _SAME:
            return hint
        if origin is dict:
            key = element(hint, ast.unparse(func.value))
            if func.attr == "items":
                return list[tuple[key, args[1]]]  # type: ignore[valid-type]
            if func.attr in ("get", "pop", "setdefault"):
                return args[1]
            return {"values": list[args[1]], "keys": list[key]}.get(func.attr)  # type: ignore[valid-type]
        return element(hint) if func.attr == "pop" else None


def _item(hint: Any, index: ast.expr) -> Any:
    """Return the type of ``x[index]``."""
    hint = bare(hint)
    if isinstance(index, ast.Slice):
        return hint
    args = typing.get_args(hint)
    if typing.get_origin(hint) is dict:
        return args[1]
    if typing.get_origin(hint) is tuple and isinstance(index, ast.Constant):
        at = index.value
        if isinstance(at, int) and Ellipsis not in args:
            return args[at] if -len(args) <= at < len(args) else None
    return element(hint)


def _unknown(scope: Scope) -> Any:
    return None


def _outside_scopes(root: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that are not in a scope of their own (comprehension,
    lambda).
    """
    yield root
    for child in parts_of(root):
        if not isinstance(child, (*_COMPREHENSIONS, *_FUNCTIONS)):
            yield from _outside_scopes(child)
        elif isinstance(child, ast.FunctionDef):
            yield child


def _agreed(hints: list[Any]) -> Any:
    """Return the type that all of the types are, ``None`` values aside."""
    rest = [h for h in hints if h is not type(None)]
    if not rest or any(h is None or h != rest[0] for h in rest):
        first = bare(rest[0]) if rest else None
        return first if first is not None and all(bare(h) == first for h in rest) else None
    return rest[0]


def _made(container: Any, inner: Any) -> Any:
    return container[inner] if inner is not None else None


def _of_value(value: Any) -> Any:
    """Return the type of a value of a module."""
    if isinstance(value, Role):
        return type(value)
    return _made(list, class_of_all(value))
