"""The answers to a store's clients, for a checker or a file."""

from statewalk.dsl.library.recording import Did, Recorded, did, ended, from_events, judged
from statewalk.models.stores.multiversion.settings import DIRTY
from statewalk.models.stores.multiversion.store import history
from statewalk.models.stores.multiversion.workload import ALL_TRANSACTIONS


def recorded_history() -> tuple[Recorded, ...]:
    """The history so far, session by session."""
    return from_events(history.events[:], work_of(ALL_TRANSACTIONS))


def work_of(names: tuple[str, ...]) -> tuple[Did, ...]:
    """Return what some transactions have done, where they have begun."""
    return tuple(did(name[0], name, history.ops[name][:]) for name in names if name in history.ops)


def anomaly(level: str) -> str:
    """Return what keeps the transactions that ended from being of a level; empty if nothing does.

    Those that still run matter where others can read from them.
    """
    over = ended(history.events[:])
    work = work_of(tuple(name for name in ALL_TRANSACTIONS if DIRTY or name in over))
    return judged(history.events[:], work, level).anomaly
