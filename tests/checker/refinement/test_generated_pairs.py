"""Generated pairs of specs, the second often a copy of the first with one thing changed: `refines`
and `compare`, with and without maps, beside subset simulation in plain Python.

`PAIRS=5000 pytest -m slow tests/checker/refinement/test_generated_pairs.py` looks at so many.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

import pytest

from statewalk.checker.api import check
from statewalk.checker.commands.compare import map_of
from statewalk.checker.compare.compare import Refinement, compare
from statewalk.checker.contract.options import CheckOptions
from statewalk.dsl.loader import load

MANY = int(os.environ.get("PAIRS", "400"))
# Of each type, values that are all different, however alike they look. Texts stand for values.
TYPES = {
    "int": ["0", "1", "2"],
    "int | bool | tuple[int, ...]": ["0", "False", "1", "True", "()", "(0,)", "(1,)"],
    "tuple[int, ...]": ["()", "(0,)", "(1,)", "(0, 1)"],
    "list[int]": ["[]", "[0]", "[1]", "[0, 1]"],
    "list[list[int]]": ["[]", "[[]]", "[[0]]", "[[], []]"],
    "set[int]": ["set()", "{0}", "{1}", "{0, 1}"],
    "dict[int | str, int]": ["{}", "{0: 0}", "{0: 1}", "{'0': 0}"],
    "Peer | None": ["None", "peers[0]", "peers[1]"],
    "object": ["0", "False", "'0'", "(0,)", "((0,),)", "[0]", "[[0]]", "Pair(0)", "Pair(False)"],
}  # fmt: skip
SPEC = """
from statewalk import *

class Pair(Record):
    left: object = 0

class Peer(Role):
    n: int = 0

peers = [Peer() for _ in range(2)]
"""
ROLE = """
class {name}(Role):
    at: Auxiliary[int] = 0
    fixed: {kept} = {fixed}
{fields}

    def show(self) -> None:
{shows}

    @action
    def move(self) -> None:
        self.at = any_of({steps}.get(self.at, []))
        self.show()

them = [{name}() for _ in range({number})]
deadlock(False)

@init
def begin() -> None:
    for it in them:
        it.at = any_of({starts})
        it.show()

