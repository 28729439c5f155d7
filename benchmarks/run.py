"""Measure whole checks: `make bench`, or with options: `python benchmarks/run.py --help`.

Every round starts a process of its own, so that importing and loading kernels count. CPU seconds
are user + system of that process; memory is the most it had resident. Kernels and Python's modules
are compiled and cached by a small check beforehand.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "explanation" / "benchmarks.md"
MARK = "<!-- results: written by benchmarks/run.py --write -->"


@dataclass(frozen=True)
class Case:
    """A spec and the constants to check it with; ``large`` cases run when asked for, and once."""

    name: str
    spec: str
    constants: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    large: bool = False

    @property
    def shown(self) -> str:
        """The name, with what is special about how it was measured."""
        return self.name + (" (once)" if self.large else "")

    def command(self) -> list[str]:
        """The words after ``statewalk``."""
        pairs = [word for constant in self.constants for word in ("--set", constant)]
        return ["check", self.spec, *pairs, *self.options]


TWO_PHASE, INIT_PID = "models/toys/two_phase_commit.py", "models/kafka/init_pid.py"
CASES = (
    Case("two-phase commit, 7 managers", TWO_PHASE, ("RMS=7",)),
    Case("two-phase commit, 8 managers", TWO_PHASE, ("RMS=8",)),
    Case("two-phase commit, 9 managers", TWO_PHASE, ("RMS=9",)),
    Case("two-phase commit, 10 managers", TWO_PHASE, ("RMS=10",), large=True),
    Case("the orbits of 20 managers", TWO_PHASE, ("RMS=20",), ("--symmetry", "on")),
    Case("Kafka InitPid, 2 clients, 2 brokers", INIT_PID),
    Case("Kafka InitPid, 4 clients, 2 brokers", INIT_PID, ("CLIENTS=4",)),
    Case("Kafka InitPid, 5 clients, 2 brokers", INIT_PID, ("CLIENTS=5",)),
    Case(
        "the same as .fizz text, 4 clients, 2 brokers",
        "specs/kafka/init_pid.fizz",
        ("CLIENTS=4", "BROKERS=2"),
    ),
    Case(
        "Kafka transactions, 2 elections",
        "models/kafka/transactions.py",
        ("MAX_ELECTIONS=2",),
    ),
    Case("Paxos Commit", "specs/examples/commit/paxos_commit.py"),
)

# The setting in which the public Paimon spec's README finds dangling deletion vectors.
PAIMON = (
    "NUM_WRITERS=1", "NUM_COMPACTORS=2", "NUM_PARTITIONS=1", "NUM_BUCKETS=1", "MAX_LEVEL=3",
    "PUT_IF_ABSENT=True", "USE_LOCK=False", "DV_ENABLED=True", "ONE_WRITER_PER_BUCKET=False",
    "ALLOW_UPDATES=True", "ALLOW_DELETES=False", "MAX_WRITE_OPS=2", "MAX_WRITE_OPS_PER_KEY=2",
    "MAX_WRITE_OPS_PER_WRITER=2", "MAX_COMPACTIONS=3", "MAX_COMPACTIONS_PER_COMPACTOR=2",
    "PkCol1Values=['jack']", "Col2Values=['red','blue']", "Col3Values=['A']",
)  # fmt: skip


def all_cases(paimon: str | None) -> list[Case]:
    """The cases; with the file of the public Paimon spec, that too."""
    if not paimon:
        return [*CASES]
    name = "Paimon, the public .fizz spec"
    whole = Case(f"{name}, whole space", paimon, PAIMON, ("--keep-going",), large=True)
    return [*CASES, Case(f"{name}, to the violation", paimon, PAIMON), whole]


# Compiled modules are kept, as they are for everybody who installs the package.
_ENVIRONMENT = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True)
class Usage:
    """The resources that one process took. Times in seconds, memory in bytes."""

    cpu: float
    wall: float
    memory: int
    code: int


@dataclass(frozen=True)
class Measured:
    """The medians of a case's rounds, and the figures of its search."""

    case: Case
    cpu: float
    wall: float
    memory: int
    figures: dict[str, float]


def run(command: Sequence[str], folder: Path = ROOT) -> Usage:
    """Run a command in a folder and wait for it; its output is thrown away."""
    started = time.perf_counter()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        child = subprocess.Popen(
            command, cwd=folder, env=_ENVIRONMENT, stdout=nowhere, stderr=nowhere
        )
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    scale = 1 if sys.platform == "darwin" else 1024
    cpu = used.ru_utime + used.ru_stime
    return Usage(cpu, wall, used.ru_maxrss * scale, child.returncode)


def measure(case: Case, rounds: int, threads: int) -> Measured:
    """Check a case several times."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "statewalk", *case.command()]
        command += ["--engine", "native", "--threads", str(threads), "--no-liveness", "--out", out]
        usages = [run(command) for _ in range(1 if case.large else rounds)]
    if any(usage.code not in (0, 1, 3) for usage in usages):
        raise SystemExit(f"{case.name}: the check failed: {shlex.join(command)}")
    return Measured(
        case,
        median(usage.cpu for usage in usages),
        median(usage.wall for usage in usages),
        max(usage.memory for usage in usages),
        figures(case, threads),
    )


def figures(case: Case, threads: int) -> dict[str, float]:
    """Counts and the engine's own figures, from one more search in a process of its own."""
    command = [sys.executable, __file__, "--figures", case.name, "--threads", str(threads)]
    if case.constants is PAIMON:
        command += ["--paimon", case.spec]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(text)
    return found


