"""dbcop's binary format: little-endian counts, three strings, sessions of transactions of events.

An event is one byte (1 = write), key and value (u64 each) and one byte (1 = succeeded); a
transaction ends with one byte (1 = committed). Value 0 is the initial one.
"""

from __future__ import annotations

import struct
from pathlib import Path

from statewalk.checker.history.data import FAIL, OK, READ, WRITE, Builder, History
from statewalk.dsl.files import read_bytes

_HEADER = struct.Struct("<5Q")
_EVENT = struct.Struct("<BQQB")
_SIZE = struct.Struct("<Q")


class _Bytes:
    """The file's bytes with a place; every read past the end is an error with that place."""

    def __init__(self, build: Builder, data: bytes) -> None:
        self.build, self.data, self.at = build, data, 0

    def take(self, form: struct.Struct, expected: str) -> tuple[int, ...]:
        if self.at + form.size > len(self.data):
            raise self.build.fail("the file ends too early", f"byte {len(self.data)}", expected)
        self.at += form.size
        return form.unpack_from(self.data, self.at - form.size)

    def size(self, unit: int, expected: str) -> int:
        """Return a count of things of at least `unit` bytes, which must fit into the rest."""
        here = self.at
        found = self.take(_SIZE, expected)[0]
        if found * unit > len(self.data) - self.at:
            raise self.build.fail(
                f"the count here is {found}, more than the file can hold",
                f"byte {here}",
                f"{expected} that fits into the rest of the file",
            )
        return found


def read(path: Path) -> History:
    """Return the history in a dbcop file.

    Raises:  HistoryError with the byte and what was expected there.
    """
    build = Builder(str(path), "dbcop")
    data = _Bytes(build, read_bytes(path))
    data.take(_HEADER, "five counts of 8 bytes: id, nodes, variables, transactions, events")
    for name in ("info", "start time", "end time"):
        length = data.size(1, f"the length of the string {name}")
        data.at += length
    for session in range(data.size(8, "the number of sessions")):
        for _ in range(data.size(9, "the number of transactions of a session")):
            _transaction(build, data, session)
    if data.at != len(data.data):
        raise build.fail(
            f"the file is {len(data.data) - data.at} bytes too many",
            f"byte {data.at}",
            "the end of the file",
        )
    return build.history()


def _transaction(build: Builder, data: _Bytes, session: int) -> None:
    place, events = data.at, []
    for _ in range(data.size(18, "the number of events of a transaction")):
        here = data.at
        write, key, value, good = data.take(_EVENT, "an event of 18 bytes")
        if write > 1 or good > 1:
            raise build.fail(
                f"an event has the flags {write} and {good}", f"byte {here}", "0 or 1 for each"
            )
        if write and not value:
            raise build.fail(
                "there is a write of 0", f"byte {here}", "another value; 0 is the initial one"
            )
        if good:
            events.append((write, key, value))
    committed = data.take(struct.Struct("<B"), "a byte that says whether it committed")[0]
    build.transaction(session, place=place, status=OK if committed else FAIL)
    for write, key, value in events:
        build.op(WRITE if write else READ, key, value or None)


def looks_like(head: bytes, size: int) -> bool:
    """Return whether the counts at the beginning of a file could be this format's."""
    if len(head) < _HEADER.size + 4 * _SIZE.size:
        return False
    _, nodes, variables, transactions, events = _HEADER.unpack_from(head)
    if not max(nodes, transactions, events) <= size or variables > 1 << 48:
        return False
    length: int = _SIZE.unpack_from(head, _HEADER.size)[0]
    return length <= size
