"""An entry: its Markdown text, line by line, and the cells in it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from statewalk.dsl.errors import RunError
from statewalk.dsl.files import read_text

NAMED = re.compile(r"^(\d\d)-[\w-]+\.md$")
LANGUAGES = ("python", "fizz", "tla", "text")  # of blocks that are files
_FENCE = re.compile(r"^(`{3,}) *(\w*)(.*)$")
_DRAWN = re.compile(r"^<!-- (statewalk (?:export|history check) \S.*?) -->$")
_EXERCISE = re.compile(r"^<!-- exercise: (\S+) (\S+)\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
DATED = re.compile(r"^\*(\d{1,2} \w+ \d{4})\*$", re.MULTILINE)  # a line below the title
PROMPT = "$ "
# What the commands of an entry may be, and the options that name what they write.
COMMANDS = (
    "check", "compare", "conform", "convert", "cover", "explain", "export", "history check",
    "history collect", "history from-trace", "models", "profile", "query", "replay", "show",
    "simulate", "test",
)  # fmt: skip
OUTPUTS = (
    "--dot", "--events", "--graph", "--html", "--json", "--junit", "--markdown", "--out",
    "--pytest", "--sarif", "--spark-folder", "--svg", "--tell",
)  # fmt: skip
_NEVER = ("--allow-files", "--url")
_NO_SPEC = shutil.ignore_patterns(".statewalk", "__pycache__")


def copy_pinned(pinned: Path, to: Path) -> None:
    """Copy what is pinned beside an entry. Links stay behind: they may lead anywhere."""

    def left(folder: str, names: list[str]) -> set[str]:
        links = {name for name in names if (Path(folder) / name).is_symlink()}
        return links | _NO_SPEC(folder, names)

    if pinned.is_symlink():
        return
    try:
        shutil.copytree(pinned, to, ignore=left, dirs_exist_ok=True)
    except shutil.Error as error:
        source, _, why = error.args[0][0]
        raise RunError("SW381", f"{source} cannot be copied: {why}") from None


@dataclass(frozen=True)
class Cell:
    """A block that runs: the lines between its fences, and what they are.

    ``file``: the text of the file ``name``, or more of it (``name +``); ``commands``: what is typed
    and what is printed; ``drawn``: the diagram that the command ``name`` prints.
    """

    kind: Literal["file", "commands", "drawn"]
    name: str
    first: int  # among the lines of the entry
    lines: tuple[str, ...]

    @property
    def commands(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each command, and the lines that stand below it."""
        starts = [n for n, line in enumerate(self.lines) if line.startswith(PROMPT)]
        for start, end in zip(starts, [*starts[1:], len(self.lines)], strict=True):
            yield self.lines[start].removeprefix(PROMPT), self.lines[start + 1 : end]


@dataclass(frozen=True)
class Exercise:
    """The output required of a reader's version of ``spec``: (beginning of a line, command)
    pairs.
    """

    spec: str
    solution: str
    asked: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Entry:
    """A file ``NN-title.md``; the specs it speaks of lie beside it, in ``NN``."""

    path: Path
    text: str

    @property
    def number(self) -> str:
        return self.path.name[:2]

    @property
    def pinned(self) -> Path:
        return self.path.parent / self.number

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @property
    def title(self) -> str:
        """The first heading."""
        found = re.search(r"^# +(.*)$", self.text, re.MULTILINE)
        return found[1] if found else self.path.stem

    @property
    def date(self) -> str:
        """The day it was written, where it says so."""
        found = DATED.search(self.text)
        return found[1] if found else ""

    @property
    def exercises(self) -> list[Exercise]:
        """Return what ``diary check`` asks; browsers and code hosts do not show it."""
        return [
            Exercise(spec, solution, tuple(_asked(self, line) for line in body.splitlines()))
            for spec, solution, body in _EXERCISE.findall(self.text)
        ]

    def cells(self) -> list[Cell]:
        """Return the blocks that run, in order."""
        found: list[Cell] = []
        lines, at = self.lines, 0
        while at < len(lines):
            opened = _FENCE.match(lines[at])
            at += 1
            if opened is None:
                continue
            first = at
            while at < len(lines) and lines[at].rstrip() != opened[1]:
                at += 1
            kind = _kind(opened[2], opened[3].strip(" "), lines[first - 2] if first > 1 else "")
            if kind == ("commands", "") and not "".join(lines[first:at][:1]).startswith(PROMPT):
                raise RunError(
                    "SW381",
                    f"{self.path}:{first + 1}: this block begins without a command.",
                    why="A console block holds commands, and below each of them what it prints.",
                    help="Begin it with $ statewalk check SPEC, or make it a block text.",
                )
            if kind is not None:
                found.append(Cell(*kind, first, tuple(lines[first:at])))
            at += 1
        return found


