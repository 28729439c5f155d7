"""Damaged inputs: specs, traces, results, checkpoints and histories with bytes flipped, parts
repeated, cut off, nested or of other types. Whatever they hold, no command ends in an internal
error.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.traces.exports import FORMATS
from tests.checker.history import foreign
from tests.places import ROOT

_INTERNAL = 70
_PATIENCE = 20  # seconds
_RUNS = 200  # of each kind
_LIMITS = ["--max-states", "60", "--timeout", "5", "--threads", "1", "--no-liveness"]
_ODD = (
    "9" * 5000,
    "\x00", "\ufeff", "\udc80".encode("utf-8", "surrogatepass").decode("latin-1"), "\u2028", "\f",
    "'''", '"', "{{", "!!int \"\"", "<<: ", "---\n", "#", "\\", "\t", "\r", "1e999", "-",
    "[" * 300, "(" * 70 + ")" * 70, "not " * 300, " + 1" * 300, ".a" * 200, "yield", "return", "@",
    "lambda: ", "None", "self", "any", "oneof ", "atomic:", "role ", "fair ", "\\ud800", "{1: 2}",
)  # fmt: skip


def _text(random: Random, data: bytes) -> bytes:
    """A file with one or two things wrong."""
    for _ in range(random.choice((1, 1, 2))):
        at, end = sorted(random.choices(range(len(data) + 1), k=2))
        odd = random.choice(_ODD).encode("utf-8", "surrogatepass")
        lines = data.split(b"\n")
        one, other = random.choices(range(len(lines)), k=2)
        match random.randrange(8):
            case 0 if data:
                flipped = data[min(at, len(data) - 1)] ^ 1 << random.randrange(8)
                data = data[:at] + bytes([flipped]) + data[at + 1 :]
            case 1:
                data = data[:at]
            case 2:
                data = data[:at] + data[at : at + 300] * 2 + data[at + 300 :]
            case 3:
                data = data[:at] + odd + data[at:]
            case 4:
                words = [m.span() for m in re.finditer(rb"[A-Za-z_]\w*|\d+", data)]
                if words:
                    start, stop = random.choice(words)
                    data = data[:start] + odd + data[stop:]
            case 5:
                lines[one], lines[other] = lines[other], lines[one]
                data = b"\n".join(lines)
            case 6:
                words = [m.span() for m in re.finditer(rb"[A-Za-z_]\w*|\d+|[^\w\s]", data)]
                if words:
                    (start, stop), (a, b) = random.choices(words, k=2)
                    data = data[:start] + data[a:b] + data[stop:]
            case _:
                data = data[:at] + data[min(end, at + 200) :]
    return data


_VALUES: tuple[Any, ...] = (
    {"#": 1},
    None, True, -1, 0, 1 << 70, 1.5, float("nan"), "", "x", "\udc80", "\x00", [], {}, [[]],
    {"#int": "z"}, {"#dict": [[{"#dict": []}, 1]]}, {"#role": ["X", 0]}, {"#bytes": "AAAA"},
    {"#enum": ["A", "B"]}, {"#record": ["A", {}]}, {"#set": [1, 1]}, {"#bag": [[1, -1]]},
)  # fmt: skip


def _inside(part: Any) -> list[tuple[Any, Any]]:
    if isinstance(part, list):
        return list(enumerate(part))
    return list(part.items()) if isinstance(part, dict) else []


def _json(random: Random, data: bytes) -> bytes:
    """A JSON file with a part of another type, left out, repeated or nested deeply."""
    found = json.loads(data)
    places: list[tuple[Any, Any]] = []
    todo: list[Any] = [found]
    for part in todo:
        for key, value in _inside(part):
            places.append((part, key))
            todo.append(value)
    for _ in range(random.choice((1, 1, 2))):
        owner, key = random.choice(places)
        match random.randrange(4):
            case 0:
                value = random.choice(places)[0]
            case 1:
                value = random.choice(_VALUES)
                for _ in range(random.choice((1, 150, 900))):
                    value = [value]
            case _:
                value = random.choice(_VALUES)
        if isinstance(owner, dict) or (isinstance(key, int) and key < len(owner)):
            owner[key] = value
        if random.random() < 0.2:
            owner.clear()
    try:
        return json.dumps(found).encode()
    except (ValueError, RecursionError):  # a part within itself
        return data[: random.randrange(len(data))]


Case = tuple[Callable[[Random, bytes], bytes], Path, list[str]]


def _cases(kind: str, folder: Path) -> Iterator[Case]:
    """Yield how a file is damaged, the file, and a command that reads it."""
    work = folder / "work"
    if kind in ("py", "fizz"):
        command = {"py": ["check"], "fizz": ["check", "convert"]}[kind]
        files = [f for f in sorted((ROOT / "specs").rglob(f"*.{kind}")) if f.stat().st_size < 6_000]
        for name in command:
            more = [*_LIMITS, "--out", str(folder / "run")] if name == "check" else []
            for file in files:
                copy = work / file.name
                shutil.copy(file, copy)
                yield _text, copy, [name, str(copy), *more]
        return
    if kind == "history":
        made = folder / "made"
        made.mkdir()
        (made / "h.jsonl").write_text(_HISTORY)
        yield from _histories(made, work)
        return
    spec = ROOT / "models" / "toys" / "die_hard.py"
    run = work / "run"
    main(["check", str(spec), "--out", str(run), "--checkpoint-every", "0s", "--keep-going"])
    for file in sorted(run.rglob("*")):
        if file.is_file():
            command_ = ["resume", str(run), "--spec", str(spec)]
            if file.name.endswith(".trace.json"):
                yield _json, file, ["replay", str(file), "--spec", str(spec)]
                yield _text, file, ["replay", str(file), "--spec", str(spec)]
                for form in FORMATS:
                    out = str(folder / "exported")
                    yield _json, file, ["export", str(file), "--format", form, "--out", out]
                yield _json, file, ["show", str(file)]
            elif file.name == "request.json":
                yield _json, file, command_
            yield _text, file, command_


_HISTORY = """{"statewalk-history": 1}
{"session": 0, "id": 1, "ops": [["w", "x", 1], ["w", "y", 2]], "status": "ok"}
{"session": 1, "id": 2, "ops": [["r", "x", 1], ["r", "y", 2]], "status": "ok"}
{"session": 0, "id": 3, "ops": [["r", "x", 1], ["w", "x", 3]], "status": "ok"}
{"session": 1, "id": 4, "ops": [["r", "x", 3], ["w", "y", 5]], "status": "info"}
"""


def _histories(made: Path, work: Path) -> Iterator[Case]:
    source = made / "h.jsonl"
    for form in ("jsonl", "edn", "polysi", "dbcop", "cobra", "viper"):
        target = work / f"h.{form}" if form not in ("cobra", "viper") else work / form
        if form in foreign.SAMPLES:
            foreign.write(form, target)
        else:
            assert 0 == main(["history", "convert", str(source), str(target), "--to", form])
        for file in sorted(target.rglob("*")) if target.is_dir() else [target]:
            yield _text, file, ["history", "check", str(target)]
            yield _text, file, ["history", "check", str(target), "--format", form]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["py", "fizz", "run", "history"])
def test_no_damaged_input_is_an_internal_error(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    cases = list(_cases(kind, tmp_path))
    assert cases
    failed = list(failures(cases, range(_RUNS)))
    capfd.readouterr()

    assert [] == failed


def failures(cases: list[Case], seeds: range) -> Iterator[tuple[int, str]]:
    """Each seed damages one file of a case; those that made an internal error, with the command."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    whole = {file: file.read_bytes() for _, file, _ in cases}
    for seed in seeds:
        random = Random(seed)
        damage, file, command = random.choice(cases)
        saved = whole[file]
        file.write_bytes(damage(random, saved))
        signal.alarm(_PATIENCE)  # a damaged spec may go on for ever; it is then interrupted
        try:
            if main(command) == _INTERNAL:
                yield seed, " ".join(command)
        finally:
            signal.alarm(0)
            for other, content in whole.items():  # a run that goes on writes its folder anew
                other.parent.mkdir(parents=True, exist_ok=True)
                other.write_bytes(content)
