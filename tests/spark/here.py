"""Jobs without a session: tasks run in this process one after the other, on pickled copies."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from checker.spark import replica
from checker.spark.feed import Version, learned
from checker.spark.jobs import Load, Report, level_here
from checker.spark.plan import Plan
from checker.spark.search import SparkSearch


class JobsHere:
    """What `checker.spark.jobs.Jobs` asks for. Each task has a replica of its own."""

    def __init__(self) -> None:
        self.replicas: dict[int, dict[str, Any]] = {}

    def cores(self) -> int:
        return 2

    def send(self, data: bytes) -> Any:
        return bytearray(data)

    def drop(self, place: Any) -> None:
        place.clear()

    def level(self, plan: Plan, version: Version) -> list[Report]:
        return level_here(plan, *learned(version, bytes))

    def each(self, function: Callable[[int, Load], Any], tasks: int) -> list[Any]:
        found = []
        for task in range(tasks):
            replica._replicas.clear()
            replica._replicas.update(self.replicas.get(task, {}))
            found.append(pickle.loads(pickle.dumps(function))(task, bytes))
            self.replicas[task] = dict(replica._replicas)
        return found

    def cancel(self) -> None:
        pass

    def shuffled(self) -> int:
        return 0


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> JobsHere:
    """Lets searches of a test run without Spark."""
    jobs = JobsHere()
    monkeypatch.setattr(SparkSearch, "connect", lambda search: jobs)
    return jobs
