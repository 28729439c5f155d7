"""Disturb saved searches of the native engine in every way a machine can: `make chaos`.

As SQLite tries its journal: a child searches and saves the search before every level; it dies, or
its disk fails, or its files change; another child resumes. What that one finds is compared with an
undisturbed search: counts, transitions per action, verdicts, and the traces step by step.

    kill      SIGKILL at a random moment
    die       the end of the process before or after an operation on a file, often with the file cut
              in half, and often once more while it is resumed
    flip      a bit of a file
    cut       a file cut off, or emptied
    delete    a file that is missing
    swap      two files of a search in each other's places
    foreign   files of a search with other constants, or of another search of the same
    full      a disk that is full at some operation, for a while or for good
    limit     the kernel's limit on the size of files
    readonly  a folder that takes no files from some moment on
    writers   two searches of different constants in one folder, killed

Each trial is exact, or a clear error that names a file or a process, or wrong. None may be wrong.
`python benchmarks/chaos_native.py --help` lists the options.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statewalk.checker.api import load, search
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.native import checkpoints, manifests
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model

ROOT = Path(__file__).resolve().parents[1]
CLEAR = ("SW340", "SW341", "SW343", "SW345")
CONSTANTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("models/toys/two_phase_commit.py", {"RMS": 6}, {"RMS": 5}),
    (
        "models/kafka/init_pid.py",
        {"MUTANT": "no_epoch_bump"},
        {"MUTANT": "no_epoch_bump", "BROKERS": 1},
    ),
]
# levels of the same sizes whatever the constant: nothing but what is in them tells them apart
ALIKE = """
from statewalk import Constant, Role, action, always, deadlock, require

K: Constant[int] = 1


class Grid(Role):
    x: int = 0
    y: int = 0

    @action
    def right(self) -> None:
        require(self.x < 20 * K)
        self.x += K

    @action
    def up(self) -> None:
        require(self.y < 20 * K)
        self.y += K


grid = Grid()
deadlock(False)


@always
def away() -> bool:
    return not (grid.x == 9 and grid.y == 7)
"""
TOO_LONG = 120.0  # seconds for one child


@dataclass
class Case:
    """A spec, the same with other constants, and what an undisturbed search of it finds."""

    model: Model
    other: Model
    expected: dict[str, Any]
    seconds: float
    operations: int


Disturb = Callable[[], None]


# -- children --------------------------------------------------------------------------------------


def outcome(result: Run) -> dict[str, Any]:
    """Return what a result says, without what may differ."""
    data = result.to_dict()
    traces = {name: repr(trace.steps) for name, trace in result.traces.items()}
    names = ("verdict", "exhaustive", "counts", "properties", "actions")
    return {"code": "", "traces": traces, **{name: data[name] for name in names}}


def explored(model: Model, folder: Path, resume: bool) -> dict[str, Any]:
    """A search that is saved before every level; or the code of the error that it ends with."""
    checkpoints._SHARE = 0
    options = CheckOptions(
        keep_going=True, liveness=False, threads=1, checkpoint_every=0.0,
        checkpoint=str(folder), resume=resume, engine="native",
    )  # fmt: skip
    try:
        return outcome(search(model, options))
    except RunError as error:
        return {"code": error.code, "text": str(error)}


def child(do: Callable[[], dict[str, Any]]) -> tuple[int, Any]:
    """Start a process that does something; its number, and the pipe that tells what came of it."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    os.close(read)
    try:
        found = do()
    except BaseException as error:
        found = {"code": f"{type(error).__name__}: {error}"}
    with os.fdopen(write, "w") as pipe:
        pipe.write(json.dumps(found))
    os._exit(0)


def ended(pid: int, read: int, kill_after: float = TOO_LONG) -> dict[str, Any]:
    """Return what a child tells; it is killed after a while. Empty where it died."""
    started = time.monotonic()
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() - started > kill_after:
            os.kill(pid, signal.SIGKILL)
            break
        time.sleep(0.002)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


# -- disturbances ----------------------------------------------------------------------------------


def each_operation(then: Callable[[int, str, Callable[[], Any]], Any]) -> None:
    """Let every operation on a checkpoint's files pass through a function: number, file, and what
    does it.
    """
    calls = iter(range(1 << 30))
    write, replace, unlink, sync = (
        manifests.write_arrays, os.replace, Path.unlink, os.fsync,
    )  # fmt: skip

    def wrapped(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **given: Any) -> Any:
            file = str(arguments[0])
            return then(next(calls), file, lambda: original(*arguments, **given))

        return call

    checkpoints.write_arrays = wrapped(write)  # type: ignore[attr-defined]
    os.replace = wrapped(replace)
    os.fsync = wrapped(sync)
    Path.unlink = wrapped(unlink)  # type: ignore[method-assign]


