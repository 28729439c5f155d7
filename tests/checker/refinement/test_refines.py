"""``name = refines("other.py", by=seen)``: what a spec does is what another allows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay
from statewalk.checker.cli import main
from statewalk.checker.traces.file import save_trace, to_dict
from statewalk.checker.traces.reading import load_trace
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import RunError, SpecError, StatewalkError
from statewalk.dsl.loader import load

BAG = """
from statewalk import *

class Box(Role):
    items: set[int] = set()

    @action
    def put(self, x: int = any_of([1, 2])) -> None:
        require(x not in self.items and len(self.items) < 2)
        self.items.add(x)

    @action
    def take(self) -> None:
        self.items.remove(any_of(self.items))

box = Box()
"""
QUEUE = """
from typing import Literal
from statewalk import *

BUG: Constant[Literal["none", "clears", "starts full"]] = "none"

class Queue(Role):
    slots: list[int] = [1, 2, 2] if BUG == "starts full" else []
    taken: int = 0

    @action
    def put(self, x: int = any_of([1, 2])) -> None:
        require(x not in self.slots and len(self.slots) < 2)
        self.slots.append(x)

    @action
    def take(self) -> None:
        require(self.slots)
        if BUG == "clears":
            self.slots.clear()
        else:
            self.slots.pop(0)

    @action
    def look(self) -> None:
        self.taken = 1 - self.taken

queue = Queue()

def as_bag() -> dict[str, object]:
    return SEEN

is_a_bag = refines("bag.py", by=as_bag)
"""
SEEN = "{'Box.items': set(queue.slots)}"
# The items are chosen when the other spec begins, and seen only when they come out.
HIDDEN = """
from statewalk import *

class Urn(Role):
    kept: int = 0
    shown: int = 0

    @action
    def draw(self) -> None:
        require(self.kept == 0)
        self.kept = any_of([1, 2])

    @action
    def show(self) -> None:
        require(self.kept)
        self.shown = self.kept

urn = Urn()
"""
SHOWS = """
from statewalk import *

LIES: Constant[bool] = False

class Show(Role):
    shown: int = 0

    @action
    def show(self) -> None:
        self.shown = any_of([1, 2]) if LIES or not self.shown else self.shown

show = Show()
is_an_urn = refines("urn.py", by=lambda: {"Urn.shown": show.shown})
"""


# Only the map asks for the whole set.
MARKS = """
from statewalk import *

LOSES: Constant[bool] = False

class Marks(Role):
    on: set[int] = set()

    @action
    def mark(self, x: int = any_of([1, 2, 3])) -> None:
        require(x not in self.on)
        self.on.add(x)

    @action
    def lift(self, x: int = any_of([1, 2, 3])) -> None:
        require(x in self.on)
        self.on.discard(x)
        if LOSES and x == 3:
            self.on.discard(1)

marks = Marks()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"bag": BAG, "queue_": QUEUE.replace("SEEN", SEEN), "urn": HIDDEN, "show": SHOWS}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def seen(run: Run) -> list[tuple[str, str, int | None]]:
    return [(p.name, p.verdict, p.length) for p in run.properties]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_queue_is_a_bag(folder: Path, engine: str) -> None:
    run = check(folder / "queue_.py", engine=engine)

    assert ("is_a_bag", "holds", None) in seen(run)
    assert "holds" == run.verdict


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_queue_that_loses_items_is_none(folder: Path, engine: str) -> None:
    run = check(folder / "queue_.py", {"BUG": "clears"}, engine=engine, keep_going=True)
    [violation] = run.evidence.violations
    abstract = violation.trace.abstract

    assert ("is_a_bag", "violated", 3) in seen(run)
    assert abstract is not None
    assert ("- Box#0.items 1", "- Box#0.items 2") == tuple(sorted(map(str, abstract.seen[-1][1])))
    assert ("Box#0 · take · 1", "Box#0 · take · 2") == tuple(sorted(abstract.allowed))
    assert "seen as bag, which does not allow the last step" in str(run)
    assert replay(run.traces["is_a_bag"], folder / "queue_.py").reproduced


@pytest.mark.spark
def test_spark_says_the_same(folder: Path) -> None:
    run = check(folder / "queue_.py", {"BUG": "clears"}, engine="spark", keep_going=True)

    assert ("is_a_bag", "violated", 3) in seen(run)


def test_an_initial_state_that_is_none_of_the_other(folder: Path) -> None:
    text = (folder / "bag.py").read_text(encoding="utf-8")
    (folder / "bag.py").write_text(text.replace("= set()", "= {7}"), encoding="utf-8")
    run = check(folder / "queue_.py")

    assert ("is_a_bag", "violated", 0) in seen(run)


