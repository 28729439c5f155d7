"""Histories that lack times or sessions, in each format, against oracles that know no graphs.

What a history is of comes from every interleaving of a store (`possible`) and from the axioms
(`levels_of`). When it is undecided comes from the definition: some pair of transactions whose order
counts was not recorded. The two parts share no code with the checker.
"""

import json
import random
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history import formats
from statewalk.checker.history.data import History
from statewalk.checker.history.decide.check import Options, check, check_levels
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.jsonl import from_records, lines_of
from statewalk.dsl.library.levels import LEVELS, IsolationLevel, weaker
from tests.cases import slow
from tests.checker.history.axioms import RULES, in_parts, levels_of
from tests.checker.history.round_trip import HARMLESS
from tests.checker.history.test_oracle import Record, possible, random_histories

HELD, BROKEN, OPEN = "holds", "violated", "undecided"
WEAK = {prefix + rule for prefix in ("", "strong-session-") for rule in RULES}
MODES = ("all", "none", "begins", "ends", "some", "first", "last")
INFINITE = float("inf")


# -- the oracle


def expected(records: list[Record], error: float) -> dict[str, str]:
    """Return what is to be said of each level."""
    alone = [{**r, "session": ("own", i) if r["session"] is None else r["session"]}
             for i, r in enumerate(records)]  # fmt: skip
    weak = levels_of(alone)
    counted = counting(records)
    said = {}
    for name, level in LEVELS.items():
        holds = name in weak if name in WEAK else possible(alone, level, error)
        said[name] = BROKEN if not holds else OPEN if lacks(counted, level, error) else HELD
        below = LEVELS[level.implies[0]] if level.implies else level
        if level.real_time and not holds and contradictory(alone, error):
            said[name] = OPEN if possible(alone, below, error) else BROKEN
    for name in [n for n in LEVELS if said[n] == HELD]:
        said |= dict.fromkeys(weaker(name), HELD)
    return said


def contradictory(records: list[Record], error: float) -> bool:
    """Return whether a later transaction of a session ended before an earlier one began."""
    counted = counting([{**r, "at": at} for at, r in enumerate(in_parts(records))])
    return any(
        a["session"] == b["session"]
        and a["at"] < b["at"]
        and b.get("status", "ok") == "ok"
        and b.get("end", INFINITE) + error < a.get("begin", -INFINITE)
        for a, b in permutations(counted, 2)
    )


def counting(records: list[Record]) -> list[Record]:
    """The transactions that count as committed."""
    counted = [r for r in records if r.get("status", "ok") == "ok"]
    while True:
        seen = [v for r in counted for op in r["ops"] for v in _values(op)]
        more = [
            r for r in records
            if r.get("status") == "info" and r not in counted
            and any(op[0] in ("w", "append") and (op[1], op[2]) in seen for op in r["ops"])
        ]  # fmt: skip
        if not more:
            return counted
        counted += more


def _values(op: list[Any]) -> Iterator[tuple[Any, Any]]:
    if op[0] == "range":
        yield from ((k, v) for k, v in op[3])
    elif op[0] == "r" and len(op) > 2:
        yield from ((op[1], v) for v in (op[2] if isinstance(op[2], list) else op[2:]))


def lacks(counted: list[Record], level: IsolationLevel, error: float) -> bool:
    """Return whether an order that the level asks for was not recorded."""
    sure = [r.get("status", "ok") == "ok" for r in counted]
    pairs = [*permutations(range(len(counted)), 2)]
    if not any(len(op) > 2 for r in counted for op in r["ops"]):
        return True
    if level.real_time and any(sure[a] and _open(counted[a], counted[b], error, sure[b])
                               for a, b in pairs):  # fmt: skip
        return True
    if not level.session or all(r["session"] is not None for r in counted) or not pairs:
        return False
    whole = all("begin" in r and ("end" in r or not s)
                for r, s in zip(counted, sure, strict=True))  # fmt: skip
    ends = {r["end"] for r, s in zip(counted, sure, strict=True) if s and "end" in r}
    touch = any(r.get("begin") in ends for r in counted)
    return not level.real_time or error > 0 or not whole or touch


