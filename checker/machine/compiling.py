"""Loading numba quickly, and its decorators: every kernel of this package is compiled here.

When numba prepares to load or compile its first kernel it imports `scipy.linalg`, in case a kernel
multiplies matrices; that costs more than all our kernels together. Ours do not, so it is told that
there is no SciPy, for the moment of that one import.

Kernels are compiled once and kept on disk in numba's format. Its own cache notices changes of a
kernel's own file only, while a kernel holds the code of those it calls and the constants it names,
whatever file they are in. So all kernels have one stamp, over the text of all files in `SOURCES`.
"""

# mypy: disable-error-code="no-untyped-call"
# (numba's classes for caches have no types)

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from statewalk.dsl import caches

Function = TypeVar("Function", bound=Callable[..., object])

# The files of kernels, and what those import of ours: a test says which are missing.
SOURCES = (
    "history/clock.py", "history/data.py",
    "history/decide/kernels/acyclic.py", "history/decide/kernels/bits.py",
    "history/decide/kernels/cdcl.py", "history/decide/kernels/cdcl_state.py",
    "history/decide/kernels/encode.py", "history/decide/kernels/order.py",
    "history/decide/kernels/reach.py", "history/decide/kernels/scan.py",
    "history/decide/kernels/weak.py", "history/errors.py", "liveness/kernels.py",
    "machine/compiling.py", "native/kernels/arrays.py", "native/kernels/expand.py",
    "native/kernels/numbering.py", "native/kernels/orbit_arrays.py",
    "native/kernels/orbit_kernels.py", "native/kernels/random_walks.py",
    "native/kernels/runs.py", "native/kernels/sketches.py", "native/kernels/tables.py",
    "native/kernels/walking.py", "spark/tasks/run_kernels.py",
)  # fmt: skip


COMPILING = "compiling the engine"
_SEAL = 16  # bytes
_VERSIONS = 4  # of kernels, that are kept
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

import numba  # noqa: E402  (after the preparation)
from numba import njit, types  # noqa: E402
from numba.core.caching import (  # noqa: E402
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
)


def _stamp() -> str:
    """Return what changes when a source of the kernels does."""
    folder = Path(__file__).parents[1]
    texts = [(folder / name).read_bytes() for name in SOURCES]
    return sha256(b"\0".join([numba.__version__.encode(), *texts])).hexdigest()


STAMP = _stamp()
NAME = f"kernels/{STAMP[:16]}"
"""The folder of these kernels, in one for caches."""
INSTALLED = not {"site-packages", "dist-packages"}.isdisjoint(Path(__file__).parts)
ahead = False
"""Whether this process compiles kernels for every user of an installation."""


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
        from statewalk.checker.machine.watch import interruptible  # no part of any kernel

        with interruptible(doing):
            return work(*given, **named)

    return told


class _Names(CompileResultCacheImpl):
    """The names of a kernel's cache files in numba."""

    def __init__(self, function: Any) -> None:  # not numba's, which looks for one folder to write
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(
            _py_file=function.__code__.co_filename,  # named in a warning
            get_cache_path=lambda: str(tree_of(function)),
            get_source_stamp=lambda: STAMP,
            get_disambiguator=lambda: str(self._lineno),
            ensure_cache_path=lambda: None,
        )
        module = function.__module__.rpartition(".")[2]
        abi = getattr(sys, "abiflags", "")
        self._filename_base = self.get_filename_base(f"{module}.{function.__qualname__}", abi)


class _Sealed(IndexDataCacheFile):
    """The files of a kernel, each with a digest at its end that unpickling ignores."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        with super()._open_for_write(filepath) as file:
            yield file
            file.flush()
            file.write(_seal(filepath, Path(file.name).read_bytes()))

    def _load_index(self) -> Any:
        with suppress(FileNotFoundError):
            self._check(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        self._check(self._data_path(name))
        return super()._load_data(name)

    def _check(self, path: str) -> None:
        text = Path(path).read_bytes()
        if text[-_SEAL:] != _seal(path, text[:-_SEAL]):
            raise ValueError(f"{path} does not hold what was written to it")


def _seal(path: str, text: bytes) -> bytes:
    return blake2b(os.path.basename(path).encode() + text, digest_size=_SEAL).digest()


class Kept(FunctionCache):
    """A kernel on disk: read beside its source and in the user's folder, written to one of them.

    What cannot be read, or was torn, is compiled anew.
    """

    _impl_class = _Names

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._function = function
        self._cache_file = _Sealed(self._cache_path, self._impl.filename_base, STAMP)
        # compared before the rest is read, which may name types that have moved since
        self._cache_file._version = f"{numba.__version__} {STAMP}"
        self._to(tree_of(function))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature; None where there is none."""
        for folder in readable(self._function):
            index = self._to(folder)
            try:
                made = super().load_overload(sig, target_context)
            except FileNotFoundError:
                continue
            except (OSError, ValueError):  # damaged, or of an earlier version
                with suppress(OSError):
                    os.unlink(index)
                continue
            if made is not None:
                return made
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Do nothing: `_once` keeps a kernel when it compiles it."""

    def write(self, folder: Path, sig: Any, data: Any) -> None:
        """Keep a compiled kernel in a folder."""
        self._to(folder)
        super().save_overload(sig, data)

    def _to(self, folder: Path) -> Path:
        file = self._cache_file
        file._cache_path, index = str(folder), folder / file._index_name
        file._index_path = str(index)
        return index


def tree_of(function: Any) -> Path:
    """Return the folder beside a kernel's source."""
    return Path(function.__code__.co_filename).parent / "__pycache__"