{tables}
"""


@dataclass
class Walk:
    """Instances that walk along one graph, each by itself; ``shown`` are fields by place."""

    name: str
    number: int
    n: int
    starts: list[int]
    steps: set[tuple[int, int]]
    types: list[str]
    shown: list[list[str]]
    fixed: str
    kept: str = "int | bool"

    def text(self, field: str) -> str:
        """The spec; fields are called ``field`` and a number."""
        names = [f"{field}{at}" for at in range(len(self.types))]
        steps: dict[int, list[int]] = {}
        for a, b in sorted(self.steps):
            steps.setdefault(a, []).append(b)
        pairs = list(zip(names, self.types, self.shown, strict=True))
        return SPEC + ROLE.format(
            name=self.name, kept=self.kept, fixed=self.fixed, steps=steps, number=self.number,
            starts=self.starts,
            fields="\n".join(f"    {name}: {kind} = {told[0]}" for name, kind, told in pairs),
            shows="\n".join(f"        self.{name} = as_{name}(self.at)" for name in names),
            tables="\n".join(table(f"as_{name}", told) for name, _, told in pairs),
        )  # fmt: skip

    def initial(self) -> list[tuple[int, ...]]:
        return list(product(self.starts, repeat=self.number))

    def next(self, state: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for who, at in enumerate(state):
            for a, b in self.steps:
                if a == at:
                    yield (*state[:who], b, *state[who + 1 :])


def table(name: str, told: list[str]) -> str:
    """A function from places to values."""
    lines = [f"    if at == {at}:\n        return {value}" for at, value in enumerate(told)]
    return f"def {name}(at: int) -> object:\n" + "\n".join(lines) + "\n    return None\n"


def random_walk(random: Random, types: list[str], number: int, name: str) -> Walk:
    n = random.randint(1, 5)
    steps = {(random.randrange(n), random.randrange(n)) for _ in range(random.randint(0, 8))}
    shown = [[random.choice(TYPES[kind]) for _ in range(n)] for kind in types]
    starts = random.sample(range(n), random.randint(1, min(2, n)))
    return Walk(name, number, n, starts, steps, types, shown, random.choice(["0", "1", "True"]))


def changed(random: Random, walk: Walk) -> None:
    """Change one thing, which may be seen or not."""
    how = random.choice(["value", "value", "drop", "add", "start", "fixed", "split"])
    if how == "value":
        at = random.randrange(len(walk.types))
        walk.shown[at][random.randrange(walk.n)] = random.choice(TYPES[walk.types[at]])
    elif how == "drop" and walk.steps:
        walk.steps.discard(random.choice(sorted(walk.steps)))
    elif how == "add":
        walk.steps.add((random.randrange(walk.n), random.randrange(walk.n)))
    elif how == "start":
        walk.starts = [random.randrange(walk.n)]
    elif how == "fixed":
        walk.fixed = random.choice(["0", "1", "True"])
    elif how == "split":  # a twin of a place: the same is seen, some of the steps are its own
        twin, of = walk.n, random.randrange(walk.n)
        walk.n += 1
        for told in walk.shown:
            told.append(told[of])
        moved = {(a, b) for a, b in walk.steps if b == of and random.random() < 0.5}
        walk.steps = (walk.steps - moved) | {(a, twin) for a, _ in moved}
        walk.steps |= {(twin, b) for a, b in walk.steps if a == of and random.random() < 0.8}


@dataclass
class Case:
    """``given`` are the fields of the abstract spec that the map gives, None without one."""

    abstract: Walk
    concrete: Walk
    given: list[int] | None
    form: str

    def seen(self, walk: Walk, state: tuple[int, ...], *, fixed: bool) -> tuple[str, ...]:
        told = range(len(walk.types)) if self.given is None else self.given
        found = [walk.shown[field][at] for at in state for field in told]
        return (*found, *([walk.fixed] if fixed and self.given is None else []))


def random_case(random: Random) -> Case:
    types = [random.choice(list(TYPES)) for _ in range(random.randint(1, 2))]
    number = random.choice([1, 1, 2])
    given = random.sample(range(len(types)), random.randint(1, len(types)))
    mapped = random.random() < 0.75
    abstract = random_walk(random, types, number, "Plain")
    concrete = deepcopy(abstract)
    concrete.name = "Own" if mapped else "Plain"
    if random.random() < 0.15:
        concrete = random_walk(random, types, number, concrete.name)
    for _ in range(random.choice([0, 1, 1, 2])):
        changed(random, random.choice([abstract, concrete]))
    form = random.choice(["list", "tuple", "own"]) if number > 1 else random.choice(["it", "own"])
    return Case(abstract, concrete, sorted(given) if mapped else None, form)


def map_text(case: Case, random: Random) -> str:
    """Return what the map gives; a field of the concrete spec, or what is computed from
    its place.
    """
    entries = []
    for field in case.given or ():
        value = random.choice([f"{{}}.g{field}", f"as_g{field}({{}}.at)"]).format
        each = ", ".join(value(f"them[{who}]") for who in range(case.concrete.number))
        if case.form == "own":
            entries += [
                f"'Plain#{who}.f{field}': {value(f'them[{who}]')}"
                for who in range(case.concrete.number)
            ]
        else:
            given = {"it": value("them[0]"), "list": f"[{each}]", "tuple": f"({each},)"}[case.form]
            entries.append(f"'Plain.f{field}': {given}")
    return f"def seen() -> dict[str, object]:\n    return {{{', '.join(entries)}}}\n"


def refused(case: Case, one: Walk, other: Walk, *, fixed: bool) -> int | None:
    """After how many steps of the one the other has no such behavior; None where it always has."""

    def seen(walk: Walk, state: tuple[int, ...]) -> tuple[str, ...]:
        return case.seen(walk, state, fixed=fixed)

    def closed(states: set[tuple[int, ...]]) -> frozenset[tuple[int, ...]]:
        todo = list(states)
        for state in todo:
            more = {s for s in other.next(state) if seen(other, s) == seen(other, state)} - states
            states |= more
            todo += more
        return frozenset(states)

    level = set()
    for state in one.initial():
        match = closed({s for s in other.initial() if seen(other, s) == seen(one, state)})
        if not match:
            return 0
        level.add((state, match))
    known, depth = set(level), 0
    while level:
        depth += 1
        further = set()
        for state, match in level:
            for after in one.next(state):
                then = match
                if seen(one, after) != seen(one, state):
                    steps = {s for m in match for s in other.next(m)}
                    then = closed({s for s in steps if seen(other, s) == seen(one, after)})
                if not then:
                    return depth
                further.add((after, then))
        level = further - known
        known |= further
    return None


def agree(seed: int, folder: Path) -> str:
    """Compare one case; what came out."""
    random = Random(f"pairs/{seed}")
    case = random_case(random)
    engine = "native" if seed % 10 == 9 else "reference"
    concrete = case.concrete.text("f" if case.given is None else "g")
    seen = map_text(case, random)
    by = ", by=seen" if case.given is not None else ""
    (folder / "plain.py").write_text(case.abstract.text("f"), encoding="utf-8")
    (folder / "own.py").write_text(concrete, encoding="utf-8")
    (folder / "spec.py").write_text(f"{concrete}\n{seen}\nsame = refines('plain.py'{by})\n")
    (folder / "seen.py").write_text(f"from own import *\n\n{seen}", encoding="utf-8")
    result = check(folder / "spec.py", engine=engine, properties=("same",)).result.of("same")
    expected = refused(case, case.concrete, case.abstract, fixed=True)

    assert ("holds" if expected is None else "violated", expected) == (
        result.verdict,
        result.length,
    ), seed
    second = "own" if case.given is None else "seen"
    models = [(name, load(str(folder / f"{name}.py"))) for name in ("plain", second)]
    read = None if case.given is None else map_of(models[1][1], "seen.py", "seen")
    [versus] = compare(models, CheckOptions(engine=engine), seen=read).others
    both = [(case.concrete, case.abstract), (case.abstract, case.concrete)]
    lengths = [refused(case, *pair, fixed=False) for pair in both]

    assert lengths == [length(versus.forth), length(versus.back)], seed
    return result.verdict if by else f"{result.verdict}, no map"


def length(found: Refinement) -> int | None:
    assert found.whole or found.refusal is not None
    return None if found.refusal is None else found.refusal.trace.length


@pytest.mark.thorough
def test_generated_pairs(tmp_path: Path) -> None:
    told = Counter(agree(seed, tmp_path) for seed in range(6))

    assert {"holds", "violated"} <= set(told)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_pairs(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 10)
    first = 100 + block * share
    told = Counter(agree(seed, tmp_path) for seed in range(first, first + share))

    assert {"holds", "violated", "holds, no map", "violated, no map"} <= set(told)
