"""``statewalk diary``: texts about a protocol that run."""

from __future__ import annotations

import argparse
import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, NOT_MET

if TYPE_CHECKING:
    from statewalk.checker.diary.entry import Entry

_USUAL = "docs/diary"
_SITE = ".statewalk/diary"
_FOLDER = f"the folder of the entries ({_USUAL} if there is one, else this folder)"
_READ = "the folder of the entries (that which this folder is part of, else what we keep ourselves)"


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "diary",
        help="run, build and begin walkthroughs",
        description="A diary is a folder of Markdown files, NN-title.md, in which specs, commands "
        "with their output, and diagrams are run.",
    )
    what = parser.add_subparsers(metavar="WHAT", required=True)
    test = what.add_parser("test", help="run every cell, and say where something else comes out")
    build = what.add_parser("build", help="write what comes out into the entries, and make pages")
    build.add_argument("--out", metavar="SITE", default=_SITE, help="where pages go (%(default)s)")
    build.add_argument(
        "--runnable", metavar="PYODIDE", help="the folder of Pyodide: pages run in the browser"
    )
    for parser in (test, build):
        parser.add_argument("--only", action="append", metavar="NN", help="this entry alone")
    new = what.add_parser("new", help="begin an entry")
    new.add_argument("title", metavar="TITLE", help="the title of the entry")
    check = what.add_parser("check", help="see whether your spec does what an exercise asks")
    book = what.add_parser("notebook", help="write an entry as a Jupyter notebook")
    for parser in (check, book):
        parser.add_argument("number", metavar="NN", help="the number of the entry")
    check.add_argument("spec", metavar="SPEC", help="your solution of the exercise")
    book.add_argument("--out", metavar="FILE", help="where to write it (standard output)")
    runs = {test: _test, build: _build, new: _new, check: _check, book: _notebook}
    for parser, run in runs.items():
        told = _READ if parser in (check, book) else _FOLDER
        parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, help=told)
        parser.set_defaults(run=run)


def _folder(arguments: argparse.Namespace) -> Path:
    usual = Path(_USUAL)
    given: Path | None = arguments.folder
    return given or (usual if usual.is_dir() else Path())


def _read(arguments: argparse.Namespace) -> Path:
    """Return the folder whose entries somebody reads: from an entry's folder, or from anywhere."""
    from statewalk.checker.commands.explain import folder
    from statewalk.checker.diary.entry import is_diary

    given: Path | None = arguments.folder
    near = (Path(_USUAL), Path(), Path(".."))
    return given or next(filter(is_diary, near), None) or folder() / "diary"


def _entries(arguments: argparse.Namespace) -> tuple[list[Entry], list[Entry]]:
    """Return all entries, and those that are asked for."""
    from statewalk.checker.diary.entry import entries, entry

    found = entries(_folder(arguments))
    return found, [entry(found, number) for number in arguments.only or ()] or found


def _test(arguments: argparse.Namespace) -> int:
    from statewalk.checker.diary.play import play_all
    from statewalk.checker.report.page import seconds

    failed = 0
    for one in play_all(_entries(arguments)[1]):
        difference = one.difference
        failed += bool(difference)
        said = "FAIL" if difference else "ok  "
        streams.say(f"{said} {one.entry.path}  {seconds(one.seconds)}\n")
        streams.say(f"{difference}\n" if difference else "")
        streams.out().flush()
    if failed:
        streams.say("Write what comes out into the entries: statewalk diary build\n")
    return NOT_MET if failed else HOLDS


def _build(arguments: argparse.Namespace) -> int:
    from statewalk.checker.diary.play import play_all
    from statewalk.checker.diary.site import nothing, write_site
    from statewalk.checker.machine.rewriting import rewrite
    from statewalk.checker.report.runs import refuse_links
    from statewalk.checker.runnable import build as runnable

    if arguments.out == _SITE:
        refuse_links(Path(_SITE), "Name another folder with --out.")
    played = []
    known, asked = _entries(arguments)
    for found in play_all(asked):
        played.append(found)
        one = found.entry
        changed = found.text != one.text
        if changed and not rewrite(one.path, one.text, found.text):
            found.wrong.append(f"{one.path}: it was saved meanwhile, and is not written")
            changed = False
        streams.say(f"{'wrote' if changed else 'same '} {one.path}\n")
        streams.out().writelines(f"{line}\n" for line in found.wrong)
        streams.out().flush()
    besides = nothing
    if arguments.runnable is not None:
        made = runnable.write(Path(arguments.out), Path(arguments.runnable), _folder(arguments), {})
        besides = made.besides
    write_site(played, known, Path(arguments.out), besides)
    streams.say(f"pages {arguments.out}\n")
    return NOT_MET if any(one.wrong for one in played) else HOLDS


def _new(arguments: argparse.Namespace) -> int:
    from statewalk.checker.diary.entry import ENTRY, NAMED, SPEC
    from statewalk.checker.machine.files import write_text

    folder = _folder(arguments)
    numbers = [int(p.name[:2]) for p in folder.glob("*.md") if NAMED.match(p.name)]
    number = f"{max(numbers, default=-1) + 1:02}"
    words = re.findall(r"[a-z0-9]+", arguments.title.lower()) or ["entry"]
    file = folder / f"{number}-{'-'.join(words)}.md"
    pinned = folder / number
    pinned.mkdir(parents=True, exist_ok=True)
    write_text(pinned / "spec.py", SPEC)
    today = date.today()
    dated = ENTRY.replace("DATE", f"{today.day} {today:%B %Y}", 1)
    write_text(file, dated.replace("TITLE", arguments.title, 1))
    streams.say(f"wrote {file} and {pinned / 'spec.py'}\n")
    streams.say(f"Run it with: statewalk diary build {folder} --only {number}\n")
    return HOLDS


def _check(arguments: argparse.Namespace) -> int:
    from statewalk.checker.diary.entry import entries, entry
    from statewalk.checker.diary.play import answers
    from statewalk.dsl.errors import RunError

    one = entry(entries(_read(arguments)), arguments.number)
    spec, failed = Path(arguments.spec), 0
    if not one.exercises:
        raise RunError("SW380", f"Entry {one.number} has no exercise that is checked.")
    if not spec.is_file():
        raise RunError("SW302", f"There is no file {spec}.")
    for exercise in one.exercises:
        for command, printed, ok in answers(one, exercise, spec):
            failed += not ok
            first = next(iter(printed.splitlines()), "nothing was printed")
            streams.say(f"{'ok  ' if ok else 'no  '} {command}\n       {first}\n")
            streams.out().flush()
    streams.say("Not yet.\n" if failed else "Solved.\n")
    return NOT_MET if failed else HOLDS


def _notebook(arguments: argparse.Namespace) -> int:
    from statewalk.checker.diary.entry import entries, entry
    from statewalk.checker.diary.notebook import to_notebook
    from statewalk.checker.machine.files import write_text

    text = to_notebook(entry(entries(_read(arguments)), arguments.number))
    if arguments.out:
        write_text(Path(arguments.out), text, named=True)
    else:
        streams.out().write(text)
    return HOLDS
