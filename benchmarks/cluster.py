"""A Spark cluster on this machine, and a check on it: `make cluster`.

Starts a standalone master and two workers on the loopback interface, each a process of its own, as
Spark's start scripts would; the wheel of PySpark has none. Their Python has what statewalk depends
on and no statewalk: a check sends its own. Then a spec is checked there and by the native engine,
counts, transitions per action, verdicts and traces are compared, and all processes are ended.

    python benchmarks/cluster.py --set RMS=9        the toy, with other constants
    python benchmarks/cluster.py kafka/init_pid     another spec
    python benchmarks/cluster.py --stay             only the cluster, until Ctrl-C

Ends with 1 where something differs, or a process is left.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from statewalk.checker.spark.session.settings import find_java, whole_java

ROOT = Path(__file__).resolve().parents[1]
TWO_PHASE = "models/toys/two_phase_commit.py"
DEPLOY = "org.apache.spark.deploy"
PATIENCE = 60.0  # seconds for a process to start
LEAVE = 15.0  # seconds for a process to end by itself


@dataclass
class Cluster:
    """One master and two workers of some cores each; ``python`` is that of the nodes."""

    folder: Path
    java: Path
    port: int
    master: subprocess.Popen[bytes]
    python: Path
    cores: int = 1
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Return where the master is."""
        return f"spark://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Return what a check on this cluster is started with."""
        return {**os.environ, "PYSPARK_PYTHON": str(self.python)}

    def start_workers(self) -> None:
        """Start workers until there are two."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            work = tempfile.mkdtemp(dir=self.folder)
            words = ["--host", "127.0.0.1", "--cores", str(self.cores), "--memory", "1g"]
            words += ["--webui-port", "0", "--work-dir", work, self.url]
            self.workers.append(daemon(self.java, f"{DEPLOY}.worker.Worker", *words))

    def stop(self) -> list[int]:
        """Ask all processes to end; those that had to be killed."""
        all_of = (*self.workers, self.master)
        below = [pid for process in all_of for pid in descendants(process.pid)]
        for process in all_of:
            process.terminate()
        for process in all_of:
            with suppress(subprocess.TimeoutExpired):
                process.wait(LEAVE)
        left = [pid for pid in (*below, *(p.pid for p in all_of)) if is_running(pid)]
        for pid in left:
            kill(pid)
        for process in all_of:
            process.wait()
        return left


def daemon(java: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    """Start one of Spark's own processes by its class."""
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
        "SPARK_SCALA_VERSION": "2.13",  # a worker asks for it when it starts an executor
    }
    environment.pop("PYTHONPATH", None)
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere)


def bare_python(folder: Path) -> Path:
    """A Python that has the packages of this one, but for statewalk."""
    venv.create(folder, symlinks=True, with_pip=False)
    python, ours = folder / "bin" / "python", Path(sysconfig.get_paths()["purelib"])
    into = folder / ours.relative_to(sys.prefix)
    for entry in ours.iterdir():
        if "statewalk" not in entry.name and not (into / entry.name).exists():
            (into / entry.name).symlink_to(entry)
    command = [str(python), "-c", "import statewalk"]
    tried = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert tried.returncode, "a statewalk is found in spite of all"
    return python


@contextmanager
def cluster(folder: Path, cores: int = 1, bare: bool = True) -> Iterator[Cluster]:
    """A cluster that is stopped in the end; the Python of its nodes has statewalk, or is bare."""
    home, _ = find_java()
    java = whole_java(home, folder / "java")
    python = bare_python(folder / "python") if bare else Path(sys.executable)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    master = daemon(java, f"{DEPLOY}.master.Master", *words)
    found = Cluster(folder, java, port, master, python, cores)
    try:
        deadline = time.monotonic() + PATIENCE
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
        if left := found.stop():
            print(f"killed, as they did not end by themselves: {left}", file=sys.stderr)


# -- processes -----------------------------------------------------------------------------------


def kill(pid: int) -> None:
    """Kill a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def is_running(pid: int) -> bool:
    """Return whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


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


# -- a check -------------------------------------------------------------------------------------


def outcome(file: Path) -> dict[str, Any]:
    """Return what a result says, without what may differ: counts, verdicts, traces step by step."""
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


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """The parts of an outcome that differ; empty where none does."""
    return ", ".join(part for part in expected if expected[part] != found[part])


def checked(folder: Path, words: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Check something, showing the report; the outcome."""
    out, file = tempfile.mkdtemp(dir=folder), folder / "result.json"
    command = [sys.executable, "-m", "statewalk", "check", *words, "--out", out]
    done = subprocess.run([*command, "--json", str(file)], cwd=ROOT, env=environment, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"The check ended with {done.returncode}.")
    return outcome(file)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("spec", nargs="?", default=TWO_PHASE)
    parser.add_argument("--set", action="append", default=[], dest="constants")
    parser.add_argument("--cores", type=int, default=1, help="of each worker (1)")
    parser.add_argument("--tasks", default="4", help="as --spark-tasks (4)")
    parser.add_argument("--native-until", default="2000", help="as --spark-native-until (2000)")
    parser.add_argument("--installed", action="store_true", help="nodes have statewalk")
    parser.add_argument("--stay", action="store_true", help="only the cluster, until Ctrl-C")
    given = parser.parse_args()
    constants = given.constants or ["RMS=7"] * (given.spec == TWO_PHASE)
    words = [given.spec, *(word for c in constants for word in ("--set", c))]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="statewalk-cluster-") as name:
        folder = Path(name)
        with cluster(folder, given.cores, not given.installed) as here:
            if given.stay:
                print(f"PYSPARK_PYTHON={here.python} statewalk check SPEC --engine spark"
                      f" --master {here.url}", flush=True)  # fmt: skip
                with suppress(KeyboardInterrupt):
                    here.master.wait()
                return
            on_it = ["--engine", "spark", "--master", here.url]
            on_it += ["--spark-tasks", given.tasks, "--spark-native-until", given.native_until]
            found = checked(folder, [*words, *on_it], here.environment)
        differs = difference(checked(folder, words, dict(os.environ)), found)
    print(f"{'DIFFERENT: ' + differs if differs else 'equal'} to the native engine's result")
    raise SystemExit(1 if differs else 0)


if __name__ == "__main__":
    main()
