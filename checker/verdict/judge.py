"""From what a search found to verdicts: the rules of docs/reference/verdicts.md, in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from statewalk.checker.contract.options import CheckOptions, asked_for
from statewalk.checker.contract.search import (
    ASSERTION,
    DEADLOCK,
    NO_ERROR,
    Exploration,
    Finding,
)
from statewalk.checker.contract.stops import bounded, ended_by, whole_levels
from statewalk.checker.traces.trace import Abstract
from statewalk.checker.verdict.evidence import Graph
from statewalk.checker.verdict.run import ActionResult, PropertyResult, PropertyVerdict, RunVerdict
from statewalk.checker.verdict.spec_text import has_assertions
from statewalk.dsl.declared import Configuration, Expectation
from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.model import Model, Property


@dataclass
class Checked:
    """The growing result of a check: its passes add to it.

    ``exploration`` and ``findings`` are those of the search once it is over; of liveness and
    refinements, ``loops`` is the number of the state to which the last step returns (the number of
    the last state itself: stuttering), ``not_taken`` says in words what is enabled on
    a cycle and never taken, ``fair_choices`` are actions whose choices are fair by themselves, and
    how, ``abstract`` how the other model sees a violation, ``compared`` through
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
    fair_choices: set[tuple[str, str]] = field(default_factory=set)
    abstract: dict[str, Abstract] = field(default_factory=dict)
    compared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unsound: set[str] = field(default_factory=set)
    unfinished: bool = False
    warnings: list[str] = field(default_factory=list)
    graph: Graph | None = None
    brief: bool = False

    @property
    def exhaustive(self) -> bool:
        """Return whether nothing limited the search: no bound, no constraint that cut anything, no
        exception.
        """
        found = self.exploration
        return found.complete and not any(found.cut.values()) and NO_ERROR not in self.findings

    def leave(self, name: str, why: str) -> None:
        """Note that a property is not decided, though the search saw what it was to see."""
        self.unchecked[name] = why
        self.undecided.add(name)

    def wants(self, name: str) -> bool:
        """Return whether a property was asked for."""
        return asked_for(name, self.options.properties)


def known_names(model: Model) -> list[str]:
    """Return the properties that can be asked for."""
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
    """Return whether symmetric states are merged: where asked for, and for .fizz files that declare
    symmetry.
    """
    if options.symmetry is not None:
        return options.symmetry
    return model.dialect == "fizz" and bool(model.symmetric or model.symmetric_values)


