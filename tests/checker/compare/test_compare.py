"""Two models beside each other: what is said of verdicts, counterexamples, behaviors, states."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.compare.as_json import to_dict
from statewalk.checker.compare.compare import Comparison, changed, compare
from statewalk.checker.compare.telling import markdown_of, page_of
from statewalk.checker.contract.options import CheckOptions
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from statewalk.dsl.words.constants import GivenText

HEAD = "from typing import Literal\nfrom statewalk import *\n"
BOX = HEAD + (
    "ORDER: Constant[Literal['any', 'first']] = 'any'\n"
    "class Box(Role):\n    items: {kind} = {empty}\n"
    "    @action\n    def put(self, x: int = any_of([1, 2])) -> None:\n"
    "        require(x not in self.items and len(self.items) < 2)\n        self.items{put}\n"
    "    @action\n    def take(self) -> None:\n        require(self.items)\n        {take}\n"
    "box = Box()\n"
)
BAG = BOX.format(
    kind="set[int]", empty="set()", put=".add(x)", take="self.items.remove(any_of(self.items))"
)
QUEUE = BOX.format(kind="list[int]", empty="[]", put=".append(x)", take="self.items.pop(0)")
LOCK = HEAD + (
    "RULE: Constant[Literal['none', 'locked']] = 'none'\n"
    "class P(Role):\n    inside: bool = False\n"
    "    @action\n    def enter(self) -> None:\n        require(not self.inside)\n"
    "        if RULE == 'locked':\n            require(not any(p.inside for p in ps))\n"
    "        self.inside = True\n"
    "    @action\n    def leave(self) -> None:\n        require(self.inside)\n"
    "        self.inside = False\n"
    "ps = [P() for _ in range(2)]\n"
    "@always\ndef alone() -> bool:\n    return sum(p.inside for p in ps) < 2\n"
    "@exists\ndef both() -> bool:\n    return all(p.inside for p in ps)\n"
)


def written(folder: Path, **specs: str) -> list[str]:
    for name, text in specs.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [str(folder / f"{name}.py") for name in specs]


def varied(spec: str, **constant: tuple[str, ...]) -> Comparison:
    [(name, values)] = constant.items()
    models = [(f"{name}={v}", load(spec, {name: GivenText(v)})) for v in values]
    return compare(models, CheckOptions())


def test_a_fix_is_told_by_the_guard_that_stops_the_counterexample(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK)
    found = varied(spec, RULE=("none", "locked"))
    [versus] = found.others
    [crossing] = versus.crossed

    assert "fixed" == changed(found.base.run, versus.other.run, "alone")
    assert "impossible" == changed(found.base.run, versus.other.run, "both")
    assert 2 == crossing.step
    assert crossing.guard is not None
    assert "require(not any(p.inside for p in ps))" == crossing.guard.text
    assert versus.forth.refusal is None
    assert versus.back.refusal is not None
    assert 2 == versus.back.refusal.trace.length
    assert (0, 1) == (versus.gained.sights, versus.lost.sights)
    assert found.whole


POST = HEAD + (
    "STAMP: Constant[int] = 0\n"
    "class Letter(Message):\n    stamp: int\n"
    "class Box(Role):\n    kept: set[Letter] = set()\n    seen: int = -1\n"
    "    @action\n    def send(self) -> None:\n"
    "        require(not self.kept and self.seen < 0)\n        self.kept.add(Letter(STAMP))\n"
    "    @action\n    def read(self) -> None:\n"
    "        letter = any_of(self.kept)\n        self.kept.discard(letter)\n"
    "        self.seen = letter.stamp\n"
    "box = Box()\n"
    "@always\ndef stamped() -> bool:\n    return box.seen != 0\n"
)


def test_a_step_with_one_way_to_take_it_is_taken_so_and_said(tmp_path: Path) -> None:
    [spec] = written(tmp_path, post=f"{POST}deadlock(False)\n")
    found = varied(spec, STAMP=("0", "1"))
    [crossing] = found.others[0].crossed
    text = markdown_of(found, "")

    assert crossing.step is None
    assert () == crossing.broken
    assert ((2, "letter=Letter(stamp=1)"),) == crossing.otherwise
    assert ["Box#0.seen"] == [change.place for change in crossing.ends]
    assert "takes step 2 with other choices: letter=Letter(stamp=1)." in text
    assert "no property is violated.\n\nThe last state differs: Box#0.seen is 1, not 0.\n" in text


def test_a_defect_that_is_possible_on_the_other_side_too(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK.replace("< 2\n", "< 2 or RULE == 'locked'\n").replace(
        "require(not any(p.inside for p in ps))", "pass"))  # fmt: skip
    [versus] = varied(spec, RULE=("none", "locked")).others

    assert versus.crossed[0].step is None
    assert () == versus.crossed[0].broken


def test_a_queue_refines_a_bag_and_not_the_other_way(tmp_path: Path) -> None:
    seen = "from queue_ import box\ndef as_bag():\n    return {'Box.items': set(box.items)}\n"
    bag, queue, _ = written(tmp_path, bag=BAG, queue_=QUEUE, seen=seen)
    code = main(
        ["compare", bag, queue, "--map", f"{tmp_path}/seen.py:as_bag",
         "--json", str(tmp_path / "out.json")]
    )  # fmt: skip
    told = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["versus"][0]

    assert 0 == code
    assert "holds" == told["refines_base"]["verdict"]
    assert "violated" == told["refined_by_base"]["verdict"]
    refused = told["refined_by_base"]
    assert ["Box#0 · put(x=1)", "Box#0 · put(x=2)"] == refused["trace"]["labels"][:2]
    assert "Box#0 · take · 2" == refused["trace"]["labels"][2]
    assert refused["trace"]["labels"][:2] == refused["beside"]["labels"], "the same in the queue"
    assert [["Box#0 · take"]] == [t["labels"] for t in refused["possible_instead"]][:1]


def test_as_json_both_ways_stand_beside_each_other(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK)
    told = to_dict(varied(spec, RULE=("none", "locked")), "statewalk compare")
    [crossing] = told["versus"][0]["counterexamples_of_base"]
    [alone] = told["versus"][0]["states_of_base_alone"]["nearest"]

    assert "statewalk compare" == told["command"]
    assert {"alone", "both"} == set(told["sides"][0]["traces"])
    assert ["P#0 · enter", "P#1 · enter"] == crossing["trace"]["labels"]
    assert ["P#0 · enter"] == crossing["beside"]["labels"]
    assert (2, "require(not any(p.inside for p in ps))") == (
        crossing["stopped_at"], crossing["guard"]["text"],
    )  # fmt: skip
    assert ["P#0 · enter", "P#1 · enter"] == alone["labels"]
    assert [["~ P#0.inside  False → True"], ["~ P#1.inside  False → True"]] == alone["changes"]


def test_without_a_map_different_kinds_are_different_states(tmp_path: Path) -> None:
    bag, queue = written(tmp_path, bag=BAG, queue_=QUEUE)
    models = [("bag", load(bag)), ("queue", load(queue))]
    [versus] = compare(models, CheckOptions()).others

    assert versus.forth.refusal is not None
    assert 0 == versus.forth.refusal.trace.length


def test_what_a_bound_cut_is_said(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK)
    models = [(v, load(spec, {"RULE": v})) for v in ("none", "locked")]
    found = compare(models, CheckOptions(max_depth=2))
    [versus] = found.others

    assert not found.whole
    assert versus.forth.refusal is None
    assert not versus.forth.whole
    assert "As far as was searched" in page_of(found, "again").plain()


def test_what_bounds_an_answer_is_said_with_the_option(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK)
    models = [(v, load(spec, {"RULE": v})) for v in ("none", "locked")]
    [versus] = compare(models, CheckOptions(max_states=2)).others

    assert ("none: --max-states 2", "locked: --max-states 2") == versus.bounds


def test_a_constraint_bounds_an_answer(tmp_path: Path) -> None:
    few = "@constraint\ndef few() -> bool:\n    return sum(p.inside for p in ps) < 2\n"
    [spec] = written(tmp_path, lock=LOCK + few)
    models = [(v, load(spec, {"RULE": v})) for v in ("none", "locked")]
    [versus] = compare(models, CheckOptions()).others

    assert ("none: constraint few",) == versus.bounds


def test_an_interruption_half_way_leaves_what_is_known(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK)
    models = [(v, load(spec, {"RULE": v})) for v in ("none", "locked")]
    asked: list[bool] = []

    def interrupted() -> bool:
        asked.append(len(asked) > 2)
        return asked[-1]

    found = compare(models, CheckOptions(engine="reference"), interrupted=interrupted)

    assert not found.whole
    assert "an interruption" in found.others[0].bounds[-1]
    assert "Incomplete: " in page_of(found, "again").plain()


def test_a_map_that_does_not_end_is_ended(tmp_path: Path) -> None:
    seen = "import time\nfrom queue_ import box\ndef as_bag():\n    while True: time.sleep(9)\n"
    bag, queue, _ = written(tmp_path, bag=BAG, queue_=QUEUE, seen=seen)
    code = main(
        ["compare", bag, queue, "--map", f"{tmp_path}/seen.py:as_bag", "--timeout", "3",
         "--json", str(tmp_path / "out.json")]
    )  # fmt: skip
    told = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))

    assert 3 == code
    assert "comparing was ended by time" in told["versus"][0]["bounds"][0]
    assert 2 == len(told["sides"]), "the verdicts are there"


def test_what_counts_can_be_chosen(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK)
    models = [(v, load(spec, {"RULE": v})) for v in ("none", "locked")]

    assert 2 == len(compare(models, CheckOptions(), chosen=("P",)).others[0].fields)
    with pytest.raises(RunError, match="no Q in common") as error:
        compare(models, CheckOptions(), chosen=("Q",))
    assert "SW360" == error.value.code


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to compare with"),
        (["--vary", "RULE=none"], "does not name a constant and two values"),
        (["--vary", "RULE=none,none"], "does not name a constant and two values that differ"),
        (["--vary", "RULE=none,locked", "--set", "RULE=none"], "--vary gives its values"),
        (["{spec}", "--map", "nope"], "does not name a file and a function"),
        (["--vary", "RULE=none,nope"], "RULE cannot be nope"),
        (["--vary", "NOPE=1,2"], "There is no constant NOPE"),
        (["--vary", "RULE=none,locked", "--map", "x.py:f"], "--map does nothing here"),
        (["missing.py"], "missing.py"),
        (["{spec}", "--vary", "RULE=none,locked"], "Both OTHER and --vary"),
        (["{spec}", "--map", "{spec}:nope"], "has no function nope"),
        (["{folder}/bag.py", "--map", "{spec}:seen"], "lock.py does not import"),
    ],
)
def test_mistakes(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, _ = written(tmp_path, lock=LOCK, bag=BAG)
    code = main(["compare", spec, *(word.format(spec=spec, folder=tmp_path) for word in words)])

    assert 2 == code
    assert said in capsys.readouterr().err


def test_the_report_as_markdown(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=LOCK)
    found = varied(spec, RULE=("none", "locked"))
    text = markdown_of(found, "statewalk compare lock.py")

    assert "| `alone` | violated at 2 | holds · fixed |" in text
    assert "With RULE=locked step 2 is disabled: `require(not any(p.inside for p in ps))`" in text
    assert "`statewalk compare lock.py`" in text


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "said", ["<details>", "![x](//e.x)", "[x](//e.x)", "`<b>``", "\\\\`<b>`", "@somebody", "~~x~~"]
)
def test_what_a_value_says_is_no_markdown(said: str, tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock=f"""
from statewalk import *
V: Constant[str] = "a"
class Box(State):
    text: str = ""
    @action
    def put(self) -> None:
        self.text = {said!r} if V == "b" else "ok"
