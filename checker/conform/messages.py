"""Messages of a log by name: one that is received is the one that was sent under its name.

A log names messages with ``sent`` and ``received``. If the spec has a network, the step of the one
event puts a message in transit, and the step of the other has to choose that message. What a
name stands for depends on the behavior, so it is part of a spot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.shortening import text_of
from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import FrozenDict
from statewalk.dsl.words.networks import Network

if TYPE_CHECKING:
    from statewalk.checker.conform.events import Event
    from statewalk.checker.conform.order import Cut, Order
    from statewalk.checker.conform.steps import Way
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import Path

Named = tuple[tuple[str, Any], ...]
"""Messages by their names in a log."""


class Messages:
    """The messages that names of a log stand for; a spot has the number of what is known of
    them. What is in transit is in the fields of receivers that have the name of a network.
    """

    def __init__(self, model: Model, order: Order) -> None:
        networks = [r for roles in model.roles.values() for r in roles if isinstance(r, Network)]
        self._fields = {type(network).__name__.lower() for network in networks}
        self._receivers: dict[str, list[tuple[int, int]]] = {}
        for process, chain in enumerate(order.events if networks else ()):
            for at, event in enumerate(chain):
                if event.received:
                    self._receivers.setdefault(event.received, []).append((process, at))
        self._known: list[Named] = [()]
        self._numbers: dict[Named, int] = {(): 0}

    def speaks(self, event: Event) -> bool:
        """Return whether an event sends or receives a message by name."""
        return event.received in self._receivers or event.sent in self._receivers

    def after(
        self, known: int, event: Event, cut: Cut, way: Way,
        before: Mapping[Path, Any], after: Mapping[Path, Any],
    ) -> Iterator[int]:  # fmt: skip
        """Yield what may be known after an event that a step is; nothing if it cannot be."""
        if next(self.differ(known, event, way), None):
            return
        named = dict(self._known[known])
        if event.received and all(cut[of] > at for of, at in self._receivers[event.received]):
            named.pop(event.received, None)
        if event.sent not in self._receivers:
            yield self._number(named)
            return
        options = list(dict.fromkeys(self._sent(before, after)))
        for message in options:
            yield self._number(named | {event.sent: message})
        if not options:  # it may be equal to one that is in transit, or sent to nobody
            yield self._number(named)

    def differ(self, known: int, event: Event, way: Way) -> Iterator[str]:
        """Yield the message that a step receives instead of the one of the event."""
        meant = dict(self._known[known]).get(event.received)
        chosen = [choice.value for choice in way.choices if isinstance(choice.value, Record)]
        if meant is not None and chosen and meant not in chosen:
            yield f"it receives {text_of(chosen[0])}, and {event.received} is {text_of(meant)}"

    def _sent(self, before: Mapping[Path, Any], after: Mapping[Path, Any]) -> Iterator[Any]:
        """Yield the messages that a step puts in transit."""
        for path, value in after.items():
            if path[2] in self._fields and value is not before.get(path):
                old = list(_each(before.get(path, ())))
                for message in _each(value):
                    if message in old:
                        old.remove(message)
                    else:
                        yield message

    def _number(self, named: Mapping[str, Any]) -> int:
        key = tuple(sorted(named.items(), key=lambda item: item[0]))
        if key not in self._numbers:
            self._numbers[key] = len(self._known)
            self._known.append(key)
        return self._numbers[key]


def _each(value: Any) -> Iterator[Any]:
    """Yield the messages in a field of what is in transit."""
    for one in value.values() if isinstance(value, FrozenDict) else (value,):
        yield from one
