"""The effects of a spec's functions: nothing but compute, look at the state, or more than that.

Transitive and by resolved callee. The answers err on the safe side: a callee that cannot be
resolved counts as writing. What a function does to its *arguments* counts as well, since they may
be live references; what it reads of them does not make it a reader, since they may be plain
values.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace as replaced
from enum import Enum
from types import ModuleType
from typing import Any, Literal, get_origin

from statewalk.dsl.source.known_effects import (
    CHOOSING,
    DOING_BUILTINS,
    LOOKING_METHODS,
    MAKING,
    PURE_NAMES,
    attribute,
    called_back,
    called_by_python,
    fresh_locals,
    is_number,
    is_pure_library,
    nested_functions,
    own_nodes,
    scalar_arguments,
)
from statewalk.dsl.source.nodes import is_identity, meaning, unchanged, walk
from statewalk.dsl.source.scopes import around, locals_of
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.source.types import is_plain
from statewalk.dsl.source.usage import Receivers
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.lists import CHANGING
from statewalk.dsl.values.records import Bag, Record, replace
from statewalk.dsl.words.lookahead import enabled, next_steps

Effect = Literal["pure", "reads", "effects"]
Said = tuple[ast.AST, str]  # what is shown in a message, and the form of it
_RANK: dict[Effect, int] = {"pure": 0, "reads": 1, "effects": 2}


def join(a: Effect, b: Effect) -> Effect:
    """Return the stronger of two effects."""
    return a if _RANK[a] >= _RANK[b] else b


@dataclass(frozen=True)
class Cause:
    """One thing that a function does at a place. ``known`` is false where it is only assumed.

    ``callees`` are the functions a call may reach; their effects add to ``effect``. They are
    ``unsure`` where it may as well be something else that happens: an operator of Python's own, a
    method of a list, a field that is read.
    """

    node: ast.AST
    effect: Effect
    said: Said | None = None
    known: bool = True
    callees: tuple[Function, ...] = ()
    unsure: bool = False

    @property
    def text(self) -> str:
        """What messages say of it."""
        return self.said[1].format(ast.unparse(self.said[0])) if self.said is not None else ""


@dataclass
class Effects:
    """The effects of all functions of one spec."""

    tree: SpecTree

    def __post_init__(self) -> None:
        self._methods: dict[str, list[Function]] = {}
        self._identity: dict[int, bool] = {}
        self._by_function: dict[int, Function] = {id(f.function): f for f in self.tree.functions}
        for function in self.tree.functions:
            if function.owner is not None:
                self._methods.setdefault(function.name, []).append(function)
        self.by_python = any(name.startswith("__") for name in self._methods)
        with unchanged():
            self._scans = {id(f): _Scan(self, f) for f in self.tree.functions}
            self.causes = {i: list(s.causes()) for i, s in self._scans.items()}
        self._effects: dict[int, Effect] = {id(f): "pure" for f in self.tree.functions}
        changed = True
        while changed:
            changed = False
            for function in self.tree.functions:
                now = self._joined(self.causes[id(function)])
                if now != self._effects[id(function)]:
                    self._effects[id(function)] = now
                    changed = True

    def of(self, function: Function) -> Effect:
        """Return the effect of calling a function."""
        return self._effects[id(function)]

    def adopt(self, function: Function) -> Function:
        """Take in a function that is made from one of the spec's; nobody calls it by name."""
        self._scans[id(function)] = scan = _Scan(self, function)
        self.causes[id(function)] = list(scan.causes())
        self._effects[id(function)] = self._joined(self.causes[id(function)])
        return function

    def of_call(self, node: ast.Call, function: Function) -> Effect:
        """Return the effect of a call and of functions among its arguments, but not of these."""
        scan = self._scans[id(function)]
        parts = [*scan.call(node), *scan.passed(node)]
        for argument in (*node.args, *(k.value for k in node.keywords)):
            if isinstance(argument, ast.Lambda):
                parts += scan.causes(argument)
        return self._joined(parts)

    def of_part(self, node: ast.AST, function: Function) -> Effect:
        """Return the effect of evaluating a part of a function."""
        return self._joined(self._scans[id(function)].causes(node))

    def why(
        self, function: Function, way: tuple[Function, ...] = (), seen: set[int] | None = None
    ) -> Iterator[tuple[Cause, tuple[Function, ...]]]:
        """Yield each known write or choice of a function, with the callees on the way."""
        seen = {id(function)} if seen is None else seen
        for cause in self.causes[id(function)]:
            if cause.effect == "effects" and cause.known:
                yield cause, way
            for callee in () if cause.unsure else cause.callees:
                if id(callee) not in seen:
                    seen.add(id(callee))
                    yield from self.why(callee, (*way, callee), seen)

    def callees(self, node: ast.Call, function: Function, *, sure: bool = False) -> list[Function]:
        """Return the functions of the spec that a call may reach; ``sure``: it is no call of
        Python's.
        """
        causes = self._scans[id(function)].call(node)
        return [f for cause in causes if not (sure and cause.unsure) for f in cause.callees]

    def reached_from(self, function: Function, *, sure: bool = False) -> list[Function]:
        """Return a function and all that it may call, directly or not; ``sure``: not by Python."""
        found, pending = {id(function): function}, [function]
        while pending:
            for cause in self.causes[id(pending.pop())]:
                for callee in () if sure and cause.unsure else cause.callees:
                    if id(callee) not in found:
                        found[id(callee)] = callee
                        pending.append(callee)
        return list(found.values())

    def asks_identity(self, function: Function) -> bool:
        """Return whether a function, or one that it calls, may ask if two things are the
        same one.
        """
        known = self._identity.get(id(function))
        if known is None:
            reached = self.reached_from(function)
            known = any(is_identity(n) for f in reached for n in walk(f.node))
            self._identity[id(function)] = known
        return known

    def reachable(self) -> set[int]:
        """Return the ids of the functions that the checker may call."""
        found: set[int] = set()
        for function in self.tree.functions:
            if function.marks or function.function in self.tree.led:
                found |= {id(f) for f in self.reached_from(function)}
        return found

    def methods(self, name: str, owner: type | None = None) -> list[Function]:
        """Return the functions a method call may reach: by name, or of related classes."""
        found = self._methods.get(name, [])
        if owner is None:
            return found
        own = [(f, f.owner) for f in found if f.owner]
        return [f for f, cls in own if issubclass(cls, owner) or issubclass(owner, cls)]

    def receivers(self, function: Function) -> Receivers:
        """Return what is known of the receivers of attributes in a function."""
        return self._scans[id(function)].types

    def function_of(self, value: Any) -> Function | None:
        """Return the spec function behind a value of a namespace."""
        return self._by_function.get(id(attribute(value, "__func__", value)))

    def _joined(self, causes: Any) -> Effect:
        result: Effect = "pure"
        for cause in causes:
            result = join(result, cause.effect)
            for callee in cause.callees:
                result = join(result, self._effects[id(callee)])
        return result