def test_what_is_hidden_may_be_chosen_before_it_is_seen(folder: Path) -> None:
    assert ("is_an_urn", "holds", None) in seen(check(folder / "show.py"))
    assert ("is_an_urn", "violated", 2) in seen(check(folder / "show.py", {"LIES": True}))


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_map_may_give_a_whole_container(folder: Path, engine: str) -> None:
    (folder / "marks.py").write_text(MARKS, encoding="utf-8")
    spec = folder / "loses.py"
    spec.write_text(MARKS.replace("Marks", "Own") + (
        "def seen() -> dict[str, object]:\n    return {'Marks.on': marks.on}\n"
        "is_marks = refines('marks.py', by=seen)\n"
    ), encoding="utf-8")  # fmt: skip

    assert ("is_marks", "holds", None) in seen(check(spec, engine=engine))
    run = check(spec, {"LOSES": True}, engine=engine)
    assert ("is_marks", "violated", 3) in seen(run), "1 is lost only where 3 is lifted beside it"


def test_a_bounded_search_does_not_decide(folder: Path) -> None:
    run = check(folder / "queue_.py", {"BUG": "clears"}, max_depth=2)

    assert ("is_a_bag", "unknown", None) in seen(run)


def test_without_a_map_fields_of_equal_names_are_seen(folder: Path) -> None:
    text = BAG + "same = refines('bag.py')\n"
    (folder / "again.py").write_text(text, encoding="utf-8")

    assert ("same", "holds", None) in seen(check(folder / "again.py"))


# No step changes the stride.
STRIDE = """
from statewalk import *

class Walk(State):
    at: int = 0
    stride: {kind} = {stride}

    @action
    def go(self) -> None:
        self.at = (self.at + {by}) % 3

walk = Walk()
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "one", "other", "by", "verdict"),
    [
        ("int", "1", "1", "walk.stride", "holds"),
        ("int", "1", "2", "1", "violated"),
        ("bool | int", "1", "True", "1", "violated"),
        ("dict[int, int]", "{1: 1}", "{1: 2}", "1", "violated"),
        ("dict[int, int]", "{1: 1}", "{1: 1}", "walk.stride[1]", "holds"),
        ("set[int]", "{1}", "{1, 2}", "1", "violated"),
        ("list[int]", "[1]", "[]", "1", "violated"),
    ],
)
def test_a_field_that_neither_changes_is_compared_too(
    tmp_path: Path, kind: str, one: str, other: str, by: str, verdict: str
) -> None:
    names = {"kind": kind, "by": by}
    (tmp_path / "one.py").write_text(STRIDE.format(stride=one, **names), encoding="utf-8")
    text = STRIDE.format(stride=other, **names) + "same = refines('one.py')\n"
    (tmp_path / "other.py").write_text(text, encoding="utf-8")
    run = check(tmp_path / "other.py", engine="reference")

    assert (verdict, {"same": ("Walk.at", "Walk.stride")}) == (run.verdict, run.evidence.compared)
    assert "same, seen through Walk.at, Walk.stride" in str(run)
    if verdict == "violated":
        abstract = run.traces["same"].abstract
        assert abstract is not None
        assert abstract.allowed, "the report shows the other value"
        assert "seen as one, which begins otherwise" in str(run)
        assert replay(run.traces["same"], tmp_path / "other.py").reproduced


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("by", "file", "said"),
    [
        ("{'Box.item': set()}", "bag.py", "has no field Box.item"),
        ("[1, 2]", "bag.py", "The map 'as_bag' gave [1, 2]"),
        ("{'Box.items': 1 // len(queue.slots)}", "bag.py", "'as_bag' raises ZeroDivisionError"),
        ("{}", "bag.py", "The map 'as_bag' gave {}"),
        ("{'Box.items': {1.5}}", "bag.py", "a value that no field can hold"),
        (SEEN, "sack.py", "There is no file"),
    ],
)
def test_mistakes(folder: Path, by: str, file: str, said: str) -> None:
    text = QUEUE.replace("SEEN", by).replace("bag.py", file)
    (folder / "queue_.py").write_text(text, encoding="utf-8")

    with pytest.raises(StatewalkError) as error:
        check(folder / "queue_.py")
    assert said in str(error.value)


PAIR = """
from statewalk import *

class Cell(Role):
    value: int = 0
    log: list[int] = []

    @action
    def write(self) -> None:
        require(self.value == 0)
        self.value = 1
        self.log.append(1)

