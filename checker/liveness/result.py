"""What a liveness check answers."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Literal

from statewalk.checker.contract.search import Step
from statewalk.dsl.declared import Fairness
from statewalk.dsl.kinds import PropertyKind


@dataclass(frozen=True)
class NotTaken:
    """An action (or an option of a fair choice) that is enabled on the cycle and never taken.

    ``enabled_at`` are positions on the cycle, 0 being its first state. A fair one is weakly fair
    and not enabled at some position; the others are not fair.
    """

    action: int
    label: str
    fairness: Fairness
    enabled_at: tuple[int, ...]


@dataclass(frozen=True)
class Lasso:
    """An endless behaviour: from ``initial`` (of `Model.initial_states`) the stem, then the cycle.

    Without cycle steps nothing happens any more.
    """

    initial: int
    stem: tuple[Step, ...]
    cycle: tuple[Step, ...]
    not_taken: tuple[NotTaken, ...] = ()

    @property
    def length(self) -> int:
        """Transitions of stem and cycle."""
        return len(self.stem) + len(self.cycle)


@dataclass(frozen=True)
class LivenessResult:
    """What a graph says of one property: a lasso where one violates it.

    ``vacuous``: no behaviour could violate it, not even an unfair one. ``unsound``: no lasso was
    found, but the graph was cut. ``unfair``: no condition of fairness says that anything happens.
    """

    property: str
    kind: PropertyKind
    lasso: Lasso | None = None
    vacuous: bool = False
    unsound: bool = False
    unfair: bool = False

    @builtins.property
    def verdict(self) -> Literal["holds", "violated"]:
        """By what was found in the graph."""
        return "holds" if self.lasso is None else "violated"
