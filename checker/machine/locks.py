"""One writer at a time: a folder is held by the process that writes to it.

The system lets go of the lock when a process dies, however it does; the file that stays behind says
nothing then. Where a file system has no locks nothing is held.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from statewalk.dsl.errors import RunError

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"
_LOOK = 0.02
_MARK = b'{"pid"'  # how the text in a lock begins
# The folder may come from others: no link is followed, no pipe waited for.
_WITH_CARE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Lock:
    """A lock on a folder; empty where no file can be created in it."""

    def __init__(self, file: Path, handle: int | None) -> None:
        self.file = file
        self.handle = handle

    def holds(self) -> bool:
        """Return whether the file is still the one that is locked, not one that took its place."""
        return self.handle is None or _same(self.file, self.handle)

    def release(self) -> None:
        """Let go, and leave nothing behind."""
        if self.handle is not None:
            if self.holds():
                with suppress(OSError):
                    self.file.unlink()
            os.close(self.handle)
            self.handle = None


@contextmanager
def held(folder: str | Path | None, *, graph: bool = False) -> Iterator[Lock]:
    """Hold a folder, which is made; nothing without one. Where nothing can be written, nothing is
    held either: what is to be written there will tell. The lock of a graph lies beside it.

    Raises:  RunError[SW345] where another process holds it
    """
    lock = Lock(Path(), None) if folder is None else _take(Path(folder), graph)
    try:
        yield lock
    finally:
        lock.release()


def _take(folder: Path, graph: bool) -> Lock:
    option = "--graph" if graph else "--out"
    file = folder.with_name(f".{folder.name}.{LOCK}") if graph else folder / LOCK
    while True:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if _foreign(file):
                file.unlink()
            handle = os.open(file, os.O_RDWR | os.O_CREAT | _WITH_CARE, 0o644)
        except OSError:
            return Lock(file, None)
        try:
            taken = _locked(handle)
        except OSError:  # a file system without locks
            os.close(handle)
            return Lock(file, None)
        holder = _told(handle)
        if taken and _same(file, handle):  # not removed by its last holder meanwhile
            break
        os.close(handle)
        if not taken:
            raise _in_use(folder, holder, option)
    if not _MARK.startswith(os.pread(handle, len(_MARK), 0)):  # not even begun, on a full disk
        os.close(handle)
        raise RunError(
            "SW345",
            f"{file} has the name of a lock file, but is not one.",
            help=f"Move it away, or give another place with {option} DIR.",
        )
    with suppress(OSError):  # on a full disk the lock is as good
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(_about()).encode(), 0)
    return Lock(file, handle)


@contextmanager
def waited_for(file: Path, seconds: float) -> Iterator[None]:
    """Hold a file's lock, as soon as others let go of it; after so many seconds go on without.
    Where there are no locks, or no file can be made, nothing is waited for.
    """
    with ExitStack() as after:
        with suppress(OSError):
            handle = os.open(file, os.O_RDWR | os.O_CREAT | _WITH_CARE, 0o644)
            after.callback(os.close, handle)
            latest = time.monotonic() + seconds
            while not _locked(handle) and time.monotonic() < latest:
                time.sleep(_LOOK)
            after.callback(partial(file.unlink, missing_ok=True))
        yield


def _foreign(file: Path) -> bool:
    """Return whether something is there that no lock is: what is written to it might go
    elsewhere.
    """
    with suppress(OSError):
        there = os.lstat(file)
        regular = stat.S_ISREG(there.st_mode) and there.st_nlink <= 1
        return not (regular or stat.S_ISDIR(there.st_mode))
    return False


def _locked(handle: int) -> bool:
    """Take the system's lock; whether that was possible. Raises OSError where there are none."""
    if fcntl is None:
        raise OSError("no locks")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same(file: Path, handle: int) -> bool:
    try:
        there, here = os.stat(file), os.fstat(handle)
    except OSError:
        return False
    return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)


def _about() -> dict[str, str]:
    return {
        "pid": str(os.getpid()),
        "host": socket.gethostname(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def _told(handle: int) -> dict[str, str]:
    """Return what a lock's file says of its holder; empty where it says nothing."""
    try:
        about = json.loads(os.pread(handle, 1 << 16, 0))
        return {str(k): str(v) for k, v in about.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _in_use(folder: Path, holder: dict[str, str], option: str) -> RunError:
    def said(name: str, word: str) -> str:
        text = "".join(c if c.isprintable() else "?" for c in holder.get(name, ""))[:200]
        return f"{word} {text}" if text else ""

    parts = [said("pid", "process"), said("host", "on"), said("since", "since")]
    who = " ".join(filter(None, parts)) or "another process"
    command = said("command", "It runs:")
    return RunError(
        "SW345",
        f"{folder} is being written to by {who}.",
        why=command,
        help=f"Wait until it has ended, or give another place with {option} DIR.",
    )
