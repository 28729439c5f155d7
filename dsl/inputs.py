"""The inputs of a model besides the modules of its spec: the files that are opened meanwhile,
helper modules wherever they lie, installed packages. All of it belongs to what is compared when a
search is resumed or a trace replayed.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import file_digest
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import source_from_cache
from threading import enumerate as enumerate_threads
from threading import get_ident
from types import FrameType
from typing import Any

from statewalk.dsl.asking import PURE, UNTRACED, imports_of
from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.files import absolute, opened, python_settings
from statewalk.dsl.installed import is_versioned, packages_of
from statewalk.dsl.origins import ABSENT, NO_MODULE, REWRITTEN, UNLISTED, UNSEEN
from statewalk.dsl.source.apart import World
from statewalk.dsl.source.importing import MISSING
from statewalk.dsl.source.modules import FILES, Loading
from statewalk.dsl.source.settings import WHY_LASTS
from statewalk.dsl.source.texts import (
    file_of,
    is_installed,
    is_program,
    package_in,
    package_of,
    searching,
)
from statewalk.dsl.state.outside import in_steps

HARMLESS = frozenset(
    {
        "array.__new__", "builtins.id", "code.__new__", "compile", "cpython.PyInterpreterState_New",
        "exec", "function.__new__", "gc.get_objects", "gc.get_referents", "gc.get_referrers",
        "marshal.dumps", "marshal.load", "marshal.loads", "mmap.__new__", "object.__delattr__",
        "object.__getattr__", "object.__setattr__", "os.remove",
        "os.walk",  # followed by os.scandir
        "pickle.find_class", "setopencodehook", "sys._current_exceptions", "sys._current_frames",
        "sys._getframe", "sys._getframemodulename", "sys.addaudithook", "sys.excepthook",
        "sys.monitoring.register_callback", "sys.set_asyncgen_hooks_finalizer",
        "sys.set_asyncgen_hooks_firstiter", "sys.setprofile", "sys.settrace", "sys.unraisablehook",
        "_thread.start_joinable_thread", "_thread.start_new_thread",  # it is heard itself
        "tempfile.mkdtemp", "tempfile.mkstemp", "time.sleep",
    }
)  # fmt: skip
ENVIRONMENT = ("os.putenv", "os.unsetenv")  # what changes a variable of the environment
_SETS = "A spec changes a variable of the environment, which is not part of the state."
_SETS_HELP = "Declare a constant, or set the variable before: NAME=VALUE statewalk check SPEC"
_IMPORTING = "<frozen importlib"
_SHOWING = {traceback.__file__, warnings.__file__}  # read a text to show a line of it


def place_of(frame: FrameType | None) -> tuple[str, int] | None:
    """Return where the author's code does something; None for ours and for imports."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_IMPORTING) or name in _SHOWING or is_program(name):
            return None
        is_run = frame.f_code.co_name == "<module>"
        if not is_installed(name) or (is_run and not _is_any_versioned([name])):
            if not name.startswith("<"):
                return name, frame.f_lineno
        elif is_run:
            return None
        frame = frame.f_back
    return None


