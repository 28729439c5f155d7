"""Two-phase commit beside a C++ program with the same duties, and beside SPIN.

    python benchmarks/beside.py [--managers 9] [--rounds 5] [--threads 1] [--spin]
    python benchmarks/beside.py --guard     # part of `make bench`: fails where a ratio got worse
    python benchmarks/beside.py --record    # keep the ratios that were measured, for the guard

`benchmarks/two_phase/search.cpp` is compiled where it runs, so that a ratio to it says the same
on any machine, as seconds do not. Every round runs each program once, one after the other; the
ratio is the median of those of the rounds. A C++ compiler is needed; for --spin also `spin` and a C
compiler.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from benchmarks.run import TWO_PHASE, Usage, machine, run  # noqa: E402  (after the path)

PROGRAMS = HERE / "two_phase"
RECORDED = HERE / "ratios.json"
WORSE = 1.15  # of a recorded ratio: what the guard lets pass
_SPIN = (("depth first", ("-DSAFETY",)), ("breadth first", ("-DSAFETY", "-DBFS")))


def compiled(folder: Path, managers: int) -> list[str]:
    """The command of the C++ program, which was compiled."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise SystemExit("benchmarks/beside.py needs a C++ compiler: c++, g++ or clang++")
    out = str(folder / "search")
    options = ["-O3", "-march=native", f"-DRMS={managers}", "-o", out]
    subprocess.run([compiler, *options, str(PROGRAMS / "search.cpp")], check=True)
    return [out]


def spins(folder: Path, managers: int) -> dict[str, list[str]]:
    """The commands of SPIN's verifiers; none, saying so, where there is no SPIN."""
    if not shutil.which("spin") or not shutil.which("cc"):
        print("SPIN: not run, as there is no `spin` (Debian: apt-get install spin) or no `cc`")
        return {}
    commands = {}
    for name, options in _SPIN:
        place = folder / name.replace(" ", "_")
        place.mkdir()
        model = str(PROGRAMS / "search.pml")
        subprocess.run(["spin", "-a", f"-DRMS={managers}", model], cwd=place, check=True)
        words = ["cc", "-O2", "-w", "-DNOREDUCE", *options, "pan.c", "-o", "pan"]
        subprocess.run(words, cwd=place, check=True)
        commands[f"SPIN, {name}"] = [str(place / "pan"), "-m10000", "-w24"]
    return commands


def ours(managers: int, threads: int) -> list[str]:
    """The command of statewalk's check. Without --out, which saves checkpoints: no other does."""
    words = ["check", str(HERE.parent / TWO_PHASE), f"--set=RMS={managers}", "--engine=native"]
    words += [f"--threads={threads}", "--no-liveness"]
    return [sys.executable, "-P", "-m", "statewalk", *words]


def counts(command: Sequence[str], folder: Path) -> tuple[int, ...]:
    """The states and the steps that a program says it saw, in 8 digits: SPIN prints no more."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    text = done.stdout
    number = r"([\d,.e+]+)"
    for pattern in (
        rf"distinct {number} generated {number}",
        rf"{number} distinct states · {number} generated",
        rf"{number} states, stored[\s\S]*?{number} transitions",
        rf"{number} nominal states[\s\S]*?{number} transitions",
    ):
        if found := re.search(pattern, text):
            numbers = (float(one.replace(",", "")) for one in found.groups())
            return tuple(int(float(f"{one:.8g}")) for one in numbers)
    raise SystemExit(f"no counts from {command[0]}:\n{text}")


def measure(commands: dict[str, list[str]], rounds: int, folder: Path) -> dict[str, list[Usage]]:
    """Return what each program, started in a folder, took in rounds of all of them. The counts have
    to be the same.
    """
    seen = {name: counts(command, folder) for name, command in commands.items()}
    if len(set(seen.values())) != 1:
        raise SystemExit(f"the programs do not count the same: {seen}")
    print("{:,} distinct states, {:,} generated, in each".format(*next(iter(seen.values()))))
    used: dict[str, list[Usage]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            used[name].append(run(command, folder))
    return used


def ratios(used: list[Usage], base: list[Usage]) -> dict[str, float]:
    """The median ratio of CPU time, wall time and memory."""
    pairs = list(zip(used, base, strict=True))
    return {
        "cpu": median(a.cpu / b.cpu for a, b in pairs),
        "wall": median(a.wall / b.wall for a, b in pairs),
        "memory": median(a.memory / b.memory for a, b in pairs),
    }


def show(used: dict[str, list[Usage]], base: str) -> None:
    """A table of medians, with ratios to one of the programs."""
    print("| program | CPU s | wall s | peak MB | CPU, ratio | least–most | wall, ratio |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for name, usages in used.items():
        each = [a.cpu / b.cpu for a, b in zip(usages, used[base], strict=True)]
        found = ratios(usages, used[base])
        cpu, wall = median(u.cpu for u in usages), median(u.wall for u in usages)
        print(
            f"| {name} | {cpu:.2f} | {wall:.2f} | {max(u.memory for u in usages) / 1e6:,.0f} "
            f"| {found['cpu']:.2f} | {min(each):.2f}–{max(each):.2f} | {found['wall']:.2f} |"
        )


def kept() -> dict[str, dict[str, float]]:
    """The recorded ratios by case."""
    if not RECORDED.exists():
        return {}
    recorded: dict[str, dict[str, float]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return recorded


def guard(found: dict[str, float], case: str) -> None:
    """Compare with what was recorded; raises SystemExit where a ratio got worse."""
    recorded = kept().get(case)
    if recorded is None:
        raise SystemExit(f"nothing is recorded of {case}: run with --record")
    worse = []
    for name in ("cpu", "memory"):
        print(f"{name}: {found[name]:.2f} times the C++ program's; recorded {recorded[name]:.2f}")
        if found[name] > WORSE * recorded[name]:
            worse.append(f"{name} {found[name] / recorded[name] - 1:+.0%}")
    if worse:
        raise SystemExit(f"{case}: worse than recorded by more than 15 %: {', '.join(worse)}")


def record(found: dict[str, float], case: str) -> None:
    """Keep the ratios of a case."""
    every = {**kept(), case: {name: round(found[name], 2) for name in ("cpu", "memory")}}
    RECORDED.write_text(json.dumps(every, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--managers", type=int, default=9, choices=range(3, 11))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--spin", action="store_true", help="SPIN too, depth and breadth first")
    parser.add_argument("--guard", action="store_true", help="fail where a ratio got worse")
    parser.add_argument("--record", action="store_true", help="keep the ratios, for --guard")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = {
            "C++, the same duties": compiled(folder, asked.managers),
            "statewalk": ours(asked.managers, asked.threads),
            **(spins(folder, asked.managers) if asked.spin else {}),
        }
        used = measure(commands, asked.rounds, folder)
    print(f"{machine()}; {asked.threads} thread(s), medians of {asked.rounds} rounds\n")
    show(used, "C++, the same duties")
    found = ratios(used["statewalk"], used["C++, the same duties"])
    case = f"two-phase commit, {asked.managers} managers, {asked.threads} thread(s)"
    if asked.record:
        record(found, case)
    if asked.guard:
        guard(found, case)


if __name__ == "__main__":
    main()
