"""What a model is loaded from besides the modules of its spec: the files that are opened meanwhile,
helper modules wherever they lie, installed packages. All of it belongs to what is compared when a
search is resumed or a trace replayed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import file_digest
from importlib.util import source_from_cache
from types import FrameType
from typing import Any

from statewalk.dsl.caches import UNSEEN
from statewalk.dsl.files import MOST_OF_A_TEXT, opened, read_text
from statewalk.dsl.source.imports import (
    file_of,
    imported_modules,
    is_installed,
    is_ours,
    package_of,
    searching,
)
from statewalk.dsl.source.modules import FILES, Loading

_NO_DATA = ("/proc/", "/sys/", "/dev/")  # what these say is of the machine, and of the moment
_UNSEEN = {"os.listdir", "os.scandir", "os.system", "socket.connect", "sqlite3.connect"}
_UNSEEN |= {"os.posix_spawn", "os.fork", "subprocess.Popen"}
_NOTED = {"open", "import", *_UNSEEN}
_under_way: list[Reading] = []
_while_run: dict[str, set[str]] = {}  # module → files opened while it ran, which it does only once


def by_name(origins: Mapping[str, str]) -> dict[str, str]:
    """What a model was loaded from, wherever that is: files of one name are told apart by how they
    lie to each other.
    """
    alike: dict[str, list[str]] = {}
    for file in origins:
        alike.setdefault(os.path.basename(file), []).append(file)
    found = {}
    for name, files in alike.items():
        if len(files) == 1:
            found[name] = origins[files[0]]
            continue
        folders = {file: os.path.dirname(os.path.abspath(file)) for file in files}
        above = os.path.commonpath(folders.values())
        for file, folder in folders.items():
            found[os.path.join(os.path.relpath(folder, above), name)] = origins[file]
    return found


class Reading:
    """While entered, notes which files are opened; may be entered again."""

    def __init__(self) -> None:
        self.opened: set[str] = set()
        self.written: set[str] = set()  # these are its own: what it reads there, it wrote
        self.frame: FrameType | None = None
        self.unseen = False

    def __enter__(self) -> Reading:
        _listen()
        self.frame = sys._getframe(1)
        _under_way.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _under_way.remove(self)
        self.frame = None

    def inputs(self, loading: Loading) -> dict[str, str]:
        """Each file that a load took something from and its hash, each package and its version.

        Left out are the modules of the spec, whose texts the load knows.
        """
        modules, packages = _imported_by(loading)
        files = {os.path.realpath(f) for f in (self.opened | modules) - self.written}
        files -= {os.path.realpath(m.source.path) for m in loading.modules}
        found = {}
        for file in sorted(files):
            if not file.startswith(_NO_DATA) and not is_installed(file):
                try:
                    with opened(file) as stream:
                        found[file] = file_digest(stream, "sha256").hexdigest()
                except OSError:  # not there, or not there any more: it said nothing
                    continue
        # modules outside the spec's folders are compiled by Python itself, without assertions then
        python = {"python -O": str(sys.flags.optimize)} if sys.flags.optimize else {}
        return found | packages | python | ({UNSEEN: ""} if self.unseen else {})


@contextmanager
def unnoticed() -> Iterator[None]:
    """While entered, files are opened that the spec has nothing to do with."""
    kept, _under_way[:] = _under_way[:], []
    try:
        yield
    finally:
        _under_way[:] = kept


@lru_cache(maxsize=1)
def _listen() -> None:
    sys.addaudithook(_note)  # for good: there is no way to remove one


def _note(event: str, about: tuple[Any, ...]) -> None:
    if not _under_way or event not in _NOTED:
        return
    if event in _UNSEEN:
        _note_unseen(sys._getframe(1))
        return
    path, flags = (about[0], about[2]) if event == "open" else (about[1], 0)
    if not isinstance(path, str | bytes | os.PathLike):
        return  # a handle that is open already, a module that is only looked for
    try:
        file = os.path.abspath(os.fsdecode(path))
    except (OSError, ValueError):  # no current folder, no name of a file
        return
    running = list(_running(sys._getframe(1), _under_way[-1].frame))
    if any(map(is_installed, running)):
        return  # what an installed module is made of
    is_module = event == "import" or f"{os.sep}__pycache__{os.sep}" in file
    if is_module and event == "open":
        try:
            file = source_from_cache(file)
        except ValueError:
            return
    for module in running:
        if is_module or module not in FILES:  # a module of a spec runs in each load
            _while_run.setdefault(os.path.abspath(module), set()).add(file)
    made = flags & os.O_TRUNC or (flags & os.O_CREAT and not os.path.exists(file))
    for reading in _under_way:
        (reading.written if made else reading.opened).add(file)


def _note_unseen(caller: FrameType) -> None:
    """Note that a spec, or a helper that it runs, lists a folder, runs a program and the like."""
    running = [*_running(caller, _under_way[-1].frame)]
    importing = caller.f_code.co_filename.startswith("<frozen importlib")
    if running and not importing and not any(map(is_installed, running)):
        for reading in _under_way:
            reading.unseen = True


def _running(frame: FrameType | None, last: FrameType | None) -> Iterator[str]:
    """The files of the modules that are being run."""
    while frame is not None and frame is not last:
        if frame.f_code.co_name == "<module>":
            yield frame.f_code.co_filename
        frame = frame.f_back


def _imported_by(loading: Loading) -> tuple[set[str], dict[str, str]]:
    """What the modules of a load import, directly or not: files, and packages with versions.

    Read from the texts: what is imported already is not opened again, and an import in a function
    is still to come.
    """
    done: set[tuple[str, str]] = set()
    packages: dict[str, str] = {}
    about = map(vars, loading.by_name.values())
    todo = [(str(m["__file__"]), m.get("__package__") or "") for m in about if m.get("__file__")]
    seen: set[str] = set()
    with searching(loading.root):
        while todo:
            file, package = todo.pop()
            if (file, package) in done or is_installed(file):
                continue
            done.add((file, package))
            todo += [(f, "") for f in _while_run.get(os.path.abspath(file), ())]
            for name in _imports(file, package) - seen:
                seen.add(name)
                top = name.partition(".")[0]
                found = file_of(name, loading.folder)
                if found is not None and not is_installed(str(found)):
                    todo.append((str(found), package_of(found, name)))
                elif name == top:
                    packages |= _versions(top)
    return {file for file, _ in done}, packages


def _imports(file: str, package: str) -> set[str]:
    """The modules, and the packages around them, that a module imports; Python's own left out."""
    if not file.endswith(".py"):
        return set()
    try:
        names = imported_modules(read_text(file, most=MOST_OF_A_TEXT), package)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    parts = [name.split(".") for name in names]
    chains = {".".join(p[: i + 1]) for p in parts for i in range(len(p))}
    return {
        n for n in chains if not is_ours(n) and n.partition(".")[0] not in sys.stdlib_module_names
    }


@lru_cache(maxsize=256)
def _versions(top: str) -> dict[str, str]:
    """The installed packages that a name is imported from."""
    from importlib import metadata  # slow to load, and most specs need none

    try:
        return {top: metadata.version(top)}
    except metadata.PackageNotFoundError:
        names = _owners().get(top, ())
        return {name: metadata.version(name) for name in sorted(set(names))}


@lru_cache(maxsize=1)
def _owners() -> dict[str, list[str]]:
    from importlib import metadata

    return dict(metadata.packages_distributions())
