"""A process that waits for the one that runs specs, and ends it when that cannot end itself.

Python runs no handler of a signal while one call into C goes on: ``10 ** 10 ** 9`` outlasts every
limit. So a command that runs a spec does so in a child. The child keeps a note of what it knows
where its parent can read it; a signal makes it write down, whatever it does, where it is. A child
that does not answer for long (signals masked, ignored, stopped) is ended by the parent's clock.
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from types import FrameType
from typing import IO, Any

from statewalk.checker.machine import signals, streams
from statewalk.checker.machine.escapes import Frame, die_with, watched

_LOOK = 0.1  # seconds
_STUCK = 1.0  # seconds past a limit without a sign of life
_FULL = 0.3  # the same, past a limit of memory
_SHARE = 0.9  # of the machine's memory: the limit where none was given
_REPORT = 20.0  # seconds to report what was found
_PLACE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')
_DUMP = getattr(signal, "SIGUSR2", None)
_OURS = [number for number in (_DUMP, getattr(signal, "SIGALRM", None)) if number is not None]
_LEAVE = 0.5  # seconds to leave once there is a code: what is left may not end
_ANSWER = 0.05  # seconds that an answer takes,
_PATIENCE = 10  # and so many times as long on a machine that is busy
_LAST = 10.0  # seconds after being asked that whatever is no check may take to end by itself
_SILENT = 2.5  # seconds without any answer after which there will be none
_PAUSE = 0.8  # seconds between asking where it is, at last: an answer may crash it, though seldom
_MOST_NOTED = 1 << 25  # bytes
_SOON = 0.01  # seconds
_UNHEARD = "the process did not answer"
_LOST = "the spec closed our files"

_REASONS = ("", "time", "memory", "interrupt")


def possible() -> bool:
    """Whether processes can be made this way here."""
    return hasattr(os, "fork") and _DUMP is not None


def _file() -> IO[bytes]:
    """A file without a name; in memory where the system has such: disks may be full."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("statewalk"), "w+b")
    return tempfile.TemporaryFile()


class Line:
    """What parent and child share: a sign of life, a note, and where the child says it is."""

    def __init__(self) -> None:
        # a sign of life, what should end what cannot be ended, which note is the last, and whether
        # somebody asked to end. It is memory: a spec can close files.
        self._life = mmap.mmap(-1, 8)
        self._notes = [mmap.mmap(-1, _MOST_NOTED) for _ in range(2)]
        self.places = _file()
        self._facts: dict[str, Any] = {}

    def beat(self) -> None:
        """Show that handlers still run."""
        self._life[1] = 0
        self._life[0] = (self._life[0] + 1) % 256

    def give_up(self, reason: str) -> None:
        """Say that what runs does not end from inside; until the next sign of life."""
        self._life[1] = _REASONS.index(reason)

    @property
    def given_up(self) -> str:
        """The limit that what runs should have ended at; empty as long as it may still do so."""
        return _REASONS[self._life[1]]

    def ask(self) -> None:
        """Ask the child to end, whatever its spec did to the handlers of signals."""
        self._life[3] = 1

    @property
    def asked(self) -> bool:
        """Whether the child is to end."""
        return bool(self._life[3])

    @property
    def life(self) -> int:
        """Differs where there was a sign of life."""
        return self._life[0]

    def note(self, **facts: Any) -> None:
        """Note what is known, beside what was."""
        self._facts |= facts
        data = json.dumps(self._facts, default=str).encode()
        if len(data) + 8 <= _MOST_NOTED:
            other = 1 - self._life[2]
            self._notes[other][: len(data) + 8] = len(data).to_bytes(8, "little") + data
            self._life[2] = other  # who is killed while writing leaves the last one whole

    def noted(self) -> dict[str, Any]:
        """What was noted last."""
        last = self._notes[self._life[2]]
        size = int.from_bytes(last[:8], "little")
        with suppress(ValueError):
            found = json.loads(last[8 : 8 + size])
            return found if isinstance(found, dict) else {}
        return {}

    def told(self) -> list[Frame]:
        """Where the child said last that it is, innermost first."""
        size = os.fstat(self.places.fileno()).st_size
        text = os.pread(self.places.fileno(), size, 0).decode(errors="replace")
        return list(_frames(text.rpartition("(most recent call first):\n")[2]))