def properties(checked: Checked) -> tuple[PropertyResult, ...]:
    """Return the verdict on each property that was asked for, in the order of the spec."""
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
    """Return the verdict of the run. A property of which nothing is known leaves it open;
    liveness that was not to be checked does only if there is nothing else.
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
    """Return transitions by action, over all its instances, in the order of the spec."""
    fired: Counter[str] = Counter()
    names = checked.model.action_names()
    for index, name in names.items():
        fired[name] += checked.exploration.fired.get(index, 0)
    return tuple(ActionResult(name=name, fired=count) for name, count in fired.items())


def bounds(checked: Checked) -> tuple[str, ...]:
    """Return what limited the search, in words."""
    found = checked.exploration
    words = []
    if bounded(found.stopped) or found.running is not None:
        own = checked.model.max_depth
        words.append(ended_by(checked.options, found.stopped, found.running, own))
    words += [f"constraint {name}" for name, count in found.cut.items() if count]
    return tuple(words)


TO_HOLD = "expected to hold"


def expectation(model: Model, name: str | None) -> Expectation | None:
    """Return what the configuration of a run expects, if it says."""
    found: Configuration | None = next((c for c in model.configurations if c.name == name), None)
    return found.expect if found else None


def left_out(checked: Checked, expect: Expectation) -> tuple[str, ...]:
    """Return what an expectation speaks of, but ``--property`` did not ask for."""
    known = known_names(checked.model)
    if not expect.properties:
        return tuple(name for name in known if not checked.wants(name))
    members = {name: _members(known, name) for name in expect.properties}
    return tuple(n for n, ms in members.items() if ms and not any(map(checked.wants, ms)))


def is_compared(checked: Checked, expect: Expectation) -> bool:
    """Return whether any of the properties that an expectation names was asked for, if it names
    some.
    """
    return not expect.properties or set(left_out(checked, expect)) != set(expect.properties)


def unexpected(
    checked: Checked, expect: Expectation, run: RunVerdict, results: tuple[PropertyResult, ...]
) -> tuple[str, ...] | None:
    """Return where a run differs from what was expected, in words; None where that cannot be told.

    A search that only the spec's own constraints and bounds limited is all that was asked for: it
    meets ``holds``, and what it does not find violated is not.
    """
    own_bounds = _counts_all(checked) and not checked.unfinished
    left = left_out(checked, expect)
    differs: list[str] = []
    open_ = False
    if expect.verdict == "holds":
        if run in ("violated", "error"):
            differs.append(f"{TO_HOLD}, but the verdict is '{run}'")
        elif run == "bounded" and not (own_bounds and _is_bounded_alone(checked, results)):
            return None
    elif run == "error":
        differs.append("expected a violation, but the spec raised an exception")
    elif not expect.properties and run != "violated":
        beyond = not own_bounds or any(_is_open(checked, r, own_bounds) for r in results)
        if left or (run == "bounded" and beyond):
            return None
        differs.append("expected a violation, but nothing is violated")
    for name in (n for n in expect.properties if n not in left):
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


def _is_bounded_alone(checked: Checked, results: tuple[PropertyResult, ...]) -> bool:
    """Return whether a bound of the search is all that keeps properties from being decided."""
    return not checked.exhaustive and not any(r.name in checked.undecided for r in results)


def _counts_all(checked: Checked) -> bool:
    """Return whether the search saw all that the spec asks for: only the spec's own bounds limited
    it.
    """
    stopped = checked.exploration.stopped
    return stopped is None or (stopped == "depth" and checked.options.max_depth is None)


def _members(known: list[str], name: str) -> list[str]:
    """Return the properties that a name means: the one of that name, else those of its family."""
    return [n for n in known if n == name] or [n for n in known if n.partition("(")[0] == name]


def _is_partly_asked(checked: Checked, name: str | None) -> bool:
    """Return whether not every property that a name means was asked for; of none, not every one."""
    known = known_names(checked.model)
    return not all(map(checked.wants, known if name is None else _members(known, name)))


def _named(name: str, results: tuple[PropertyResult, ...]) -> list[PropertyResult]:
    """Return the results that a name means: its own, else those of its family."""
    own = [r for r in results if r.name == name]
    return own or [r for r in results if r.name.partition("(")[0] == name]


def _is_open(checked: Checked, result: PropertyResult, own_bounds: bool) -> bool:
    """Return whether a property may be violated all the same. Within its own bounds, the spec asks
    for no more than was searched, but a witness or a cycle may lie beyond.
    """
    beyond = result.of_kind.witness or result.name in checked.unchecked
    return result.verdict == "unknown" and (beyond or not own_bounds)


def _is_violated(
    checked: Checked, name: str, results: tuple[PropertyResult, ...], own_bounds: bool
) -> tuple[bool, bool]:
    """(is violated, cannot be told)"""
    meant = _named(name, results)
    violated = any(r.verdict == "violated" for r in meant)
    partly = _is_partly_asked(checked, name)
    return violated, not violated and (
        partly or any(_is_open(checked, r, own_bounds) for r in meant)
    )


def _instead(checked: Checked, name: str) -> str:
    known = known_names(checked.model)
    if _members(known, name):
        return "it is not"
    return f"there is no such property. {did_you_mean(name, known)}"


def _different_lengths(
    checked: Checked, expect: Expectation, results: tuple[PropertyResult, ...]
) -> Iterator[str | None]:
    """Yield what is violated after another number of steps than is expected of it, of a family and
    of all the first; None for one of which that cannot be told.
    """
    wanted: dict[str | None, int] = dict(expect.lengths.items())
    if expect.length is not None and not expect.properties:
        wanted[None] = expect.length
    for name, length in wanted.items():
        meant = results if name is None else _named(name, results)
        broken = [r for r in meant if r.verdict == "violated"]
        lengths = [r.length for r in broken if r.length is not None]
        found = min(lengths, default=None)
        longer = found is not None and found > length
        open_ = longer and _is_partly_asked(checked, name)
        said = name or (broken[0].name if broken else "")
        if found is None and broken:
            yield f"expected {said} violated after {length} steps, but no steps lead there"
        elif open_ or ((longer or found == length) and not _is_shortest(checked, broken)):
            yield None
        elif found is not None and found != length:
            yield f"expected {said} violated after {length} steps, found {found}"


def _is_shortest(checked: Checked, broken: list[PropertyResult]) -> bool:
    """Return whether no shorter way to one of these can lie where an option kept the
    search from.
    """
    whole = _counts_all(checked) and not checked.unfinished
    if any(not r.of_kind.searched for r in broken):
        return whole or (checked.exploration.stopped == "violation" and not checked.unfinished)
    stopped = checked.exploration.stopped
    return whole or (stopped is not None and whole_levels(stopped)) or len(broken) == 1


def _different_counts(checked: Checked, expect: Expectation) -> Iterator[str | None]:
    """Yield where counts differ; None for one of which that cannot be told: there are as many or
    more.
    """
    counts, whole = checked.exploration.counts, _counts_all(checked)
    whole = whole and not {"slices", "reduced"} & checked.exploration.statistics.keys()
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
