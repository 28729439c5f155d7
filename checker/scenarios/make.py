"""Making the scenarios of ways that were chosen, one after the other, until there are enough."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from statewalk.checker.conform.follow import said_of
from statewalk.checker.machine.watch import CutShort, Watchdog
from statewalk.checker.scenarios.cover import Chosen, cover_goals, cover_steps
from statewalk.checker.scenarios.files import Files
from statewalk.checker.scenarios.reached import Goal, Reached
from statewalk.checker.scenarios.scenario import Fields, Scenario, scenario_of

_GRACE = 1.0  # seconds to make scenarios of what was looked at until the time was over
_SHOWN = 20


class Enough:
    """Says why no more scenarios are to be made: there are ``most``, or a limit is passed."""

    def __init__(
        self, timeout: float | None, interrupted: Callable[[], bool], most: int | None = None
    ) -> None:
        self.deadline = math.inf if timeout is None else time.monotonic() + timeout
        self.interrupted = interrupted
        self.most = most
        self.begun = math.inf

    def left(self) -> float | None:
        """Seconds that are left; None where there is no limit."""
        if math.isinf(self.deadline):
            return None
        return max(self.deadline - time.monotonic(), 0.001)

    def begin(self) -> float | None:
        """Begin with scenarios; the seconds there are for that."""
        self.begun = time.monotonic()
        left = self.left()
        return None if left is None else max(left, _GRACE)

    def why(self, count: int) -> str:
        """Empty where it is to go on."""
        if self.most is not None and count >= self.most:
            return f"the bound of {self.most:,} scenarios"
        now = time.monotonic()
        if now < self.begun + _GRACE:
            return ""
        if self.interrupted():
            return "it was interrupted"
        return "the time is over" if now > self.deadline else ""


@dataclass
class Made:
    """What was made of the states that were reached: goals met, steps (of states) taken of those
    that there are, for ``every`` step; the first scenarios by length and what they are for.
    ``stopped`` says why there are no more.
    """

    reached: Reached
    files: Files
    every: bool
    keep: bool = False
    scenarios: list[Scenario] = field(default_factory=list)
    first: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    met: set[Goal] = field(default_factory=set)
    count: int = 0
    events: int = 0
    taken: int = 0
    stopped: str = ""

    @property
    def steps(self) -> int:
        """The steps that there are, of the states that were looked at."""
        return sum(map(len, self.reached.moves.values()))

    def make(self, length: int, enough: Enough, told: Callable[[str], None]) -> None:
        """Choose ways and make their scenarios."""
        reached = self.reached
        ways = cover_steps(reached, length) if self.every else cover_goals(reached)
        with Watchdog(enough.begin()):
            try:
                self._make(ways, enough, told)
            except CutShort as cut:
                self.stopped = said_of(cut)

    def _make(self, ways: Iterable[Chosen], enough: Enough, told: Callable[[str], None]) -> None:
        fields = Fields(self.reached.model, self.reached.steps)
        steps = self.steps
        for chosen in ways:
            self.stopped = enough.why(self.count)
            if self.stopped:
                return
            self._add(chosen, fields)
            if self.every:
                told(f"{self.count:,} scenarios, {self.taken:,} of {steps:,} steps")

    def _add(self, chosen: Chosen, fields: Fields) -> None:
        goals = tuple(name for _, name in chosen.met)
        name = " ".join(goals[:3]) + (" ..." if goals[3:] else "")
        if not goals:
            name = f"way {self.count + 1}, {chosen.fresh} new steps"
        if self.files.files or self.keep:
            steps = [move[1] for move in chosen.way]
            scenario = scenario_of(fields, chosen.begin, steps, goals, name)
            self.files.add(scenario)
            if self.keep:
                self.scenarios.append(scenario)
        if len(self.first) < _SHOWN:
            self.first.append((len(chosen.way), goals or (name,)))
        self.met |= {*chosen.met}
        self.count += 1
        self.events += len(chosen.way)
        self.taken += chosen.fresh
