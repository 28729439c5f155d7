"""Running an entry: its cells in order, in a folder of their own, and the text as it should be.

A folder is made that holds what is pinned beside every entry; the entry's own folder is where its
commands run, those of the others are ``../NN``. What a command prints takes the place of what
stands below it, save where only times differ; a string of a spec is no time.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher, unified_diff
from pathlib import Path
from textwrap import dedent, indent
from typing import TYPE_CHECKING

from statewalk.checker.diary.entry import (
    NAMED,
    PROMPT,
    Cell,
    Entry,
    copy_pinned,
    split,
    text_of,
    words_of,
)
from statewalk.checker.library import library_folder
from statewalk.checker.machine import able, again
from statewalk.checker.verdict import exits
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.diary.entry import Exercise
    from statewalk.checker.traces.trace import Trace


Execute = Callable[[list[str], Path], str]
"""From the words of a command, and the folder to run it in, to what it prints"""

_SECONDS = 300  # that a command may take
_ENDS = range(exits.DIVERGED + 1)  # other exit codes are no answers
_TIMES = re.compile(r"(\d+ h )?(\d+ min )?\d+(\.\d+)? (s|ms)\b|[\d,.]+k?/s\b")
_STRINGS = re.compile(r"(?<!\w)(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?!\w)")
_PLACES = re.compile(r"(\bmodels/\S+\.py):\d+")  # in the library, where lines may move
_LAST = re.compile(r" · levels \S+$")  # goes to the next line where a time is long
_PROGRESS = re.compile(r"^\d\d:\d\d:\d\d .*\n", re.MULTILINE)
_LEFT_OUT = "…"
_DRAWN = "picture.svg"
_DEEPEST = 20  # indentation of lines that are shown without theirs
_GREP = re.compile(r"^-(E|A\d{1,9})$")
_COUNT = re.compile(r"^-\d{1,9}$")


@dataclass
class Played:
    """An entry as it should be, the traces of its diagrams, and what is wrong besides."""

    entry: Entry
    text: str
    traces: dict[int, Trace] = field(default_factory=dict)  # by line of the fence, from 0
    pictures: dict[int, str] = field(default_factory=dict)  # the same of pictures, as SVG
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def difference(self) -> str:
        """Return what has to change in the entry; nothing where it says what comes out."""
        name = str(self.entry.path)
        lines = unified_diff(
            self.entry.lines, self.text.split("\n"), f"{name} (says)", f"{name} (comes out)",
            lineterm="",
        )  # fmt: skip
        return "\n".join([*lines, *self.wrong])


def execute(words: list[str], folder: Path) -> str:
    """Run `statewalk` in a process of its own, where there can be one."""
    if not able.PROCESSES:
        printed, said, _ = again.here(words, folder)
        return printed + said
    settings = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "statewalk", *words], cwd=folder,
            env={**os.environ, **settings}, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_SECONDS, encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RunError(
            "SW381", f"This takes more than {_SECONDS} s: statewalk {' '.join(words)}"
        ) from None
    said = _PROGRESS.sub("", done.stderr)
    if done.returncode not in _ENDS:
        raise RunError(
            "SW381", f"This ended with exit code {done.returncode}: statewalk {' '.join(words)}",
            why=said.strip(),
        )  # fmt: skip
    return done.stdout + said


def play(entry: Entry, run: Execute = execute) -> Played:
    """Run the cells of an entry, and ask of its exercises what readers are asked."""
    lines, played = entry.lines, Played(entry, "")
    moved, began = 0, time.monotonic()
    with _folder(entry) as here:
        for cell in entry.cells():
            if cell.kind == "file":
                played.wrong += _filed(entry, cell, here)
                continue
            if cell.kind == "commands":
                fresh = list(_printed(entry, cell, here, run))
            else:
                fresh = output(entry, cell.name, here, run)
                traced = here / cell.name.split()[2]
                if "--format picture" in cell.name:
                    drawn = run([*words_of(entry.path, cell.name), "--out", _DRAWN], here)
                    if (here / _DRAWN).is_file() and not drawn:
                        played.pictures[cell.first - 1 + moved] = text_of(here / _DRAWN)
                elif traced.name.endswith(".trace.json") and traced.exists():
                    from statewalk.checker.traces.reading import load_trace  # takes long to load

                    played.traces[cell.first - 1 + moved] = load_trace(traced)
            at = cell.first + moved
            lines[at : at + len(cell.lines)] = fresh
            moved += len(fresh) - len(cell.lines)
        for exercise in entry.exercises:
            played.wrong += _exercised(entry, exercise, here, run)
    played.text = "\n".join(lines)
    played.seconds = time.monotonic() - began
    return played


def play_all(found: Sequence[Entry]) -> Iterator[Played]:
    """Yield entries side by side, as they wait for processes; in their order."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from pool.map(play, found)


