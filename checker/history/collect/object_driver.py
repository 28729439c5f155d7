"""Run clients against an object on a server, kill some, and record their requests."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statewalk.checker.history.collect.database import Database
from statewalk.checker.history.collect.driver import RECONNECTS, WAIT
from statewalk.checker.history.collect.requests import Requests
from statewalk.checker.history.collect.stores import (
    REFUSED,
    RedisLease,
    RedisLock,
    RedisMap,
    SqlLock,
    SqlMap,
    Store,
    cut,
)

LEASE = 50  # milliseconds, of a lease
# A plan yields requests, (name, arguments), and is sent their answers.
Plan = Generator[tuple[str, tuple[Any, ...]], Any, None]


@dataclass(frozen=True, slots=True)
class ObjectRun:
    """A run: ``operations`` in all, of ``clients`` at once. Of them ``kills`` are killed, one after
    the other. A lock is held for ``pause`` seconds.
    """

    object: str
    operations: int
    clients: int = 4
    keys: int = 10
    seed: int = 0
    pause: float = 0.0
    kills: int = 0


def _map_plan(run: ObjectRun, rng: random.Random, fresh: Callable[[], int]) -> Plan:
    seen: dict[int, int] = {}
    while True:
        key, way = rng.randrange(run.keys), rng.random()
        if key in seen and way < 0.6:
            old, seen[key] = seen[key], fresh()
            if (yield "cas", (key, old, seen[key])) is not True:
                del seen[key]
        elif way < 0.2:
            seen[key] = fresh()
            yield "write", (key, seen[key])
        else:
            found = yield "read", (key,)
            if isinstance(found, int):
                seen[key] = found


def _lock_plan(run: ObjectRun, rng: random.Random, fresh: Callable[[], int]) -> Plan:
    while True:
        if (yield "try_acquire", ()) is True:
            time.sleep(run.pause)
            yield "release", ()


def _lease_plan(run: ObjectRun, rng: random.Random, fresh: Callable[[], int]) -> Plan:
    while True:
        token = yield "acquire", ()
        if isinstance(token, int):
            for _ in range(rng.randint(1, 4)):
                time.sleep(run.pause * rng.random())
                yield "write", (token, fresh())
                if rng.random() < 0.5 and (yield "renew", (token,)) is not True:
                    break
            if rng.random() < 0.5:
                yield "release", (token,)
        yield "read", ()


PLANS = {"kv": _map_plan, "lock": _lock_plan, "lease": _lease_plan}


def store_of(object: str, url: str, database: Database | None, lease: int) -> Store | None:
    """Return an object on a server: on Redis, where there is no database; None where there is no
    such object.
    """
    if database is None:
        made: dict[str, Store] = {
            "kv": RedisMap(url),
            "lock": RedisLock(url, lease),
            "lease": RedisLease(url, lease or LEASE),
        }
        return made[object]
    if object == "kv":
        return SqlMap(database)
    return SqlLock(database) if object == "lock" and database.mark == "%s" else None


def collect_object(store: Store, run: ObjectRun, path: Path) -> dict[str, int]:
    """Record a run into a new file; how many requests ended ok, fail and info.

    Raises:  HistoryError[SW707] when the file exists; the first unexpected error of a client, or an
             error of the store when it cannot be prepared.
    """
    with Requests(path) as log:
        try:
            store.prepare(run.keys)
        except BaseException:
            path.unlink()  # nothing was recorded
            raise
        names = iter(range(run.clients, run.clients + run.kills + 10_000))
        clients = [_Client(store, run, log, number, names) for number in range(run.clients)]
        threads = [threading.Thread(target=client.work, daemon=True) for client in clients]
        for thread in threads:
            thread.start()
        _kill(run, log, clients)
        for thread in threads:
            thread.join()
        for client in clients:
            if client.failure is not None:
                raise client.failure
        return dict(log.counts)


def _kill(run: ObjectRun, log: Requests, clients: list[_Client]) -> None:
    """Kill a client whenever a share of the operations is over."""
    rng = random.Random(f"{run.seed} kill")
    for kill in range(run.kills):
        while sum(log.counts.values()) < run.operations * (kill + 1) // (run.kills + 1):
            if not any(client.going for client in clients):
                return
            time.sleep(0.001)
        victim = rng.choice([client for client in clients if client.going] or clients)
        victim.killed = True
        connection = victim.connection  # before the name, which changes first when it comes back
        if victim.frees:  # at some time from now on, by the server
            with log.request(victim.name, "release") as request:
                request.unknown()
        # it may have lost the connection, or be connecting just now
        with suppress(*victim.store.errors, AttributeError, ValueError):
            cut(connection)


class _Client:
    """A client: a thread with a connection. One that is killed comes back as another client."""

    def __init__(
        self, store: Store, run: ObjectRun, log: Requests, number: int, names: Any
    ) -> None:
        self.store, self.run, self.log, self.name, self.names = store, run, log, number, names
        self.rng = random.Random(f"{run.seed} {number}")
        self.connection: Any = None
        self.failure: BaseException | None = None
        self.frees = run.object == "lock" and store.frees
        self.going, self.killed = True, False
        share, more = divmod(run.operations, run.clients)
        self.turns = share + (number < more)
        self.value = number - run.clients + 1

    def work(self) -> None:
        """Send this client's share of the requests."""
        try:
            self.connection = self._connected()
            plan = PLANS[self.run.object](self.run, self.rng, self._fresh)
            asked = next(plan)
            for _ in range(self.turns):
                try:
                    asked = plan.send(self._request(*asked))
                except self.store.errors:
                    if self.frees and not self.killed:
                        raise  # the server released the lock, and nobody knows since when
                    self._come_back()
                    plan = PLANS[self.run.object](self.run, self.rng, self._fresh)
                    asked = next(plan)
            if self.run.object == "lock":  # else the server releases it now
                with suppress(*self.store.errors):
                    self._request("release", ())
            self.connection.close()
        except BaseException as error:
            self.failure = error
        finally:
            self.going = False

    def _request(self, name: str, args: tuple[Any, ...]) -> Any:
        keyed = {"key": args[0]} if self.run.object == "kv" else {}
        with self.log.request(self.name, name, *args[len(keyed) :], **keyed) as request:
            request.answer = self.store.call(self.connection, self.name, name, *args)
            if request.answer is REFUSED:
                request.failed()
        return request.answer

    def _come_back(self) -> None:
        """Connect anew as another client; the lock of the one that was killed is released."""
        with suppress(Exception):
            self.connection.close()
        dead, self.name = self.name, next(self.names)
        self.connection = self._connected()
        if self.run.object == "lock" and not self.store.frees:
            with suppress(*self.store.errors), self.log.request(dead, "release") as request:
                if self.store.call(self.connection, dead, "release") is REFUSED:
                    request.failed()

    def _connected(self) -> Any:
        for attempt in range(RECONNECTS):
            try:
                return self.store.connect()
            except self.store.errors:
                if attempt == RECONNECTS - 1:
                    raise
                time.sleep(WAIT)
        raise AssertionError("the last attempt raises")

    def _fresh(self) -> int:
        """Return a value that no other client writes, and this one never again."""
        self.value += self.run.clients
        return self.value
