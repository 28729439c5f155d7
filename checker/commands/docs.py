"""``statewalk docs``: the documentation as pages, without a network; or one in the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS

_SITE = ".statewalk/docs"
_WIDE = 100  # columns that are good to read


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "docs",
        help="read the documentation, or write it as pages",
        description="Write all pages that came with statewalk as files for a browser, which load "
        "nothing. With a PAGE, print it here.",
    )
    parser.add_argument(
        "page", nargs="?", metavar="PAGE", help="such as language, or models/paimon"
    )
    parser.add_argument("--out", metavar="SITE", default=_SITE, help="where pages go (%(default)s)")
    parser.add_argument(
        "--runnable",
        metavar="PYODIDE",
        help="the folder of Pyodide: pages of the diary run in the browser, beside a playground",
    )
    parser.add_argument("--open", action="store_true", help="open them in a browser")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write, or print; the exit code."""
    from statewalk.checker.commands.explain import folder
    from statewalk.checker.diary.site import write
    from statewalk.checker.report.runs import refuse_links

    if arguments.page is not None:
        return _read(folder(), arguments.page)
    if arguments.out == _SITE:
        refuse_links(Path(_SITE), "Name another folder with --out.")
    if arguments.runnable is None:
        first = write(folder(), Path(arguments.out))
    else:
        first = _runnable(folder(), Path(arguments.out), Path(arguments.runnable))
    streams.say(f"pages {first}\n")
    if arguments.open:
        import webbrowser

        webbrowser.open(first.resolve().as_uri())
    return HOLDS


def _runnable(folder: Path, site: Path, pyodide: Path) -> Path:
    """Write pages that run; the file to begin with."""
    from statewalk.checker.commands.everyday.new import TEMPLATES, text_of
    from statewalk.checker.diary.site import write
    from statewalk.checker.runnable import build

    templates = {name: text_of(name, None) for name in TEMPLATES}
    made = build.write(site, pyodide, folder / "diary", templates)
    return write(folder, site, made.besides, {build.PLAYGROUND: made.playground()})


def _read(folder: Path, name: str) -> int:
    """Print a page. Raises RunError[SW302] where there is none of that name."""
    from rich.console import Console
    from rich.markdown import Markdown

    from statewalk.dsl.errors import RunError, did_you_mean

    pages = {p.relative_to(folder).with_suffix("").as_posix(): p for p in folder.rglob("*.md")}
    short = {key.rpartition("/")[2]: key for key in sorted(pages, reverse=True)}
    known = name.removesuffix(".md")
    found = pages.get(known) or pages.get(short.get(known, ""))
    if found is None:
        known_ = [one for one, key in sorted(short.items()) if not key.startswith("errors/")]
        raise RunError("SW302", f"There is no page {name}. {did_you_mean(known, known_)}")
    console = Console(file=streams.out(), width=min(streams.width(), _WIDE), highlight=False)
    console.print(Markdown(found.read_text(encoding="utf-8"), hyperlinks=False))
    return HOLDS