def _open(first: Record, second: Record, error: float, sure: bool) -> bool:
    """Return whether a time is missing, and with some value of it the first ends before
    the second.
    """
    if "end" in first and "begin" in second:
        return False
    soonest: Any = first.get("end", first.get("begin", -INFINITE))
    latest: Any = second.get("begin", second.get("end", INFINITE) if sure else INFINITE)
    return bool(soonest + error < latest)


# -- the histories


def lacking(rng: random.Random, records: list[Record]) -> list[Record]:
    """The same transactions with less recorded."""
    times, sessions = rng.choice(MODES), rng.choice(("all", "all", "none", "some"))
    found = []
    for at, r in enumerate(records):
        kept = dict(r)
        drop = {
            "none": ["begin", "end"], "begins": ["end"], "ends": ["begin"],
            "some": [x for x in ("begin", "end") if rng.random() < 0.3],
            "first": ["begin"] * (at == 0), "last": ["end"] * (at == len(records) - 1),
        }.get(times, [])  # fmt: skip
        for name in drop:
            kept.pop(name, None)
        if kept.get("status") == "info" and rng.random() < 0.8:
            kept.pop("end", None)
        if sessions == "none" or (sessions == "some" and rng.random() < 0.4):
            kept["session"] = None
        found.append(kept)
    return found


def completed(rng: random.Random, records: list[Record]) -> list[Record]:
    """The same with some value for each time and session that is missing."""
    found = []
    for r in records:
        times = sorted(rng.choices(range(-3, 40), k=2))
        begin = r.get("begin", min(times[0], r.get("end", INFINITE)))
        end = r.get("end", max(times[1], begin))
        session = rng.randrange(3) if r["session"] is None else r["session"]
        found.append({**r, "begin": begin, "end": end, "session": session})
    return found


def told(history: History, error: float = 0.0) -> dict[str, str]:
    """Return what the checker says of each level; alone, and with all others."""
    options = Options(clock_error=error)
    verdicts = check_levels(history, options)
    said = {n: HELD if v.holds else BROKEN if v.settled else OPEN for n, v in verdicts.items()}
    for name, verdict in said.items():
        one = check(history, name, options)
        assert (verdict == HELD, verdict != OPEN) == (one.holds, one.settled), name
        assert (verdict == OPEN) == bool(one.reason)
    return said


def compare(count: int, seed: int) -> dict[str, int]:
    rng = random.Random(seed)
    tally: dict[str, int] = dict.fromkeys((HELD, BROKEN, OPEN), 0)
    for made, error in random_histories(count, seed):
        records = lacking(rng, made)
        said = told(from_records(records), error)
        assert expected(records, error) == said, (seed, error, records)
        for _ in range(3):
            whole = completed(rng, records)
            sessions = [r["session"] for r in records] == [r["session"] for r in whole]
            for name in ("strong-si", "strict-serializable", "strong-session-serializable"):
                if said[name] == BROKEN or (said[name] == HELD and (sessions or error == 0)):
                    one = _in_order(whole) and possible(whole, LEVELS[name], error)
                    assert said[name] == BROKEN or one or not _in_order(whole), (name, records)
                    assert said[name] == HELD or not one
        for verdict in said.values():
            tally[verdict] += 1
    return tally


def _in_order(records: list[Record]) -> bool:
    """Return whether each session could be a client: one transaction after the other, as in the
    file.
    """
    for at, first in enumerate(records):
        for second in records[at + 1 :]:
            if first["session"] == second["session"] and first["end"] > second["begin"]:
                return False
    return True


@pytest.mark.parametrize(("count", "seed"), [(12, 0), *(slow(300, s) for s in range(1, 7))])
def test_what_holds_is_violated_or_is_undecided_agrees_with_the_definitions(
    count: int, seed: int
) -> None:
    tally = compare(count, seed)

    assert min(tally.values()) > count, tally


# -- each format


