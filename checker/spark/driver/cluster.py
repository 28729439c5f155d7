"""Where the tasks of a search run, and where its files are."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from statewalk.checker.spark.session.settings import Settings

if TYPE_CHECKING:
    from statewalk.checker.spark.driver.jobs import Jobs


@dataclass
class Cluster:
    """What one driver uses; ``durable`` files outlive the search, ``token`` tells them apart."""

    settings: Settings
    folder: str
    threads: int
    durable: bool = False
    token: str = field(default_factory=lambda: os.urandom(4).hex())

    @cached_property
    def jobs(self) -> Jobs:
        """The session's jobs; the session is made when first needed."""
        from statewalk.checker.spark.driver.connecting import jobs_of

        return jobs_of(self.settings, self.threads)

    @property
    def most_tasks(self) -> int:
        """How many tasks a large level has."""
        return min(self.settings.buckets, self.settings.tasks or max(1, self.jobs.cores()))