def print_figures(case: Case, threads: int) -> None:
    """The child's part of `figures`."""
    sys.path.insert(0, str(ROOT))
    from statewalk.checker import native
    from statewalk.checker.contract.search import SearchOptions
    from statewalk.dsl.loader import load

    texts = dict(constant.split("=", 1) for constant in case.constants)
    constants = {name: ast.literal_eval(text) for name, text in texts.items()}
    options = SearchOptions(
        threads=threads,
        keep_going="--keep-going" in case.options,
        symmetry="--symmetry" in case.options,
    )
    found = native.explore(load(str(ROOT / case.spec), constants), options)
    wanted = ("evaluations", "hit_rate", "learning_seconds")
    statistics = {name: found.statistics[name] for name in wanted}
    counts = found.counts
    about = {"distinct": counts.distinct, "generated": counts.generated, "depth": counts.depth}
    print(json.dumps({**about, **statistics, "seconds": found.seconds}))


COLUMNS = ("spec", "distinct", "generated", "CPU s", "peak MB", "evaluations", "hit rate")


def row(measured: Measured) -> tuple[str, ...]:
    """A row of the table."""
    f = measured.figures
    return (
        measured.case.shown,
        f"{f['distinct']:,}",
        f"{f['generated']:,}",
        f"{measured.cpu:.2f}",
        f"{measured.memory / 1e6:,.0f}",
        f"{f['evaluations']:,}",
        f"{f['hit_rate']:.3%}",
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [COLUMNS, tuple("---" if i == 0 else "--:" for i in range(len(COLUMNS))), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine() -> str:
    """The machine in a line."""
    name = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return f"{name}, {os.cpu_count()} CPUs, {platform.system()}, Python {platform.python_version()}"


def write(text: str) -> None:
    """Replace the results in the documentation."""
    page = RESULTS.read_text(encoding="utf-8")
    head, mark, after = page.partition(MARK)
    rest = re.search(r"^## .*", after, re.MULTILINE | re.DOTALL)
    shown = f"{head}{mark}\n\n{text}\n"
    RESULTS.write_text(shown + (f"\n{rest[0]}" if rest else ""), encoding="utf-8")


def compare(measured: Measured, command: str, rounds: int) -> str:
    """Another checker's command beside ours, as ratios."""
    usages = [run(shlex.split(command)) for _ in range(rounds)]
    cpu, wall = median(u.cpu for u in usages), median(u.wall for u in usages)
    memory = max(usage.memory for usage in usages)
    return (
        f"{measured.case.name}: {command}\n"
        f"  CPU {cpu:.2f} s ({cpu / measured.cpu:.1f}x ours), wall {wall:.2f} s "
        f"({wall / measured.wall:.1f}x), peak {memory / 1e6:,.0f} MB "
        f"({memory / measured.memory:.1f}x), exit code {usages[-1].code}"
    )


def histories() -> str:
    """The table of benchmarks/history.py, for Markdown."""
    command = [sys.executable, str(ROOT / "benchmarks" / "history.py")]
    lines = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if child.returncode:
        raise SystemExit("benchmarks/history.py failed")
    return f"Command: `python benchmarks/history.py`.\n\n```\n{''.join(lines)}```"


def arguments() -> argparse.Namespace:
    """Return what was asked on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--case", help="only the cases whose name contains this")
    parser.add_argument("--rounds", type=int, default=3, help="processes per case (median)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="also what takes long, once each")
    parser.add_argument("--against", metavar="CMD", help="run this command too, print ratios")
    parser.add_argument("--paimon", metavar="FILE", help="the public paimon.fizz, to check it too")
    parser.add_argument("--histories", action="store_true", help="benchmarks/history.py as well")
    parser.add_argument("--write", action="store_true", help="put the table in benchmarks.md")
    parser.add_argument("--figures", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    asked = arguments()
    if asked.figures:
        (case,) = (c for c in all_cases(asked.paimon) if c.name == asked.figures)
        print_figures(case, asked.threads)
        return
    chosen = [case for case in all_cases(asked.paimon) if (asked.case or "") in case.name]
    chosen = [c for c in chosen if (asked.large or not c.large) and (ROOT / c.spec).exists()]
    for spec in (TWO_PHASE, "specs/toys/two_phase_commit.fizz"):
        warm = Case("warm-up", spec, ("RMS=2",) if spec == TWO_PHASE else ())
        run([sys.executable, "-m", "statewalk", *warm.command(), "--engine", "native"])
    rows = []
    for case in chosen:
        measured = measure(case, asked.rounds, asked.threads)
        rows.append(row(measured))
        print(" | ".join(rows[-1]), flush=True)
        if asked.against:
            print(compare(measured, asked.against, asked.rounds), flush=True)
    about = f"{machine()}; {asked.threads} thread(s), median of {asked.rounds} processes."
    text = f"{about}\nCommand: `python benchmarks/run.py --rounds {asked.rounds}`.\n\n{table(rows)}"
    print("\n" + text)
    if asked.histories:
        text += f"\n\n### Recorded histories\n\n{histories()}"
    if asked.write:
        write(text)


if __name__ == "__main__":
    main()
