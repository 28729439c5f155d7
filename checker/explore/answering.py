"""The process that answers: it runs the spec and what people watch, and may be killed.

Once it serves, this process has threads and must not fork. So it makes a *nursery* before: a
process without threads that starts an answerer, and another one when that ends. An answerer knows
nothing but the spec; the page says with each question where it is.
"""

from __future__ import annotations

import hmac
import json
import mmap
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from queue import Empty, Queue
from threading import Thread
from typing import Any, NoReturn

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
        """Return whether another question waits, in the answerer."""
        return bool(self._others[0])

    def ask(self, question: str, asked: Any) -> dict[str, Any]:
        """Return the answer to a question; an error where it takes too long, or ends the answerer.

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
        """Return the line to a new answerer."""
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


HOST = "127.0.0.1"
TOKEN = "X-Statewalk-Token"
_MOST = 1 << 20  # bytes of a question
_END = 0.2  # seconds between looks whether to end
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
Ask = Callable[[str, Any], dict[str, Any]]
Job = tuple[str, Any, "Future[dict[str, Any]]"]


class Served(Exception):
    """A question that is not answered: the status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Server:
    """Serves a page, and answers what it asks in the thread that calls `answer_until`."""

    def __init__(self, page: str, policy: str, port: int = 0) -> None:
        self.page = page.encode("utf-8", "backslashreplace")
        self.policy = policy
        self.token = secrets.token_urlsafe(24)
        self.jobs: Queue[Job] = Queue()
        self._http = _Http((HOST, port), _Handler)
        self._http.owner = self
        self.port = self._http.server_port
        self.origins = [f"http://{name}:{self.port}" for name in (HOST, "localhost")]
        self._thread = Thread(target=self._http.serve_forever, args=(_END,), daemon=True)

    @property
    def address(self) -> str:
        """Return what to open: the token is in the part that browsers keep to themselves."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def is_asked(self) -> bool:
        """Return whether a question waits."""
        return not self.jobs.empty()

    def answer_until(self, ended: Callable[[], bool], ask: Ask) -> None:
        """Answer one question after the other, in this thread."""
        while not ended():
            try:
                question, asked, future = self.jobs.get(timeout=_END)
            except Empty:
                continue
            try:
                future.set_result(ask(question, asked))
            except BaseException as error:
                future.set_exception(error)
                if not isinstance(error, Exception):
                    raise

    def check(self, host: str, origin: str | None) -> None:
        """Raises Served where it was not our page that asks."""
        if f"http://{host}" not in self.origins:
            raise Served(403, "another host")
        if origin is not None and origin not in self.origins:
            raise Served(403, "another origin")

    def asked(self, token: str, kind: str, body: bytes) -> Any:
        """Return the JSON of a question. Raises Served."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise Served(401, "open the address that the command printed: it has the token")
        if kind.partition(";")[0].strip() != "application/json":
            raise Served(415, "JSON is asked for")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise Served(400, "this is no JSON") from None


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: Server

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 20
    server: _Http
    server_version = "statewalk"
    sys_version = ""

    def do_GET(self) -> None:
        owner = self.server.owner
        try:
            owner.check(self.headers.get("Host", ""), self.headers.get("Origin"))
            if self.path != "/":
                raise Served(404, "there is only one page")
            self._send(200, "text/html; charset=utf-8", owner.page)
        except Served as not_served:
            self._refuse(not_served)

    def do_POST(self) -> None:
        owner = self.server.owner
        try:
            owner.check(self.headers.get("Host", ""), self.headers.get("Origin"))
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > _MOST:
                raise Served(413, "this question is too long")
            token, kind = self.headers.get(TOKEN, ""), self.headers.get("Content-Type", "")
            asked = owner.asked(token, kind, self.rfile.read(int(length)))
            future: Future[dict[str, Any]] = Future()
            owner.jobs.put((self.path.removeprefix("/api/"), asked, future))
            self._answer(200, future.result())
        except Served as not_served:
            self._refuse(not_served)
        except (KeyError, ValueError, TypeError, LookupError, ArithmeticError):
            self._refuse(Served(400, "the page asks otherwise"))

    def _refuse(self, why: Served) -> None:
        self._answer(why.status, {"error": why.why})

    def _answer(self, status: int, data: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(data).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        policy = {"Content-Security-Policy": self.server.owner.policy}
        for name, value in {**_HEADERS, **policy, "Content-Type": kind}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a terminal is for the person who explores."""
