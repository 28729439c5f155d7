"""Random histories as records, and what is left of one when a converter has said what it drops.

`left(history, lost)` forgets exactly what is listed, on the decoded lines of our own format. It
knows nothing of how a format is written. It cannot say whether another tool reads a file so.
"""

import itertools
import json
import random
import re
from collections.abc import Callable
from typing import Any

from statewalk.checker.history.data import History
from statewalk.checker.history.formats.jsonl import lines_of

Record = dict[str, Any]
Data = dict[str, Any]
# what may be dropped without changing the verdict of any level
HARMLESS = re.compile(
    r"the names of |transaction ids|model states|the difference of insert|"
    r"when indeterminate|that a session goes on|reads of unknown result"
)
KEYS = ([0, 1, 2], ["x", "nil", 3], [":a", 'b\r\n\\u00e9"', "J\ud800"], [-1, 2**70, 0x23332333])
SESSIONS = (
    [0, 1, 2],
    ["a", 0, 5],
    ["J0001", "J2", "J-x"],
    ["000001", "000000", "c"],
    [-1, 3, "3"],
    [None, 0, "b"],
)
UNRECORDED = ("not recorded",)  # instead of the name of a session
VALUES = ([*range(1, 60)], [*range(60)], ["v", *range(-1, 60)],
          [0xBEBEEBEE, 0x66666666, *range(1, 60)], [":k", "\r", "a\tb\n", "nil", "\\", "\ud800",
                                                    *range(1, 60)])  # fmt: skip
PARTS = ("names", "lists", "ids", "times", "initial", "outcomes", "states", "ranges", "deletes",
         "unknown")  # fmt: skip
STRANGE_IDS = (0xDEADBEEF, 2**64, -1, "t")


def random_records(rng: random.Random) -> list[Record]:
    """A small history of a store with snapshots, now and then wrong, with any of the parts."""
    likely = rng.choice([0.1, 0.1, 0.5])
    has = {part for part in PARTS if rng.random() < likely}
    keys, sessions, names = (
        rng.choice(some) if "names" in has else some[0] for some in (KEYS, SESSIONS, VALUES)
    )
    values, timed = iter(names), rng.choice([1, 0.8]) if "times" in has else 0
    held = {k: next(values) for k in keys if rng.random() < 0.5} if "initial" in has else {}
    header: Record = {"statewalk-history": 1}
    if "initial" in has:
        header["initial"] = rng.choice(["unknown", [[k, v] for k, v in held.items()]])
    versions: list[dict[Any, Any]] = [{k: ("w", v) for k, v in held.items()}]
    records, clock = [header], rng.choice([0, -3, 1761000000123456789])
    for t in range(rng.randint(2, 6)):
        state = dict(rng.choice(versions[-3:]))
        length = rng.choice([0, 1, 2, 2, 3])
        ops = [_operation(rng, keys, values, state, has) for _ in range(length)]
        outcomes = ["ok"] * 6 + ["fail", "info", "info"] * ("outcomes" in has)
        record: Record = {"session": rng.choice(sessions), "ops": ops}
        record["status"] = rng.choice(outcomes)
        begin, clock = clock + rng.randint(0, 2), clock + rng.randint(2, 4)
        if rng.random() < timed:
            record["begin"] = begin
        if rng.random() < timed:
            record["end"] = clock + rng.choice([0, 3, 0.5 if clock < 2**50 else 0])
        if "ids" in has:
            record["id"] = rng.choice([t, t + 9] if rng.random() < 0.8 else STRANGE_IDS)
        if "states" in has:
            record["state"] = {"at": t}
        records.append(record)
        if record["status"] != "fail" and rng.random() < 0.9:
            versions.append(versions[-1] | {o[1]: state[o[1]] for o in ops if o[0] in _WRITES})
    return records


_WRITES = ("append", "w", "i", "d")


def _operation(
    rng: random.Random, keys: list[Any], values: Any, state: dict[Any, Any], has: set[str]
) -> list[Any]:
    key, roll = rng.choice(keys), rng.random()
    if "unknown" in has and roll < 0.2:
        return ["r", key]
    roll = rng.random()
    if "lists" in has and key == keys[0]:
        so_far = state.get(key, [])
        if roll < 0.5 or type(so_far) is tuple:
            state[key] = [*(so_far if type(so_far) is list else ()), next(values)]
            return ["append", key, state[key][-1]]
        return ["r", key, so_far]
    if roll < 0.45:
        word = rng.choice("wwid") if "deletes" in has else "w"
        state[key] = (word, next(values))
        return [word, key, state[key][1]]
    if roll < 0.8 or "ranges" not in has:
        return ["r", key, state[key][1] if key in state else None]
    low, high = sorted(rng.choices([k for k in keys if type(k) is type(key)], k=2))
    rows = {k: v for k, v in state.items() if type(k) is type(key) and type(v) is tuple}
    rows = {k: v for k, v in rows.items() if low <= k <= high}
    live = [[k, v] for k, (word, v) in rows.items() if word != "d"]
    dead = [[k, v] for k, (word, v) in rows.items() if word == "d"]
    return ["range", rng.choice([low, low, None]), rng.choice([high, high, None]), live, dead]


