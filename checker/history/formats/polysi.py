"""PolySI's text format: one operation per line, `w(key,value,session,transaction)`.

Everything listed committed; the order of lines is session order; value 0 is the initial one. A
first transaction that writes nothing but 0 says which keys there are.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from pathlib import Path

from statewalk.checker.history.data import READ, WRITE, Builder, History
from statewalk.dsl.files import MOST, opened

_LINE = re.compile(
    rb"\s*([rw])\(\s*(-?\d{1,19})\s*,\s*(-?\d{1,19})\s*,\s*(-?\d{1,19})\s*,\s*(-?\d{1,19})\s*\)\s*\Z"
)


def read(path: Path) -> History:
    """Return the history in a PolySI text file.

    Raises:  HistoryError with the line and what was expected there.
    """
    build = Builder(str(path), "polysi")
    current: tuple[int, int] | None = None
    initial: tuple[int, int] | None = None
    closed = set[int]()
    with opened(path, MOST) as lines:
        for number, line in enumerate(lines, 1):
            if not (line := line.removeprefix(BOM_UTF8) if number == 1 else line).strip():
                continue
            found = _LINE.match(line)
            if found is None:
                text = line.strip()[:60].decode("utf-8", "replace")
                raise build.fail(
                    f"the line {text!r} is not an operation",
                    f"line {number}",
                    "r(key,value,session,transaction) or w(...)",
                )
            key, value, session, txn = (int(x) for x in found.groups()[1:])
            first = current is None and initial in (None, (session, txn))
            if first and found[1] == b"w" and not value:
                initial = session, txn
                continue
            if initial == (session, txn):
                raise build.fail(
                    "there is an operation in the transaction of the initial values",
                    f"line {number}",
                    "a transaction of its own",
                )
            if current != (session, txn):
                if txn in closed:
                    raise build.fail(
                        f"transaction {txn} continues after another began",
                        f"line {number}",
                        "its operations on consecutive lines",
                    )
                closed.add(txn)
                current = (session, txn)
                build.transaction(session, place=number, name=txn)
            if found[1] == b"r":
                build.op(READ, key, value or None)
            elif value:
                build.op(WRITE, key, value)
            else:
                raise build.fail(
                    "there is a write of 0", f"line {number}", "another value; 0 is the initial one"
                )
    return build.history()


def looks_like(head: bytes) -> bool:
    """Return whether the first line of a file is an operation of this format."""
    lines = head.lstrip().split(b"\n", 1)
    return re.match(rb"\s*[rw]\(\s*-?\d+\s*,", lines[0]) is not None
