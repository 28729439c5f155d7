"""A check that nothing depends on PYTHONHASHSEED: `python benchmarks/hash_seeds.py --help`.

Every specification there is (specs/, the configurations of models/, those of the tests, the
examples of the documentation) is checked in a process for each seed, with the native engine and,
less far, with the reference engine without lowering. Results, evidence, texts of errors and files
of traces have to be equal but for times and what is sought for as long as time is given (guards of
actions that never fired); a process with another seed has to replay each trace.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```(python|fizz) *([\w./-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CASE = re.compile(r"^#\s*check(?P<set>(?:\s+\w+=\S+)*)\s*->", re.MULTILINE)
_VARYING = frozenset(
    ["seconds", "learning_seconds", "statistics", "options", "command", "never_fired"]
)


def corpus(examples: Path) -> Iterator[tuple[str, str, dict[str, str], str | None]]:
    """(name, spec, constants, configuration)"""
    from statewalk.checker.api import load
    from statewalk.checker.library import entries

    for path in sorted((ROOT / "specs").rglob("*.*")):
        if path.suffix in (".py", ".fizz"):
            for at, case in enumerate(_CASE.finditer(path.read_text("utf-8"))):
                given = dict(word.split("=", 1) for word in case["set"].split())
                yield f"specs-{path.stem}-{path.suffix[1:]}-{at}", str(path), given, None
    for entry in entries():
        for one in load(entry.path).configurations:
            name = f"models-{entry.name.replace('/', '-')}-{one.name}"
            yield name, str(entry.path), {}, one.name
    for path in sorted((ROOT / "tests").rglob("specs/*.py")):
        yield f"tests-{path.stem}", str(path), {}, None
    for spec in sorted(examples.rglob("spec.*")):
        yield f"docs-{spec.parent.name}", str(spec), {}, None


def write_examples(folder: Path) -> None:
    """The examples of the documentation as files; those of one section go into one folder."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        beside: dict[str, str] = {}
        for at, (language, name, text) in enumerate(_BLOCK.findall(page.read_text("utf-8"))):
            if name and not name.startswith("spec."):
                beside[name] = text
                continue
            place = folder / f"{page.stem}-{at}"
            place.mkdir()
            for other, content in beside.items():
                (place / other).write_text(content, "utf-8")
            (place / f"spec.{'fizz' if language == 'fizz' else 'py'}").write_text(text, "utf-8")


def work(examples: Path, states: int, only: str) -> None:
    """Check the corpus in this process; the results go below the current folder."""
    from statewalk.checker.api import check
    from statewalk.dsl.errors import StatewalkError
    from statewalk.dsl.words.constants import GivenText

    for name, spec, given, config in corpus(examples):
        if only not in name:
            continue
        constants = {n: GivenText(v) for n, v in given.items()}
        for engine, optimize, most in (
            ("native", True, states),
            ("reference", False, states // 10),
        ):
            out = Path(name) / engine
            out.mkdir(parents=True)
            try:
                check(
                    spec, constants, out=out, config=config, engine=engine, optimize=optimize,
                    max_states=most, keep_going=True, allow_unsound=True,
                )  # fmt: skip
            except StatewalkError as error:
                (out / "error.txt").write_text(str(error))


def replay(other: Path, only: str) -> None:
    """Replay the traces that another process left; print those that go another way."""
    from statewalk.checker.behaviours.replay import replay as replayed

    count = 0
    for file in sorted(other.rglob("*.trace.json")):
        if only in str(file):
            count += 1
            found = replayed(file)
            if not found.reproduced:
                print("diverges", file)
    print("replayed", count)


def contents(folder: Path) -> dict[str, Any]:
    """Return what is to be equal, by file."""
    found: dict[str, Any] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in (".json", ".txt") and "checkpoint" not in file.parts:
            text = file.read_text("utf-8")
            if file.name in ("result.json", "evidence.json"):
                found[str(file.relative_to(folder))] = _lasting(json.loads(text))
            elif file.name != "request.json":
                found[str(file.relative_to(folder))] = text
    return found


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return [(k, _lasting(v)) for k, v in value.items() if k not in _VARYING]
    return [_lasting(v) for v in value] if isinstance(value, list) else value


def run(seed: int, folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start the script in a process with a hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, __file__, *words]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def done(process: subprocess.Popen[str]) -> str:
    """Return what a process printed. Raises SystemExit where it failed."""
    told, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a process ended with {process.returncode}")
    return told


def main() -> int:
    """Run the campaign, or the part of it that a process has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--states", type=int, default=2000, help="check at most so many states")
    parser.add_argument("--only", default="", help="specifications with this in their name")
    parser.add_argument("--at-once", type=int, default=1, help="so many processes at once")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--replay", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work, asked.states, asked.only)
        return 0
    if asked.replay:
        replay(asked.replay, asked.only)
        return 0
    with tempfile.TemporaryDirectory() as made:
        return compare(Path(made), asked)


def compare(folder: Path, asked: argparse.Namespace) -> int:
    """Check under every seed, compare, replay under the next seed."""
    began = time.monotonic()
    (folder / "examples").mkdir()
    write_examples(folder / "examples")
    words = ["--states", str(asked.states), "--only", asked.only]
    places = [folder / f"seed-{seed}" for seed in range(asked.seeds)]
    waiting = list(enumerate(places))
    while waiting:
        now, waiting = waiting[: asked.at_once], waiting[asked.at_once :]
        for place in places:
            place.mkdir(exist_ok=True)
        started = [run(s, place, "--work", str(folder / "examples"), *words) for s, place in now]
        for process in started:
            done(process)
    first, *others = [contents(place) for place in places]
    differing = {
        name
        for other in others
        for name in first.keys() | other.keys()
        if first.get(name) != other.get(name)
    }
    told = ""
    for seed, place in enumerate(places):
        beside = places[(seed + 1) % len(places)]
        told += done(run(seed, place, "--replay", str(beside), "--only", asked.only))
    diverging = [line for line in told.splitlines() if line.startswith("diverges")]
    replayed = sum(
        int(line.split()[1]) for line in told.splitlines() if line.startswith("replayed")
    )
    results = [name for name in first if name.endswith("result.json")]
    traces = [name for name in first if name.endswith(".trace.json")]
    errors = [name for name in first if name.endswith("error.txt")]
    print(*sorted(differing), *diverging, sep="\n")
    print(
        f"{asked.seeds} seeds: {len(results)} checks, {len(traces)} traces, {len(errors)} errors "
        f"each; {len(differing)} files differ; {replayed} replays under another seed, "
        f"{len(diverging)} diverge; {time.monotonic() - began:.0f} s"
    )
    return 1 if differing or diverging else 0


if __name__ == "__main__":
    raise SystemExit(main())
