"""A new file of JSON Lines that threads append to."""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from statewalk.checker.history.errors import HistoryError


class Lines:
    """A history file, each of whose lines is appended with one system call."""

    def __init__(self, path: Path | str) -> None:
        """Begin a new file. Raises: HistoryError[SW707] when it exists; OSError."""
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise HistoryError(
                "the file exists; a history is never written over",
                source=str(path),
                expected="the name of a new file",
                code="SW707",
            ) from None
        with suppress(OSError):
            os.chmod(self.path, 0o644)

    def write(self, record: dict[str, Any]) -> None:
        """Append one line and hand it to the operating system."""
        data = json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            while data:
                data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
