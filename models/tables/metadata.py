"""Metadata as files (`GRAIN=files`): what a snapshot refers to, and what who follows it finds.

A snapshot names a list of manifests for what was there before (base) and one for what it changes
(delta), and an index manifest. A manifest says which data files are added and dropped; the index
manifest names the vector file of each bucket. Each is a file, and each may be missing.
"""

from statewalk import Record, State, always
from statewalk.models.tables.lsm import Mark, level_of, live, store, vectors
from statewalk.models.tables.paimon_settings import GRAIN, VERSIONS

Object = tuple[str, int]  # a file: what it is, a number
Entry = tuple[int, int]  # of a manifest: a data file, its level
LISTS = ("base list", "delta list")


class Document(Record):
    """The content of a metadata file."""

    names: frozenset[Object] = frozenset()  # other files of metadata
    adds: frozenset[Entry] = frozenset()  # of a manifest
    drops: frozenset[Entry] = frozenset()
    bucket: int = 0  # of a vector file
    marks: frozenset[Mark] = frozenset()


class Metadata(State):
    said: dict[Object, Document] = {}
    made: int = 0
    refers: dict[int, frozenset[Object]] = {}  # what each version names
    deleted: set[int] = set()  # data files that were taken for orphans

    def put(self, kind: str, document: Document) -> Object:
        self.made += 1
        self.said[kind, self.made] = document
        return (kind, self.made)


metadata = Metadata()


def named_by(things: frozenset[Object]) -> frozenset[Object]:
    """Return what files name; one that is missing names nothing."""
    found = [metadata.said[thing] for thing in things if thing in metadata.said]
    return frozenset(name for document in found for name in document.names)


def refers(version: int) -> frozenset[Object]:
    return metadata.refers[version] if version else frozenset()


def manifests(version: int) -> frozenset[Object]:
    return named_by(frozenset(thing for thing in refers(version) if thing[0] in LISTS))


def vector_files(version: int) -> frozenset[Object]:
    return named_by(frozenset(t for t in refers(version) if t[0] == "index manifest"))


def used() -> frozenset[Object]:
    """All files that some snapshot leads to (OrphanFilesClean.collectWithoutDataFile)."""
    found: frozenset[Object] = frozenset()
    for version in [v for v in VERSIONS if v in store.snapshots]:
        data = frozenset(("data", file) for file in live(version))
        found = found | refers(version) | manifests(version) | vector_files(version) | data
    return found


def there() -> frozenset[Object]:
    """All files that are in the store."""
    data = frozenset(("data", file) for file in store.files if file not in metadata.deleted)
    return data | frozenset(metadata.said)


def read_entries(version: int) -> frozenset[Entry]:
    """The live data files with their levels, as the manifests have them."""
    found = [metadata.said[thing] for thing in manifests(version) if thing in metadata.said]
    dropped = {entry for document in found for entry in document.drops}
    return frozenset(e for document in found for e in document.adds if e not in dropped)


def read_marks(version: int) -> frozenset[Mark]:
    found = [metadata.said[thing] for thing in vector_files(version) if thing in metadata.said]
    return frozenset(mark for document in found for mark in document.marks)


if GRAIN == "files":

    @always
    def data_is_there() -> bool:
        """Every data file that a snapshot leads to is in the store."""
        return all(thing in there() for thing in used() if thing[0] == "data")

    @always
    def metadata_is_there() -> bool:
        """So is every file of metadata."""
        return all(thing in there() for thing in used() if thing[0] != "data")

    @always
    def files_say_what_the_snapshot_is() -> bool:
        """A reader that follows the files of a version finds its live files, their levels and its
        vectors.
        """
        return all(
            read_entries(v) == frozenset((f, level_of(v, f)) for f in live(v))
            and read_marks(v) == vectors(v)
            for v in VERSIONS
            if v in store.snapshots
        )
