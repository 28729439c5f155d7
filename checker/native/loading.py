"""Loading numba quickly, and its decorators as kernels use them.

When numba prepares to load or compile its first kernel it imports `scipy.linalg`, in case a kernel
multiplies matrices; that costs more than all our kernels together. Ours do not, so it is told that
there is no SciPy, for the moment of that one import.

Kernels are compiled once and kept on disk by numba. Its cache notices changes of a kernel's own
file only; `kernel` makes it notice changes of every file that is inlined.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn


def _no_blas() -> NoReturn:
    raise ImportError("not needed here")


def prepare_numba() -> None:
    """Import the part of numba that looks for SciPy, without SciPy."""
    if "numba.np.arraymath" in sys.modules:
        return
    from numba.np import linalg

    found = linalg.ensure_blas
    linalg.ensure_blas = _no_blas
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = found


prepare_numba()

from numba import njit  # noqa: E402  (after the preparation)

_SOURCES = ("arrays.py", "loading.py", "walking.py", "kernels.py", "tables.py",
            "orbit_arrays.py", "orbit_kernels.py", "run_kernels.py")  # fmt: skip


def _stamp() -> tuple[tuple[float, int], ...]:
    """What changes when a source of the kernels does."""
    folder = Path(__file__).parent
    stats = [(folder / name).stat() for name in _SOURCES]
    return tuple((stat.st_mtime, stat.st_size) for stat in stats)


_STAMP = _stamp()
_njit: Any = njit  # its declared types leave out the option _nrt
inlined: Callable[[Callable[..., Any]], Any] = _njit(forceinline=True, _nrt=False)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile without reference counting and without the interpreter's lock; keep on disk."""
    compiled = _njit(nogil=True, cache=True, _nrt=False)(function)
    file: Any = getattr(compiled._cache, "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = _STAMP
    return compiled