def is_begun_here(frame: FrameType | None) -> bool:
    """Return whether this program has begun, directly or not, what a thread does."""
    while frame is not None:
        if is_program(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


# What these say is of the machine, and of the moment; not what is kept in memory.
_NO_DATA = re.compile(r"/(?:proc|sys|dev)/(?!shm/)").match
_NOTHING = "/dev/null"
_REWRITTEN = "a file that it reads and rewrites"
Stamp = tuple[int, int, int, int]  # device, number, size, time of the last change
_under_way: list[Reading] = []
_last: list[Reading] = []  # the one that was entered last
_while_run: dict[str, set[str]] = {}  # module → files opened while it ran, which it does only once
_unseen_while_run: dict[str, set[str]] = {}  # the same of what else it asked for
_missing_while_run: dict[str, set[str]] = {}  # the same of modules that it looked for in vain
_asking: set[int] = set()  # threads that ask what is installed: what they read is no spec's
_sought: set[str] = set()  # files that the author's code opened, or tried to


def opened_last() -> dict[str, str]:
    """Return the files that the last load opened, with digests, and what it looked for in vain; a
    load that failed has no more.
    """
    found: dict[str, str] = {}
    for reading in _last:
        found |= {f"{NO_MODULE}{name}": ABSENT for name in reading.missing}
        for file, stamp in reading.opened.items():
            with suppress(OSError), opened(file) as stream:
                found[file] = file_digest(stream, "sha256").hexdigest()
            if stamp != _stamp(file):
                found[file] = REWRITTEN
            elif stamp is None:
                found[file] = ABSENT
    return found


class Reading:
    """While entered, notes which files are opened; may be entered again."""

    def __init__(self) -> None:
        self.opened: dict[str, Stamp | None] = {}  # with what it was before
        self.written: set[str] = set()  # these are its own: what it reads there, it wrote
        self.frame: FrameType | None = None
        self.thread = 0
        self.threads: frozenset[int] = frozenset()  # that there were before
        self.imported: set[str] = set()  # installed modules that were not before
        self.missing: set[str] = set()  # modules that were looked for and not found
        self.unseen: set[str] = set()  # what else was asked for

    def __enter__(self) -> Reading:
        _listen()
        in_steps.clear()
        self.frame = sys._getframe(1)
        self.thread, self.threads = get_ident(), frozenset(sys._current_frames())
        _under_way.append(self)
        _last[:] = [self]
        return self

    def __exit__(self, *_: object) -> None:
        _under_way.remove(self)
        self.frame = None
        if any(t.ident not in self.threads and t.is_alive() for t in enumerate_threads()):
            self.unseen.add("a thread that goes on")

    def inputs(self, loading: Loading) -> dict[str, str]:
        """Return files with hashes and packages with versions that a load used, modules aside."""
        rewritten = self._rewritten()
        imported = _imported_by(loading, self.missing)
        unseen = imported.unseen.union(self.unseen, *(packages_of(top)[1] for top in self.imported))
        # By the names under which they were read: a link may lead elsewhere the next time.
        files = {absolute(f) for f in imported.files | self.opened.keys()} - self.written
        files -= {absolute(m.source.path) for m in loading.modules}
        found = {}
        for file in sorted(files):
            target = os.path.realpath(file)
            if (is_versioned(target) and file not in _sought) or _NO_DATA(target):
                continue
            try:
                with opened(file) as stream:
                    found[file] = file_digest(stream, "sha256").hexdigest()
            except OSError:
                if os.path.exists(file):
                    unseen.add("what is no regular file, or takes no readers")
                elif file in _sought:
                    found[file] = ABSENT
        if rewritten:
            unseen.add(_REWRITTEN)
            found |= dict.fromkeys(rewritten, REWRITTEN)
        missing = imported.missing - loading.by_name.keys()
        found |= {f"{NO_MODULE}{name}": ABSENT for name in missing} | imported.packages
        found |= python_settings()
        asked = {UNSEEN: unseen, UNLISTED: imported.unlisted}
        return found | {kind: ", ".join(sorted(names)) for kind, names in asked.items() if names}

    def _rewritten(self) -> set[str]:
        """Return files that are not what they were when they were opened first: that content is
        gone.
        """
        found = {file for file, stamp in self.opened.items() if stamp != _stamp(file)}
        found = {file for file in found if not _NO_DATA(file)}
        for module, files in _while_run.items():
            if found & files and module not in FILES:
                _unseen_while_run.setdefault(module, set()).add(_REWRITTEN)
        return found


def _stamp(file: str) -> Stamp | None:
    """Return what differs once a file was written; None where there is none."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


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
    if event in HARMLESS or not (_under_way or binding.view) or get_ident() in _asking:
        return
    frame = sys._getframe(1)
    if not _under_way:
        _note_in_step(event, about, frame)
        return
    reading, importing = _under_way[-1], frame.f_code.co_filename.startswith(_IMPORTING)
    by_spec = place_of(frame) is not None
    if get_ident() == reading.thread:
        running = list(_running(frame, reading.frame))
    elif (get_ident() in reading.threads and not by_spec) or is_begun_here(frame):
        return
    else:  # of the spec
        running = list(_running(sys._current_frames().get(reading.thread), reading.frame))
        running += _running(frame, None)
        by_spec = not importing
    if _is_any_versioned(running):
        return  # what an installed module is made of
    if event in ENVIRONMENT and by_spec:
        raise SpecError("SW102", _SETS, why=WHY_LASTS, help=_SETS_HELP)
    if event not in ("open", "import"):
        if by_spec and event not in ENVIRONMENT:
            _note_unseen(event, running)
        return
    path, mode, flags = about if event == "open" else (about[1], "", 0)
    if not isinstance(path, str | bytes | os.PathLike):
        return  # a handle that is open already, a module that is only looked for
    try:
        name = os.fsdecode(path)
        file = absolute(name)
    except (OSError, ValueError):  # no current folder, no name of a file
        return
    is_cached = f"{os.sep}__pycache__{os.sep}" in file
    is_module = event == "import" or is_cached or importing
    if is_cached and event == "open":
        try:
            file = source_from_cache(file)
        except ValueError:
            return
    if by_spec and _NO_DATA(file) and file != _NOTHING:
        _note_unseen(file, running)
    if by_spec and event == "open" and mode is None and not os.path.isabs(name):
        _note_unseen("os.open of a relative path", running)  # by a folder that is not told
    if importing and (top := package_in(file)) and _is_any_versioned([file]):
        for one in _under_way:
            one.imported.add(top)
        return
    for module in running:
        if is_module or module not in FILES:  # a module of a spec runs in each load
            _while_run.setdefault(absolute(module), set()).add(file)
    if by_spec:
        _sought.add(file)
    made = flags & os.O_TRUNC or (flags & os.O_CREAT and not os.path.exists(file))
    stamp = _stamp(file)
    for one in _under_way:
        if made and file not in one.opened:
            one.written.add(file)
        elif file not in one.written:
            one.opened.setdefault(file, stamp)


def _is_any_versioned(files: list[str]) -> bool:
    _asking.add(get_ident())
    try:
        return any(map(is_versioned, reversed(files)))  # who imports the others comes last
    finally:
        _asking.discard(get_ident())


def _note_unseen(what: str, running: list[str]) -> None:
    """Note that a spec, or a helper that it runs, lists a folder, runs a program and the like."""
    for reading in _under_way:
        reading.unseen.add(what)
    for module in running:
        if module not in FILES:
            _unseen_while_run.setdefault(absolute(module), set()).add(what)


def _note_in_step(event: str, about: tuple[Any, ...], frame: FrameType) -> None:
    """Note what a step asks for that may be otherwise the next time; what it writes is not."""
    writes = event in ENVIRONMENT or (event == "open" and about[2] & 3 == os.O_WRONLY)
    if event == "import" or writes:
        return
    if place := place_of(frame):
        in_steps.setdefault(place, event)


def _running(frame: FrameType | None, last: FrameType | None) -> Iterator[str]:
    """Yield the files of the modules that are being run, and those of their author's functions.

    What a function of a helper read may be kept there, so that nobody reads it again.
    """
    while frame is not None and frame is not last:
        file = frame.f_code.co_filename
        if frame.f_code.co_name == "<module>" or not (file.startswith("<") or is_installed(file)):
            yield file
        frame = frame.f_back


_LOADING = (import_module, Loading.run, World.importing)
_LOADERS = (_IMPORTING, *(function.__code__.co_filename for function in _LOADING))


def _note_missing(module: str) -> None:
    """Note that the author's code looks for a module that is not found."""
    if not _under_way or get_ident() != _under_way[-1].thread:
        return
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_LOADERS):
        frame = frame.f_back
    running = list(_running(frame, _under_way[-1].frame))
    if place_of(frame) is None or _is_any_versioned(running):
        return
    for one in _under_way:
        one.missing.add(module)
    for helper in running:
        if helper not in FILES:
            _missing_while_run.setdefault(absolute(helper), set()).add(module)


