"""Run a workload against a database in concurrent sessions, and record it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from statewalk.checker.history.collect.database import Database
from statewalk.checker.history.collect.recorder import RecordedConnection, Recorder
from statewalk.checker.history.collect.workloads import WORKLOADS, Plan, Shape, initial_of

RECONNECTS = 40
WAIT = 0.25


class _GivenUpError(Exception):
    """A transaction is to be rolled back, as its plan says."""


@dataclass(frozen=True, slots=True)
class WorkloadRun:
    """A workload to run: `transactions` in all, spread over the sessions; `pause` and times
    in seconds.

    `meeting` is how long a session waits for its partner before it goes on alone.
    """

    workload: str
    transactions: int
    shape: Shape = field(default_factory=Shape)
    seed: int = 0
    pause: float = 0.0
    meeting: float = 2.0


def collect(
    database: Database,
    run: WorkloadRun,
    path: Path,
    *,
    running: Callable[[Recorder], Any] | None = None,
) -> dict[str, int]:
    """Record a run into a new file; how many transactions ended ok, fail and info.

    `running` is called once the sessions have begun, with the recorder.
    Raises:  HistoryError[SW707] when the file exists, an error of the database when it cannot
             be prepared, or the first unexpected error of a session.
    """
    initial = initial_of(run.workload, run.shape)
    with Recorder(path, initial=initial) as recorder:
        try:
            database.prepare(initial)
        except BaseException:
            path.unlink()  # nothing was recorded
            raise
        sessions = [_Session(database, run, recorder, s) for s in range(run.shape.sessions)]
        for session in sessions[::2]:
            session.partner = threading.Barrier(2)
        for mine, theirs in zip(sessions[1::2], sessions[::2], strict=False):
            mine.partner = theirs.partner
        threads = [threading.Thread(target=session.work, daemon=True) for session in sessions]
        for thread in threads:
            thread.start()
        if running is not None:
            running(recorder)
        for thread in threads:
            thread.join()
        for session in sessions:
            if session.failure is not None:
                raise session.failure
        return dict(recorder.counts)


class _Session:
    """One client: a thread with a connection, which it renews when it is lost."""

    def __init__(
        self, database: Database, run: WorkloadRun, recorder: Recorder, number: int
    ) -> None:
        self.database, self.run, self.recorder, self.number = database, run, recorder, number
        self.rng = random.Random(f"{run.seed} {number}")
        self.partner: threading.Barrier | None = None
        self.failure: BaseException | None = None
        share, more = divmod(run.transactions, run.shape.sessions)
        self.turns = share + (number < more)
        self.value = number - run.shape.sessions + 1

    def work(self) -> None:
        """Run this session's share of the transactions."""
        try:
            connection = self.connected()
            plan = WORKLOADS[self.run.workload][1]
            for _ in range(self.turns):
                try:
                    self.transact(connection, plan(self.rng, self.run.shape, self.number))
                except _GivenUpError:
                    pass
                except self.database.errors:
                    if not connection.usable():
                        with suppress(Exception):
                            connection.close()
                        connection = self.connected()
            connection.close()
        except BaseException as error:
            self.failure = error
        finally:
            if self.partner is not None:
                self.partner.abort()

    def connected(self) -> RecordedConnection:
        """Return a new connection; a server that restarts is waited for."""
        for attempt in range(RECONNECTS):
            try:
                return self.recorder.wrap(self.database.connect())
            except self.database.errors:
                if attempt == RECONNECTS - 1:
                    raise
                time.sleep(WAIT)
        raise AssertionError("the last attempt raises")

    def transact(self, connection: RecordedConnection, plan: Plan) -> None:
        """Run one transaction. Raises: the database's error after recording the outcome."""
        with connection.transaction():
            self.database.begin(connection)
            for word, *keys in plan:
                self.step(connection, word, keys)

    def step(self, connection: RecordedConnection, word: str, keys: list[int]) -> None:
        """Run one step of a transaction."""
        database = self.database
        if word == "r":
            database.read(connection, keys[0])
        elif word == "w":
            database.write(connection, keys[0], self.fresh())
        elif word == "list":
            database.read_list(connection, keys[0])
        elif word == "append":
            database.append(connection, keys[0], self.fresh())
        elif word == "range":
            database.read_range(connection, keys[0], keys[1])
        elif word == "abort":
            raise _GivenUpError
        elif word == "pause":
            time.sleep(self.run.pause)
        elif word == "meet" and self.partner is not None:
            with suppress(threading.BrokenBarrierError):
                self.partner.wait(self.run.meeting)

    def fresh(self) -> int:
        """Return a value that no other session writes, and this one never again; from 1."""
        self.value += self.run.shape.sessions
        return self.value
