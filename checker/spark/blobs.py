"""States as they travel from task to task: columns, not rows, which compress better."""

from __future__ import annotations

import pickle

import numpy as np

from checker.native.arrays import Array


def packed(values: Array, fp: Array, quiet: Array, link: Array) -> bytes:
    """States as bytes, to be compressed by Spark.

    Shapes:  values (n, W), fp (n,), quiet (n, B), link (n,)
    """
    columns = (np.ascontiguousarray(values.T), fp, np.ascontiguousarray(quiet.T), link)
    return pickle.dumps(columns, protocol=5)


def unpacked(blob: bytes) -> tuple[Array, Array, Array, Array]:
    """The columns of `packed`."""
    values, fp, quiet, link = pickle.loads(blob)
    return np.ascontiguousarray(values.T), fp, np.ascontiguousarray(quiet.T), link