def dying(at: int, how: str) -> Disturb:
    """The end of the process at an operation."""

    def then(number: int, file: str, do: Callable[[], Any]) -> Any:
        if number < at:
            return do()
        if how != "before":
            do()
        if how == "torn" and os.path.isfile(file):
            os.truncate(file, os.path.getsize(file) // 2)
        os._exit(1)

    return lambda: each_operation(then)


def failing(first: int, last: int, number: int) -> Disturb:
    """A disk on which operations fail for a while."""

    def then(at: int, file: str, do: Callable[[], Any]) -> Any:
        if first <= at < last:
            raise OSError(number, os.strerror(number))
        return do()

    return lambda: each_operation(then)


def limited(size: int) -> Disturb:
    """Files that cannot be larger."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def counted(folder: Path, model: Model) -> int:
    """Return how many operations an undisturbed search makes."""
    seen: list[int] = []

    def then(number: int, file: str, do: Callable[[], Any]) -> Any:
        seen.append(number)
        return do()

    def do() -> dict[str, Any]:
        each_operation(then)
        explored(model, folder, resume=False)
        return {"n": len(seen)}

    return int(ended(*child(do))["n"])


# -- trials ----------------------------------------------------------------------------------------


def begin(
    model: Model, folder: Path, disturb: Disturb | None = None, seconds: float = TOO_LONG,
    resume: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """A search in a child, perhaps disturbed."""

    def do() -> dict[str, Any]:
        if disturb is not None:
            disturb()
        return explored(model, folder, resume)

    return ended(*child(do), seconds)


def resumed(case: Case, folder: Path) -> dict[str, Any]:
    """The search gone on with, begun anew where nothing was saved, as the command does."""
    found = begin(case.model, folder, resume=True)
    return begin(case.model, folder) if found.get("code") == "SW340" else found


def half(case: Case, folder: Path, dice: random.Random) -> None:
    """A search that died on its way, later than its first two commits."""
    at = dice.randrange(case.operations // 4, case.operations)
    begin(case.model, folder, dying(at, "after"))


def die(case: Case, folder: Path, dice: random.Random) -> dict[str, Any]:
    """See the module."""

    def how() -> Disturb:
        return dying(dice.randrange(case.operations), dice.choice(["before", "after", "torn"]))

    begin(case.model, folder, how())
    if dice.random() < 0.5:
        begin(case.model, folder, how(), resume=True)
    return resumed(case, folder)


def kill(case: Case, folder: Path, dice: random.Random) -> dict[str, Any]:
    """See the module."""
    begin(case.model, folder, seconds=dice.uniform(0, case.seconds))
    if dice.random() < 0.5:
        begin(case.model, folder, seconds=dice.uniform(0, case.seconds), resume=True)
    return resumed(case, folder)


def damage(kind: str) -> Callable[[Case, Path, random.Random], dict[str, Any]]:
    """A trial in which files change between two processes."""

    def change(file: Path, dice: random.Random) -> None:
        data = bytearray(file.read_bytes())
        if kind == "delete":
            file.unlink()
        elif kind == "cut":
            file.write_bytes(data[: dice.randrange(len(data))])
        else:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            file.write_bytes(data)

    def trial(case: Case, folder: Path, dice: random.Random) -> dict[str, Any]:
        half(case, folder, dice)
        files = sorted(p for p in folder.iterdir() if p.stat().st_size)
        for file in dice.sample(files, min(len(files), dice.choice([1, 1, 2]))):
            change(file, dice)
        return resumed(case, folder)

    return trial


def swap(case: Case, folder: Path, dice: random.Random) -> dict[str, Any]:
    """See the module."""
    half(case, folder, dice)
    one, two = dice.sample(sorted(folder.iterdir()), 2)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    return resumed(case, folder)


def foreign(case: Case, folder: Path, dice: random.Random) -> dict[str, Any]:
    """See the module."""
    half(case, folder, dice)
    other = folder.with_name(f"{folder.name}-other")
    half(replaced(case, dice.choice([case.model, case.other])), other, dice)
    theirs = sorted(p for p in other.iterdir() if (folder / p.name).exists())
    for file in dice.sample(theirs, min(len(theirs), dice.choice([1, 1, 2, 99]))):
        shutil.copy(file, folder)
    return resumed(case, folder)


def replaced(case: Case, model: Model) -> Case:
    """The case with another model to begin with."""
    return Case(model, case.other, {}, case.seconds, case.operations)


def ill(kind: str) -> Callable[[Case, Path, random.Random], dict[str, Any]]:
    """A trial in which nothing can be written for a while: the search has to end all the same."""

    def trial(case: Case, folder: Path, dice: random.Random) -> dict[str, Any]:
        first = dice.randrange(case.operations)
        last = dice.choice([first + 1, first + dice.randrange(1, 20), 1 << 30])
        number = errno.EROFS if kind == "readonly" else dice.choice([errno.ENOSPC, errno.EDQUOT])
        if kind == "limit":
            found = begin(case.model, folder, limited(dice.randrange(1 << 16)))
        else:
            found = begin(case.model, folder, failing(first, last, number))
        if found != case.expected:
            return found
        return resumed(case, folder)

    return trial


def writers(case: Case, folder: Path, dice: random.Random) -> dict[str, Any]:
    """See the module."""
    models = [case.model, dice.choice([case.model, case.other])]
    dice.shuffle(models)
    running = []
    for model in models:
        running.append(child(lambda model=model: explored(model, folder, resume=False)))  # type: ignore[misc]
        time.sleep(dice.choice([0.0, 0.01, 0.05]))
    for pid, read in running:
        ended(pid, read, dice.uniform(0, case.seconds))
    return resumed(case, folder)


KINDS: dict[str, Callable[[Case, Path, random.Random], dict[str, Any]]] = {
    "kill": kill,
    "die": die,
    "flip": damage("flip"),
    "cut": damage("cut"),
    "delete": damage("delete"),
    "swap": swap,
    "foreign": foreign,
    "full": ill("full"),
    "limit": ill("limit"),
    "readonly": ill("readonly"),
    "writers": writers,
}


def judged(kind: str, expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Return how a trial ended: exact, clear, or what is wrong.

    Crashes alone never cost a search.
    """
    if found == expected:
        return "exact"
    code = found.get("code") or "another result"
    if code in CLEAR and kind not in ("kill", "die", "full", "limit", "readonly"):
        return "clear"
    return f"WRONG: {code} {found.get('text', '')}"


def prepared(folder: Path, spec: str, own: dict[str, Any], other: dict[str, Any]) -> Case:
    """A case, its kernels compiled and its undisturbed result known."""
    model = load(ROOT / spec, own)
    explored(model, folder / "first", resume=False)
    started = time.monotonic()
    expected = begin(model, folder / "whole")
    seconds = time.monotonic() - started
    return Case(model, load(ROOT / spec, other), expected, seconds, counted(folder / "n", model))


def trials(
    cases: list[Case], kinds: list[str], times: int, seed: int, folder: Path
) -> dict[str, Counter[str]]:
    """All trials: by kind, how many ended how."""
    result: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    for kind in kinds:
        for number in range(times):
            case = cases[number % len(cases)]
            dice = random.Random(f"{seed} {kind} {number}")
            place = folder / f"{kind}-{number}"
            said = judged(kind, case.expected, KINDS[kind](case, place, dice))
            result[kind][said.partition(":")[0]] += 1
            if said.startswith("WRONG"):
                print(f"{kind} {number}: {said}", flush=True)
            else:
                for used in folder.glob(f"{kind}-{number}*"):
                    shutil.rmtree(used)
        print(line(kind, result[kind]), flush=True)
    return result


def line(name: str, counter: Counter[str]) -> str:
    """Return how many trials ended how."""
    return f"{name:<10}" + "".join(f"{counter[n]:>6} {n}" for n in ("exact", "clear", "WRONG"))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=30, help="trials of each kind (30)")
    parser.add_argument("--seed", type=int, default=1, help="of the random choices (1)")
    parser.add_argument(
        "--kind", choices=list(KINDS), action="append", help="only this; repeatable"
    )
    arguments = parser.parse_args()
    kinds = arguments.kind or list(KINDS)
    with tempfile.TemporaryDirectory(prefix="statewalk-chaos-") as name:
        alike = Path(name, "alike.py")
        alike.write_text(ALIKE)
        about = [(str(alike), {"K": 1}, {"K": 2}), *CONSTANTS]
        cases = [prepared(Path(name, str(n)), *case) for n, case in enumerate(about)]
        for case in cases:
            found = f"{case.expected['verdict']}, {case.expected['counts']}"
            print(f"{case.model.path}: {found}, {case.operations} operations on files", flush=True)
        ended_how = trials(cases, kinds, arguments.times, arguments.seed, Path(name))
    total: Counter[str] = sum(ended_how.values(), Counter())
    print(line("together", total))
    sys.exit(1 if total["WRONG"] else 0)


if __name__ == "__main__":
    main()
