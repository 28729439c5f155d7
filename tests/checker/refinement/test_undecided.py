"""Unknown parts of the other model leave a refinement, and the run, undecided: beside subset
simulation in plain Python on generated pairs.

`PAIRS=5000 pytest -m slow tests/checker/refinement/test_undecided.py` looks at so many.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from statewalk.checker.api import check
from statewalk.checker.cli import main
from statewalk.checker.commands.compare import map_of
from statewalk.checker.compare.compare import compare
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.contract.stops import COUNTED, StoppedBy
from statewalk.dsl.loader import load
from tests.cases import slow

MANY = int(os.environ.get("PAIRS", "400"))
ENGINES = ("reference", "native")
ROWS = [slow("reference"), "native"]
UP = """
from statewalk import *

class A(State):
    v: int = 0

    @action
    def go(self) -> None:
        {body}

a = A()
deadlock(False)
"""
BESIDE = """
{ref}

@always
def fine() -> bool:
    return a.v < 9

config("well", expect=holds())
config("ill", expect=violates(ref))
"""
MAP = (
    "def seen() -> dict[str, object]:\n    return {'A.v': a.v}\n\nref = refines('abs.py', by=seen)"
)
# (what this one does, what the other does and has, how it is named, the reason in words)
OPEN = {
    "a constraint": (
        "self.v = 7 if self.v == 2 else min(self.v + 1, 7)",
        "require(self.v < 4); self.v += 1",
        "@constraint\ndef small() -> bool:\n    return a.v < 2\n",
        "ref = refines('abs.py')",
        "SW503: what abs allows is not known whole; its constraint small refuses states",
    ),
    "a constraint of steps": (
        "self.v = (self.v + 1) % 3",
        "self.v = (self.v + 1) % 3",
        "@constraint\n@on_step\ndef small() -> bool:\n    return a.v != 2\n",
        "ref = refines('abs.py')",
        "SW503: what abs allows is not known whole; its constraint small refuses states",
    ),
    "a constraint that raises": (
        "self.v = (self.v + 1) % 3",
        "self.v = (self.v + 1) % 4",
        "@constraint\ndef small() -> bool:\n    return 1 // (2 - a.v) < 9\n",
        "ref = refines('abs.py')",
        "SW503: what abs allows is not known whole; its constraint small raises ZeroDivisionError",
    ),
    "a constraint of steps that raises": (
        "self.v = (self.v + 1) % 3",
        "self.v = (self.v + 1) % 4",
        "@constraint\n@on_step\ndef small() -> bool:\n    return 1 // (2 - a.v) < 9\n",
        "ref = refines('abs.py')",
        "SW503: what abs allows is not known whole; its constraint small raises ZeroDivisionError",
    ),
    "an exception": (
        "self.v = (self.v + 1) % 3",
        "self.v = (self.v + 1) % 3 if 1 // (2 - self.v) >= 0 else 0",
        "",
        "ref = refines('abs.py')",
        "SW503: what abs allows is not known whole; its go raises ZeroDivisionError: integer "
        "division or modulo by zero",
    ),
    "an assertion": (
        "self.v = (self.v + 1) % 3",
        "assert self.v < 2; self.v += 1",
        "",
        "ref = refines('abs.py')",
        "SW503: what abs allows is not known whole; its go fails an assertion",
    ),
    "what is not seen": (
        "require(self.v < 2); self.v += 1",
        "require(self.h < 3); self.h += 1; self.v = min(self.h, 2)",
        "@eventually\ndef done() -> bool:\n    return a.h == 3\n",
        MAP,
        "SW505 liveness of abs is not known: done depends on fields that the map leaves out.",
    ),
    "liveness beyond a constraint": (
        "require(self.v < 1); self.v += 1",
        "require(self.v < 4); self.v += 1",
        "@eventually\ndef done() -> bool:\n    return a.v > 0\n"
        "@constraint\ndef small() -> bool:\n    return a.v < 2\n",
        "ref = refines('abs.py')",
        "SW503: liveness of abs is not known; its constraint small refuses states",
    ),
    "liveness beyond an exception": (
        "require(self.v < 1); self.v += 1",
        "require(self.v < 4); self.v += 1 // (1 - self.v)",
        "@eventually\ndef done() -> bool:\n    return a.v > 0\n",
        "ref = refines('abs.py')",
        "SW503: liveness of abs is not known; its go raises ZeroDivisionError: ",
    ),
}


def left_open(what: str, tmp_path: Path) -> tuple[Path, str]:
    """A spec of which the refinement is open, and why."""
    mine, theirs, more, ref, why = OPEN[what]
    other = UP.format(body=theirs).replace("v: int = 0", "v: int = 0\n    h: int = 0") + more
    (tmp_path / "abs.py").write_text(other, encoding="utf-8")
    spec = tmp_path / "spec.py"
    spec.write_text(UP.format(body=mine) + BESIDE.format(ref=ref), encoding="utf-8")
    return spec, why


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ROWS)
@pytest.mark.parametrize("what", OPEN)
def test_an_open_refinement_leaves_the_run_open(what: str, engine: str, tmp_path: Path) -> None:
    spec, why = left_open(what, tmp_path)
    run = check(spec, engine=engine)

    assert ("bounded", "unknown", "holds") == (
        run.verdict, run.of("ref").verdict, run.of("fine").verdict,
    )  # fmt: skip
    assert not run and not run.result
    assert any(text.startswith(f"ref: {why}") for text in run.warnings)
    for config in ("well", "ill"):
        expected = check(spec, engine=engine, config=config)
        assert (expected.as_expected, bool(expected), bool(expected.result)) == (None, False, False)


@pytest.mark.thorough
def test_an_open_refinement_is_inconclusive_to_scripts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    spec, _ = left_open("what is not seen", tmp_path)
    words = ["check", str(spec), "--engine", "reference", "--out", str(tmp_path / "out")]
    junit, result = tmp_path / "junit.xml", tmp_path / "result.json"

    assert 3 == main([*words, "--strict", "--junit", str(junit), "--json", str(result)])
    assert capsys.readouterr().out.startswith("NO VIOLATION FOUND")
    assert "bounded" == json.loads(result.read_text(encoding="utf-8"))["verdict"]
    [skipped] = Xml.parse(junit).getroot().iter("skipped")
    assert "ref: unknown (bounded)" == skipped.get("message")
    assert 3 == main(["test", str(spec), "--config", "well", "--engine", "reference", "--all"])


def test_a_search_that_its_own_constraint_cut_is_as_expected(tmp_path: Path) -> None:
    (tmp_path / "abs.py").write_text(UP.format(body="self.v += 1; require(self.v < 5)"))
    spec = tmp_path / "spec.py"
    own = "@constraint\ndef small() -> bool:\n    return a.v < 2\n"
    beside = BESIDE.format(ref="ref = refines('abs.py')")
    spec.write_text(UP.format(body="self.v += 1") + own + beside, encoding="utf-8")

    assert check(spec, engine="reference", config="well").as_expected
    cut = UP.format(body="require(self.v < 5); self.v += 1").replace("deadlock", own + "deadlock")
    (tmp_path / "abs.py").write_text(cut.replace("a.v < 2", "a.v < 1"))
    assert check(spec, engine="reference", config="well").as_expected is None


@pytest.mark.parametrize("engine", ROWS)
@pytest.mark.parametrize("bound", COUNTED)
def test_a_bound_holds_for_the_graph_without_view(
    engine: str, bound: StoppedBy, tmp_path: Path
) -> None:
    """With the view there are two states, without it endlessly many."""
    (tmp_path / "abs.py").write_text(UP.format(body="self.v = 1 - self.v"), encoding="utf-8")
    spec = tmp_path / "spec.py"
    grows = UP.format(body="self.v = 1 - self.v; self.k += 1")
    grows = grows.replace("v: int = 0", "v: int = 0\n    k: Auxiliary[int] = 0")
    live = "@always\n@eventually\ndef again() -> bool:\n    return a.v == 0\n"
    spec.write_text(grows + live + BESIDE.format(ref="ref = refines('abs.py')"), encoding="utf-8")
    given: dict[str, Any] = {COUNTED[bound].option: 7}
    run = check(spec, engine=engine, view=True, timeout=20, **given)

    assert run.seconds < 20  # it was not the time that ended it
    assert (2, "bounded") == (run.counts.distinct, run.verdict)
    assert {"ref": "unknown", "again": "unknown", "fine": "holds"} == {
        p.name: p.verdict for p in run.properties
    }
    cut = COUNTED[bound].liveness
    why = f"ref: SW503: its graph is not whole, {cut}, which is built without"
    assert any(text.startswith(why) for text in run.warnings)


@pytest.mark.thorough
def test_a_limit_while_the_graph_is_built_leaves_a_refinement_open(tmp_path: Path) -> None:
    (tmp_path / "abs.py").write_text(UP.format(body="require(self.v < 2); self.v += 1"))
    spec = tmp_path / "spec.py"
    spec.write_text(UP.format(body="require(self.v < 3); self.v += 1") + "ref = refines('abs.py')")
    options: dict[str, Any] = {"engine": "reference", "allow_unsound": True}
    assert "violated" == check(spec, **options).verdict
    interrupted = 0
    for calls in range(20):
        left = iter([False] * calls + [True] * 99)
        run = check(spec, interrupted=left.__next__, **options)
        interrupted += run.exhaustive and run.of("ref").verdict == "unknown"

        assert run.of("ref").verdict != "holds"
    assert interrupted


# -- generated pairs -----------------------------------------------------------------------

LAST = "ref = refines('abs.py', by=seen)\n\n@always\ndef fine() -> bool:\n    return True\n"
OTHER = """
from statewalk import *

