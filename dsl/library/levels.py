"""The isolation levels that are decided, and which one implies which.

Each level is a rule about snapshots, alone or with session order (`strong-session-`), or with
session and real-time order. A level without session order may serve each transaction of a
session from elsewhere, as a pool of replicas does; this is what lets plain snapshot isolation
imply plain causal consistency.

Sources: Adya, Liskov and O'Neil (ICDE 2000); Bailis et al. (PVLDB 7); Cerone and Gotsman (JACM
2018); Biswas and Enea (OOPSLA 2019), whose levels are the ones with session order and whose
"read committed" is the stricter `monotonic-atomic-view`; Elnikety et al. (SRDS 2005); Daudjee
and Salem (VLDB 2006).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

READ_COMMITTED, VIEW, ATOMIC, CAUSAL = "committed", "view", "atomic", "causal"
PARALLEL, PREFIX, SNAPSHOT, SERIAL = "parallel", "prefix", "snapshot", "serial"
SESSION = "strong-session-"


@dataclass(frozen=True, slots=True)
class IsolationLevel:
    """One isolation level: what a transaction may see, and which orders it must respect.

    `rule` is what the level asks of snapshots without regard to sessions and time.
    """

    name: str
    rule: str
    session: bool
    real_time: bool
    implies: tuple[str, ...]
    meaning: str

    @property
    def serial(self) -> bool:
        """Return whether transactions run one after another."""
        return self.rule == SERIAL

    @property
    def weak(self) -> bool:
        """Return whether it is weaker than snapshot isolation."""
        return self.rule not in (SNAPSHOT, SERIAL)


# Name, rule, the next weaker ones, meaning; then what session order adds.
_RULES = (
    ("read-committed", READ_COMMITTED, (),
     "what is read was committed and final, and influence never runs in a circle",
     "and no circle closes through the order of a session"),
    ("monotonic-atomic-view", VIEW, ("read-committed",),
     "after reading one write of a transaction, the rest of it is not missed",
     "and no circle closes through the order of a session"),
    ("read-atomic", ATOMIC, ("monotonic-atomic-view",),
     "a transaction that is read from is seen whole",
     "and so is everything the session did before"),
    ("causal", CAUSAL, ("read-atomic",),
     "with a transaction, everything it depends on is seen",
     "and everything that the session saw and did before"),
    ("parallel-si", PARALLEL, ("causal",),
     "causal, and no two that write the same key miss each other",
     "and everything that the session saw and did before"),
    ("prefix", PREFIX, ("causal",),
     "each transaction reads one earlier state of a single order of commits",
     "and no session goes back in it"),
    ("si", SNAPSHOT, ("parallel-si", "prefix"),
     "some earlier snapshot, no two overlapping writers",
     "and no session goes back"),
)  # fmt: skip


def _plain_and_session() -> Iterable[IsolationLevel]:
    for name, rule, below, meaning, more in _RULES:
        yield IsolationLevel(name, rule, False, False, below, meaning)
        stronger = tuple(SESSION + other for other in below)
        yield IsolationLevel(
            SESSION + name, rule, True, False, (*stronger, name), f"{name}, {more}"
        )


_ALL = (
    *_plain_and_session(),
    IsolationLevel("strong-si", SNAPSHOT, True, True, ("strong-session-si",),
          "si, and a snapshot has all that was committed before it began"),
    IsolationLevel("serializable", SERIAL, False, False, ("si",), "one transaction after another"),
    IsolationLevel("strong-session-serializable", SERIAL, True, False,
          ("serializable", "strong-session-si"), "serial, in the order of each session"),
    IsolationLevel("strict-serializable", SERIAL, True, True,
          ("strong-session-serializable", "strong-si"), "serial, in the order of real time"),
)  # fmt: skip
LEVELS: dict[str, IsolationLevel] = {level.name: level for level in _ALL}


def weaker(name: str) -> frozenset[str]:
    """Return every level that `name` implies, itself included."""
    return frozenset({name}).union(*(weaker(below) for below in LEVELS[name].implies))


def implies(strong: str, weak: str) -> bool:
    """Return whether each history of level `strong` is also one of level `weak`."""
    return weak in weaker(strong)


def strongest(names: Iterable[str]) -> list[str]:
    """Return the levels among `names` that no other one of them implies."""
    among = set(names)
    return [n for n in LEVELS if n in among and not any(implies(m, n) for m in among - {n})]


def weakest(names: Iterable[str]) -> list[str]:
    """Return the levels among `names` that imply no other one of them."""
    among = set(names)
    return [n for n in LEVELS if n in among and not any(implies(n, m) for m in among - {n})]
