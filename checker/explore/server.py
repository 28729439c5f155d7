"""A server for one browser on this machine, with nothing but the standard library.

It listens on the loopback address only. A question needs the token that the command printed, the
right Host, and, where a browser says it, the right Origin: a page of others can neither ask nor
read. Threads read what is asked; it is answered in the main thread, one question at a time.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Thread
from typing import Any

HOST = "127.0.0.1"
TOKEN = "X-Statewalk-Token"
_MOST = 1 << 20  # bytes of a question
_LOOK = 0.2  # seconds between looks whether to end
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
        self._thread = Thread(target=self._http.serve_forever, args=(_LOOK,), daemon=True)

    @property
    def address(self) -> str:
        """What to open: the token is in the part that browsers keep to themselves."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def is_asked(self) -> bool:
        """Whether a question waits."""
        return not self.jobs.empty()

    def answer_until(self, ended: Callable[[], bool], ask: Ask) -> None:
        """Answer one question after the other, in this thread."""
        while not ended():
            try:
                question, asked, future = self.jobs.get(timeout=_LOOK)
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
        """The JSON of a question. Raises Served."""
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
