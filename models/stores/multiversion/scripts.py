"""The scripts of a store's sessions, written as people write them.

``w x; r x, r y || w y; r x, r y`` is two sessions of two transactions each. A transaction is its
operations, separated by commas; transactions of a session are separated by semicolons.

>>> parse("r x, w x || r x")
(((('r', 'x'), ('w', 'x')),), ((('r', 'x'),),))
"""

Operation = tuple[str, str]  # "r" or "w", and a key
Script = tuple[tuple[Operation, ...], ...]  # the transactions of a session


def parse(text: str) -> tuple[Script, ...]:
    """The script of each session. Raises ValueError where an operation is none."""
    return tuple(
        tuple(
            tuple(_operation(op) for op in transaction.split(","))
            for transaction in session.split(";")
        )
        for session in text.split("||")
    )


def _operation(text: str) -> Operation:
    words = text.split()
    if len(words) != 2 or words[0] not in ("r", "w"):
        raise ValueError(f"{text.strip()!r} is no operation; they look like 'r x' or 'w x'")
    return words[0], words[1]


def keys_of(scripts: tuple[Script, ...]) -> tuple[str, ...]:
    """All keys, in alphabetical order."""
    return tuple(sorted({key for s in scripts for t in s for _, key in t}))