class _Scan:
    """Finds what one function does itself."""

    def __init__(self, effects: Effects, function: Function) -> None:
        self.effects = effects
        self.function = function
        self.types = Receivers(effects.tree, function)
        self.bound = locals_of(function.node)
        self.namespace = around(function.node, function.module.namespace, self.bound)
        self.fresh = fresh_locals(function.node, self._constructs)
        self.scalars = scalar_arguments(function.node)
        self.nested = nested_functions(function.node)

    def _constructs(self, call: ast.Call) -> bool:
        """Return whether a call makes a new value that nobody else has."""
        name = getattr(call.func, "id", "")
        found = self.namespace.get(name)
        if isinstance(found, type):
            return issubclass(found, Record | Bag)
        python = found is None and name not in self.bound
        return found is replace or (python and name in ("list", "set", "dict", "sorted"))

    def causes(self, root: ast.AST | None = None) -> Iterator[Cause]:
        """Yield what a node does, or the whole function."""
        nodes = own_nodes(self.function.node) if root is None else walk(root)
        for node in nodes:
            yield from self.cause(node)

    def cause(self, node: ast.AST) -> Iterator[Cause]:
        """Yield what one node does, without the nodes inside it."""
        if self.effects.by_python:  # a class has methods of such names
            called = [f for name in called_by_python(node) for f in self.effects.methods(name)]
            if called:
                yield Cause(node, "pure", callees=tuple(called), unsure=True)
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if not self._is_fresh(node.value):
                sign = "{} = ..." if isinstance(node.ctx, ast.Store) else "{} is deleted"
                yield Cause(node, "effects", (node, sign), known=self._in_state(node))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            # `x += y` changes what x refers to where that is a list, also an argument
            if node.target.id not in self.fresh | self.scalars and not is_number(node):
                yield Cause(node, "effects", (node, "{}"), known=False)
        elif isinstance(node, ast.Attribute):
            if self.types.owners(node):
                yield Cause(node, "reads", (node, "{}"))
            getters = tuple(f for f in self.methods(node) if _is_getter(f))
            if getters:
                yield Cause(node, "pure", (node, "{}"), callees=getters)
        elif isinstance(node, ast.MatchClass) and (node.patterns or node.kwd_attrs):
            called = [f for name in node.kwd_attrs for f in self.effects.methods(name, None)]
            getters = tuple(f for f in called if _is_getter(f))
            yield Cause(node, "reads", (node, "{}"), callees=getters)
        elif isinstance(node, ast.Call):
            yield from self.call(node)
            yield from self.passed(node)
        elif isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            yield Cause(node, "effects", (node, "yield"), known=self.function.is_flow)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield Cause(node, "effects", (node, "{}"), known=False)

    def _is_fresh(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.fresh

    def _in_state(self, node: ast.expr) -> bool:
        """Return whether a place is surely reached through a field."""
        at: ast.AST = node
        while isinstance(at, ast.Attribute | ast.Subscript):
            if isinstance(at, ast.Attribute) and self.types.owners(at):
                return True
            at = at.value
        return False

    def call(self, node: ast.Call) -> Iterator[Cause]:
        """Yield what is called, without the arguments."""
        func = node.func
        said = func, "{}(...)"
        if isinstance(func, ast.Name):
            yield self._named_call(node, func.id, said)
        elif isinstance(func, ast.Attribute):
            yield self._method_call(node, func, said)
        elif not isinstance(func, ast.Lambda):
            yield Cause(node, "effects", said, known=False)

    def _named_call(self, node: ast.Call, name: str, said: Said) -> Cause:
        if name in self.nested:
            return Cause(node, "pure", said)  # its body is part of this function
        if name in self.bound:
            return Cause(node, "effects", said, known=False)
        return self._value_call(node, self.namespace.get(name, getattr(builtins, name, None)), said)

    def _value_call(self, node: ast.Call, value: Any, said: Said) -> Cause:
        """Return a call of a value that is known."""
        function = self.effects.function_of(value)
        if function is not None:
            return Cause(node, "pure", said, callees=(function,))
        name = str(attribute(value, "__name__", ""))
        module = str(attribute(value, "__module__", "") or "")
        if isinstance(value, type):
            if issubclass(value, Role):
                return Cause(node, "effects", said)
            if issubclass(value, Record | Enum):
                made = [f for n in MAKING for f in self.effects.methods(n, value)]
                return Cause(node, "pure", said, callees=tuple(made))
        if module.startswith("statewalk.dsl"):
            if name in CHOOSING:
                return Cause(node, "effects", said)
            if name in PURE_NAMES:
                made = [f for n in MAKING if value is replace for f in self.effects.methods(n)]
                return Cause(node, "pure", said, callees=tuple(made))
            reads = name in ("old", "instances")
            return Cause(node, "reads" if reads else "effects", said, known=False)
        if getattr(builtins, name, None) is value and value is not None:
            return Cause(node, "effects" if name in DOING_BUILTINS else "pure", said, known=False)
        if is_pure_library(value):
            return Cause(node, "pure", said)
        return Cause(node, "effects", said, known=False)

    def _method_call(self, node: ast.Call, func: ast.Attribute, said: Said) -> Cause:
        receiver = func.value
        if isinstance(receiver, ast.Name):
            value = self.namespace.get(receiver.id)
            if isinstance(value, ModuleType):
                return self._value_call(node, getattr(value, func.attr, None), said)
            if hasattr(type(value), "looks_at_everything"):
                return Cause(node, "effects", said, known=False)
            if isinstance(value, type) and func.attr in vars(value):
                return self._value_call(node, vars(value)[func.attr], said)
        callees, pythons = self.methods(func), func.attr in CHANGING | LOOKING_METHODS
        unsure = pythons and self.types.receiver(receiver) is None
        if func.attr in CHANGING and not self._is_fresh(receiver):
            known = not callees and self._in_state(receiver)
            return Cause(node, "effects", said, known=known, callees=callees, unsure=unsure)
        if pythons or callees:
            return Cause(node, "pure", said, callees=callees, unsure=unsure)
        return Cause(node, "effects", said, known=False)

    def methods(self, node: ast.Attribute) -> tuple[Function, ...]:
        """Return the functions of the spec that an attribute may mean."""
        found = self.effects.methods(node.attr, self.types.receiver(node.value))
        if found and self._is_fresh(node.value):
            found = [f for f in found if f.owner and not issubclass(f.owner, Role)]
        return () if found and is_plain(node.value, self.types) else tuple(found)

    def passed(self, node: ast.Call) -> Iterator[Cause]:
        """Yield functions that are handed on, and may be called; `enabled` only asks about them."""
        called = meaning(node.func, self.namespace)
        if called is enabled or called is next_steps:
            return
        for argument in called_back(node):
            if not self._is_followed(argument):
                yield Cause(argument, "effects", (argument, "{}"), known=False)
        for argument in (*node.args, *(k.value for k in node.keywords)):
            value = meaning(argument, self.namespace)
            if callable(value):
                if not isinstance(value, type) and get_origin(value) is None:
                    handed = self._value_call(node, value, (argument, "{}"))
                    yield replaced(handed, node=argument, known=False)
            elif isinstance(argument, ast.Attribute):
                callees = self.methods(argument)
                if callees and not self.types.owners(argument):
                    attr = argument.attr
                    field = any(attr in record._fields for record in self.effects.tree.records)
                    unsure = field and self.types.receiver(argument.value) is None
                    said = argument, "{}"
                    yield Cause(argument, "pure", said, callees=callees, unsure=unsure)

    def _is_followed(self, node: ast.expr) -> bool:
        """Return whether the effects of a function that is handed on are seen elsewhere."""
        match node:
            case ast.Lambda() | ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self.nested or name not in self.bound
            case ast.Attribute(attr=name):
                known = bool(self.methods(node)) or name in LOOKING_METHODS
                return known or callable(meaning(node, self.namespace))
            case ast.Call(func=func):
                return is_pure_library(meaning(func, self.namespace))
        return False


def _is_getter(function: Function) -> bool:
    """Return whether a function runs when an attribute is read."""
    names = [ast.unparse(d).rpartition(".")[2] for d in function.node.decorator_list]
    return any(name in ("property", "cached_property") for name in names)
