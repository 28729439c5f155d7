"""Requests to objects are recorded, and bugs of stores show in them.

SQLite runs in this process. `make test-postgres` and `make test-redis` start servers; there, 24
clients send requests, of which some are killed.
"""

import os
import random
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.history.collect.database import Database
from statewalk.checker.history.collect.databases import Postgres, SQLite
from statewalk.checker.history.collect.object_driver import ObjectRun, collect_object, store_of
from statewalk.checker.history.collect.requests import Requests
from statewalk.checker.history.collect.stores import RedisLease, RedisMap, SqlMap, Store
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.objects.reading import read_operations
from tests.checker.history import postgres_server, redis_server

POSTGRES = os.environ.get(postgres_server.URL, "")
REDIS = os.environ.get(redis_server.URL, "")
on_postgres = [
    pytest.mark.postgres,
    pytest.mark.skipif(not POSTGRES, reason="no server (`make test-postgres` starts one)"),
]
on_redis = [
    pytest.mark.redis,
    pytest.mark.skipif(not REDIS, reason="no server (`make test-redis` starts one)"),
]
LOSES = random.Random(4)


def retried(store: type[Any]) -> type[Any]:
    """Return a store whose client sends a compare-and-set again when an answer is late."""

    class Retried(store):  # type: ignore[misc]  # a store of any kind
        def call(self, connection: Any, client: int, name: str, *args: Any) -> Any:
            answer = super().call(connection, client, name, *args)
            if name == "cas" and LOSES.random() < 0.5:
                return super().call(connection, client, name, *args)
            return answer

    return Retried


class Unfenced(RedisLease):
    """Clients write as long as they believe in their lease, and the store believes them."""

    def call(self, connection: Any, client: int, name: str, *args: Any) -> Any:
        if name == "write":
            connection.call("SET", "statewalk:value", args[1])
            return True
        return super().call(connection, client, name, *args)


def check(path: Path, object: str) -> int:
    return main(["history", "check", str(path), "--object", object, "--timeout", "50"])


def collected(store: Store, path: Path, object: str, pause: float = 0.002, kills: int = 8) -> int:
    """Record 24 clients, of whom some are killed, and check that; the exit code."""
    run = ObjectRun(object, 1000, clients=24, keys=12, pause=pause, kills=kills)
    counts = collect_object(store, run, path)

    assert kills // 2 <= counts["info"] <= 3 * kills
    return check(path, object)


def test_requests_of_threads_are_recorded(tmp_path: Path) -> None:
    path, lock = tmp_path / "a.jsonl", threading.Lock()
    held: list[int] = []

    def work(client: int) -> None:
        for n in range(20):
            with lock, log.request(client, "enqueue", 100 * client + n):
                held.append(100 * client + n)
            with log.request(client, "dequeue") as request, lock:
                request.answer = held.pop(0)

    with Requests(path) as log:
        threads = [threading.Thread(target=work, args=(client,)) for client in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert 0 == check(path, "queue")


def test_outcomes_are_what_the_block_says(tmp_path: Path) -> None:
    with Requests(tmp_path / "a.jsonl") as log:
        with log.request("ann", "write", 1, key="x") as request:
            request.failed()
        with suppress(OSError), log.request("ann", "write", 2, key="x"):
            raise OSError
        with suppress(OSError), log.request("ann", "cas", 1, 2, key="x") as request:
            request.failed()
            raise OSError
    found = read_operations(tmp_path / "a.jsonl").all

    assert [("fail", "x"), ("info", "x"), ("fail", "x")] == [(op.status, op.key) for op in found]
    assert {"ok": 0, "fail": 2, "info": 1} == log.counts
    with pytest.raises(HistoryError, match="the file exists"):
        Requests(tmp_path / "a.jsonl")


def test_a_map_in_sqlite_is_linearizable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    url = str(tmp_path / "a.db")
    more = ["--object", "kv", "--transactions", "120", "--keys", "3"]

    assert 0 == main(["history", "collect", str(path), "--database", "sqlite", "--url", url, *more])
    assert f"history check {path} --object kv" in capsys.readouterr().out
    assert 0 == check(path, "kv")


def test_a_retried_compare_and_set_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = retried(SqlMap)(SQLite(str(tmp_path / "a.db"), None))
    collect_object(store, ObjectRun("kv", 300, keys=2), tmp_path / "a.jsonl")

    assert 1 == check(tmp_path / "a.jsonl", "kv")
    assert "cas(" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--kill", "1"], "are for clients of an object"),
        (["--object", "kv", "--workload", "rmw"], "--workload is for transactions"),
        (["--object", "lease"], "duckdb has no --object lease"),
        (["--object", "kv", "--kill", "1"], "duckdb has no --kill"),
    ],
)
def test_what_no_store_has_is_refused(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["history", "collect", str(tmp_path / "a.jsonl"), *more])
    assert said in capsys.readouterr().err


def database(url: str) -> Database | None:
    return Postgres(url, None) if url.startswith("postgres") else None


@pytest.mark.parametrize(
    ("url", "object"),
    [
        *(pytest.param(POSTGRES, name, marks=on_postgres) for name in ("kv", "lock")),
        *(pytest.param(REDIS, name, marks=on_redis) for name in ("kv", "lock", "lease")),
    ],
)
def test_objects_on_servers_are_linearizable(url: str, object: str, tmp_path: Path) -> None:
    store = store_of(object, url, database(url), 0)

    assert store is not None
    assert 0 == collected(store, tmp_path / "a.jsonl", object)


@pytest.mark.parametrize(
    "store",
    [
        pytest.param(retried(SqlMap)(Postgres(POSTGRES, None)) if POSTGRES else None,
                     marks=on_postgres),
        pytest.param(retried(RedisMap)(REDIS), marks=on_redis),
    ],
)  # fmt: skip
def test_a_retried_compare_and_set_is_found_on_a_server(store: Store, tmp_path: Path) -> None:
    began = time.monotonic()

    assert 1 == collected(store, tmp_path / "a.jsonl", "kv")
    assert 60 > time.monotonic() - began


@pytest.mark.redis
@pytest.mark.skipif(not REDIS, reason="no server (`make test-redis` starts one)")
@pytest.mark.parametrize("kind", ["expiring lock", "unfenced lease"])
def test_a_lease_that_outlives_its_lock_is_found(kind: str, tmp_path: Path) -> None:
    """A lock whose lease runs out while it is held has two owners."""
    object = kind.rpartition(" ")[2]
    store = Unfenced(REDIS, 3) if object == "lease" else store_of(object, REDIS, None, 3)

    assert store is not None
    assert 1 == collected(store, tmp_path / "a.jsonl", object, pause=0.01, kills=0)
