"""The isolation levels that are decided, and which one implies which.

Sources: Adya 2000 (generalised definitions), Elnikety et al. 2005 (generalised SI),
Daudjee and Salem 2006 (strong and strong-session SI).
"""

from __future__ import annotations

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
    Level("strong-session-si", False, True, False, ("si",), "si, and a session never goes back"),
    Level("strong-si", False, True, True, ("strong-session-si",),
          "si, and a snapshot is not older than any commit that ended before it began"),
    Level("serializable", True, False, False, ("si",), "one transaction after another"),
    Level("strong-session-serializable", True, True, False,
          ("serializable", "strong-session-si"), "serial, in each session's order"),
    Level("strict-serializable", True, True, True,
          ("strong-session-serializable", "strong-si"), "serial, in real-time order"),
)
LEVELS: dict[str, Level] = {level.name: level for level in _ALL}


def weaker(name: str) -> frozenset[str]:
    """Every level that `name` implies, itself included."""
    found = {name}
    for below in LEVELS[name].implies:
        found |= weaker(below)
    return frozenset(found)


def implies(strong: str, weak: str) -> bool:
    """Whether each history of level `strong` is also one of level `weak`."""
    return weak in weaker(strong)


def strongest(names: set[str]) -> list[str]:
    """The members of `names` that no other member implies, in the order of LEVELS."""
    return [n for n in LEVELS if n in names and not any(implies(m, n) for m in names - {n})]


def weakest(names: set[str]) -> list[str]:
    """The members of `names` that imply no other member, in the order of LEVELS."""
    return [n for n in LEVELS if n in names and not any(implies(n, m) for m in names - {n})]
