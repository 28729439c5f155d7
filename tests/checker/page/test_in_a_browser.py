"""The page in a real browser: it can be used, it stays quiet, and nothing that a spec says runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk import Run, check, load
from statewalk.checker.compare.compare import compare
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.page.data import of_run, of_trace
from statewalk.checker.page.html import of_comparison, to_html
from statewalk.checker.traces.exports.layered import Spot, layered
from tests.checker.page.browser import FOUND, Browser
from tests.checker.page.test_page import HOSTILE, INIT_PID, hostile_spec
from tests.places import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(FOUND is None, reason="there is no chromium here"),
    pytest.mark.usefixtures("quiet"),
]


def opened(browser: Browser, folder: Path, data: dict[str, Any], fragment: str = "") -> None:
    file = folder / "page.html"
    file.write_text(to_html(data), encoding="utf-8")
    browser.open(f"{file.as_uri()}{fragment}")


@contextmanager
def sized(browser: Browser, width: int) -> Iterator[None]:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.ask("Emulation.setDeviceMetricsOverride", **size)
    yield
    browser.ask("Emulation.clearDeviceMetricsOverride")


def text(browser: Browser, selector: str) -> str:
    found: str = browser.value(f"document.querySelector({selector!r}).textContent")
    return found


def count(browser: Browser, selector: str) -> int:
    found: int = browser.value(f"document.querySelectorAll({selector!r}).length")
    return found


def test_a_report_opens_at_the_end_of_its_counterexample(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run))

    assert "Violated" == text(browser, "h1")
    assert "epoch_monotone" == text(browser, ".band h2")
    assert 6 == count(browser, ".path li")
    assert "5" == text(browser, "[aria-current=step] .number")
    assert "✗" in browser.value(
        "getComputedStyle(document.querySelector('.truths .wrong'), '::before').content"
    )


def test_keys_go_along_the_path_and_choose_views(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run))
    for key in "kkkj":
        browser.press(key)

    assert "step 3 of 5" in text(browser, ".stepper")
    browser.press("l")
    assert 6 == count(browser, ".lanes .row")
    assert 1 == count(browser, ".lanes .row.here")
    browser.press("t")
    assert 6 == count(browser, ".roles tbody tr")
    browser.press("d")
    assert 5 == count(browser, ".path .changes")
    browser.press("?")
    assert browser.value("document.querySelector('dialog').open")


SEEN = """(() => {
  const one = [...document.querySelectorAll('#panel .here')].at(-1);
  const [inner, outer] = [one, one.closest('.scroll')].map((e) => e.getBoundingClientRect());
  const named = [...document.querySelectorAll('#panel .gutter text, #panel .named')];
  const beside = named.find((e) => parseInt(e.textContent) === Number(one.dataset.step));
  const at = beside.getBoundingClientRect();
  return inner.left >= outer.left && inner.right <= outer.right && inner.top < outer.bottom
    && inner.bottom > outer.top && inner.top < innerHeight
    && at.left >= outer.left && at.right <= outer.right && at.top >= outer.top - 20;
})()"""


@pytest.mark.parametrize("width", [390, 800])
def test_what_the_step_shown_does_is_seen_in_drawings_and_tables(
    browser: Browser, run: Run, tmp_path: Path, width: int
) -> None:
    with sized(browser, width):
        opened(browser, tmp_path, of_run(run))
        browser.value("document.querySelector('.right').scrollIntoView()")
        for key in "ltkkjl":
            browser.press(key)

            assert browser.value(SEEN), key


def test_an_address_shows_the_same_again(browser: Browser, run: Run, tmp_path: Path) -> None:
    opened(browser, tmp_path, of_run(run), "#trace=epoch_monotone&step=2&view=lanes")

    assert "step 2 of 5" in text(browser, ".stepper")
    assert "Lanes" == text(browser, "[role=tab][aria-selected=true]")


def controls(browser: Browser) -> list[tuple[str, str]]:
    """Role and name of what can have the focus, as a screen reader is told."""
    found = []
    for node in browser.ask("Accessibility.getFullAXTree")["nodes"]:
        told = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
        role = node.get("role", {}).get("value", "")
        if told.get("focusable") and not node["ignored"] and role != "RootWebArea":
            found.append((role, node.get("name", {}).get("value", "").strip()))
    return found


def is_told(browser: Browser) -> bool:
    """Return whether in each view everything that can have the focus has a role and a name."""
    for view in "sltgc":
        browser.press(view)
        browser.until("!document.querySelector('.busy')")
        found = controls(browser)
        assert len(found) > 10
        assert [] == [one for one in found if not one[1] or one[0] == "generic"]
    return True


def focused(browser: Browser) -> str:
    found: str = browser.value(
        "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    )
    return found


def test_everything_that_can_be_used_has_a_role_and_a_name(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run))

    assert is_told(browser)


def test_what_is_used_with_keys_keeps_the_focus(browser: Browser, run: Run, tmp_path: Path) -> None:
    opened(browser, tmp_path, of_run(run))
    browser.value("document.querySelector('[role=tab][tabindex=\"0\"]').focus()")
    browser.press("ArrowRight")

    assert "Lanes" == focused(browser) == text(browser, "[role=tab][aria-selected=true]")
    assert "step 5 of 5" in text(browser, ".stepper")
    browser.value("document.querySelector('.stepper .back').focus()")
    browser.value("document.activeElement.click()")
    assert "previous step" == focused(browser)
    assert "step 4 of 5" == text(browser, "[role=status]")
    browser.press("g")
    browser.value("document.querySelector('.spot[tabindex=\"0\"]').focus()")
    before = focused(browser)
    browser.press("ArrowRight")
    assert before != focused(browser)
    assert 1 == count(browser, ".spot[tabindex='0']")
    assert "step 4 of 5" == text(browser, "[role=status]")


def test_a_hostile_state_is_shown_and_not_run(browser: Browser, tmp_path: Path) -> None:
    run = check(hostile_spec(tmp_path), engine="reference")
    opened(browser, tmp_path, of_run(run))

    assert 0 == count(browser, "img")
    assert "statewalk" in browser.value("document.title")
    shown = text(browser, ".panel")
    assert "</script><img src=x" in shown
    assert "\\u202e" in shown
    assert not set("\x00\x1b\u202e\u2028") & set(text(browser, "main"))
    assert HOSTILE not in shown


def test_two_thousand_steps_can_be_gone_through(browser: Browser, run: Run, tmp_path: Path) -> None:
    trace = run.traces["epoch_monotone"]
    contents = (*trace.contents[:1], *(trace.contents[1:] * 400))
    truths = {name: (*t[:1], *(t[1:] * 400)) for name, t in trace.truths.items()}
    long = replace(trace, steps=trace.steps * 400, contents=contents, truths=truths)
    opened(browser, tmp_path, of_trace(long))

    assert 2001 == count(browser, ".path li")
    browser.until("document.querySelectorAll('.path li > button').length === 2001")
    for key in ("Home", "j", "j", "End", "l"):
        browser.press(key)
    assert "step 2000 of 2000" in text(browser, ".stepper")
    assert 2001 == count(browser, ".lanes .row")
    browser.press("t")
    browser.press("Home")
    assert "0" == text(browser, ".roles .here button")


def test_a_graph_of_two_thousand_states_is_drawn_and_gone_through(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    spots = [Spot(at // 50, f"step {at}", HOSTILE, "here" * (at == 0)) for at in range(2000)]
    edges = [(at, min(1999, at + n)) for at in range(1999) for n in (1, 50, 51)]
    data = of_run(run)
    goes = [at if at < 3 else None for at in range(2000)]
    data["traces"][0]["around"][5] |= {"drawing": layered(spots, edges), "goes": goes}
    opened(browser, tmp_path, data, "#view=graph")

    assert 2000 == count(browser, ".spot.dot")
    assert 3 == count(browser, ".spot.open")
    assert not set("\x00\x1b\u202e\u2028") & set(text(browser, "#panel"))
    browser.value("document.querySelectorAll('.spot.open')[2].focus()")
    assert "step 2" in text(browser, ".spelt")
    browser.press("Enter")
    assert "step 2 of 5" in text(browser, ".stepper")


def test_what_was_possible_beside_the_path_and_its_code_are_shown(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run))
    browser.press("g")
    assert 3 <= count(browser, ".spot")
    assert 1 == count(browser, ".spot.here")
    browser.press("c")
    assert "def receive_init_pid_request" in text(browser, ".code")
    assert "epoch_monotone" in text(browser, ".path .turned.wrong")


def test_fields_are_hidden_and_a_state_is_pinned_and_the_address_has_both(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    opened(browser, tmp_path, of_run(run), "#step=1")
    browser.press("p")
    browser.press("End")
    browser.press("f")
    browser.type("inbox -client#0")

    assert {"Client#1", "Broker#0"} == set(
        browser.value("[...document.querySelectorAll('.instance h4')].map((h) => h.textContent)")
    )
    assert "changes since state 1" in text(browser, "#panel .tag")
    address = browser.value("location.hash")
    opened(browser, tmp_path, of_run(run), address)
    assert 2 == count(browser, ".instance")
    assert "changes since state 1" in text(browser, "#panel .tag")


@pytest.mark.parametrize("width", [380, 800, 1600])
def test_nothing_is_wider_than_the_window(
    browser: Browser, run: Run, tmp_path: Path, width: int
) -> None:
    deep = json.dumps(of_run(run)).replace("models/kafka", "models" + "/somewhere" * 8)
    with sized(browser, width):
        opened(browser, tmp_path, json.loads(deep))
        for key in "ltgcs":
            browser.press(key)

            assert width >= browser.value("document.documentElement.scrollWidth")


def test_a_comparison_shows_both_paths_in_step(browser: Browser, tmp_path: Path) -> None:
    models = [(m, load(INIT_PID, {"BROKERS": 1, "MUTANT": m})) for m in ("none", "no_epoch_bump")]
    found = compare(models, CheckOptions(engine="reference", liveness=False))
    opened(browser, tmp_path, of_comparison(found, "again"))
    for key in ("Home", "j", "j"):
        browser.press(key)

    assert 2 == count(browser, ".path [aria-current=step]")
    browser.value("document.querySelector('.sides button:last-child').click()")
    assert "side=1" in browser.value("location.hash")
    browser.press("End")
    assert "since=side" in browser.value("location.hash")
    assert 0 < count(browser, "#panel .field.changed")
    assert text(browser, "#panel .was").startswith("no_epoch_bump: ")
    browser.value("document.querySelector('#panel .toggle input[type=checkbox]').click()")
    assert "since=step" in browser.value("location.hash")
    assert 2 == count(browser, ".path .differs-mark")
    assert 2 <= count(browser, ".matrix .broke")
    assert "(a.pid, a.epoch) != (b.pid, b.epoch) is false" in text(browser, ".way-head .clause")
    assert 600 > browser.value("document.querySelector('.known').getBoundingClientRect().bottom")
    assert is_told(browser)


@pytest.fixture
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "statewalk", "explore", "toys/die_hard"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield [process.stdout.readline() for _ in range(3)][2].strip()
        process.terminate()


def test_the_explorer_steps_forks_finds_and_shares(browser: Browser, address: str) -> None:
    browser.open(address)
    browser.until("document.querySelectorAll('.next li').length === 6")
    assert "token" not in browser.value("location.hash")

    browser.press("1")
    browser.until("document.querySelector('.stepper').textContent.includes('step 1 of 1')")
    browser.press("/")
    browser.type("jugs.big == 4")
    browser.press("Enter")
    browser.value("document.querySelector('.tools form').requestSubmit()")
    browser.until("document.querySelector('.status').textContent.startsWith('Found after')")
    browser.value("document.activeElement.blur()")
    browser.press("/")
    browser.type("jugs.big == 3")  # another, instead of the one before
    assert "jugs.big == 3" == browser.value("document.activeElement.value")
    shared = browser.value("location.hash")
    found = count(browser, ".path li")

    browser.value("document.activeElement.blur()")
    browser.press("g")
    browser.until("document.querySelectorAll('.spot').length > 1")
    near = count(browser, ".spot")
    browser.value("document.querySelector('.spot[tabindex=\"0\"]').focus()")
    browser.value("document.querySelector('.unfold').dispatchEvent(new MouseEvent('click'))")
    browser.until(f"document.querySelectorAll('.spot').length > {near}")
    assert "unfold=" in browser.value("location.hash")
    assert "spot" in browser.value("document.activeElement.getAttribute('class')")
    assert is_told(browser)
    browser.value("document.activeElement.blur()")
    browser.press("s")
    browser.press("Home")
    browser.until("document.querySelectorAll('.next .chosen').length === 1")
    browser.until("!document.querySelector('.busy')")
    browser.press("2")
    browser.until("document.querySelectorAll('.path li').length === 2")
    browser.value(f"location.hash = {shared!r}")
    browser.until(f"document.querySelectorAll('.path li').length === {found}")


def test_python_in_an_address_waits_for_a_person(browser: Browser, address: str) -> None:
    browser.open(f"{address}&watch=jugs.big%2B90&by=jugs.big%2B70&view=graph")
    browser.until("document.querySelector('.brought') !== null")
    browser.until("document.querySelectorAll('.spot').length > 1")

    assert ["jugs.big+90", "jugs.big+70"] == browser.value(
        "[...document.querySelectorAll('.brought li')].map(one => one.textContent)"
    )
    assert "70" not in text(browser, "#panel")
    browser.press("s")
    assert 0 == count(browser, ".watched")
    browser.value("document.querySelector('.brought button').click()")
    browser.until("document.querySelector('.watched dd')?.textContent === '90'")
    assert 0 == count(browser, ".brought")
    browser.press("g")
    browser.until("document.querySelector('#panel').textContent.includes('70')")
    browser.ask("Page.reload")
    browser.until("document.querySelector('#panel')?.textContent.includes('70')")
    assert 0 == count(browser, ".brought")


def test_the_name_of_a_property_in_an_address_is_watched(browser: Browser, address: str) -> None:
    browser.open(f"{address}&watch=goal_not_reached")
    browser.until("document.querySelector('.watched dd') !== null")

    assert 0 == count(browser, ".brought")


def test_without_the_token_there_is_nothing_to_explore(browser: Browser, address: str) -> None:
    browser.open(address.partition("#")[0])

    browser.until("document.body.textContent.includes('There is nothing to explore')")
    browser.said.clear()  # the browser itself tells of the 401
