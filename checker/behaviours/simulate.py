"""Random walks: many behaviors looked at quickly, none proved.

A simulation begins by running the spec. Where there is much to walk the rest is walked in compiled
code that learns what the spec does (`checker.behaviours.learned_walks`); which walks there are, and
what comes of them, does not depend on that. It can find a violation; it never says "holds".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from statewalk.checker.behaviours.random_walk import Simulation, walk_plainly
from statewalk.checker.behaviours.strategies import BUG_DEPTH, Name, strategy_of
from statewalk.checker.machine.extras import is_there
from statewalk.checker.machine.watch import CutShort, Watchdog, interruptible

if TYPE_CHECKING:
    from statewalk.dsl.model import Model

Way = Literal["auto", "plain", "learned"]
_SECONDS = 0.5  # of a processor to walk plainly first: loading the compiled code takes as much


def simulate(
    model: Model,
    *,
    runs: int = 100,
    depth: int = 100,
    seed: int = 0,
    keep: bool = False,
    way: Way = "auto",
    strategy: Name = "uniform",
    bug_depth: int = BUG_DEPTH,
    interrupted: Callable[[], bool] = lambda: False,
) -> Simulation:
    """Walk ``runs`` times, up to ``depth`` steps each, or as many as the spec's own bound allows;
    stops at the end of a walk that found a violation.

    Equal seeds give equal walks, whichever ``way`` they are walked. With ``keep`` the steps of
    those that met no violation are kept. ``bug_depth`` is for the strategy pct. Walks of other
    strategies than uniform are walked plainly.
    """
    result = Simulation(seed)
    if model.max_depth is not None:  # levels: the last one is not expanded
        depth = min(depth, model.max_depth - 1)
    chosen = None if strategy == "uniform" else strategy_of(strategy, model.actions, bug_depth)
    way = "plain" if chosen else way
    began = time.process_time()
    with Watchdog():
        try:
            while result.runs < runs and not result.findings and not interrupted():
                if way == "learned" or (way == "auto" and _is_long(began) and is_there("numba")):
                    _walk_learned(model, result, runs, depth, keep, interrupted)
                    break
                walk_plainly(model, result, result.runs, depth, keep, chosen)
        except CutShort as cut:
            result.running = cut.place
    model.look_outside()
    return result


def _is_long(began: float) -> bool:
    """Return whether it has taken as long as loading compiled code does."""
    return time.process_time() - began > _SECONDS


def _walk_learned(
    model: Model, result: Simulation, runs: int, depth: int, keep: bool,
    interrupted: Callable[[], bool],
) -> None:  # fmt: skip
    with interruptible("loading the engine"):
        from statewalk.checker.behaviours.learned_walks import LearnedWalks

    LearnedWalks(model, result, depth, keep).go_on(runs, interrupted)