cells = [Cell() for _ in range(CELLS)]
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("cells", "given", "said"),
    [
        (2, "{'Cell.value': [c.value for c in cells]}", ""),
        (1, "{'Cell.value': [c.value for c in cells]}", ""),
        (1, "{'Cell.value': cells[0].value, 'Cell.log': cells[0].log}", ""),
        (1, "{'Cell#0.log': cells[0].log}", ""),
        (2, "{'Cell#0.value': cells[0].value, 'Cell#1.value': cells[1].value}", ""),
        (2, "{'Cell.value': [cells[0].value]}", "gives Cell.value no list of 2 values"),
        (2, "{'Cell.value': cells[0].value}", "gives Cell.value no list of 2 values"),
        (
            2,
            "{'Cell.value' if cells[0].value else 'Cell.log': [1, 1]}",
            "in some states only",
        ),
    ],
)
def test_a_map_gives_a_value_for_each_instance(
    tmp_path: Path, cells: int, given: str, said: str
) -> None:
    text = PAIR.replace("CELLS", str(cells))
    own = f"def seen():\n    return {given}\nsame = refines('pair.py', by=seen)\n"
    (tmp_path / "pair.py").write_text(text, encoding="utf-8")
    (tmp_path / "own.py").write_text(text + own, encoding="utf-8")

    if not said:
        assert "holds" == check(tmp_path / "own.py", properties=("same",)).result.of("same").verdict
        return
    with pytest.raises(SpecError, match=said) as error:
        check(tmp_path / "own.py")
    assert "SW363" == error.value.code


def test_a_variant_may_refine_its_own_base(tmp_path: Path) -> None:
    spec = tmp_path / "count.py"
    spec.write_text(
        "from statewalk import *\nBY: Constant[int] = 1\n"
        "class N(Role):\n    n: int = 0\n"
        "    @action\n    def up(self) -> None:\n"
        "        require(self.n < 4)\n        self.n += BY\n"
        "n = N()\nbase = refines('count.py', BY=1)\n",
        encoding="utf-8",
    )

    assert "holds" == check(spec, properties=("base",)).result.of("base").verdict
    run = check(spec, {"BY": 2}, properties=("base",))
    assert ("violated", 1) == (run.result.of("base").verdict, run.traces["base"].length)


def test_a_change_of_the_other_spec_is_seen_when_a_trace_is_replayed(folder: Path) -> None:
    trace = check(folder / "queue_.py", {"BUG": "clears"}).traces["is_a_bag"]
    text = BAG.replace("    @action\n    def take", "    @action\n    def clear(self) -> None:\n"
                       "        self.items.clear()\n\n    @action\n    def take")  # fmt: skip
    (folder / "bag.py").write_text(text, encoding="utf-8")
    found = replay(trace, folder / "queue_.py")

    assert not found.reproduced
    assert "bag allows all of it now" in found.why


def test_the_other_spec_lies_beside_the_module_that_declares_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    core, plain = tmp_path / "parts/core.py", tmp_path / "parts/plain.py"
    core.write_text(f"{BAG}same = refines('plain.py')\n", encoding="utf-8")
    plain.write_text(BAG, encoding="utf-8")
    spec = tmp_path / "spec.py"
    spec.write_text("from statewalk import *\nfrom parts.core import box\n", encoding="utf-8")
    [same] = load(spec).properties

    assert same.refined is not None
    assert plain.samefile(same.refined.model.path)


@pytest.mark.parametrize("by", ["partial(looked, 0)", "Look()"])
def test_a_map_need_not_be_a_function(folder: Path, by: str) -> None:
    text = f"from functools import partial\n{BAG}" + (
        "def looked(at):\n    return {'Box.items': box.items}\n"
        "class Look:\n    def __call__(self):\n        return looked(0)\n"
        f"same = refines('bag.py', by={by})\n"
    )
    (folder / "own.py").write_text(text, encoding="utf-8")

    assert ("same", "holds", None) in seen(check(folder / "own.py", engine="reference"))


def test_no_other_model_is_a_mistake_with_its_place(folder: Path) -> None:
    (folder / "bag.py").unlink()

    with pytest.raises(RunError) as error:
        check(folder / "queue_.py")
    assert error.value.at is not None
    assert error.value.at.file.endswith("queue_.py")


