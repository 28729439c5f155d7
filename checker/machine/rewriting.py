"""Writing a file of the user's anew: only where nobody changed it meanwhile, with its line ends."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path

from statewalk.checker.machine.files import OUT, write_text
from statewalk.dsl.files import as_text, read_bytes


def rewrite(file: Path, before: str, after: str, help: str = OUT) -> bool:
    """Write a text in place of the one that was read before, as `read_text` reads it. Return
    whether it was written: not where the file holds another text by now.

    A line that stays keeps its end, and the file its byte order mark, its permissions, and the link
    that leads to it. Raises RunError[SW403] where it cannot be written.
    """
    place = Path(os.path.realpath(file))
    try:
        data = read_bytes(place)
        mode = stat.S_IMODE(place.stat().st_mode)
        if as_text(data) != before:
            return False
    except (OSError, UnicodeDecodeError):
        return False
    write_text(place, _alike(data, before, after), help)
    with suppress(OSError):
        place.chmod(mode)
    return True


def _alike(data: bytes, before: str, after: str) -> str:
    """Return a text with the line ends and the byte order mark that the data of another have."""
    mark = "\ufeff" if data.startswith(BOM_UTF8) else ""
    ends = [_end(line) for line in data.removeprefix(BOM_UTF8).splitlines(keepends=True)]
    counted = Counter(filter(None, ends))
    if set(counted) <= {"\n"}:
        return mark + after
    usual = counted.most_common(1)[0][0]
    old, new = before.split("\n"), after.split("\n")
    ends += [""] * (len(old) - len(ends))  # after the last line end
    found = zip(new, _ends(old, new, ends, usual), strict=True)
    return mark + "".join(line + end for line, end in found)


def _ends(old: list[str], new: list[str], ends: list[str], usual: str) -> Iterator[str]:
    """Yield the end of each new line: that of the old one in its place, else the usual one."""
    same = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i, k, m, n in same.get_opcodes():
        kept = ends[i:k] if tag == "equal" or k - i == n - m else [usual] * (n - m)
        for at, end in enumerate(kept, m):
            yield (end or usual) if at < len(new) - 1 else ""


def _end(line: bytes) -> str:
    return line[len(line.rstrip(b"\r\n")) :].decode()
