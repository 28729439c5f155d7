"""Linearizability within a model: a spec that keeps what its clients called and got.

A history is a tuple or list of events: ("call", client, operation, *arguments) and ("return",
client, *answer), in the order in which they happened. A client that has not returned may have taken
effect or not. The object is a spec, as for `statewalk history check --object`; only the events
decide, so clients are interchangeable unless the object has a parameter ``client``.

>>> write, read = ("call", "a", "write", 1), ("call", "b", "read")
>>> linearizable("register", (write, read, ("return", "b", 1)))
True
>>> linearizable("register", (write, ("return", "a"), read, ("return", "b", None)))
False
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from statewalk.dsl.binding import binding, bound
from statewalk.dsl.loader import OBJECTS, load
from statewalk.dsl.model import Action, Model
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.values.stored import FrozenDict, FrozenList, FrozenSet, encode, freeze
from statewalk.dsl.view import Disabled, State

_LIBRARY = Path(__file__).parents[1] / "models" / "objects"
_MOST = 100_000  # histories whose verdicts are kept
Event = tuple[Any, ...]
Origins = tuple[tuple[str, str], ...]


class _Called(NamedTuple):
    """An operation; ``answer`` is None while it is open, else a tuple that may be empty."""

    client: Any
    name: str
    arguments: tuple[Any, ...]
    begin: int
    end: float
    answer: tuple[Any, ...] | None


@dataclass
class _Object:
    """A spec as an object: the states that operations lead to, by number."""

    model: Model

    def __post_init__(self) -> None:
        self.numbers: dict[tuple[tuple[str, bytes], ...], int] = {}
        self.states: list[State] = []
        self.actions: dict[str, Action] = {}
        self.after: dict[Any, tuple[tuple[Any, int], ...]] = {}
        self.verdicts: dict[tuple[bytes, tuple[Any, ...]], bool] = {}
        for action in self.model.actions:
            self.actions.setdefault(action.name, action)
        self.first = [self.number(state) for state in self.model.initial_states]

    def number(self, state: State) -> int:
        """Return the number of a state."""
        text = tuple(sorted((repr(path), encode(value)) for path, value in state.items()))
        number = self.numbers.setdefault(text, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def steps(self, number: int, op: _Called) -> tuple[tuple[Any, int], ...]:
        """Return (answer, state after it) for each way an operation can go in a state."""
        key = number, op.name, encode(op.arguments), type(op.client), op.client
        found = self.after.get(key)
        if found is None:
            found = self.after[key] = tuple(self._run(self.states[number], op))
        return found

    def _run(self, state: State, op: _Called) -> Iterator[tuple[Any, int]]:
        action = self.actions.get(op.name)
        if action is None or action.source is None:
            raise ValueError(f"{self.model.path} has no operation {op.name}")
        source = action.source
        actor = source.arguments[:1] if action.actor is not None else ()
        names = [name for name, _ in action.arguments if name != "client"]
        if len(names) != len(op.arguments):
            said = f"{op.name} takes {', '.join(names) or 'no arguments'}"
            raise ValueError(f"{said}, and was called with {op.arguments!r}")
        rest = iter(op.arguments)
        given = [op.client if name == "client" else next(rest) for name, _ in action.arguments]
        function: Callable[..., Any] = source.function.function
        taken = replace(action, run=lambda: freeze(function(*actor, *given)), source=None)
        for view in PlainView.runs(state):
            try:
                answer = self.model.take(taken, view)
            except Disabled:
                continue
            yield answer, self.number(apply_writes(state, view.writes))


@cache
def _object(
    path: Path, constants: tuple[tuple[str, type, Any], ...], origins: Origins | None
) -> _Object:
    given = {constant: value for constant, _, value in constants}
    with bound(None, classes={}):  # a property is being evaluated
        model = load(path, given, optimize=False)
    if origins is not None and {*origins} != {*model.origins.items()}:
        raise ValueError(f"{path} was changed while the spec that asks about it is checked")
    return _Object(model)


def _place_of(name: str, beside: str) -> tuple[Path, Origins | None]:
    """Return the file of an object, and what it was made of when the spec was loaded."""
    library = _LIBRARY / f"{name}.py"
    if library.exists():
        return library, None
    path = Path(beside).absolute().parent / name if beside else Path(name).absolute()
    known = OBJECTS.get(str(path))
    if known is None and binding.view is not None:
        said = f"{name!r} is no object of the library, nor a file beside this one"
        raise ValueError(f"{said} whose name is written in the call of linearizable(...)")
    return path, None if known is None else tuple(known.items())


def linearizable(object: str, of: Sequence[Event], **constants: Any) -> bool:
    """Return whether some order of the operations, within their calls and returns, gives all
    answers.

    ``object`` is an object of the library, or the file of a spec, looked for beside the one that
    asks, whose text has to name it; ``constants`` are its own.
    """
    given = sorted(constants.items(), key=lambda item: item[0])
    path, origins = _place_of(object, sys._getframe(1).f_globals.get("__file__") or "")
    found = _object(path, tuple((name, type(value), value) for name, value in given), origins)
    stored = freeze(of)
    history: tuple[Event, ...] = tuple(map(tuple, stored))
    key = encode(stored), tuple(event[1:2] for event in history)
    holds = found.verdicts.get(key)
    if holds is None:
        if len(found.verdicts) >= _MOST:
            found.verdicts.clear()
        holds = found.verdicts[key] = _has_order(found, operations_of(history))
    return holds


def operations_of(history: tuple[Event, ...]) -> list[_Called]:
    """Return the operations of events. Raises ValueError for events that are none."""
    done: list[_Called] = []
    open_: dict[Any, _Called] = {}
    for time, (what, client, *rest) in enumerate(history):
        if what == "call" and client not in open_ and rest:
            open_[client] = _Called(client, rest[0], tuple(rest[1:]), time, float("inf"), None)
        elif what == "return" and client in open_ and len(rest) <= 1:
            done.append(open_.pop(client)._replace(end=time, answer=tuple(rest)))
        else:
            raise ValueError(f"event {time} of the history is {(what, client, *rest)!r}")
    return [*done, *open_.values()]


def _has_order(object: _Object, operations: list[_Called]) -> bool:
    """Search depth first; what was tried is known by the operations done and the state."""
    whole = sum(1 << i for i, op in enumerate(operations) if op.answer is not None)
    open_ = [(0, state) for state in object.first]
    known = set(open_)
    while open_:
        done, state = open_.pop()
        if done & whole == whole:
            return True
        left = [(i, op) for i, op in enumerate(operations) if not done >> i & 1]
        until = min(op.end for _, op in left)
        for i, op in left:
            for answer, after in object.steps(state, op) if op.begin < until else ():
                fits = not op.answer or _told(answer) == _told(op.answer[0])
                if fits and (done | 1 << i, after) not in known:
                    known.add((done | 1 << i, after))
                    open_.append((done | 1 << i, after))
    return False


def _told(answer: Any) -> bytes:
    """Return what tells answers apart: a list and a tuple of the same say the same."""
    return encode(_untyped(freeze(answer)))


def _untyped(value: Any) -> Any:
    kind = type(value)
    if kind is FrozenList or kind is tuple:
        return tuple(map(_untyped, value))
    if kind is FrozenSet:
        return FrozenSet(map(_untyped, value))
    if kind is FrozenDict:
        return FrozenDict((_untyped(k), _untyped(v)) for k, v in value.items())
    return value
