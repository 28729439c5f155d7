"""Pictures of states are of values only; what they raise is a message."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from statewalk import check, draw, load
from statewalk.checker.cli import main
from statewalk.checker.page.data import of_run
from statewalk.checker.page.html import asset
from statewalk.checker.traces.exports import pictures
from statewalk.checker.traces.exports.drawn import MOST, drawn, pictures_of
from statewalk.checker.traces.exports.pictures import svg_of
from statewalk.checker.traces.exports.sketch import color_of, sketch_of
from statewalk.checker.traces.exports.sketch_text import lines_of
from statewalk.dsl.errors import SpecError
from tests.cases import slow
from tests.places import ROOT

SPEC = """
from statewalk import *


class Log(Role):
    entries: list[int] = []
    ids: set[int] = set()

    @action
    def put(self) -> None:
        require(len(self.entries) < 2)
        self.entries.append(len(self.entries))
        self.ids.add(len(self.entries))


log = Log()
deadlock(False)


@always
def small() -> bool:
    return len(log.entries) < 2
"""
PICTURE = """

@picture
def entries() -> draw.Part:
    return draw.row(log, *(draw.box(e, color=e, strong=e > 0) for e in log.entries), *log.ids)
"""


def spec_of(folder: Path, text: str) -> Path:
    file = folder / "spec.py"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (draw.box(1, "a", title="t", strong=True), "t: [1 a]*"),
        (draw.row("x", draw.token(None), draw.arrow("go")), "x (None) —go—→"),
        (draw.column(1, draw.row(2, 3), title="all"), "all:\n1\n2 3"),
        (draw.ring("a", "b"), "a → b → a"),
        (draw.grid([1, 22], [333], columns=["x", "y"]), "x    y\n1    22\n333"),
    ],
)  # fmt: skip
def test_parts_are_lines_of_text(part: draw.Part, text: str) -> None:
    assert text == "\n".join(lines_of(part))
    assert text == sketch_of(part)["text"]


def test_equal_values_have_equal_colors_and_names_are_themselves() -> None:
    assert color_of("red") == draw.COLORS.index("red")
    assert color_of(1) == color_of(1) != color_of(2)
    assert color_of(None) == color_of(False) == draw.COLORS.index("gray")


def test_values_of_a_picture_are_never_markup() -> None:
    hostile = '<script>x</script>"&\x1b\u202e'

    svg = svg_of(sketch_of(draw.box(hostile, draw.token(hostile), title=hostile)), alone=True)

    root = ET.fromstring(svg)
    assert {"svg", "style", "rect", "text", "g"} == {e.tag.partition("}")[2] for e in root.iter()}
    assert "\x1b" not in svg
    assert "<script" not in svg


@pytest.mark.parametrize(
    "part",
    [
        draw.row(draw.box("a" * 30), draw.arrow("b"), draw.column(1, draw.arrow(), 2)),
        draw.ring(*(draw.box(at, title=f"process {at}") for at in range(7))),
        draw.grid([draw.box(1, 2, 3), "x"], [draw.token("yy"), draw.row(1, 2)], columns=["a", "b"]),
        draw.ring(), draw.grid(), draw.row(), draw.box(), draw.ring(1),
    ],
)  # fmt: skip
def test_all_shapes_are_inside_the_picture(part: draw.Part) -> None:
    found = sketch_of(part)

    for tag, at, _ in found["shapes"]:
        if tag == "rect":
            assert 0 <= at["x"] <= at["x"] + at["width"] <= found["width"]
            assert 0 <= at["y"] <= at["y"] + at["height"] <= found["height"]
        elif tag == "text":
            assert 0 <= at["x"] <= found["width"]
            assert 0 <= at["y"] <= found["height"]


def test_a_picture_changes_nothing_about_the_search(tmp_path: Path) -> None:
    without = check(spec_of(tmp_path, SPEC), keep_going=True)
    drawing = check(spec_of(tmp_path, SPEC + PICTURE), keep_going=True)

    assert without.counts == drawing.counts
    assert [*map(str, without.traces["small"].steps)] == [*map(str, drawing.traces["small"].steps)]


def test_a_page_has_the_picture_of_each_state_and_equal_ones_once(tmp_path: Path) -> None:
    run = check(spec_of(tmp_path, SPEC + PICTURE))

    found = of_run(run)["traces"][0]["pictures"]

    assert [("entries", [0, 1, 2])] == [(one["name"], one["at"]) for one in found]
    assert "Log#0 [0] [1]* 1 2" == found[0]["drawings"][2]["text"]
    assert "<svg" in run.traces["small"].states[2]._repr_html_()
    assert 2 == run.traces["small"]._repr_html_().count("<svg")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return draw.row(1 // len(log.entries))", "ZeroDivisionError: "),
        ("return 3", "it returned 3, not a part"),
        (f"return draw.row(*range({MOST} + 1))", f"{MOST} are the most"),
    ],
)
def test_what_a_picture_raises_is_a_message(tmp_path: Path, body: str, said: str) -> None:
    picture = f"\n\n@picture\ndef bad() -> draw.Part:\n    {body}\n"
    model = load(spec_of(tmp_path, SPEC + picture))

    found = drawn(model, model.pictures[0], model.initial_states[0])

    assert {"error"} == {*found}
    assert found["error"].startswith("bad cannot be drawn: ")
    assert said in found["error"]
    assert str(tmp_path) not in found["error"]


def test_a_state_that_cannot_be_drawn_leaves_the_others(tmp_path: Path) -> None:
    picture = "\n\n@picture\ndef bad() -> draw.Part:\n    return draw.row(1 // len(log.entries))\n"
    run = check(spec_of(tmp_path, SPEC + picture))

    found: Any = of_run(run)["traces"][0]["pictures"][0]

    assert "spec.py:27" in found["drawings"][found["at"][0]]["error"]
    assert "1" == found["drawings"][found["at"][1]]["text"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("def p(x: int) -> draw.Part:\n    return draw.row(x)", "SW113"),
        ("def p() -> draw.Part:\n    log.ids.add(3)\n    return draw.row()", "SW103"),
        ("def p() -> draw.Part:\n    return draw.row(any_of([1]))", "SW103"),
    ],
)
def test_a_picture_takes_nothing_and_only_reads(tmp_path: Path, body: str, code: str) -> None:
    with pytest.raises(SpecError) as found:
        load(spec_of(tmp_path, f"{SPEC}\n\n@picture\n{body}\n"))

    assert code in str(found.value)


def test_export_writes_the_picture_of_a_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec_of(tmp_path, SPEC + PICTURE)
    assert 1 == main(["check", "spec.py", "--out", "run"])
    capfd.readouterr()
    words = ["export", "run/small.trace.json", "--format", "picture"]

    assert 0 == main(words)
    assert "Log#0 [0] [1]* 1 2\n" == capfd.readouterr().out
    assert 0 == main([*words, "--at", "0"])
    assert "Log#0\n" == capfd.readouterr().out
    assert 0 == main([*words, "--out", "a.svg"])
    assert "Log#0" in "".join(ET.fromstring((tmp_path / "a.svg").read_text()).itertext())
    assert 2 == main([*words, "--at", "9"])
    assert "states are 0 to 2" in capfd.readouterr().err


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "spec",
    ["models/kafka/init_pid.py", "models/kafka/replication.py", slow("models/tables/paimon.py"),
     "models/toys/token_ring.py", "benchmarks/natural/raft.py", "docs/diary/10/levels.py"],
)  # fmt: skip
def test_pictures_of_the_library_can_be_drawn(spec: str) -> None:
    model = load(ROOT / spec)
    states = [model.initial_states[0]]
    for action in model.actions:  # a few steps further
        outcome = next(model.outcomes(action, states[-1]), None)
        if outcome is not None:
            states.append(model.successor(states[-1], outcome))

    found = pictures_of(model, states)

    assert found
    assert all("error" not in one for picture in found for one in picture["drawings"])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", [*pictures._PAINT, *pictures._LETTERS])
def test_what_a_picture_paints_has_a_style_on_pages(kind: str) -> None:
    styles = "\n".join(asset(f"{name}.css") for name in ("lanes", "picture", "graph"))

    assert re.search(rf"\.{kind}\b", styles)
