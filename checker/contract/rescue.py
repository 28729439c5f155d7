"""The report of a killed search, from its own notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast

from statewalk.checker.contract.search import (
    Exploration,
    SearchCounts,
    finding_in,
    finding_out,
    parted,
)
from statewalk.checker.machine.places import Place, place_of, place_of_error
from statewalk.checker.machine.watch import CutShort
from statewalk.dsl.errors import EngineError, Span, SpecError

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Progress
    from statewalk.checker.contract.stops import StoppedBy
    from statewalk.checker.machine.places import Limit
    from statewalk.checker.machine.supervisor import End


def noted(progress: Progress) -> dict[str, Any]:
    """Return what a search notes about itself."""
    return {
        "levels": progress.levels,
        "generated": progress.generated,
        "queue": progress.queue,
        "seconds": progress.seconds,
        "fired": dict(progress.fired),
        "found": [*map(finding_out, progress.findings)],
    }


def exploration(end: End, engine: str) -> Exploration:
    """Return what a search had noted, as a search that ended there."""
    facts: Mapping[str, Any] = end.facts.get("search", {})
    levels = tuple(facts.get("levels", ()))
    violations, witnesses = parted(map(finding_in, facts.get("found", ())))
    return Exploration(
        engine=engine,
        counts=SearchCounts(
            levels[0] if levels else 0, sum(levels), facts.get("generated", 0), len(levels)
        ),
        levels=levels,
        findings=violations,
        witnesses=witnesses,
        fired={int(index): count for index, count in facts.get("fired", {}).items()},
        fresh={},
        complete=False,
        stopped=cast("StoppedBy", end.reason),
        seconds=facts.get("seconds", 0.0),
        queue=facts.get("queue", 0),
        running=place(end),
    )


def place(end: End) -> Place:
    """Return where the spec was."""
    found = place_of(end.frames, end.facts.get("files", ()))
    if found is None:
        found = Place(end.facts.get("doing") or "an unknown place", "", 0)
    return found if not end.by else Place(found.what, found.file, found.line, end.by)


def problem(end: End) -> EngineError | None:
    """Return the mistake that ended a process, if it was ours."""
    where = place_of(end.frames, end.facts.get("files", ()))
    if end.by.startswith("SIG") and where is None and end.by != "SIGKILL":
        return EngineError(
            "SW900",
            f"The process crashed ({end.by}).",
            why="\n".join(f"{file}:{line} in {name}" for file, line, name in end.frames[:8]),
            help="This is a bug in statewalk, not in your spec.",
        )
    return None


def give_up(end: End) -> NoReturn:
    """Raise what ended a process that has nothing to show: a mistake, or else CutShort."""
    raise problem(end) or CutShort(cast("Limit", end.reason), place(end))


def left(error: SystemExit) -> SpecError:
    """Return the error of a spec that ends the program."""
    where = place_of_error(error)
    return SpecError(
        "SW205",
        f"The spec ended the program: SystemExit{f', in {where.what}' if where else ''}.",
        at=Span(where.file, where.line) if where else None,
        help="An exit is not a result. Remove it; to disable a step, write require(...).",
    )
