"""Kill parts of a Spark run at random and compare the results: `make chaos`.

Starts a standalone cluster on the loopback interface, one master and two workers, each with one
executor. Then checks a spec again and again while something is killed with SIGKILL at a random
moment of the distributed part of the search:

    executor   an executor's JVM; the worker starts another
    worker     a worker and its executor; the rest of the search runs on the other one
    driver     the check itself; `statewalk resume` goes on

Every result is compared with the native engine's: counts, transitions per action, verdicts, and the
traces step by step. `python benchmarks/chaos.py --help` lists the options.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from statewalk.checker.spark.session.java import find_java, whole_java

ROOT = Path(__file__).resolve().parents[1]
SPEC = (
    str(ROOT / "models" / "kafka" / "init_pid.py"),
    "--set", "CLIENTS=3", "--set", "MUTANT=no_epoch_bump", "--keep-going", "--no-liveness",
)  # fmt: skip
SPARK = ("--spark-native-until", "20", "--spark-tasks", "4", "--spark-buckets", "64")
KINDS = ("executor", "worker", "driver")
TOO_LONG = 300.0  # seconds for one check


# -- the cluster ---------------------------------------------------------------------------------


@dataclass
class Cluster:
    """One master and two workers."""

    folder: Path
    java: Path
    port: int
    master: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where the master is."""
        return f"spark://127.0.0.1:{self.port}"

    def start_workers(self) -> None:
        """Start workers until there are two."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            work = tempfile.mkdtemp(dir=self.folder)
            words = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            name = "org.apache.spark.deploy.worker.Worker"
            self.workers.append(daemon(self.java, name, *words, "--work-dir", work, self.url))

    def stop(self) -> None:
        """End all processes."""
        for process in (*self.workers, self.master):
            for pid in (*descendants(process.pid), process.pid):
                kill(pid)
            process.wait()


def daemon(java: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    """Start one of Spark's own processes."""
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [
        str(java / "bin" / "java"), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
        "-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow",
        "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-cp", f"{home}/jars/*", name, *words,
    ]  # fmt: skip
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(java),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",
    }
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that is stopped in the end."""
    home, _ = find_java()
    java = whole_java(home, folder / "java")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    name = "org.apache.spark.deploy.master.Master"
    words = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    found = Cluster(folder, java, port, daemon(java, name, *words))
    try:
        deadline = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if found.master.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("The master did not start.")
            time.sleep(0.1)
        found.start_workers()
        yield found
    finally:
        found.stop()


# -- processes -----------------------------------------------------------------------------------


def kill(pid: int) -> None:
    """Kill a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """All processes below a process."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def executors(worker: subprocess.Popen[bytes]) -> list[int]:
    """The executors of a worker."""
    found = []
    for pid in descendants(worker.pid):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command:
            found.append(pid)
    return found


# -- one check -----------------------------------------------------------------------------------


def statewalk(*words: str) -> subprocess.Popen[bytes]:
    """Start the command."""
    command = [sys.executable, "-m", "statewalk", *words]
    log = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.PIPE)
    atexit.register(kill_running, process)
    return process


def kill_running(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing behind when the trials are broken off."""
    if process.poll() is None:
        process.kill()


def outcome(file: Path) -> dict[str, Any]:
    """What a result says, without what may differ: counts, verdicts, traces step by step."""
    result = json.loads(file.read_text())
    traces = {}
    for prop in result["properties"]:
        if prop["trace"]:
            trace = json.loads(Path(ROOT, prop["trace"]).read_text())
            traces[prop["name"]] = [trace.get("steps"), trace.get("initial"), trace.get("states")]
    return {
        "verdict": result["verdict"],
        "counts": result["counts"],
        "actions": result["actions"],
        "properties": [
            (p["name"], p["verdict"], p["length"], p["vacuous"]) for p in result["properties"]
        ],
        "traces": traces,
    }


