"""Sets in a spec's text become ordered ones, wherever that text is compiled.

    {a, *b}   {e for x in xs}      the same through OrderedSet
    set(xs)   frozenset(xs)        means the ordered classes (`with_ordered_builtins`)
    type(x)   x.__class__          of what is in the state, the type that it stands for
    vars(x)   x.__dict__           not of a role, whose fields are in the state
    a | b     library.f(x)         what is still one of Python's own sets is made an ordered one
    str(x)    f"{x}"   "%s" % x    a text, which may not say where x is

There is one order, in whatever hands a set on: a loop, ``sorted`` with a key, ``join``, a library.
What is ordered, and how, is said in `dsl.values.ordered_sets`.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Mapping
from types import GeneratorType, GenericAlias
from typing import Any, TypeVar

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.source.nodes import Transformer, walk
from statewalk.dsl.state.dicts import DictView
from statewalk.dsl.state.refs import Reference
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.frozen import FROZEN, FrozenBag
from statewalk.dsl.values.ordered_sets import PLAIN, OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.records import Bag

_MAKING = ("str", "repr", "ascii", "format")

_SIGN = " at 0x"
_ADDRESS = re.compile(r"<([^<>]|<[^<>]*>)* at 0x[0-9a-f]{6,}[>,]")


def without_address(text: str) -> str:
    """Return a text as it is.

    Raises SpecError[SW104] for one that says where something is in memory.
    """
    if _SIGN not in text:
        return text
    found = _ADDRESS.search(text)
    if found is None:
        return text
    said = "A string contains a memory address, which differs from run to run: "
    said += f"'{found[0].partition(_SIGN)[0]} at ...'."
    help = "Build strings from values: a function's name, f.__name__, or an object's fields."
    raise SpecError("SW104", said, help=help)


def _asking(name: str, what: str) -> Callable[..., Any]:
    asked = getattr(builtins, name)

    def ask(*given: Any) -> Any:
        if sys._getframe(1).f_code.co_name == "__hash__":
            return asked(*given)
        said = f"'{name}(...)' gives {what}, which differs from run to run."
        help = "Compare the values themselves, or number them: values.index(x)."
        raise SpecError("SW104", said, help=help)

    ask.__name__ = ask.__qualname__ = name
    return ask


def _telling_address(name: str) -> Callable[..., str]:
    told = getattr(builtins, name)

    def tell(*given: Any, **named: Any) -> str:
        return without_address(told(*given, **named))

    tell.__name__ = tell.__qualname__ = name
    return tell


ASKING = {"hash": _asking("hash", "a hash"), "id": _asking("id", "an address in memory")}
TELLING = {name: _telling_address(name) for name in _MAKING}


def type_of(value: Any) -> type:
    """Return what ``type(value)`` and ``value.__class__`` are in a spec."""
    kind = type(value)
    if kind in FROZEN or isinstance(value, DictView) or issubclass(kind, Reference):
        kind = value.__class__
    return _MEANT.get(kind, kind)


def dict_of(value: Any) -> Any:
    """Return ``vars(value)`` for a spec. Raises SpecError[SW213] for a role in a run."""
    if isinstance(value, Role) and binding.view is not None:
        name = value._fields[0] if value._fields else "field"
        said = f"The fields of {value!r} are in the state, and not in its __dict__."
        help = f"Name the fields that you mean: role.{name}, or getattr(role, name)."
        raise SpecError("SW213", said, help=help)
    return vars(value)


def vars_of(*of: Any) -> Any:
    """``vars`` in a spec."""
    return dict_of(*of) if of else sys._getframe(1).f_locals


class _TypeOf(type):
    """Of Python's ``type``, all but the question what type a value has stays as it is."""

    def __call__(cls, *parts: Any, **named: Any) -> Any:
        if cls is not Type:
            return super().__call__(*parts, **named)
        return type_of(*parts) if len(parts) == 1 else type(*parts, **named)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type) if cls is Type else super().__instancecheck__(value)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, type) if cls is Type else super().__subclasscheck__(other)


