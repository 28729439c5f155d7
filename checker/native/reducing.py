"""The native search, with slots reset where nothing reads them any more (`--reduce`).

A search of a part of the states learns what steps and properties read; from that a rule is
guessed. Whatever looks at a slot that was reset ends the search, which begins anew without that
part of the rule. Which parts are left in the end does not depend on the order of these ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from statewalk.checker.contract.search import Engine, Exploration, SearchOptions
from statewalk.checker.contract.stops import StoppedBy, from_outside
from statewalk.checker.engines.hidden import numbers_of
from statewalk.checker.engines.resets import ResetRead, Rule
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.learn.dead import rule_of
from statewalk.checker.native.running import exploration_of, loop_of, run, start
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.workers import Worker
from statewalk.dsl.model import Model
from statewalk.dsl.view import Path

PROBE = 20_000
"""States that the rule is guessed from."""
_MOST_EVALUATIONS = 10_000


@dataclass(frozen=True)
class Reducing:
    """An engine: the native one, of states that were reset."""

    engine: Engine

    def explore(self, model: Model, options: SearchOptions) -> Exploration:
        """See `checker.contract.search`."""
        options = replace(options, checkpoint=None)
        found, rule = probed(model, options)
        if found is not None:
            return found
        withdrawn: list[str] = []
        while True:
            try:
                asked = replace(options, resets=rule) if rule.kinds else options
                found = self.engine.explore(model, asked)
            except ResetRead as read:
                withdrawn.append(f"{read.path[0]}.{read.path[2]}")
                rule = rule.without(read.path)
                continue
            said = {"fields": rule.fields, "withdrawn": sorted(set(withdrawn))}
            statistics = {**found.statistics, "reduced": said}
            return replace(found, fields=(), kept=None, statistics=statistics)


def probed(model: Model, options: SearchOptions) -> tuple[Exploration | None, Rule]:
    """Search a part of the states: what is found, if nothing is left to search; and a rule."""
    asked = replace(
        options, max_states=min(PROBE, options.max_states or PROBE), max_memory=None, threads=1,
        programs="none", on_progress=None,
    )  # fmt: skip
    search = start(model, asked)
    learner, enough = search.learner, False

    def urgent() -> StoppedBy | None:
        nonlocal enough
        enough = int(learner.evaluations.sum()) > _MOST_EVALUATIONS
        return search.urgent() or ("states" if enough else None)

    learner.urgent = urgent
    states = _States(search)
    loop = loop_of(search, sink=states)
    stopped = run(loop)
    if from_outside(stopped) or stopped in ("violation", "error"):
        return exploration_of(loop, stopped), Rule()
    steps, numbers = search.roots.end_terminal, numbers_of(model, model.fields)
    return None, states.worth(rule_of(learner.learned, steps, numbers))


class _States:
    """The states of a search, which tell what a rule is worth."""

    loops = False

    def __init__(self, search: NativeSearch) -> None:
        self._search = search
        self._levels: list[tuple[Array, Array]] = []

    def batch(self, workers: list[Worker]) -> None:
        """See `Sink`."""

    def level(self, before: Array) -> None:
        """See `Sink`."""
        rows = self._search.level.rows
        self._levels.append((rows.values, rows.fp))

    def worth(self, rule: Rule) -> Rule:
        """Return the rule without the kinds of slots that make no states."""
        total = np.concatenate([fp for _, fp in self._levels])
        change: dict[Any, Array] = {}
        for path, kind in rule.kinds.items():
            change[kind] = change.get(kind, 0) + self._change(rule, path)
        total = total + sum(change.values())
        for kind in sorted(change, key=str):
            rest = total - change[kind]
            if len(np.unique(rest)) == len(np.unique(total)):
                path = next(path for path, of in rule.kinds.items() if of == kind)
                rule, total = rule.without(path), rest
        return rule

    def _change(self, rule: Rule, path: Path) -> Array:
        """Return what resetting a slot adds to the fingerprint of each state."""
        layout = self._search.layout
        guards = [(layout.slot(g), key) for g, key in rule.guards_of(path)]
        at = [(slot.id, slot.ids[key]) for slot, key in guards]
        slot = layout.slot(path)
        shift = 64 if layout.fingerprints.bits == 128 else 0
        shares = np.array([c >> shift for c in slot.contributions], np.uint64)
        found = []
        for values, _ in self._levels:
            dead = np.zeros(len(values), np.bool_)
            for number, id in at:
                dead |= _column(values, number) == id
            found.append(np.where(dead, -shares[_column(values, slot.id)], np.uint64(0)))
        result: Array = np.concatenate(found)
        return result


def _column(values: Array, slot: int) -> Array:
    return values[:, slot] if slot < values.shape[1] else np.zeros(len(values), np.uint8)
