"""A connection to Redis, or to a server that speaks its protocol (RESP 2)."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import unquote, urlsplit

from statewalk.checker.history.errors import HistoryError

PORT = 6379
_WAIT = 5.0  # seconds


class RedisError(Exception):
    """An error that the server answered with."""


class Redis:
    """A connection; used by one thread."""

    def __init__(self, url: str) -> None:
        """Connect. Raises: HistoryError[SW708] for what is no URL; OSError, RedisError."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "127.0.0.1", parts.port or PORT
        except ValueError:
            raise HistoryError(
                "the URL cannot be read", expected="redis://HOST:PORT", code="SW708"
            ) from None
        self._socket = socket.create_connection((host, port), _WAIT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        if parts.password:
            user = [unquote(parts.username)] if parts.username else []
            self.call("AUTH", *user, unquote(parts.password))

    def fileno(self) -> int:
        """Return the socket's number."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()

    def call(self, *words: str | int) -> Any:
        """Send a command; return its answer. Raises: OSError, RedisError."""
        parts = [str(word).encode() for word in words]
        sent = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
        self._socket.sendall(sent)
        return self._answer()

    def _answer(self) -> Any:
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionResetError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        if kind == b"*":
            return [self._answer() for _ in range(int(rest))]
        size = int(rest)
        if size < 0:
            return None
        data = self._file.read(size + 2)
        if len(data) < size + 2:
            raise ConnectionResetError("the server closed the connection")
        return data[:size].decode()
