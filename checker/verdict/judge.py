"""From what a search found to verdicts: the rules of docs/reference/verdicts.md, in one place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from statewalk.checker.contract.options import CheckOptions, asked_for
from statewalk.checker.contract.search import (
    ASSERTION,
    DEADLOCK,
    NO_ERROR,
    Exploration,
    Finding,
)
from statewalk.checker.contract.stops import bounded, ended_by
from statewalk.checker.traces.trace import Abstract
from statewalk.checker.verdict.evidence import Graph
from statewalk.checker.verdict.result import (
    ActionResult,
    PropertyResult,
    PropertyVerdict,
    RunVerdict,
)
from statewalk.checker.verdict.spec_text import has_assertions
from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.model import Model, Property


@dataclass
class Checked:
    """What a check comes to know: its passes add to it.

    ``exploration`` and ``findings`` are those of the search once it is over; of liveness and
    refinements, ``loops`` is the number of the state to which the last step returns (the number of
    the last state itself: nothing happens any more), ``not_taken`` says in words what is enabled on
    a cycle and never taken, ``abstract`` how the other model sees a violation, ``compared`` through
    which fields.

    ``unchecked`` says why a property was not looked at; ``undecided`` are those of which that is no
    bound of this search. ``unsound`` are decided in spite of a cut;
    ``unfinished``: a bound ended what came after the search. ``brief``: nothing is to be explained,
    as that hangs.
    """

    model: Model
    options: CheckOptions
    exploration: Exploration = field(init=False)
    findings: dict[str, Finding] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)
    vacuous: set[str] = field(default_factory=set)
    loops: dict[str, int] = field(default_factory=dict)
    not_taken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    abstract: dict[str, Abstract] = field(default_factory=dict)
    compared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unsound: set[str] = field(default_factory=set)
    unfinished: bool = False
    warnings: list[str] = field(default_factory=list)
    graph: Graph | None = None
    brief: bool = False

    @property
    def exhaustive(self) -> bool:
        """Whether nothing limited the search: no bound, no constraint that cut anything, no
        exception.
        """
        found = self.exploration
        return found.complete and not any(found.cut.values()) and NO_ERROR not in self.findings

    def leave(self, name: str, why: str) -> None:
        """Note that a property is not decided, though the search saw what it was to see."""
        self.unchecked[name] = why
        self.undecided.add(name)

    def wants(self, name: str) -> bool:
        """Whether a property was asked for."""
        return asked_for(name, self.options.properties)


def known_names(model: Model) -> list[str]:
    """The properties that can be asked for."""
    built_in = [DEADLOCK, ASSERTION] if model.check_deadlock else [ASSERTION]
    return [*(p.name for p in model.properties), *built_in]


def check_names(model: Model, names: tuple[str, ...] | None) -> None:
    """Raises RunError[SW308] for a property that the spec does not have."""
    known = known_names(model)
    families = {name.partition("(")[0] for name in known}
    for name in names or ():
        if name not in known and name not in families:
            raise RunError("SW308", f"There is no property {name}. {did_you_mean(name, known)}")


def uses_symmetry(model: Model, options: CheckOptions) -> bool:
    """Whether symmetric states are merged: where asked for, and for .fizz files that declare
    symmetry.
    """
    if options.symmetry is not None:
        return options.symmetry
    return model.dialect == "fizz" and bool(model.symmetric or model.symmetric_values)


def properties(checked: Checked) -> tuple[PropertyResult, ...]:
    """The verdict on each property that was asked for, in the order of the spec."""
    model = checked.model
    result = [_property(checked, p) for p in model.properties if checked.wants(p.name)]
    if model.check_deadlock and checked.wants(DEADLOCK):
        result.append(_built_in(checked, DEADLOCK, "deadlock"))
    asked = checked.options.properties is not None and ASSERTION in checked.options.properties
    if (
        asked
        or ASSERTION in checked.findings
        or (checked.wants(ASSERTION) and has_assertions(model))
    ):
        result.append(_built_in(checked, ASSERTION, "assertion"))
    if NO_ERROR in checked.findings:
        result.append(_built_in(checked, NO_ERROR, "error"))
    return tuple(result)


def _property(checked: Checked, prop: Property) -> PropertyResult:
    found = checked.findings.get(prop.name)
    verdict: PropertyVerdict
    if prop.name in checked.unchecked:
        verdict = "unknown"
    elif prop.of_kind.witness:
        verdict = "holds" if found else "violated" if checked.exhaustive else "unknown"
    elif found:
        verdict = "violated"
    else:
        decided = checked.exhaustive or prop.name in checked.unsound
        verdict = "holds" if decided else "unknown"
    return PropertyResult(
        name=prop.name,
        kind=prop.kind,
        verdict=verdict,
        vacuous=verdict == "holds" and prop.name in checked.vacuous,
        length=found.length if found else None,
    )


def _built_in(checked: Checked, name: str, kind: str) -> PropertyResult:
    found = checked.findings.get(name)
    verdict: PropertyVerdict = "violated" if found else "holds" if checked.exhaustive else "unknown"
    return PropertyResult(
        name=name, kind=kind, verdict=verdict, length=found.length if found else None
    )


def verdict(checked: Checked, results: tuple[PropertyResult, ...]) -> RunVerdict:
    """The verdict of the run. A property of which nothing is known leaves it open; liveness that
    was not to be checked does only if there is nothing else.
    """
    if NO_ERROR in checked.findings:
        return "error"
    if any(r.verdict == "violated" for r in results):
        return "violated"
    if not checked.exhaustive or checked.unfinished:
        return "bounded"
    unknown = [r for r in results if r.verdict == "unknown"]
    off = checked.options.liveness_off(checked.model.no_liveness)
    asked = any(not (off and r.of_kind.over == "behaviors") for r in unknown)
    return "bounded" if asked or (unknown and len(unknown) == len(results)) else "holds"


def actions(checked: Checked) -> tuple[ActionResult, ...]:
    """Transitions by action, over all its instances, in the order of the spec."""
    fired: Counter[str] = Counter()
    names = checked.model.action_names()
    for index, name in names.items():
        fired[name] += checked.exploration.fired.get(index, 0)
    return tuple(ActionResult(name=name, fired=count) for name, count in fired.items())


def bounds(checked: Checked) -> tuple[str, ...]:
    """What limited the search, in words."""
    found = checked.exploration
    words = []
    if bounded(found.stopped) or found.running is not None:
        own = checked.model.max_depth
        words.append(ended_by(checked.options, found.stopped, found.running, own))
    words += [f"constraint {name}" for name, count in found.cut.items() if count]
    return tuple(words)
