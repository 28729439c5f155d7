"""The reads of roles, records and containers in expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from statewalk.checker.native.programs.operations import FIRST_ROLE
from statewalk.checker.native.programs.runtime import NOTHING, of_context
from statewalk.checker.native.programs.translate import Held
from statewalk.checker.native.programs.values import (
    Kind,
    Sort,
    Value,
    element_of,
    joined,
    may_change,
)
from statewalk.checker.native.programs.whole import Wholes
from statewalk.dsl.state.roles import Field


class Reading(Wholes):
    """Translates what reads the state."""

    # -- nodes -------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> Held:
        found = self.meaning(node)
        if found is not None and not callable(found[0]):
            return self.constant_of(found[0], node)
        kind = self.attribute(node)
        if kind == "index":
            return self.apply(self.machine.builtin("a0.index", 1, "int"), [self.value(node.value)])
        if kind == "role":
            return self._field(node)
        if kind == "constant":
            held = self.place(node)
            operation = self.machine.constant_field(held)
            return self.apply(operation, [self.value(node.value)], held.domain, scalar=True)
        if kind == "mixed":
            return self._open(node)
        if kind == "value":
            owner = self.value(node.value)
            sort, domain = self.inferred(node)
            operation = self.machine.getting(node.attr, sort, domain)
            return self.apply(operation, [owner], domain)
        raise self.no(node, "an attribute that is not known")

    def _open(self, node: ast.Attribute) -> Held:
        """Translate an attribute of what is known to be a role or a record when it runs only."""
        a, owner = self.a, self.value(node.value)
        kind = self.machine.attribute_of(node.attr, owner.sort, owner.domain)
        if kind == "mixed" and node.attr == "index":
            return self.apply(self.machine.builtin("a0.index", 1, "int"), [owner])
        if kind == "property" or self.machine.is_property(node.attr):
            function = self.machine.property_of(node.attr, owner)
            if function is None:
                raise self.no(node, "a property that may be of several classes")
            return self.inlined(function, [owner], node)
        if kind == "index":
            return self.apply(self.machine.builtin("a0.index", 1, "int"), [owner])
        if kind == "constant":
            held = self.machine.field(node.attr, owner.domain)
            return self.apply(self.machine.constant_field(held), [owner], held.domain, scalar=True)
        domain = self.of_record(node.attr, owner.domain)
        reading = self.machine.getting(node.attr, self.machine.sort_of(domain), domain)
        if kind == "value":
            return self.apply(reading, [owner], domain)
        held = self.machine.field(node.attr, owner.domain)
        if held.constant or not self.machine.is_whole(held):
            raise self.no(node, "an attribute of what may be a role or a record")
        if kind == "role":
            return self.read_field(held, owner)
        yes, no, end = (a.fresh(name) for name in ("role", "record", "end"))
        found = a.var()
        at = a.op("sub", owner.operand, str(FIRST_ROLE))
        a.branch(a.test("ult", at, self.machine.n_roles), yes, no)
        a.label(yes)
        one = self.read_field(held, owner)
        a.set(found, one.operand)
        a.jump(end)
        a.label(no)
        other = self.apply(reading, [owner], domain)
        a.set(found, other.operand)
        a.label(end)
        known = joined(
            Kind(one.sort, one.domain, one.aliases), Kind(other.sort, other.domain, other.aliases)
        )
        return Value(a.get(found), known.sort, known.domain, known.aliases, self.clock)

    def read_field(self, held: Field, owner: Value) -> Value:
        """Return what the slot of a field holds."""
        self.reads.add(held.name)
        slot = self.asked(self.machine.slot_operation(held), [owner.operand])
        return self.placed(self.read(slot), held.domain, held.name)

    def _field(self, node: ast.Attribute) -> Held:
        """Translate the read of a field of a role."""
        held = self.place(node)
        owner = self.value(node.value)
        if self.machine.is_whole(held):
            return self.read_field(held, owner)
        self.reads.add(held.name)
        return self.collected(held, owner)

    def placed(self, number: str, domain: Any, name: str) -> Value:
        """Return what a slot of a field holds as a value: it may be a live reference."""
        with self.a.when(self.a.test("eq", number, str(NOTHING))):
            self.erred()
        aliases = frozenset({name}) if may_change(domain) else frozenset()
        return Value(number, self.machine.sort_of(domain), domain, aliases, self.clock)

    def collected(self, held: Field, owner: Value) -> Value:
        """Return a whole set or dict whose elements or entries have slots of their own."""
        if held.layout == "entries":

            def fill(add: Callable[[Value], None]) -> None:
                def one(key: Value) -> None:
                    add(key)
                    add(self.entry(held, owner, key))

                self.each_key(held, owner, one)

            made = self.number(self.temporary(fill, "dict"))
        else:
            made = self.number(
                self.temporary(lambda add: self.each_element(held, owner, add), "set")
            )
        return Value(made.operand, "any", held.domain, frozenset({held.name}), self.clock)

    def entry(self, held: Field, owner: Value, key: Value) -> Value:
        """Return the entry of a dict field, which has to be there."""
        operation = self.machine.entry_operation(held, to_write=False)
        slot = self.asked(operation, [owner.operand, key.operand])
        self.reads.add(held.name)
        return self.placed(self.read(slot), held.domain.element, held.name + ".")

    def each_key(self, held: Field, owner: Value, do: Callable[[Value], None]) -> None:
        """Translate a loop over the keys of a dict field."""
        self.reads.add(held.name)
        slot = self.asked(self.machine.keys_operation(held), [owner.operand])
        keys = self.read(slot)
        with self.a.when(self.a.test("eq", keys, str(NOTHING))):
            self.erred()
        self.each_of(Value(keys), do, held.domain.key)

    def each_element(self, held: Field, owner: Value, do: Callable[[Value], None]) -> None:
        """Translate a loop over the elements of a set with a slot for each, in canonical order."""
        a, domain = self.a, held.domain.element
        sort = self.machine.sort_of(domain)
        self.reads.add(held.name)
        for at, number in self.each_slot(held, owner):
            do(Value(a.load(at, number), sort, domain))

    def each_slot(self, held: Field, owner: Value) -> Iterator[tuple[str, str]]:
        """Translate a loop over the slots of a set's elements that are there; once."""
        a = self.a
        order = self.asked(self.machine.order_operation(held), [owner.operand])
        pairs = self._context_at("orders", order, "ptr")
        end = a.op("mul", self._context_at("order_sizes", order, "i32"), "2")
        at, side = a.var("0"), int(self.side)
        with a.repeat(lambda: a.set(at, a.op("add", a.get(at), "2"))):
            asked = f"ptr %run, ptr {pairs}, i32 {a.get(at)}, i32 {end}, i32 {side}"
            found = a.call("present", asked)
            a.set(at, found)
            with a.when(a.test("sge", found, end)):
                a.leave()
            self.slot_at = a.load(pairs, found)
            yield pairs, a.op("add", found, "1")

    slot_at = ""

    def _context_at(self, name: str, index: str, kind: str) -> str:
        return self.a.load(of_context(self.a, name), index, kind)

    def each_of(self, value: Value, do: Callable[[Value], None], domain: Any = None) -> None:
        """Translate a loop over the elements of a value."""
        a = self.a
        self.check(value)
        at = self.asked(self.machine.sequence_of, [value.operand])
        pool = a.at(self._pool(), at)
        sort, domain, content = self.of_elements(value, domain)
        with a.count(a.load(pool, "0")) as k:
            number = a.load(pool, a.op("add", k, "1"))
            do(Value(number, sort, domain, content, self.clock))

    def of_elements(self, value: Value, domain: Any = None) -> tuple[Sort, Any, frozenset[str]]:
        """Return sort, domain and aliases of the elements of a value."""
        if value.constant:
            sort, domain = self.machine.known_of(value.constant[0])
            return sort, domain, frozenset()
        domain = domain if domain is not None else element_of(value.domain)
        aliases = frozenset(n if n[-1:] == "." else n + "." for n in value.aliases)
        sort = self.machine.sort_of(domain)
        return sort, domain, aliases if may_change(domain) else frozenset()

    def _pool(self) -> str:
        return of_context(self.a, "sequences")
