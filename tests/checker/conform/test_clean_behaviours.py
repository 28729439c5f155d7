"""Behaviors that violate nothing, within so many hidden steps: generated graphs with steps
that violate something, beside going through all behaviors.

`LOGS=20000 pytest -m slow tests/checker/conform/test_clean_behaviours.py` looks at so many.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.conform.followed import Followed, Limits
from statewalk.checker.conforming import Question, conform
from statewalk.checker.traces.reading import load_trace
from statewalk.dsl.loader import load

MANY = int(os.environ.get("LOGS", "2000"))
LOGS = 6  # of each spec
SPEC = """
from statewalk import *

HIDDEN = {hidden}
LOGGED = {logged}

class Walk(State):
    at: int = 0

    @action
    def goes(self) -> None:
        self.at = any_of(HIDDEN.get(self.at, []))

    @action
    def does(self) -> None:
        self.at = any_of(LOGGED.get(self.at, []))

walk = Walk()
deadlock(False)

@always
def calm() -> bool:
    return walk.at not in {bad}

@on_step
def left() -> bool:
    return (old(walk.at), walk.at) not in {wrong[0]}

@on_step
def right() -> bool:
    return (old(walk.at), walk.at) not in {wrong[1]}
"""
Spot = tuple[int, frozenset[str]]


class Graph:
    """Places with hidden and logged steps, some of which violate something."""

    def __init__(self, random: Random) -> None:
        n = random.randint(3, 7)
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
        several = sorted(random.sample(pairs, min(len(pairs), random.randint(n, 2 * n))))
        self.hidden = [pair for pair in several if random.random() < 0.7]
        self.logged = [pair for pair in several if pair not in self.hidden]
        chance = random.choice([0.1, 0.3, 0.6])
        self.wrong = [{p for p in several if random.random() < chance} for _ in range(2)]
        if random.random() < 0.3:  # each step violates one of them, so behaviors differ in which
            self.wrong[1] = {*several} - self.wrong[0]
        self.bad = {random.randrange(1, n)} if random.random() < 0.3 else set()

    def text(self) -> str:
        tables: list[dict[int, list[int]]] = [{}, {}]
        for table, pairs in zip(tables, (self.hidden, self.logged), strict=True):
            for a, b in pairs:
                table.setdefault(a, []).append(b)
        wrong = [tuple(sorted(pairs)) for pairs in self.wrong]
        parts = {"hidden": tables[0], "logged": tables[1], "bad": tuple(self.bad), "wrong": wrong}
        return SPEC.format(**parts)

    def broken(self, before: int, after: int) -> frozenset[str]:
        names = [n for n, w in zip(("left", "right"), self.wrong, strict=True)
                 if (before, after) in w]  # fmt: skip
        return frozenset([*names, *(["calm"] if after in self.bad else [])])

    def log(self, random: Random) -> list[dict[str, Any]]:
        at, log = 0, []
        for _ in range(random.randint(1, 14)):
            here = [pair for pair in self.hidden + self.logged if pair[0] == at]
            if not here:
                break
            pair = random.choice(here)
            at = pair[1]
            if pair in self.logged:
                log.append({"action": "does"} | ({"after": {"at": at}} if random.random() < 0.4
                                                 else {}))  # fmt: skip
        return log

    def followed(
        self, log: list[dict[str, Any]], most: int | None
    ) -> tuple[int, dict[Spot, int] | None]:
        """(events accepted, how many behaviors end where, by what they violate; None: endless)"""
        spots: dict[Spot, int] = {(0, frozenset()): 1}
        endless = False
        for accepted, event in enumerate(log):
            reached, level = dict(spots), dict(spots)
            steps = 0
            while level and (most is None or steps < most) and steps < 60:
                steps += 1
                following: dict[Spot, int] = {}
                for (at, broken), ways in level.items():
                    for a, b in self.hidden:
                        if a == at:
                            spot = (b, broken | self.broken(a, b))
                            following[spot] = following.get(spot, 0) + ways
                for spot, ways in following.items():
                    reached[spot] = reached.get(spot, 0) + ways
                level = following
            endless = endless or (most is None and bool(level))
            following = {}
            for (at, broken), ways in reached.items():
                for a, b in self.logged:
                    if a == at and event.get("after", {"at": b}) == {"at": b}:
                        spot = (b, broken | self.broken(a, b))
                        following[spot] = following.get(spot, 0) + ways
            if not following:
                return accepted, None if endless else spots
            spots = following
        return len(log), None if endless else spots

    def verdict(self, log: list[dict[str, Any]], most: int | None) -> tuple[str, set[str]]:
        """The verdict, and what every behavior violates."""
        whole = 40 if most is None else most  # no clean behavior needs more
        accepted, spots = self.followed(log, whole)
        assert spots is not None
        if accepted < len(log):
            return "parts", set()
        every = frozenset.intersection(*(broken for _, broken in spots))
        return ("violated" if all(broken for _, broken in spots) else "conforms"), set(every)


def look_at_shown(graph: Graph, followed: Followed, most: int | None, clean: bool) -> None:
    """Look at the behavior that is shown: one of the log, which violates nothing if one does."""
    _, steps = followed.path()
    numbers = followed.numbers()
    places = [next(iter(followed.content(n).values())) for n in numbers]
    pairs = list(pairwise(places))
    assert len(steps) == len(pairs)
    kinds = ["does" if event is not None else "goes" for _, event in steps]
    for kind, pair in zip(kinds, pairs, strict=True):
        assert pair in (graph.logged if kind == "does" else graph.hidden)
    assert most is None or all(len(part) // 4 <= most for part in "".join(kinds).split("does"))
    if clean:
        assert not any(graph.broken(*pair) for pair in pairs)


def agree(seed: int, folder: Path) -> Counter[str]:
    """Compare some logs of one spec."""
    random = Random(f"clean/{seed}")
    graph = Graph(random)
    path = folder / "spec.py"
    path.write_text(graph.text(), encoding="utf-8")
    model, told = load(path), Counter[str]()
    for number in range(LOGS):
        log = graph.log(random)
        if not log:
            continue
        most = random.choice([None, 0, 1, 2, 3, 4, 6])
        verdict, every = graph.verdict(log, most)
        file = folder / "log.jsonl"
        file.write_text("".join(json.dumps(event) + "\n" for event in log), encoding="utf-8")
        for deep in (False, True):
            asked = Question(model, None, ["goes"], Limits(most, deep=deep))
            found = asked.ask([str(file)])
            assert verdict == found.verdict, (seed, number, most, deep)
            if verdict == "violated":
                assert every == set(found.json["violated"]), (seed, number, most, deep)
                assert every or found.json["violated_one_of"], (seed, number, most, deep)
            followed = asked.followed([str(file)])
            assert isinstance(followed, Followed)
            look_at_shown(graph, followed, most, verdict == "conforms")
        ways = Question(model, None, ["goes"], Limits(most)).ask([str(file)])
        several = graph.followed(log, most)[1]
        counted = None if several is None else sum(several.values())
        if verdict != "parts":
            assert ways.json["behaviours"] == counted, (seed, number, most)
        told[verdict] += 1
        told["mixed"] += verdict == "violated" and not every
    return told


@pytest.mark.thorough
def test_generated_clean_behaviors(tmp_path: Path) -> None:
    told = sum((agree(seed, tmp_path) for seed in range(20)), Counter[str]())

    assert {"conforms", "parts", "violated", "mixed"} == {word for word in told if told[word]}


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_clean_behaviors(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 10 // LOGS)
    first = 100 + block * share
    told = sum((agree(seed, tmp_path) for seed in range(first, first + share)), Counter[str]())

    assert {"conforms", "parts", "violated"} <= {word for word in told if told[word]}


# -- by hand -------------------------------------------------------------------------------

ROUND = """
from statewalk import *

