"""The reasons for which a search stops, a row each: whoever treats them differently asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, assert_never, get_args

from statewalk.checker.machine.places import Limit, Place

if TYPE_CHECKING:
    from statewalk.checker.contract.options import CheckOptions

StoppedBy = Literal["violation", "error", "states", "depth", Limit]


@dataclass(frozen=True)
class Stop:
    """A reason to stop a search, in the words of reports.

    ``liveness`` says why liveness properties are undecided. A bound is called ``given``, with the
    value of its ``option``, or ``bare`` where that is not given. ``counts`` names the field of
    `Counts` of which the option is the most: such bounds end a search between levels. ``inside``
    says what ended one within a level, whose states then lack some of their steps.
    """

    liveness: str
    given: str = ""
    bare: str = ""
    option: str = ""
    counts: str = ""
    inside: str = ""


def stop_of(reason: StoppedBy) -> Stop:
    """Return the row of a reason; the type checker refuses a reason without one."""
    match reason:
        case "violation":
            return Stop("the search stopped at a violation; --keep-going or --property checks it")
        case "error":
            return Stop("the spec raised an exception", inside="the spec raised an exception")
        case "states":
            cut = "the search was cut at a number of states"
            return Stop(cut, "--max-states {}", "--max-states", "max_states", "distinct")
        case "depth":
            cut, own = "the search was cut at a depth", "the spec's bound on depth {}"
            return Stop(cut, "--max-depth {}", own, "max_depth", "depth")
        case "memory":
            option = "--max-memory"
            return Stop("the search ran out of memory", option, "memory", "max_memory", "", option)
        case "time":
            given, bare = "--timeout {:g} s", "--timeout"
            return Stop("the search ran out of time", given, bare, "timeout", "", bare)
        case "interrupt":
            return Stop("the search was interrupted", "", "an interruption", inside="interrupted")
        case "killed":
            return Stop("the search crashed", "", "a crash", inside="a crash")
    assert_never(reason)


COUNTED: dict[StoppedBy, Stop] = {r: stop_of(r) for r in get_args(StoppedBy) if stop_of(r).counts}
"""The bounds on counts; of several that are reached at once, the first is told."""


def counted_bounds(options: object) -> dict[str, Any]:
    """Return the bounds on counts by the names of their options; None for one not given."""
    return {stop.option: getattr(options, stop.option) for stop in COUNTED.values()}


def whole_levels(stopped: StoppedBy | None) -> bool:
    """Return whether a search ended between levels, or by itself."""
    return stopped is None or not stop_of(stopped).inside


def bounded(stopped: StoppedBy | None) -> bool:
    """Return whether a limit ended a search."""
    return stopped is not None and bool(stop_of(stopped).bare)


def from_outside(stopped: StoppedBy | None) -> bool:
    """Return whether a search ended at a point that nobody chose."""
    return stopped in get_args(Limit)


def ended_by(
    options: CheckOptions | None, stopped: StoppedBy | None, running: Place | None,
    max_depth: int | None = None,
) -> str:  # fmt: skip
    """Return what ended a search, in words, with where the spec was if it had to be ended."""
    text = "what did not end"
    if stopped == "killed" and running is not None:
        text = f"a crash ({running.by})"
    elif stopped is not None and (stop := stop_of(stopped)).bare:
        given = getattr(options, stop.option, None)
        text = stop.given.format(given) if given else stop.bare.format(max_depth)
    return f"{text}, in {running}" if running is not None else text
