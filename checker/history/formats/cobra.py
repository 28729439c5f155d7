"""Cobra's log folder: one big-endian binary file per client.

'S' transaction · 'W' write key value · 'R' writer-transaction write key value · 'C' transaction.
The write id is the unique value; reserved ids stand for the initial and the null version.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

from statewalk.checker.history.data import INFO, READ, WRITE, Builder, History
from statewalk.dsl.files import opened, read_bytes

INITIAL_IDS = frozenset((0xBEBEEBEE, 0xDEADBEEF))
_GARBAGE_COLLECTION = frozenset((0x23332333, 0x66666666))
_WORDS = {ord("S"): 1, ord("C"): 1, ord("W"): 3, ord("R"): 4}
_EXPECTED = "a record that begins with S, W, R or C"


def files(folder: Path) -> list[Path]:
    """Return the client files of a log folder, in the order of their names, readable or not."""
    return sorted(f for f in folder.iterdir() if f.suffix == ".log" and not f.is_dir())


def read(folder: Path) -> History:
    """Return the history in a Cobra log folder.

    A last transaction without its commit record is indeterminate.
    Raises:  HistoryError with file, byte and what was expected there.
    """
    build = Builder(str(folder), "cobra")
    writers: dict[int, int] = {}  # transactions, by the id of what they wrote
    reads: list[tuple[int, int, str, int]] = []  # writer, id of the write, file, byte
    for file in files(folder):
        build.source = str(file)
        _client(build, file, writers, reads)
    for writer, write, place, at in reads:
        known = writers.get(write, writer)
        if known != writer:
            build.source = place
            raise build.fail(
                f"there is a read of write {write} of transaction {writer}, but {known} wrote it",
                f"byte {at}",
                "the transaction that wrote it",
            )
    build.source = str(folder)
    return build.history()


def _client(
    build: Builder,
    file: Path,
    writers: dict[int, int],
    reads: list[tuple[int, int, str, int]],
) -> None:
    data, at = read_bytes(file), 0
    open_: int | None = None
    while at < len(data):
        words = _WORDS.get(data[at])
        if words is None:
            raise build.fail(
                f"no record begins with byte 0x{data[at]:02x}", f"byte {at}", _EXPECTED
            )
        if at + 1 + 8 * words > len(data):
            break  # a record cut off: its transaction stays open
        kind, numbers = chr(data[at]), struct.unpack_from(f">{words}Q", data, at + 1)
        if kind == "S":
            if open_ is not None:
                raise build.fail(
                    f"transaction {numbers[0]} begins inside {open_}, which has not committed",
                    f"byte {at}",
                    "the commit record of the open one",
                )
            open_ = numbers[0]
            build.transaction(file.stem, place=at, name=open_)
        elif open_ is None:
            raise build.fail(
                f"there is a record {kind} outside any transaction",
                f"byte {at}",
                "a record S before it, which begins a transaction",
            )
        elif kind == "C":
            if numbers[0] != open_:
                raise build.fail(
                    f"there is a commit of {numbers[0]} in transaction {open_}",
                    f"byte {at}",
                    f"commit of {open_}",
                )
            open_ = None
        elif kind == "W":
            if numbers[0] not in _GARBAGE_COLLECTION:
                build.op(WRITE, numbers[1], numbers[0])
                writers[numbers[0]] = open_
        elif numbers[1] not in _GARBAGE_COLLECTION:
            initial = numbers[0] in INITIAL_IDS or numbers[1] in INITIAL_IDS
            build.op(READ, numbers[2], None if initial else numbers[1])
            reads.append((numbers[0], numbers[1], str(file), at))
        at += 1 + 8 * words
    if open_ is not None:
        build.status[-1] = INFO


def looks_like(folder: Path) -> bool:
    """Return whether a folder's log files begin with a Cobra record."""
    for file in files(folder):
        head = b""
        with suppress(OSError), opened(file) as data:
            head = data.read(10)
        if head:
            return head[:1] == b"S" and (len(head) < 10 or head[9] in _WORDS)
    return False
