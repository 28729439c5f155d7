"""The folder of a saved search, before anything is saved in it."""

from __future__ import annotations

from pathlib import Path

from statewalk.checker.machine.home import go_home
from statewalk.checker.machine.locks import held

MANIFEST, BEFORE = "manifest.json", "manifest.before.json"
COLUMN = ".column"  # the end of the names of the files of a search that does not fit in memory
LINKS = f"links{COLUMN}"


def begin(folder: Path) -> None:
    """Make the folder, and forget an older search in it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in (MANIFEST, BEFORE):
        (folder / old).unlink(missing_ok=True)
    for pattern in ("*.npz", f"*{COLUMN}"):
        for file in folder.glob(pattern):
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


def on_disk(folder: str | None) -> bool:
    """Whether a folder holds a search that went on from disk."""
    return folder is not None and Path(folder, LINKS).exists()
