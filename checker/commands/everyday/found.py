"""The specs that arguments name: files, folders of them, models of the library by name."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from statewalk.checker.library import CONFIGURED, matching
from statewalk.dsl.errors import RunError
from statewalk.dsl.files import MOST_OF_A_TEXT, read_text, shortest

_SPEC = re.compile(r"(^|;)\s*(from|import)\s+statewalk\b", re.MULTILINE)
_CHECKED = re.compile(
    r"^ *@(\w+\.)?(action|always|eventually|exists|on_step|terminal)\b"
    r"|^\w+ *= *(\w+\.)?(leads_to|until)\(",
    re.MULTILINE,
)
_NOT_OURS = frozenset({"__pycache__", "node_modules", "site-packages"})


def specs_in(paths: Sequence[str]) -> list[str]:
    """Return the specs with configurations that paths and names lead to, each once; of a
    folder, all below it. Raises RunError[SW382] where one leads to none, [SW324].
    """
    found: list[str] = []
    for path in paths:
        some = _at(path)
        if not some:
            raise RunError(
                "SW382", f"There is no configuration to test in {path}.", help=_why(path)
            )
        found += some
    return list(dict.fromkeys(found))


def _at(path: str) -> list[str]:
    if os.path.isdir(path):
        return sorted(shortest(p) for p in _below(Path(path)) if is_tested(p))
    if os.path.exists(path):
        return [path] if is_tested(Path(path)) else []
    if path.endswith((".py", ".fizz")):
        return []
    try:
        return [str(entry.path) for entry in matching(path)]
    except RunError as error:
        said = f"There is no file or folder {path}, and no model of that name."
        raise RunError(error.code, said, help="statewalk models lists the models.") from None


def texts_in(paths: Sequence[str]) -> list[str]:
    """Return the files that paths and names lead to, whether they are specs or what specs may
    import.
    """
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found += map(shortest, _below(Path(path)))
        else:
            found += [path] if path.endswith((".py", ".fizz")) else _at(path)
    return found


def untested(paths: Sequence[str]) -> list[str]:
    """Return the files of folders that declare actions or properties, and no configuration to
    test.
    """
    below = (p for path in paths if os.path.isdir(path) for p in _below(Path(path)))
    return sorted({shortest(p) for p in below if not is_tested(p) and _declares(p)})


def _declares(path: Path) -> bool:
    text = _text_of(path)  # one that may not be read is tested, and not asked about
    return bool(_SPEC.search(text) and _CHECKED.search(text))


def _below(folder: Path) -> Iterator[Path]:
    """Yield the Python and .fizz files below a folder, but for hidden folders and installed
    packages. Raises RunError[SW302] for a folder that may not be read.
    """
    for here, folders, files in os.walk(folder, onerror=_unread):
        folders[:] = [
            f
            for f in folders
            if f[0] != "." and f not in _NOT_OURS and not os.path.exists(f"{here}/{f}/pyvenv.cfg")
        ]
        yield from (Path(here, name) for name in files if name.endswith((".py", ".fizz")))


def _unread(error: OSError) -> None:
    if isinstance(error, PermissionError):  # otherwise it is there no more
        raise RunError(
            "SW302",
            f"The folder {error.filename} cannot be read: {error.strerror}.",
            help="Name the specs and folders to test.",
        )


def is_tested(path: Path) -> bool:
    """Return whether a file looks like a spec that declares configurations, or is one of Fizzbee's
    language, which is checked as it is; also one that may not be read, for its error. Nothing is
    run.
    """
    if path.suffix == ".fizz":
        return True
    try:
        text = _text_of(path)
    except PermissionError:
        return True
    return bool(CONFIGURED.search(text) and _SPEC.search(text)) or _configures(text)


def _configures(text: str) -> bool:
    """Return whether a text calls statewalk's ``config``, under whatever name it has there."""
    if "statewalk" not in text or "config" not in text:
        return False
    try:
        with warnings.catch_warnings(action="ignore"):
            nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = set[str]()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "statewalk":
            names |= {"config" for a in node.names if a.name == "*"}
            names |= {a.asname or a.name for a in node.names if a.name == "config"}
        elif isinstance(node, ast.Import):
            modules = (a.asname or a.name for a in node.names if a.name == "statewalk")
            names |= {f"{module}.config" for module in modules}
    return any(isinstance(n, ast.Call) and ast.unparse(n.func) in names for n in nodes if names)


def _text_of(path: Path) -> str:
    """Return what is in a file; nothing where there is none. Raises PermissionError."""
    try:
        return read_text(path, errors="replace", most=MOST_OF_A_TEXT)
    except PermissionError:
        raise
    except OSError:
        return ""


def _why(path: str) -> str:
    if not os.path.exists(path):
        return "There is no such file."
    return 'A spec declares them: config("small", N=2, expect=holds()).'