box = Box()
""")  # fmt: skip
    text = markdown_of(varied(spec, V=("a", "b")), "again")
    fence = re.compile(r"^```$.*?^```$", re.MULTILINE | re.DOTALL)
    prose = re.sub(r"(?<!\\)(\\\\)*`[^`]+`", "", fence.sub("", text))

    assert said.strip("`\\")[:3] in text
    assert not re.search(r"(?<!\\)[\[~]|<|@\w", prose)


def test_what_a_property_is_called_is_no_markdown(tmp_path: Path) -> None:
    [spec] = written(tmp_path, lock="""
from statewalk import *
V: Constant[str] = "a"
class Box(State):
    n: int = 0
    @action
    def put(self) -> None:
        self.n = 1 if V == "b" else 2
box = Box()
@always
@named("a `code` <img src=x>\\n```\\n# head")
def p() -> bool:
    return box.n != 1
""")  # fmt: skip
    text = markdown_of(varied(spec, V=("a", "b")), "again")

    assert "<img" not in text
    assert not re.search(r"^(# head|```#)", text, re.MULTILINE)


SIZED = LOCK.replace(
    "ps = [P() for _ in range(2)]",
    """
SIZE: Constant[int] = 2
LIMIT: Constant[int] = 7

class Limit(State):
    left: int = LIMIT

    @action
    def less(self) -> None:
        require(self.left > 9)
        self.left -= 1