def _exercised(entry: Entry, exercise: Exercise, here: Path, run: Execute) -> Iterator[str]:
    """Yield whether the solution does what is asked, and the spec as it is does not."""
    own = entry.pinned / exercise.spec
    solved = solution_of(own, entry.pinned / exercise.solution, here)
    if all(ok for _, _, ok in answers(entry, exercise, own, run)):
        yield f"{entry.path}: {exercise.spec} does what the exercise asks for"
    for command, _, ok in answers(entry, exercise, solved, run):
        if not ok:
            yield f"{entry.path}: {exercise.solution} fails: {command}"


def answers(
    entry: Entry, exercise: Exercise, spec: Path, run: Execute = execute
) -> Iterator[tuple[str, str, bool]]:
    """For each command of an exercise, with the reader's spec in it: what it printed, and whether
    that is what was asked for.
    """
    with _folder(entry) as here:
        for expected, command in exercise.asked:
            words = words_of(entry.path, command)
            given = [str(spec.resolve()) if word == "SPEC" else word for word in words]
            printed = run(given, here)
            found = any(line.strip().startswith(expected) for line in printed.splitlines())
            yield command.replace("SPEC", str(spec)), printed, found


class _folder:  # noqa: N801 (used as a function)
    """A temporary folder that holds what is pinned; the entry's part of it."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.made = tempfile.TemporaryDirectory(prefix="statewalk-diary-")

    def __enter__(self) -> Path:
        top = Path(self.made.name).resolve()
        for one in self.entry.path.parent.iterdir():
            if NAMED.match(one.name) and (one.parent / one.name[:2]).is_dir():
                copy_pinned(one.parent / one.name[:2], top / one.name[:2])
        (top / self.entry.number).mkdir(exist_ok=True)
        return top / self.entry.number

    def __exit__(self, *_: object) -> None:
        self.made.cleanup()


def _filed(entry: Entry, cell: Cell, here: Path) -> list[str]:
    """Write a file; of one that is pinned, say which lines are not in it. Raises RunError[SW381]
    for a file that there cannot be.
    """
    try:
        return _held(entry, cell, here)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError("SW381", f"{entry.path}:{cell.first}: {cell.name}: {why}") from None


def _held(entry: Entry, cell: Cell, here: Path) -> list[str]:
    name, more = cell.name.removesuffix("+").rstrip(), cell.name.endswith("+")
    file, text = here / name, "\n".join(cell.lines) + "\n"
    if not file.resolve().is_relative_to(here.parent):
        raise RunError("SW381", f"{entry.path}: {name} is outside of the diary.")
    if not (entry.pinned / name).exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        old = f"{file.read_text('utf-8')}\n\n" if more and file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(old + text, encoding="utf-8")
        return []
    found = _parts(file.read_text(encoding="utf-8"), text)
    if isinstance(found, str):
        where = f"{entry.path}:{cell.first}"
        return [f"{where}: these lines do not stand in {entry.number}/{name}:\n{found}"]
    return []


_GAP = re.compile(rf"^ *(?:# *)?{_LEFT_OUT} *\n", re.MULTILINE)


def _parts(text: str, shown: str) -> list[tuple[int, int, int]] | str:
    """Return where the parts of a block stand in a file's text: (from, to, more indentation) each;
    the part that does not stand there, if one does not.
    """
    found, at = list[tuple[int, int, int]](), 0
    for part in _GAP.split(shown):
        lines = dedent(part).strip("\n") + "\n"
        for depth in range(0, _DEEPEST, 4):
            wanted = indent(lines, " " * depth)
            first = text.find(wanted, at)
            if first >= 0:
                at = first + len(wanted)
                found.append((first, at, depth))
                break
        else:
            return part
    return found


def change(entry: Entry, cell: Cell, here: Path, text: str | None) -> None:
    """Write a cell's file as a reader changed the cell; None where they did not.

    Raises:  RunError[SW381] for parts that no longer fit the file
    """
    name = cell.name.removesuffix("+").rstrip()
    if text is None or not (entry.pinned / name).exists():
        changed = cell if text is None else replace(cell, lines=tuple(text.splitlines()))
        _filed(entry, changed, here)
        return
    file = here / name
    whole = file.read_text(encoding="utf-8")
    places = _parts(whole, "\n".join(cell.lines) + "\n")
    new = _GAP.split(text.rstrip("\n") + "\n")
    if isinstance(places, str) or len(places) != len(new):
        raise RunError(
            "SW381", f"The lines with … in the block of {name} are not those that it had.",
            help="Keep them: they stand for the rest of the file.",
        )  # fmt: skip
    for (first, end, depth), part in reversed([*zip(places, new, strict=True)]):
        lines = indent(dedent(part).strip("\n") + "\n", " " * depth)
        whole = whole[:first] + lines + whole[end:]
    file.write_text(whole, encoding="utf-8")


def shown_in(block: str, whole: str) -> dict[int, int]:
    """Return, by line of a file's text, the line of a block that shows it."""
    places = _parts(whole, block + "\n")
    found, at = dict[int, int](), 1
    parts = () if isinstance(places, str) else zip(_GAP.split(block + "\n"), places, strict=True)
    for part, (first, end, _) in parts:
        lines, before = dedent(part), whole.count("\n", 0, first) + 1
        top = at + len(lines) - len(lines.lstrip("\n"))
        found |= {before + n: top + n for n in range(whole.count("\n", first, end))}
        at += part.count("\n") + 1
    return found


