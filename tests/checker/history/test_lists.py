"""Reads of lists against the axioms: several in a transaction, of lists that begin with elements.

It can catch any wrong verdict on a small history of lists; it knows no times and no aborted
transactions, which test_oracle has.
"""

import random
from itertools import product
from typing import Any

import pytest

from statewalk.checker.history.decide.check import check_levels
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.library.levels import LEVELS
from tests.cases import slow
from tests.checker.history.axioms import levels_of

Record = dict[str, Any]


def random_lists(rng: random.Random) -> tuple[list[Record], bool]:
    """A small history of lists, often read twice, now and then wrongly; whether the initial state
    is known.
    """
    keys, known, value = ["x", "y"][: rng.choice([1, 1, 2])], rng.random() < 0.5, 0
    base = {k: [] if known else rng.choice([[], [90], [90, 91], [90, 90]]) for k in keys}
    appended: dict[str, list[int]] = {k: [] for k in keys}
    records: list[Record] = []
    for _ in range(rng.randint(1, 4)):
        ops: list[list[Any]] = []
        for _ in range(rng.randint(1, 4)):
            ops.append(["r", rng.choice(keys), []])
            if rng.random() < 0.5:
                value += 1
                ops[-1] = ["append", ops[-1][1], value]
                appended[ops[-1][1]].append(value)
        records.append({"session": rng.randrange(2), "ops": ops})
        if rng.random() < 0.1 and len(records) > 1:
            records[-1]["status"] = "info"
    orders = {k: base[k] + rng.sample(v, len(v)) for k, v in appended.items()}
    for record in records:
        _fill(rng, record, orders)
    return records, known


def _fill(rng: random.Random, record: Record, orders: dict[str, list[int]]) -> None:
    """Return what the reads of a transaction returned, as some store might have it."""
    mine: dict[str, list[int]] = {k: [] for k in orders}
    last: dict[str, list[int]] = {}
    own = {op[2] for op in record["ops"] if op[0] == "append"}
    for op in record["ops"]:
        key = op[1]
        if op[0] == "append":
            mine[key].append(op[2])
            continue
        others = [x for x in orders[key] if x not in own]
        seen = others[: rng.randint(0, len(others))]
        if key in last and rng.random() < 0.7:
            seen = list(last[key])
            if len(seen) > 1 and rng.random() < 0.3:  # the same length and the same end
                seen[:-1] = rng.choice([seen[-2::-1], [99, *seen[1:-1]]])
        last[key] = seen
        op[2] = seen + mine[key]
        if rng.random() < 0.1:
            op[2] = rng.choice([op[2][:-1], op[2][::-1], [*op[2], 98], op[2] * 2])


def beginnings(records: list[Record]) -> list[dict[str, list[int]]]:
    """Return what the lists may have held at the start, as reads that count tell it."""
    appended = {(op[1], op[2]) for r in records for op in r["ops"] if op[0] == "append"}
    found: dict[str, list[list[int]]] = {}
    for record in records:
        for word, key, value in record["ops"]:
            begins = found.setdefault(key, [[]])
            if word == "r":
                at = next((i for i, x in enumerate(value) if (key, x) in appended), len(value))
                begins.append(value[:at])
    return [dict(zip(found, choice, strict=True)) for choice in product(*found.values())]


@pytest.mark.parametrize(("count", "seed"), [(60, 1), *(slow(600, seed) for seed in range(2, 5))])
def test_verdicts_on_lists_agree_with_the_axioms(count: int, seed: int) -> None:
    rng, both = random.Random(seed), [0, 0]
    for _ in range(count):
        records, known = random_lists(rng)
        header = {"statewalk-history": 1} | ({} if known else {"initial": "unknown"})
        expected = set[str]()
        for given in [{}] if known else beginnings(records):
            expected |= levels_of(records, given)

        verdicts = check_levels(from_records([header, *records]))

        held = {n for n, v in verdicts.items() if v.holds and not LEVELS[n].real_time}
        assert expected == held, (known, records)
        both[bool(expected)] += 1
    assert min(both) > count // 10, both


TWICE = {
    "another element": [[1, 2], [9, 2]],
    "another order": [[1, 3, 2], [3, 1, 2]],
    "after an append": [[1, 3, 2], [3, 1, 2, 5]],
}


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", TWICE)
def test_a_list_read_twice_with_the_same_end_is_still_compared(name: str, first: int) -> None:
    one, two = TWICE[name]
    ops: list[Any] = [["r", "x", one], ["r", "x", two]]
    if two[-1] != 5:
        ops = ops[:: 1 - 2 * first]
    else:
        ops.insert(1, ["append", "x", 5])
    records = [{"session": "a", "ops": [["append", "x", x]]} for x in sorted(one)]

    verdicts = check_levels(from_records([*records, {"session": "b", "ops": ops}]))

    assert not any(v.holds for v in verdicts.values())
    assert verdicts["read-committed"].settled


@pytest.mark.parametrize(
    ("reads", "holds"),
    [([[9, 9, 1]], True), ([[9, 9]], True), ([[9, 9, 1], [9, 9]], True), ([[9, 9], [9]], False),
     ([[9, 9, 1], [9]], False), ([[9, 9, 1, 9]], False), ([[9, 9, 1, 1]], False)],
)  # fmt: skip
def test_only_what_was_appended_may_not_repeat(reads: list[list[int]], holds: bool) -> None:
    records = [{"session": i, "ops": [["r", "x", found]]} for i, found in enumerate(reads)]
    header = {"statewalk-history": 1, "initial": "unknown"}
    appends = {"session": "a", "ops": [["append", "x", 1]]}

    verdicts = check_levels(from_records([header, appends, *records]))

    assert holds == verdicts["serializable"].holds == verdicts["read-committed"].holds


def test_range_queries_that_cover_more_keys_than_memory_are_refused() -> None:
    many = 5000
    queries = [{"session": 2, "ops": [["range", None, None, []]] * many}]
    history = from_records([{"session": 1, "ops": [["w", k, 1] for k in range(many)]}, *queries])

    with pytest.raises(HistoryError, match="cover 25,000,000 keys in all"):
        check_levels(history)
