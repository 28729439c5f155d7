"""Spark's Python daemon with what every worker needs loaded once, before it forks them.

As it is, each worker would import the kernels and numba for itself, and numba would look for
extensions in all that is on the path. Spark puts an archive of its Python code there, from which
everything is compiled anew by each process; where that is the archive of the PySpark that is
installed, the compiled files of the installation do as well. Together that is a second of CPU per
worker. Nothing here may start a thread: those do not survive a fork.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def prepare() -> None:
    """Import what tasks run, and let nothing of it be walked over by collections of garbage."""
    sys.path[:] = without_archives(sys.path)
    with redirect_stdout(sys.stderr):  # Spark reads from standard output where we listen
        import_module("statewalk.checker.spark.driver.jobs")
        import_module("statewalk.checker.spark.tasks.plan").sources()
        with suppress(Exception):  # each worker would do it, and say what is wrong
            import_module("pyspark.worker")
            import_module("numba.core.entrypoints").init_all()
    gc.collect()
    gc.freeze()


def without_archives(path: list[str]) -> list[str]:
    """Return a module path without the archives that are part of the PySpark found on the
    rest of it.
    """
    rest = [entry for entry in path if not entry.endswith(".zip")]
    before, sys.path[:] = sys.path[:], rest
    try:
        found = find_spec("pyspark")
    finally:
        sys.path[:] = before
    if found is None or found.origin is None:
        return path
    home = Path(found.origin).parent
    return [entry for entry in path if entry in rest or not Path(entry).is_relative_to(home)]


def quiet(worker: Callable[..., int]) -> Callable[..., int]:
    """Return a worker that ends without a word when Spark has closed the connection."""

    def run(*connection: object) -> int:
        try:
            return worker(*connection)
        except BrokenPipeError:
            os._exit(0)

    return run


def main() -> None:
    """Fork workers for as long as Spark wants."""
    prepare()
    from pyspark import daemon

    daemon.worker = quiet(daemon.worker)
    daemon.manager()


if __name__ == "__main__":
    main()