def _printed(entry: Entry, cell: Cell, here: Path, run: Execute) -> Iterator[str]:
    for command, old in cell.commands:
        yield PROMPT + command
        yield from kept(old, output(entry, command, here, run))


def output(entry: Entry, command: str, here: Path, run: Execute) -> list[str]:
    """Return what a command prints, after its pipes."""
    first, *pipes = command.split(" | ")
    text = run(words_of(entry.path, first), here).replace(f"{library_folder()}/", "models/")
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    for pipe in pipes:
        lines = _piped(entry, split(entry.path, pipe), lines)
    return lines


def _piped(entry: Entry, words: Sequence[str], lines: list[str]) -> list[str]:
    """`head -N`, `tail -N` and `grep [-E] [-AN] PATTERN` as the programs of these names do it."""
    match words:
        case ["head", count] if _COUNT.match(count):
            return lines[: int(count[1:])]
        case ["tail", count] if _COUNT.match(count):
            return lines[max(0, len(lines) - int(count[1:])) :]
        case ["grep", *options, pattern] if all(_GREP.match(o) for o in options):
            more = max((int(o[2:]) for o in options if o != "-E"), default=0)
            try:
                hits = [n for n, line in enumerate(lines) if re.search(pattern, line)]
            except (re.error, RecursionError) as error:
                raise RunError("SW381", f"{entry.path}: grep {pattern}: {error}") from None
            shown = {k for n in hits for k in range(n, min(n + more + 1, len(lines)))}
            return [lines[n] for n in sorted(shown)]
    raise RunError("SW381", f"{entry.path}: a diary does not know this pipe: {' '.join(words)}")


def kept(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return new lines, save that old ones stay where only times differ."""
    if _squeezed(old) == _squeezed(new):
        return list(old)
    same = SequenceMatcher(None, _alike(old, new), _alike(new, old), autojunk=False)
    found: list[str] = []
    for tag, i, k, m, n in same.get_opcodes():
        found += old[i:k] if tag == "equal" else new[m:n]
    return found


def _alike(lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """Without times; and without what longer times leave no room for in one of the others."""
    told = {_normal(line) for line in others}
    normal = [_normal(line) for line in lines]
    return [short if (short := _LAST.sub("", line)) in told else line for line in normal]


def _normal(line: str) -> str:
    return _untimed(_quoted(line))


def _untimed(text: str) -> str:
    return _PLACES.sub(r"\1", _TIMES.sub("#", text))


def _quoted(line: str) -> str:
    """Return a line where strings hold nothing that looks like a time: they are values of a
    spec.
    """
    return _STRINGS.sub(lambda found: found[0].replace(" ", "\0").replace("/s", "/\0s"), line)


def _squeezed(lines: Iterable[str]) -> str:
    """Without what differs from run to run, and where lines end on account of it."""
    return " ".join(_untimed(" ".join(map(_quoted, lines))).replace(" · ", " ").split())


_HUNK = re.compile(r"^@@ -(\d+)(,0\b)?.*\n", re.MULTILINE)


def solution_of(spec: Path, solution: Path, folder: Path) -> Path:
    """Return the file of a solution; of one that is a patch, what it makes of the spec, in
    the folder.

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
