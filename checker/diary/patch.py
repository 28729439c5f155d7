"""A solution as changes to a spec: what `diff -u` prints, applied where it says, or not at all."""

from __future__ import annotations

import re
from pathlib import Path

from statewalk.dsl.errors import RunError

_HUNK = re.compile(r"^@@ -(\d+)(,0\b)?.*\n", re.MULTILINE)


def solution_of(spec: Path, solution: Path, folder: Path) -> Path:
    """The file of a solution; of one that is a patch, what it makes of the spec, in the folder.

    Raises RunError[SW381] where there is no such file, or the patch does not fit.
    """
    if solution.suffix != ".patch":
        return solution
    try:
        text, patch = spec.read_text(encoding="utf-8"), solution.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError("SW381", f"{solution} cannot be applied to {spec}: {why}") from None
    made = folder / f"my{spec.suffix}"
    made.write_text(_patched(text, patch, f"{solution} does not fit {spec}"), encoding="utf-8")
    return made


def _patched(text: str, patch: str, wrong: str) -> str:
    lines, made, at = text.splitlines(), list[str](), 0
    _, *hunks = _HUNK.split(patch)
    for start, added, body in zip(hunks[::3], hunks[1::3], hunks[2::3], strict=True):
        first = int(start) - (added is None)
        made += lines[at:first]
        at = first
        for line in body.splitlines():
            sign, rest = line[:1] or " ", line[1:]  # editors take the space of an empty line
            if sign == "+":
                made.append(rest)
            if sign in " -":
                if lines[at : at + 1] != [rest]:
                    raise RunError(
                        "SW381", f"{wrong}: line {at + 1} is not {rest!r}.",
                        help="Make it anew: diff -u SPEC MY_SPEC > SOLUTION.patch",
                    )  # fmt: skip
                made += [rest] * (sign == " ")
                at += 1
    return "\n".join([*made, *lines[at:]]) + "\n"