NEXT = {next}
SHOWN = {shown}
FAILS = {fails}

class A(State):
    h: int = 0
    v: int = 0

    @action
    def go(self) -> None:
        to = any_of(NEXT.get(self.h, []))
        {how}
        self.h = to
        self.v = SHOWN[to]

a = A()
deadlock(False)

@init
def begin() -> None:
    a.h = any_of({starts})
    a.v = SHOWN[a.h]
"""
FAILING = {
    "raises": "self.v = 1 // (0 if (self.h, to) in FAILS else 1)",
    "asserts": "assert (self.h, to) not in FAILS",
    "is cut": "",
    "is kept": "",
}
CUT = "@constraint\n@on_step\ndef kept() -> bool:\n    return (old(a.h), a.h) not in FAILS\n"
REFUSED = "@constraint\ndef kept() -> bool:\n    return a.h not in {lost}\n"
THIS = """
from statewalk import *

NEXT = {next}
SHOWN = {shown}

class C(State):
    n: int = 0

    @action
    def go(self) -> None:
        self.n = any_of(NEXT.get(self.n, []))

c = C()
deadlock(False)

@init
def begin() -> None:
    c.n = any_of({starts})

def seen() -> dict[str, object]:
    return {{'A.v': SHOWN[c.n]}}

"""


class Walk:
    """A graph with what is seen of its places; of some steps (and places) nothing is known."""

    def __init__(self, random: Random) -> None:
        n = random.randint(2, 5)
        steps = {(random.randrange(n), random.randrange(n)) for _ in range(random.randint(2, 8))}
        self.random, self.n, self.steps = random, n, steps
        self.shown = [random.randrange(3) for _ in range(n)]
        self.starts = sorted(random.sample(range(n), random.randint(1, min(2, n))))
        self.fails: set[tuple[int, int]] = set()
        self.lost: set[int] = set()

    def copied(self) -> Walk:
        """The same with a step more or less, or something else to be seen."""
        found = Walk(self.random)
        found.n, found.shown, found.starts = self.n, list(self.shown), list(self.starts)
        found.steps = set(self.steps)
        if self.random.random() < 0.3:
            found.shown[self.random.randrange(self.n)] = self.random.randrange(3)
        if self.random.random() < 0.5:
            found.steps ^= {(self.random.randrange(self.n), self.random.randrange(self.n))}
        return found

    @property
    def next(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for a, b in sorted(self.steps):
            found.setdefault(a, []).append(b)
        return found

    def known(self, state: int) -> list[int]:
        """Return where the steps lead that are known."""
        steps = [(state, to) for to in self.next.get(state, [])]
        return [to for _, to in steps if (state, to) not in self.fails and to not in self.lost]

    def whole(self, state: int) -> bool:
        """Return whether all steps are known; those that lead nowhere are none where they
        are cut.
        """
        there = [to for to in self.next.get(state, []) if to != state or self.fails_at_once]
        return all((state, to) not in self.fails and to not in self.lost for to in there)

    fails_at_once = True  # a step that raises is one also where it would have changed nothing


def wanted(this: Walk, other: Walk) -> tuple[str, int | None]:
    """(verdict, length): a step may be what the other has wherever something of it is unknown."""

    def closed(states: set[int], open_: bool) -> tuple[frozenset[int], bool]:
        waiting, found = list(states), set(states)
        for state in waiting:
            for to in other.known(state):
                if other.shown[to] == other.shown[state] and to not in found:
                    found.add(to)
                    waiting.append(to)
        return frozenset(found), open_ or not all(map(other.whole, found))

    then: tuple[int, frozenset[int], bool]
    following: list[tuple[int, frozenset[int], bool]]
    unsure, first = False, bool(other.lost & set(other.starts))
    level: list[tuple[int, frozenset[int], bool]] = []
    begin = {s for s in other.starts if s not in other.lost}
    for state in this.starts:
        starts = {s for s in begin if other.shown[s] == this.shown[state]}
        if starts:
            level.append((state, *closed(starts, first)))
        elif not first:
            return "violated", 0
        else:
            unsure = True
    met = set(level)
    length = 0
    while level:
        length, following = length + 1, []
        for state, match, open_ in level:
            for to in this.next.get(state, []):
                then = (to, match, open_)
                if this.shown[to] != this.shown[state]:
                    steps = {t for s in match for t in other.known(s)}
                    steps = {t for t in steps if other.shown[t] == this.shown[to]}
                    if not steps:
                        if not open_:
                            return "violated", length
                        unsure = True
                        continue
                    then = (to, *closed(steps, open_))
                if then not in met:
                    met.add(then)
                    following.append(then)
        level = following
    return ("unknown" if unsure else "holds"), None


def agree(seed: int, folder: Path) -> str:
    """Check and compare one generated pair; what came out."""
    random = Random(seed)
    other = Walk(random)
    this = other.copied() if random.random() < 0.8 else Walk(random)
    how = random.choice(list(FAILING))
    more = ""
    if how == "is kept":
        other.lost = {random.randrange(other.n)}
        more = REFUSED.format(lost=other.lost)
    else:
        some = [s for s in sorted(other.steps) if random.random() < 0.3]
        other.fails = set(some or [random.choice(sorted(other.steps))])
        more = CUT if how == "is cut" else ""
    other.fails_at_once = how in ("raises", "asserts")
    parts = {"next": other.next, "shown": other.shown, "starts": other.starts}
    text = OTHER.format(**parts, fails=other.fails, how=FAILING[how] or "pass") + more
    (folder / "abs.py").write_text(text, encoding="utf-8")
    spec = folder / "spec.py"
    parts = {"next": this.next, "shown": this.shown, "starts": this.starts}
    spec.write_text(THIS.format(**parts) + LAST, encoding="utf-8")
    verdict, length = wanted(this, other)
    for engine in ENGINES[: 1 + seed % 2]:
        run = check(spec, engine=engine)
        told = run.of("ref")
        assert (verdict, length) == (told.verdict, told.length), (seed, how, engine)
        assert {"unknown": "bounded"}.get(verdict, verdict) == run.verdict, (seed, how, engine)
    spec.write_text(THIS.format(**parts), encoding="utf-8")
    models = [("abs", load(folder / "abs.py")), ("spec", load(spec))]
    seen = map_of(models[1][1], f"{spec}:seen", "seen")
    forth = compare(models, CheckOptions(), seen=seen).others[0].forth
    told_of = forth.refusal and ("violated" if forth.refusal.sure else "unknown")
    assert verdict == (told_of or "holds"), (seed, how)
    return verdict


@pytest.mark.thorough
def test_generated_pairs_with_something_unknown(tmp_path: Path) -> None:
    told = Counter(agree(seed, tmp_path) for seed in range(8))

    assert {"holds", "violated", "unknown"} == set(told)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_pairs_with_something_unknown(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 10)
    first = 100 + block * share
    told = Counter(agree(seed, tmp_path) for seed in range(first, first + share))

    assert {"holds", "violated", "unknown"} == set(told)
