"""The events that may come next: those of one log in its order, those of several by what
caused what.

Each event needs, of every process, a number of events before it. Vector clocks say that where
events have them (Fidge 1988, Mattern 1989); else messages that were sent and received do; else
times, where every event has one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from statewalk.checker.conform.events import Event
from statewalk.dsl.errors import RunError

Cut = tuple[int, ...]
"""How many events of each process have happened."""
_HELP = (
    "Give events a clock (a vector clock: how many events of each process it knows), or name\n"
    "messages with sent and received, or give all of them a time."
)


@dataclass(frozen=True)
class Order:
    """The events of each process, and what each event needs: how many of every process."""

    events: tuple[tuple[Event, ...], ...]
    needs: tuple[tuple[Cut, ...], ...]
    by: str = "the log's order"

    @property
    def length(self) -> int:
        """Return how many events there are."""
        return sum(map(len, self.events))

    def first(self) -> Cut:
        """Nothing has happened."""
        return (0,) * len(self.events)

    def next(self, cut: Cut) -> Iterator[tuple[Event, Cut]]:
        """Yield the events that may come next, and the cut after each."""
        for process, done in enumerate(cut):
            if done == len(self.events[process]):
                continue
            if all(a >= b for a, b in zip(cut, self.needs[process][done], strict=True)):
                yield self.events[process][done], (*cut[:process], done + 1, *cut[process + 1 :])


def order_of(logs: Sequence[Sequence[Event]]) -> Order:
    """Return the order of the events of some logs. Raises RunError[SW392] where nothing says it."""
    everything = [event for log in logs for event in log]
    clocks = any(event.clock for event in everything)
    messages = any(event.sent or event.received for event in everything)
    if len(logs) == 1 and not clocks and not messages:
        chain = tuple(logs[0])
        return Order((chain,), (tuple((0,) for _ in chain),))
    processes: dict[str, list[Event]] = {}
    for event in everything:
        processes.setdefault(event.process or event.file, []).append(event)
    chains = tuple(map(tuple, processes.values()))
    if clocks:
        order = Order(chains, tuple(_by_clocks(chain, chains) for chain in chains), "vector clocks")
    elif messages:
        sent = _sent(chains)
        needs = tuple(_by_messages(at, chains, sent) for at in range(len(chains)))
        order = Order(chains, needs, "messages")
    elif all(event.time is not None for event in everything):
        _look_at_times(chains)
        order = Order(chains, tuple(_by_times(chain, chains) for chain in chains), "times")
    else:
        raise RunError("SW392", "The logs give no order between their events.", help=_HELP)
    _look(order)
    return order


def _by_clocks(chain: Sequence[Event], chains: Sequence[Sequence[Event]]) -> tuple[Cut, ...]:
    """An event without a clock is ordered by its own process alone, and by those around it."""
    clocked = [
        [(at, event.clock) for at, event in enumerate(other, 1) if event.clock] for other in chains
    ]
    return tuple(
        tuple(
            0 if other is chain or not event.clock else _known(event, clocked[at])
            for at, other in enumerate(chains)
        )
        for event in chain
    )


def _known(event: Event, others: Sequence[tuple[int, Mapping[str, int]]]) -> int:
    """Return how many of a process's events happened before an event: clocks only grow along a
    process.
    """
    low, high = 0, len(others)
    while low < high:
        middle = (low + high) // 2
        clock = others[middle][1]
        before = clock != event.clock and all(event.clock.get(p, 0) >= n for p, n in clock.items())
        low, high = (middle + 1, high) if before else (low, middle)
    return others[low - 1][0] if low else 0


def _sent(chains: Sequence[Sequence[Event]]) -> dict[str, tuple[int, int]]:
    """Return where each message was sent: the process, and how many of its events that needs."""
    found: dict[str, tuple[int, int]] = {}
    for process, chain in enumerate(chains):
        for at, event in enumerate(chain, 1):
            if event.sent in found:
                raise RunError(
                    "SW392", f"{event.place}: the message {event.sent} was sent before.", help=_HELP
                )
            if event.sent:
                found[event.sent] = process, at
    return found


def _by_messages(
    own: int, chains: Sequence[Sequence[Event]], sent: dict[str, tuple[int, int]]
) -> tuple[Cut, ...]:
    needs = []
    for event in chains[own]:
        need = [0] * len(chains)
        if event.received:
            if event.received not in sent:
                raise RunError(
                    "SW392", f"{event.place}: nobody sent the message {event.received}.", help=_HELP
                )
            process, count = sent[event.received]
            need[process] = count if process != own else 0
        needs.append(tuple(need))
    return tuple(needs)


def _look_at_times(chains: Sequence[Sequence[Event]]) -> None:
    """Raises RunError[SW392] where the time of a process goes back."""
    for chain in chains:
        for before, event in pairwise(chain):
            if (event.time or 0) < (before.time or 0):
                raise RunError(
                    "SW392",
                    f"{event.place}: its time is {event.time}, and the line before it in this "
                    f"process ({before.place}) has {before.time}.",
                    why="A process's events are in the order of its log, and so are its times.",
                    help=_HELP,
                )


def _by_times(chain: Sequence[Event], chains: Sequence[Sequence[Event]]) -> tuple[Cut, ...]:
    times = [sorted(event.time or 0 for event in other) for other in chains]
    return tuple(
        tuple(
            0 if other is chain else bisect_left(times[at], event.time or 0)
            for at, other in enumerate(chains)
        )
        for event in chain
    )


def _look(order: Order) -> None:
    """Raises RunError[SW392] where events wait for each other in a circle."""
    cut, going = order.first(), True
    while going:
        going = False
        for _, after in order.next(cut):
            cut, going = after, True
            break
    if sum(cut) < order.length:
        left = [
            chain[done] for chain, done in zip(order.events, cut, strict=True) if done < len(chain)
        ]
        places = ", ".join(event.place for event in left[:4])
        raise RunError("SW392", f"These events wait for each other: {places}.", help=_HELP)