class Type(type, metaclass=_TypeOf):
    """``type`` in a spec."""

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(type, item)


_MEANT: dict[type, type] = {plain: ours for ours, plain in PLAIN.items()}
_MEANT |= {type: Type, FrozenBag: Bag}


_MAKE = "__sw_set__"
_SETTLE = "__sw_settled__"
_DICT = "__sw_dict__"
_TYPE = "__sw_type__"
_STR = "__sw_str__"
_ASKED = {"__class__": _TYPE, "__dict__": _DICT}
_OPERATORS = (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor, ast.Mod)
_SETS = frozenset({set, frozenset})
_HOLDING = frozenset({set, frozenset, list, tuple, dict, GeneratorType})
_Node = TypeVar("_Node", bound=ast.AST)


def settled(value: Any) -> Any:
    """Return a value in which Python's own sets have become ordered ones; as it is where
    there are none. Raises SpecError[SW104] for a text that says where something is in memory.

    Sets come out of what is no spec: libraries, the keys of dicts, constants given from outside.
    """
    kind = type(value)
    if kind not in _HOLDING:
        return without_address(value) if kind is str else value
    if kind in _SETS:
        return (OrderedSet if kind is set else OrderedFrozenSet)(map(settled, value))
    if kind is GeneratorType:
        return value if _is_ours(value) else map(settled, value)
    if kind is dict:
        if _HOLDING.isdisjoint(map(type, value)) and _HOLDING.isdisjoint(map(type, value.values())):
            return value
        return {settled(k): settled(v) for k, v in value.items()} if _unsettled(value) else value
    if _HOLDING.isdisjoint(map(type, value)) or not _unsettled(value):
        return value
    return kind([settled(v) for v in value])


def _is_ours(generator: GeneratorType[Any, Any, Any]) -> bool:
    """Return whether a generator is the spec's, whose sets are ordered, or has ended."""
    frame = generator.gi_frame
    return frame is None or frame.f_builtins.get("set") is OrderedSet


def _unsettled(value: Any) -> bool:
    """Return whether a value holds a plain set or generator. Raises SpecError[SW104]."""
    pending, met = [value], set()
    while pending:
        part = pending.pop()
        kind = type(part)
        if kind in _SETS or (kind is GeneratorType and not _is_ours(part)):
            return True
        if kind is str:
            without_address(part)
        elif kind in (list, tuple, dict) and id(part) not in met:
            met.add(id(part))
            pending += part
            if kind is dict:
                pending += part.values()
    return False


