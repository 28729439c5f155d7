"""Processes that find Python's own modules, whatever the files in the current folder are called."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

_SAFE = "PYTHONSAFEPATH"  # as python -P


@contextmanager
def processes(most: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that are started anew: kernels and threads do not survive a fork."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(most, mp_context=spawn) as pool:
            yield pool
    finally:
        if before is None:
            os.environ.pop(_SAFE, None)
        else:
            os.environ[_SAFE] = before
