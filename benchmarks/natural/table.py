"""Measure specs as people write them beside the same search in plain Python, and beside TLC.

    python benchmarks/natural/table.py [--rounds 3] [--only raft] [--limit 60] [--large]
    python benchmarks/natural/table.py --tlc tla2tools.jar     # or TLA2TOOLS=tla2tools.jar

Each round runs every program of every row once, one after the other. Figures are the CPU seconds
(user and system) of whole processes, as medians over the rounds. T is what statewalk takes for
two-phase commit with 9 managers in the same run. Ratios are taken within a round. The script fails
if the programs of a row do not count the same states, transitions and levels.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLAIN, STATEWALK, TLC = "plain Python", "statewalk", "TLC"
Counts = tuple[int, int, int]  # distinct states, generated states, depth


@dataclass(frozen=True)
class Row:
    """A spec with its constants, the twin in plain Python and the TLA+ module that belong to it."""

    name: str
    spec: str  # below the repository's folder
    constants: dict[str, int] = field(default_factory=dict)
    twin: str | None = None
    module: str | None = None
    config: str | None = None
    large: bool = False
    known: tuple[int, ...] = ()  # its counts, as far as they are recorded


NATURAL = "benchmarks/natural"
UNIT = Row(
    "two-phase commit with 9 managers",
    "models/toys/two_phase_commit.py",
    {"RMS": 9},
    known=(10_340_352, 123_558_402, 29),
)
RAFT = {"SERVERS": 3, "MAX_TERM": 2, "MAX_LOG": 1}
GROUP = {"CLIENTS": 2, "PERTURBATIONS": 0}
PAXOS = {"ACCEPTORS": 3, "VALUES": 2, "BALLOTS": 3}
CHAIN = {"NODES": 3, "WRITES": 2}
CACHES = {"CACHES": 4, "VALUES": 2}
LOCKS = {"CLIENTS": 2, "SESSIONS": 2, "TOKENS": 3}
VIEWS = {"REPLICAS": 3, "MAX_VIEW": 2, "MAX_LOG": 1}
ROWS = (
    UNIT,
    Row("Raft", f"{NATURAL}/raft.py", RAFT, "raft_plain.py", "Raft"),
    Row("Raft, pointwise", f"{NATURAL}/raft_pointwise.py", RAFT, "raft_plain.py"),
    Row("Paxos, 3 ballots", "specs/examples/consensus/paxos.py", PAXOS, "paxos_plain.py", "Paxos"),
    Row("CRDT, up to 2", f"{NATURAL}/crdt.py", {"NODES": 3, "TOP": 2}, "crdt_plain.py", "Crdt"),
    Row("CRDT, up to 3", f"{NATURAL}/crdt.py", {"NODES": 3, "TOP": 3}, "crdt_plain.py", "Crdt"),
    Row("KIP-848, 1 topic", f"{NATURAL}/kip848.py", {**GROUP, "TOPICS": 1}, "kip848_plain.py"),
    Row("KIP-848, 2 topics", f"{NATURAL}/kip848.py", {**GROUP, "TOPICS": 2}, "kip848_plain.py"),
    Row("lock service", f"{NATURAL}/locks.py", LOCKS, "locks_plain.py", "Locks"),
    Row("chain replication", f"{NATURAL}/chain.py", CHAIN, "chain_plain.py", "Chain"),
    Row("view change", f"{NATURAL}/viewchange.py", VIEWS, "viewchange_plain.py", "ViewChange"),
    Row("MSI caches", f"{NATURAL}/msi.py", CACHES, "msi_plain.py", "Msi"),
    Row(
        "Raft, logs of 2", f"{NATURAL}/raft.py", {**RAFT, "MAX_LOG": 2}, module="Raft", large=True,
        known=(7_686_107, 86_408_014),
    ),
    Row("KIP-848, perturbed", f"{NATURAL}/kip848.py", config="tlc", large=True),
)  # fmt: skip


def commands(row: Row, folder: Path, jar: Path | None) -> dict[str, list[str]]:
    """Return the commands that search the states of a row, by program."""
    found = {}
    if row.twin:
        given = [f"{name}={value}" for name, value in row.constants.items()]
        found[PLAIN] = [sys.executable, str(HERE / row.twin), *given]
    given = [word for name, value in row.constants.items() for word in ("--set", f"{name}={value}")]
    given += ["--config", row.config] if row.config else []
    words = ["-P", "-m", "statewalk", "check", str(ROOT / row.spec), *given]
    found[STATEWALK] = [sys.executable, *words, "--threads", "1", "--no-liveness", "--json", "-"]
    if row.module and jar:
        found[TLC] = tlc(row.module, row.constants, folder, jar)
    return found


def tlc(module: str, constants: dict[str, int], folder: Path, jar: Path) -> list[str]:
    """Write the files of TLC to a folder, and return the command: one worker."""
    text = (HERE / f"{module}.tla").read_text(encoding="utf-8")
    (folder / f"{module}.tla").write_text(text, encoding="utf-8")
    name = "-".join([module, *map(str, constants.values())])
    lines = ["SPECIFICATION Spec", "INVARIANT Correct"]
    lines += [f"CONSTANT {constant} = {value}" for constant, value in constants.items()]
    lines += ["CONSTRAINT Small"] if "\nSmall ==" in text else []
    lines += ["PROPERTY Step"] if "\nStep ==" in text else []
    (folder / f"{name}.cfg").write_text("\n".join(lines) + "\n", encoding="utf-8")
    java = ["java", "-XX:+UseParallelGC", "-cp", str(jar), "tlc2.TLC", "-workers", "1"]
    return [*java, "-deadlock", "-config", f"{name}.cfg", f"{module}.tla"]


def counts(text: str) -> Counts:
    """Return the counts that a program printed."""
    if text.startswith("{"):
        result = json.loads(text)
        cut = [w for w in result["warnings"] if w.startswith("bounded: ")]
        if any(not w.startswith("bounded: constraint ") for w in cut):
            raise SystemExit(f"{result['spec']}: not searched to the end: {cut}")
        found = result["counts"]
        return found["distinct"], found["generated"], found["depth"]
    if plain := re.search(r"distinct (\d+) generated (\d+) depth (\d+)", text):
        distinct, generated, depth = map(int, plain.groups())
    elif "No error has been found" in text:
        (generated, distinct), *_ = re.findall(r"^(\d+) states generated, (\d+)", text, re.M)
        (depth,) = re.findall(r"graph search is (\d+)", text)
    else:
        raise SystemExit(f"no counts in this output:\n{text}")
    return int(distinct), int(generated), int(depth)


def run(command: Sequence[str], folder: Path, limit: int | None) -> tuple[float, Counts | None]:
    """Return the CPU seconds that a command took and its counts: None if it hit the limit."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    with open(folder / "out", "w+", encoding="utf-8") as out, open(folder / "err", "w+b") as err:
        child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, preexec_fn=limited)  # noqa: PLW1509  (one thread)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
        seconds = used.ru_utime + used.ru_stime
        # A process of statewalk's own does the search, and the result says how that one ended.
        killed = child.returncode < 0 or '"bounded: a crash (SIG' in text
        if limit is not None and killed and seconds >= limit - 1:
            return seconds, None
        if child.returncode not in (0, 3):  # 3: searched as far as a constraint lets
            err.seek(0)
            said = text + err.read().decode(errors="replace")
            raise SystemExit(f"failed with exit code {child.returncode}: {command}\n{said}")
    return seconds, counts(text)


