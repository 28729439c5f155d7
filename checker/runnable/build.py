"""Writes what pages need to run: Python as WebAssembly, this package, and the scripts of pages."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Any

from statewalk.checker.diary.entry import NAMED, Entry, entries
from statewalk.checker.diary.markup import STYLES
from statewalk.checker.diary.site import Also, Page
from statewalk.checker.library import entries as models
from statewalk.checker.machine.files import write_text
from statewalk.checker.page.html import asset, embedded, hashed, let_in
from statewalk.dsl.errors import RunError

VERSION = "314.0.7"
"""Of Pyodide; `make site` brings it, and what it says of its licence."""
CORE = "pydantic_core"
"""The one package that is compiled: its wheel for WebAssembly lies beside Pyodide."""
_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_PREPARED = ("memory.bin", "files.bin")
_SAID = 400  # letters of an error
_PURE = ("lark", "pydantic", "annotated-types", "typing-extensions", "typing-inspection", "PyYAML",
         "platformdirs")  # fmt: skip
_LEFT_OUT = ("disk", "graph", "history", "native", "spark")  # of the checker: they need a compiler,
_LEARNING = (
    "native/__init__.py",
    "native/kernels/__init__.py",
    "native/kernels/arrays.py",
    "native/learn",
)  # but for these
_FOLDER = "runnable"
_ASSETS = Path(__file__).parent / "assets"
_OURS = ("engine", "editor", "cells", "playground")
_MEGA = 1e6
PLAYGROUND = Page(Path("playground.md"), "# Playground")


@dataclass(frozen=True)
class Runnable:
    """The files that were written beside the pages; ``size`` in bytes as served."""

    diary: Path | None
    lock: Mapping[str, Any]
    templates: Mapping[str, str]
    size: int

    def besides(self, source: Path, top: Path) -> Also:
        """Return what makes a page run: an entry of the diary, or the playground."""
        data: dict[str, Any] = {
            "root": f"{(top / _FOLDER).as_posix()}/",
            "errors": f"{(top / 'errors').as_posix()}/" * bool(self.templates),
            "size": f"{self.size / _MEGA:.1f} MB",
            "lock": self.lock,
            "styles": [[pattern.pattern, style] for pattern, style in STYLES],
        }
        if source.name == PLAYGROUND.source.name:
            data |= {
                "templates": self.templates,
                "models": [[one.name, one.line] for one in models()],
            }
        elif self.diary is not None and source.parent == self.diary and NAMED.match(source.name):
            if self.templates:
                data["playground"] = (top / PLAYGROUND.target).as_posix()
            data |= _of_entry(next(e for e in entries(self.diary) if e.path.name == source.name))
        else:
            return Also()
        script, style = let_in()
        root = data["root"]
        return Also(
            f'<link rel="stylesheet" href="{root}page.css">\n',
            f'<script type="application/json" id="runnable">{embedded(data)}</script>\n'
            f'<script src="{root}page.js"></script>\n',
            {
                "script-src": f"'self' {script}",
                "style-src": f"'self' {style}",
                "connect-src": "'self'",
                "frame-src": "'self'",
                "img-src": "data:",
                "base-uri": "'none'",
                "form-action": "'none'",
            },
        )

    def playground(self) -> str:
        """Return the body of the playground's page."""
        return (
            "<h1>Playground</h1><p>Write a spec, or begin with one, and check it here: Python runs "
            "in your browser, and nothing that you write is sent anywhere. It checks a thousand "
            'states a second; <a href="README.html">installed</a>, statewalk checks a million.'
            '</p><div id="playground"></div>'
            "<noscript>This page needs its scripts.</noscript>"
            f"<details><summary>For those who publish this site</summary><p>All files are static; "
            f"any host will do. A first run loads {self.size / _MEGA:.1f} MB, less where the host "
            "compresses; later ones come from the browser's cache. To start takes some 3 CPU "
            "seconds, and 20,000 states of Kafka's InitPid 15. Pages loaded from file:// "
            f'cannot run. <a href="{_FOLDER}/LICENSES.txt">Licences</a> of what is served.</p>'
            "</details>"
        )


