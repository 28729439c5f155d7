"""Formats of recorded histories: recognised by content, read as data, written with what is lost."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from statewalk.checker.history.data import History
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats import cobra, dbcop, jepsen, jsonl, polysi, viper
from statewalk.dsl.files import opened

READERS: dict[str, Callable[[Path], History]] = {
    "jsonl": jsonl.read,
    "viper": viper.read,
    "edn": jepsen.read,
    "polysi": polysi.read,
    "dbcop": dbcop.read,
    "cobra": cobra.read,
}
WRITERS: dict[str, Callable[[History, Path], list[str]]] = {
    "jsonl": jsonl.write,
    "edn": jepsen.write,
}
_HEAD = 1 << 16


def recognise(path: Path) -> tuple[str, Path]:
    """Return the format of a file or folder by its content, and the file to read.

    Raises:  HistoryError[SW705] when nothing fits, listing the formats.
    """
    if path.is_dir():
        if (path / "history.edn").is_file():
            return "edn", path / "history.edn"
        if cobra.looks_like(path):
            return "cobra", path
        if viper.files(path):
            return "viper", path
        raise _unknown(path, "session files J*.log (viper), *.log (cobra) or history.edn in it")
    with opened(path) as file:
        head = file.read(_HEAD).removeprefix(BOM_UTF8)
    if dbcop.looks_like(head, path.stat().st_size):  # text is none: its counts would be huge
        return "dbcop", path
    if polysi.looks_like(head):
        return "polysi", path
    if jsonl.looks_like(head):
        return "jsonl", path
    if jepsen.looks_like(head):
        return "edn", path
    if head.lstrip()[:1] in (b"{", b"["):
        return "jsonl", path  # its reader says what is wrong
    raise _unknown(path, f"one of {', '.join(READERS)} (docs/reference/history-format.md)")


def _unknown(path: Path, expected: str) -> HistoryError:
    return HistoryError(
        "the file or folder is not in a format that is known",
        source=str(path),
        expected=expected,
        code="SW705",
    )


def read(path: Path, format: str = "auto", initial: str | None = None) -> History:
    """Return the history in a file or folder; ``initial`` may say "known" or "unknown" of its
    beginning.

    Raises:  HistoryError saying where and what was expected; OSError when it cannot be opened.
    """
    if format == "auto":
        format, path = recognise(path)
    try:
        history = READERS[format](path)
    except MemoryError:
        raise HistoryError(
            "the history is larger than the free memory",
            source=str(path),
            expected="a shorter history, or a machine with more memory",
        ) from None
    return replace(history, initial_known=initial == "known") if initial else history


def write(history: History, path: Path, format: str) -> list[str]:
    """Write a history; the parts that the format cannot express, in words."""
    return WRITERS[format](history, path)
