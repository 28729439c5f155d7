"""The isolation levels that are decided, and which one implies which.

Sources: Adya, Liskov and O'Neil (ICDE 2000); Elnikety et al. (SRDS 2005); Daudjee and Salem
(VLDB 2006).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """One isolation level: snapshots or a serial order, and which orders it must respect."""

    name: str
    serial: bool
    session: bool
    real_time: bool
    implies: tuple[str, ...]
    meaning: str


_ALL = (
    Level("si", False, False, False, (), "some earlier snapshot, no two overlapping writers"),
    Level("strong-session-si", False, True, False, ("si",), "si, and no session goes back"),
    Level(
        "strong-si",
        False,
        True,
        True,
        ("strong-session-si",),
        "si, and a snapshot has all that was committed before it began",
    ),
    Level("serializable", True, False, False, ("si",), "one transaction after another"),
    Level(
        "strong-session-serializable",
        True,
        True,
        False,
        ("serializable", "strong-session-si"),
        "serial, in the order of each session",
    ),
    Level(
        "strict-serializable",
        True,
        True,
        True,
        ("strong-session-serializable", "strong-si"),
        "serial, in the order of real time",
    ),
)
LEVELS: dict[str, Level] = {level.name: level for level in _ALL}


def weaker(name: str) -> frozenset[str]:
    """Every level that `name` implies, itself included."""
    return frozenset({name}).union(*(weaker(below) for below in LEVELS[name].implies))


def implies(strong: str, weak: str) -> bool:
    """Whether each history of level `strong` is also one of level `weak`."""
    return weak in weaker(strong)


def strongest(names: Iterable[str]) -> list[str]:
    """The levels among `names` that no other one of them implies."""
    among = set(names)
    return [n for n in LEVELS if n in among and not any(implies(m, n) for m in among - {n})]


def weakest(names: Iterable[str]) -> list[str]:
    """The levels among `names` that imply no other one of them."""
    among = set(names)
    return [n for n in LEVELS if n in among and not any(implies(n, m) for m in among - {n})]
