"""``statewalk new``: a folder with a first spec, and what tests it at each push."""

from __future__ import annotations

import argparse
import keyword
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS

TEMPLATES = ("empty", "roles", "two-phase")


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "new",
        help="create a folder with a first spec",
        description="Make a folder with a spec (one configuration holds, one is violated), a "
        ".gitignore, a GitHub workflow that runs statewalk test, and an AGENTS.md that "
        "describes the language.",
    )
    parser.add_argument("name", metavar="NAME", help="the folder; its last part names the spec")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--template", choices=TEMPLATES, default="empty", help="what the spec begins as (empty)"
    )
    what.add_argument(
        "--from", metavar="MODEL", dest="model", help="begin with a copy of a library model"
    )
    what.add_argument(
        "--from-tla", metavar="SPEC.tla",
        help="begin with a skeleton: names and texts of a TLA+ module; nothing is translated",
    )  # fmt: skip
    parser.add_argument(
        "--cfg", metavar="MC.cfg", help="with --from-tla: the model file of TLC with the constants"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and say what to do next; the exit code."""
    from statewalk.checker.commands.everyday import templates
    from statewalk.checker.machine.files import write_text
    from statewalk.dsl.errors import RunError

    folder = Path(arguments.name)
    spec = _spec_name(folder)
    text = text_of(arguments.template, arguments.model)
    if arguments.from_tla is not None:
        text = _of_tla(arguments.from_tla, arguments.cfg)
    elif arguments.cfg is not None:
        raise RunError("SW326", "--cfg is for --from-tla.", help="Add --from-tla SPEC.tla.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        full = any(folder.iterdir())
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise RunError("SW383", f"{folder} cannot be made: {said}.") from None
    if full:
        raise RunError("SW383", f"The folder {folder} is not empty.", help="Give another name.")
    workflow = Path(".github", "workflows", "specs.yml")
    files = {
        folder / spec: text,
        folder / ".gitignore": templates.IGNORED,
        folder / "AGENTS.md": templates.agents(),
        folder / workflow: templates.workflow(),
    }
    try:
        (folder / workflow).parent.mkdir(parents=True)
        for file, content in files.items():
            write_text(file, content, help="Give another place.")
    except BaseException:  # what is left there would keep the next try from beginning
        _undo(folder, files)
        raise
    streams.say(
        f"{folder / spec} is your spec. Check what it promises:\n"
        f"  cd {folder}\n  statewalk test\n  statewalk check {spec} --watch\n"
    )
    above = _repository(folder)
    if above is not None:
        streams.say(
            f"GitHub reads workflows at the top of a repository only: move {folder / '.github'} "
            f"to {above}, or what is in it to the workflows there.\n"
        )
    return HOLDS


def _undo(folder: Path, files: Iterable[Path]) -> None:
    """Remove files, and the folders that hold nothing then."""
    for file in files:
        with suppress(OSError):
            file.unlink()
    for part in (".github/workflows", ".github", "."):
        with suppress(OSError):
            (folder / part).rmdir()


def _repository(folder: Path) -> Path | None:
    """Return the repository that a folder lies in, if any."""
    return next((p for p in folder.resolve().parents if (p / ".git").exists()), None)


def _spec_name(folder: Path) -> str:
    """Return the file of the spec: a module that others can import. Raises RunError[SW383]."""
    from statewalk.dsl.errors import RunError

    if not folder.name:
        raise RunError(
            "SW383",
            f"{os.fspath(folder)} names a folder, not a spec.",
            help="statewalk new NAME makes the folder NAME there, with NAME.py.",
        )
    name = folder.name.replace("-", "_")
    if not name.isidentifier() or keyword.iskeyword(name) or name == "statewalk":
        raise RunError(
            "SW383",
            f"A spec cannot be called {os.fspath(folder.name)!r}.",
            help="Use letters, digits, - and _, but no Python keyword.",
        )
    return name + ".py"


def text_of(template: str, model: str | None) -> str:
    """Return what the spec says."""
    from statewalk.checker.commands.everyday import templates

    if model is not None:
        return _of_library(model)
    if template == "two-phase":
        text = _of_library(templates.TWO_PHASE)
        imported = text.replace("    holds,\n", "    holds,\n    mutant,\n", 1)
        return imported.replace("    terminal,\n", "    terminal,\n    violates,\n", 1) + (
            templates.EARLY
        )
    return {"empty": templates.EMPTY, "roles": templates.ROLES}[template]


def _of_tla(file: str, cfg: str | None) -> str:
    from statewalk.checker.commands.everyday.skeleton import read, skeleton
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.files import read_text

    texts = []
    for one in filter(None, (file, cfg)):
        try:
            texts.append(read_text(one))
        except (OSError, UnicodeDecodeError) as error:
            raise RunError("SW404", f"{one} cannot be read: {error}.") from error
    module = read(*texts)
    if not module.variables:
        said = f"{file} declares no variables."
        raise RunError("SW383", said, help="Name the module that has VARIABLES and Next.")
    return skeleton(module, Path(file).name)


def _of_library(name: str) -> str:
    from statewalk.checker.library import matching
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.files import read_text

    found = matching(name)
    if len(found) != 1:
        names = ", ".join(entry.name for entry in found)
        raise RunError("SW383", f"{name} is more than one model.", help=f"Name one of {names}.")
    return read_text(found[0].path)