class S(State):
    at: str = "A"
    @action
    def go(self, to: str = any_of(["B", "C", "D", "E"])) -> None:
        require(self.at + to in ("AB", "AC", "CD", "DB", "BE"))
        self.at = to
    @action
    def ev(self) -> None:
        require(self.at == "E")
        self.at = "F"

s = S()
deadlock(False)

@on_step
def no_short_cut() -> bool:
    return not (old(s.at) == "A" and s.at == "B")
"""
EITHER = """
from statewalk import *

class S(State):
    at: str = "A"
    @action
    def go(self, to: str = any_of(["B", "C"])) -> None:
        require(self.at == "A")
        self.at = to

s = S()
deadlock(False)

@always
def not_b() -> bool:
    return s.at != "B"

@always
def not_c() -> bool:
    return s.at != "C"
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    ("most", "verdict", "others"),
    [(1, "parts", 0), (2, "violated", 1), (3, "violated", 1), (4, "conforms", 2)],
)
def test_a_clean_way_may_need_more_hidden_steps(
    most: int, verdict: str, others: int, deep: bool, tmp_path: Path
) -> None:
    """A-B-E is short and violates something; A-C-D-B-E does not."""
    (tmp_path / "spec.py").write_text(ROUND, encoding="utf-8")
    (tmp_path / "log.jsonl").write_text('{"action": "ev"}\n', encoding="utf-8")
    found = conform(
        tmp_path / "spec.py", tmp_path / "log.jsonl", hidden=["go"], max_hidden=most,
        depth_first=deep,
    )  # fmt: skip

    assert verdict == found.verdict
    if verdict == "violated":
        assert {"no_short_cut": 1} == found.json["violated"]
    if verdict != "parts" and not (deep and verdict == "conforms"):
        assert others == found.json["behaviours"]


