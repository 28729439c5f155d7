"""Prepares the Python of pages when they are built: what it begins with is kept as it is in memory.

`assets/prepare.mjs` calls this in Pyodide.
"""

from __future__ import annotations

import gc
import json
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import source_from_cache
from pathlib import Path

_PACKAGES = Path("/lib/python3.14/site-packages")
_DIARY = Path("/home/diary")
_COMPILED = "pydantic_core"  # a library that is loaded cannot be kept
_LATE = ("statewalk.checker.traces.reading", "statewalk.dsl.fizz.read")  # they need that
_UNCHECKED = (1).to_bytes(4, "little")  # flags of a compiled module that is valid as it is
_SPEC = """from statewalk import State, action, always, eventually

class Counter(State):
    n: int = 0

    @action
    def count(self) -> None:
        self.n = (self.n + 1) % 5

counter = Counter()

@always
def small() -> bool:
    return counter.n < 3

@eventually
def ends() -> bool:
    return counter.n == 4
"""
_COMMANDS = ("check spec.py", "check spec.py --property ends", "simulate spec.py", "models")


def names() -> list[str]:
    """Return the names of all files."""
    return [str(file) for top in (_PACKAGES, _DIARY) for file in top.rglob("*") if file.is_file()]


def used() -> list[str]:
    """Return the names of the modules that commands of a page import.

    Modules that are imported here are compiled; those of other packages need no sources then.
    """
    from statewalk.checker.runnable.inside import answer

    limits = {"--max-states": 20, "--timeout": 60}
    asked = {"kind": "run", "files": {"spec.py": _SPEC}, "limits": limits}
    for command in _COMMANDS:
        answer(json.dumps({**asked, "command": f"statewalk {command}"}), str)
    found = [name for name in sys.modules if name != "__main__"]
    for late in _LATE:
        import_module(late)
    for file in _PACKAGES.rglob("*.pyc"):
        code, source = file.read_bytes(), Path(source_from_cache(str(file)))
        file.write_bytes(code[:4] + _UNCHECKED + code[8:])
        if not source.is_relative_to(_PACKAGES / "statewalk"):
            file.rename(source.with_suffix(".pyc"))
            source.unlink()
    return found


def packed() -> bytes:
    """Return all files: the length of an index, the index (JSON: sizes by name), the contents."""
    contents = {name: Path(name).read_bytes() for name in names() if "__pycache__" not in name}
    index = json.dumps({name: len(data) for name, data in contents.items()}).encode()
    return struct.pack("<I", len(index)) + index + b"".join(contents.values())


def imported(wanted: Iterable[str]) -> None:
    """Import modules, whose memory is kept: but for those that need what is compiled."""
    sys.modules[_COMPILED] = None  # type: ignore[assignment]
    for name in wanted:
        if not name.startswith("pydantic"):
            with suppress(ImportError):
                import_module(name)
    del sys.modules[_COMPILED]
    gc.collect()
