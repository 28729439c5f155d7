"""Loading numba quickly.

When numba prepares to load or compile its first kernel it imports `scipy.linalg`, in case a kernel
multiplies matrices; that costs more than all our kernels together. Ours do not, so it is told that
there is no SciPy, for the moment of that one import.
"""

from __future__ import annotations

import sys
from typing import NoReturn


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
