"""The folder of a saved search, before anything is saved in it."""

from __future__ import annotations

from pathlib import Path

from statewalk.checker.machine.home import go_home
from statewalk.checker.machine.locks import held

MANIFEST, BEFORE = "manifest.json", "manifest.before.json"


def begin(folder: Path) -> None:
    """Make the folder, and forget an older search in it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in (MANIFEST, BEFORE):
        (folder / old).unlink(missing_ok=True)
    for file in folder.glob("*.npz"):
        file.unlink()


def begin_anew(folder: str) -> bool:
    """As `begin`; whether it could be done. Raises RunError[SW345] where another process writes
    there.
    """
    with held(folder):
        go_home()
        try:
            begin(Path(folder))
        except OSError:
            return False
    return True
