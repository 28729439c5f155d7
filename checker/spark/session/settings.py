"""How to use Spark: the settings of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import unquote, urlsplit

MOST_BUCKETS = 1 << 16


@dataclass(frozen=True)
class Settings:
    """How to use Spark. ``session`` wins over ``master``; without either, this machine is used.

    ``buckets`` is a power of two: the parts into which fingerprints are cut. ``tasks``, at most as
    many, share them out; as many as the session has cores unless said. ``native_until`` states in a
    level the driver searches by itself. ``folder`` is a folder that driver and executors share;
    unless said, the run's own where it is to be resumed, else a temporary one.
    """

    master: str | None = None
    session: Any = None
    buckets: int = 256
    tasks: int | None = None
    native_until: int = 50_000
    folder: str | None = None

    def __post_init__(self) -> None:
        """Take a folder that is said as a URL of this machine for its path."""
        url = urlsplit(self.folder or "")
        if url.scheme == "file" and url.netloc in ("", "localhost"):
            object.__setattr__(self, "folder", unquote(url.path))


def mistake(given: Mapping[str, Any]) -> str:
    """What is wrong with settings, in words; empty where nothing is."""
    known = {f.name for f in fields(Settings)}
    if unknown := sorted(set(given) - known):
        return f"it has no setting {unknown[0]}; they are {', '.join(sorted(known))}"
    settings = Settings(**given)
    buckets = settings.buckets
    if buckets & (buckets - 1) or not 1 <= buckets <= MOST_BUCKETS:
        return f"--spark-buckets is a power of two up to {MOST_BUCKETS:,}, not {buckets}"
    if settings.tasks is not None and not 1 <= settings.tasks <= buckets:
        return f"--spark-tasks is at most --spark-buckets, {buckets}, not {settings.tasks}"
    if "://" in (settings.folder or ""):
        return (
            f"--spark-folder is a folder that driver and executors mount, not {settings.folder}: "
            "tasks map its files into memory, which no object store or HDFS allows"
        )
    return ""
