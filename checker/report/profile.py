"""The report of `statewalk profile`: which action or property, which variable, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statewalk.checker.verdict.fields import FieldCost, field_costs

if TYPE_CHECKING:
    from statewalk.checker.contract.search import SearchOptions
    from statewalk.checker.contract.stops import StoppedBy
    from statewalk.checker.machine.places import Place
    from statewalk.dsl.model import Model

_DOMINATES = 0.5  # learning is worth a word from this share of the time on
_WORTH_SAYING = 1.0  # seconds
_MANY_VALUES = 10_000
_ROWS = 25
_FIELDS = 12
_LEAST = 1.05  # times the states, of fields that are listed where there are many


@dataclass(frozen=True)
class Part:
    """One action instance or one element of a property. ``seconds`` were spent on learning it."""

    kind: str
    label: str
    fired: int
    walks: int
    evaluations: int
    seconds: float

    @property
    def hit_rate(self) -> float:
        """Return which share of the lookups needed no evaluation of the spec."""
        return 1 - self.evaluations / self.walks if self.walks else 1.0


@dataclass(frozen=True)
class Profile:
    """The figures of one search. ``variables`` are (place, distinct values), widest first.

    ``untranslated`` names the functions without a program, each with the line and expression that
    the translator does not know. ``fields`` are those that make the states.
    """

    spec: str
    distinct: int
    generated: int
    seconds: float
    learning_seconds: float
    bytes_per_state: float
    parts: tuple[Part, ...]
    variables: tuple[tuple[str, int], ...]
    looked_at: tuple[tuple[str, int], ...]
    untranslated: tuple[str, ...] = ()
    fields: tuple[FieldCost, ...] = ()
    stopped: StoppedBy | None = None
    running: Place | None = None  # where the spec was, if it had to be ended

    @property
    def worst(self) -> Part | None:
        """The part that took most learning."""
        return max(self.parts, key=lambda part: part.seconds, default=None)


def profile(model: Model, options: SearchOptions) -> Profile:
    """Search with the native engine and say what took the time."""
    from statewalk.checker import native

    exploration = native.explore(model, options)
    statistics: Any = exploration.statistics
    found: Any = statistics["profile"]
    return Profile(
        spec=model.name,
        distinct=exploration.counts.distinct,
        generated=exploration.counts.generated,
        seconds=exploration.seconds,
        learning_seconds=statistics["learning_seconds"],
        bytes_per_state=statistics["bytes_per_state"],
        parts=tuple(Part(**root) for root in found["roots"]),
        variables=tuple(found["slots"]),
        looked_at=tuple(found["looked_at"]),
        untranslated=tuple(found["untranslated"]),
        fields=field_costs(model, exploration),
        stopped=exploration.stopped,
        running=exploration.running,
    )


def render(profile: Profile) -> str:
    """Return the profile as plain text."""
    return "\n".join(
        [*_head(profile), "", *_parts(profile), "", *_variables(profile), *_fields(profile),
         *_untranslated(profile), *_advice(profile)]
    )  # fmt: skip


def _head(p: Profile) -> Iterator[str]:
    share = p.learning_seconds / p.seconds if p.seconds else 0.0
    states = f"{p.distinct:,} distinct states, {p.generated:,} generated"
    yield f"{p.spec}: {states} in {p.seconds:.2f} s"
    yield (
        f"  learning {p.learning_seconds:.2f} s ({share:.0%}), the rest is replay"
        f" · {p.bytes_per_state:.0f} bytes per state"
    )


def _parts(p: Profile) -> Iterator[str]:
    heads = f"{'fired':>12} {'evaluations':>11} {'hit rate':>9} {'time s':>8}"
    yield f"{'action or property':<44} {heads}"
    ranked = sorted(p.parts, key=lambda part: (-part.seconds, part.label))
    for part in ranked[:_ROWS]:
        fired = f"{part.fired:,}" if part.kind == "action" else part.kind
        yield (
            f"{_short(_once(part.label)):<44} {fired:>12} {part.evaluations:>11,}"
            f" {part.hit_rate:>9.3%} {part.seconds:>8.3f}"
        )
    if len(ranked) > _ROWS:
        rest = ranked[_ROWS:]
        seconds = sum(part.seconds for part in rest)
        count = sum(part.evaluations for part in rest)
        yield f"{f'and {len(rest)} more':<44} {'':>12} {count:>11,} {'':>9} {seconds:>8.3f}"


def _variables(p: Profile) -> Iterator[str]:
    yield f"{'variable':<44} {'values':>12}"
    for place, values in p.variables[:10]:
        yield f"{_short(place):<44} {values:>12,}"


def _fields(p: Profile) -> Iterator[str]:
    costs = [cost for cost in p.fields if cost.factor >= _LEAST or len(p.fields) <= _FIELDS]
    if not costs:
        return
    yield ""
    yield f"{'field':<44} {'values':>12} {'states times':>12}  read by"
    for cost in costs[:_FIELDS]:
        name, values = " and ".join(cost.fields), f"{cost.values:,}"
        readers = [*cost.steps, *(cost.properties if not cost.steps else ())]
        shown = ", ".join(readers[:3]) + (f" and {len(readers) - 3} more" if readers[3:] else "")
        kind = "" if cost.steps or not readers else "no step; "
        yield f"{_short(name):<44} {values:>12} {cost.times:>12}  {kind}{shown or 'nobody'}"


def _untranslated(p: Profile) -> Iterator[str]:
    if p.untranslated:
        yield ""
        yield "These functions are not translated: for new values they run as slower Python:"
        for why in p.untranslated[:_ROWS]:
            yield f"  {why}"


def _advice(p: Profile) -> Iterator[str]:
    worst = p.worst
    if (
        worst is not None
        and p.learning_seconds > _WORTH_SAYING
        and p.learning_seconds > _DOMINATES * p.seconds
    ):
        yield ""
        share = worst.seconds / p.learning_seconds
        yield f"Learning dominates, and {worst.label} took {share:.0%} of it."
        if p.looked_at:
            listed = ", ".join(f"{place} ({n:,} branches)" for place, n in p.looked_at[:3])
            yield f"  It branches most on {listed}."
            yield "  Read less than the whole: x in s, len(l), l[i], one field of a record."
    if p.variables and p.variables[0][1] > max(_MANY_VALUES, p.distinct // 4):
        place, values = p.variables[0]
        yield ""
        yield f"{place} has had {values:,} different values."
        yield "  Bound it, split it by reader, or remove from it what no action reads."


def _once(label: str) -> str:
    """Return ``even: even``, an element that is a whole property, as ``even``."""
    name, _, element = label.partition(": ")
    return name if name == element else label


def _short(text: str, width: int = 44) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
