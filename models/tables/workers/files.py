"""The files that an operation puts one by one with `GRAIN=files`, and which of them it takes away.

First its data file and, with deletion vectors, the vector file of the bucket; both stay as they are
when it commits again. Then for each attempt the metadata of the next snapshot, in the order of
FileStoreCommitImpl.tryCommitOnce. An attempt that fails leaves all that there but the temporary
snapshot (FileIO.tryToWriteAtomic): whether it failed is not always known.
"""

from statewalk import mutant
from statewalk.models.tables.lsm import level_of, live, marks_in, store
from statewalk.models.tables.metadata import (
    Document,
    Object,
    manifests,
    metadata,
    refers,
    vector_files,
)
from statewalk.models.tables.paimon_settings import GRAIN
from statewalk.models.tables.workers.operation import Operation


def parts_of(op: Operation) -> tuple[str, ...]:
    """The files of metadata that a commit puts, in their order."""
    if GRAIN != "files":
        return ()
    index = ("index manifest",) if changes_index(op) else ()
    return ("base list", "manifest", "delta list", *index, "temporary snapshot")


def changes_index(op: Operation) -> bool:
    drops = op.kind == "overwrite" and bool(marks_in(op.base, op.bucket))
    return op.vectors is not None or drops


def put_vectors(op: Operation) -> None:
    marks = op.vectors or frozenset()
    put = metadata.put("vectors", Document(bucket=op.bucket, marks=marks))
    op.put = op.put | {put}


def put_metadata(op: Operation) -> None:
    """Put the next file of metadata."""
    put = metadata.put(op.to_put[0], document(op, op.to_put[0]))
    op.put = op.put | {put}
    op.refers = op.refers | {put}
    op.to_put = op.to_put[1:]


def document(op: Operation, kind: str) -> Document:
    if kind == "base list":
        return Document(names=manifests(op.base))
    if kind == "manifest":
        return manifest(op)
    if kind == "delta list":
        return Document(names=frozenset(t for t in op.refers if t[0] == "manifest"))
    if kind == "index manifest":
        others = {t for t in vector_files(op.base) if bucket_of(t) != op.bucket}
        return Document(names=frozenset(others | {t for t in op.put if t[0] == "vectors"}))
    return Document(names=own_parts(op))


def manifest(op: Operation) -> Document:
    """Return what the next snapshot adds to the one it is built on, and what it drops."""
    snapshot = op.next
    assert snapshot is not None
    before = {(file, level_of(op.base, file)) for file in live(op.base)}
    level = {file: store.files[file].level for file in snapshot.live} | snapshot.raised
    after = {(file, level[file]) for file in snapshot.live}
    return Document(adds=frozenset(after - before), drops=frozenset(before - after))


def bucket_of(thing: Object) -> int:
    return metadata.said[thing].bucket if thing in metadata.said else -1


def own_parts(op: Operation) -> frozenset[Object]:
    """Return what the snapshot names: what was put for it, or the older index manifest."""
    own = frozenset(t for t in op.refers if t[0] not in ("manifest", "temporary snapshot"))
    older = frozenset(t for t in refers(op.base) if t[0] == "index manifest")
    return own if changes_index(op) else own | older


def temporary(op: Operation) -> frozenset[Object]:
    return frozenset(thing for thing in op.refers if thing[0] == "temporary snapshot")


def has_temporary(op: Operation) -> bool:
    """Return whether there is something to rename: whoever cleans up may have taken it."""
    return GRAIN != "files" or all(thing in metadata.said for thing in temporary(op))


def unsure(op: Operation) -> frozenset[Object]:
    """Return what is taken away after a rename of which nobody knows whether it happened:
    nothing.
    """
    return frozenset()


def remove(things: frozenset[Object]) -> None:
    if GRAIN == "files":
        metadata.said = {t: what for t, what in metadata.said.items() if t not in things}


# -- mutants ---------------------------------------------------------------------------------------
@mutant(unsure)
def cleaned_up(op: Operation) -> frozenset[Object]:
    """All that was put for the attempt (as in 0.8; of it the base list, until #7441)."""
    return op.refers
