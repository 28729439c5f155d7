"""What rules found in the text of a spec, kept on disk: looking for it is a third of loading.

Kept are warnings of texts in which there was no mistake; mistakes are found again each time. The
name of an entry is the digest of all that rules could have looked at: the texts of the spec's
modules and of what they import, the constants, what the modules hold after they ran, and this
program itself. An entry holds data alone; what is torn, damaged or not ours counts as none. Entries
are in the user's folder for caches; in continuous integration, where others may fill that, there
are none.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

from statewalk.dsl import caches
from statewalk.dsl.described import Described, Unclear
from statewalk.dsl.errors import Mistakes, Span, SpecError
from statewalk.dsl.files import read_bytes
from statewalk.dsl.inputs import unnoticed
from statewalk.dsl.source.modules import Loading

_PROGRAM = os.path.dirname(os.path.abspath(__file__))
_MOST = 1000  # entries; of more, those go that nobody asked for longest
_LARGE = 1 << 20  # bytes of an entry: none is as large
_SMALL = 3000  # characters of a spec: rules are through it sooner than through its digest


Inputs: TypeAlias = Callable[[], Mapping[str, str]]
"""Gives the files besides its modules that a spec was loaded from, with their digests."""


def remembered(
    loading: Loading, mistakes: Mistakes, inputs: Inputs | None, look: Callable[[], None]
) -> None:
    """Add to ``mistakes`` what ``look`` adds to them; without looking, where that is known."""
    entry = None
    if inputs is not None and not mistakes.found:
        entry = _entry_of(loading, inputs)
    if entry is not None and (known := _read(entry)) is not None:
        mistakes.warned += known
        return
    before = len(mistakes.warned)
    look()
    if entry is not None and not mistakes.found:
        _write(entry, mistakes.warned[before:])


def _entry_of(loading: Loading, inputs: Inputs) -> Path | None:
    """The file for what is found in a spec as it was loaded; None where nothing is kept of it."""
    if caches.in_ci():
        return None
    texts = [module.source for module in loading.modules]
    if sum(len(source.text) for source in texts) < _SMALL:
        return None
    if all(source.dialect == "fizz" for source in texts):  # hardly any rule looks at these
        return None
    try:
        with unnoticed():
            folder, stamp = caches.folder("found"), caches.stamp(_PROGRAM)
        if folder is None:
            return None
        found = Described(loading.by_name)
        found.add((stamp, sys.version, os.getcwd(), loading.mutant, loading.assuming))
        found.add([(s.path, s.digest, s.dialect) for s in texts])
        found.add(sorted(inputs().items()))
        found.add(
            [
                loading.given,
                loading.refined,
                loading.listed,
                [*loading.stand_ins],
                vars(loading.declared),
            ]
        )
        for name, module in loading.by_name.items():
            found.add(name)
            found.module(module)
    except (OSError, Unclear):
        return None
    return folder / f"{found.digest()}.json"


# -- an entry on disk ------------------------------------------------------------------------------


def _sealed(body: str) -> str:
    """What stands beside a text, and tells that it is whole."""
    return blake2b(body.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _read(entry: Path) -> list[SpecError] | None:
    """The warnings that an entry holds; None where there is none that can be believed."""
    try:
        with unnoticed():
            body, seal, name = json.loads(read_bytes(entry, _LARGE))
            if (seal, name) != (_sealed(body), entry.stem):
                return None
            found = [_warning(*parts) for parts in json.loads(body)]
            os.utime(entry)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return found


def _warning(code: str, message: str, at: list[Any] | None, why: str, help: str) -> SpecError:
    return SpecError(code, message, at=None if at is None else Span(*at), why=why, help=help)


def _write(entry: Path, warned: list[SpecError]) -> None:
    """Keep warnings, as far as that is possible: the file is there whole or not at all."""
    body = json.dumps(
        [
            (w.code, w.message, w.at and (w.at.file, w.at.line, w.at.column, w.at.end_column),
             w.why, w.help)
            for w in warned
        ]
    )  # fmt: skip
    with unnoticed(), suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=".", dir=entry.parent)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                json.dump([body, _sealed(body), entry.stem], stream)
            os.replace(name, entry)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        _leave_most(entry.parent)


def _leave_most(folder: Path) -> None:
    """Remove what was not asked for longest, where there are too many; others may do so too."""
    with os.scandir(folder) as found:
        entries = list(found)
    if len(entries) <= _MOST:
        return
    ages: list[tuple[float, str]] = []
    for each in entries:
        with suppress(OSError):
            ages.append((each.stat().st_mtime, each.path))
    for _, path in sorted(ages)[: len(ages) - _MOST // 2]:
        with suppress(OSError):
            os.unlink(path)
