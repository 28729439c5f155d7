"""Merging runs and looking in them, against what sets and dictionaries say."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker.native.kernels.arrays import Outcomes
from statewalk.checker.native.kernels.runs import mark
from statewalk.checker.native.states import in_order
from statewalk.checker.spark.tasks.blobs import Blob, Naming, Packing, coded, packing_of
from statewalk.checker.spark.tasks.run_kernels import (
    merge,
    narrow_links,
    widen_links,
)

FPS = st.lists(st.one_of(st.integers(0, 40), st.integers(0, (1 << 64) - 1)), max_size=60)


WORD = (1 << 64) - 1


def run_of(values: list[int], wide: bool) -> tuple[np.ndarray, np.ndarray]:
    """A run: its first words, and its second ones where there are two (of few first ones)."""
    ascending = sorted(set(values))
    if not wide:
        return np.array(ascending, np.uint64), np.zeros(0, np.uint64)
    words = [((value >> 2) & WORD, value & 3) for value in ascending]
    return np.array([w[0] for w in words], np.uint64), np.array([w[1] for w in words], np.uint64)


def merged(fps: list[int], links: np.ndarray) -> list[int]:
    """The slow twin: per fingerprint the position with the least link, in order."""
    least: dict[int, int] = {}
    for at in sorted(range(len(fps)), key=lambda at: (fps[at], links[at])):
        least.setdefault(fps[at], at)
    return [least[fp] for fp in sorted(least)]


def whole(fps: np.ndarray, lows: np.ndarray) -> list[int]:
    """Fingerprints as numbers."""
    if not len(lows):
        return [int(fp) for fp in fps]
    return [(int(fp) << 64) + int(low) for fp, low in zip(fps, lows, strict=True)]


@settings(deadline=None)  # the first call compiles
@given(FPS, FPS, st.booleans(), st.randoms(use_true_random=False))
def test_two_runs_become_one(
    first: list[int], second: list[int], wide: bool, dice: random.Random
) -> None:
    a, b = run_of(first, wide), run_of(second, wide)
    fps, lows = (np.concatenate(words) for words in zip(a, b, strict=True))
    n_first, n_second = len(a[0]), len(b[0])
    links = np.array(dice.sample(range(1000), len(fps)), np.int64)
    found = np.zeros(len(fps), np.int64)
    both = np.arange(n_first), n_first, np.arange(n_first, len(fps)), n_second
    n = merge(fps, lows, links, *both, found)

    assert merged(whole(fps, lows), links) == found[:n].tolist()


@settings(deadline=None)  # the first call compiles
@given(FPS, FPS, st.booleans())
def test_what_of_a_run_is_in_another(first: list[int], second: list[int], wide: bool) -> None:
    a, b = run_of(first, wide), run_of(second, wide)
    found = np.zeros(len(a[0]), np.bool_)
    mark(*a, *b, found)

    assert np.isin(whole(*a), whole(*b)).tolist() == found.tolist()


def packed(row: list[int], bits: list[int]) -> list[int]:
    """The slow twin: narrow slots in the first byte with room for them, then wide ones."""
    shared: list[tuple[int, int]] = []  # (bits used, byte)
    for value, n in zip(row, bits, strict=True):
        if 0 < n <= 8:
            at = next((i for i, (used, _) in enumerate(shared) if used + n <= 8), len(shared))
            shared += [(0, 0)] * (at == len(shared))
            used, byte = shared[at]
            shared[at] = used + n, byte | value << used
    own = [v.to_bytes(-(-n // 8), "little") for v, n in zip(row, bits, strict=True) if n > 8]
    return [byte for _, byte in shared] + list(b"".join(own))


@st.composite
def rows_with_bits(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, ...]]]:
    bits = draw(st.lists(st.integers(0, 32), min_size=1, max_size=30))
    row = st.tuples(*(st.integers(0, (1 << n) - 1) for n in bits))
    return bits, draw(st.lists(row, min_size=1, max_size=9))


@settings(deadline=None)  # the first call compiles
@given(rows_with_bits(), st.randoms(use_true_random=False))
def test_rows_are_packed_and_unpacked(
    drawn: tuple[list[int], list[tuple[int, ...]]], dice: random.Random
) -> None:
    bits, rows = drawn
    order = np.array([dice.randrange(len(rows)) for _ in rows])
    packing, values = packing_of(bits), np.array(rows, np.uint32)
    found = packing.pack(values, order)

    assert [packed(list(rows[at]), bits) for at in order] == found.tolist()
    assert values[order].tolist() == packing.unpack(found, np.uint32).tolist()
    cut = packing.pack(values[:, :-1], order)
    assert [packed([*rows[at][:-1], 0], bits) for at in order] == cut.tolist()
    wider = packing.unpack(found, np.uint32, len(bits) + 2)
    assert [[*rows[at], 0, 0] for at in order] == wider.tolist()


class Shares:
    """The contributions of each value of a slot to a fingerprint."""

    def __init__(self, shares: list[list[int]], wide: bool) -> None:
        flat = [c for share in shares for c in share]
        self.contribution_base = np.cumsum([0, *map(len, shares)])[:-1]
        self.contribution = np.array([c >> 64 if wide else c for c in flat], np.uint64)
        self.contribution_low = np.array([c & WORD for c in flat if wide], np.uint64)


def named(packing: Packing, rows: list[tuple[int, ...]], base: int, shares: Shares,
          wide: bool) -> tuple[bool, list[int]]:  # fmt: skip
    """Return whether fingerprints ascend, and what they are."""
    packed_rows = packing.pack(np.array(rows, np.uint32))
    fps, lows = np.zeros((2, len(rows)), np.uint64)
    none = np.zeros(0, np.uint64)
    words = np.array([base >> 64, base & WORD] if wide else [base], np.uint64)
    blob = Blob(0, packed_rows, none, none, none, none, 0, 0)
    naming = Naming(packing, words, cast("Outcomes", shares))
    ascending = naming.name(blob, fps, lows if wide else none)
    return ascending, whole(fps, lows if wide else none)


@pytest.mark.thorough
@settings(deadline=None)  # the first call compiles
@given(rows_with_bits(), st.booleans(), st.data())
def test_fingerprints_are_added_up(
    drawn: tuple[list[int], list[tuple[int, ...]]], wide: bool, data: st.DataObject
) -> None:
    bits = [min(n, 10 if n > 20 else 4) for n in drawn[0]]
    rows = [tuple(v & ((1 << n) - 1) for v, n in zip(r, bits, strict=True)) for r in drawn[1]]
    top = 1 << (128 if wide else 64)
    dice = data.draw(st.randoms(use_true_random=False))
    shares = []
    for slot, n in enumerate(bits):  # values that no row has may have no number
        known = 1 + max(row[slot] for row in rows) if dice.random() < 0.5 else 1 << n
        often = (0, WORD, 1 << 64) if wide else (0, WORD)
        some = [dice.choice((*often, dice.randrange(top))) for _ in range(known)]
        shares.append([0, *some[1:]])
    base = dice.choice((WORD, dice.randrange(top)))
    expected = [
        (base + sum(share[id] for share, id in zip(shares, row, strict=True))) % top for row in rows
    ]
    ascending, found = named(packing_of(bits), rows, base, Shares(shares, wide), wide)

    assert expected == found
    assert all(a < b for a, b in pairwise(expected)) == ascending


@pytest.mark.thorough
@settings(deadline=None)  # the first call compiles
@given(FPS, st.booleans(), st.integers(0, 600), st.randoms(use_true_random=False))
def test_fingerprints_in_order(fps: list[int], wide: bool, more: int, dice: random.Random) -> None:
    crowd = [dice.randrange(1 << 20) for _ in range(more)]  # far less even than hashes are
    high, low = run_of([*fps, *crowd], wide)
    shuffled = list(range(len(high)))
    dice.shuffle(shuffled)
    high, low = high[shuffled], low[shuffled] if wide else low
    by_words = sorted(range(len(high)), key=lambda at: whole(high, low)[at])

    assert by_words == in_order(high, low).tolist()


def narrowed(link: int, first: int, ordinal_bits: int, kept: int) -> int:
    """The slow twin: a link as a smaller number."""
    position, rest = divmod(link, 1 << 28)
    action, ordinal = divmod(rest, 1 << ordinal_bits)
    return ((position - first << 28 - ordinal_bits) + action << kept) + ordinal


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 1 << 34), st.integers(20, 27), st.integers(0, 20), st.data())
def test_links_are_made_narrow_and_wide_again(
    first: int, ordinal_bits: int, kept: int, data: st.DataObject
) -> None:
    one = st.tuples(
        st.integers(0, 1000),
        st.integers(0, (1 << 28 - ordinal_bits) - 1),
        st.integers(0, (1 << kept) - 1),
    )
    drawn = data.draw(st.lists(one, min_size=1, max_size=9))
    links = [((first + p) << 28) | (a << ordinal_bits) | o for p, a, o in drawn]
    found, narrow = np.zeros(len(links), np.int64), np.zeros((len(links), 8), np.uint8)
    narrow_links(np.array(links), np.arange(len(links)), first, ordinal_bits, kept, narrow)
    widen_links(narrow, first, ordinal_bits, kept, found)

    expected = [narrowed(link, first, ordinal_bits, kept) for link in links]
    assert expected == [int.from_bytes(bytes(row), "little") for row in narrow.tolist()]
    assert links == found.tolist()


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=40))
def test_rows_of_words_by_number(rows: list[tuple[int, int]]) -> None:
    array = np.array(rows, np.uint64).reshape(-1, 2)
    codes, known = coded(array)

    assert list(dict.fromkeys(rows)) == [tuple(row) for row in known.tolist()]
    assert np.array_equal(known[codes], array)


def test_many_rows_of_words_by_number() -> None:
    array = np.arange(40_000, dtype=np.uint64).reshape(-1, 2)
    codes, known = coded(array)

    assert np.array_equal(known[codes], array)
    assert len(known) == len(array)
