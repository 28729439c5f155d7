"""Verdicts for known version orders, against the definitions and against every interleaving.

Cannot show that a store model records its histories rightly.
"""

import random

import pytest

from statewalk.dsl.library.isolation import (
    INITIAL,
    REFUTES,
    Read,
    Transaction,
    bc_edges,
    dependencies,
    find_cycle,
    judge,
)
from statewalk.dsl.library.levels import LEVELS, implies, strongest, weaker, weakest


def test_the_lattice_is_the_documented_one() -> None:
    assert frozenset(LEVELS) == weaker("strict-serializable")
    assert implies("serializable", "si")
    assert not implies("strong-si", "serializable")
    assert ["strong-si", "serializable"] == strongest(["si", "strong-si", "serializable"])
    assert ["read-committed"] == weakest(LEVELS)
    assert ["strong-session-causal", "parallel-si"] == strongest(
        ["causal", "strong-session-causal", "parallel-si"]
    )


def test_a_begin_commit_cycle_is_a_cycle_without_adjacent_rw() -> None:
    skew = (
        Transaction("a", (Read("x", INITIAL),), ("y",)),
        Transaction("b", (Read("y", INITIAL),), ("x",)),
    )
    edges = dependencies(skew, {"x": ("b",), "y": ("a",)})

    assert 4 == len(bc_edges("ab", edges))
    assert () == find_cycle("ab", edges, serial=False)
    assert 2 == len(find_cycle("ab", edges, serial=True))


@pytest.mark.parametrize(
    ("transactions", "versions", "level", "anomaly"),
    [
        ((Transaction("a", (Read("x", INITIAL),), ("x",)),
          Transaction("b", (Read("x", INITIAL),), ("x",))), {"x": ("a", "b")}, "si",
         "lost-update"),
        ((Transaction("a", (), ("x",), aborted=True), Transaction("b", (Read("x", "a"),))), {},
         "si", "G1a"),
        ((Transaction("a", (), ("x",)), Transaction("b", (Read("x", "a", final=False),))),
         {"x": ("a",)}, "si", "G1b"),
        ((Transaction("a", (), ("x",), "s", 0),
          Transaction("b", (Read("x", INITIAL),), (), "s", 1)),
         {"x": ("a",)}, "strong-session-si", "stale-read-session"),
        ((Transaction("a", (), ("x",), begin=1, end=2),
          Transaction("b", (Read("x", INITIAL),), begin=3, end=4)), {"x": ("a",)},
         "strict-serializable", "stale-read"),
        ((Transaction("a", (), ("x", "y")), Transaction("b", (), ("x", "y"))),
         {"x": ("a", "b"), "y": ("b", "a")}, "si", "G0"),
    ],
)  # fmt: skip
def test_a_known_order_is_judged_by_name(
    transactions: tuple[Transaction, ...],
    versions: dict[str, tuple[str, ...]],
    level: str,
    anomaly: str,
) -> None:
    verdict = judge(transactions, versions, level)

    assert (False, anomaly) == (verdict.holds, verdict.anomaly)
    assert verdict.cycle
    assert anomaly.removesuffix("-session") in REFUTES


def possible(
    transactions: list[Transaction], versions: dict[str, tuple[int, ...]], serial: bool
) -> bool:
    """Return whether some interleaving of begins and commits installs exactly these versions."""
    n = len(transactions)

    def search(begun: int, done: int, state: tuple[tuple[str, int], ...]) -> bool:
        if done == (1 << n) - 1:
            return True
        at = dict(state)
        for i, t in enumerate(transactions):
            bit, active = 1 << i, begun & ~done
            if not begun & bit:
                seen = all(
                    (versions.get(str(r.key), ())[: at.get(str(r.key), 0)] or (INITIAL,))[-1]
                    == r.writer
                    for r in t.reads
                )
                clash = any(
                    active >> j & 1 and set(t.writes) & set(transactions[j].writes)
                    for j in range(n)
                )
                if seen and not clash and not (serial and active):
                    if search(begun | bit, done, state):
                        return True
            elif not done & bit:
                after = dict(at)
                for key in t.writes:
                    after[str(key)] = after.get(str(key), 0) + 1
                right = all(versions[str(k)][after[str(k)] - 1] == i for k in t.writes)
                if right and search(begun, done | bit, tuple(sorted(after.items()))):
                    return True
        return False

    return search(0, 0, ())


@pytest.mark.parametrize("seed", range(3))
def test_verdicts_agree_with_every_interleaving(seed: int) -> None:
    rng, tally = random.Random(seed), [0, 0]
    for _ in range(150):
        n = rng.randint(2, 4)
        writes = [tuple(k for k in "xy" if rng.random() < 0.5) for _ in range(n)]
        versions = {
            k: tuple(rng.sample(ws, len(ws)))
            for k in "xy"
            for ws in [[i for i in range(n) if k in writes[i]]]
        }
        reads = [
            tuple(
                Read(k, rng.choice([INITIAL, *(w for w in versions[k] if w != i)]))
                for k in "xy"
                if rng.random() < 0.6
            )
            for i in range(n)
        ]
        transactions = [Transaction(i, reads[i], writes[i]) for i in range(n)]
        for level in ("si", "serializable"):
            expected = possible(transactions, versions, LEVELS[level].serial)
            assert expected == judge(transactions, versions, level).holds, (transactions, versions)
            tally[expected] += 1

    assert min(tally) > 20