def _frames(text: str) -> Iterator[Frame]:
    for words in text.splitlines():
        found = _PLACE.match(words)
        if not found:
            return
        yield found[1], int(found[2]), found[3]


line: Line | None = None  # to whoever waits for this process
rescue: End | None = None  # what this process is to report: another one did not come to it


def note(**facts: Any) -> None:
    """Tell whoever waits for this process, if anybody does."""
    if line is not None:
        line.note(**facts)


@dataclass
class End:
    """How a child ended: with a code, or killed for a reason, or ``by`` itself in a way of its own.

    ``frames`` are where it was, ``facts`` what it had noted, ``unheard`` why it said no more.
    """

    code: int | None = None
    reason: str = "killed"
    by: str = ""
    unheard: str = ""
    frames: list[Frame] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def supervised(run: Callable[[], int]) -> int:
    """Run in a child; the exit code. It runs again, with `rescue` set, where that had to be killed.

    Returns in the children too.
    """
    global rescue  # noqa: PLW0603 (one per process)
    waiting = _Waiting()
    if not waiting.pid:
        return waiting.work(run)
    end = waiting.wait()
    if end.code is not None:
        return end.code
    for loaded in (end.facts.get("loaded"), False):  # where steps end the report too: without any
        end.facts["loaded"] = loaded
        rescue = end
        waiting = _Waiting(_REPORT)
        if not waiting.pid:
            return waiting.work(run)
        if (code := waiting.wait().code) is not None:
            return code
        if waiting.asked:
            break
    os.write(2, b"\nstatewalk: killed before there was a result\n")
    return signals.INCONCLUSIVE


