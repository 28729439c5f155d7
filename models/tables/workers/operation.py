"""An operation on a Paimon table under way, and the state that its workers share."""

from typing import Literal

from statewalk import Auxiliary, Record, State
from statewalk.models.tables.lsm import Mark, Row, Snapshot
from statewalk.models.tables.metadata import Object

Stage = Literal[
    "idle", "data", "vectors", "queued", "metadata", "files", "prepare", "commit"
]  # what is next
Columns = Literal["all", "a", "b"]


# -- records ---------------------------------------------------------------------------------------
class Operation(Record):
    """A write or a compaction under way; ``stage`` is what it does next."""

    stage: Stage = "idle"
    kind: Literal["append", "compact", "overwrite"] = "append"
    bucket: int = 0
    level: int = 0  # of a compaction's sources (with sorted runs: of what it makes)
    read: int = 0  # the version that was read
    row: Row | None = None  # of a write
    changed: Columns = "all"  # what a write changes; less than all only if it read the rest
    file: int = 0  # the data file written; identifies the operation, also where it wrote none
    sources: tuple[int, ...] = ()  # the files it replaces
    levels: tuple[int, ...] = ()  # where those are, as far as it knows (with sorted runs)
    raised: int = 0  # a file that goes to its level as it is
    vectors: frozenset[Mark] | None = None  # the bucket's new deletion vectors, if they change
    to_put: tuple[str, ...] = ()  # files of the next snapshot that are still to be put
    refers: frozenset[Object] = frozenset()  # those put for it
    put: frozenset[Object] = frozenset()  # all metadata it has put, in earlier attempts too
    base: int = 0  # the version the next snapshot is built on
    next: Snapshot | None = None
    retries: int = 0
    checkpoint: int = 0  # in flink: in which committable it went


class Acknowledged(Record):
    """History: an operation that its worker believes to be published as this version."""

    version: int
    file: int
    row: Row | None  # None: a compaction
    changed: Columns


# -- shared state ----------------------------------------------------------------------------------
class Lock(State):
    holder: int | None = None  # a worker's lock key


class Inbox(State):
    """The operations that Flink workers have handed to the committer, in order of arrival."""

    queue: list[Operation] = []


class History(State):
    acked: Auxiliary[list[Acknowledged]] = []
    compactions: int = 0  # that were started
    crashes: int = 0
    lost_answers: int = 0


lock = Lock()
inbox = Inbox()
history = History()
