"""The process that answers: it runs the spec and what people watch, and may be killed.

Once it serves, this process has threads and must not fork. So it makes a *nursery* before: a
process without threads that starts an answerer, and another one when that ends. An answerer knows
nothing but the spec; the page says with each question where it is.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from statewalk.checker.explore.server import Ask
from statewalk.checker.machine import signals, streams, supervisor

_LOOK = 0.1  # seconds between looks at what an answerer does
_GRACE = 2.0  # seconds beyond the limit in which an answerer may end a question itself
_COMES = 10.0  # seconds for a new answerer to come
_ENDED = "SW205 The process that answers ended, so this has no value. Leave out what ends it."
_FULL = "This takes more memory than there is."
_REFUSED = (KeyError, ValueError, TypeError, LookupError, ArithmeticError)


class Answering:
    """Asks ``answer`` in another process, from when it is entered, which must be before this
    process has threads. ``ended`` says that nobody wants an answer any more, ``others`` that other
    questions wait.
    """

    def __init__(self, answer: Ask, seconds: float, ended: Callable[[], bool]) -> None:
        self.answer = answer
        self.seconds = seconds
        self.ended = ended
        self.others: Callable[[], bool] = lambda: False
        self._others = mmap.mmap(-1, 1)  # what it says, where the answerer sees it
        self._pid = 0
        self._line: Connection | None = None
        self._nursery, self._ours = socket.socketpair()

    def __enter__(self) -> Answering:
        parent = os.getpid()
        if not os.fork():
            self._nursery.close()
            _by_itself(parent, self._start_one_after_the_other)
        self._ours.close()
        self._nursery.settimeout(_COMES)
        return self

    def __exit__(self, *_: object) -> None:
        self._nursery.close()
        self._gives_up("")

    def waiting(self) -> bool:
        """Whether another question waits, in the answerer."""
        return bool(self._others[0])

    def ask(self, question: str, asked: Any) -> dict[str, Any]:
        """The answer to a question; an error where it takes too long, or ends the answerer.

        Raises:  ValueError where it is not asked as the page asks
        """
        until = time.monotonic() + self.seconds + _GRACE
        try:
            line = self._line or self._connected()
            line.send_bytes(json.dumps([question, asked]).encode())
            while not line.poll(_LOOK):
                self._others[0] = self.others()
                if self.ended():
                    return self._gives_up("The explorer was ended.")
                if time.monotonic() > until:
                    return self._gives_up(f"This took longer than {self.seconds:.0f} seconds.")
                if supervisor.memory_of(self._pid) > supervisor.most():
                    return self._gives_up(_FULL)
            reply = json.loads(line.recv_bytes())
        except (EOFError, OSError):
            return self._gives_up(_ENDED)
        finally:
            self._others[0] = 0
        if reply is None:
            raise ValueError(question)
        answer: dict[str, Any] = reply
        return answer

    def _gives_up(self, why: str) -> dict[str, Any]:
        """End the answerer; the next question has another one."""
        if self._line is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._line.close()
            self._line = None
        return {"error": why}

    def _connected(self) -> Connection:
        """The line to a new answerer."""
        pid, lines, _, _ = socket.recv_fds(self._nursery, 16, 1)
        if not lines:
            raise EOFError
        self._pid = int(pid)
        self._line = Connection(lines[0])
        return self._line

    # -- in other processes ----------------------------------------------------------------------

    def _start_one_after_the_other(self) -> None:
        """Start an answerer, and another one when it has ended, as long as somebody listens."""
        this = os.getpid()
        while True:
            ours, theirs = socket.socketpair()
            pid = os.fork()
            if not pid:
                self._ours.close()
                ours.close()
                _by_itself(this, partial(self._serve, theirs))
            theirs.close()
            socket.send_fds(self._ours, [str(pid).encode()], [ours.fileno()])
            ours.close()
            os.waitpid(pid, 0)

    def _serve(self, end: socket.socket) -> None:
        line = Connection(end.detach())
        while True:
            question, asked = json.loads(line.recv_bytes())
            try:
                reply = self.answer(question, asked)
            except _REFUSED:
                reply = None
            line.send_bytes(json.dumps(reply).encode())


def _by_itself(parent: int, do: Callable[[], object]) -> NoReturn:
    """Do something in a new process, and end with it, or with the parent."""
    with suppress(BaseException):
        supervisor.die_with(parent)
        supervisor.line = None
        streams.keep_silent()
        signals.handle(signal.SIG_IGN)  # the parent ends us
        do()
    os._exit(0)
