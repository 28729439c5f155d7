"""Loading numba quickly, and its decorators: every kernel of this package is compiled here.

When numba prepares to load or compile its first kernel it imports `scipy.linalg`, in case a kernel
multiplies matrices; that costs more than all our kernels together. Ours do not, so it is told that
there is no SciPy, for the moment of that one import.

Kernels are compiled once and kept on disk by numba. Its cache notices changes of a kernel's own
file only, while a kernel holds the code of those it calls and the constants it names, whatever file
they are in. So all kernels have one stamp, over the text of all files in `SOURCES`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

# The files of kernels, and what those import of ours: a test says which are missing.
SOURCES = (
    "history/data.py", "history/decide/kernels/acyclic.py", "history/decide/kernels/bits.py",
    "history/decide/kernels/cdcl.py", "history/decide/kernels/cdcl_state.py",
    "history/decide/kernels/encode.py", "history/decide/kernels/order.py",
    "history/decide/kernels/reach.py", "history/decide/kernels/scan.py",
    "history/decide/kernels/weak.py", "history/errors.py", "liveness/kernels.py",
    "machine/compiling.py", "native/kernels/arrays.py", "native/kernels/expand.py",
    "native/kernels/numbering.py", "native/kernels/orbit_arrays.py",
    "native/kernels/orbit_kernels.py", "native/kernels/random_walks.py",
    "native/kernels/runs.py", "native/kernels/tables.py", "native/kernels/walking.py",
    "spark/tasks/run_kernels.py",
)  # fmt: skip


COMPILING = "compiling the engine"
_PATIENCE = 60.0  # seconds to wait for another process, which may have been suspended


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

from numba import njit, types  # noqa: E402  (after the preparation)


def _stamp() -> str:
    """What changes when a source of the kernels does."""
    folder = Path(__file__).parents[1]
    return sha256(b"\0".join((folder / name).read_bytes() for name in SOURCES)).hexdigest()


STAMP = _stamp()


def _by_type(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Numba's decorator; a call with a constant is compiled as one with any value of its type.

    Numba would compile both, since it takes a variable for the first constant it gets at first.
    """
    decorator: Any = njit(**options)  # the declared types leave out the option _nrt
    plain: Any = types.unliteral

    def decorated(function: Callable[..., Any]) -> Any:
        compiled = decorator(function)
        template = compiled.get_call_template
        compiled.get_call_template = lambda arguments, named: template(
            tuple(map(plain, arguments)), {k: plain(v) for k, v in named.items()}
        )
        return compiled

    return decorated


def _while(doing: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """Work that may be ended at a limit, as ``doing``; that may not be, where it is empty."""

    def told(*given: Any, **named: Any) -> Any:
        from statewalk.checker.machine.home import somewhere  # no part of any kernel
        from statewalk.checker.machine.watch import interruptible

        with interruptible(doing), somewhere():
            return work(*given, **named)

    return told


def _once(compiled: Any) -> Callable[..., Any]:
    """Compiling a kernel and keeping it, which another process may do meanwhile: it is waited for,
    and what it kept is loaded.
    """
    compile_it, cache, context = compiled._compiler.compile, compiled._cache, compiled.targetctx
    save = _while("", cache.save_overload)  # a file is written whole

    def once(args: Any, return_type: Any) -> Any:
        from statewalk.checker.machine.locks import waited_for  # no part of any kernel

        with waited_for(Path(f"{cache._cache_file._index_path}.lock"), _PATIENCE):
            made = cache.load_overload(args, context)
            if made is not None:
                context.insert_user_function(made.entry_point, made.fndesc, [made.library])
                return made
            made = compile_it(args, return_type)
            save(args, made)
        return made

    return once


def _kept(function: Callable[..., Any], **options: Any) -> Any:
    """Compile without the interpreter's lock, and keep the machine code on disk."""
    compiled = _by_type(nogil=True, cache=True, **options)(function)
    # these are asked for by name
    compiled._compile_for_args = _while(COMPILING, compiled._compile_for_args)
    file: Any = getattr(compiled._cache, "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        compiled._compiler.compile = _once(compiled)
        compiled._cache.save_overload = _nothing  # it is kept already
        file._source_stamp = STAMP
        # compared before the rest is read, which may name types that have moved since
        file._version = f"{file._version} {STAMP}"
    return compiled


def _nothing(*_: object) -> None:
    """Stands where numba keeps what is kept already."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile what makes no arrays or lists of its own."""
    return _kept(function, _nrt=False)


if TYPE_CHECKING:

    def inlined(function: Function) -> Function:
        """Compile what is part of each kernel that calls it; Python cannot call it."""
        return function

    def allocating(function: Function) -> Function:
        """Compile what makes arrays and lists: numba counts references to them."""
        return function
else:
    inlined = _by_type(forceinline=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

    def allocating(function):
        """Compile what makes arrays and lists: numba counts references to them."""
        return _kept(function)