def with_ordered_builtins(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what there is in a spec's module without being imported, given what Python
    would have.
    """
    known: dict[str, Any] = {"set": OrderedSet, "frozenset": OrderedFrozenSet, **ASKING, **TELLING}
    del known["str"]  # also a type
    if found.get("type") is type:
        known |= {"type": Type, "vars": vars_of}
    builtins = {n: known.get(n, v) for n, v in found.items()}
    ours = {_MAKE: OrderedSet, _SETTLE: settled, _TYPE: type_of, _DICT: dict_of}
    return {**builtins, **ours, _STR: TELLING["str"]}


def imported_names(tree: ast.AST) -> frozenset[str]:
    """Return the names that a module imports, with the words of the language left out."""
    return frozenset(
        alias.asname or alias.name.partition(".")[0]
        for node in walk(tree)
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and node.module != "statewalk")
        for alias in node.names
    )


def with_ordered_sets(node: _Node, imported: frozenset[str] = frozenset()) -> _Node:
    """Return text of a spec, ready to be compiled; ``imported`` are `imported_names`.

    It is changed.
    """
    return _Ordering(imported).visit(node)  # type: ignore[no-any-return]


class _Ordering(Transformer):
    """Rewrites what makes sets, and what may bring one from elsewhere."""

    def __init__(self, imported: frozenset[str]) -> None:
        self.imported = imported

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return _call(_MAKE, ast.copy_location(ast.Tuple(node.elts, ast.Load()), node), node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        made = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        return _call(_MAKE, made, node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.left = self.visit(node.left)
        for at, (sign, side) in enumerate(zip(node.ops, node.comparators, strict=True)):
            if isinstance(sign, ast.In | ast.NotIn) and isinstance(side, ast.Set):
                self.generic_visit(side)  # only asked, and Python makes it once
            else:
                node.comparators[at] = self.visit(side)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, _OPERATORS) or _is_constant(node.right):
            return node
        if isinstance(node.left, ast.Constant) and not isinstance(node.left.value, str):
            return node
        return _call(_SETTLE, node, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self._told(node)
        return _call(_SETTLE, node, node)

    def _told(self, node: ast.JoinedStr) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
                if isinstance(part.format_spec, ast.JoinedStr):
                    self._told(part.format_spec)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        target = node.target
        if not isinstance(node.op, _OPERATORS) or not isinstance(target, ast.Name):
            return node
        if _is_constant(node.value):
            return node
        value = _call(_SETTLE, _name(target.id, ast.Load(), node), node)
        again = ast.Assign([_name(target.id, ast.Store(), node)], value)
        return [node, ast.copy_location(again, node)]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self._receiver(node)
        asked = _ASKED.get(node.attr)
        if asked and isinstance(node.ctx, ast.Load):
            return _call(asked, node.value, node)
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        own = isinstance(root, ast.Name) and root.id in ("self", "__sw__")
        if own or not isinstance(node.ctx, ast.Load):
            return node
        return _call(_SETTLE, node, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self._parts(node)
        func = node.func
        if isinstance(func, ast.Attribute):
            foreign = getattr(func.value, "id", "") != "__sw__"
        else:
            told = (self.imported, ("str",))
            foreign = isinstance(func, ast.Name) and any(func.id in names for names in told)
        return _call(_SETTLE, node, node) if foreign else node

    def _parts(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            self._receiver(node.func)
        else:
            node.func = self.visit(node.func)
        made = getattr(node.func, "id", "") == "map"
        node.args = [_telling(self.visit(a)) if made else self.visit(a) for a in node.args]
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            keyword.value = _telling(value) if keyword.arg == "key" else value

    def _receiver(self, node: ast.Attribute) -> None:
        """Keep the set itself where a method changes it, not an ordered
        copy of it.
        """
        if isinstance(node.value, ast.Attribute) and node.value.attr not in _ASKED:
            self._receiver(node.value)
        else:
            node.value = self.visit(node.value)

    def _unchanged(self, node: Any) -> ast.AST:
        """Return a call whose result goes nowhere, or is a flow."""
        if isinstance(node.value, ast.Call):
            self._parts(node.value)
        elif node.value is not None:
            node.value = self.visit(node.value)
        return node  # type: ignore[no-any-return]

    visit_Expr = visit_YieldFrom = _unchanged

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.visit(node.args)
        return self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._body(node)

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = node.guard and self.visit(node.guard)
        return self._body(node)

    def _body(self, node: ast.FunctionDef | ast.ClassDef | ast.match_case) -> ast.AST:
        found: list[ast.stmt] = []
        for statement in node.body:
            visited = self.visit(statement)
            found += visited if isinstance(visited, list) else [visited]
        node.body = found
        return node


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _telling(node: ast.expr) -> ast.expr:
    """Return a function that is handed on: ``str`` makes texts, then."""
    is_str = isinstance(node, ast.Name) and node.id == "str"
    return _name(_STR, ast.Load(), node) if is_str else node


def _call(name: str, argument: ast.expr, at: ast.expr | ast.stmt) -> ast.Call:
    """Return a call of something with a place, in that of another."""
    return ast.copy_location(ast.Call(_name(name, ast.Load(), at), [argument], []), at)


def _name(name: str, use: ast.expr_context, at: ast.expr | ast.stmt) -> ast.Name:
    return ast.copy_location(ast.Name(name, use), at)
