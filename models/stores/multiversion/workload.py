"""The workload of sessions: the transactions of a script, or any within bounds.

The functions speak of transactions by name, and of what the record says of them.
"""

from statewalk.models.stores.multiversion.scripts import keys_of, parse
from statewalk.models.stores.multiversion.settings import (
    EVERY_ORDER,
    FREE,
    KEYS,
    OPS,
    SESSIONS,
    TRANSACTIONS,
    WORKLOAD,
)
from statewalk.models.stores.multiversion.store import history

SCRIPTS = () if FREE else parse(WORKLOAD)
ALL_KEYS = tuple("xyz"[:KEYS]) if FREE else keys_of(SCRIPTS)
SESSION_COUNT = SESSIONS if FREE else len(SCRIPTS)
LETTERS = "ABCDEFGH"

assert 1 <= SESSION_COUNT <= len(LETTERS)


def transactions_of(session: int) -> int:
    """Return how many transactions a session runs."""
    return TRANSACTIONS if FREE else len(SCRIPTS[session])


def names_of(session: int) -> list[str]:
    """Return what the transactions of a session are called."""
    return [f"{LETTERS[session]}{n + 1}" for n in range(transactions_of(session))]


ALL_TRANSACTIONS = tuple(name for s in range(SESSION_COUNT) for name in names_of(s))


def session_of(transaction: str) -> int:
    """The session that a transaction is of."""
    return LETTERS.index(transaction[0])


def script_of(transaction: str) -> tuple[tuple[str, str], ...]:
    """Return what a transaction is to do, where that is written down."""
    return SCRIPTS[session_of(transaction)][int(transaction[1:]) - 1]


def next_is(transaction: str, kind: str, key: str) -> bool:
    """Return whether the workload lets a transaction do that next."""
    ops = history.ops[transaction]
    if FREE:
        in_order = EVERY_ORDER or not ops or (ops[-1][0], ops[-1][1]) < (kind, key)
        return len(ops) < OPS and in_order and not skips_a_key(key)
    script = script_of(transaction)
    return len(ops) < len(script) and script[len(ops)] == (kind, key)


def has_done_all(transaction: str) -> bool:
    """Return whether there is nothing left for a transaction to do, or need not be."""
    done = len(history.ops[transaction])
    if FREE:
        return done == OPS or (done > 0 and not EVERY_ORDER)
    return done == len(script_of(transaction))


# -- the free workload, without what is the same but for names ------------------------------------
def may_begin(session: int) -> bool:
    """Return whether a session has its turn: free sessions are alike, and first begin in their
    order.
    """
    if not FREE or session == 0:
        return not FREE or EVERY_ORDER or not just_begun_after(session)
    return begun(names_of(session - 1)[0]) and (EVERY_ORDER or not just_begun_after(session))


def begun(transaction: str) -> bool:
    return transaction in history.ops


def just_begun_after(session: int) -> bool:
    """Return whether the last event is a begin of a later session: either order gives the same."""
    return any(what == "begin" and name[0] > LETTERS[session] for what, name in history.events[-1:])


def skips_a_key(key: str) -> bool:
    """Keys are alike: in the free workload they are first used in alphabetical order."""
    at = ALL_KEYS.index(key)
    return at > 0 and not any(
        op[1] == ALL_KEYS[at - 1] for name in history.ops for op in history.ops[name]
    )