def _of_entry(one: Entry) -> dict[str, Any]:
    """Return what a page knows of the cells of its entry, and where its exercise begins."""
    cells = [
        {
            "line": cell.first - 1,
            "kind": cell.kind,
            "name": cell.name,
            "text": "\n".join(cell.lines),
            "commands": [c for c, _ in cell.commands] if cell.kind == "commands" else [],
        }
        for cell in one.cells()
    ]
    own = [one.pinned / exercise.spec for exercise in one.exercises]
    exercise = own[0].read_text(encoding="utf-8") if own else None
    return {"entry": one.number, "cells": cells, "exercise": exercise}


def write(site: Path, pyodide: Path, diary: Path | None, templates: Mapping[str, str]) -> Runnable:
    """Write the files that pages load; ``pyodide`` is the folder of the npm package.

    Raises:  RunError[SW302] where something of it is not there
    """
    lock = _lock(pyodide)
    folder = site / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in _PYODIDE:
        shutil.copyfile(pyodide / name, folder / name)
    wheels = sorted(pyodide.glob(f"{CORE}-*.whl"))
    if not wheels:
        raise _missing(pyodide, f"no wheel of {CORE}")
    packages = [*_packages(), *_of_wheel(wheels[-1]), *_package()]
    files = [(f"lib/python3.14/site-packages/{name}", data) for name, data in packages]
    files += [(f"home/diary/{name}", data) for name, data in _diary(diary)] if diary else []
    _prepare(folder, files, lock)
    frame = (_ASSETS / "frame.js").read_text(encoding="utf-8")
    policy = f"default-src 'none'; script-src '{hashed(frame)}' blob: 'wasm-unsafe-eval'; "
    head = '<!doctype html>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" '
    written = {
        "frame.html": f'{head}content="{policy}worker-src blob:">\n<script>{frame}</script>\n',
        "worker.js": (_ASSETS / "worker.js").read_text(encoding="utf-8"),
        "page.css": (_ASSETS / "page.css").read_text(encoding="utf-8"),
        "page.js": _script(),
        "LICENSES.txt": _licences(pyodide),
    }
    for name, text in written.items():
        write_text(folder / name, text)
    for one in models() if templates else ():  # for the playground
        target = folder / "models" / f"{one.name}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(one.path, target)
    loaded = (*_PYODIDE, *_PREPARED, *written)
    return Runnable(diary, lock, templates, sum((folder / n).stat().st_size for n in loaded))


def _missing(pyodide: Path, what: str) -> RunError:
    return RunError(
        "SW302",
        f"{pyodide} is not the folder of Pyodide {VERSION}: {what}.",
        why="Pages that run bring Python along, which is not part of statewalk.",
        help=f"npm pack pyodide@{VERSION} brings it; how-to/publish-pages.md has all commands.",
    )


def _lock(pyodide: Path) -> dict[str, Any]:
    """Return what Pyodide is asked to load besides, which is nothing."""
    try:
        version = json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"]
        lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError) as error:
        raise _missing(pyodide, getattr(error, "strerror", None) or str(error)) from None
    if version != VERSION or not all((pyodide / name).is_file() for name in _PYODIDE):
        raise _missing(pyodide, f"it is of version {version}, or not whole")
    return {"info": lock["info"], "packages": {}}