def test_the_trace_that_is_saved_violates_nothing(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(ROUND, encoding="utf-8")
    (tmp_path / "log.jsonl").write_text('{"action": "ev"}\n', encoding="utf-8")
    out = str(tmp_path / "found.json")
    words = [str(tmp_path / "spec.py"), str(tmp_path / "log.jsonl"), "--hidden", "go"]

    assert 0 == main(["conform", *words, "--out", out])
    trace = load_trace(out)
    assert ["C", "D", "B", "E", None] == [dict(step.arguments).get("to") for step in trace.steps]


def test_each_behavior_violates_something_else(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(EITHER, encoding="utf-8")
    (tmp_path / "log.jsonl").write_text('{"action": "go"}\n', encoding="utf-8")
    found = conform(tmp_path / "spec.py", tmp_path / "log.jsonl")

    assert "violated" == found.verdict
    assert ({}, {"not_b": 1, "not_c": 1}) == (
        found.json["violated"], found.json["violated_one_of"],
    )  # fmt: skip
    assert found.report.startswith("VIOLATED not_b or not_c  after 1 event: one of them")


def test_fields_that_changed_lately_may_be_gone(tmp_path: Path) -> None:
    """A state of many fields is shown by those that changed lately; a role may have ended since."""
    fields = "abcdefghij"
    (tmp_path / "spec.py").write_text(
        "from statewalk import Role, State, action, end, instances, require\n"
        "class Item(Role, at_most=1):\n    v: int = 0\n"
        "    @action\n    def bump(self) -> None:\n        require(self.v == 0)\n"
        "        self.v = 1\n"
        "    @action\n    def stop(self) -> None:\n        end(self)\n"
        "class M(State):\n"
        + "".join(f"    {name}: int = 0\n" for name in fields)
        + "    @action\n    def make(self) -> None:\n        require(not instances(Item))\n"
        "        Item()\n" + "".join(f"        self.{name} = 1\n" for name in fields) + "m = M()\n"
    )
    log = tmp_path / "log.jsonl"
    log.write_text('{"action": "make"}\n' + '{"action": "stop"}\n' * 2)

    assert 1 == main(["conform", str(tmp_path / "spec.py"), str(log)])
