"""Learned tables on their way to executors: changes between versions, as plain arrays."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from statewalk.checker.native.kernels.arrays import Outcomes, Tries
from statewalk.checker.native.kernels.orbit_arrays import OrbitTables
from statewalk.checker.spark.tasks import feed
from statewalk.checker.spark.tasks.feed import Feed, Learned, learned

N_TRIES = len(Tries._fields)
N_PLAIN = N_TRIES + len(Outcomes._fields)
N_ORBITS = len(OrbitTables._fields)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("with_orbits", [False, True])
def test_a_task_has_the_arrays_of_every_version(with_orbits: bool) -> None:
    n = N_PLAIN + N_ORBITS * with_orbits
    random = np.random.default_rng(1)
    feed = Feed("token", bytes, lambda place: None)
    arrays: list[NDArray[Any]] = [np.zeros((1, 2), np.int32) for _ in range(n)]
    for step in range(40):
        at = step % n
        rows = len(arrays[at]) + int(random.integers(0, 9000))
        grown = np.zeros((rows, 2), [np.int32, np.uint64][step % 2])
        grown[:: step + 1] = step
        arrays[at] = grown
        tries, outcomes = Tries(*arrays[:N_TRIES]), Outcomes(*arrays[N_TRIES:N_PLAIN])
        orbits = OrbitTables(*arrays[N_PLAIN:]) if with_orbits else None
        version = feed.update(Learned(tries, outcomes, orbits))
        given = learned(version, bytes)

        for expected, found in zip(
            arrays, [*given.tries, *given.outcomes, *(given.orbits or ())], strict=True
        ):
            assert expected.dtype == found.dtype
            np.testing.assert_array_equal(expected, found)


class Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_a_foreign_file_in_the_folder_runs_nothing(tmp_path: Path) -> None:
    went = tmp_path / "went"
    bombs = [pickle.dumps(Bomb(went))]
    np.save(tmp_path / "bomb.npy", np.array([Bomb(went)], object), allow_pickle=True)
    np.savez(tmp_path / "bomb.npz", **{"0": np.array([Bomb(went)], object)})  # type: ignore[arg-type]
    bombs += [(tmp_path / f"bomb.{kind}").read_bytes() for kind in ("npy", "npz")]
    for bomb in bombs:
        with pytest.raises(ValueError, match="pickle"):
            learned(feed.Version("other", 0, (bomb,)), bytes)

    assert not went.exists()
