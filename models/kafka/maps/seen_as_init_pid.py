"""Part 2 as part 1 sees it: what clients know of their ids and epochs, and nothing of partitions.

Without elections part 2 does what part 1 does, up to the first transaction that is fenced: the
epoch that fences is handed out to nobody, so the next client gets the one after it.

    statewalk compare kafka/init_pid kafka/transactions \
        --map models/kafka/maps/seen_as_init_pid.py:as_init_pid --set MAX_ELECTIONS=0
"""

import statewalk.models.kafka.transactions  # noqa: F401 (its actions)
from statewalk.models.kafka.fine.cluster import clients

HAS_PID = ("BegunTxn", "Terminated")  # what part 1 does not tell apart from it


def as_init_pid() -> dict[str, object]:
    """A state of part 2 by the fields of part 1; coordinators, logs and messages are hidden."""
    return {
        "Client.state": ["HasPid" if c.state in HAS_PID else c.state for c in clients],
        "Client.tid": [c.tid for c in clients],
        "Client.pid": [c.pid for c in clients],
        "Client.epoch": [c.epoch for c in clients],
    }
