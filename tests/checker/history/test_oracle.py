"""The verdict against a brute-force store that knows no graphs.

`possible` searches every interleaving of begins and commits for one in which an operational
store would have answered as recorded. It can catch any wrong verdict on a small history; it
cannot say whether a report is readable, or how fast large ones are.
"""

import os
import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from statewalk.checker.history.decide.check import Options, check, check_levels
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.library.levels import LEVELS, IsolationLevel, weaker
from tests.cases import slow
from tests.checker.history.axioms import in_parts

Record = dict[str, Any]
State = dict[Any, Any]

WAYS = {
    "as users run it": Options(),
    "rules, then search": Options(via_sessions=False, guess=False),
    "search alone": Options(via_sessions=False, guess=False, saturation=False),
    "Viper's heuristic, adding": Options(
        via_sessions=False, guess=False, saturation=False, schedule="add"
    ),
    "Viper's heuristic, doubling": Options(
        via_sessions=False, guess=False, saturation=False, schedule="double"
    ),
}


def answers(record: Record, state: State) -> State | None:
    """Return what the transaction leaves behind when run against a state; None if it saw
    another.
    """
    mine: State = {}
    for word, key, *rest in record["ops"]:
        now = mine.get(key, state.get(key))
        if word == "append":
            mine[key] = (*(now or ()), rest[0])
        elif word == "w":
            mine[key] = rest[0]
        elif word == "range":
            view = {**state, **mine}
            inside = [[k, v] for k, v in sorted(view.items()) if key <= k <= rest[0]]
            if inside != rest[1]:
                return None
        elif rest and (tuple(rest[0]) if isinstance(rest[0], list) else rest[0]) != (
            now if now is not None else () if isinstance(rest[0], list) else None
        ):
            return None
    return mine


def possible(records: list[Record], level: IsolationLevel, error: float) -> bool:
    """Return whether some run of a store at this level gives the recorded answers."""
    records = in_parts(records)
    sure = [i for i, r in enumerate(records) if r.get("status", "ok") == "ok"]
    maybe = [i for i, r in enumerate(records) if r.get("status") == "info"]
    return any(
        runs([records[i] for i in sorted([*sure, *extra])], level, error)
        for n in range(len(maybe) + 1)
        for extra in combinations(maybe, n)
    )


def runs(txns: list[Record], level: IsolationLevel, error: float) -> bool:
    n, dead = len(txns), set()
    before: list[int] = [0] * n
    for j, b in enumerate(txns):
        for i, a in enumerate(txns):
            if level.session and i < j and a["session"] == b["session"]:
                before[j] |= 1 << i
            known = a.get("status", "ok") == "ok" and "end" in a and "begin" in b
            if level.real_time and known and a["end"] + error < b["begin"]:
                before[j] |= 1 << i
    writes = [{o[1] for o in t["ops"] if o[0] in ("w", "append")} for t in txns]

    def search(begun: int, committed: int, state: State) -> bool:
        if committed == (1 << n) - 1:
            return True
        key = (begun, committed, tuple(sorted(state.items(), key=repr)))
        if key in dead:
            return False
        dead.add(key)
        for i in range(n):
            bit = 1 << i
            if not begun & bit:
                if before[i] & ~committed or answers(txns[i], state) is None:
                    continue
                active = begun & ~committed
                if level.serial and active:
                    continue
                if any(active >> j & 1 and writes[j] & writes[i] for j in range(n)):
                    continue
                if search(begun | bit, committed, state):
                    return True
            elif not committed & bit:
                # no overlapping writer: what it wrote over is still what its snapshot held
                left = answers_again(txns[i], state)
                if search(begun, committed | bit, {**state, **left}):
                    return True
        return False

    return search(0, 0, {})


def answers_again(record: Record, state: State) -> State:
    mine: State = {}
    for word, key, *rest in record["ops"]:
        if word == "append":
            mine[key] = (*(mine.get(key, state.get(key)) or ()), rest[0])
        elif word == "w":
            mine[key] = rest[0]
    return mine


def random_histories(count: int, seed: int) -> Iterator[tuple[list[Record], float]]:
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.choice(("register", "register", "register", "range", "list"))
        records = simulated(rng, kind) if rng.random() < 0.4 else guessed(rng, kind)
        for r in records:
            if rng.random() < 0.1:
                r["status"] = rng.choice(("fail", "info"))
        if all("status" in r for r in records):
            del records[0]["status"]  # of nothing that committed there is no verdict
        yield records, rng.choice((0.0, 0.0, 3.0))