MISSING.append(_note_missing)


@dataclass
class _Imported:
    """The imports of the modules of a load, directly or not: files, packages with versions, modules
    that are missing; what of it is `UNSEEN`, and what is `UNLISTED`.
    """

    files: set[str] = field(default_factory=set)
    packages: dict[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    unlisted: set[str] = field(default_factory=set)

    def add(self, name: str, loading: Loading) -> None:
        """Add a module that has no text of its author's."""
        outer, _, last = name.rpartition(".")
        if last == "*":
            held = outer in loading.by_name or outer in sys.modules
            file = None if held else file_of(outer, loading.folder)
            if file and file.name == "__init__.py" and not is_versioned(str(file)):
                self.unseen.add(name)  # what its __all__ names, which is not known yet
            return
        if outer in loading.by_name and last not in vars(loading.by_name[outer]):
            self.missing.add(name)
        elif not outer and name not in loading.by_name and name not in self.missing:
            packages, native = packages_of(name)
            self.packages |= packages
            self.unseen |= native
            self.unlisted |= {name} - PURE
        self.unseen |= _own_without_text(name)


def _imported_by(loading: Loading, missing: set[str]) -> _Imported:
    """Return what a load imports. Read from the texts: what is imported already is not opened
    again, and an import in a function is still to come.
    """
    result = _Imported(missing=set(missing))
    done: set[tuple[str, str]] = set()
    about = map(vars, loading.by_name.values())
    todo = [(str(m["__file__"]), m.get("__package__") or "") for m in about if m.get("__file__")]
    seen: set[str] = set()
    known: dict[str, ModuleSpec | None] = {}
    with searching(loading.root):
        while todo:
            file, package = todo.pop()
            if (file, package) in done or is_versioned(file):
                continue
            done.add((file, package))
            names, asking, indirect = imports_of(file, package)
            result.files.add(file)
            ran = absolute(file)
            todo += [(f, "") for f in _while_run.get(ran, ())]
            result.unseen |= _unseen_while_run.get(ran, set())
            result.missing |= _missing_while_run.get(ran, set())
            result.unseen |= asking
            result.unlisted |= indirect
            for name in (names | _all_of(names, loading)) - seen:
                seen.add(name)
                top = name.partition(".")[0]
                found = file_of(name, loading.folder, known)
                own = found is not None and not is_versioned(str(found))
                if top in sys.stdlib_module_names and not own:  # an author's may hide Python's
                    result.unseen |= {name} & UNTRACED
                    result.unlisted |= {top} - PURE
                elif found is None or not own:
                    result.add(name, loading)
                else:
                    todo.append((str(found), package_of(found, name)))
                    result.unlisted |= {name} - loading.by_name.keys()  # Python runs it, once
    return result


def _all_of(names: set[str], loading: Loading) -> set[str]:
    """Return what ``__all__`` of packages names where all of them is imported."""
    found = set()
    for outer in (name.removesuffix(".*") for name in names if name.endswith(".*")):
        if module := loading.by_name.get(outer, sys.modules.get(outer)):
            found |= {f"{outer}.{item}" for item in vars(module).get("__all__", ())}
    return found


def _own_without_text(name: str) -> set[str]:
    """Return the name of a module that is neither installed nor a file of text: compiled, or in an
    archive.
    """
    file = str(getattr(sys.modules.get(name), "__file__", None) or "")
    own = bool(file) and not is_versioned(file)
    return {name} if own and not (file.endswith(".py") and os.path.isfile(file)) else set()