def data_of(history: History) -> Data:
    """Sessions by name, each cut after its indeterminate transactions, and the initial state."""
    header, *records = [json.loads(line) for line in lines_of(history)]
    sessions: dict[Any, list[list[Record]]] = {}
    for at, record in enumerate(records):
        name = record.pop("session")
        parts = sessions.setdefault((name, at) if name is None else name, [[]])
        parts[-1].append({"status": "ok", **record})
        if record.get("status") == "info":
            parts.append([])
    return {
        "initial": header.get("initial", []),
        "sessions": [
            (UNRECORDED if isinstance(name, tuple) else name, [p for p in parts if p])
            for name, parts in sessions.items()
        ],
    }


def left(data: Data, lost: list[str], names: set[Any] | None = None) -> Data:
    """Return what is left of the data without what is listed; `names`: the sessions that keep
    theirs.
    """
    said = [re.sub(r" \(\d+ times\)$", "", line) for line in lost]
    initial = data["initial"]
    if "the initial state" in said:
        initial = []
    sessions = [
        (name, [[_transaction(t, said) for t in part] for part in parts])
        for name, parts in data["sessions"]
    ]
    if any("goes on" in x for x in said):
        known = {n for n, _ in sessions} if names is None else names
        sessions = [
            (name if not i and name in known else None, [part])
            for name, parts in sessions
            for i, part in enumerate(parts)
        ]
    if any("sessions were not recorded" in x for x in said):
        keep = {n for n, _ in sessions} - {UNRECORDED} if names is None else names
        sessions = [(name if name in keep else None, parts) for name, parts in sessions]
    if any("names of sessions" in x for x in said):
        sessions = [(n if n is UNRECORDED else None, parts) for n, parts in sessions]
    return {"initial": initial, "sessions": sessions, "said": said}


DROPPED: dict[str, Callable[[list[Any], bool], bool]] = {
    "range queries": lambda o, ok: o[0] == "range",
    "reads of unknown result": lambda o, ok: ok and len(o) == 2,
}


def _transaction(t: Record, said: list[str]) -> Record:
    ok = t["status"] == "ok"
    ops = [o for o in t["ops"] if not any(DROPPED[x](o, ok) for x in said if x in DROPPED)]
    if any("insert and delete" in x for x in said):
        ops = [["w", *o[1:]] if o[0] in ("i", "d") else o for o in ops]
    if any("found nothing" in x for x in said) and not ok:
        ops = [o[:2] if o[0] == "r" and o[2:] == [None] else o for o in ops]
    gone = {"transaction ids": ["id"], "model states": ["state"]}
    if t["status"] == "info":
        gone["when indeterminate transactions were given up"] = ["end"]
    dropped = {name for x in said for name in gone.get(x, [])}
    return {**{k: v for k, v in t.items() if k not in dropped}, "ops": ops}


def same(asked: Data, back: Data, lost: list[str]) -> bool:
    """Return whether the data that was written, and what was read back, differ only in what is
    listed.
    """
    before = left(asked, lost)
    after = left(back, lost, {name for name, _ in before["sessions"]})
    if not any("id" in t for _, parts in before["sessions"] for p in parts for t in p):
        after = left(back, [*lost, "transaction ids"], {name for name, _ in before["sessions"]})
    if repr(before["initial"]) != repr(after["initial"]) and sorted(
        map(repr, before["initial"])
    ) != sorted(map(repr, after["initial"])):
        return False
    first = _shape(before["sessions"], lost)
    ways = itertools.permutations(after["sessions"])
    return any(first == _shape(list(way), lost) for way in ways)


def _shape(sessions: list[Any], lost: list[str]) -> str:
    """The sessions as text; names of keys and values that are lost are numbers as they come."""
    columns = {1: "the names of keys (now numbers)", 2: "the names of values (now numbers)"}
    new: dict[Any, str] = {}

    def name(place: int, x: Any) -> Any:
        if x is None or columns.get(place) not in lost:
            return x
        return new.setdefault((place, type(x), str(x)), f"#{len(new)}")

    def shown(t: Record) -> list[Any]:
        ops = [o if o[0] == "range" else [name(i, x) for i, x in enumerate(o)] for o in t["ops"]]
        return sorted({**t, "ops": ops}.items())

    return repr([(who, [[shown(t) for t in part] for part in parts]) for who, parts in sessions])
