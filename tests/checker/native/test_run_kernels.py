"""Merging runs and looking in them, against what sets and dictionaries say."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker.native.kernels.runs import mark
from statewalk.checker.spark.tasks.blobs import coded, packing_of
from statewalk.checker.spark.tasks.run_kernels import (
    fingerprints,
    merge,
    narrow_links,
    wide_fingerprints,
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
    """The slow twin: a row as one number, least slot first, cut into bytes."""
    total = used = 0
    for value, n in zip(row, bits, strict=True):
        total |= value << used
        used += n
    return list(total.to_bytes(-(-used // 8), "little"))


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


@settings(deadline=None)  # the first call compiles
@given(rows_with_bits(), st.integers(0, (1 << 64) - 1), st.data())
def test_fingerprints_are_added_up(
    drawn: tuple[list[int], list[tuple[int, ...]]], base: int, data: st.DataObject
) -> None:
    bits = [min(n, 5) for n in drawn[0]]
    rows = [tuple(v & ((1 << n) - 1) for v, n in zip(r, bits, strict=True)) for r in drawn[1]]
    words = st.integers(0, (1 << 64) - 1)
    shares = [data.draw(st.lists(words, min_size=1 << n, max_size=1 << n)) for n in bits]
    for share in shares:
        share[0] = 0
    flat = np.array([c for share in shares for c in share], np.uint64)
    start = np.cumsum([0, *map(len, shares)])[:-1]
    expected = [
        (base + sum(share[id] for share, id in zip(shares, row, strict=True))) % (1 << 64)
        for row in rows
    ]
    packing, fps = packing_of(bits), np.zeros(len(rows), np.uint64)
    packed_rows = packing.pack(np.array(rows, np.uint32))
    ascending = fingerprints(packed_rows, packing.bits, np.uint64(base), start, flat, fps)

    assert expected == fps.tolist()
    assert all(a < b for a, b in pairwise(expected)) == ascending


@settings(deadline=None)  # the first call compiles
@given(rows_with_bits(), st.integers(0, (1 << 128) - 1), st.data())
def test_fingerprints_of_two_words_are_added_up(
    drawn: tuple[list[int], list[tuple[int, ...]]], base: int, data: st.DataObject
) -> None:
    bits = [min(n, 3) for n in drawn[0]]
    rows = [tuple(v & ((1 << n) - 1) for v, n in zip(r, bits, strict=True)) for r in drawn[1]]
    numbers = st.one_of(st.integers(0, (1 << 128) - 1), st.just(WORD), st.just(1 << 64))
    shares = [data.draw(st.lists(numbers, min_size=1 << n, max_size=1 << n)) for n in bits]
    for share in shares:
        share[0] = 0
    flat = [c for share in shares for c in share]
    high, low = (
        np.array([c >> 64 for c in flat], np.uint64),
        np.array([c & WORD for c in flat], np.uint64),
    )
    start = np.cumsum([0, *map(len, shares)])[:-1]
    expected = [
        (base + sum(share[id] for share, id in zip(shares, row, strict=True))) % (1 << 128)
        for row in rows
    ]
    packing, fps, lows = packing_of(bits), *np.zeros((2, len(rows)), np.uint64)
    packed_rows, words = (
        packing.pack(np.array(rows, np.uint32)),
        np.array([base >> 64, base & WORD], np.uint64),
    )
    ascending = wide_fingerprints(packed_rows, packing.bits, words, start, high, low, fps, lows)

    assert expected == whole(fps, lows)
    assert all(a < b for a, b in pairwise(expected)) == ascending


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
