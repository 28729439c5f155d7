"""The folder of a saved search, before anything is saved in it."""

from __future__ import annotations

from pathlib import Path

from statewalk.checker.machine.locks import held
from statewalk.dsl.errors import RunError

MANIFEST, BEFORE = "manifest.json", "manifest.before.json"
COLUMN = ".column"  # the end of the names of the files of a search that does not fit in memory
LINKS = f"links{COLUMN}"


class OtherPremises(RunError):
    """A saved search looked for other premises of invariants than the one that resumes it.

    A search for ``premises`` goes on from there. Raised again by that search, it is an error of the
    user's: the manifest names premises that the spec does not have.
    """

    def __init__(self, folder: Path, premises: frozenset[str]) -> None:
        super().__init__(
            "SW343",
            f"A file of the search is damaged: {folder / MANIFEST} names premises of invariants "
            "that the spec does not have.",
            help="Restore the file from a copy, or check the spec anew.",
        )
        self.premises = premises


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
        try:
            begin(Path(folder))
        except OSError:
            return False
    return True


def on_disk(folder: str | None) -> bool:
    """Return whether a folder holds a search that went on from disk."""
    return folder is not None and Path(folder, LINKS).exists()
