"""From what a search found to verdicts: the rules of docs/checking.md, in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from statewalk.checker.contract.options import CheckOptions, asked_for
from statewalk.checker.contract.search import (
    ASSERTION,
    DEADLOCK,
    NO_ERROR,
    Exploration,
    Finding,
    StoppedBy,
)
from statewalk.checker.machine.places import Place
from statewalk.checker.traces.trace import Abstract
from statewalk.checker.verdict.evidence import Graph
from statewalk.checker.verdict.result import (
    ActionResult,
    PropertyResult,
    PropertyVerdict,
    RunVerdict,
)
from statewalk.checker.verdict.spec_text import has_assertions
from statewalk.dsl.declared import Configuration, Expectation
from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.model import SEARCH_KINDS, WITNESS_KINDS, Model, Property

_BOUNDS: Mapping[str, str] = {
    "depth": "--max-depth",
    "states": "--max-states",
    "memory": "--max-memory",
    "time": "--timeout",
    "interrupt": "an interruption",
    "killed": "a crash",
}


@dataclass(frozen=True)
class Checked:
    """A search and what it was about. ``loops`` holds, by liveness property, where its lasso
    returns to; ``not_taken`` what it leaves out; ``abstract`` how a refinement is seen.

    ``unchecked`` says why a property was not looked at, ``unsound`` are decided in spite of a cut.
    ``brief``: nothing is to be explained, as that hangs.
    """

    model: Model
    options: CheckOptions
    exploration: Exploration
    findings: Mapping[str, Finding]
    unchecked: Mapping[str, str] = field(default_factory=dict)
    vacuous: frozenset[str] = frozenset()
    loops: Mapping[str, int] = field(default_factory=dict)
    not_taken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    abstract: Mapping[str, Abstract] = field(default_factory=dict)
    unsound: frozenset[str] = frozenset()
    unfinished: bool = False
    warnings: tuple[str, ...] = ()
    graph: Graph | None = None
    brief: bool = False

    @property
    def exhaustive(self) -> bool:
        """Whether nothing limited the search: no bound, no constraint that cut anything, no
        exception.
        """
        found = self.exploration
        return found.complete and not any(found.cut.values()) and NO_ERROR not in self.findings

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
    elif prop.kind in WITNESS_KINDS:
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
    names = checked.model.action_names()
    for index, name in names.items():
        fired[name] += checked.exploration.fired.get(index, 0)
    return tuple(ActionResult(name=name, fired=count) for name, count in fired.items())


def bounds(checked: Checked) -> tuple[str, ...]:
    """What limited the search, in words."""
    found = checked.exploration
    words = []
    if found.stopped in _BOUNDS or found.running is not None:
        words.append(bound(checked.options, found.stopped, found.running, checked.model.max_depth))
    words += [f"constraint {name}" for name, count in found.cut.items() if count]
    return tuple(words)


def bound(
    options: CheckOptions,
    stopped: StoppedBy | None,
    running: Place | None,
    max_depth: int | None = None,
) -> str:
    """What ended a search, in words, with where the spec was if it had to be ended."""
    value = {
        "depth": options.max_depth or max_depth,
        "states": options.max_states,
        "time": f"{options.timeout:g} s" if options.timeout else None,
    }.get(stopped or "")
    text = _BOUNDS.get(stopped or "", "what did not end")
    if stopped == "depth" and options.max_depth is None:
        text = "the spec's bound on depth"
    if stopped == "memory" and options.max_memory is None:
        text = "memory"
    if stopped == "killed" and running is not None:
        text = f"a crash ({running.by})"
    text = f"{text} {value}" if value is not None else text
    return f"{text}, in {running}" if running is not None else text


# -- expectations --------------------------------------------------------------------------


def expectation(model: Model, name: str | None) -> Expectation | None:
    """What the configuration of a run expects, if it says."""
    found: Configuration | None = next((c for c in model.configurations if c.name == name), None)
    return found.expect if found else None


def unexpected(
    checked: Checked, expect: Expectation, run: RunVerdict, results: tuple[PropertyResult, ...]
) -> tuple[str, ...] | None:
    """Where a run differs from what was expected, in words; None where that cannot be told.

    A search that only the spec's own constraints and bounds limited is all that was asked for: it
    meets ``holds``, and what it does not find violated is not.
    """
    own_bounds = _counts_all(checked) and not checked.unfinished
    differs: list[str] = []
    open_ = False
    if expect.verdict == "holds":
        if run in ("violated", "error"):
            differs.append(f"expected to hold, but the verdict is '{run}'")
        elif run == "bounded" and not own_bounds:
            return None
    elif run == "error":
        differs.append("expected a violation, but the spec raised an exception")
    elif not expect.properties and run != "violated":
        if run == "bounded" and (
            not own_bounds or any(_is_open(checked, r, own_bounds) for r in results)
        ):
            return None
        differs.append("expected a violation, but nothing is violated")
    for name in expect.properties:
        violated, left_open = _is_violated(checked, name, results, own_bounds)
        open_ = open_ or left_open
        if not violated and not left_open:
            differs.append(f"expected {name} to be violated, but {_instead(checked, name)}")
    for unlike in (
        *_different_lengths(checked, expect, results),
        *_different_counts(checked, expect),
    ):
        open_ = open_ or unlike is None
        differs += filter(None, [unlike])
    return None if open_ and not differs else tuple(differs)


def _counts_all(checked: Checked) -> bool:
    """Whether the search saw all that the spec asks for: only the spec's own bounds limited it."""
    stopped = checked.exploration.stopped
    return stopped is None or (stopped == "depth" and checked.options.max_depth is None)


