"""From what a search found to verdicts: the rules of docs/checking.md, in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from checker.engine import ASSERTION, DEADLOCK, NO_ERROR, Exploration, Finding
from checker.evidence import Graph
from checker.options import CheckOptions
from checker.result import ActionResult, PropertyResult, PropertyVerdict, RunVerdict
from checker.spec_text import has_assertions
from dsl.errors import RunError, did_you_mean
from dsl.model import Configuration, Expectation, Model, Property

_BOUNDS: Mapping[str, str] = {
    "depth": "--max-depth",
    "states": "--max-states",
    "memory": "--max-memory",
    "time": "--timeout",
    "interrupt": "an interruption",
}


@dataclass(frozen=True)
class Checked:
    """A search and what it was about. ``loops`` holds, by liveness property, where its lasso
    returns to; ``not_taken`` what it leaves out.

    ``unchecked`` says why a property was not looked at, ``unsound`` are decided in spite of a cut.
    """

    model: Model
    options: CheckOptions
    exploration: Exploration
    findings: Mapping[str, Finding]
    unchecked: Mapping[str, str] = field(default_factory=dict)
    vacuous: frozenset[str] = frozenset()
    loops: Mapping[str, int] = field(default_factory=dict)
    not_taken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unsound: frozenset[str] = frozenset()
    unfinished: bool = False
    warnings: tuple[str, ...] = ()
    graph: Graph | None = None

    @property
    def exhaustive(self) -> bool:
        """Whether nothing limited the search: no bound, no constraint that cut anything, no
        exception.
        """
        found = self.exploration
        return found.complete and not any(found.cut.values()) and NO_ERROR not in self.findings

    def wants(self, name: str) -> bool:
        """Whether a property was asked for."""
        wanted = self.options.properties
        return wanted is None or name in wanted or name.partition("(")[0] in wanted


def check_names(model: Model, names: tuple[str, ...] | None) -> None:
    """Raises RunError[SW308] for a property that the spec does not have."""
    known = [p.name for p in model.properties] + [DEADLOCK, ASSERTION]
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
    elif prop.kind == "exists":
        verdict = "holds" if found else "violated" if checked.exhaustive else "unknown"
    elif found:
        verdict = "violated"
    else:
        decided = checked.exhaustive or prop.name in checked.unsound
        verdict = "holds" if decided else "unknown"
    return PropertyResult(
        name=prop.name,
        kind="deadlock" if prop.name == DEADLOCK else prop.kind,
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
    """The verdict of the run. Properties that were not looked at leave it open only if there are no
    others.
    """
    if NO_ERROR in checked.findings:
        return "error"
    if any(r.verdict == "violated" for r in results):
        return "violated"
    if not checked.exhaustive or checked.unfinished:
        return "bounded"
    if results and all(r.verdict == "unknown" for r in results):
        return "bounded"
    return "holds"


def actions(checked: Checked) -> tuple[ActionResult, ...]:
    """Transitions by action, over all its instances, in the order of the spec."""
    fired: Counter[str] = Counter()
    names = action_names(checked.model)
    for index, name in names.items():
        fired[name] += checked.exploration.fired.get(index, 0)
    return tuple(ActionResult(name=name, fired=count) for name, count in fired.items())


def action_names(model: Model) -> dict[int, str]:
    """What each action instance is counted under: its name, with the role where roles share it."""
    owners: dict[str, set[str]] = {}
    for action in model.actions:
        owner = type(action.actor).__name__ if action.actor is not None else ""
        owners.setdefault(action.name, set()).add(owner)
    result = {}
    for action in model.actions:
        shared = len(owners[action.name]) > 1 and action.actor is not None
        result[action.index] = (
            f"{type(action.actor).__name__}.{action.name}" if shared else action.name
        )
    return result


def bounds(checked: Checked) -> tuple[str, ...]:
    """What limited the search, in words."""
    options, found = checked.options, checked.exploration
    words = []
    if found.stopped is not None and found.stopped in _BOUNDS:
        value = {
            "depth": options.max_depth or checked.model.max_depth,
            "states": options.max_states,
            "time": f"{options.timeout:g} s" if options.timeout else None,
        }.get(found.stopped)
        own = found.stopped == "depth" and options.max_depth is None
        text = "the spec's bound on depth" if own else _BOUNDS[found.stopped]
        words.append(f"{text} {value}" if value is not None else text)
    words += [f"constraint {name}" for name, count in found.cut.items() if count]
    return tuple(words)


# -- expectations --------------------------------------------------------------------------


def expectation(model: Model, name: str | None) -> Expectation | None:
    """What the configuration of a run expects, if it says."""
    found: Configuration | None = next((c for c in model.configurations if c.name == name), None)
    return found.expect if found else None


def unexpected(
    checked: Checked, expect: Expectation, run: RunVerdict, results: tuple[PropertyResult, ...]
) -> tuple[str, ...] | None:
    """Where a run differs from what was expected, in words; None where that cannot be told.

    ``holds`` is also met by a search that only the spec's own constraints and bounds limited.
    """
    by_name = {r.name: r for r in results}
    open_ = [n for n in expect.properties if n in by_name and by_name[n].verdict == "unknown"]
    own_bounds = checked.exploration.stopped is None or (
        checked.exploration.stopped == "depth" and checked.options.max_depth is None
    )
    differs = []
    if expect.verdict == "holds":
        if run in ("violated", "error"):
            differs.append(f"expected to hold, but the verdict is '{run}'")
        elif run == "bounded" and not own_bounds:
            return None
    else:
        if run == "error":
            differs.append("expected a violation, but the spec raised an exception")
        elif not expect.properties and run != "violated":
            if run == "bounded":
                return None
            differs.append("expected a violation, but everything holds")
        missing = [n for n in expect.properties if n not in open_]
        missing = [n for n in missing if n not in by_name or by_name[n].verdict != "violated"]
        differs += [f"expected {name} to be violated, but it is not" for name in missing]
    differs += _different_numbers(checked, expect, results)
    if open_ and not differs:
        return None
    return tuple(differs)


def _different_numbers(
    checked: Checked, expect: Expectation, results: tuple[PropertyResult, ...]
) -> list[str]:
    counts = checked.exploration.counts
    differs = []
    for name in ("distinct", "generated", "depth"):
        wanted, found = getattr(expect, name), getattr(counts, name)
        if wanted is not None and wanted != found:
            differs.append(f"expected {name} {wanted:,}, found {found:,}")
    if expect.length is not None:
        names = (
            expect.properties[:1] or tuple(r.name for r in results if r.verdict == "violated")[:1]
        )
        lengths = [r.length for r in results if r.name in names and r.length is not None]
        if lengths and lengths[0] != expect.length:
            differs.append(
                f"expected {names[0]} violated after {expect.length} steps, found {lengths[0]}"
            )
    return differs
