"""Whether a run is as its configuration expects: the rules of docs/reference/verdicts.md.

With ``--property`` the expectation is held against what was asked for. Of what was left out
nothing is said; where the expectation names only such properties, there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Iterator

from statewalk.checker.contract.stops import whole_levels
from statewalk.checker.verdict.judge import Checked, known_names
from statewalk.checker.verdict.result import PropertyResult, RunVerdict
from statewalk.dsl.declared import Configuration, Expectation
from statewalk.dsl.errors import did_you_mean
from statewalk.dsl.model import Model

TO_HOLD = "expected to hold"


def expectation(model: Model, name: str | None) -> Expectation | None:
    """What the configuration of a run expects, if it says."""
    found: Configuration | None = next((c for c in model.configurations if c.name == name), None)
    return found.expect if found else None


def left_out(checked: Checked, expect: Expectation) -> tuple[str, ...]:
    """What an expectation speaks of, but ``--property`` did not ask for."""
    known = known_names(checked.model)
    if not expect.properties:
        return tuple(name for name in known if not checked.wants(name))
    members = {name: _members(known, name) for name in expect.properties}
    return tuple(n for n, ms in members.items() if ms and not any(map(checked.wants, ms)))


def is_compared(checked: Checked, expect: Expectation) -> bool:
    """Whether any of the properties that an expectation names was asked for, if it names some."""
    return not expect.properties or set(left_out(checked, expect)) != set(expect.properties)


def unexpected(
    checked: Checked, expect: Expectation, run: RunVerdict, results: tuple[PropertyResult, ...]
) -> tuple[str, ...] | None:
    """Where a run differs from what was expected, in words; None where that cannot be told.

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
    """Whether a bound of the search is all that keeps properties from being decided."""
    return not checked.exhaustive and not any(r.name in checked.undecided for r in results)


def _counts_all(checked: Checked) -> bool:
    """Whether the search saw all that the spec asks for: only the spec's own bounds limited it."""
    stopped = checked.exploration.stopped
    return stopped is None or (stopped == "depth" and checked.options.max_depth is None)


def _members(known: list[str], name: str) -> list[str]:
    """The properties that a name means: the one of that name, else those of its family."""
    return [n for n in known if n == name] or [n for n in known if n.partition("(")[0] == name]


def _is_partly_asked(checked: Checked, name: str | None) -> bool:
    """Whether not every property that a name means was asked for; of none, not every one."""
    known = known_names(checked.model)
    return not all(map(checked.wants, known if name is None else _members(known, name)))


def _named(name: str, results: tuple[PropertyResult, ...]) -> list[PropertyResult]:
    """The results that a name means: its own, else those of its family."""
    own = [r for r in results if r.name == name]
    return own or [r for r in results if r.name.partition("(")[0] == name]


def _is_open(checked: Checked, result: PropertyResult, own_bounds: bool) -> bool:
    """Whether a property may be violated all the same. Within its own bounds, the spec asks for no
    more than was searched, but a witness or a cycle may lie beyond.
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
    """Whether no shorter way to one of these can lie where an option kept the search from."""
    whole = _counts_all(checked) and not checked.unfinished
    if any(not r.of_kind.searched for r in broken):
        return whole or (checked.exploration.stopped == "violation" and not checked.unfinished)
    stopped = checked.exploration.stopped
    return whole or (stopped is not None and whole_levels(stopped)) or len(broken) == 1


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
