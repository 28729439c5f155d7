"""Links that are packed, and arrays in pages of their own."""

import mmap
from typing import NoReturn

import numpy as np
import pytest

from statewalk.checker.native import memory
from statewalk.checker.native.memory import PackedLinks


@pytest.mark.parametrize(("positions", "ordinals", "size"), [(20, 0, 4), (26, 3, 5), (35, 3, 8)])
def test_links_come_back_as_they_were(positions: int, ordinals: int, size: int) -> None:
    ordinal_bits, n = 22, 5000
    rng = np.random.default_rng(1)
    links = rng.integers(0, 1 << positions, n) << 28 | rng.integers(0, 64, n) << ordinal_bits
    links |= rng.integers(0, 1 << ordinals, n)

    packed = PackedLinks.of(links, ordinal_bits)

    assert packed.nbytes == size * n and len(packed) == n
    assert np.array_equal(np.asarray(packed), links)
    assert [int(packed[at]) for at in (0, 17, n - 1)] == links[[0, 17, n - 1]].tolist()


def test_few_links_stay_as_they_are() -> None:
    links = np.arange(10)

    assert PackedLinks.of(links, 20) is links


@pytest.mark.parametrize("huge", [1.0, 0.3, 0.0])
def test_a_large_array_is_empty_and_begins_a_line(huge: float) -> None:
    array = memory.array((1 << 20, 3), np.uint32, huge)

    assert array.shape == (1 << 20, 3) and array.ctypes.data % 64 == 0
    assert not array.any()


def test_no_memory_is_said_as_python_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> NoReturn:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", none)

    with pytest.raises(MemoryError):
        memory.array(1 << 20, np.uint64)
