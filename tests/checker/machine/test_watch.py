"""The timer behind limits: it leaves nothing behind, and its handler imports nothing."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from statewalk.checker.machine import supervisor
from statewalk.checker.machine.watch import CutShort, Watchdog, interruptible
from tests.checker.machine.hanging import SLACK
from tests.places import ROOT

OFF = (0.0, 0.0)


def python(code: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", code]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_a_look_that_is_due_when_the_watch_ends_does_not_set_the_timer_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop, due = signal.setitimer, []

    def with_a_look_after_it(which: int, seconds: float) -> None:
        stop(which, seconds)
        handler = signal.getsignal(signal.SIGALRM)
        if seconds == 0 and callable(handler):
            due.append(handler)
            handler(signal.SIGALRM, None)

    before = signal.getsignal(signal.SIGALRM)
    with Watchdog(0.0) as dog:
        dog.end("time")
        monkeypatch.setattr(signal, "setitimer", with_a_look_after_it)
    monkeypatch.undo()

    assert due
    assert OFF == signal.getitimer(signal.ITIMER_REAL)
    assert before is signal.getsignal(signal.SIGALRM)
    assert Watchdog.active is None


def test_a_watch_inside_another_hands_the_timer_back() -> None:
    with Watchdog(60.0) as outer:
        with Watchdog(0.0) as inner:
            inner.end("time")

        assert Watchdog.active is outer
        assert 50 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60
    assert OFF == signal.getitimer(signal.ITIMER_REAL)


@pytest.mark.parametrize("nested", [False, True])
def test_a_timer_of_the_caller_goes_on_with_what_is_left(nested: bool) -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 60, 7)
        with Watchdog(5.0), Watchdog(1.0) if nested else nullcontext():
            time.sleep(0.2)
        left, interval = signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert 50 < left < 59.9
        assert 7 == interval
        with Watchdog(5.0):
            time.sleep(0.2)
            assert not came
        time.sleep(0.1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert [signal.SIGALRM] == came


@pytest.mark.thorough
def test_many_short_watches_leave_no_alarm_behind() -> None:
    code = """
import time
from statewalk.checker.machine.watch import Watchdog
for n in range(4000):
    with Watchdog(0.0002 * (n % 5)) as dog:
        time.sleep(0.0001 * (n % 7))
        dog.reason
time.sleep(0.3)
print("alive")
"""
    done = python(code)

    assert (0, "alive\n", "") == (done.returncode, done.stdout, done.stderr)


def test_what_handlers_do_imports_nothing() -> None:
    code = """
import json, signal, sys, time
from statewalk.checker.machine import supervisor
from statewalk.checker.machine.limits import Interruptions
from statewalk.checker.machine.signals import Stop
from statewalk.checker.machine.watch import CutShort, Watchdog, interruptible

supervisor.line = supervisor.Line()
loaded = set(sys.modules)

def endless(**limits):
    try:
        with Watchdog(**limits), interruptible("waiting"):
            while True:
                time.sleep(0.01)
    except CutShort as cut:
        return cut.reason

found = [endless(timeout=0.05), endless(memory=1)]
with Interruptions() as asked:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.raise_signal(signal.SIGTERM)
    found.append(asked.asked)
try:
    Stop()(signal.SIGINT, None)
except KeyboardInterrupt:
    pass
new = sorted(set(sys.modules) - loaded)
print(json.dumps([found, new]))
"""
    done = python(code)

    assert "" == done.stderr
    assert [["time", "memory", True], []] == json.loads(done.stdout)


def test_what_another_thread_does_ends_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    line = supervisor.Line()
    monkeypatch.setattr(supervisor, "line", line)
    ready, over = threading.Event(), threading.Event()

    def work() -> None:
        with interruptible("compiling"):
            ready.set()
            over.wait(30)

    with Watchdog(0.05):
        thread = threading.Thread(target=work)
        thread.start()
        ready.wait(30)
        end = time.monotonic() + 20
        while not line.noted()["doing"] and time.monotonic() < end:
            time.sleep(0.02)
        doing, life = line.noted()["doing"], line.life
        time.sleep(0.3)
        still = line.life == life
        over.set()
        thread.join()
    line.places.close()

    assert ("compiling", True) == (doing, still)


def test_what_may_not_be_ended_is_not_ended_inside_of_what_may() -> None:
    done = []

    def save_and_wait() -> None:
        with Watchdog(0.01), interruptible("compiling"):
            with interruptible(""):
                time.sleep(1.2)
                done.append("saved")
            time.sleep(5)
            done.append("waited")

    with pytest.raises(CutShort):
        save_and_wait()
    assert ["saved"] == done


@pytest.mark.thorough
def test_nothing_is_raised_where_the_compiler_calls_from_c() -> None:
    done = []

    def _raw_object_cache_notify() -> None:
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            pass
        done.append("told")

    def compile_and_wait() -> None:
        with Watchdog(0.01), interruptible("compiling"):
            ctypes.CFUNCTYPE(None)(_raw_object_cache_notify)()
            time.sleep(5)
            done.append("waited")

    with pytest.raises(CutShort):
        compile_and_wait()
    assert ["told"] == done


@pytest.mark.slow
@pytest.mark.parametrize("how", ["time", "term"])
@pytest.mark.parametrize("threads", ["1", "4"])
def test_kernels_that_are_compiled_end_at_a_limit(tmp_path: Path, how: str, threads: str) -> None:
    """Long before they are compiled, and at about the limit."""
    spec = tmp_path / "spec.py"
    spec.write_text(
        "from statewalk import Role, action, always\n"
        "class C(Role):\n    n: int = 0\n    @action\n    def go(self) -> None:\n"
        "        self.n = (self.n + 1) % 3\nc = C()\n"
        "@always\ndef ok() -> bool:\n    return c.n < 9\n",
        encoding="utf-8",
    )
    more = ["--timeout", "6"] if how == "time" else []
    words = [sys.executable, "-m", "statewalk", "check", str(spec), "--json", "-", *more]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cold")}
    process = subprocess.Popen(
        [*words, "--threads", threads, "--out", str(tmp_path / "run")],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    sent = time.monotonic()
    if how == "term":
        cold = tmp_path / "cold"
        while process.poll() is None and not any(cold.rglob("*.nbc")):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        sent = time.monotonic()
    out, err = process.communicate(timeout=300)

    assert 3 == process.returncode, err
    if how == "time":
        assert "compiling the engine" in out
    else:
        assert time.monotonic() - sent < 2 + SLACK
