"""Resets slots while a spec is learned: steps write `Reset` where a rule says that nothing reads.

A reset is one more write of an outcome. Where a slot holds a `Reset` no trie has a branch, so
kernels miss whatever looks at it, and learning it raises `ResetRead`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from statewalk.checker.engines.hidden import Fields, is_free
from statewalk.checker.engines.resets import ENDED, RESET, Reset, ResetRead, Rule
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.outcomes import Effects
from statewalk.checker.native.learn.tracing import TracingView
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import Path, Place

Known = list[tuple[int, int, int]]
Blind = list[tuple[int, int]]


class ResettingView(TracingView):
    """A tracing view that does not look at slots that were reset. ``numbers`` are fields that hold
    any number: what is added to them changes nothing of a reset.
    """

    def __init__(self, learned: Learned, side: int | None, numbers: Fields) -> None:
        super().__init__(learned, side)
        self._numbers = numbers

    def _look(self, path: Path) -> None:
        slot = self._slots[path]
        if slot.id not in self.written and type(slot.values[self._old_id(slot.id)]) is Reset:
            self._refuse(path)

    def _refuse(self, path: Path) -> NoReturn:
        self.refused = ResetRead(path)
        raise self.refused

    def get(self, path: Path) -> Any:
        self._look(path)
        return super().get(path)

    def project(self, path: Path, key: object, fn: Callable[[Any], Any], place: Place = ()) -> Any:
        self._look(path)
        return super().project(path, key, fn, place)

    def later(self, path: Path) -> Callable[[], Any]:
        value = super().later(path)

        def look() -> Any:
            self._look(path)
            return value()

        return value if self._slots[path].id in self.written else look

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        def unless_reset(value: Any) -> Any:
            if type(value) is not Reset:
                return fn(value)
            if not is_free(path, key, self._numbers):
                self._refuse(path)
            return value

        super().update(path, key, unless_reset)


class Resets:
    """The resets of one search, by numbers of slots and values."""

    def __init__(self, effects: Effects, rule: Rule) -> None:
        self._effects, self._rule = effects, rule
        self._ending = frozenset(path for some in rule.ends.values() for path in some)
        self._known: dict[tuple[int, int], dict[int, Reset]] = {}

    def of(self, slot: int, id: int) -> dict[int, Reset]:
        """Return what is reset where a slot gets a value."""
        known = self._known.get((slot, id))
        if known is None:
            layout = self._effects.layout
            about = layout.slots[slot]
            guard = (about.path, intern_key(about.values[id]))
            parts = ((self._rule.resets, RESET), (self._rule.ends, ENDED))
            known = self._known[slot, id] = {
                layout.slot(path).id: value for part, value in parts for path in part.get(guard, ())
            }
        return known

    def first(self, row: Iterable[int]) -> tuple[int, ...]:
        """Return an initial row, reset."""
        result = list(row)
        dead: dict[int, Reset] = {}
        for slot, id in enumerate(result):
            self._add(dead, self.of(slot, id))
        for slot, value in dead.items():
            result += [0] * (slot + 1 - len(result))
            result[slot] = self._effects.value_id(self._effects.layout.slots[slot], value)
        return tuple(result)

    def applied(self, known: Known, blind: Blind, view: TracingView) -> tuple[Known, Blind]:
        """Return the writes of an outcome, those that are known and those that are blind, with
        resets. They follow from what the step read and wrote.
        """
        after = {slot: new for slot, _, new in known} | {s: new for s, new in blind if new >= 0}
        written = {*after, *(slot for slot, _ in blind)}
        dead: dict[int, Reset] = {}
        for slot, new in after.items():
            self._add(dead, self.of(slot, new))
        for slot in view.reads - written:
            found = self.of(slot, _old(view, slot)).items()
            self._add(dead, {other: value for other, value in found if other in written})
        for slot, value in dead.items():
            new = self._effects.value_id(self._effects.layout.slots[slot], value)
            known = [write for write in known if write[0] != slot]
            blind = [write for write in blind if write[0] != slot]
            if slot in view.reads:
                known.append((slot, _old(view, slot), new))
            else:
                blind.append((slot, new))
        return known, [self._unless_ended(slot, new, view) for slot, new in blind]

    def _add(self, dead: dict[int, Reset], more: dict[int, Reset]) -> None:
        for slot, value in more.items():
            if dead.get(slot) is not ENDED:
                dead[slot] = value

    def _unless_ended(self, number: int, new: int, view: TracingView) -> tuple[int, int]:
        """Return a blind write that leaves an ended slot as it is."""
        slot = self._effects.layout.slots[number]
        if new < 0 or slot.path not in self._ending or slot.values[new] is ENDED:
            return number, new
        value = slot.values[new]
        operation = self._effects.operation(
            slot, ("unless ended", new), lambda old: old if old is ENDED else value
        )
        self._effects.operate(operation, _old(view, number))
        return number, -1 - operation


def _old(view: TracingView, slot: int) -> int:
    return view.row[slot] if slot < len(view.row) else 0
