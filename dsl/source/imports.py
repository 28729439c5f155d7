"""Which modules belong to a spec, and where they are. Nothing is run to find out."""

from __future__ import annotations

import ast
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from pathlib import Path

from statewalk.dsl.files import MOST_OF_A_TEXT, read_text
from statewalk.dsl.source.nodes import walk

_PACKAGE = Path(__file__).parents[2]
_OURS = [
    p
    for name in ("dsl", "checker", "__init__.py")
    for p in (_PACKAGE / name, (_PACKAGE / name).resolve())
]

_INSTALLED = frozenset({"site-packages", "dist-packages"})
# What the engine runs on may lie in a folder of another name, and opens files while kernels load.
_ENGINE = [
    Path(folder)
    for name in ("llvmlite", "numba", "numpy")
    if (found := PathFinder.find_spec(name)) is not None
    for folder in found.submodule_search_locations or ()
]

# Asked for once, now: Python 3.13 finds out by importing a module, and while a spec is loaded each
# import asks us whether that is installed, before there is an answer.
_STDLIB = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]


@contextmanager
def searching(folder: str) -> Iterator[None]:
    """Look for modules in a folder first, for a while."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def place_in_packages(path: Path) -> tuple[str, str]:
    """Where the imports of a spec's main module start, and the package that it is in."""
    folder, package = path.resolve().parent, ""
    while (folder / "__init__.py").exists():
        package = f"{folder.name}.{package}" if package else folder.name
        folder = folder.parent
    return str(folder), package


def file_of(name: str, folder: str) -> Path | None:
    """The text of a module; of a package, its ``__init__.py``. None where there is none."""
    head, *rest = name.split(".")
    with searching(folder):
        spec = BuiltinImporter.find_spec(head) or FrozenImporter.find_spec(head)
        spec = spec or PathFinder.find_spec(head)
        if spec is None and head not in sys.modules:  # what is installed to be edited
            spec = importlib.util.find_spec(head)
    if spec is None:
        return None
    file = Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    folders = [Path(p) for p in spec.submodule_search_locations or ()]
    for part in rest:
        file = module_file(part, folders)
        folders = [f / part for f in folders] if file is None else [file.parent]
        if file is not None and file.name != "__init__.py":
            folders = []
    return file


def module_file(name: str, folders: list[Path] | tuple[str, ...]) -> Path | None:
    """The file of a module or package below one of some folders."""
    for folder in folders:
        place = Path(folder, *name.split("."))
        for file in (place / "__init__.py", place.with_name(place.name + ".py")):
            if file.is_file():
                return file
    return None


def package_of(file: Path, name: str) -> str:
    """The package that the relative imports of a module start from."""
    return name if file.name == "__init__.py" else name.rpartition(".")[0]


def lies_with(path: Path, folders: tuple[str, ...]) -> bool:
    """Whether a module is its author's own: in `folders`, and not installed there."""
    inside = any(path.is_relative_to(folder) for folder in folders)
    return inside and not _is_package(path)


def _is_package(path: Path) -> bool:
    if not _INSTALLED.isdisjoint(path.parts):
        return True
    return any(map(path.is_relative_to, _STDLIB))


@lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Whether a file came with Python, with a package, or with statewalk, and is no author's."""
    path = Path(file)
    known = any(map(path.is_relative_to, (*_OURS, *_ENGINE)))
    return known or file.startswith("<frozen ") or _is_package(path)


def package_in(file: str) -> str:
    """The package or module below a folder of installed ones that a file belongs to; empty where it
    lies in none.
    """
    parts = Path(file).parts
    for at, part in enumerate(parts[:-1]):
        if part in _INSTALLED:
            return parts[at + 1].partition(".")[0]
    return ""


@lru_cache(maxsize=4096)
def is_program(file: str) -> bool:
    """Whether a file is statewalk's own; its library of models is not."""
    return any(map(Path(file).is_relative_to, _OURS))


def is_authored(name: str) -> bool:
    """Whether a module that Python imported is somebody's own: neither ours, nor installed."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if is_ours(name) or name == "__main__":
        return not is_ours(name)
    return file is not None and not is_installed(file)


def is_spec_module(path: Path, package: str, folders: tuple[str, ...], seen: set[Path]) -> bool:
    """Whether a module imports the language, or one in `folders` that does: both make it part of a
    spec.

    Modules installed elsewhere, Python's own among them, count when they do so themselves.
    """
    seen.add(path)
    try:
        text = read_text(path, most=MOST_OF_A_TEXT)
        inside = any(path.is_relative_to(folder) for folder in folders)
        if "statewalk" not in text and not inside:  # most modules are settled without being parsed
            return False
        names = imported_modules(text, package)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(map(_is_language, names)):
        return True
    return inside and any(
        is_spec_module(file, package_of(file, name), folders, seen)
        for name in names
        if (file := module_file(name, folders)) is not None and file not in seen
    )


_SERVICES = (
    "Replay", "Result", "Run", "Trace", "check", "load", "load_trace", "replay", "save_trace",
)  # fmt: skip
"""Names of the package that are no words of the language."""


def is_ours(module: str) -> bool:
    """Whether a module is statewalk itself; its library of models is not."""
    return module.partition(".")[0] == "statewalk" and not module.startswith("statewalk.models")


def _is_language(name: str) -> bool:
    """Whether an imported name is of the language: who imports one is part of the spec."""
    package, _, rest = name.partition(".")
    return package == "statewalk" and rest.partition(".")[0] not in ("", "checker", *_SERVICES)


@lru_cache(maxsize=256)  # a load asks several times
def imported_modules(text: str, package: str) -> list[str]:
    """The full names that a module imports; of `from m import n`, both `m` and `m.n`."""
    names: list[str] = []
    for node in walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            try:
                full = importlib.util.resolve_name(relative, package) if node.level else relative
            except ImportError:
                continue
            names += [full, *(f"{full}.{alias.name}" for alias in node.names)]
    return names
