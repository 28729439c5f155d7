"""The origins of a model: what it was loaded from, each file with its digest.

A file that was looked for and not found has the digest `ABSENT`; names that are no files stand for
modules that were not found, packages with their versions, settings, and what has no digest.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import file_digest, sha256

from statewalk.dsl.files import MOST_OF_A_TEXT, absolute, as_text, opened, read_bytes

UNSEEN = "more than files"  # the name in a model that asked for what has no digest
UNLISTED = "names that may ask for more"  # the same of one of which that is not known
UNSURE = (UNSEEN, UNLISTED)
NO_MODULE = "module "  # before the name of a module that was not found
ABSENT = "no file"  # the digest of one that was not found: it would be read once it is there
REWRITTEN = "rewritten"  # the digest of one that changed after it was read: no content has it
_DIGITS = 64  # of a digest


def by_name(origins: Mapping[str, str]) -> dict[str, str]:
    """Return origins by file name; files of one name are told apart by their folders."""
    alike: dict[str, list[str]] = {}
    for file in origins:
        alike.setdefault(os.path.basename(file), []).append(file)
    found = {}
    for name, files in alike.items():
        if len(files) == 1:
            found[name] = origins[files[0]]
            continue
        places = {file: absolute(file) for file in files}
        above = os.path.commonpath([os.path.dirname(place) for place in places.values()])
        for file, place in places.items():
            found[place.removeprefix(above).lstrip(os.sep)] = origins[file]
    return found


def together(*inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs of a spec and of specs that it refines, the first ones last."""
    found = {name: of[name] for of in reversed(inputs) for name in of}
    for kind in UNSURE:
        if asked := dict.fromkeys(of[kind] for of in inputs if kind in of):
            found[kind] = ", ".join(asked)
    return found


def outdated(origins: Mapping[str, str]) -> Iterator[str]:
    """Yield the files that are not now as their digests say."""
    for file, digest in origins.items():
        if digest == REWRITTEN:
            yield file
        elif digest == ABSENT and not file.startswith(NO_MODULE):
            if os.path.exists(file):
                yield file
        elif len(digest) == _DIGITS and digest not in _digests(file):
            yield file


def _digests(file: str) -> Iterator[str]:
    """Yield the digest of a file, and those of its text, with its line ends and with all of them
    one; nothing where it cannot be read.
    """
    with suppress(OSError), opened(file) as stream:
        yield file_digest(stream, "sha256").hexdigest()
        data = read_bytes(file, MOST_OF_A_TEXT)
        yield sha256(data.removeprefix(BOM_UTF8)).hexdigest()
        text = as_text(data, errors="replace")
        yield sha256(text.encode(errors="replace")).hexdigest()
