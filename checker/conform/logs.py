"""Logs as they lie on disk: files of JSON Lines, and functions that read other lines."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, TextIO

from statewalk.checker.conform.events import TORN, Event, Reader, read_events
from statewalk.checker.conform.order import Order, order_of
from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.source.apart import World, enter
from statewalk.dsl.source.importing import from_texts, of_text
from statewalk.dsl.source.texts import searching

_MAP = "Write --map FILE:FUNCTION: a Python file of yours, and a function in it that takes a line."
_NOTHING = (
    "A log without events would conform to every spec. Look whether the system wrote it, and\n"
    "whether --map makes events of its lines."
)


def order_in(files: Sequence[str], reader: Reader | None = None) -> Order:
    """Return the events of the logs of one run, in their order. Raises RunError[SW390], [SW392]."""
    if not files:
        raise RunError("SW390", "No log is named.", help=_NOTHING)
    logs = [events_of(file, reader) for file in files]
    if not any(logs):
        several = "logs have" if len(files) > 1 else "log has"
        raise RunError("SW390", f"{', '.join(files[:4])}: the {several} no events.", help=_NOTHING)
    return order_of(logs)


def events_of(file: str, reader: Reader | None = None) -> list[Event]:
    """Return the events of a file. Raises RunError[SW390]."""
    with opened(file) as lines:
        return read_events(file, lines, reader)


@contextmanager
def opened(file: str) -> Iterator[TextIO]:
    """The text of a log. Raises RunError[SW390]."""
    try:
        with Path(file).open(encoding="utf-8-sig") as lines:
            yield lines
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8 text"
        if getattr(error, "reason", "") == "unexpected end of data":
            raise RunError("SW390", f"The log {file} cannot be read: {why}. {TORN}") from None
        raise RunError("SW390", f"The log {file} cannot be read: {why}.") from None


def reader_of(text: str) -> Reader:
    """Return the function of ``--map``, from a file that is run with the user's rights."""
    file, _, name = text.rpartition(":")
    if not file or not name:
        raise RunError("SW393", f"--map {text} does not name a file and a function.", help=_MAP)
    found = importlib.util.spec_from_file_location("statewalk_log_map", file)
    if found is None or found.loader is None or not Path(file).is_file():
        raise RunError("SW393", f"--map {text}: there is no Python file {file}.", help=_MAP)
    world, beside = World(), str(Path(file).resolve().parent)
    with world.entered(), searching(beside), from_texts():
        reader = _function(text, file, name, of_text(found))

    def read(line: str) -> Any:
        enter(world)
        with searching(beside), from_texts():  # also in the function
            return reader(line)

    return read


def _function(text: str, file: str, name: str, how: ModuleSpec) -> Reader:
    """Run a file; return a function of it. Raises RunError[SW393]."""
    assert how.loader is not None
    module = importlib.util.module_from_spec(how)
    sys.modules[how.name] = module
    try:
        how.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        raise RunError("SW393", f"--map {text}: {file} raised {why}", help=_MAP) from error
    found = getattr(module, name, None)
    if not callable(found):
        known = [n for n, value in vars(module).items() if callable(value)]
        said = did_you_mean(name, known)
        raise RunError("SW393", f"--map {text}: {file} has no function {name}. {said}", help=_MAP)
    return found  # type: ignore[no-any-return]
