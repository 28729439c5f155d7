"""The machine that runs programs: the operations of a search, learned where code misses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from statewalk.checker.engines.hidden import HidingModel
from statewalk.checker.engines.layout import Layout, Slot
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.programs.knowledge import Knowledge
from statewalk.checker.native.programs.operations import (
    GaveUp,
    Numbers,
    Operation,
    Operations,
)  # fmt: skip
from statewalk.checker.native.programs.runtime import (
    BASE,
    NOTHING,
    OUTCOME,
    RAISES,
    STORE,
)  # fmt: skip
from statewalk.checker.native.programs.tables import MOST_SLOTS, Tables
from statewalk.checker.native.programs.values import Sort, Untranslatable
from statewalk.dsl.model import Model
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.tree import SpecTree
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenList,
    FrozenSet,
    encode,
    freeze,
    intern_key,
    ordered,
    thaw,
)  # fmt: skip


class Machine(Knowledge):
    """The operations of one search and their tables."""

    layout: Layout
    learned: Learned

    def __init__(self, model: Model, tree: SpecTree, effects: Effects) -> None:
        super().__init__(tree, effects)
        self.model = model
        hidden = model.hidden if isinstance(model, HidingModel) else ()
        self.hidden = frozenset(name for _, name in hidden)
        watched = model.watched.values() if isinstance(model, HidingModel) else ()
        self.watched = frozenset(path[2] for slots in watched for path in slots)
        self.numbers = Numbers([role for cls in tree.roles for role in cls._instances])
        self.n_roles = str(len(self.numbers.values) - 3)
        self.operations = Operations(self.numbers, model.classes)
        self.tables = Tables()
        self.asked = 0
        self._order_of: dict[tuple[str, int, str], int] = {}
        self._ordered: dict[int, list[tuple[bytes, int, int]]] = {}
        self._noted: list[int] = []  # per slot: value ids whose numbers are known
        self.arguments: dict[int, list[list[Any]]] = {}
        self.program_names: list[str] = []
        space: dict[str, Any] = {
            "_unpacked": _unpacked, "FrozenList": FrozenList, "FrozenSet": FrozenSet,
        }  # fmt: skip
        self._space = space
        self.sequence_of = self.operations.add(
            "sequence", lambda v: self._sequence(tuple(v)), "for", 1, raw=True
        )
        self.options_of = self.operations.add(
            "options", lambda v: self._sequence(_options(v)), "any_of", 1, raw=True
        )

    def field(self, name: str, domain: Domain | None) -> Field:
        """Return the field of a role that is meant; none that a view watches step by step."""
        if name in self.watched:
            raise Untranslatable(f"{name} is watched: writes of it have to be noticed")
        return super().field(name, domain)

    def explode(self) -> None:
        """Give the elements of each set of the state a slot of their own."""
        for cls in self.tree.roles:
            for name in cls._fields:
                held = getattr(cls, name)
                if held.constant or not held.settled:
                    continue  # without a value it is not the empty set
                if held.layout == "whole" and held.domain.kind == "set":
                    if self.is_small(held.domain.element):
                        continue  # it has few values
                    self.exploded.add((held.owner, name))

    # -- learning ----------------------------------------------------------------------------------

    def learn(self, key: list[int]) -> None:
        """Find out what was missed. Raises `GaveUp`."""
        self.asked += 1
        operation, *arguments = key
        if operation == OUTCOME:
            writes = list(zip(arguments[::2], arguments[1::2], strict=True))
            result: int | None = self.learned.outcome([], writes)
        elif operation == STORE:
            result = self._store(*arguments)
        else:
            result = self.operations.run(self.operations.of(operation), arguments)
        one = operation > STORE and self.operations.of(operation).arity == 1
        self.tables.learn(key, RAISES if result is None else result, one)
        self.note_values()
        self.tables.publish()

    def note_values(self) -> None:
        """Give numbers to the value ids that slots have got, wherever they come from."""
        if len(self.layout.slots) > MOST_SLOTS:
            raise GaveUp(f"more than {MOST_SLOTS} variables", every=True)
        new = self.layout.slots[len(self._noted) :]
        self._noted += [0] * len(new)
        grown, self.learned.grown = self.learned.grown, []
        for slot in new if grown is None else (*new, *grown):
            assumed = self.assumed_at(slot)
            for id in range(self._noted[slot.id], len(slot.values)):
                value = slot.values[id]
                self.tables.value(slot.id, id, self._number_in(slot, value))
                if assumed is not None and value is not ABSENT and not assumed.admits(value):
                    self.unexpected((slot.path[0], slot.path[2]))
                    assumed = None
            if self._noted[slot.id] == 0 and len(slot.path) == 5 and slot.path[3] == "in":
                self._note_element(slot)
            self._noted[slot.id] = len(slot.values)

    def unseen(self, row: Sequence[int]) -> list[Slot]:
        """Return the slots whose value in a row has no number yet."""
        noted, slots = self._noted, self.layout.slots
        return [
            slots[at] for at, id in enumerate(row) if id and (at >= len(noted) or id >= noted[at])
        ]

    def _number_in(self, slot: Slot, value: Any) -> int:
        if value is ABSENT:
            return NOTHING
        number = self.numbers.of(value)
        if type(value) is int and number >= BASE:
            raise GaveUp(f"{value} is too large a number for a program", every=True)
        return number

    def _store(self, number_of_slot: int, number: int) -> int | None:
        slot = self.layout.slots[number_of_slot]
        value = self.numbers.value(number)
        domain = self._domain_at(slot)
        if domain is not None and not domain.admits(value):
            return None
        return self.learned.value_id(slot, value)

    def assumed_at(self, slot: Slot) -> Domain | None:
        """Return what is assumed of the values in a slot."""
        path = slot.path
        held = self.assumed.get((path[0], path[2])) if len(path) > 2 else None
        return None if held is None else _at(path, held)

    def assume_from_values(self) -> None:
        """Assume of fields what is so of the values that their slots have had."""
        values: dict[tuple[str, str], list[Any]] = {}
        for slot in self.layout.slots:
            if len(slot.path) > 2 and (len(slot.path) == 3 or slot.path[3] == "key"):
                found = values.setdefault((slot.path[0], slot.path[2]), [])
                found += [value for value in slot.values if value is not ABSENT]
        self.assume(lambda held: values.get((held.owner, held.name), []))

    def _domain_at(self, slot: Slot) -> Domain | None:
        path = slot.path
        held = getattr(self.model.classes.get(path[0]), path[2], None)
        return _at(path, held) if isinstance(held, Field) else None

    def _declared(self, held: Field) -> Domain:
        """Return the domain that the spec gives a field, whatever is assumed of it."""
        declared: Field = getattr(self.model.classes[held.owner], held.name)
        return declared.domain

    def _sequence(self, values: tuple[Any, ...]) -> int:
        return self.tables.sequence([self.numbers.of(v) for v in values])

    def _note_element(self, slot: Slot) -> None:
        """Put a set's element in its place among the others."""
        owner, index, name = slot.path[:3]
        number = self._order_of.get((owner, index, name))
        if number is None:
            return
        value = self.layout.elements[slot.path]
        entries = self._ordered[number]
        entries.append((encode(freeze(value)), slot.id, self.numbers.of(value)))
        entries.sort()
        self.tables.order(number, [(s, n) for _, s, n in entries])

    # -- operations on the state's layout ----------------------------------------------------------

    def _role(self, role: Any, held: Field) -> tuple[str, int, str]:
        if not isinstance(role, Role):
            if role is None:
                raise AttributeError(held.name)
            raise GaveUp(f"{held.name} is asked of {role!r}")
        own = getattr(type(role), held.name, None)
        if not isinstance(own, Field):
            raise AttributeError(held.name)
        known = self.assumed.get((own.owner, own.name), own)
        if own.layout != held.layout or held.domain.text not in (
            own.domain.text, known.domain.text,
        ):  # fmt: skip
            raise GaveUp(f"{held.name} is of another class")
        return held.path(role)

    def _on_layout(
        self, what: str, held: Field, function: Callable[..., Any], arity: int
    ) -> Operation:
        key = (what, held.name, held.layout, held.domain.text)
        return self.operations.add(key, function, f"{what} {held.name}", arity, raw=True)

    def slot_operation(self, held: Field) -> Operation:
        """Return what finds the slot of a role's field."""
        return self._on_layout("slot", held, lambda r: self.layout.slot(self._role(r, held)).id, 1)

    def keys_operation(self, held: Field) -> Operation:
        """Return what finds the slot of the keys of a role's dict."""
        return self._on_layout(
            "keys", held, lambda r: self.layout.slot((*self._role(r, held), "keys")).id, 1
        )

    def entry_operation(self, held: Field, to_write: bool) -> Operation:
        """Return what finds the slot of an entry of a role's dict."""

        def find(role: Any, key: Any) -> int:
            path = self._role(role, held)
            if to_write and held.domain.key is not None and not held.domain.key.admits(key):
                raise KeyError(key)
            return self.layout.slot((*path, "key", intern_key(key))).id

        return self._on_layout("put" if to_write else "entry", held, find, 2)

    def asking_operation(self, held: Field) -> Operation:
        """Return what finds the slot of an element or entry that may be there."""
        if held.layout == "entries":
            return self.entry_operation(held, to_write=False)
        return self._on_layout("in", held, lambda r, e: self._element(r, held, e), 2)

    def adding_operation(self, held: Field) -> Operation:
        """Return what finds the slot of an element that is added."""

        def find(role: Any, element: Any) -> int:
            if held.domain.element is not None and not held.domain.element.admits(element):
                raise ValueError(element)
            return self._element(role, held, element)

        return self._on_layout("add", held, find, 2)

    def _element(self, role: Any, held: Field, element: Any) -> int:
        path = (*self._role(role, held), "in", intern_key(element))
        return self.layout.slot(path).id

    def order_operation(self, held: Field) -> Operation:
        """Return what finds the elements of a role's set in order."""
        return self._on_layout("order", held, lambda r: self._order(self._role(r, held)), 1)

    def _order(self, path: tuple[str, int, str]) -> int:
        number = self._order_of.get(path)
        if number is None:
            number = self._order_of[path] = len(self._order_of)
            self._ordered[number] = []
            self.tables.order(number, [])
            for slot in self.layout.slots:
                if len(slot.path) == 5 and slot.path[:3] == path:
                    self._note_element(slot)
        return number

    def constant_field(self, held: Field) -> Operation:
        """Return what gives the value of a field that no step writes."""

        def get(role: Any) -> Any:
            path = self._role(role, held)
            found = role.__dict__.get(path[2], ABSENT)
            if found is ABSENT:
                raise GaveUp(f"{held.name} has no value")
            return freeze(found)

        claim = self.sort_of(held.domain)
        key = ("constant", held.name, held.domain.text)
        return self.operations.add(key, get, f"constant {held.name}", 1, claim)

    def checked(self, held: Field) -> Operation:
        """Return what raises for a value that a field's type does not allow."""
        domain = self._declared(held)

        def check(value: Any) -> None:
            if not domain.admits(value):
                raise ValueError(value)

        return self.operations.add(("checked", domain.text), check, "checked", 1)

    # -- operations on values ----------------------------------------------------------------------

    def builtin(
        self, text: str, arity: int, claim: Sort, domain: Domain | None = None
    ) -> Operation:
        """Return an operation that is written with ``a0``, ``a1``, ... and builtins only."""
        names = ", ".join(f"a{k}" for k in range(arity))
        return self.operations.add(
            ("builtin", text),
            eval(f"lambda {names}: {text}", self._space),
            text,
            arity,
            claim,
            domain=domain,
        )  # the text is ours, never a spec's

    def getting(self, name: str, claim: Sort, domain: Domain | None) -> Operation:
        """Return what reads a field of a record."""

        def get(value: Any) -> Any:
            found = getattr(value, name)
            if isinstance(value, Role) or (domain is not None and not domain.admits(freeze(found))):
                raise GaveUp(f"{name} of {value!r} is not of its type")
            return found

        key = ("get", name, domain.text if domain is not None else "")
        return self.operations.add(key, get, f".{name}", 1, claim)

    def making(self, kind: str) -> Operation:
        """Return what makes a container of its elements; of a dict, keys and values in turn."""
        make: Callable[..., Any] = {
            "list": lambda *v: FrozenList(v), "tuple": lambda *v: v,
            "set": lambda *v: FrozenSet(v),
            "dict": lambda *v: dict(zip(v[::2], v[1::2], strict=True)),
        }[kind]  # fmt: skip
        return self.operations.add(("make", kind), make, kind, -1)

    def in_place(self, text: str) -> Operation:
        """Return what an augmented assignment leaves in a place."""
        code = compile(text, "operation", "exec")

        def change(value: Any, other: Any) -> Any:
            space = {"x": _copied(value), "y": other}
            exec(code, space)  # the text is ours: ``x += y``
            return space["x"]

        return self.operations.add(("in place", text), change, text, 2)

    def instance_of(self, cls: type | None) -> Operation:
        """Return what makes sure of the class of a value."""

        def check(value: Any) -> None:
            if not isinstance(value, cls or object):
                raise GaveUp(f"{value!r} is of another class")

        name = getattr(cls, "__name__", "")
        return self.operations.add(("instance", name), check, f"is a {name}", 1)

    def with_field(self, name: str) -> Operation:
        """Return what gives a record another value of a field."""
        return self.operations.add(("with", name), lambda r, v: r._with(name, v), f"with {name}", 2)

    def item_set(self) -> Operation:
        """Return what a list or dict is after ``x[k] = v``."""
        return self.operations.add("set item", _item_set, "x[k] = v", 3)

    def item_deleted(self) -> Operation:
        """Return what a list or dict is after ``del x[k]``."""
        return self.operations.add("del item", _item_deleted, "del x[k]", 2)

    def method_result(self, name: str, count: int) -> Operation:
        """Return what a changing method gives."""
        return self.operations.add(
            ("result", name, count), lambda v, *a: getattr(_copied(v), name)(*a), f".{name}()",
            count + 1,
        )  # fmt: skip

    def method_change(self, name: str, count: int) -> Operation:
        """Return what a changing method leaves."""

        def change(value: Any, *arguments: Any) -> Any:
            copy = _copied(value)
            getattr(copy, name)(*arguments)
            return copy

        return self.operations.add(("change", name, count), change, f".{name}()", count + 1)

    def known_now(self, operation: Operation) -> Any:
        """Return the value of an operation without arguments; None where it raises."""
        number = self.operations.run(operation, [])
        return None if number is None else self.numbers.value(number)