class _Waiting:
    """A child, and what was heard while waiting for it. In the child, ``pid`` is 0."""

    def __init__(self, seconds: float | None = None) -> None:
        self.line = Line()
        self.asked = 0.0  # when the first signal came
        self.again = False
        self.full = 0.0  # since when there is too much in memory
        self.done = 0.0  # since when the child has a code
        self.life, self.lived = self.line.life, 0.0
        self.silent = 0.0  # since when there is no answer
        self.ask_at, self.pause = 0.0, _LOOK  # when to ask again where it is
        self.reason = ""  # the limit that it was asked for last
        self.limit = None if seconds is None else time.monotonic() + seconds
        self.pid = 0
        self.alive, end = os.pipe()  # closed when the child is no more
        self._early: list[int] = []
        before = signals.handle(self._pass_on)
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid:
            os.close(end)
            for number in self._early:
                os.kill(self.pid, number)
            return
        os.close(self.alive)
        signals.restore(before)
        die_with(parent)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        self.again = self.again or (bool(self.asked) and now - self.asked > signals.ONCE)
        self.asked = self.asked or now
        self.line.ask()
        if not self.pid:
            self._early.append(number)
            return
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
        with watched(lambda stack: self.line.note(left=stack), _silent):
            code = run()
        if not streams.whole():
            self.line.note(lost=True)
            return signals.INCONCLUSIVE
        self.line.note(code=code)
        signals.handle(signal.SIG_DFL)  # there is nothing left to lose
        return code

    # -- in the parent ---------------------------------------------------------------------------

    def wait(self) -> End:
        """How the child ended."""
        end = End()
        status = None
        while status is None:
            closed = select.select([self.alive], [], [], _LOOK)[0]
            status = self._status(os.WNOHANG)
            if status is None and (reason := self._stuck()):
                end.reason = reason
                os.kill(self.pid, signal.SIGKILL)
                status = self._status()
            elif status is None and closed:
                time.sleep(_SOON)
        os.close(self.alive)
        end.facts, end.frames = self.line.noted(), self.line.told()
        known = end.facts.get("code")
        if self.silent:
            end.unheard = _UNHEARD
        if known is not None:  # whatever the spec did to the process afterwards
            end.code = known
        elif end.facts.get("lost"):
            end.by = end.unheard = _LOST
            end.frames = []
        elif -status in signals.ENDING:  # the spec had seen to it that we do not hear it
            end.reason = "interrupt"
        elif -status in _OURS:  # the same, of those that we ask with
            end.reason, end.unheard, end.frames = self._passed(end.facts), _UNHEARD, []
        elif status >= 0 and "left" not in end.facts:
            end.by = end.unheard = f"a library that is not Python called exit({status})"
        elif status >= 0:
            end.by = f"os._exit({status})"
            end.frames = [(str(f), int(n), str(w)) for f, n, w in end.facts.get("left", ())]
        elif end.reason == "killed":
            end.by = signal.Signals(-status).name
            if status == -signal.SIGKILL:
                end.frames = []
        return end

    def _status(self, how: int = 0) -> int | None:
        """The exit code, below 0 for a signal; None where the child did not end."""
        pid, status = os.waitpid(self.pid, how)
        return os.waitstatus_to_exitcode(status) if pid else None

    def _stuck(self) -> str:
        """Why the child is to be killed; empty where it is not."""
        now = time.monotonic()
        if self.line.life != self.life:
            self.life, self.lived = self.line.life, now
        if self.limit is not None and now > self.limit:
            return "time"
        facts = self.line.noted()
        if "code" in facts:
            self.done = self.done or now
            return "done" if now - self.done > facts.get("leaving", _LEAVE) else ""
        if reason := self.line.given_up:
            return reason if self._inside(facts) else ""
        if self.asked and now - self.asked > _LAST and not facts.get("check"):
            return "interrupt"  # it asks too seldom whether it is to end
        reason, since, patience = self._passed(facts), now, _STUCK
        if reason == "memory":
            self.full = self.full or now
            since, patience = self.full, _FULL
        elif reason == "interrupt":
            since = self.asked
        elif reason == "time":
            since = facts["deadline"]
        if not reason or now - max(since, self.lived) < (0.0 if self.again else patience):
            return ""
        return reason if self._inside(facts) else ""

    def _passed(self, facts: Mapping[str, Any]) -> str:
        """The limit that is passed; empty where none is."""
        if memory_of(self.pid) > (facts.get("memory") or most()):
            return "memory"
        if self.asked:
            return "interrupt"
        deadline = facts.get("deadline")
        return "time" if deadline and time.monotonic() > deadline else ""

    def _inside(self, facts: Mapping[str, Any]) -> bool:
        """Whether the spec is running, or what we do with it may be ended too. The child tells when
        it is asked now; one that never does so is ended as well.
        """
        from statewalk.checker.machine.places import place_of

        assert _DUMP is not None
        if "files" not in facts or time.monotonic() < self.ask_at:
            return False
        os.ftruncate(self.line.places.fileno(), 0)
        os.lseek(self.line.places.fileno(), 0, os.SEEK_SET)
        os.kill(self.pid, _DUMP)
        for _ in range(_PATIENCE):
            time.sleep(_ANSWER)
            if self.line.told():
                self.silent = 0.0
                break
        else:
            now = time.monotonic()
            self.silent = self.silent or now
            return now - self.silent > _SILENT
        if place_of(self.line.told(), facts["files"]) is not None or facts.get("doing"):
            return True
        self.pause = min(2 * self.pause, _PAUSE)
        self.ask_at = time.monotonic() + self.pause
        return False


def _silent() -> None:
    """Nobody waits for this process: the spec made it."""
    global line  # noqa: PLW0603
    line = None


def memory_of(pid: int | str) -> int:
    """Resident memory of a process (``self``: of this one) in bytes; 0 where one cannot know."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # to decode it would import, in a handler
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


@cache
def memory_there() -> float:
    """The memory that this machine, or its group, has, in bytes; infinite where nobody says."""
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
