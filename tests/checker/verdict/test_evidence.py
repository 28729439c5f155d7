"""The evidence of a verdict: vacuous invariants, guards, bounds, probabilities, explanations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from statewalk import check, load, replay
from statewalk.checker.verdict.explain import Layer
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import RunError
from tests.cases import slow

SPEC = """
from statewalk import Role, action, always, deadlock, old, on_step, pairs, require


class Counter(Role):
    n: int = 0
    failed: bool = False
    inbox: set[int] = set()
    chosen: set[int] = set()

    @action
    def up(self) -> None:
        require(self.n < 3)
        self.chosen.add(self.n)
        self.n += 1


counters = [Counter() for _ in range(2)]
deadlock(False)


def low(counter: Counter, top: int) -> bool:
    if counter.n > top:
        return False
    return True


"""


def checked(tmp_path: Path, properties: str, **options: Any) -> Run:
    (tmp_path / "spec.py").write_text(SPEC + properties)
    return check(tmp_path / "spec.py", engine="reference", **options)


def told(layer: Layer) -> str:
    """A layer of an explanation on a line: its text, what is bound, the values."""
    named = (" ".join(f"{n}={v}" for n, v in some) for some in (layer.bindings, layer.values))
    return " | ".join([layer.text, *named])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "vacuous"),
    [
        ("all(c.n <= 3 for c in counters)", False),
        ("all(m > 0 for c in counters for m in c.inbox)", True),
        ("all(not c.failed or c.n > 0 for c in counters)", True),
        ("all(c.n > 2 for c in counters if c.n == 3)", False),
        ("all(c.n > 9 for c in counters if c.n == 4)", True),
        ("not counters[0].failed or counters[0].n > 9", True),
        ("counters[0].n > 2 if counters[0].n == 3 else True", False),
        ("counters[0].n < 9", False),
    ],
)
def test_an_invariant_about_nothing_is_vacuous(tmp_path: Path, text: str, vacuous: bool) -> None:
    result = checked(tmp_path, f"@always\ndef p() -> bool:\n    return {text}\n")

    assert ("holds", vacuous) == (result.of("p").verdict, result.of("p").vacuous)
    assert 16 == result.counts.distinct
    assert ["p"] == [p.name for p in result.properties]


WATCHED = """
def far(c: Counter) -> bool:
    return c.n > 9
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("body", "vacuous"),
    [
        ("return not (c.n > 9) or c.n == 7", True),
        ("return c.n != 9 or c.n == 7", True),
        ("return c.n != 3 or not c.failed", False),
        ("return c.n <= 9 or c.failed", True),
        ("return c.n <= 2 or not c.failed", False),
        ("return c.n <= 2 or c.n == 3", False),
        ("return c.n <= 9 or c.n == 12", False),  # what n may be: no premise
        ("return 9 >= c.n or (c.n == 12 and c.failed)", False),
        ("return c.n < 2 or c.n != 9 or c.failed", True),
        ("return c.n < 9 or True", True),
        ("return not far(c) or c.failed", True),
        ("if far(c):\n        return c.failed\n    return True", True),
        ("if c.n == 3:\n        return not c.failed\n    return True", False),
        ("if c.n < 9:\n        return True\n    return c.failed", True),
        ("n = c.n\n    if n > 9:\n        return c.failed\n    elif n > 8:\n"
         "        return n == 7\n    return True", True),
        ("if c.n > 9:\n        return False\n    return True", False),
        ("return True if c.n < 9 else c.failed", True),
        ("return c.n < 2 or all(m > 0 for m in c.inbox)", True),
        ("return c is not counters[0] or c.n < 9", False),  # it speaks of one of them
    ],
)  # fmt: skip
def test_an_invariant_of_each_is_vacuous_where_it_is_for_all(
    tmp_path: Path, body: str, vacuous: bool
) -> None:
    text = f"{WATCHED}\n@always\ndef p(c: Counter) -> bool:\n    {body}\n"
    result = checked(tmp_path, text)

    assert 16 == result.counts.distinct
    assert {("holds", vacuous)} == {(p.verdict, p.vacuous) for p in result.properties}
    found = ["vacuous: p held, but the case it speaks of never arose"] if vacuous else []
    assert found == [text for text in result.warnings if text.startswith("vacuous")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("symmetry", [False, True])
def test_premises_of_members_are_looked_for_with_symmetry_too(
    tmp_path: Path, engine: str, symmetry: bool
) -> None:
    text = (
        "class Job(Role, symmetric=True):\n    n: int = 0\n    @action\n"
        "    def up(self) -> None:\n        require(self.n < 6)\n        self.n += 1\n"
        "jobs = [Job() for _ in range(3)]\n"
        "@always\ndef met(j: Job) -> bool:\n    return j.n < 5 or j in jobs\n"
        "@always\ndef unmet(j: Job) -> bool:\n    return j.n < 9 or j in jobs\n"
    )
    (tmp_path / "spec.py").write_text("from statewalk import *\ndeadlock(False)\n" + text)
    run = check(tmp_path / "spec.py", engine=engine, symmetry=symmetry)

    assert {f"unmet(Job#{n})" for n in range(3)} == {p.name for p in run.properties if p.vacuous}
    assert 6 == len(run.properties)


def test_a_bounded_search_calls_nothing_vacuous(tmp_path: Path) -> None:
    text = "@always\ndef p() -> bool:\n    return all(m > 0 for c in counters for m in c.inbox)\n"

    assert not checked(tmp_path, text, max_depth=3).of("p").vacuous


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("body", "layers"),
    [
        (
            "return all(a.n + b.n < 3 for a, b in pairs(counters))",
            ["a.n + b.n < 3 | a=Counter#0 b=Counter#1 | a.n + b.n=3 a.n=1 b.n=2"],
        ),
        (
            "return counters[0].n < 9 and counters[1].n < 2",
            ["counters[1].n < 2 |  | counters[1].n=2"],
        ),
        (
            "return all(low(c, 1) for c in counters)",
            [
                "low(c, 1) | c=Counter#1 | ",
                "counter.n > top | counter=Counter#1 top=1 | counter.n=2",
            ],
        ),
        (
            "return not any(c.n > 1 for c in counters if not c.failed)",
            ["c.n > 1 | c=Counter#1 | c.n=2"],
        ),
        (
            "total = counters[0].n + counters[1].n\n    return total < 3",
            ["total < 3 |  | total=3"],
        ),
        (
            "for c in counters:\n        if c.n > 2:\n            return False\n    return True",
            ["c.n > 2 | c=Counter#0 | c.n=3"],
        ),
        (
            "return 2 not in counters[0].chosen",
            ["2 not in counters[0].chosen |  | counters[0].chosen={0, 1, 2}"],
        ),
        (
            "return counters[0].failed or all(c.n < 2 for c in counters)",
            [
                "counters[0].failed or all(c.n < 2 for c in counters) |  "
                "| counters[0].failed=False",
                "c.n < 2 | c=Counter#1 | c.n=2",
            ],
        ),
        (
            "return not (len(counters) > 1 and any(not c.failed and c.n > 1 for c in counters))",
            [
                "len(counters) > 1 and any(not c.failed and c.n > 1 for c in counters) |  "
                "| len(counters)=2",
                "not c.failed and c.n > 1 | c=Counter#1 | c.failed=False c.n=2",
            ],
        ),
        (
            "return not (counters[0].n > 9 or counters[0].n + counters[1].n > 2)",
            [
                "counters[0].n + counters[1].n > 2 |  "
                "| counters[0].n + counters[1].n=3 counters[0].n=1 counters[1].n=2"
            ],
        ),
        (
            "return (len(counters) == 2) <= all(c.n < 2 for c in counters)",
            [
                "(len(counters) == 2) <= all(c.n < 2 for c in counters) |  "
                "| len(counters) == 2=True all(c.n < 2 for c in counters)=False",
                "c.n < 2 | c=Counter#1 | c.n=2",
            ],
        ),
        (
            "return all(c.failed or all(o is c or low(o, 1) for o in counters) for c in counters)",
            [
                "c.failed or all(o is c or low(o, 1) for o in counters) | c=Counter#0 "
                "| c.failed=False",
                "o is c or low(o, 1) | c=Counter#0 o=Counter#1 | ",
                "low(o, 1) | c=Counter#0 o=Counter#1 | ",
                "counter.n > top | counter=Counter#1 top=1 | counter.n=2",
            ],
        ),
        (
            "return not isinstance(counters[0], Counter)",
            ["not isinstance(counters[0], Counter) |  | counters[0]=Counter#0"],
        ),
        (
            "return not (not (counters[0].n < 9 and counters[1].n < 2))",
            ["counters[1].n < 2 |  | counters[1].n=2"],
        ),
        (
            "return (total := counters[0].n + counters[1].n) < 3",
            [
                "(total := counters[0].n + counters[1].n) < 3 |  "
                "| counters[0].n + counters[1].n=3 counters[0].n=1 counters[1].n=2"
            ],
        ),
        (
            "return sum(c.n for c in counters) < 3",
            ["sum(c.n for c in counters) < 3 |  | sum(c.n for c in counters)=3"],
        ),
    ],
)  # fmt: skip
def test_a_violation_names_the_failing_part_with_its_values(
    tmp_path: Path, body: str, layers: list[str]
) -> None:
    result = checked(tmp_path, f"@always\ndef p() -> bool:\n    {body}\n")
    (violation,) = result.evidence.violations
    assert violation.explanation is not None

    found = [told(x) for x in violation.explanation.layers]
    # which of two equal counters got there is decided by fingerprints
    either = [[x.replace("#0", "#?").replace("#1", "#?") for x in some] for some in (layers, found)]
    assert either[0] == either[1]


