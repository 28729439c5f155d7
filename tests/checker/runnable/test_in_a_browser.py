"""Pages that run, in a browser: an entry of the diary, and the playground with a link."""

from __future__ import annotations

import base64
import json
import shutil
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar

import pytest

from statewalk.checker.cli import main
from statewalk.checker.diary.play import solution_of
from tests.checker.page.browser import FOUND, Browser
from tests.places import ROOT

PYODIDE = ROOT / "build/pyodide"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(FOUND is None, reason="there is no browser"),
    pytest.mark.skipif(not PYODIDE.exists(), reason="make site brings Pyodide"),
]


class Quiet(SimpleHTTPRequestHandler):
    seen: ClassVar[list[str]] = []

    def log_message(self, format: str, *args: object) -> None:
        self.seen.append(self.path)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    assert 0 == main(["docs", "--runnable", str(PYODIDE), "--out", str(folder)])
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


Open = Callable[[str], Browser]


@pytest.fixture
def fresh(tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open a page of the site, each time in a profile that is new."""
    monkeypatch.setattr("tests.checker.page.browser.SECONDS", 300.0)
    with ExitStack() as open_ones:

        def opened(address: str) -> Browser:
            profile = Path(mkdtemp(dir=tmp_path))
            open_ones.callback(shutil.rmtree, profile, ignore_errors=True)
            browser = open_ones.enter_context(Browser(profile))
            browser.open(f"{site}/{address}")
            return browser

        yield opened


def press(browser: Browser, text: str, within: str = "document") -> None:
    """Press a button by its text, and wait until what it runs has ended."""
    found = f"[...{within}.querySelectorAll('button')].find((b) => b.textContent === {text!r})"
    browser.value(f"{found}.click(), 0")
    browser.until("!document.body.classList.contains('running')")


def shown(browser: Browser, within: str) -> str:
    text: str = browser.value(f"{within}.querySelector('.result').innerText")
    return text


def write(browser: Browser, element: str, text: str) -> None:
    """Put a text in the place of that of an editor, as typing does."""
    browser.value(
        f"(() => {{ const area = {element}; area.focus(); area.select(); "
        f"document.execCommand('insertText', false, {json.dumps(text)}); }})(), 0"
    )


def play(browser: Browser) -> None:
    """Play the trace of the report, until it shows another step."""
    stepper = "document.querySelector('.stepper')?.innerText"
    before = browser.in_frames(stepper)
    browser.in_frames("document.querySelector('button.play')?.click(), 0")
    until = time.monotonic() + 60
    while browser.in_frames(stepper) == before:
        assert time.monotonic() < until


def stays(browser: Browser) -> None:
    """All that a page and its frames asked for is on its host, or theirs."""
    frames = browser.in_frames(LOADED)
    asked = browser.value(LOADED) + [name for names in frames for name in names or ()]
    host = browser.value("location.origin")
    assert any("memory.bin" in name for name in asked)
    assert not [name for name in asked if not name.startswith((f"{host}/", "blob:", "data:"))]


LOADED = "performance.getEntriesByType('resource').map((one) => one.name)"
RUN = "document.querySelectorAll('.run')[{}]".format
AREA = "document.querySelectorAll('.editor textarea')[{}]".format


def test_an_entry_runs_breaks_plays_and_is_solved(fresh: Open, tmp_path: Path) -> None:
    page = fresh("diary/01-asking-for-an-id.html")
    page.value("document.querySelectorAll('.runbar input')[1].value = '600', 0")
    press(page, "Run", RUN(0))
    assert "5 distinct states" in shown(page, RUN(0))
    command = "statewalk check asking.py --set BROKERS=2 | grep searched"
    page.value(f"{RUN(0)}.querySelector('.command code').textContent = {command!r}, 0")
    press(page, "Run", RUN(0))
    assert "14 distinct states" in shown(page, RUN(0))

    text = page.value(f"{AREA(0)}.value")
    write(page, AREA(0), text.replace("if self.busy(request.tid):", "if False:"))
    command = "statewalk check asking.py --set CLIENTS=2"
    page.value(f"{RUN(0)}.querySelector('.command code').textContent = {command!r}, 0")
    press(page, "Run", RUN(0))
    assert "VIOLATED  epochs_rise  (always)  after 4 steps" in shown(page, RUN(0))
    assert "if False:" in page.value("document.querySelector('.changes').textContent")

    write(page, AREA(0), page.value(f"{AREA(0)}.value").replace("if False:", "if Flase:"))
    press(page, "Run", RUN(0))
    assert "SW205" in shown(page, RUN(0))
    # its line is that of the block, which shows parts of the file
    line = page.value(f"{AREA(0)}.value").split("\n").index("        if Flase:") + 1
    assert str(line) in page.value("document.querySelector('.wrong').textContent")
    write(page, AREA(0), page.value(f"{AREA(0)}.value").replace("Flase", "False"))
    press(page, "Run", RUN(0))

    texts = page.in_frames("document.body.innerText")
    assert any("epochs_rise" in text for text in texts)
    play(page)

    pinned = ROOT / "docs/diary/01"
    solved = solution_of(pinned / "asking.py", pinned / "solution.patch", tmp_path)
    own = "document.querySelector('.exercise')"
    press(page, "Judge it", own)
    assert "Not yet." in shown(page, own)
    write(page, f"{own}.querySelector('textarea')", solved.read_text(encoding="utf-8"))
    press(page, "Judge it", own)
    assert "Solved." in shown(page, own)
    assert [] == page.said
    stays(page)


SPEC = """from statewalk import Constant, State, action, always

STEPS: Constant[int] = 3


class Counter(State):
    n: int = 0

    @action
    def count(self) -> None:
        self.n = (self.n + 1) % STEPS


counter = Counter()


@always
def small() -> bool:
    return counter.n < 3
"""
REACHES_OUT = """import js


def request():
    sent = js.XMLHttpRequest.new()
    sent.open("GET", "ADDRESS/reached", False)
    sent.send()


for reach in (
    request,
    lambda: js.WebSocket.new("ADDRESS/reached".replace("http", "ws")),
    lambda: js.importScripts("ADDRESS/reached"),
    lambda: js.WorkerGlobalScope.prototype.fetch.call(js.self, "ADDRESS/reached"),
    lambda: js.indexedDB.open("reached"),
):
    try:
        reach()
    except Exception as error:
        print("refused", type(error).__name__)

"""


def test_a_link_carries_a_spec_that_runs_after_a_click(fresh: Open) -> None:
    page = fresh("playground.html")
    write(page, AREA(0), SPEC)
    press(page, "Link")
    page.until("location.hash.startsWith('#1')")
    page = fresh(page.value("location.href").split("/", 3)[3])
    page.until("document.querySelector('.notice').hidden === false")
    assert "Nothing of it has run" in page.value("document.querySelector('.notice').innerText")
    assert page.value("document.querySelectorAll('iframe').length") == 0
    press(page, "Run")
    assert "3 distinct states" in shown(page, "document")
    press(page, "Constants")
    field = "document.querySelector('.fields input')"
    page.value(f"{field}.value = '2', {field}.dispatchEvent(new Event('change')), 0")
    press(page, "Run")
    assert "2 distinct states" in shown(page, "document")
    page.value(f"{field}.value = '5', {field}.dispatchEvent(new Event('change')), 0")
    press(page, "Run")
    assert "VIOLATED  small  (always)  after 3 steps" in shown(page, "document")
    play(page)
    assert [] == page.said
    stays(page)


def link(data: object) -> str:
    squeeze = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = squeeze.compress(json.dumps(data).encode()) + squeeze.flush()
    return "playground.html#1" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_links_that_carry_no_spec_are_refused(fresh: Open) -> None:
    page = fresh(link({"text": "</textarea><img src=x>", "command": '"><img src=x>'}))
    page.until("document.querySelector('.notice').innerText.includes('came with the link')")
    assert page.value("document.querySelectorAll('article img').length") == 0
    for address, said in (
        (link({"text": "x" * 50_000_000, "command": ""}), "it is too large"),
        (link({"text": 1}), "there is none in it"),
        ("playground.html#1!", "it is damaged"),
        ("playground.html#2x", "of another version"),
    ):
        page.value(f"location.hash = {address.partition('#')[2]!r}, 0")
        page.until(f"document.querySelector('.notice').innerText.includes({said!r})")
    write(page, AREA(0), "x" * 200_000)
    press(page, "Link")
    page.until("document.querySelector('.notice').innerText.includes('Download it instead')")
    assert [] == page.said


def test_a_spec_reaches_nothing_outside_of_its_worker(fresh: Open, site: str) -> None:
    page = fresh("playground.html")
    write(page, AREA(0), REACHES_OUT.replace("ADDRESS", site) + SPEC.replace("= 3", "= 5"))
    press(page, "Run")
    text = shown(page, "document")
    assert "VIOLATED  small" in text
    assert text.count("refused") >= 3  # the others are refused later, by the page's policy
    assert not [path for path in Quiet.seen if "reached" in path]
    assert any("pyodide.asm.wasm" in path for path in Quiet.seen)


def test_a_run_is_stopped_and_limited_and_says_so(fresh: Open) -> None:
    page = fresh("playground.html")
    page.value("document.querySelector('select').value = 'kafka/init_pid', 0")
    page.value("document.querySelector('select').dispatchEvent(new Event('change')), 0")
    page.until("document.querySelector('textarea').value.includes('init_pid')")
    press(page, "Run")
    assert "316 distinct states · 581 generated" in shown(page, "document")
    page.value("document.querySelector('.line').value += ' --set CLIENTS=3 --set TIDS=2', 0")
    page.value("document.querySelectorAll('.runbar input')[0].value = '100', 0")
    press(page, "Run")
    assert "max-states" in shown(page, "document")
    page.value("document.querySelectorAll('.runbar input')[0].value = '20000', 0")
    run = "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Run')"
    page.value(f"{run}.click(), 0")
    page.until("document.querySelector('.live')?.innerText.includes('distinct')")
    press(page, "Stop")
    assert "Stopped by hand: there is no result. Seen until then: depth" in shown(page, "document")
    page.value("document.querySelector('.line').value = 'statewalk check spec.py', 0")
    write(page, AREA(0), "sum(range(10**15))")
    page.value(f"{run}.click(), 0")
    page.until("document.querySelector('.state').innerText.startsWith('Ready: loaded')")
    press(page, "Stop")
    assert "Stopped by hand: there is no result." in shown(page, "document")
