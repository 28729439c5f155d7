"""A process that waits for the one that runs specs, and ends it when that cannot end itself.

Python runs no handler of a signal while one call into C goes on: ``10 ** 10 ** 9`` outlasts every
limit. So a command that runs a spec does so in a child. The child keeps a note of what it knows
where its parent can read it. Where it shows no sign of life for a while past a limit, it is asked
where it is; if that is in the spec it is killed, and another child reports what was noted.
"""

from __future__ import annotations

import faulthandler
import json
import math
import mmap
import os
import re
import select
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from types import FrameType
from typing import IO, Any

from statewalk.checker.machine import able, signals

Frame = tuple[str, int, str]

_LOOK = 0.1  # seconds
_STUCK = 1.0  # seconds past a limit without a sign of life
_FULL = 0.3  # the same, past a limit of memory
_SHARE = 0.9  # of the machine's memory: the limit where none was given
_REPORT = 20.0  # seconds to report what was found
_LEAVE = 0.5  # seconds to leave once there is a code: what is left may not end
_ANSWER = 0.5  # seconds to say where it is
_PAUSE = 0.8  # seconds between asking where it is: an answer may crash it, though seldom
_LAST = 10.0  # seconds after being asked that whatever is no check may take to end by itself
_SOON = 0.01  # seconds
_MOST_NOTED = 1 << 25  # bytes
_PR_SET_PDEATHSIG = 1
_PLACE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
_DUMP = getattr(signal, "SIGUSR2", None)


def possible() -> bool:
    """Return whether processes can be made this way here."""
    return able.FORKS