@dataclass
class Measured:
    """The times of a row's programs in each round, and their counts."""

    row: Row
    seconds: dict[str, list[float]] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)  # programs that hit the limit
    counts: Counts | None = None

    def add(self, program: str, seconds: float, counted: Counts | None) -> None:
        """Keep the figures of a run; raise SystemExit if its counts differ from those before."""
        self.seconds.setdefault(program, []).append(seconds)
        if counted is None:
            self.stopped.add(program)
            return
        known = self.counts or self.row.known
        if counted[: len(known)] != known:
            raise SystemExit(f"{self.row.name}: {program} counts {counted}, not {known}")
        self.counts = counted

    def shown(self, program: str) -> str:
        """Return the median CPU time of a program."""
        if program not in self.seconds:
            return ""
        if program in self.stopped:
            return f"> {max(self.seconds[program]):.0f}"
        return f"{median(self.seconds[program]):.2f}"

    def ratio(self, base: Measured, program: str) -> str:
        """Return the median of statewalk's time divided by that of a program of a row."""
        if program not in base.seconds or program in base.stopped:
            return ""
        pairs = zip(self.seconds[STATEWALK], base.seconds[program], strict=False)
        sign = "> " if STATEWALK in self.stopped else ""
        return f"{sign}{median(ours / theirs for ours, theirs in pairs):.2f}"