limit = Limit()
ps = [P() for _ in range(SIZE)]
config("three", SIZE=3, RULE="locked")
""",
)


def test_a_configuration_gives_the_constants_of_all_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [spec] = written(tmp_path, lock=SIZED)

    assert 0 == main(["compare", spec, "--vary", "RULE=none,locked", "--config", "three"])
    shown = capsys.readouterr().out
    assert re.search(r"distinct +8 +4\n", shown)
    assert "--vary RULE=none,locked --config three" in " ".join(shown.split())

    assert 2 == main(["compare", spec, "--vary", "RULE=none,locked", "--config", "four"])
    assert "There is no configuration four" in capsys.readouterr().err


def test_what_is_the_same_everywhere_is_not_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [spec] = written(tmp_path, lock=SIZED)
    main(["compare", spec, "--vary", "RULE=none,locked", "--markdown", str(tmp_path / "c.md")])

    for shown in (capsys.readouterr().out, (tmp_path / "c.md").read_text("utf-8")):
        assert "RULE='none'" in shown
        assert "LIMIT" not in shown
        assert "Fields compared: P.inside." in shown


def test_nothing_but_what_stays_is_looked_at_all_the_same(tmp_path: Path) -> None:
    still = LOCK.replace("require(not self.inside)", "require(self.inside)")
    [spec] = written(tmp_path, still=still)
    [versus] = varied(spec, RULE=("none", "locked")).others

    assert 2 == len(versus.fields)
    assert versus.forth.whole


WAYS = HEAD + (
    "RULE: Constant[Literal['old', 'new']] = 'old'\n"
    "deadlock(False)\n"
    "class M(Role):\n    v: int = 0\n    hidden: Auxiliary[int] = 0\n"
    "    @action\n    def pick(self) -> None:\n        require(self.v == 0)\n"
    "        self.v = 1\n        if RULE == 'new':\n"
    "            self.hidden = any_of(range({ways}))\n"
    "    @action\n    def go(self) -> None:\n"
    "        require(self.v == 1 and (RULE == 'old' or self.hidden == {ways} - 1))\n"
    "        self.v = 3\n"
    "m = M()\n"
    "@always\ndef ok() -> bool:\n    return m.v != 3\n"
)


@pytest.mark.parametrize(("ways", "possible"), [(64, True), (65, None)])
def test_a_step_is_not_refused_on_some_of_the_ways(
    tmp_path: Path, ways: int, possible: bool | None
) -> None:
    [spec] = written(tmp_path, ways=WAYS.format(ways=ways))
    found = varied(spec, RULE=("old", "new"))
    [crossing] = found.others[0].crossed

    assert possible is to_dict(found)["versus"][0]["counterexamples_of_base"][0]["possible"]
    if possible is None:
        assert 64 == crossing.most
        assert "Step 2 may be disabled with RULE=new. Only 64 paths" in markdown_of(found, "")


def test_each_way_of_the_last_step_is_judged(tmp_path: Path) -> None:
    """The nearest way breaks nothing; another does."""
    text = HEAD + (
        "RULE: Constant[Literal['old', 'new']] = 'old'\n"
        "deadlock(False)\n"
        "class M(Role):\n    v: int = 0\n    w: int = 0\n"
        "    @action\n    def go(self) -> None:\n        require(self.v == 0)\n"
        "        self.v = 3 if RULE == 'old' else any_of([4, 7])\n"
        "        self.w = 1 if self.v != 7 else 2\n"
        "m = M()\n"
        "@always\ndef ok() -> bool:\n    return m.v not in (3, 7)\n"
    )
    [spec] = written(tmp_path, spec=text)
    [crossing] = varied(spec, RULE=("old", "new")).others[0].crossed

    assert ("ok",) == crossing.broken
    assert ["M#0.v", "M#0.w"] == [change.place for change in crossing.ends]


@pytest.mark.parametrize("small", ["(m.limit, m.n) != (9, 9)", "m.limit != 9 and m.n != 9"])
def test_a_parameter_is_none_of_the_fields_compared(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However a property reads it."""
    spec = tmp_path / "spec.py"
    spec.write_text(
        "from statewalk import Constant, State, action, always\nLIMIT: Constant[int] = 1\n"
        "class M(State):\n    limit: int = LIMIT\n    n: int = 0\n"
        "    @action\n    def go(self) -> None:\n        self.n = 1 - self.n\n"
        f"m = M()\n@always\ndef small() -> bool:\n    return {small}\n"
    )

    main(["compare", str(spec), "--vary", "LIMIT=1,2"])
    assert "Every behavior of LIMIT=2 is one of LIMIT=1" in capsys.readouterr().out
