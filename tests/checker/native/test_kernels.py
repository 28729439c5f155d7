"""Kernels do not count references, and the table survives growing and forgetting."""

from __future__ import annotations

import re
from typing import Any

import numba
import numpy as np
import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.native.kernels import expand as kernels
from statewalk.checker.native.kernels import tables
from statewalk.checker.native.states import Partition, Shape
from tests.cases import slow
from tests.checker.native.hand import two_phase_commit

KERNELS = [slow(kernels.expand), slow(kernels.check), slow(tables.insert), tables.gather]


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_kernels_do_not_count_references(kernel: Any) -> None:
    native.explore(two_phase_commit(2), SearchOptions())
    # compiled anew, as numba shows no code of what it loaded from its cache
    njit: Any = numba.njit
    fresh = njit(nogil=True, _nrt=False)(kernel.py_func)
    fresh.compile(kernel.signatures[0])
    (code,) = fresh.inspect_llvm().values()

    assert re.search(r"^define", code, re.M)
    assert not re.search(r"NRT_(incref|decref|MemInfo)", code)


def partition(wide: bool = False) -> Partition:
    return Partition(0, 1, Shape(4, np.dtype(np.uint16), 1, wide))


@pytest.mark.parametrize("wide", [False, True])
def test_a_table_knows_what_entered_it(wide: bool) -> None:
    table = partition(wide)
    fps = np.random.default_rng(1).integers(0, 1 << 63, 5000).astype(np.uint64)
    fps[0] = 0
    lows = fps[::-1].copy() if wide else fps[:0]
    table.enter(fps[:3000], lows[:3000])

    assert [True] * 3000 + [False] * 2000 == table.has(fps, lows).tolist()


@pytest.mark.parametrize("wide", [False, True])
def test_a_table_forgets(wide: bool) -> None:
    table = partition(wide)
    # few different low bits, so that there are long runs of neighbours
    fps = np.array([(i << 20) | (i % 7) for i in range(1, 400)], np.uint64)
    lows = fps + np.uint64(1) if wide else fps[:0]
    table.enter(fps, lows)
    gone = np.arange(len(fps)) % 3 == 0
    table.forget(fps[gone], lows[gone] if wide else lows)

    assert (~gone).tolist() == table.has(fps, lows).tolist()
    assert table.entries == (~gone).sum()