@pytest.mark.thorough
@pytest.mark.parametrize("name", formats.WRITERS)
@pytest.mark.parametrize(("count", "seed"), [(8, 70), *(slow(150, s) for s in range(71, 74))])
def test_a_format_loses_verdicts_and_never_changes_one(
    name: str, count: int, seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    for at, (made, _) in enumerate(random_histories(count, seed)):
        history = from_records(lacking(rng, made))
        try:
            lost = formats.write(history, tmp_path / str(at), name)
        except HistoryError as error:
            assert error.code == "SW702"  # noqa: PT017 - nothing of it can be written
            continue
        back = formats.read(tmp_path / str(at))
        again = [json.loads(line) for line in lines_of(back)][1:]
        said = told(back)

        assert expected(again, 0.0) == said, (seed, made, again)
        kept = [x for x in lost if not HARMLESS.match(x)]
        if all(x.startswith(("times", "that sessions")) for x in kept):
            before = told(history)
            both = {n for n in LEVELS if OPEN not in (before[n], said[n])}
            assert {n: before[n] for n in both} == {n: said[n] for n in both}, (seed, made)
            assert kept or before == said


# -- Jepsen's events


def events_of(rng: random.Random, made: list[Record]) -> tuple[str, list[Record]]:
    """A file of events in some order, and what it records."""
    one_by_one, timed = rng.random() < 0.3, rng.choice(("all", "none", "none", "some"))
    nameless = one_by_one and rng.random() < 0.6
    indexed = rng.random() < 0.5
    events: list[tuple[int, str]] = []  # transaction, type
    for t, r in enumerate(made):
        end = r.get("status", "ok")
        at = len(events) if one_by_one else rng.randint(0, len(events))
        events.insert(at, (t, "invoke"))
        if end != "info" or one_by_one or rng.random() < 0.6:
            at = len(events) if one_by_one else rng.randint(at + 1, len(events))
            events.insert(at, (t, end))
    process, busy, crashed, free = dict[int, int](), dict[int, int](), set[int](), 0
    lines, places, begun = [], dict[tuple[int, str], int](), list[int]()
    for place, (t, kind) in enumerate(events):
        if kind == "invoke":
            idle = [p for p in range(free) if p not in busy.values() and rng.random() < 0.7]
            process[t] = idle[0] if idle else free
            free = max(free, process[t] + 1)
            busy[t] = process[t]
            begun.append(t)
        else:
            busy.pop(t, None)
            crashed |= {process[t]} if kind == "info" else set()
        ops = " ".join(map(_edn, made[t]["ops"]))
        time = timed == "all" or (timed == "some" and rng.random() < 0.7)
        places[t, kind] = place if time or timed == "none" else -1
        lines.append("{" + f":type :{kind}, :f :txn, :value [{ops}]"
                     + (f", :process {process[t]}" if not nameless else "")
                     + (f", :index {place}" if indexed else "")
                     + (f", :time {place}" if time else "") + "}")  # fmt: skip
        if rng.random() < 0.1:
            lines.append("{:process :nemesis, :type :info, :f :kill, :value nil} ; #_ [")
    if not any(":time" in line for line in lines):
        places = {event: place for place, event in enumerate(events)}
    records: list[Record] = []
    order = [(t, k) for t, k in events if k != "invoke"]
    order += [(t, "info") for t in begun if not any(t == u for u, _ in order)]
    for t, kind in order:
        record: Record = {"session": None if nameless else process[t], "ops": made[t]["ops"]}
        if places[t, "invoke"] >= 0:
            record["begin"] = places[t, "invoke"]
        if kind == "info":
            record["status"] = "info"
            record["ops"] = [op[:2] if op[0] == "r" and op[2:] == [None] else op
                             for op in made[t]["ops"]]  # fmt: skip
        elif places[t, kind] >= 0:
            record["end"] = places[t, kind]
        records.append(record if kind != "fail" else {**record, "status": "fail"})
    return "\n".join(lines) + "\n", records


def _edn(op: list[Any]) -> str:
    value = op[2] if len(op) > 2 else None
    if isinstance(value, list):
        value = f"[{' '.join(map(str, value))}]"
    return f"[:{op[0]} {op[1]} {'nil' if value is None else value}]"


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "seed"), [(20, 40), *(slow(300, s) for s in range(41, 46))])
def test_jepsens_events_record_what_their_order_and_times_say(
    count: int, seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    tally: dict[str, int] = dict.fromkeys((HELD, BROKEN, OPEN), 0)
    for made, _ in random_histories(count, seed):
        if any(op[0] == "range" for r in made for op in r["ops"]):
            continue
        text, records = events_of(rng, made)
        (tmp_path / "h.edn").write_text(text)
        said = told(formats.read(tmp_path / "h.edn"))

        assert expected(records, 0.0) == said, (seed, text)
        for verdict in said.values():
            tally[verdict] += 1

    assert min(tally.values()) > 0, tally