def _script() -> str:
    """Return the script of pages, in a scope of its own."""
    own = [(_ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in _OURS]
    text = "\n".join([asset("dom.js"), asset("code.js"), *own])
    return f'"use strict";\n(() => {{\n{text}\n}})();\n'


def _prepare(folder: Path, contents: Iterable[tuple[str, bytes]], lock: Mapping[str, Any]) -> None:
    """Write what Python begins with, by node: its memory, and its files."""
    node = shutil.which("node")
    if node is None:
        raise RunError(
            "SW302", "node, which prepares what pages load, is not installed.",
            help="Install Node.js, which brings npm along.",
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        packed, locked = Path(name, "files.zip"), Path(name, "lock.json")
        with zipfile.ZipFile(packed, "w") as archive:
            for file, data in sorted(contents):
                archive.writestr(file, data)
        locked.write_text(json.dumps(lock), encoding="utf-8")
        words: list[str | Path] = [node, _ASSETS / "prepare.mjs", folder.resolve(), packed, locked]
        done = subprocess.run(words, capture_output=True, check=False, encoding="utf-8")
    if done.returncode:
        raise RunError("SW302", f"Pyodide {VERSION} fails: {done.stderr.strip()[-_SAID:]}")


def _package() -> Iterator[tuple[str, bytes]]:
    """Yield this package without what needs a compiler, and the arrays that stand in."""
    top = Path(str(files("statewalk")))
    for name in ("__init__.py", "__main__.py"):
        yield f"statewalk/{name}", (top / name).read_bytes()
    left = (*(f"checker/{name}/" for name in _LEFT_OUT), "checker/pages/")
    kept = tuple(f"checker/{name}" for name in _LEARNING)
    for part in ("dsl", "checker", "models"):
        for file in sorted((top / part).resolve().rglob("*")):
            name = f"{part}/{file.relative_to((top / part).resolve()).as_posix()}"
            if "__pycache__" in name or not file.is_file() or file.suffix in (".nbi", ".nbc"):
                continue
            if not name.startswith(left) or name.startswith(kept):
                yield f"statewalk/{name}", file.read_bytes()
    arrays = Path(__file__).parent / "arrays"
    for file in sorted(arrays.rglob("*.py")):
        yield file.relative_to(arrays).as_posix(), file.read_bytes()


def _installed(*names: str) -> Iterator[Distribution]:
    for name in names:
        with suppress(PackageNotFoundError):
            yield distribution(name)


def _packages() -> Iterator[tuple[str, bytes]]:
    """Yield the packages in Python that we stand on, as they are installed here."""
    for found in _installed(*_PURE):
        for file in found.files or ():
            if file.suffix in (".py", ".lark") and ".." not in file.parts:
                yield file.as_posix(), Path(str(file.locate())).read_bytes()


def _of_wheel(wheel: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.endswith(".pyi"):
                yield name, archive.read(name)


def _diary(diary: Path) -> Iterator[tuple[str, bytes]]:
    for one in entries(diary):
        yield one.path.name, one.path.read_bytes()
        for file in sorted(one.pinned.rglob("*")) if one.pinned.is_dir() else ():
            hidden = file.is_symlink() or ".statewalk" in file.parts or "__pycache__" in file.parts
            if file.is_file() and not hidden:
                yield file.relative_to(diary).as_posix(), file.read_bytes()


def _licences(pyodide: Path) -> str:
    """Return the licences of what is served, as the packages themselves tell them."""
    about = json.loads((pyodide / "package.json").read_text(encoding="utf-8"))
    texts = [
        f"Pyodide {about['version']}, unchanged: {about['license']} "
        f"(https://www.mozilla.org/MPL/2.0/). Its source: {about['homepage']}. It contains Python, "
        "under the Python Software Foundation License (https://docs.python.org/3/license.html)."
    ]
    for found in _installed("statewalk", CORE, *_PURE):
        told = found.metadata.json
        kind = str(told.get("license_expression") or told.get("license") or "see below")
        texts.append(f"{found.name} {found.version}: {kind.splitlines()[0]}")
        texts += [
            Path(str(file.locate())).read_text(encoding="utf-8")
            for file in found.files or ()
            if "licen" in file.name.lower() and ".dist-info" in str(file)
        ]
    return "\n\n".join(texts) + "\n"
