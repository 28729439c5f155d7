"""The folder of a saved search, before anything is saved in it."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from statewalk.checker.machine.locks import held
from statewalk.dsl.errors import RunError
from statewalk.dsl.files import is_own_file

MANIFEST, BEFORE = "manifest.json", "manifest.before.json"
COLUMN = ".column"  # the end of the names of the files of a search that does not fit in memory
LINKS = f"links{COLUMN}"
OF_SPARK = re.compile(  # `file_name` of its tasks, also while it is written, and values
    r"\.?(level|rows|seen|early|aside|missed|sent)-\d{5,}-[0-9a-f]{8}-.*|values-\d{4,}\.npz"
)
_NAMES = re.compile(
    r"(level|frontier|values)-\d{4,}\.npz|([a-z]+-\d{6,}\.[a-z]+|links)\.column|" + OF_SPARK.pattern
)
_BEGINNING = re.compile(rb"[0-9a-f]{8} \{")  # of a manifest: its checksum


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
    """Make the folder, and forget an older search in it, but no file of another program.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (BEFORE, MANIFEST):
        remove_manifest(folder / name)
    for file in folder.iterdir():
        if _NAMES.fullmatch(file.name):
            file.unlink()


def remove_manifest(file: Path) -> None:
    """Remove a manifest. Raises OSError, also where another program wrote a file of its name."""
    if is_own_file(file):
        with file.open("rb") as text:
            start = text.read(10)
        if start and not _BEGINNING.fullmatch(start):
            raise FileExistsError(errno.EEXIST, "another program wrote it", str(file))
    file.unlink(missing_ok=True)


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
