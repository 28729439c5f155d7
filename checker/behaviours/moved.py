"""Lines of a spec that moved since a trace was made: where suspended runs wait is said by line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from statewalk.checker.states.content import Content
from statewalk.dsl.values.stored import FrozenDict, FrozenList

_LINE = re.compile(r"line \d+")
_AT, _WAITS = "at", " (suspended)"  # as `dsl.flows.kept` and `checker.states.content` say it


@dataclass
class Moved:
    """Which line stands for which, as met on the way: one for one, of the functions of an action.

    Only where the spec's text ``changed``: in a text that did not, lines are where they were.
    """

    changed: bool
    lines: dict[tuple[object, ...], str] = field(default_factory=dict)

    def content(self, old: Content, new: Content) -> Content:
        """An old content with its lines where they are now, as far as that can be."""
        if not self.changed:
            return old
        waits = {path for path in old if str(path[-1]).endswith(_WAITS)}
        moved = {path: self.value(old[path], new.get(path), path[:1] + path[2:]) for path in waits}
        return {**old, **moved}

    def value(self, old: Any, new: Any, of: tuple[object, ...]) -> Any:
        """The same of a value: of a suspended run, or of several."""
        if not self.changed or type(old) is not type(new):
            return old
        if isinstance(old, FrozenList) and len(old) == len(new):
            return FrozenList(self.value(a, b, of) for a, b in zip(old, new, strict=True))
        if isinstance(old, FrozenDict) and {_AT} <= old.keys() & new.keys():
            return FrozenDict({**old, _AT: self._at(old[_AT], new[_AT], of)})
        return old

    def _at(self, old: Any, new: Any, of: tuple[object, ...]) -> Any:
        if not (isinstance(old, str) and isinstance(new, str)):
            return old
        if _LINE.sub("", old) != _LINE.sub("", new):
            return old
        before, now = old.split(" > "), new.split(" > ")
        places = [(*of, at, _LINE.sub("", part), part) for at, part in enumerate(before)]
        known = all(self._stands_for(p, n) for p, n in zip(places, now, strict=True))
        return new if known else old

    def _stands_for(self, place: tuple[object, ...], now: str) -> bool:
        others = (n for p, n in self.lines.items() if p != place and p[:-1] == place[:-1])
        if place not in self.lines and now in others:
            return False
        return self.lines.setdefault(place, now) == now
