"""The only import of numba's compiler: every kernel of this package is decorated here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

if TYPE_CHECKING:

    def kernel(function: Function) -> Function:
        """Compile without the interpreter lock and keep the machine code on disk."""
        return function
else:
    from numba import njit

    def kernel(function):
        """Compile without the interpreter lock and keep the machine code on disk."""
        return njit(nogil=True, cache=True)(function)
