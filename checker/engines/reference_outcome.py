"""When a reference search ends, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statewalk.checker.contract.search import (
    Counts,
    Exploration,
    Progress,
    SearchOptions,
    StoppedBy,
)

if TYPE_CHECKING:
    from statewalk.checker.engines.reference import Search


def stop_now(options: SearchOptions, seconds: float) -> StoppedBy | None:
    """Reasons to stop in the middle of a stage."""
    if options.interrupted():
        return "interrupt"
    if options.timeout is not None and seconds > options.timeout:
        return "time"
    return None


def stop_between(
    search: Search, options: SearchOptions, violated: bool, seconds: float
) -> StoppedBy | None:
    """Reasons to stop between stages."""
    if search.error:
        return "error"
    if violated and not options.keep_going:
        return "violation"
    if options.max_states is not None and len(search.seen) >= options.max_states:
        return "states"
    if options.max_depth is not None and len(search.levels) >= options.max_depth:
        return "depth"
    return stop_now(options, seconds)


def progress_of(search: Search, queue: int, seconds: float) -> Progress:
    """What a search says of itself after a level."""
    return Progress(
        len(search.levels),
        search.generated,
        len(search.seen),
        queue,
        seconds,
        0,
        search.fresh,
        tuple(search.levels),
        fired=search.fired,
        findings=tuple(search.found.values()),
    )


def result_of(search: Search, stopped: StoppedBy | None, seconds: float) -> Exploration:
    """What came of a search."""
    found = search.found.values()
    initial = search.levels[0] if search.levels else 0
    return Exploration(
        engine="reference",
        counts=Counts(initial, len(search.seen), search.generated, len(search.levels)),
        levels=tuple(search.levels),
        findings=tuple(f for f in found if f.kind != "exists"),
        witnesses=tuple(f for f in found if f.kind == "exists"),
        fired=dict(search.fired),
        fresh=dict(search.fresh),
        complete=stopped is None,
        stopped=stopped,
        seconds=seconds,
        queue=search.queue,
        cut=dict(search.cut),
        statistics={"slots": len(search.layout.slots), **orbits_of(search)},
        running=search.running,
    )


def orbits_of(search: Search) -> dict[str, object]:
    """Under symmetry, how many states the kept ones stand for."""
    if search.layout.symmetry is None:
        return {}
    sizes = (search.layout.orbit(entry.row).size for entry in search.seen.values())
    return {"represented": sum(sizes)}