def finished(process: subprocess.Popen[bytes], file: Path) -> dict[str, Any]:
    """Wait for a check; its result."""
    _, errors = process.communicate(timeout=TOO_LONG)
    if process.returncode not in (0, 1) or not file.exists():
        raise SystemExit(f"A check ended with {process.returncode}:\n{errors.decode()[-2000:]}")
    return outcome(file)


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """The parts of an outcome that differ; empty where none does."""
    return ", ".join(part for part in expected if expected[part] != found[part])


def victim(kind: str, here: Cluster, driver: subprocess.Popen[bytes], dice: random.Random) -> str:
    """Kill something; what it was, or nothing where it was not there."""
    if kind == "driver":
        kill(driver.pid)
        driver.communicate()
        return f"driver {driver.pid}"
    worker = dice.choice(here.workers)
    found = executors(worker)
    if not found:
        return ""
    for pid in found if kind == "executor" else (worker.pid, *found):
        kill(pid)
    return f"{kind} {found[0]}"


def trial(
    kind: str, here: Cluster, folder: Path, dice: random.Random, seconds: float
) -> tuple[dict[str, Any], str, float]:
    """One check in which something is killed: its result, what was killed, and when."""
    while True:
        here.start_workers()
        out, file = Path(tempfile.mkdtemp(dir=folder)), folder / "result.json"
        file.unlink(missing_ok=True)
        words = ("--engine", "spark", "--master", here.url, *SPARK, "--out", str(out))
        driver = statewalk("check", *SPEC, *words, "--json", str(file))
        manifest = out / "checkpoint" / "manifest.json"
        while not manifest.exists() and driver.poll() is None:
            time.sleep(0.01)
        moment = dice.uniform(0, seconds)
        try:
            driver.wait(moment)
        except subprocess.TimeoutExpired:
            told = victim(kind, here, driver, dice)
            if told and kind == "driver":
                driver = statewalk("resume", str(out), "--json", str(file))
            result = finished(driver, file)
            shutil.rmtree(out)
            if told:
                return result, told, moment
        else:
            driver.communicate()  # it was over before anything could be killed: once more


def undisturbed(here: Cluster, folder: Path) -> tuple[dict[str, Any], float]:
    """The result of a check in which nothing is killed, and how long its levels took with Spark."""
    here.start_workers()
    out, file = Path(tempfile.mkdtemp(dir=folder)), folder / "result.json"
    words = ("--engine", "spark", "--master", here.url, *SPARK, "--out", str(out))
    driver = statewalk("check", *SPEC, *words, "--json", str(file))
    while not (out / "checkpoint" / "manifest.json").exists() and driver.poll() is None:
        time.sleep(0.01)
    started = time.monotonic()
    result = finished(driver, file)
    return result, time.monotonic() - started


def run(times: int, seed: int, kinds: Sequence[str], folder: Path) -> int:
    """All trials; how many of them gave something else."""
    file = folder / "native.json"
    expected = finished(
        statewalk("check", *SPEC, "--json", str(file), "--out", str(folder / "native")), file
    )
    print(f"native: {expected['verdict']}, {expected['counts']}, {len(expected['traces'])} traces")
    wrong, dice = 0, random.Random(seed)
    with cluster(folder) as here:
        found, seconds = undisturbed(here, folder)
        wrong += found != expected
        print(f"undisturbed: {difference(expected, found) or 'equal'}, {seconds:.1f} s with Spark")
        for number in range(times):
            for kind in kinds:
                started = time.monotonic()
                found, told, moment = trial(kind, here, folder, dice, 0.9 * seconds)
                same = found == expected
                wrong += not same
                told = f"{kind} {number + 1}/{times}: killed {told} after {moment:.2f} s"
                verdict = "equal" if same else f"DIFFERENT: {difference(expected, found)}"
                print(f"{told}; {verdict} ({time.monotonic() - started:.1f} s)", flush=True)
    print(f"{wrong} of {1 + times * len(kinds)} results differ")
    return wrong


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=10, help="trials of each kind (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments (1)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this; repeatable")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="statewalk-chaos-") as folder:
        wrong = run(arguments.times, arguments.seed, arguments.kind or KINDS, Path(folder))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
