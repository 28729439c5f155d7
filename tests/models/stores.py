"""Histories of the store models: all that a search comes across, and a judge that knows no graphs.

`possible` executes: it looks for an order of begins and commits in which a store that obeys the
level would have given the recorded answers and installed the versions in the recorded order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.history.commands.from_trace import record
from statewalk.checker.history.decide.check import check
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.declared import Configuration
from statewalk.dsl.library import recording
from statewalk.dsl.library.isolation import Verdict
from statewalk.dsl.library.levels import LEVELS
from statewalk.dsl.library.recording import Did, Event, Recorded, from_events, version_order
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.declared import declared
from tests.places import ROOT

SNAPSHOT = ROOT / "models" / "stores" / "snapshot.py"
Versions = dict[Any, tuple[Any, ...]]
Judged = dict[tuple[tuple[Event, ...], tuple[Did, ...]], Verdict]


@cache
def configurations() -> dict[str, Configuration]:
    """The runs of the model by name."""
    return declared(SNAPSHOT)


def search(constants: dict[str, Any]) -> Exploration:
    """The whole space, past violations."""
    return native.explore(load(SNAPSHOT, constants), SearchOptions(keep_going=True))


def histories(monkeypatch: pytest.MonkeyPatch, constants: dict[str, Any]) -> Judged:
    """Every history that reachable states have, with its verdict.

    The model is told that all is well, so that it goes on looking. Transactions that still run are
    there where others can read from them.
    """
    found: Judged = {}
    judged = recording.judged

    def noting(events: Sequence[Event], work: Sequence[Did], level: str) -> Verdict:
        verdict = judged(events, work, level)
        names = {t.name for t in work}
        found[tuple(e for e in events if e[1] in names), tuple(work)] = verdict
        return Verdict(True)

    with monkeypatch.context() as patch:
        patch.setattr(recording, "judged", noting)
        patch.setattr(Model, "look_outside", lambda _: None)  # as noting remembers
        assert search(constants).complete
    return found


def clients(history: Iterable[Recorded]) -> list[dict[str, Any]]:
    """Return what the clients would write down."""
    return [record(t) for t in sorted(history, key=lambda t: t.begin)]


def accepted(history: Iterable[Recorded], level: str) -> bool:
    """Return whether the history checker, which is not told the order of versions, accepts a
    history.
    """
    return check(from_records(clients(history)), level).holds


def possible(history: Sequence[Recorded], versions: Versions, level: str) -> bool:
    """Return whether some execution at a level gives the recorded answers and versions."""
    done = [t for t in history if not t.aborted and t.end is not None]
    wanted = LEVELS[level]
    before = [
        {
            i
            for i, a in enumerate(done)
            if (wanted.session and a.session == b.session and a.begin < b.begin)
            or (wanted.real_time and a.end is not None and a.end < b.begin)
        }
        for b in done
    ]

    def go_on(begun: frozenset[int], over: frozenset[int], state: dict[Any, list[Any]]) -> bool:
        if len(over) == len(done):
            return all(tuple(state.get(key, ())) == order for key, order in versions.items())
        for i, t in enumerate(done):
            running = begun - over
            if i not in begun:
                clash = any(writes(done[j]) & writes(t) for j in running)
                if before[i] <= over and not clash and not (wanted.serial and running):
                    if answers(t, done, state) and go_on(begun | {i}, over, state):
                        return True
            elif i not in over:
                after = {**state, **{k: [*state.get(k, ()), t.name] for k in writes(t)}}
                if go_on(begun, over | {i}, after):
                    return True
        return False

    return go_on(frozenset(), frozenset(), {})


def writes(t: Recorded) -> set[Any]:
    return {key for kind, key, _ in t.ops if kind == "w"}


def answers(t: Recorded, done: Sequence[Recorded], state: dict[Any, list[Any]]) -> bool:
    """Return whether a transaction that runs against a state is told what it was told."""
    mine: dict[Any, Any] = {}
    for kind, key, value in t.ops:
        if kind == "w":
            mine[key] = value
        elif value != (mine[key] if key in mine else committed(key, done, state)):
            return False
    return True


def committed(key: Any, done: Sequence[Recorded], state: dict[Any, list[Any]]) -> Any:
    """The value of a key in a state: what its last writer wrote last."""
    if key not in state:
        return None
    (writer,) = (t for t in done if t.name == state[key][-1])
    return [value for kind, k, value in writer.ops if kind == "w" and k == key][-1]


def settled(events: Sequence[Event], work: Sequence[Did]) -> tuple[tuple[Recorded, ...], Versions]:
    """A history with its order of versions."""
    return from_events(events, work), version_order(events, work)
