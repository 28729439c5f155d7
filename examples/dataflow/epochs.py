"""The stream's files: for each epoch a folder with its differences and a mark.

An epoch's folder is written under another name and renamed, so that it is there as a whole or not
at all; its mark says what it was made of and what is in it, so that one that was damaged or taken
away later is noticed when the job begins again, instead of being added up.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# A row says one thing of an epoch: a transaction that aborted; by how much the count of an item, of
# a row of an answer, or of a registration has changed.
ROW = "kind string, tid long, item string, node string, count long"
ABORTED, CHANGE, LOOKED_UP, REACHED, LOOK_UP, ROOT = (
    "aborted",
    "change",
    "looked_up",
    "reached",
    "look_up",
    "root",
)
MARK = "mark.json"
ROWS = "rows"


class Refused(Exception):
    """The job cannot go on without giving wrong answers; the text says what to do."""


class Mark(NamedTuple):
    """The input of an epoch, and its result."""

    epoch: int
    records: int  # of the batch
    batch: int  # a digest of them, whatever their order
    rounds: int
    rows: int
    digest: int  # of the rows


class Saved:
    """The epochs in a folder."""

    def __init__(self, folder: Path) -> None:
        """Make the folder where there is none."""
        self.folder = folder / "epochs"
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, epoch: int) -> Path:
        """The folder of an epoch."""
        return self.folder / f"{epoch:08}"

    def mark(self, epoch: int) -> Mark | None:
        """Return what is said of an epoch; None if it is not there.

        Raises Refused if it is damaged.
        """
        path = self.path(epoch)
        if not path.exists():
            return None
        try:
            return Mark(**json.loads((path / MARK).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise _damaged(path, f"its {MARK} cannot be read: {error}") from error

    def last(self) -> int:
        """The last epoch, 0 if there is none. Raises Refused where one before it is missing."""
        there = sorted(int(p.name) for p in self.folder.iterdir() if p.name.isdigit())
        for expected, found in enumerate(there, start=1):
            if expected != found:
                raise _damaged(self.path(expected), "it is missing, and later ones are there")
        return len(there)

    def rows(self, spark: SparkSession, first: int, last: int) -> DataFrame:
        """The rows of some epochs, with the epoch. Raises Refused where they are not as written."""
        from pyspark.sql import functions as f

        if last < first:
            return spark.createDataFrame([], f"epoch long, {ROW}")
        for epoch in range(first, last + 1):
            if not (self.path(epoch) / ROWS).is_dir():
                raise _damaged(self.path(epoch), "its rows are missing")
        folders = [str(self.path(epoch) / ROWS) for epoch in range(first, last + 1)]
        name = f.regexp_extract(f.col("_metadata.file_path"), r"/(\d{8})/rows/[^/]*$", 1)
        read = spark.read.schema(ROW).json(folders)
        found = read.select(name.cast("long").alias("epoch"), "*").localCheckpoint()
        counted = found.groupBy("epoch").agg(f.count("*").alias("rows"), digest().alias("digest"))
        there = {row["epoch"]: (row["rows"], row["digest"]) for row in counted.collect()}
        for epoch in range(first, last + 1):
            mark = self.mark(epoch)
            if mark is None or there.get(epoch, (0, 0)) != (mark.rows, mark.digest):
                raise _damaged(self.path(epoch), "its rows are not those that were written")
        return found

    def keep(self, rows: DataFrame, mark: Mark) -> None:
        """Write an epoch down. After this it is there for good."""
        being_written = self.folder / f".{mark.epoch:08}.{uuid4().hex}"
        rows.write.json(str(being_written / ROWS))
        text = json.dumps(mark._asdict())
        (being_written / MARK).write_text(text, encoding="utf-8")
        publish(being_written, self.path(mark.epoch))

    def forget_unfinished(self) -> None:
        """Remove what a job that was killed had begun to write."""
        for path in self.folder.glob(".*.*"):
            shutil.rmtree(path)


def publish(written: Path, path: Path) -> None:
    """Give a folder that has been written its name."""
    os.rename(written, path)


def digest() -> Column:
    """A number for the rows of a group, in any order; 0 if there are none."""
    from pyspark.sql import functions as f

    columns = [column.split()[0] for column in ROW.split(", ")]
    return f.coalesce(f.bit_xor(f.xxhash64(*columns)), f.lit(0))


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other jobs out of a folder. Raises Refused where one is at work."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Refused(f"{folder}: another job is writing there; wait for it to end.") from error
        yield


def _damaged(path: Path, what: str) -> Refused:
    return Refused(
        f"{path}: {what}. What the epochs from there on have saved cannot be added up. Remove this"
        f" folder and those with higher numbers, and {path.parents[1] / 'progress'}: the job then"
        " computes them again from the batches."
    )
