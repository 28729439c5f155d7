"""``statewalk explain``: what an error or warning means, with an example of right and wrong."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from statewalk.checker.verdict.exits import HOLDS

_HERE = Path(__file__).resolve().parents[1]
# beside the package in a checkout, inside it where it is installed
_PLACES = (_HERE.parent / "docs", _HERE / "pages")
_LIST = "reference/errors.md"
_ROW = re.compile(r"^- \[?(SW\d{3})\b[^ ]*: (.*)$", re.MULTILINE)

_ROWS_ONLY = """# {} · {}

The message says where the mistake is, what is wrong and what to do; there is no example, as it
depends on this installation, or on files and options, rather than on a spec.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "explain",
        help="explain an error or a warning",
        description="Print the page of an error or warning, with a spec that gets it and one that "
        "does not. Without a code, list them all.",
        epilog="Exit codes: 0, or 2 where there is no such code.",
    )
    parser.add_argument("code", metavar="CODE", nargs="?", help="such as SW208")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print; the exit code."""
    from statewalk.dsl.errors import RunError, did_you_mean

    known = rows()
    if arguments.code is None:
        sys.stdout.write("".join(f"{code}  {title}\n" for code, title in known.items()))
        return HOLDS
    code = re.sub(r"^(?:SW)?(?=\d{3}$)", "SW", arguments.code.strip().upper())
    if code not in known:
        raise RunError(
            "SW327",
            f"There is no error {arguments.code}. {did_you_mean(code, known)}",
            help="statewalk explain lists all there are.",
        )
    page = folder() / "errors" / f"{code}.md"
    row = _ROWS_ONLY.format(code, known[code])
    sys.stdout.write(page.read_text(encoding="utf-8") if page.is_file() else row)
    return HOLDS


def folder() -> Path:
    """Return where the pages are. Raises RunError[SW323]."""
    from statewalk.dsl.errors import RunError

    for place in _PLACES:
        if (place / _LIST).is_file():
            return place
    raise RunError("SW323", "The pages are not installed.", help="Install statewalk again.")


def rows() -> dict[str, str]:
    """By code: its title."""
    text = (folder() / _LIST).read_text(encoding="utf-8")
    return {found[1]: found[2] for found in _ROW.finditer(text)}
