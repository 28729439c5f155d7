"""Compiling every kernel ahead: `python -m statewalk.checker.machine.ahead`, by `make install` too.

A kernel is compiled when it is first called, once on each machine. Whoever does not want to wait in
the middle of a check compiles all of them before, for the types that they are called with; here
these are written down. What only large models meet stays for then: slots of more than 65,535
values, more than 65,536 labels in a graph with liveness.

Rows of states, and labels, are of bytes where every number is one, else of two: kernels over them
are compiled for both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from importlib import import_module
from signal import SIGKILL
from subprocess import DEVNULL, Popen
from time import process_time
from typing import Any

from statewalk.checker.machine.spawning import processes

_A_WHILE = 2.0  # seconds of a processor: most searches are over by then

# A type is what numpy calls it, with a [] for each dimension; or a named tuple of `_TUPLES`, which
# stands in a module of the folder of the kernel. An id is one or two bytes.
_IDS = ("u1", "u2")
_TUPLES = {
    "Rows": ("arrays", "id[][] u8[] u8[] u8[][]"),
    "Segment": ("arrays", "id[][] u8[] u8[] u8[][] i8[]"),
    "Tries": ("arrays", "i4[] i4[][] i4[] u8[] i4[] i8[] i8[] i4[] i4[] i8[][]"),
    "Outcomes": (
        "arrays",
        "u8[] u8[] i8[] i4[] i4[] i4[] i4[] i8[] i8[] i4[] i8[] u8[] u8[] u8[][]",
    ),
    "Batch": (
        "arrays",
        "u8[][] u8[][] i8[][] i4[][] i4[][] i8[] i8[][] i8[] i8[] i8[] u1[] u1[]",
    ),
    "Walks": (
        "arrays",
        "u4[][] u4[][] u8[][] u8[] i8[] i8[] i8[] i8[][] i8[][] u1[][] i8[][] i8[][] i8[]",
    ),
    "Stride": ("arrays", "i4[] i4[] i4[] i4[] u4[] u8[] i8[] i8[] u1[]"),
    "Scratch": ("arrays", "i4[] i4[] i4[] u8[] u8[] i8[] i8[] i8[] i4[] i8[]"),
    "OrbitTables": (
        "orbit_arrays",
        "i8[] i8[] i4[] u8[][] i8[] i4[] i4[] u8[][] i8[] i4[] i4[] i8[] i4[] i8[] i4[] i4[] u1[] "
        "u8[][] i8[] i4[] i4[] u8[] u8[] u8[][]",
    ),
    "OrbitScratch": (
        "orbit_arrays",
        "i8[] i8[] u8[][] u8[][] u8[][] u1[] u8[][][] i8[][] i8[] i8[] u8[][][] f8[][] u8[] f8[]",
    ),
    "Index": ("reach", "i8[] i8[] i8[] i8[] i8[] i8[] i8[][] i8[]"),
    "OrderSearch": ("order", f"i8 i8 {'i8[] ' * 13}i1[] f8[]"),
    "SolverState": ("cdcl_state", f"i1[] {'i8[] ' * 30}i1[] {'i8[] ' * 8}"),
}
_KERNELS = {
    "native.kernels.expand": {
        "expand": "Rows Tries Outcomes Batch Scratch i8 i8 i8[] i8[][] i8 i8 i8 i8 i8 i8",
        "check": "Rows Tries Batch Scratch i8 i8[] i8[][] i8 i8[][] i8 i8 i8[] i8[] i8",
        "check_steps": (
            "Rows Tries Outcomes Batch Scratch i8 i8[] i8[] i8[] i8[] i8 i8 i8[] i8[] u1[]"
        ),
        "call_result": "i8[] i8 Tries Scratch",
    },
    "native.kernels.random_walks": {
        "go_on": "Walks Tries Outcomes Scratch Stride i8[][] i8[] i8[] i8[] i8 i8",
    },
    "native.kernels.tables": {
        "insert": "Rows Outcomes Batch i8 u8[] u8[] i4[] i8 Segment i8[] i8[] i8",
        "gather": "Segment i8[] Rows i8[] i8",
        "enter": "u8[] u8[] i4[] i8 u8[] u8[]",
        "refill": "u8[] u8[] i4[] u8[] u8[] i4[]",
        "find": "u8[] u8[] u8[] u8[] b1[]",
        "forget": "u8[] u8[] u8[] u8[]",
        "put_hashed": "u8[] i4[] u8[] i4[]",
        "hashed_child": "u8[] i4[] i8 i8",
    },
    "native.kernels.runs": {
        "order": "u8[] u8[] u8 u8 i8[] u8[] i8[]",
        "mark": "u8[] u8[] u8[] u8[] b1[]",
    },
    "native.kernels.sketches": {
        "note": "id[][] u8[] i8[] i8[] i8[] i8[] i8 u8 u8[] u1[][] u8[][]",
    },
    "native.kernels.numbering": {
        "name": "Batch i8 i8[] u8[] i4[] i8[] i8[] i4[][]",
        "keep": "Batch i8 i4[][] i8[] i4[] id[]",
        "renumber": "i4[] i8 i4[]",
        "count": "Batch i8 i8[]",
        "recode": "i4[] i4[] i4[]",
        "arrange": "Batch i8 i8 i8[] i8[] i8[] u8[] u8[] u8[] i4[] i4[]",
    },
    "native.kernels.orbit_kernels": {
        "orbits": "id[][] i8[] i4[] Outcomes OrbitTables OrbitScratch u8[] u8[][] f8[] i8[]",
        "spread": "Batch u8[][] i8[] i4[] i8",
    },
    "liveness.kernels": {
        "components": "i4[] i8[] i4[] i4[] i4[] i4[] i4[] i4[] i4[] i8[]",
        "survey": "i4[] i8[] i4[] id[] i4[] u8[] u8[] u8[] u8[] u8[]",
        "enabling": "i8[] i4[] id[] u8[] u8[]",
        "spread": "i8[] i4[] u1[] u1[] u1[] i4[] i4[] i8[] i8[]",
        "trim": "i8[] i4[] id[] u1[] u1[] u1[] u1[]",
        "lost": "i8[] i4[] id[] u1[] u1[] u8[] u8[]",
        "drop": "u8[] u8[] u1[]",
    },
    "history.decide.kernels.scan": {
        "expand": "i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8[][] i8[]",
        "scan": ("i8[] i8[][] i8[] i8[] i8[] i8[][] i8[][] i8[][] i8[][] i8[] i8[] b1"),
        "prefixes": "i8[][] i8[][] i8[] i8[] i8[][]",
    },
    "history.decide.kernels.reach": {
        "adjacency": "i8 i8[] i8[] i8[] i8[] i8[]",
        "topological": "i8 i8[] i8[] i8[]",
        "topological_by": "i8 i8[] i8[] f8[] i8[]",
        "nearest_first": "i8[] i8[] i8[] i8[] i8[] i8[]",
        "reach": "i8[] i8[] i8[] i8[] i8[] i8[] i8[] i8 i4[][] i4[][] b1[]",
        "rule_one": "i4[][] i4[][] i8 i8[] Index i8[][] i8",
        "rules": "i4[][] i4[][] i8 i8 i8[] Index i8[][] i8",
        "undecided": "i4[][] i4[][] i8 i8 i8[] Index i8[][] i8",
        "find_path": "i8[] i8[] i8[] i8[] i8 i8 i8 i8[] i8[]",
    },
    "history.decide.kernels.bits": {
        "closure": "i8[] i8[] i8[] i8[] i8[] i8 u8[][] u8[][] b1[]",
        "rules": "u8[][] u8[][] i8 i8 Index i8[] i8[][] i8",
        "undecided": "u8[][] u8[][] i8 i8 Index i8[][] i8",
    },
    "history.decide.kernels.encode": {
        "next_writers": "i8 i8[] Index i8[]",
        "encode": "i8 i8[][] i8[] i8[] i8[] i8[] i8[] i8[][]",
    },
    "history.decide.kernels.weak": {
        "missed": "i8 i8 i8[][] i8[] i8[] b1 i8[][] i8",
        "missed_in_session": "i8 i8[] i8[] i8[][] i8[] i8[] i8[] i8[][] i8",
    },
    "history.decide.kernels.order": {"execute": "OrderSearch i8[] i8[] i8[] i8[] i8 i8[]"},
    "history.decide.kernels.cdcl": {"run": "SolverState", "refuse": "SolverState i8"},
    "spark.tasks.run_kernels": {
        "merge": "u8[] u8[] i8[] i8[] i8 i8[] i8 i8[]",
        "pack": "id[][] i8[] u8[][] u8[] i8[][] u1[][]",
        "unpack": "u1[][] u8[][] u8[] i8[][] id[][]",
        "add_up": "u8[][] u8[] i8[] u8[] u8[] u8[][] u8[][]",
        "fingerprints": "u1[][] u8[][] u8[][] i8[][] u8[] i8[] u8[] u8[] u8[] u8[]",
        "narrow_links": "i8[] i8[] i8 i8 i8 u1[][]",
        "widen_links": "u1[][] i8 i8 i8 i8[]",
        "number_rows": "u8[][] i4[] u8[][] u4[]",
    },
}


def all_kernels() -> list[tuple[str, str]]:
    """Return the module and the name of each, those that take long to compile first."""
    found = [(module, name) for module, kernels in _KERNELS.items() for name in kernels]
    return sorted(found, key=lambda at: -len(_KERNELS[at[0]][at[1]]))


def compiled(module: str, name: str) -> Any:
    """Return a kernel, compiled or loaded for the types that are written down here."""
    there: Any = import_module(f"statewalk.checker.{module}")
    made = getattr(there, name)
    if module == "liveness.kernels":  # plain Python as long as a graph is small
        made = there.compiled(made)
    for types in types_of(module, name):
        made.compile(types)
    return made


def types_of(module: str, name: str) -> list[tuple[Any, ...]]:
    """Return the types of a kernel's arguments, as numba has them: one way, or by the type of
    ids.
    """
    folder = module.rpartition(".")[0]
    words = _KERNELS[module][name].split()
    found = [tuple(_type(word, folder, ids) for word in words) for ids in _IDS]
    return found if found[0] != found[1] else found[:1]


def _type(text: str, folder: str, ids: str) -> Any:
    from numba import from_dtype, types
    from numpy import dtype

    if text in _TUPLES:
        module, fields = _TUPLES[text]
        made = getattr(import_module(f"statewalk.checker.{folder}.{module}"), text)
        tuples: Any = types.BaseTuple
        return tuples.from_types([_type(f, folder, ids) for f in fields.split()], made)
    element = from_dtype(dtype(text.rstrip("[]").replace("id", ids)))
    dimensions = text.count("[")
    return types.Array(element, dimensions, "C") if dimensions else element


def are_kept() -> bool:
    """Return whether the kernels of a search were compiled, by what the files of one are called."""
    place: Any = import_module("statewalk.checker.machine.compiling")
    kernel: Any = import_module("statewalk.checker.native.kernels.expand").expand
    index = kernel._cache._cache_file._index_name
    return any((folder / index).exists() for folder in place.readable(kernel.py_func))


class Background:
    """Kernels of a search that another process compiles, once this one has worked for a while.

    ``tell`` is called when that begins. Leaving the context ends it; what is compiled is kept.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell, self._began = tell, process_time()
        self._process: Popen[bytes] | None = None

    def __enter__(self) -> Background:
        return self

    def is_done(self) -> bool:
        """Return whether the kernels are there; begin to compile them if it is time."""
        if self._process is None:
            if process_time() - self._began > _A_WHILE:
                command = [sys.executable, "-P", "-m", __name__, "native."]
                self._process = Popen(
                    command, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
                )
                self._tell()
            return False
        return self._process.poll() is not None

    def __exit__(self, *error: object) -> None:
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)
            self._process.wait()


def main(only: str = "") -> None:
    """Compile all that are not kept yet, with as many processes as there are processors.

    With ``only``, the beginning of a module's name, those are kept where the user's caches are.
    """
    kernels = [kernel for kernel in all_kernels() if kernel[0].startswith(only)]
    said = (
        f"Compiling {len(kernels)} kernels, once: later checks start at once, of every user where "
        "this installation takes files\n"
    )
    sys.stdout.write(said)
    sys.stdout.flush()
    for _ in compiling(kernels, for_all=not only):
        pass


def compiling(kernels: Sequence[tuple[str, str]], *, for_all: bool) -> Iterator[str]:
    """Compile kernels in processes of their own and yield the name of each that is done.

    ``for_all`` keeps them in the installation where that takes files, for every user of it.
    """
    with processes(min(os.cpu_count() or 1, 8)) as pool:
        running = {pool.submit(_compile, *kernel, for_all): kernel[1] for kernel in kernels}
        for done in as_completed(running):
            done.result()
            yield running[done]


def _compile(module: str, name: str, for_all: bool) -> None:
    place: Any = import_module("statewalk.checker.machine.compiling")
    place.ahead = for_all
    compiled(module, name)


if __name__ == "__main__":
    main(*sys.argv[1:])
