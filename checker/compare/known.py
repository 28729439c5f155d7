"""Additions of a spec's configurations to a comparison of its variants.

They say what to expect of constants that nobody searched now: at which size two variants differ,
and whether another constant has a part in what a variant mends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from statewalk.checker.api import declared_within
from statewalk.checker.compare.compare import Comparison, Side, changed
from statewalk.dsl.errors import SpecError, StatewalkError
from statewalk.dsl.values.stored import same

if TYPE_CHECKING:
    from collections.abc import Callable

    from statewalk.checker.contract.options import CheckOptions
    from statewalk.dsl.declared import Configuration
    from statewalk.dsl.model import Model

_MOST = 3  # sentences of a kind
_FALSE = "SW304"  # an assumption on constants


@dataclass(frozen=True)
class Configured:
    """The configurations of a spec with an expectation, each with all of its constants."""

    vary: str
    defaults: Mapping[str, Any]
    rows: tuple[tuple[Configuration, Mapping[str, Any]], ...]

    def of(self, value: Any) -> list[tuple[Configuration, Mapping[str, Any]]]:
        """Return those with a value of the constant that is varied."""
        return [(c, given) for c, given in self.rows if same(given[self.vary], value)]

    def told(self, constants: Mapping[str, Any]) -> str:
        """Return the constants of a configuration that are not the defaults, as options."""
        return " ".join(
            f"{n}={v}"
            for n, v in constants.items()
            if n != self.vary and not same(self.defaults.get(n, v), v)
        )


def configured(path: str, vary: str, options: CheckOptions) -> Configured | None:
    """Return the configurations of a spec; none where its defaults cannot be loaded."""
    try:
        loading = declared_within(path, replace(options, config=None))
    except StatewalkError:
        return None
    defaults = {"MUTANT": "none", **loading.constants}
    if vary not in defaults:
        return None
    rows = tuple(
        (c, {**defaults, **c.constants}) for c in loading.declared.configurations if c.expect
    )
    return Configured(vary, defaults, rows)


def variants(
    cases: Sequence[tuple[str, Any]],
    load: Callable[[str, Any], Model],
    known: Configured | None,
) -> tuple[list[tuple[str, Model]], tuple[str, ...]]:
    """Return the variants that the spec allows, by name, and why others are not compared.

    Raises:  SpecError[SW304] of the first that is not allowed, if fewer than two are.
    """
    models: list[tuple[str, Model]] = []
    left: list[tuple[str, SpecError]] = []
    for name, value in cases:
        try:
            models.append((f"{name}={value}", load(name, value)))
        except SpecError as error:
            if error.code != _FALSE:
                raise
            left.append((str(value), error))
    if left and len(models) < 2:
        raise left[0][1]
    return models, tuple(f"{cases[0][0]}={v}: {why_left(v, e, known)}" for v, e in left)


def why_left(value: str, error: SpecError, known: Configured | None) -> str:
    """Return an error with the constants that all configurations of the variant have set."""
    said = f"{error.code} {error.message} {error.help}"
    rows = known.of(value) if known else []
    if known is None or not rows:
        return said
    shared = {
        n: v
        for n, v in rows[0][1].items()
        if n != known.vary and not same(v, known.defaults[n])
        if all(same(g[n], v) for _, g in rows)
    }
    needs = " ".join(f"{n}={v}" for n, v in shared.items())
    return f"{said} Its configurations have {needs}, e.g. {rows[0][0].name}." if needs else said


def with_known(found: Comparison, known: Configured | None, left: Sequence[str]) -> Comparison:
    """Return a comparison with what configurations add to it, and what could not be compared."""
    added = {}
    if known is not None:
        added = {side.name: tuple(_added(found.base, side, known)) for side in found.sides[1:]}
    return replace(found, known=added, left=tuple(left))


def _added(base: Side, other: Side, known: Configured) -> Iterator[str]:
    marks = {
        p.name: mark
        for p in (*base.run.properties, *other.run.properties)
        if (mark := changed(base.run, other.run, p.name))
    }
    if not marks:
        yield from _elsewhere(base, other, known)
    mended = {name for name, mark in marks.items() if mark == "fixed"}
    yield from _has_a_part(other, known, mended)
    yield from _mended_by_default(other, known)


def _elsewhere(base: Side, other: Side, known: Configured) -> Iterator[str]:
    """Yield configurations with which the variants differ: all other constants are equal."""
    found: list[tuple[int, str]] = []
    for first, one in known.of(base.model.constants[known.vary]):
        for second, two in known.of(other.model.constants[known.vary]):
            if not all(same(v, two[n]) for n, v in one.items() if n != known.vary):
                continue
            if _violated(first) != _violated(second):
                at = known.told(one)
                said = f"`{first.name}` {_result(first)}, `{second.name}` {_result(second)}"
                found.append((len(at.split()), f"With {at or 'the defaults'} they differ: {said}."))
    yield from [said for _, said in sorted(found, key=lambda pair: pair[0])][:_MOST]


def _has_a_part(side: Side, known: Configured, mended: set[str]) -> Iterator[str]:
    """Yield constants at their defaults without which a property that is fixed is violated."""
    for configuration, name, value in _near(side, known):
        own = side.model.constants[name]
        lost = [n for n in _violated(configuration) if n in mended]
        if same(own, known.defaults[name]) and lost:
            yield (
                f"{side.name} fixes {', '.join(lost)} only with {name}={own}, the default: with "
                f"{name}={value} it is violated (`{configuration.name}`)."
            )


def _mended_by_default(side: Side, known: Configured) -> Iterator[str]:
    """Yield constants whose defaults mend what is violated."""
    bad = [p.name for p in side.run.properties if p.verdict == "violated" and not p.of_kind.witness]
    for configuration, name, value in _near(side, known):
        if bad and same(value, known.defaults[name]) and not _violated(configuration):
            yield (
                f"With {name}={value}, the default, {side.name} violates nothing "
                f"(`{configuration.name}`)."
            )


def _near(side: Side, known: Configured) -> Iterator[tuple[Configuration, str, Any]]:
    """Yield configurations of a variant that differ from a side in one constant, and its value."""
    own = {n: v for n, v in side.model.constants.items() if n in known.defaults}
    told: set[tuple[str, Any]] = set()
    for configuration, given in known.of(own[known.vary]):
        differ = [n for n in own if n not in given or not same(given[n], own[n])]
        if len(differ) == 1 and (differ[0], repr(given[differ[0]])) not in told:
            told.add((differ[0], repr(given[differ[0]])))
            yield configuration, differ[0], given[differ[0]]


def _violated(configuration: Configuration) -> tuple[str, ...]:
    return configuration.expect.properties if configuration.expect else ()


def _result(configuration: Configuration) -> str:
    expect = configuration.expect
    if expect is None or not expect.properties:
        return "holds"
    lengths = dict.fromkeys(expect.properties, expect.length) | dict(expect.lengths)
    told = (f"{n} after {lengths[n]}" if lengths[n] else n for n in expect.properties)
    return f"violates {', '.join(told)}"
