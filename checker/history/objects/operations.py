"""Recorded operations: what clients asked of an object, when, and what they were told."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

Status = Literal["ok", "fail", "info"]
Time = float | Decimal
"""A time as it was recorded, or a bound of those that a search knows; all are compared exactly."""


class _Absent:
    """The value of what was not recorded; None is a value that a client may be told."""

    def __repr__(self) -> str:
        return "not recorded"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``begin`` and ``end`` are times in one order of all; None: it never ended.

    ``asked`` is what the client gave and ``told`` what it got. In an ``exact`` record they are the
    arguments, as a list or by name, and the answer; else they are the two values of Jepsen's
    events, in which a completion may repeat what was asked. ``place`` is the line of the
    invocation, ``ended`` that of the completion.
    """

    client: int | str
    name: str
    status: Status
    begin: Time
    end: Time | None
    place: int
    ended: int = 0
    asked: Any = None
    told: Any = ABSENT
    key: Any = ABSENT
    exact: bool = False

    @property
    def where(self) -> str:
        """Return the lines that it was read from."""
        last = f"-{self.ended}" if self.ended > self.place else ""
        return f"line {self.place}{last}"


@dataclass(frozen=True)
class Operations:
    """All operations of a file, by their begins."""

    source: str
    format: str
    all: tuple[Operation, ...]

    def clients(self) -> int:
        """Return how many clients there are."""
        return len({op.client for op in self.all})
