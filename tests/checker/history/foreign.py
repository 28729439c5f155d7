"""Histories in the formats that are read and not written, as their tools write them."""

import struct
from collections.abc import Sequence
from pathlib import Path

POLYSI = (
    b"w(1,10,0,0)\nw(2,11,0,0)\nr(1,10,1,1)\nr(2,11,1,1)\nr(3,0,1,1)\nr(1,10,0,2)\nw(1,12,0,2)\n"
)
VIPER = {
    "J0000.log": b'{"value": [["r", "k", 5, false], ["w", "k", 6, true], ["r", "z", 0, false]]}\n'
    b'{"value": [["range", 1, 9, [{"id": 3, "val": 4}], [{"id": 5, "val": 6}]]]}\n',
    "J0001.log": b'{"value": [["range", "nil", "nil", [], []]]}\n',
    "Jinitial.log": b'{"value": [["w", "k", 5, true]], "isInitial": true}\n',
}
_INITIAL = (0xBEBEEBEE, 0xDEADBEEF)


def dbcop(*sessions: Sequence[Sequence[tuple[int, int, int]]]) -> bytes:
    """Bytes of committed transactions of events: 1 for a write, key, value."""
    body = struct.pack("<5Q", 0, len(sessions), 3, 3, 7) + bytes(24)
    body += struct.pack("<Q", len(sessions))
    for session in sessions:
        body += struct.pack("<Q", len(session))
        for events in session:
            body += struct.pack("<Q", len(events))
            body += b"".join(struct.pack("<BQQB", *event, 1) for event in events) + b"\x01"
    return body


def cobra(*transactions: tuple[int, Sequence[tuple[str, int, int, int]]]) -> bytes:
    """Bytes of transactions of operations: W or R, who wrote the value, key, value."""
    body = b""
    for number, operations in transactions:
        body += struct.pack(">cQ", b"S", number)
        for what, writer, key, value in operations:
            if what == "W":
                body += struct.pack(">c3Q", b"W", value, key, value)
            else:
                ids = (writer, value) if value else _INITIAL
                body += struct.pack(">c4Q", b"R", *ids, key, value)
        body += struct.pack(">cQ", b"C", number)
    return body


SAMPLES: dict[str, bytes | dict[str, bytes]] = {
    "viper": VIPER,
    "polysi": POLYSI,
    "dbcop": dbcop(
        [[(1, 1, 10), (1, 2, 11)], [(0, 1, 10), (1, 1, 12)]],
        [[(0, 1, 10), (0, 2, 11), (0, 3, 0)]],
    ),
    "cobra": {
        "000000.log": cobra(
            (1, [("W", 0, 1, 10), ("W", 0, 2, 11)]), (3, [("R", 1, 1, 10), ("W", 0, 1, 12)])
        ),
        "000001.log": cobra((2, [("R", 1, 1, 10), ("R", 1, 2, 11), ("R", 0, 3, 0)])),
    },
}


def write(name: str, place: Path) -> None:
    """Write the sample of a format: a file, or a folder of files."""
    sample = SAMPLES[name]
    if isinstance(sample, bytes):
        place.write_bytes(sample)
        return
    place.mkdir()
    for file, content in sample.items():
        (place / file).write_bytes(content)