def test_a_saved_trace_shows_both_levels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = check(folder / "queue_.py", {"BUG": "clears"}).traces["is_a_bag"]
    saved = folder / "t.trace.json"
    save_trace(trace, saved)

    assert load_trace(saved).abstract == trace.abstract
    assert 0 == main(["show", str(saved)])
    shown = capsys.readouterr().out
    assert "seen as bag, which does not allow the last step:" in shown
    assert "bag allows there:" in shown
    assert 0 == main(["show", "--full", str(saved)])
    assert trace.length + 1 == capsys.readouterr().out.count("as bag\n")


@pytest.mark.parametrize("states", [[], [[[["Box", 0], 1]]]])
def test_a_second_level_of_another_length_is_none(folder: Path, states: list[object]) -> None:
    trace = check(folder / "queue_.py", {"BUG": "clears"}).traces["is_a_bag"]
    data = to_dict(trace)
    data["abstract"]["states"] = states
    (folder / "t.trace.json").write_text(json.dumps(data))

    with pytest.raises(RunError, match=r"4 states, and [01] of the other spec") as error:
        load_trace(folder / "t.trace.json")
    assert "SW401" == error.value.code


CUT = """
from statewalk import *
deadlock(False)

class M(Role):
    v: int = 0
    hidden: int = 0

    @action
    def go(self) -> None:
        require(self.v < 2 and self.hidden == 0)
        self.hidden = any_of([0, 1])
        self.v += 1

m = M()
"""


@pytest.mark.parametrize("part", ["m.hidden == 1 or m.v == 0", "m.v != 1"])
def test_no_step_is_refused_by_a_spec_that_its_constraint_cut(tmp_path: Path, part: str) -> None:
    """Neither a check nor a replay says that the other does not allow what it may allow."""
    text = CUT.replace("hidden", "mine") + '\np = refines("other.py")\n'
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    (tmp_path / "other.py").write_text(CUT.replace("self.v < 2", "self.v < 1"), encoding="utf-8")
    trace = check(tmp_path / "mine.py", engine="reference").traces["p"]
    bounded = f"{CUT}\n@constraint\ndef part() -> bool:\n    return {part}\n"
    (tmp_path / "other.py").write_text(bounded, encoding="utf-8")
    again = check(tmp_path / "mine.py", engine="reference")

    assert ["unknown"] == [p.verdict for p in again.properties]
    assert not replay(trace, tmp_path / "mine.py").reproduced


@pytest.mark.sampled(3)
@pytest.mark.parametrize("given", ["M", "[M]", "endless()", "{1: endless()}"])
def test_a_map_gives_no_class_and_nothing_endless(tmp_path: Path, given: str) -> None:
    (tmp_path / "other.py").write_text(CUT, encoding="utf-8")
    mapped = (
        "\ndef endless() -> object:\n    x: list[object] = []\n    x.append(x)\n    return x\n"
        f"def seen() -> dict[str, object]:\n    return {{'M.v': {given}}}\n"
        "p = refines('other.py', by=seen)\n"
    )
    (tmp_path / "mine.py").write_text(CUT + mapped, encoding="utf-8")

    with pytest.raises(SpecError, match="no field can hold") as raised:
        check(tmp_path / "mine.py", engine="reference")
    assert "SW363" == raised.value.code


NONE = "\n@constraint\ndef none() -> bool:\n    return m.v > 5\n"


@pytest.mark.parametrize(("mine", "other"), [
    (NONE, ""), ("", NONE), (NONE, NONE),
])  # fmt: skip
def test_a_constraint_may_refuse_every_initial_state(tmp_path: Path, mine: str, other: str) -> None:
    by = "\ndef seen() -> dict[str, object]:\n    return {'M.v': m.v}\n"
    more = f"{mine}{by}p = refines('other.py')\nq = refines('other.py', by=seen)\n"
    (tmp_path / "mine.py").write_text(CUT + more, encoding="utf-8")
    (tmp_path / "other.py").write_text(CUT + other, encoding="utf-8")
    run = check(tmp_path / "mine.py", engine="reference")

    assert ["unknown"] * 2 == [p.verdict for p in run.properties]
    assert not (mine and run.exhaustive)


def test_a_map_gives_a_field_by_one_name(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(CUT, encoding="utf-8")
    by = "\ndef seen() -> dict[str, object]:\n    return {'M.v': [m.v], 'M#0.v': 0}\n"
    spec = f"{CUT}{by}p = refines('other.py', by=seen)\n"
    (tmp_path / "mine.py").write_text(spec, encoding="utf-8")

    with pytest.raises(SpecError, match=r"both M#0\.v and M\.v"):
        check(tmp_path / "mine.py", engine="reference")