def _at(path: tuple[Any, ...], held: Field) -> Domain | None:
    """Return the domain of what is in a slot of a field; None for keys and elements of a set."""
    if len(path) == 3:
        return held.domain
    return held.domain.element if path[3] == "key" else None


def _copied(value: Any) -> Any:
    """Return a container of the spec's own with the same content, to be changed."""
    found = thaw(value)
    from statewalk.dsl.values.ordered_sets import OrderedSet
    from statewalk.dsl.values.records import Bag

    if isinstance(value, FrozenSet):
        return OrderedSet(value)
    if type(value).__name__ == "FrozenBag" or type(value).__name__ == "Bag":
        return Bag(value)
    if isinstance(found, list):
        return list(value)
    if isinstance(found, dict):
        return dict(value.items())
    raise GaveUp(f"{value!r} is changed in place")


def _item_set(container: Any, key: Any, value: Any) -> Any:
    copy = _copied(container)
    copy[key] = value
    return copy


def _item_deleted(container: Any, key: Any) -> Any:
    copy = _copied(container)
    del copy[key]
    return copy


def _unpacked(value: Any, count: int, at: int) -> Any:
    parts = tuple(value)
    if len(parts) != count:
        raise ValueError(value)
    return parts[at]


def _options(value: Any) -> tuple[Any, ...]:
    """Return the options that a choice among a value's elements has, in their order."""
    return tuple(ordered(value) if isinstance(value, set | frozenset) else list(value))