def readable(function: Any) -> list[Path]:
    """Return the folders in which a kernel may be kept already."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return [] if _by_others(Path(named) / NAME) else [Path(named) / NAME]
    if ahead and _made(tree_of(function)):
        return [tree_of(function)]  # a kernel in the user's folder is of no use to others
    try:
        top = caches.place()
        return [tree_of(function), *([] if caches.is_foreign(top) else [top / NAME])]
    except (OSError, RuntimeError):
        return [tree_of(function)]


def writable(function: Any) -> Path | None:
    """Return the folder in which to keep a kernel; None where nothing can be written.

    That is the user's. Kernels are kept beside their sources in a checkout, in what Spark unpacks,
    and where they are compiled ahead for every user of an installation.
    """
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return None if _by_others(Path(named) / NAME) else _made(Path(named) / NAME)
    found = _made(tree_of(function)) if ahead or not INSTALLED else None
    return found or _users()


def _by_others(folder: Path) -> bool:
    """Return whether a folder is of a user who is neither this one nor root: a kernel is code."""
    try:
        return caches.is_foreign(folder) and folder.stat().st_uid != 0
    except OSError:  # it does not exist yet
        return False


def _users() -> Path | None:
    """Return the user's folder for these kernels; of those of other versions, a few stay."""
    top = caches.folder("kernels")
    if top is None:
        return None
    if not (found := top / STAMP[:16]).exists():
        with suppress(OSError):
            others = sorted(top.iterdir(), key=lambda folder: folder.stat().st_mtime)
            for old in others[: 1 - _VERSIONS]:
                shutil.rmtree(old, ignore_errors=True)
    return _made(found)


def _made(folder: Path) -> Path | None:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


def _once(compiled: Any) -> Callable[..., Any]:
    """Compiling a kernel and keeping it, which another process may do meanwhile: it is waited for,
    and what it kept is loaded.
    """
    compile_it, cache, context = compiled._compiler.compile, compiled._cache, compiled.targetctx
    write = _while("", cache.write)  # a file is written whole

    def once(args: Any, return_type: Any) -> Any:
        from statewalk.checker.machine.locks import waited_for  # no part of any kernel

        folder = writable(compiled.py_func)
        if folder is None:
            _warn_once()
            return compile_it(args, return_type)
        with waited_for(Path(f"{cache._to(folder)}.lock"), _PATIENCE):
            made = cache.load_overload(args, context)
            if made is not None:
                context.insert_user_function(made.entry_point, made.fndesc, [made.library])
                return made
            made = compile_it(args, return_type)
            with suppress(OSError):  # a full disk: the next process compiles it again
                write(folder, args, made)
        return made

    return once


@cache
def _warn_once() -> None:
    from statewalk.checker.machine import streams  # no part of any kernel

    named = os.environ.get("NUMBA_CACHE_DIR")
    why = f"{named} takes no files, or is another user's" if named else caches.problem(NAME)
    streams.warn(
        f"warning: the compiled engine is not kept, and each run compiles it anew: {why}. "
        "Set NUMBA_CACHE_DIR to a folder of yours that takes files.\n"
    )


def _kept(function: Callable[..., Any], **options: Any) -> Any:
    """Compile without the interpreter's lock, and keep the machine code on disk."""
    compiled = _by_type(nogil=True, **options)(function)
    compiled._cache = Kept(function)
    compiled._compiler.compile = _once(compiled)
    # these are asked for by name
    compiled._compile_for_args = _while(COMPILING, compiled._compile_for_args)
    return compiled


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