def _file() -> IO[bytes]:
    """Return a file without a name; in memory where the system has such: disks may be full."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("statewalk"), "w+b")
    return tempfile.TemporaryFile()


class Line:
    """The memory that parent and child share: a sign of life, a note, and where the child
    says it is.
    """

    def __init__(self) -> None:
        self._life = mmap.mmap(-1, 2)  # a sign of life, and which note is the last
        self._notes = [mmap.mmap(-1, _MOST_NOTED) for _ in range(2)]
        self.places = _file()
        self._facts: dict[str, Any] = {}

    def beat(self) -> None:
        """Show that handlers still run, and that they can end what runs."""
        self._life[0] = (self._life[0] + 1) % 256

    @property
    def life(self) -> int:
        """Differs where there was a sign of life."""
        return self._life[0]

    def note(self, **facts: Any) -> None:
        """Note what is known, beside what was."""
        self._facts |= facts
        data = json.dumps(self._facts, default=str).encode()
        if len(data) + 8 <= _MOST_NOTED:
            other = 1 - self._life[1]
            self._notes[other][: len(data) + 8] = len(data).to_bytes(8, "little") + data
            self._life[1] = other  # who is killed while writing leaves the last one whole

    def noted(self) -> dict[str, Any]:
        """Return what was noted last."""
        last = self._notes[self._life[1]]
        size = int.from_bytes(last[:8], "little")
        with suppress(ValueError):
            found: dict[str, Any] = json.loads(last[8 : 8 + size])
            return found
        return {}

    def told(self) -> list[Frame]:
        """Return where the child said last that it is, innermost first."""
        size = os.fstat(self.places.fileno()).st_size
        text = os.pread(self.places.fileno(), size, 0).decode(errors="replace")
        last = text.rpartition("(most recent call first):\n")[2]
        return [(file, int(number), name) for file, number, name in _PLACE.findall(last)]


line: Line | None = None  # to whoever waits for this process
rescue: End | None = None  # what this process is to report: another one did not come to it


def note(**facts: Any) -> None:
    """Tell whoever waits for this process, if anybody does."""
    if line is not None:
        line.note(**facts)


def beat() -> None:
    """Show a sign of life to whoever waits for this process."""
    if line is not None:
        line.beat()


@dataclass
class End:
    """The end of a child: with a code, or killed for a reason, or ``by`` itself in a way of
    its own.

    ``frames`` are where it was, ``facts`` what it had noted.
    """

    code: int | None = None
    reason: str = "killed"
    by: str = ""
    frames: list[Frame] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def supervised(run: Callable[[], int]) -> int:
    """Run in a child; the exit code. It runs again, with `rescue` set, where that had to be killed.

    Returns in the children too.
    """
    global rescue  # noqa: PLW0603 (one per process)
    for seconds in (None, _REPORT):
        waiting = _Waiting(seconds)
        if not waiting.pid:
            return waiting.work(run)
        rescue = waiting.wait()
        if rescue.code is not None:
            return rescue.code
    os.write(2, b"\nstatewalk: killed before there was a result\n")
    return signals.INCONCLUSIVE


class _Waiting:
    """A child, and what was heard while waiting for it. In the child, ``pid`` is 0."""

    def __init__(self, seconds: float | None) -> None:
        self.line = Line()
        self.asked = 0.0  # when the first signal came
        self.again = False
        self.full = 0.0  # since when there is too much in memory
        self.done = 0.0  # since when the child has a code
        self.life, self.lived = self.line.life, 0.0
        self.ask_at = 0.0  # when to ask again where it is
        self.limit = None if seconds is None else time.monotonic() + seconds
        self.pid = 0
        self.alive, end = os.pipe()  # closed when the child is no more
        before, parent = signals.handle(self._pass_on), os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, signals.ENDING)  # until each knows which it is
        self.pid = os.fork()
        if not self.pid:
            os.close(self.alive)
            signals.restore(before)
            die_with(parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals.ENDING)
        if self.pid:
            os.close(end)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        self.again = self.again or (bool(self.asked) and now - self.asked > signals.ONCE)
        self.asked = self.asked or now
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    # -- in the child ----------------------------------------------------------------------------

    def work(self, run: Callable[[], int]) -> int:
        """Do what the child is for; its exit code."""
        global line  # noqa: PLW0603 (one per process)
        line = self.line
        assert _DUMP is not None
        faulthandler.enable(self.line.places, all_threads=False)
        faulthandler.register(_DUMP, self.line.places, all_threads=False)
        code = run()
        self.line.note(code=code)
        signals.handle(signal.SIG_DFL)  # there is nothing left to lose
        return code

    # -- in the parent ---------------------------------------------------------------------------

    def wait(self) -> End:
        """Return how the child ended."""
        end = End()
        while (status := self._status(os.WNOHANG)) is None:
            if reason := self._stuck():
                end.reason = reason
                os.kill(self.pid, signal.SIGKILL)
                status = self._status()
                break
            if select.select([self.alive], [], [], _LOOK)[0]:
                time.sleep(_SOON)
        assert status is not None
        os.close(self.alive)
        end.facts, end.frames = self.line.noted(), self.line.told()
        end.code = end.facts.get("code")
        if -status in signals.ENDING:  # it came before there was a handler
            end.reason = "interrupt"
        elif status >= 0:
            end.by, end.frames = f"exit({status})", []
        elif end.reason == "killed":
            end.by = signal.Signals(-status).name
            if status == -signal.SIGKILL:
                end.frames = []
        return end

    def _status(self, how: int = 0) -> int | None:
        """Return the exit code, below 0 for a signal; None where the child did not end."""
        pid, status = os.waitpid(self.pid, how)
        return os.waitstatus_to_exitcode(status) if pid else None

    def _stuck(self) -> str:
        """Return why the child is to be killed; empty where it is not."""
        now = time.monotonic()
        if self.line.life != self.life:
            self.life, self.lived = self.line.life, now
        if self.limit is not None and now > self.limit:
            return "time"
        facts = self.line.noted()
        if "code" in facts:
            self.done = self.done or now
            return "done" if now - self.done > facts.get("leaving", _LEAVE) else ""
        reason, since, patience = self._passed(facts, now)
        if reason == "interrupt" and now - since > _LAST and not facts.get("check"):
            return reason  # it asks too seldom whether it is to end
        if not reason or now - max(since, self.lived) < (0.0 if self.again else patience):
            return ""
        return reason if self._inside(facts) else ""

    def _passed(self, facts: Mapping[str, Any], now: float) -> tuple[str, float, float]:
        """Return the limit that is passed, since when, and for how long that is borne; empty
        where none is.
        """
        if memory_of(self.pid) > (facts.get("memory") or most()):
            self.full = self.full or now
            return "memory", self.full, _FULL
        self.full = 0.0
        if self.asked:
            return "interrupt", self.asked, _STUCK
        deadline = facts.get("deadline")
        return ("time", deadline, _STUCK) if deadline and now > deadline else ("", 0.0, 0.0)

    def _inside(self, facts: Mapping[str, Any]) -> bool:
        """Return whether the spec is running, or what we do with it may be ended too. The child
        tells when it is asked now.
        """
        from statewalk.checker.machine.places import place_of

        assert _DUMP is not None
        now = time.monotonic()
        if "files" not in facts or now < self.ask_at:
            return False
        os.ftruncate(self.line.places.fileno(), 0)
        os.lseek(self.line.places.fileno(), 0, os.SEEK_SET)
        os.kill(self.pid, _DUMP)
        while not self.line.told() and time.monotonic() - now < _ANSWER:
            time.sleep(_LOOK / 2)
        self.ask_at = time.monotonic() + _PAUSE
        inside = place_of(self.line.told(), facts["files"]) is not None
        return inside or bool(facts.get("doing"))


def die_with(parent: int) -> None:
    """Let this process end with its parent, where the system can do that."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(signals.INCONCLUSIVE)


def memory_of(pid: int | str) -> int:
    """Resident memory of a process (``self``: of this one) in bytes; 0 where one cannot know."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # to decode it would import, in a handler
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


@cache
def memory_there() -> float:
    """Return the memory that this machine, or its group, has, in bytes; infinite where nobody
    says.
    """
    sizes = [math.inf]
    with suppress(OSError, ValueError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with (
            suppress(OSError, ValueError),
            open(f"/sys/fs/cgroup/{name}", encoding="ascii") as file,
        ):
            sizes.append(int(file.read()))
    return min(sizes)


def most() -> float:
    """Memory beyond which a step has run away: most of what there is."""
    return _SHARE * memory_there()
