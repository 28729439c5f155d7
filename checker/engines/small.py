"""A search that begins in plain Python, and is begun anew in compiled code where there is much to
do: loading that code takes longer than many a search.

What comes out is the same whichever way it went, by the contract of engines. Both are called by the
name of the second one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from statewalk.checker.contract.saved import begin_anew
from statewalk.checker.contract.stops import COUNTED
from statewalk.checker.engines import reference

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Engine, Exploration, Progress, SearchOptions
    from statewalk.checker.engines.reference import Steps
    from statewalk.dsl.model import Model

SECONDS = 0.6
"""Of a processor that a search may take in plain Python; loading the compiled code takes more."""
STATES = 20_000
"""That it may have met by then."""
_SOON = 0.05  # seconds after which the speed of a search is known


class Allowance:
    """How much work may be done in plain Python. ``used_up`` once it is clear that more is needed,
    which may be before it was done.
    """

    def __init__(self) -> None:
        self.began = time.process_time()
        self.used_up = False

    def look(self, known: int, left: int) -> bool:
        """Whether it is used up, with so many states known, ``left`` of them not expanded."""
        spent = time.process_time() - self.began
        whole = spent * known / max(1, known - left) if spent > _SOON else spent
        self.used_up = self.used_up or whole > SECONDS or known > STATES
        return self.used_up

    def limited(self, options: SearchOptions) -> SearchOptions:
        """Options of a search that ends when this is used up."""

        def told(progress: Progress) -> None:
            self.look(progress.distinct, progress.queue)
            if options.on_progress is not None:
                options.on_progress(progress)

        def interrupted() -> bool:
            return self.look(1, 0) or options.interrupted()

        return replace(options, on_progress=told, interrupted=interrupted, checkpoint=None)


@dataclass(frozen=True)
class Kept:
    """What a search that ended in plain Python knows of the steps of a model."""

    model: Model
    steps: Steps

    def steps_of(self, model: Model) -> Steps:
        """The steps as far as they are those of a model, with all its states told apart."""
        layout = self.steps.layout
        same = model.actions is self.model.actions and not model.step_constraints
        if layout is None or layout.symmetry is not None or not same or layout.fingerprints.view:
            return reference.Steps()
        return self.steps


@dataclass(frozen=True)
class SmallFirst:
    """An engine: the reference engine, and ``large`` where there is more to do."""

    large: Engine

    def explore(self, model: Model, options: SearchOptions) -> Exploration:
        """See `checker.contract.search`."""
        if options.resume or options.max_memory is not None:  # the other one knows of these
            return self.large.explore(model, options)
        started = time.monotonic()

        def rest() -> SearchOptions:
            if options.timeout is None:
                return options
            left = options.timeout - (time.monotonic() - started)
            return replace(options, timeout=max(0.001, left))

        if options.checkpoint is None or begin_anew(options.checkpoint):
            allowance = Allowance()
            steps = reference.Steps()
            found = reference.explored(model, allowance.limited(options), steps)
            if not allowance.used_up and _is_enough(found, options):
                statistics = {**found.statistics, "small": True}
                kept = Kept(model, steps)
                return replace(found, engine="native", statistics=statistics, kept=kept)
            explore = getattr(self.large, "explore_uncompiled", None)
            quick = None
            if explore and not (options.checkpoint and (options.max_states or options.max_depth)):
                quick = explore(model, replace(rest(), checkpoint=None))
            if quick is not None and _is_enough(quick, options):
                return cast("Exploration", quick)
        return self.large.explore(model, rest())


def _is_enough(found: Exploration, options: SearchOptions) -> bool:
    """Whether nothing is left to do: what a bound has cut is saved, by who can. What a clock or a
    hand has ended is as soon begun anew.
    """
    return options.checkpoint is None or found.stopped not in COUNTED
