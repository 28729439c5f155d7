"""The facts about a whole spec that a translation needs: names, fields, classes, functions."""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Collection, Container, Iterable
from copy import copy
from dataclasses import replace
from functools import cache, partial
from typing import Any

from statewalk.checker.native.programs.hints import (
    alike_inside,
    attributes_in,
    hint_of,
    hint_of_constant,
)
from statewalk.checker.native.programs.values import (
    Kind,
    Sort,
    Untranslatable,
    Value,
    joined,
    sort_of,
    sort_of_value,
)  # fmt: skip
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.scopes import locals_of
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.domains import ANYTHING, Domain, domain_of, one_of
from statewalk.dsl.values.lists import CHANGING
from statewalk.dsl.values.records import Record
from statewalk.dsl.words import declare

_FEW = 6
_MOST_BREAKS = 2  # what was assumed of a field and is not so, before nothing is any more
NEW = (
    ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.BinOp, ast.Tuple,
    ast.Constant,
)  # fmt: skip
"""Expressions that make something that nobody else knows."""
FIZZ = "statewalk.dsl.fizz.runtime.values"
"""The module of the values that only `.fizz` has."""


class Knowledge:
    """Answers about one spec. ``exploded`` are the set fields that have a slot for each element."""

    def __init__(self, tree: SpecTree, effects: Effects) -> None:
        self.tree, self.effects = tree, effects
        self.exploded: set[tuple[str, str]] = set()
        self._functions = {
            f.function.__code__: f for f in tree.functions if hasattr(f.function, "__code__")
        }
        self._role_fields: dict[str, list[Field]] = {}
        for cls in tree.roles:
            for name in cls._fields:
                held = getattr(cls, name)
                if isinstance(held, Field):
                    self._role_fields.setdefault(name, []).append(held)
        self._record_fields: dict[str, list[type[Record]]] = {}
        for record in tree.records:
            for name in record._fields:
                self._record_fields.setdefault(name, []).append(record)
        self._open_records = any(getattr(cls, "_open", False) for cls in tree.records)
        self._role_domains = {one_of(cls): cls for cls in tree.roles}
        self.assumed: dict[tuple[str, str], Field] = {}
        self.assumed_of_records: dict[str, Domain] = {}  # by attribute: records of any fields
        self.broken: set[tuple[str, str]] = set()
        self._breaks: dict[tuple[str, str], int] = {}
        self.domain_of_class: Callable[[Any], Domain] = cache(domain_of)
        self._of_roles = cache(partial(_have_property, tree.roles))
        self._of_records = cache(partial(_have_property, tree.records))

    # -- names -------------------------------------------------------------------------------------

    def attribute(self, name: str) -> str:
        """Return what an attribute of this name is: role, constant, index, value or mixed."""
        roles = self._role_fields.get(name, [])
        others = name in self._record_fields or not roles or self._open_records
        if name == "index" or self._of_roles(name):
            return "mixed"
        if roles and others:
            return "mixed"
        if roles:
            constants = {held.constant for held in roles}
            return "mixed" if len(constants) > 1 else ("constant" if constants.pop() else "role")
        return "mixed" if self._of_records(name) else "value"

    def attribute_of(self, name: str, sort: Sort, domain: Domain | None) -> str:
        """Return the same where the owner is known."""
        classes = self.role_classes(domain)
        if sort == "role" or classes:
            if name == "index":
                return "index"
            held = [f for f in (getattr(c, name, None) for c in classes) if f]
            if held and all(isinstance(f, Field) for f in held):
                constants = {f.constant for f in held}
                if len(constants) == 1:
                    return "constant" if constants.pop() else "role"
            return "mixed"
        if domain is not None and self._records_of(domain):
            return "mixed" if _have_property(self._records_of(domain), name) else "value"
        return "mixed"

    def role_classes(self, domain: Domain | None) -> list[type[Role]]:
        """Return the role classes whose instances are in a domain, None aside; empty if others are
        too.
        """
        if domain is None:
            return []
        parts = domain.either or (domain,)
        found = []
        for part in parts:
            if part.options == (None,):
                continue
            if part.text not in self._role_domains:
                return []
            found.append(self._role_domains[part.text])
        kinds = [kind for cls in found for kind in self.tree.roles if issubclass(kind, cls)]
        return [kind for kind in kinds if kind._instances] or kinds

    def is_class_domain(self, domain: Domain | None) -> bool:
        """Return whether all members are roles, or all are records."""
        return domain is not None and bool(self.role_classes(domain) or self._records_of(domain))

    def is_small(self, domain: Domain | None) -> bool:
        """Return whether a domain has few members, so that a set of them has few values."""
        if domain is None:
            return False
        if domain.options is not None:
            return len(domain.options) <= _FEW
        return 0 < sum(len(cls._instances) for cls in self.role_classes(domain)) <= _FEW

    def is_container(self, domain: Domain | None) -> bool:
        """Return whether all members of a domain are containers, whose methods are Python's own."""
        return domain is not None and domain.kind not in ("scalar", "record")

    def is_role_domain(self, domain: Domain | None) -> bool:
        """Return whether all members are roles, or None."""
        return bool(self.role_classes(domain))

    def sort_of(self, domain: Domain | None) -> Sort:
        """Return the sort of the members of a domain."""
        if domain is not None and domain.text in self._role_domains:
            return "role"
        return sort_of(domain)

    def _records_of(self, domain: Domain) -> tuple[type[Record], ...]:
        parts = domain.either or (domain,)
        found: tuple[Any, ...] = ()
        for part in parts:
            if part.options == (None,):
                continue
            if part.kind != "record":
                return ()
            found += part.records
        return found

    def domain_of_value(self, value: Any) -> Domain | None:
        """Return the domain of a constant, where one is useful."""
        hint = hint_of_constant(value)
        return self.domain_of_class(hint) if hint is not object else None

    def known_of(self, values: Collection[Any]) -> tuple[Sort, Domain | None]:
        """Return the sort and domain that all of some values have."""
        known: Kind | None = None
        for value in {id(type(v)): v for v in values}.values() if alike_inside(values) else values:
            known = joined(known, Kind(sort_of_value(value), self.domain_of_value(value)))
        return (known.sort, known.domain) if known is not None else ("any", None)

    def field(self, name: str, domain: Domain | None) -> Field:
        """Return the field of a role that is meant, the same in all classes that it may be of."""
        classes = self.role_classes(domain) or self.tree.roles
        held = [f for cls in classes if isinstance(f := getattr(cls, name, None), Field)]
        known = [self.assumed.get((f.owner, f.name), f) for f in held]
        if known and all(_alike(known[0], other) for other in known):
            held = known
        if not held or any(not _alike(held[0], other) for other in held):
            raise Untranslatable(f"{name} may be of several classes")
        if any(cls._room is not None for cls in self.tree.roles):
            raise Untranslatable("roles come and go")
        return held[0]

    def assume(self, values: Callable[[Field], list[Any]]) -> None:
        """Assume of fields whose type says nothing that their values stay of the kinds they are.

        ``values`` gives those that a field, or the entries of a dict, have had. Whoever meets
        another one calls `unexpected`.
        """
        for fields in self._role_fields.values():
            for held in fields:
                key = (held.owner, held.name)
                says = held.domain if held.layout == "whole" else held.domain.element
                if (
                    says is not ANYTHING
                    or key in self.assumed
                    or self._breaks.get(key, 0) > _MOST_BREAKS
                ):
                    continue
                domain = self.domain_of_values(values(held))
                if domain is None:
                    continue
                self._assume_of_records(values(held))
                found = copy(held)
                whole = held.layout == "whole"
                found.domain = domain if whole else replace(held.domain, element=domain)
                self.assumed[key] = found

    def _assume_of_records(self, values: Collection[Any]) -> None:
        """The same of the attributes of records that may have any, as far as values hold such."""
        found: dict[str, list[Any]] = {}
        for value in values:
            attributes_in(value, found)
        self._open_records = self._open_records or bool(found)
        for name, held in found.items():
            domain = self.domain_of_values(held)
            if domain is not None and self._breaks.get(("", name), 0) <= _MOST_BREAKS:
                self.assumed_of_records[name] = domain

    def unexpected(self, key: tuple[str, str]) -> None:
        """Give up what was assumed of a field, by class and name, or of records' attribute."""
        if key[0]:
            del self.assumed[key]
        else:
            del self.assumed_of_records[key[1]]
        self.broken.add(key)
        self._breaks[key] = self._breaks.get(key, 0) + 1

    def domain_of_values(self, values: Collection[Any]) -> Domain | None:
        """Return a domain that all of some stored values are in, by their classes; None if it says
        nothing.
        """
        hint = hint_of(values)
        return None if hint is object else self.domain_of_class(hint)

    def is_whole(self, held: Field) -> bool:
        """Return whether a field has one slot."""
        return held.layout == "whole" and (held.owner, held.name) not in self.exploded

    def attribute_domain(self, name: str, domain: Domain | None) -> Domain | None:
        """Return the domain of a field of a record."""
        known = self._records_of(domain) if domain is not None else ()
        if self._open_records and all(getattr(cls, "_open", False) for cls in known):
            return self.assumed_of_records.get(name)
        owners = [cls for cls in known or self._record_fields.get(name, []) if name in cls._fields]
        domains = [vars(cls).get("_domains", {}).get(name) for cls in owners]
        texts = {d.text if d is not None else "" for d in domains}
        return domains[0] if len(texts) == 1 and domains else None

    # -- functions ---------------------------------------------------------------------------------

    def function_of(self, callee: Any) -> Function | None:
        """Return the function of the tree that is called, if it is one."""
        code = getattr(callee, "__code__", None)
        return self._functions.get(code) if code is not None else None

    def methods(self, name: str) -> list[Function]:
        """Return the methods of a name that the spec's classes have."""
        return [f for f in self.tree.functions if f.owner is not None and f.name == name]

    def method(self, name: str, owner: Value) -> Function | None:
        """Return the method that a call of an owner runs; None where that is not known."""
        if self.is_container(owner.domain):
            return None
        classes: list[type] = list(self.role_classes(owner.domain))
        if not classes and owner.domain is not None:
            classes = list(self._records_of(owner.domain))
        if not classes and owner.constant:
            classes = [type(owner.constant[0])]
        if not classes:  # whoever has a method of that name, if it is one: a guard makes sure
            own = {f.owner for f in self.methods(name)}
            classes = [cls for cls in own if cls is not None] if len(own) == 1 else []
        found = {id(f): f for cls in classes if (f := self.function_of(getattr(cls, name, None)))}
        if (
            not found
            or len(found) > 1
            or any(self.function_of(getattr(cls, name, None)) is None for cls in classes)
        ):
            return None
        function = next(iter(found.values()))
        if function.is_static or function.class_parameter is not None:
            return None
        return function

    def is_property(self, name: str) -> bool:
        """Return whether a class has a property of a name."""
        return self._of_roles(name) or self._of_records(name)

    def property_of(self, name: str, owner: Value) -> Function | None:
        """Return the function behind a property of an owner; None where that is not known."""
        classes: list[type] = [*self.role_classes(owner.domain)]
        if not classes and owner.domain is not None:
            classes = list(self._records_of(owner.domain))
        found = [getattr(cls, name, None) for cls in classes]
        getters = [p.fget for p in found if isinstance(p, property)]
        if not getters or len(getters) < len(found):
            return None
        functions = {id(f): f for g in getters if (f := self.function_of(g)) is not None}
        return next(iter(functions.values())) if len(functions) == 1 else None

    def is_pure(self, function: Function) -> bool:
        """Return whether a function only computes, from its arguments alone."""
        return (
            self.effects.of(function) == "pure"
            and not function.is_generator
            and function.owner is None
            and not self.mutated(function)
            and not self._reads_roles(function)
        )

    def domain_returned(self, function: Function) -> Domain | None:
        """Return the domain that a function says it returns; whoever relies on it has to look."""
        space = {**function.module.namespace, **self.tree.classes}
        try:
            hint = typing.get_type_hints(function.function, space).get("return", object)
        except Exception:
            return None
        found: Domain = self.domain_of_class(hint)
        return found if found is not ANYTHING else None

    def _reads_roles(self, function: Function) -> bool:
        """Return whether a function may read fields of roles that it is given."""
        for node in walk(function.node):
            if isinstance(node, ast.Attribute) and node.attr in self._role_fields:
                return True
            if isinstance(node, ast.Call):
                callee = function.module.namespace.get(getattr(node.func, "id", ""))
                other = self.function_of(callee)
                if other is not None and other is not function and self._reads_roles(other):
                    return True
        return False

    def makes_more(self, cls: type) -> bool:
        """Return whether making a record runs code of its class."""
        if cls.__module__ == FIZZ:
            return False
        return any(
            getattr(cls, name, None) is not getattr(Record, name, None)
            for name in ("__init__", "__post_init__")
        )

    def locals(self, function: Function) -> frozenset[str]:
        """Return the names that are a function's own."""
        known: dict[int, frozenset[str]] = self.__dict__.setdefault("_locals", {})
        if id(function) not in known:
            known[id(function)] = frozenset(locals_of(function.node))
        return known[id(function)]

    def mutated(self, function: Function) -> frozenset[str]:
        """Return the locals that a function changes in place, as far as its text says so."""
        known: dict[int, frozenset[str]] = self.__dict__.setdefault("_mutated", {})
        if id(function) not in known:
            known[id(function)] = frozenset(
                _mutated(function, self._role_fields, self._record_fields)
            )
        return known[id(function)]

    def is_shared(self, function: Function, name: str) -> bool:
        """Return whether what a local holds may have another name: it came from one, or got one."""
        if name in {a.arg for a in walk(function.node) if isinstance(a, ast.arg)}:
            return True
        looked: set[int] = set()
        for node in walk(function.node):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                    if not isinstance(node.value, NEW) or len(targets) > 1:
                        return True
            elif isinstance(node, ast.AugAssign | ast.Compare | ast.BinOp | ast.Subscript):
                looked |= {id(part) for part in ast.iter_child_nodes(node)}
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if self.is_looking(function, node.func.id):
                    looked |= {id(part) for part in node.args}
            elif isinstance(node, ast.For | ast.comprehension):
                looked.add(id(node.iter))
            elif isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
                looked.add(id(node.test))
        bound = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
                    for n in walk(function.node))  # fmt: skip
        direct = sum(
            isinstance(n, ast.Assign | ast.AnnAssign | ast.AugAssign)
            and any(isinstance(t, ast.Name) and t.id == name
                    for t in (n.targets if isinstance(n, ast.Assign) else [n.target]))
            for n in walk(function.node)
        )  # fmt: skip
        return bound != direct or any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            and id(n) not in looked
            for n in walk(function.node)
        )  # fmt: skip

    def is_looking(self, function: Function, name: str) -> bool:
        """Return whether a name is a builtin, or a choice, that keeps nothing it is given."""
        if name in self.locals(function):
            return False
        space = function.module.namespace
        return (name in space and space[name] is declare.any_of) or (
            name not in space and name in ("len", "any", "all", "sum", "min", "max", "sorted")
        )

    def bound_once(self, function: Function, name: str) -> bool:
        """Return whether one place only binds a name."""
        given = name in self.parameters(function)
        once = self.times_bound(function, name) == 1
        return once and not given and name not in self.mutated(function)

    def parameters(self, function: Function) -> frozenset[str]:
        """Return the names of a function's parameters."""
        given = function.node.args
        return frozenset(a.arg for a in (*given.args, *given.kwonlyargs))

    def times_bound(self, function: Function, name: str) -> int:
        """Return in how many places a name is bound."""
        return sum(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
            for n in walk(function.node)
        )

    def returns_new(self, function: Function) -> bool:
        """Return whether all that a function returns is made in it."""
        space = function.module.namespace
        made: dict[str, list[ast.expr]] = {}
        for node in walk(function.node):
            if isinstance(node, ast.Assign):
                for name in node.targets:
                    made.setdefault(ast.unparse(name), []).append(node.value)
        local = self.locals(function)

        def is_new(node: ast.expr | None) -> bool:
            if isinstance(node, ast.IfExp):
                return is_new(node.body) and is_new(node.orelse)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                return node.func.id not in local and isinstance(space.get(node.func.id), type)
            return node is None or isinstance(node, NEW)

        def is_returned_new(node: ast.expr | None) -> bool:
            if not isinstance(node, ast.Name):
                return is_new(node)
            values = made.get(node.id, [])
            once = len(values) == self.times_bound(function, node.id)
            return bool(values) and once and all(map(is_new, values))

        returned = [n.value for n in walk(function.node) if isinstance(n, ast.Return)]
        return all(map(is_returned_new, returned))

    def is_assigned(self, function: Function, name: str) -> bool:
        """Return whether a function binds a name besides as a parameter."""
        return any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store | ast.Del)
            for n in walk(function.node)
        )

    def defaults(self, function: Function) -> dict[str, Any]:
        """Return the values of parameters that are left out."""
        names = [a.arg for a in function.node.args.args]
        values = function.function.__defaults__ or ()
        named = function.function.__kwdefaults__ or {}
        return dict(zip(names[len(names) - len(values) :], values, strict=True)) | named


def _have_property(classes: Iterable[type], name: str) -> bool:
    """Return whether an attribute is a property of some classes."""
    return name != "there" and any(isinstance(getattr(c, name, None), property) for c in classes)


def _alike(one: Field, other: Field) -> bool:
    return (
        one.layout == other.layout
        and one.domain.text == other.domain.text
        and one.constant == other.constant
        and one.keys == other.keys
    )


def _mutated(function: Function, roles: Container[str], records: Container[str]) -> Iterable[str]:
    own = function.owner is not None and issubclass(function.owner, Record)
    for part in walk(function.node):
        target: ast.expr | None = None
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            if part.func.attr in CHANGING:
                target = part.func.value
        elif isinstance(part, ast.Attribute | ast.Subscript) and isinstance(
            part.ctx, ast.Store | ast.Del
        ):
            target = part
        while isinstance(target, ast.Attribute | ast.Subscript):
            below = target.value
            if isinstance(target, ast.Attribute) and target.attr in roles:
                if not (target.attr in records and (own or getattr(below, "id", "self") != "self")):
                    target = None
                    break
            target = below
        if isinstance(target, ast.Name) and (own or target.id != "self"):
            yield target.id
