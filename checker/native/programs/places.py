"""Places of the state and of locals: names for them, and what is put there."""

from __future__ import annotations

import ast
from dataclasses import replace

from statewalk.checker.native.programs.calls import Calls
from statewalk.checker.native.programs.knowledge import NEW
from statewalk.checker.native.programs.operations import TRUE, Operation
from statewalk.checker.native.programs.runtime import ERRED, NOTHING
from statewalk.checker.native.programs.translate import Frame, Held, Place
from statewalk.checker.native.programs.values import Kind, Value, may_change
from statewalk.dsl.state.roles import Field


class Places(Calls):
    """Translates changes of places."""

    def is_role(self, value: Held) -> bool:
        """Return whether a value is a role, which is changed field by field."""
        if not isinstance(value, Value):
            return False
        return value.sort == "role" or self.machine.is_role_domain(value.domain)

    def _is_changed(self, name: str) -> bool:
        """Return whether a local is changed in place."""
        held = self.frame.variables.get(name)
        changed = name in self.mutated_names(self.frame.function)
        return (
            changed
            and held is not None
            and not self.is_role(self.local(name, ast.Name(name)) or self.constant(None))
        )

    def _bind_changed(self, target: ast.Name, value: Held, source: ast.expr) -> None:
        """Bind a local that is changed in place: to something new, or as a name for a place."""
        aliases = value.aliases if isinstance(value, Value) else frozenset()
        if self._is_new(source):
            self.bind(target.id, value)
            self.frame.fresh.add(target.id)
            return
        place = self.hold(source) if aliases else None
        if place is None or self.machine.times_bound(self.frame.function, target.id) > 1:
            raise self.no(target, "changed in place, and perhaps known by another name")
        self.frame.places[target.id] = place

    def _is_new(self, node: ast.expr) -> bool:
        """Return whether an expression makes something that nobody else knows."""
        if isinstance(node, ast.Call):
            return self._makes(node) and not any(
                isinstance(n, ast.Name) and self._is_changed(n.id) for n in ast.walk(node)
            )
        if isinstance(node, ast.IfExp):
            return self._is_new(node.body) and self._is_new(node.orelse)
        return isinstance(node, NEW)

    def _makes(self, node: ast.Call) -> bool:
        """Return whether a call gives something new: others may give what is in the state."""
        found = self.meaning(node.func)
        if found is not None:
            function = self.machine.function_of(found[0])
            if function is not None:
                return self.machine.returns_new(function)
            return isinstance(found[0], type) or found[0] is sorted
        assert isinstance(node.func, ast.Attribute)
        method = node.func.attr
        own = self.machine.methods(method)
        if own:
            return all(map(self.machine.returns_new, own))
        return method == "copy" or (method == "pop" and len(node.args) < 2)

    def hold(self, node: ast.expr) -> Place | None:
        """Return the place that an expression is, as it is now; None where it is none."""
        born = self.clock
        if isinstance(node, ast.Name):
            return self._held_name(node)
        if isinstance(node, ast.Attribute):
            kind = self.attribute(node)
            if kind == "mixed":
                base = self.value(node.value)
                kind = self.machine.attribute_of(node.attr, base.sort, base.domain)
            if kind == "role":
                held, owner = self.place(node), self.value(node.value)
                return Place(
                    lambda: self.field_now(held, owner),
                    lambda v: self._put_field(held, owner, v), held.name, born,
                )  # fmt: skip
            whole = self.hold(node.value) if kind == "value" else None
            if whole is None:
                return None
            sort, domain = self.inferred(node)
            reading = self.machine.getting(node.attr, sort, domain)
            changing = self.machine.with_field(node.attr)
            return Place(
                lambda: self.apply(reading, [whole.get()], domain),
                lambda v: whole.put(self._changed(changing, whole.get(), v)), whole.field, born,
                whole.loose,
            )  # fmt: skip
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            apart = self.apart(node.value)
            if apart is not None and apart.layout == "entries":
                assert isinstance(node.value, ast.Attribute)
                owner, key = self.value(node.value.value), self.value(node.slice)
                return Place(
                    lambda: self.entry(apart, owner, key),
                    lambda v: self._put_entry(apart, owner, key, v), apart.name, born,
                )  # fmt: skip
            outer = self.hold(node.value) if apart is None else None
            if outer is None:
                return None
            at = self.value(node.slice)
            sort, domain = self.inferred(node)
            looking = self.machine.builtin("a0[a1]", 2, sort)
            setting = self.machine.item_set()
            return Place(
                lambda: self.apply(looking, [outer.get(), at], domain),
                lambda v: outer.put(self._changed(setting, outer.get(), at, v)), outer.field,
                born, outer.loose,
            )  # fmt: skip
        return None

    def _changed(self, operation: Operation, whole: Value, *parts: Value) -> Value:
        found = self.apply(operation, [whole, *parts], whole.domain, scalar=True)
        return found.knowing(*parts)

    def _held_name(self, node: ast.Name) -> Place | None:
        """Return the place that a local is: what it is a name for, or itself where it is its
        own.
        """
        frame, name = self.frame, node.id
        if name in frame.places:
            return self.place_of(name)
        held = self.local(name, node)
        if not isinstance(held, Value) or name not in frame.variables:
            return None
        if name not in self.mutated_names(frame.function):
            return None
        aliases = held.aliases - frame.own_aliases(name)
        given = len(self.frames) == 1 and name in self.machine.parameters(frame.function)
        if name not in frame.fresh and (aliases or not given):
            return None

        def get() -> Value:
            return self.local_of(frame, name)

        return Place(
            get,
            lambda v: self.bind_in(frame, name, v),
            frame.alias(name),
            self.clock,
            bool(aliases),
        )

    def local_of(self, frame: Frame, name: str) -> Value:
        """Return what a local of a frame holds now."""
        kind = self.kinds[(*frame.key, name)]
        return Value(self.a.get(frame.variables[name]), kind.sort, kind.domain, born=self.clock)

    def bind_in(self, frame: Frame, name: str, value: Value) -> None:
        """Let a local of a frame hold a value."""
        aliases = value.aliases - frame.own_aliases(name)
        self.learn_kind((*frame.key, name), Kind(value.sort, value.domain, aliases))
        self.a.set(frame.variables[name], value.operand)

    def put(self, target: ast.expr, value: Value) -> None:
        """Translate an assignment to a place: a field of a role, or something in one."""
        self.check(value)
        place = self.hold(target)
        if place is None:
            raise self.no(target, "an assignment whose target may be one of several objects")
        if place.loose and not isinstance(getattr(target, "value", None), ast.Name):
            raise self.no(target, "changed in place, and perhaps known by another name")
        place.put(value)
        if place.field:
            self.replace(place.field)
            direct = isinstance(target, ast.Attribute) and self.attribute(target) == "role"
            if not direct and self.apart(getattr(target, "value", target)) is None:
                sort, domain = self.inferred(target)
                plain = sort != "any" or (domain is not None and not may_change(domain))
                self._keep_names(place, target, plain)
                self.touch(place.field, inside=True)

    def _keep_names(self, changed: Place, node: ast.expr, every: bool) -> None:
        """Keep the name that a change goes through; ``every`` name, if it replaces no place."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        through = node.id if isinstance(node, ast.Name) else ""
        for frame in self.frames:
            for name, place in frame.places.items():
                named = frame is self.frame and name == through
                if place.field == changed.field and (every or named):
                    frame.places[name] = replace(place, born=self.clock)

    def field_now(self, held: Field, owner: Value) -> Value:
        """Return what a field of a role holds."""
        if self.machine.is_whole(held):
            return self.read_field(held, owner)
        return self.collected(held, owner)

    def _put_field(self, held: Field, owner: Value, value: Value) -> None:
        if self.machine.is_whole(held):
            slot = self.asked(self.machine.slot_operation(held), [owner.operand])
            self.write(slot, value.operand)
            return
        self.apply(self.machine.checked(held), [value], scalar=True)
        if held.layout != "entries":
            self._clear_elements(held, owner)
            self.each_of(value, lambda v: self._add(held, owner, v))
            return
        self._clear_entries(held, owner)
        pairs = self.apply(self.machine.builtin("list(a0.items())", 1, "any"), [value])

        def one(pair: Value) -> None:
            key, item = (
                self.apply(self.machine.builtin(f"a0[{at}]", 1, "any"), [pair]) for at in (0, 1)
            )
            self._put_entry(held, owner, key, item)

        self.each_of(pairs, one)

    def _change(self, node: ast.expr, value: Value) -> None:
        """Let a place hold something else, by a change in place."""
        place = self.hold(node)
        if place is None:
            raise self.no(node, "a change of an object that may have several names")
        if place.loose and not isinstance(node, ast.Name):
            raise self.no(node, "changed in place, and perhaps known by another name")
        place.put(value)
        if place.field:
            self.replace(place.field)
            if isinstance(node, ast.Name):
                self._keep_names(place, node, every=False)
                direct = self.is_own(node.id)
            else:
                direct = isinstance(node, ast.Attribute) and self.attribute(node) == "role"
            self.touch(place.field, inside=not direct)

    def _put_entry(self, held: Field, owner: Value, key: Value, value: Value) -> None:
        """Set an entry of a dict field, and its key where the keys are kept."""
        self.check(key)
        operation = self.machine.entry_operation(held, to_write=True)
        slot = self.asked(operation, [owner.operand, key.operand])
        if held.keys:
            with self.a.when(self.a.test("eq", self.read(slot), str(NOTHING))):
                self._change_keys(held, owner, key, "with_element")
        self.write(slot, value.operand)
        self.touch(held.name, inside=False)

    def _change_keys(self, held: Field, owner: Value, key: Value, how: str) -> None:
        slot = self.asked(self.machine.keys_operation(held), [owner.operand])
        operation = self.machine.builtin(f"a0.{how}(a1)", 2, "any")
        found = self.apply(operation, [Value(self.read(slot)), key], scalar=True)
        self.write(slot, found.operand)

    def _remove_entry(self, held: Field, owner: Value, key: Value) -> None:
        operation = self.machine.entry_operation(held, to_write=False)
        slot = self.asked(operation, [owner.operand, key.operand])
        self.write(slot, str(NOTHING))
        if held.keys:
            self._change_keys(held, owner, key, "without_element")
        self.touch(held.name, inside=False)

    def _clear_entries(self, held: Field, owner: Value) -> None:
        if not held.keys:
            raise self.no(None, "a dict whose set of keys is not stored is replaced")
        slot = self.asked(self.machine.keys_operation(held), [owner.operand])
        operation = self.machine.entry_operation(held, to_write=False)

        def one(key: Value) -> None:
            self.write(self.asked(operation, [owner.operand, key.operand]), str(NOTHING))

        self.each_of(Value(self.read(slot)), one)
        self.write(slot, str(self.machine.numbers.of(frozenset())))

    # -- sets with a slot for each element ---------------------------------------------------------

    def _add(self, held: Field, owner: Value, element: Value) -> None:
        slot = self.asked(self.machine.adding_operation(held), [owner.operand, element.operand])
        self.write(slot, str(TRUE))

    def _discard(self, held: Field, owner: Value, element: Value, required: bool) -> None:
        slot = self.asked(self.machine.asking_operation(held), [owner.operand, element.operand])
        if required:
            self.reads.add(held.name)
            with self.a.when(self.a.test("eq", self.read(slot), str(NOTHING))):
                self.a.ret(str(ERRED))
        self.write(slot, str(NOTHING))

    def _clear_elements(self, held: Field, owner: Value) -> None:
        for _ in self.each_slot(held, owner):
            self.write(self.slot_at, str(NOTHING))
