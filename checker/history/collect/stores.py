"""Objects on real servers: what each request of a client is there."""

from __future__ import annotations

import os
import socket
from abc import ABC, abstractmethod
from typing import Any, Final

from statewalk.checker.history.collect.database import Database
from statewalk.checker.history.collect.redis import Redis, RedisError
from statewalk.checker.history.collect.statements import execute

REFUSED: Final = object()  # an answer: the request surely had no effect
_LOCK, _TOKEN, _VALUE, _KEY = "statewalk:lock", "statewalk:token", "statewalk:value", "statewalk:"
_LOCK_NUMBER = 0x57A7E

# Each script is one step of the server.
_CAS = "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end redis.call('SET',KEYS[1],ARGV[2]) "
_CAS += "return 1"
_RELEASE = (
    "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end return redis.call('DEL',KEYS[1])"
)
_ACQUIRE = "if redis.call('EXISTS',KEYS[1])==1 then return 0 end "
_ACQUIRE += "local t=redis.call('INCR',KEYS[2]) redis.call('SET',KEYS[1],t,'PX',ARGV[1]) return t"
_RENEW = "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end "
_RENEW += "return redis.call('PEXPIRE',KEYS[1],ARGV[2])"
_FENCED = "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end "
_FENCED += "redis.call('SET',KEYS[2],ARGV[2]) return 1"


class Store(ABC):
    """An object on a server. ``errors`` are what a lost connection or a refused request raises.

    ``frees``: the server itself releases the lock of a client that is gone.
    """

    errors: tuple[type[Exception], ...]
    frees = False

    @abstractmethod
    def connect(self) -> Any:
        """Return a new connection. Raises: one of `errors`."""

    @abstractmethod
    def prepare(self, keys: int) -> None:
        """Make the object anew, as it is at the beginning."""

    @abstractmethod
    def call(self, connection: Any, client: int, name: str, *args: Any) -> Any:
        """Send a request; return its answer, or REFUSED. Raises: one of `errors`."""


def cut(connection: Any) -> None:
    """Cut a connection that another thread uses, as if its client were killed."""
    number = connection.fileno() if hasattr(connection, "fileno") else connection._sock.fileno()
    with socket.socket(fileno=os.dup(number)) as copy:
        copy.shutdown(socket.SHUT_RDWR)


class SqlMap(Store):
    """Rows of a table as a map, each request one statement."""

    def __init__(self, database: Database) -> None:
        self.database, self.errors = database, (*database.errors, OSError)

    def connect(self) -> Any:
        return self.database.connect()

    def prepare(self, keys: int) -> None:
        self.database.prepare_objects()

    def call(self, connection: Any, client: int, name: str, *args: Any) -> Any:
        if name == "read":
            return self.database.get_object(connection, args[0])
        if name == "write":
            self.database.set_object(connection, *args)
            return None
        return self.database.cas_object(connection, *args)


class SqlLock(Store):
    """A session's advisory lock in PostgreSQL."""

    frees = True

    def __init__(self, database: Database) -> None:
        self.database, self.errors = database, (*database.errors, OSError)

    def connect(self) -> Any:
        return self.database.connect()

    def prepare(self, keys: int) -> None:
        self.database.connect().close()

    def call(self, connection: Any, client: int, name: str, *args: Any) -> Any:
        function = "pg_try_advisory_lock" if name == "try_acquire" else "pg_advisory_unlock"
        (did,) = execute(connection, f"SELECT {function}({_LOCK_NUMBER})").fetchone()
        if name == "try_acquire":
            return bool(did)
        return None if did else REFUSED


class _RedisStore(Store):
    """An object in Redis; a lease, where there is one, ends after some milliseconds."""

    errors = (OSError, RedisError)

    def __init__(self, url: str, lease: int = 0) -> None:
        self.url, self.lease = url, lease

    def connect(self) -> Redis:
        return Redis(self.url)

    def prepare(self, keys: int) -> None:
        connection = self.connect()
        connection.call("DEL", _LOCK, _TOKEN, _VALUE, *(f"{_KEY}{key}" for key in range(keys)))
        connection.close()


def _number(said: str | None) -> int | None:
    return None if said is None else int(said)


class RedisMap(_RedisStore):
    """Keys of Redis as a map."""

    def call(self, connection: Redis, client: int, name: str, *args: Any) -> Any:
        key = f"{_KEY}{args[0]}"
        if name == "read":
            return _number(connection.call("GET", key))
        if name == "write":
            connection.call("SET", key, args[1])
            return None
        return connection.call("EVAL", _CAS, 1, key, *args[1:]) == 1


class RedisLock(_RedisStore):
    """A key of Redis as a lock: SET NX, and deleted by its owner. With a lease it is none."""

    def call(self, connection: Redis, client: int, name: str, *args: Any) -> Any:
        if name == "try_acquire":
            expires = ("PX", self.lease) if self.lease else ()
            return connection.call("SET", _LOCK, client, "NX", *expires) == "OK"
        return None if connection.call("EVAL", _RELEASE, 1, _LOCK, client) == 1 else REFUSED


class RedisLease(_RedisStore):
    """A lease in Redis with a fencing token, which each write is checked against."""

    def call(self, connection: Redis, client: int, name: str, *args: Any) -> Any:
        if name == "acquire":
            token = connection.call("EVAL", _ACQUIRE, 2, _LOCK, _TOKEN, self.lease)
            return token or REFUSED
        if name == "renew":
            return connection.call("EVAL", _RENEW, 1, _LOCK, args[0], self.lease) == 1
        if name == "release":
            connection.call("EVAL", _RELEASE, 1, _LOCK, args[0])
            return None
        if name == "write":
            return connection.call("EVAL", _FENCED, 2, _TOKEN, _VALUE, *args) == 1
        return _number(connection.call("GET", _VALUE))