def measure(rows: list[Row], rounds: int, limit: int | None, jar: Path | None) -> list[Measured]:
    """Run all programs of all rows in turn, as often as there are rounds."""
    measured = [Measured(row) for row in rows]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n in range(rounds):
            for one in measured:
                for program, command in commands(one.row, folder, jar).items():
                    if program in one.stopped or (one.row.large and n > 0):
                        continue
                    bound = None if one.row.large else limit
                    one.add(program, *run(command, folder, bound))
                    said = (
                        f"round {n + 1}: {one.row.name}, {program}: {one.seconds[program][-1]:.2f}"
                    )
                    print(said, file=sys.stderr, flush=True)
    return measured


def show(measured: list[Measured]) -> None:
    """Print the table."""
    unit = measured[0]
    print("| spec | states · generated · depth | plain Python | statewalk | ratio | in T | TLC |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for one in measured:
        counted = (
            " · ".join(f"{n:,}" for n in one.counts) if one.counts else "not searched to the end"
        )
        figures = [one.shown(PLAIN), one.shown(STATEWALK), one.ratio(one, PLAIN)]
        figures += [one.ratio(unit, STATEWALK), one.shown(TLC)]
        print(f"| {' | '.join([one.row.name, counted, *figures])} |")


def jar_of(given: str | None) -> Path | None:
    """Return the path of TLC's jar; print what is missing, if anything is."""
    if not given:
        print("TLC: not run, because there is no tla2tools.jar: give --tlc FILE or set TLA2TOOLS")
    elif not shutil.which("java"):
        print("TLC: not run, because there is no `java`")
    elif not Path(given).is_file():
        raise SystemExit(f"there is no file {given}: give the path of tla2tools.jar")
    else:
        return Path(given).resolve()
    return None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program (3)")
    parser.add_argument(
        "--only", action="append", metavar="WORD", help="rows whose name has a word"
    )
    parser.add_argument("--large", action="store_true", help="rows of minutes too, once each")
    parser.add_argument(
        "--limit", type=int, metavar="S", help="CPU seconds that a process may take"
    )
    parser.add_argument(
        "--tlc", metavar="FILE", default=os.environ.get("TLA2TOOLS"), help="TLC's tla2tools.jar"
    )
    asked = parser.parse_args()
    words = [word.lower() for word in asked.only or [""]]
    rows = [row for row in ROWS if asked.large or not row.large]
    rows = [r for r in rows if r is UNIT or any(word in r.name.lower() for word in words)]
    measured = measure(rows, asked.rounds, asked.limit, jar_of(asked.tlc))
    print(f"CPU seconds of whole processes, medians of {asked.rounds} round(s); 1 thread\n")
    show(measured)


if __name__ == "__main__":
    main()
