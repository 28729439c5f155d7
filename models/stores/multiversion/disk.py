"""The store's writes to disk, its recovery after a crash, and the properties of both."""

from statewalk import Record, State, action, always, require
from statewalk.models.stores.multiversion.settings import ACK, LOG, RECORDS
from statewalk.models.stores.multiversion.store import (
    Version,
    has,
    history,
    install,
    keys_written,
    store,
    versions,
)
from statewalk.models.stores.multiversion.workload import ALL_KEYS

Keys = tuple[str, ...]
MARK: Keys = ()  # a record without writes: all of a transaction is in the logs


class Entry(Record):
    """Of a log: the keys that a transaction wrote, as far as the record got to disk."""

    transaction: str
    keys: Keys
    torn: bool = False


class Disk(State):
    logged: list[Entry] = []
    unlogged: list[str] = []  # transactions that are committed and not yet on disk
    crashes: int = 0

    if ACK == "early":

        @action(fair="weak")
        def flush(self) -> None:
            """Write what has been committed for some time."""
            require(self.unlogged)
            name = self.unlogged.pop(0)
            self.logged.append(Entry(name, tuple(keys_written(name))))


disk = Disk()


def records_of(transaction: str) -> list[Keys]:
    """The records that a commit writes."""
    keys = keys_written(transaction)
    if LOG == "whole":
        return [tuple(keys)]
    return [(key,) for key in keys] + ([MARK] if LOG == "marked" else [])


def survived(transaction: str) -> Keys:
    """The writes of a transaction that count after a crash."""
    mine = [e for e in disk.logged if e.transaction == transaction]
    if LOG == "marked" and not any(e.keys == MARK for e in mine):
        return ()
    sound = [e for e in mine if not (e.torn and RECORDS == "checked")]
    return tuple(key for key in ALL_KEYS if any(key in e.keys for e in sound))


def rebuild() -> None:
    """Keep the versions that are on disk, and make versions of what else is there."""
    for key in ALL_KEYS:
        if key in store.versions:
            store.versions[key] = kept(key)
    for entry in disk.logged:
        name = entry.transaction
        keys = [key for key in survived(name) if not has(name, key)]
        if keys:
            store.clock += 1
        for key in keys:
            install(name, key, store.clock)


def kept(key: str) -> list[Version]:
    return [v for v in versions(key) if key in survived(v.writer)]


if LOG != "none":

    @always
    def durable() -> bool:
        """A commit that a client was told of stays."""
        return all(
            has(name, key)
            for what, name in history.events
            if what == "commit"
            for key in keys_written(name)
        )

    @always
    def all_or_nothing() -> bool:
        """Of each transaction, all writes are there or none."""
        return all(len({has(name, key) for key in keys_written(name)}) < 2 for name in history.ops)

    @always
    def installed_once() -> bool:
        """No transaction makes two versions of a key."""
        return all(len({v.writer for v in versions(key)}) == len(versions(key)) for key in ALL_KEYS)

    @always
    def abort_leaves_nothing() -> bool:
        """A transaction that a client was told is aborted leaves nothing."""
        return all(
            not has(name, key)
            for what, name in history.events
            if what == "abort"
            for key in ALL_KEYS
        )
