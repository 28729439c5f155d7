"""What the jobs of a search moved, and how long they took."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statewalk.checker.spark.tasks.plan import Expanded


@dataclass
class Figures:
    """What the jobs of a search moved, some of it by file, and how long they took.

    ``largest`` is the largest share of a task over the mean; ``levels`` are (states expanded, jobs,
    seconds).
    """

    jobs: int = 0
    records: int = 0
    sent: int = 0
    filed: int = 0
    largest: float = 0.0
    levels: list[tuple[int, int, float]] = field(default_factory=list)

    def add(self, report: Expanded, folder: str) -> None:
        """Add what a task sent; remove the files that it went in, which have been read by now."""
        self.records += report.records
        self.sent += report.sent
        if report.files:
            self.filed += report.sent
            for name in report.files:
                Path(folder, name).unlink(missing_ok=True)

    def told(self, shuffled: int, distinct: int) -> dict[str, object]:
        """As statistics of a search; ``shuffled`` bytes went through Spark."""
        moved = shuffled + self.filed
        return {
            "jobs": self.jobs,
            "records": self.records,
            "sent_bytes": self.sent,
            "shuffled_bytes": moved,
            "shuffled_bytes_per_state": moved / max(1, distinct),
            "balance": self.largest,
            "levels": tuple(self.levels),
        }