def guessed(rng: random.Random, kind: str) -> list[Record]:
    """Operations at random; each read takes the value of some write of its key, or none."""
    n, keys = rng.randint(2, 6), rng.randint(1, 3)
    records: list[Record] = []
    written: dict[int, list[int]] = {k: [] for k in range(keys)}
    value = iter(range(1, 1000))
    for _ in range(n):
        begin = rng.randrange(20)
        ops: list[list[Any]] = []
        for _ in range(rng.randint(1, 4)):
            key = rng.randrange(keys)
            if rng.random() < 0.5:
                ops.append(["append" if kind == "list" else "w", key, next(value)])
                written[key].append(ops[-1][2])
            else:
                ops.append(["r", key, None])
        records.append(
            {
                "session": rng.randrange(3),
                "begin": begin,
                "end": begin + rng.randrange(8),
                "ops": ops,
            }
        )
    orders = {k: rng.sample(v, len(v)) for k, v in written.items()}
    for r in records:
        own: dict[int, int] = {}
        for op in r["ops"]:
            if op[0] != "r":
                own[op[1]] = op[2]
            elif kind == "list":
                op[2] = orders[op[1]][: rng.randint(0, len(orders[op[1]]))]
            elif op[1] in own:
                op[2] = own[op[1]]
            else:
                op[2] = rng.choice([None, *written[op[1]]])
    return records


def simulated(rng: random.Random, kind: str) -> list[Record]:
    """A store with stale snapshots that sometimes misses a conflict."""
    n, keys, clock = rng.randint(3, 7), rng.randint(1, 3), 0
    versions: list[State] = [{}]
    value = iter(range(1, 1000))
    records: list[Record] = []
    for _ in range(n):
        clock += rng.randint(1, 3)
        begin = clock
        state = versions[max(0, len(versions) - 1 - rng.randrange(3))]
        ops: list[list[Any]] = []
        mine: State = {}
        for _ in range(rng.randint(1, 4)):
            key, now = rng.randrange(keys), {**state, **mine}
            if rng.random() < 0.5:
                fresh = next(value)
                mine[key] = (*now.get(key, ()), fresh) if kind == "list" else fresh
                ops.append(["append" if kind == "list" else "w", key, fresh])
            elif kind == "range":
                high = rng.randrange(key, keys)
                rows = [[k, v] for k, v in sorted(now.items()) if key <= k <= high]
                ops.append(["range", key, high, rows])
            elif kind == "list":
                ops.append(["r", key, list(now.get(key, ()))])
            else:
                ops.append(["r", key, now.get(key)])
        clock += rng.randrange(4)
        clash = any(versions[-1].get(k) != state.get(k) for k in mine)
        if clash and rng.random() < 0.7:
            continue
        versions.append({**versions[-1], **mine})
        records.append({"session": rng.randrange(3), "begin": begin, "end": clock, "ops": ops})
    return records or guessed(rng, kind)


def compare(count: int, seed: int) -> dict[str, int]:
    """Check `count` histories in every way at every level; how many there were of each kind."""
    tally = {"histories": 0, "verdicts": 0, "accepted": 0, "rejected": 0}
    for records, error in random_histories(count, seed):
        history = from_records(records)
        for name, level in LEVELS.items():
            if level.weak:
                continue  # test_weak_levels has these
            expected = possible(records, level, error)
            for way, options in WAYS.items():
                verdict = check(
                    history, name, Options(**{**vars_of(options), "clock_error": error})
                )
                assert expected == verdict.holds, (name, way, error, seed, records)
                tally["verdicts"] += 1
            tally["accepted" if expected else "rejected"] += 1
        tally["histories"] += 1
    return tally


def vars_of(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in Options.__slots__}


@pytest.mark.parametrize(("count", "seed"), [(20, 0), *(slow(60, seed) for seed in range(4))])
def test_verdicts_agree_with_every_interleaving_of_a_store(count: int, seed: int) -> None:
    tally = compare(count, seed)

    assert count == tally["histories"]
    assert min(tally["accepted"], tally["rejected"]) > count, tally


@pytest.mark.slow
def test_verdicts_agree_on_many_histories() -> None:
    count, seed = int(os.environ.get("HISTORIES", "5000")), int(os.environ.get("SEED", "100"))

    assert count == compare(count, seed)["histories"]


@pytest.mark.parametrize(("count", "seed"), [(12, 0), slow(40, 0), slow(40, 1)])
def test_a_level_that_holds_carries_every_level_that_it_implies(count: int, seed: int) -> None:
    for records, error in random_histories(count, 1000 + seed):
        history = from_records(records)
        held = {n for n in LEVELS if check(history, n, Options(clock_error=error)).holds}
        lattice = check_levels(history, Options(clock_error=error))

        assert held == {n for name in held for n in weaker(name)}
        assert {n: n in held for n in LEVELS} == {n: v.holds for n, v in lattice.items()}
