"""A recorder of requests to one object: a line before each is sent, another when it is answered.

Whatever dies at whatever moment, the file holds all requests that may have taken effect.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from statewalk.checker.history.collect.lines import Lines

_NONE: Final = object()
Scalar = int | str


class Request:
    """A request that is under way; its ``answer`` is what the client was told."""

    def __init__(self) -> None:
        """Begin without an answer."""
        self.answer: Any = _NONE
        self.status: Literal["ok", "fail", "info"] = "ok"

    def failed(self) -> None:
        """Say that the request surely had no effect."""
        self.status = "fail"

    def unknown(self) -> None:
        """Say that nobody knows whether the request had an effect, or will have one."""
        self.status = "info"


class Requests(Lines):
    """A file of requests for `statewalk history check --object`; threads may share it.

    The order of the lines is the clock.
    """

    def __init__(self, path: Path | str) -> None:
        """Begin a new file. Raises: HistoryError[SW707] when it exists; OSError."""
        super().__init__(path)
        self.counts = {"ok": 0, "fail": 0, "info": 0}
        self._ids, self._numbers = 0, threading.Lock()
        self.write({"statewalk-operations": 1})

    @contextmanager
    def request(self, client: Scalar, op: str, *args: Any, key: Any = _NONE) -> Iterator[Request]:
        """Record a request of a client, sent in the block.

        If the block raises, the outcome is unknown, unless the request was called ``failed``.
        """
        with self._numbers:
            self._ids += 1
            mine = {"client": client, "id": self._ids}
        keyed = {} if key is _NONE else {"key": key}
        self.write({"event": "invoke", **mine, "op": op, "args": [*args], **keyed})
        request = Request()
        try:
            yield request
        except BaseException:
            if request.status == "ok":
                request.unknown()
            raise
        finally:
            told = request.status == "ok" and request.answer is not _NONE
            answer = {"answer": request.answer} if told else {}
            self.write({"event": request.status, **mine, **answer})
            with self._numbers:
                self.counts[request.status] += 1
