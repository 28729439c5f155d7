"""Merging runs and looking in them, against what sets and dictionaries say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.native.run_kernels import mark, merge
from checker.spark.blobs import packing_of

FPS = st.lists(st.one_of(st.integers(0, 40), st.integers(0, (1 << 64) - 1)), max_size=60)


def run_of(values: list[int]) -> np.ndarray:
    return np.array(sorted(set(values)), np.uint64)


def merged(fps: np.ndarray, links: np.ndarray) -> list[int]:
    """The slow twin: per fingerprint the position with the least link, in order."""
    least: dict[int, int] = {}
    for at in np.lexsort((links, fps)).tolist():
        least.setdefault(int(fps[at]), at)
    return [least[fp] for fp in sorted(least)]


@settings(deadline=None)  # the first call compiles
@given(FPS, FPS, st.randoms(use_true_random=False))
def test_two_runs_become_one(first: list[int], second: list[int], dice: object) -> None:
    a, b = run_of(first), run_of(second)
    fps = np.concatenate([a, b])
    links = np.array(dice.sample(range(1000), len(fps)), np.int64)  # type: ignore[attr-defined]
    found = np.zeros(len(fps), np.int64)
    n = merge(fps, links, np.arange(len(a)), len(a), np.arange(len(a), len(fps)), len(b), found)

    assert merged(fps, links) == found[:n].tolist()


@settings(deadline=None)  # the first call compiles
@given(FPS, FPS)
def test_what_of_a_run_is_in_another(first: list[int], second: list[int]) -> None:
    a, b = run_of(first), run_of(second)
    found = np.zeros(len(a), np.bool_)
    mark(a, b, found)

    assert np.isin(a, b).tolist() == found.tolist()


def packed(row: list[int], bits: list[int]) -> list[int]:
    """The slow twin: a row's words, each slot in the first word with room after the one before."""
    words, used = [0], 0
    for value, n in zip(row, bits, strict=True):
        if used + n > 64:
            words.append(0)
            used = 0
        words[-1] |= value << used
        used += n
    return words


@settings(deadline=None)  # the first call compiles
@given(st.data())
def test_rows_are_packed_and_unpacked(data: st.DataObject) -> None:
    bits = data.draw(st.lists(st.integers(0, 16), min_size=1, max_size=30))
    row = st.tuples(*(st.integers(0, (1 << n) - 1) for n in bits))
    rows = data.draw(st.lists(row, min_size=1, max_size=9))
    packing, values = packing_of(bits), np.array(rows, np.uint16)
    words = packing.pack(values)

    assert [packed(list(row), bits) for row in rows] == words.tolist()
    assert values.tolist() == packing.unpack(words, np.uint16).tolist()
