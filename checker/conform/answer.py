"""The answer about the logs of one run, for reports and callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from statewalk.checker.conform.coverage import Coverage


@dataclass(frozen=True, repr=False)
class Conformance:
    """The result of following the logs of one run. It is true if they conform.

    ``verdict`` is conforms, parts, violated, undecided, or mistake for invalid logs in a folder.
    ``accepted`` of ``events`` fitted. ``report`` is what the command prints.
    """

    logs: tuple[str, ...]
    verdict: str
    events: int
    accepted: int
    report: str
    json: Mapping[str, Any]
    coverage: Coverage = field(repr=False, default_factory=Coverage)

    @property
    def conforms(self) -> bool:
        """Return whether the whole log is a behavior of the spec that violates nothing."""
        return self.verdict == "conforms"

    def __bool__(self) -> bool:
        return self.conforms

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        first = self.report.partition("\n")[0]
        return f"<Conformance: {first}; {self.accepted} of {self.events} events; see .report>"
