"""What a liveness check answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from statewalk.checker.contract.search import Step
from statewalk.dsl.declared import Fairness
from statewalk.dsl.model import SAFETY_KINDS, PropertyKind

Verdict = Literal["holds", "violated", "unknown"]

LIVENESS_KINDS: frozenset[str] = frozenset(get_args(PropertyKind)) - SAFETY_KINDS

WITHOUT_FAIRNESS = "SW501"
UNDER_CONSTRAINT = "SW502"
INCOMPLETE = "SW503"
VACUOUS = "SW504"


@dataclass(frozen=True)
class LivenessOptions:
    """``allow_unsound``: give a verdict also where constraints or bounds cut the graph."""

    allow_unsound: bool = False


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

    Without cycle steps nothing happens any more. ``pending`` is the position, from the initial
    state on, of the state that nothing answers (leads to) or that breaks the waiting (until).
    """

    initial: int
    stem: tuple[Step, ...]
    cycle: tuple[Step, ...]
    not_taken: tuple[NotTaken, ...] = ()
    pending: int | None = None

    @property
    def length(self) -> int:
        """Transitions of stem and cycle."""
        return len(self.stem) + len(self.cycle)


@dataclass(frozen=True)
class LivenessResult:
    """The verdict on one property.

    ``vacuous``: no behaviour could violate it, not even an unfair one. ``unsound``: the graph was
    cut, so that `holds` may be wrong; a lasso is real in any case. ``refused`` says why the
    verdict is unknown. ``warnings`` are (code, text).
    """

    property: str
    kind: PropertyKind
    verdict: Verdict
    vacuous: bool = False
    unsound: bool = False
    lasso: Lasso | None = None
    refused: str = ""
    warnings: tuple[tuple[str, str], ...] = ()
    statistics: Mapping[str, Any] = field(default_factory=dict)
