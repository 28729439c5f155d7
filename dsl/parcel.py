"""A spec as data: its text and its constants, from which another process loads the same model.

Only specs are packed that mean the same wherever they are loaded: those that import nothing but
`dsl`, modules of the spec, and a few of Python's own modules that look at no machine.
"""

from __future__ import annotations

import ast
import importlib
import operator
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any

from dsl.constants import GivenText
from dsl.loader import load
from dsl.model import Model
from dsl.modules import _imported, _package_of, _root_of

_PURE = frozenset({
    "__future__", "abc", "bisect", "collections", "copy", "dataclasses", "dsl", "enum", "fractions",
    "functools", "heapq", "itertools", "math", "operator", "re", "string", "textwrap", "types",
    "typing", "typing_extensions",
})  # fmt: skip
# What these give depends on the process, or on the machine.
_LOCAL = frozenset({
    "__file__", "__import__", "eval", "exec", "globals", "hash", "id", "input", "open",
})  # fmt: skip


class NotMovable(Exception):
    """A spec cannot be loaded elsewhere; the text tells why."""


@dataclass(frozen=True)
class Parcel:
    """``files`` are (path below the root of the spec's package, text); ``main`` is the spec's path.

    ``digests`` are the (file name, hash of the text) of all modules of the spec, also of those that
    are not sent because they do not lie below that root: they are installed with this package.
    """

    main: str
    files: tuple[tuple[str, str], ...]
    constants: Mapping[str, Any]
    digests: tuple[tuple[str, str], ...]


def pack_spec(model: Model) -> Parcel:
    """A model's spec as data.

    Raises:  NotMovable
    """
    if not model.optimized:
        raise NotMovable("it is run as it is written")
    parts = model.parts
    if len(model.loaded) != len(parts) or not all(map(operator.is_, model.loaded, parts)):
        raise NotMovable("it is not what its file gives")
    main = Path(model.path).resolve()
    root = Path(_root_of(main))
    sources = {Path(path).resolve(): digest for path, digest in model.sources.items()}
    if main not in sources:
        raise NotMovable("it was not loaded from a file")
    files: dict[Path, str] = {}
    left, seen = sorted(sources), set(sources)
    while left:
        path = left.pop()
        text = _text(path)
        if path in sources and sha256(text.encode()).hexdigest() != sources[path]:
            raise NotMovable(f"{path.name} has changed since it was loaded")
        if path.suffix != ".fizz":
            used = set(_used(path, text, root))
            left += sorted(used - seen)
            seen |= used
        if path.is_relative_to(root):
            files[path] = text
        elif path not in sources:
            raise NotMovable(f"{path} is not part of it")
    for package in {init for path in files for init in _packages(path, root)} - files.keys():
        text = _text(package)
        if not all(map(_is_plain, ast.parse(text).body)):
            raise NotMovable(f"its package runs code of its own ({package})")
        files[package] = text
    return Parcel(
        main.relative_to(root).as_posix(),
        tuple(sorted((path.relative_to(root).as_posix(), text) for path, text in files.items())),
        {name: _sent(name, value) for name, value in model.constants.items()},
        _digests(model),
    )


def unpack_spec(parcel: Parcel) -> Model:
    """The model of a spec that was packed.

    Raises:  NotMovable where another one comes of it; what `load` raises
    """
    packages = {name.partition("/")[0] for name, _ in parcel.files if "/" in name}
    before = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in packages - {"dsl"}}
    with tempfile.TemporaryDirectory(prefix="statewalk-spec-") as folder:
        for name, text in parcel.files:
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        for name in before:  # the same modules elsewhere, which load would take
            del sys.modules[name]
        importlib.invalidate_caches()
        try:
            model = load(Path(folder, parcel.main), parcel.constants)
        finally:
            for name in [n for n, module in sys.modules.items() if _lies_in(module, folder)]:
                del sys.modules[name]
            sys.modules.update(before)
    if _digests(model) != parcel.digests:
        raise NotMovable("modules of the spec are not the same here")
    return model


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotMovable(f"{path.name} cannot be read: {error}") from None


def _digests(model: Model) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((Path(path).name, digest) for path, digest in model.sources.items()))


def _used(path: Path, text: str, root: Path) -> Iterator[Path]:
    """The files of the spec that a module imports.

    Raises:  NotMovable for one that may mean something else elsewhere
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "__file__":
            raise NotMovable(f"{path.name} uses __file__")
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in _LOCAL:
            raise NotMovable(f"{path.name} calls {called.id}")
    package = _package_of(path)
    inner = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    late = {name for function in inner for name in _imported(function, package)}
    for name in _imported(tree, package):
        if name.partition(".")[0] in _PURE:
            continue
        if name in late:
            raise NotMovable(f"{path.name} imports {name} inside a function")
        found = _found(name, (path.parent, root))
        if found is None:
            raise NotMovable(f"{path.name} imports {name}")
        if found.suffix == ".py":
            yield found


def _found(name: str, folders: tuple[Path, ...]) -> Path | None:
    """The file of a module, or of the module that something is imported from; or a package."""
    for folder in folders:
        full = Path(folder, *name.split("."))
        for file in (full.with_suffix(".py"), full.parent.with_suffix(".py")):
            if file.is_file():
                return file.resolve()
        if (full / "__init__.py").is_file():
            return full
    return None


def _packages(path: Path, root: Path) -> Iterator[Path]:
    """The files that make packages of the folders between the root and a file."""
    for folder in path.parents:
        if folder == root:
            return
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"


def _is_plain(node: ast.stmt) -> bool:
    """Whether a statement of a package does nothing: a text, or a list of names."""
    if isinstance(node, ast.Assign):
        return all(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _sent(name: str, value: Any) -> Any:
    """A constant as it is given to `load` elsewhere."""
    if isinstance(value, Enum):
        return GivenText(value.name)
    if _is_literal(value):
        return value
    raise NotMovable(f"the constant {name} is no plain value")


def _is_literal(value: Any) -> bool:
    if type(value) in (tuple, list, set, frozenset):
        return all(map(_is_literal, value))
    if type(value) is dict:
        return all(_is_literal(part) for item in value.items() for part in item)
    return value is None or type(value) in (bool, int, str)


def _lies_in(module: Any, folder: str) -> bool:
    files = [getattr(module, "__file__", None), *(getattr(module, "__path__", None) or ())]
    return any(str(file).startswith(folder) for file in files if file)