def _named(name: str, results: tuple[PropertyResult, ...]) -> list[PropertyResult]:
    """The results that a name means: its own, else those of its family."""
    own = [r for r in results if r.name == name]
    return own or [r for r in results if r.name.partition("(")[0] == name]


def _is_open(checked: Checked, result: PropertyResult, own_bounds: bool) -> bool:
    """Whether a property may be violated all the same. Within its own bounds, the spec asks for no
    more than was searched, but a witness or a cycle may lie beyond.
    """
    beyond = result.kind in WITNESS_KINDS or result.name in checked.unchecked
    return result.verdict == "unknown" and (beyond or not own_bounds)


def _is_violated(
    checked: Checked, name: str, results: tuple[PropertyResult, ...], own_bounds: bool
) -> tuple[bool, bool]:
    """(is violated, cannot be told)"""
    meant = _named(name, results)
    violated = any(r.verdict == "violated" for r in meant)
    asked = bool(meant) or not _is_known(checked.model, name)
    return violated, not violated and (
        not asked or any(_is_open(checked, r, own_bounds) for r in meant)
    )


def _is_known(model: Model, name: str) -> bool:
    known = known_names(model)
    return name in known or name in {n.partition("(")[0] for n in known}


def _instead(checked: Checked, name: str) -> str:
    if _is_known(checked.model, name):
        return "it is not"
    return f"there is no such property. {did_you_mean(name, known_names(checked.model))}"


def _different_lengths(
    checked: Checked, expect: Expectation, results: tuple[PropertyResult, ...]
) -> Iterator[str | None]:
    """What is violated after another number of steps than is expected of it, of a family and of
    all the first; None for one of which that cannot be told.
    """
    wanted: dict[str | None, int] = dict(expect.lengths.items())
    if expect.length is not None and not expect.properties:
        wanted[None] = expect.length
    for name, length in wanted.items():
        meant = results if name is None else _named(name, results)
        broken = [r for r in meant if r.verdict == "violated"]
        lengths = [r.length for r in broken if r.length is not None]
        found = min(lengths, default=None)
        said = name or (broken[0].name if broken else "")
        if found is None and broken:
            yield f"expected {said} violated after {length} steps, but no steps lead there"
        elif found is not None and found >= length and not _is_shortest(checked, broken):
            yield None
        elif found is not None and found != length:
            yield f"expected {said} violated after {length} steps, found {found}"


def _is_shortest(checked: Checked, broken: list[PropertyResult]) -> bool:
    """Whether no shorter way to one of these can lie where an option kept the search from."""
    whole = _counts_all(checked) and not checked.unfinished
    if any(r.kind not in (*SEARCH_KINDS, "deadlock", "assertion") for r in broken):
        return whole or (checked.exploration.stopped == "violation" and not checked.unfinished)
    between = checked.exploration.stopped in ("violation", "depth", "states")
    return whole or between or len(broken) == 1


def _different_counts(checked: Checked, expect: Expectation) -> Iterator[str | None]:
    """Where counts differ; None for one of which that cannot be told: there are as many or more."""
    counts, whole = checked.exploration.counts, _counts_all(checked)
    for name in ("distinct", "generated", "depth", "states"):
        wanted = getattr(expect, name)
        found = getattr(counts, "distinct" if name == "states" else name)
        if wanted is None or (whole and wanted == found):
            continue
        if not whole and (found <= wanted or checked.exploration.running is not None):
            yield None
        elif name == "states":
            yield f"expected {wanted:,} states, found {found:,}"
        else:
            yield f"expected {name} {wanted:,}, found {found:,}"
