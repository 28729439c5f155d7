"""A naive interpreter of flows, as an oracle: real Python generators, continued by replay.

A suspended run is the action, its actor and arguments, and everything it was ever told by the
state, step by step. To continue it, the generator is run again from the start and told the same;
then it meets the present state. So there are no instructions, no live locals, no kept references:
nothing in common with the compiled flows but the fields themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.dsl.binding import binding
from statewalk.dsl.declared import Fairness, marks
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled, runs

Told = tuple[Any, ...]
Thread = tuple[str, Any, tuple[Any, ...], tuple[Told, ...]]


class RecordingView(PlainView):
    """Remembers what it told, or first tells what was told before."""

    def __init__(self, base: Any, script: Sequence[int], told: tuple[Told, ...] = ()) -> None:
        super().__init__(base, script)
        self.replaying = [answer for step in told for answer in step]
        self.left = len(told)
        self.told: list[Any] = []

    def get(self, path: Any) -> Any:
        if self.left:
            return self.replaying.pop(0)
        value = super().get(path)
        self.told.append(value)
        return value

    def set(self, path: Any, value: Any) -> None:
        if not self.left:
            super().set(path, value)

    def update(self, path: Any, key: object, fn: Callable[[Any], Any]) -> None:
        self.set(path, fn(self.get(path)))

    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any:
        if self.left:
            return options[self.replaying.pop(0)]
        chosen = super().choose(options, fair)
        self.told.append(self.choices[-1][0])
        return chosen


def generator_of(model: Model, name: str, actor: Any) -> Callable[..., Any]:
    """The unmodified generator function of a flow."""
    found: Callable[..., Any] = getattr(type(actor), name)
    return found


def reachable(model: Model, limit: int = 20_000) -> tuple[set[int], set[str]]:
    """(fingerprints of the states without flow slots, names of violated invariants)"""
    fingerprints = Fingerprints(model.fields)
    seen: set[Any] = set()
    found: set[int] = set()
    violated: set[str] = set()
    todo: list[tuple[dict[Any, Any], tuple[Thread, ...]]] = [
        (dict(s), ()) for s in model.initial_states
    ]
    while todo:
        state, threads = todo.pop()
        key = (fingerprints.of_state(state), tuple(sorted(map(repr, threads))))
        if key in seen:
            continue
        if len(seen) >= limit:
            raise OverflowError
        seen.add(key)
        found.add(key[0])
        for prop in model.properties:
            if prop.kind == "always" and not model.holds(prop.whole, PlainView(state)):
                violated.add(prop.name)
        todo += list(_steps(model, state, threads))
    return found, violated


def _steps(model: Model, state: dict[Any, Any], threads: tuple[Thread, ...]) -> Iterator[Any]:
    assert model.flows is not None
    full = model.flows.limit is not None and len(threads) >= model.flows.limit
    for action in model.actions:
        if action.slot is not None and action.fault:
            mine = [t for t in threads if f"{t[0]} (crashed)" == action.name]
            for thread in (t for t in mine if t[1] is action.actor):
                at = threads.index(thread)
                yield state, threads[:at] + threads[at + 1 :]
        if action.continues or action.fault or full:
            continue
        function = getattr(type(action.actor), action.name)
        mark = next(m for m in marks(function) if m.kind == "action")
        if function.__code__.co_flags & 0x20:
            mine = [t for t in threads if t[:2] == (action.name, action.actor)]
            if len(mine) < mark.options.get("concurrent", 1):
                values = tuple(v for _, v in action.arguments)
                yield from _advance(model, state, threads, (action.name, action.actor, values, ()))
        else:
            for outcome in model.outcomes(action, state):
                gone = {p[:2] + p[3:] for p in outcome.writes if "@flow" in p}
                after = model.successor(state, outcome)
                left = tuple(
                    t for t in threads if (type(t[1]).__name__, t[1].index, t[0]) not in gone
                )
                yield {p: v for p, v in after.items() if "@flow" not in p}, left
    for at, thread in enumerate(threads):
        yield from _advance(model, state, threads[:at] + threads[at + 1 :], thread)


def _advance(
    model: Model, state: dict[Any, Any], others: tuple[Thread, ...], thread: Thread
) -> Iterator[Any]:
    name, actor, values, told = thread
    for view in runs(lambda script: RecordingView(state, script, told)):
        saved = (binding.view, binding.references, binding.classes)
        binding.view, binding.references, binding.classes = view, {}, model.classes
        try:
            running = generator_of(model, name, actor)(actor, *values)
            for _ in told:
                next(running)
                view.left -= 1
            try:
                next(running)
                left: tuple[Thread, ...] = ((name, actor, values, (*told, tuple(view.told))),)
            except StopIteration:
                left = ()
        except Disabled:
            pass
        else:
            after = {**state, **view.writes}
            yield after, (*others, *left)
        finally:
            binding.view, binding.references, binding.classes = saved