ASSERTING = """
from statewalk import *

class Part(Record):
    n: int = 0

class Box(Role):
    n: int = 0
    parts: list[Part] = []

    @action
    def go(self) -> Flow[None]:
        BODY

    def fine(self) -> bool:
        return self.n == 0 and self.parts == []

def check_it(box: Box) -> None:
    assert all(part.n < 1 for part in box.parts)

box = Box()
deadlock(False)
"""
ASSERTS = {
    "self.n += 2\n        assert self.n == 3, 'three'\n        yield": [
        "0 assert self.n == 3, 'three' |  | self.n=2"
    ],
    "self.n = k = 1\n        yield\n        self.n += 1\n"
    "        assert k == self.n or self.fine()": [
        "0 assert k == self.n or self.fine() |  | k=1 self.n=2",
        "1 self.fine() |  | ",
        "2 self.n == 0 |  | self.n=2",
    ],
    "self.parts.append(Part(2))\n        check_it(self)\n        yield": [
        "0 assert all(part.n < 1 for part in box.parts) |  | ",
        "1 part.n < 1 | part=Part(n=2) | part.n=2",
    ],
    "way = any_of([3, 4])\n        assert (way == 3 or\n            self.n == 1)\n        yield": [
        "0 assert (way == 3 or self.n == 1) |  | way=4 self.n=0"
    ],
    "self.parts = [Part(5)]\n        for part in self.parts:\n            assert part.n < 5\n"
    "        yield": ["0 assert part.n < 5 |  | part.n=5"],
    "self.n = 1\n        yield\n        unreachable('here')": ["0 unreachable('here') |  | "],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize("body", ASSERTS)
def test_a_failed_assert_is_explained_like_a_property(
    tmp_path: Path, body: str, engine: str
) -> None:
    (tmp_path / "spec.py").write_text(ASSERTING.replace("BODY", body))

    (violation,) = check(tmp_path / "spec.py", engine=engine).evidence.violations

    assert violation.explanation is not None
    assert ASSERTS[body] == [f"{x.depth} {told(x)}" for x in violation.explanation.layers]


FAULTS = """
from statewalk import *

class Node(Role):
    n: int = 0
    up: bool = True

    @action
    def go(self) -> None:
        require(self.up and self.n < 2)
        self.n += 1

    @action(fault=FAULT)
    def crash(self) -> None:
        require(self.up)
        self.up = False

node = Node()
"""


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_a_deadlock_besides_faults_is_told_like_any_other(tmp_path: Path, engine: str) -> None:
    shown = []
    for fault in ("True", "False"):
        (tmp_path / "spec.py").write_text(FAULTS.replace("FAULT", fault))
        run = check(tmp_path / "spec.py", engine=engine)
        shown.append(str(run).partition("\n  searched")[0])

    assert "self.up = False · self.n = 0" in shown[0]
    assert "@terminal" in shown[0]
    assert shown[1] == shown[0]


def test_a_fault_that_is_possible_in_a_deadlock_is_told(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(
        FAULTS.replace("FAULT", "True").replace("require(self.up)\n", "")
    )

    run = check(tmp_path / "spec.py", engine="reference")

    assert "    Node#0.crash\n        possible, but a fault is no way out of a deadlock" in str(run)
    assert replay(run.traces["Deadlock"]).reproduced


def test_a_step_property_is_explained_with_the_state_before(tmp_path: Path) -> None:
    text = (
        "@on_step\ndef p() -> bool:\n    return all(c.n <= old(c.n) or c.n < 3 for c in counters)\n"
    )

    evidence = checked(tmp_path, text).evidence

    assert evidence is not None
    explanation = evidence.violations[0].explanation
    assert explanation is not None
    assert explanation.last is not None
    assert {"c.n": 3, "old(c.n)": 2} == dict(explanation.last.values)


def test_the_probability_of_a_collision_is_told_where_there_is_one(tmp_path: Path) -> None:
    plain = checked(tmp_path, "").evidence
    native = check(tmp_path / "spec.py", engine="native").evidence

    assert plain is not None
    assert native is not None
    assert plain.collision is None
    assert 16 * 16 / 2**65 == native.collision


@pytest.mark.parametrize(
    ("engine", "settings"), [("nativ", {}), ("spark", {"spark": {"buckets": 3}})]
)
def test_an_engine_that_is_unknown_or_unable_is_refused(
    tmp_path: Path, engine: str, settings: dict[str, Any]
) -> None:
    checked(tmp_path, "")

    with pytest.raises(RunError) as caught:
        check(tmp_path / "spec.py", engine=engine, **settings)

    assert "SW307" == caught.value.code


def test_an_explanation_shows_parts_of_the_state_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text("""
from statewalk import Record, State, action, always, require


class Entry(Record):
    n: int


class Log(State):
    entries: list[Entry] = []

    @action
    def append(self) -> None:
        require(len(self.entries) < 2)
        self.entries.append(Entry(len(self.entries)))


log = Log()


@always
def short() -> bool:
    return all(entry.n < 1 or log.entries[:2] == [] for entry in log.entries)
""")

    evidence = check(tmp_path / "spec.py", engine="reference").evidence

    assert evidence is not None
    explanation = evidence.violations[0].explanation
    assert explanation is not None
    assert explanation.last is not None
    # read after the run: nothing of the state is bound any more
    assert "(('entry', Entry(n=1)),)" == str(explanation.last.bindings)
    assert "[Entry(n=0), Entry(n=1)]" == str(dict(explanation.last.values)["log.entries[:2]"])


@pytest.mark.parametrize(
    ("checked_text", "saved", "shown"),
    [
        ("assert self.n < 7", "pass", "assert self.n < 7"),
        ("assert self.n < 7", "# above\n        assert self.n < 7", "assert self.n < 7"),
        ("require(self.n < 9)", "require(self.n < 9)  # changed", ""),
    ],
)
def test_a_spec_that_is_saved_while_it_is_checked(
    tmp_path: Path, checked_text: str, saved: str, shown: str
) -> None:
    spec = tmp_path / "spec.py"
    body = SPEC.replace("require(self.n < 3)", checked_text)
    body += "\n\n@always\ndef small() -> bool:\n    return all(c.n < 5 for c in counters)\n"
    spec.write_text(body)
    model = load(spec)
    untimed = re.compile(r"\d+\.\d+ s")
    before = untimed.sub("", str(check(model, engine="reference", keep_going=True)))
    spec.write_text(body.replace(checked_text, saved).replace("c.n < 5", "c.n < 6"))
    after = untimed.sub("", str(check(model, engine="reference", keep_going=True)))

    assert before == after
    assert "c.n < 5" in before and shown in before