def _kind(
    language: str, name: str, before: str
) -> tuple[Literal["file", "commands", "drawn"], str] | None:
    drawn = _DRAWN.match(before)
    if drawn is not None:
        return "drawn", drawn[1]
    if language == "console":
        return "commands", ""
    return ("file", name) if name and language in LANGUAGES else None


def _asked(entry: Entry, line: str) -> tuple[str, str]:
    text, command, words = line.partition("statewalk ")
    if not command:
        raise RunError("SW381", f"{entry.path}: this line of an exercise has no command: {line}")
    return text.rstrip(" "), command + words


def words_of(entry: Path, command: str) -> list[str]:
    """Return a command without its first word.

    Raises:  RunError[SW381] for a command that a diary does not run, and for output outside of the
    entry's folder
    """
    first, *words = split(entry, command) or [""]
    if first != "statewalk" or not any(" ".join(words[:n]) in COMMANDS for n in (1, 2)):
        raise RunError(
            "SW381",
            f"{entry}: a diary cannot run this: {command}",
            why=f"Its commands are statewalk's {', '.join(COMMANDS)}, and | head, tail and grep.",
        )
    for word, following in zip(words, [*words[1:], ""], strict=True):
        option, equals, value = word.partition("=")
        named = [name for name in (*OUTPUTS, *_NEVER) if option[:2] == "--" != option]
        named = [name for name in named if name.startswith(option)]  # names may be cut short
        if any(name in _NEVER for name in named):
            raise RunError("SW381", f"{entry}: a diary does not run this with {word}: {command}")
        if named:
            _is_inside(entry, value if equals else following, command)
        elif words[:2] == ["history", "collect"]:
            _is_inside(entry, word, command)
    return words


def _is_inside(entry: Path, name: str, command: str) -> None:
    """Raises RunError[SW381] for what lies outside of the folder where a command runs."""
    file = PurePath(name)
    if file.is_absolute() or ".." in file.parts:
        raise RunError(
            "SW381",
            f"{entry}: {file} is outside of the entry's folder: {command}",
            why="An entry may come from others, so its commands may write only below its folder.",
            help=f"Write {file.name or 'another name'} instead.",
        )


def split(entry: Path, command: str) -> list[str]:
    """Return the words of a command. Raises RunError[SW381] where quotes are not closed."""
    try:
        if "\0" in command:
            raise ValueError("it has a NUL character")
        return shlex.split(command)
    except ValueError as error:
        raise RunError("SW381", f"{entry}: this is no command ({error}): {command}") from None


def is_diary(folder: Path) -> bool:
    """Return whether there are entries in a folder."""
    return any(NAMED.match(p.name) for p in folder.glob("*.md"))


def entries(folder: Path) -> list[Entry]:
    """Return the entries of a folder, by number. Raises RunError[SW380] where there is none."""
    names = sorted(p for p in folder.glob("*.md") if NAMED.match(p.name))
    if not names:
        raise RunError(
            "SW380",
            f"There is no entry of a diary in {folder}: a file whose name is like 01-title.md.",
            help="Begin one with: statewalk diary new TITLE",
        )
    return [Entry(path, text_of(path)) for path in names]


def text_of(path: Path) -> str:
    """Return the text of a file. Raises RunError[SW381]."""
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError("SW381", f"{path} cannot be read: {why}.") from None


def entry(found: Sequence[Entry], number: str) -> Entry:
    """Return the entry of a number. Raises RunError[SW380]."""
    for one in found:
        if number.isdigit() and int(number) == int(one.number):
            return one
    known = ", ".join(one.number for one in found)
    raise RunError("SW380", f"There is no entry {number}. Entries: {known}.")


ENTRY = """# TITLE

*DATE*

What we have to decide, in a sentence or two.

## The smallest model

```python spec.py
class Counter(State):
    n: int = 0
```

## Check

```console
$ statewalk check spec.py
```

## A surprise

<!-- statewalk export .statewalk/runs/0001/small.trace.json --format mermaid -->
```mermaid
```

<details>
<summary>A question: how many states before the bug?</summary>

The answer.

</details>

## Change
"""

SPEC = '''"""A counter that is meant to stay small."""

from statewalk import State, action, always


class Counter(State):
    n: int = 0

    @action
    def count(self) -> None:
        self.n = (self.n + 1) % 5


counter = Counter()


@always
def small() -> bool:
    return counter.n < 3
'''
