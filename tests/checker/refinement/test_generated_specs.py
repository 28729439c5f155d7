"""Refinement of generated specs, by small steps and in the end: against what is tried one by one.

Both specs go from number to number by tables; the map and the other's property are tables too. Ways
are written out as words (`test_inclusion`), endless behaviors tried one by one
(`test_random_graphs`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay
from statewalk.dsl.kinds import KINDS as ROWS
from statewalk.dsl.kinds import PropertyKind
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.checker.liveness.test_random_graphs import KINDS, Case, closure, oracle, random_case
from tests.checker.refinement.test_inclusion import space, words

SPEC = """
from statewalk import *

class {name}(Role):
    at: int = 0
    shown: int = 0
{actions}

it = {name}()
SHOWN = {shown}

@init
def begin() -> None:
    it.at = any_of({initial})
    it.shown = SHOWN[it.at]

{more}
"""
ACTION = """
    @action{fair}
    def move{number}(self) -> None:
        self.at = any_of({steps}.get(self.at, []){choice})
        self.shown = SHOWN[self.at]
"""
PROPERTY = {
    "leads_to": "said = leads_to(lambda: it.at in {second}, lambda: it.at in {first})",
    "until": "said = until(lambda: it.at in {second}, lambda: it.at in {first})",
}
PLAIN = "{kind}\ndef said() -> bool:\n    return it.at in {first}"
OF_STATES: list[PropertyKind] = [kind for kind in KINDS if not ROWS[kind].of_steps]
HIDDEN = 2  # states of the other that look the same


@dataclass(frozen=True)
class Pair:
    """Two graphs with what is seen of their states, and a property of the second."""

    one: Case
    other: Case
    seen: list[int]
    seen_other: list[int]
    kind: PropertyKind


def text_of(case: Case, name: str, shown: list[int], more: str) -> str:
    def fair(level: str, form: str) -> str:
        return "" if level == "none" else form.format(level)

    actions = "".join(
        ACTION.format(
            fair=fair(level, '(fair="{}")'), number=number, steps=steps,
            choice=fair(choice, ', fair="{}"'),
        )
        for number, (steps, level, choice) in enumerate(
            zip(case.steps, case.fairness, case.choices, strict=True)
        )
    )  # fmt: skip
    return SPEC.format(
        name=name, actions=actions, shown=shown, initial=sorted(case.initial), more=more
    )


def pair_of(random: Random) -> Pair:
    """A graph, and one that has what is seen of its steps, now and then one less."""
    one = random_case(random)
    visible = random.randint(1, 3)
    seen = [random.randrange(visible) for _ in range(one.n)]
    n = visible * HIDDEN
    seen_other = [state // HIDDEN for state in range(n)]
    steps = {(seen[s], seen[t]) for s, t in one.pairs if seen[s] != seen[t]}
    if steps and random.random() < 0.3:
        steps.discard(random.choice(sorted(steps)))
    hidden = range(HIDDEN if random.random() < 0.7 else 1)
    table: dict[int, list[int]] = {}
    for s, t in sorted(steps):
        for h in hidden:
            table.setdefault(s * HIDDEN + h, []).append(t * HIDDEN + random.choice(hidden))
    for s in range(visible):
        for h in hidden[1:]:
            table.setdefault(s * HIDDEN, []).append(s * HIDDEN + h)
    truth = [random.sample(range(visible), random.randint(0, visible)) for _ in range(2)]
    sets = [frozenset(v * HIDDEN + h for v in said for h in hidden) for said in truth]
    if random.random() < 0.3:
        sets[0] = frozenset(random.sample(range(n), random.randint(0, n)))
    initial = tuple(dict.fromkeys(seen[s] * HIDDEN for s in one.initial))
    other = Case(n, initial, [table], ["none"], ["none"], sets[0], sets[1])
    return Pair(one, other, seen, seen_other, random.choice(OF_STATES))


def expected(pair: Pair) -> str:
    """Return what has to come out: holds, violated by a step, violated in the end, or unknown."""
    one, other = pair.one, pair.other
    ways = words(space(sorted(one.pairs), list(one.initial), one.n), pair.seen)
    if ways - words(space(sorted(other.pairs), list(other.initial), other.n), pair.seen_other):
        return "step"
    reached = closure(one.pairs, set(one.initial), set(range(one.n)))
    reached_other = closure(other.pairs, set(other.initial), set(range(other.n)))
    sets = [other.first, other.second] if pair.kind in ("leads_to", "until") else [other.first]
    for seen in {pair.seen[s] for s in reached}:
        alike = {s for s in reached_other if pair.seen_other[s] == seen}
        if any(alike & said and alike - said for said in sets):
            return "unknown"

    def said_of(said: frozenset[int]) -> frozenset[int]:
        visible = {pair.seen_other[s] for s in said & reached_other}
        return frozenset(s for s in range(one.n) if pair.seen[s] in visible)

    told = replace(one, first=said_of(other.first), second=said_of(other.second))
    if pair.kind in ("leads_to", "until"):  # the oracle's P is the premise
        told = replace(told, first=told.second, second=told.first)
    return "end" if oracle(told, (pair.kind,)) else "holds"


def found(pair: Pair, folder: Path, engine: str) -> str:
    """Return what the check says; what it finds is replayed."""
    first, second = sorted(pair.other.first), sorted(pair.other.second)
    marks = "@" + pair.kind.replace("_", "\n@")
    said = PROPERTY.get(pair.kind, PLAIN).format(kind=marks, first=first, second=second)
    (folder / "other.py").write_text(text_of(pair.other, "Other", pair.seen_other, said))
    by = "is_other = refines('other.py', by=lambda: {'Other.shown': it.shown})"
    spec = folder / "one.py"
    spec.write_text(text_of(pair.one, "One", pair.seen, by))
    run = check(spec, engine=engine, properties=("is_other",))
    verdict = run.result.of("is_other").verdict
    if verdict != "violated":
        return verdict
    trace = run.traces["is_other"]
    assert replay(trace, load(spec)).reproduced
    return "step" if trace.loop is None else "end"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("seeds", "engine"),
    [
        (range(6), "reference"),
        (range(5), "native"),
        *(slow(range(first, first + 200), "reference") for first in range(0, 2000, 200)),
        *(slow(range(first, first + 120), "native") for first in range(20, 620, 120)),
    ],
)
def test_generated_specs(seeds: range, engine: str, tmp_path: Path) -> None:
    told = []
    for seed in seeds:
        pair = pair_of(Random(f"pair/{seed}"))
        told.append(expected(pair))

        assert (seed, told[-1]) == (seed, found(pair, tmp_path, engine))
    assert {"holds", "step", "end", "unknown"} == set(told), "each comes out now and then"
