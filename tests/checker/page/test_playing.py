"""Pages in a real browser: playback, folding, what is copied and saved, and how soon they show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from statewalk import Run, check
from statewalk.checker.page.data import of_run, of_trace
from tests.checker.page.browser import FOUND, Browser
from tests.checker.page.test_in_a_browser import count, opened, sized, text

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(FOUND is None, reason="there is no chromium here"),
    pytest.mark.usefixtures("quiet"),
]

MANY = """
from statewalk import *


class Cell(Role):
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0

    @action
    def write(self) -> None:
        require(self.a == 0)
        self.a = self.b = self.c = self.d = 1


cells = [Cell() for _ in range(500)]
deadlock(False)


@always
def nothing_is_written() -> bool:
    return cells[0].a == 0
"""


def test_space_plays_the_steps_and_messages_move(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run), "#view=lanes")
    browser.press(" ")

    assert "stop playing" == browser.value(
        "document.querySelector('.play').getAttribute('aria-label')"
    )
    browser.until("document.querySelectorAll('.token').length === 1")
    browser.until("document.querySelector('.stepper').textContent.includes('step 2 of 5')")
    assert "2" == text(browser, "[aria-current=step] .number")
    browser.press(" ")
    at = text(browser, ".stepper [role=status]")
    browser.value("new Promise((done) => setTimeout(done, 1800))")
    assert at == text(browser, ".stepper [role=status]")


def test_who_wants_less_motion_sees_no_message_move(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    less = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.ask("Emulation.setEmulatedMedia", features=less)
    opened(browser, tmp_path, of_run(run), "#view=lanes")
    browser.press(" ")
    browser.until("document.querySelector('.stepper').textContent.includes('step 1 of 5')")

    assert 0 == count(browser, ".token")
    browser.press("Home")
    assert "play the steps" == browser.value(
        "document.querySelector('.play').getAttribute('aria-label')"
    )
    browser.ask("Emulation.setEmulatedMedia", features=[])


def test_the_false_value_is_on_the_first_screen(browser: Browser, run: Run, tmp_path: Path) -> None:
    for width in (1400, 800, 390):
        with sized(browser, width):
            opened(browser, tmp_path, of_run(run))

            low = "document.querySelector('.band .known').getBoundingClientRect().bottom"
            assert 250 > browser.value(low)
            top = "document.querySelector('.path').getBoundingClientRect().top"
            assert 400 > browser.value(top)


def test_a_small_screen_has_the_step_that_fails(browser: Browser, run: Run, tmp_path: Path) -> None:
    inside = """((one) => {
      const [inner, outer] = [document.querySelector(one), document.querySelector('.pathbox')]
        .map((e) => e.getBoundingClientRect());
      return inner.top >= outer.top && inner.bottom <= Math.min(outer.bottom, innerHeight);
    })"""
    with sized(browser, 390):
        opened(browser, tmp_path, of_run(run))

        assert browser.value(f"{inside}('.path li.last .line')")


def test_the_head_leads_to_the_code_of_the_property(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run), "#step=1")
    browser.value("document.querySelector('.judge').click()")

    assert "step 5 of 5" in text(browser, ".stepper")
    assert "def epoch_monotone" in text(browser, ".judged")
    assert "epochs = [0, 0]" in text(browser, ".judged")


def test_arrows_step_after_a_click_on_a_tab(browser: Browser, run: Run, tmp_path: Path) -> None:
    opened(browser, tmp_path, of_run(run), "#step=1")
    place = browser.value(
        "(({x, y}) => ({x: x + 5, y: y + 5}))"
        "(document.querySelector('#tab-lanes').getBoundingClientRect())"
    )
    mouse = "Input.dispatchMouseEvent"
    browser.ask(mouse, type="mouseMoved", **place)
    for kind in ("mousePressed", "mouseReleased"):
        browser.ask(mouse, type=kind, button="left", clickCount=1, **place)
    browser.press("ArrowRight")

    assert "Lanes" == text(browser, "[role=tab][aria-selected=true]")
    assert "step 2 of 5" in text(browser, ".stepper")


def test_steps_tell_of_the_property_alone(browser: Browser, run: Run, tmp_path: Path) -> None:
    opened(browser, tmp_path, of_run(run))

    assert "epoch_monotone is false from here" in text(browser, ".path")
    assert 1 == count(browser, ".path .turned")
    assert "In this state (✓ true · ✗ violated" in text(browser, ".truths")


def test_effects_reads_and_constants_that_decide_are_told(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    data = of_run(run)
    others = [["'last'", "the newest", "holds", ""], ["'any'", "", "", "not tried"]]
    decided = {"name": "TIE", "value": "'first'", "doc": "which wins", "others": others}
    data["traces"][0]["decided"] = [decided]
    opened(browser, tmp_path, data)

    told = "document.querySelector('.decided summary').textContent"
    assert browser.value(told) == (
        "TIE='first' makes it possible (which wins); with TIE='last' these steps no longer violate "
        "it (only these steps were replayed)"
    )
    rows = "[...document.querySelectorAll('.decided td')].map((one) => one.textContent)"
    assert browser.value(rows)[-1] == "not known: not tried"
    effects = "[...document.querySelectorAll('.path .effects')].map((one) => one.textContent)"
    assert browser.value(effects)[0].startswith("~state 'Ready' → 'SentInitPidRequest'")
    assert "Broker#0.pending = {}" in browser.value("document.querySelector('.readby').textContent")
    assert 0 < browser.value("document.querySelectorAll('.field.used').length")


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_the_lane_of_what_is_false_is_in_sight(
    browser: Browser, run: Run, tmp_path: Path, width: int
) -> None:
    with sized(browser, width):
        opened(browser, tmp_path, of_run(run), "#view=lanes")
        inside = """(() => {
          const found = ['#panel .why', '.lanes'].map((one) => document.querySelector(one));
          const [box, outer] = found.map((one) => one.getBoundingClientRect());
          return box.left >= outer.left && box.right <= outer.right + 1;
        })()"""

        assert browser.value(inside)


def test_the_state_of_each_role_stands_below_its_name(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    states = "[...document.querySelectorAll('.lanestate')].map((one) => one.textContent)"
    opened(browser, tmp_path, of_run(run), "#view=lanes")

    assert ["SentInitPidRequest", "", "SentInitPidRequest"] == browser.value(states)[:3]
    browser.press("Home")
    assert ["Ready", "", "Ready"] == browser.value(states)[:3]


def test_a_lane_is_folded_and_keeps_the_focus(browser: Browser, run: Run, tmp_path: Path) -> None:
    opened(browser, tmp_path, of_run(run), "#view=lanes")
    wide = browser.value("document.querySelector('.lanes .body').clientWidth")
    browser.value("document.querySelector('.lanename').focus()")
    browser.value("document.activeElement.click()")

    assert "Client#1: unfold its lane" == browser.value(
        "document.activeElement.getAttribute('aria-label')"
    )
    assert "false" == browser.value("document.activeElement.getAttribute('aria-expanded')")
    browser.value("document.activeElement.click()")
    assert wide == browser.value("document.querySelector('.lanes .body').clientWidth")


def test_the_link_the_diagram_and_pictures_are_for_others(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run), "#view=lanes&step=3")
    browser.value(
        "window.copied = []; window.saved = [];"
        "navigator.clipboard.writeText = async (text) => { copied.push(text); };"
        "HTMLAnchorElement.prototype.click = function () {"
        " saved.push([this.download, this.href]); }"
    )
    for at in range(4):
        browser.value(f"document.querySelectorAll('.share button')[{at}].click()")
    browser.until("saved.length === 2")

    link, diagram = browser.value("copied")
    assert link == browser.value("location.href")
    assert "step=3" in link
    assert diagram.startswith("sequenceDiagram\n")
    assert "✗ epoch_monotone: a < b" in diagram.replace("#60;", "<")
    (svg_name, svg), (png_name, png) = browser.value("saved")
    assert ("epoch_monotone.svg", "epoch_monotone.png") == (svg_name, png_name)
    assert "a%20%3D%200" in svg
    assert "TxnLog%230" in svg
    assert png.startswith("data:image/png;base64,")
    assert 10_000 < len(png)


def test_where_nothing_may_be_copied_the_text_is_shown(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run))
    browser.value("navigator.clipboard.writeText = async () => { throw new Error('no'); }")
    browser.value("document.querySelectorAll('.share button')[1].click()")
    browser.until("document.querySelector('dialog[open] textarea') !== null")

    assert text(browser, "dialog[open] textarea").startswith("sequenceDiagram")


def test_a_state_of_two_thousand_fields_is_shown(browser: Browser, tmp_path: Path) -> None:
    spec = tmp_path / "many.py"
    spec.write_text(MANY, encoding="utf-8")
    opened(browser, tmp_path, of_run(check(spec, engine="reference")))

    assert 2000 <= count(browser, ".panel .field")
    assert "a" == text(browser, ".field.read .name")
    browser.press("f")
    browser.type("Cell#499.")
    assert 4 == count(browser, ".panel .field")
    browser.value("document.activeElement.blur()")
    browser.press("Home")
    assert "step 0 of 1" in text(browser, ".stepper")


def test_five_hundred_steps_are_painted_soon(browser: Browser, run: Run, tmp_path: Path) -> None:
    trace = run.traces["epoch_monotone"]
    contents = (*trace.contents[:1], *(trace.contents[1:] * 100))
    truths = {name: (*t[:1], *(t[1:] * 100)) for name, t in trace.truths.items()}
    long = replace(trace, steps=trace.steps * 100, contents=contents, truths=truths, model=None)
    browser.ask("Performance.enable", timeDomain="threadTicks")  # however busy the machine is
    for view in ("state", "lanes"):
        opened(browser, tmp_path, of_trace(long), f"#view={view}")
        browser.until("performance.getEntriesByName('first-contentful-paint').length")
        metrics = browser.ask("Performance.getMetrics")["metrics"]
        took = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
        assert 1 > took, view
    browser.ask("Performance.disable")


def test_the_picture_of_a_state_follows_the_steps(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run), "#view=state&step=5")
    label = "document.querySelector('.drawing svg').getAttribute('aria-label')"

    assert browser.value(label).startswith("TxnLog#0  tid 0: [pid 1 epoch 0]*  tid 0: [")
    browser.press("k")
    assert browser.value(label).startswith("TxnLog#0  tid 0: [pid 1 epoch 0]*\n")
    assert 2 == count(browser, ".drawing .part.s0") + count(browser, ".drawing .part.strong")


def test_a_graph_is_made_larger_and_fits(browser: Browser, run: Run, tmp_path: Path) -> None:
    opened(browser, tmp_path, of_run(run), "#view=graph&step=5")
    wide = "Number(document.querySelector('.graphbox svg').getAttribute('width'))"
    before = browser.value(wide)

    browser.value("document.querySelector('[aria-label=larger]').click()")
    assert pytest.approx(1.4 * before) == browser.value(wide)
    browser.value("document.querySelector('[aria-label=fit]').click()")
    assert browser.value(wide) <= browser.value("document.querySelector('.graphbox').clientWidth")
