"""Running a command on a spec that hangs, and passing a limit."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.places import ROOT

LIMIT = 1.0


def busy() -> float:
    """Return how much longer things take on a machine that does other things too."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


# for starting Python; a hang would last for ever
SLACK = 15.0 * busy()
# how a limit is passed: seconds of --timeout, or a signal
LIMITS = {"time": None, "term": signal.SIGTERM, "int": signal.SIGINT, "hup": signal.SIGHUP}

IMPORTS = """
import ctypes, itertools, re, slow
from pathlib import Path
from statewalk import Role, action, always, init, require

empty = ()
nap = ctypes.PyDLL(None).usleep  # waits as the busy do: nothing else of Python runs meanwhile
Path("ready").touch()

"""
COUNTER = """
class Counter(Role):
    n: int = 0

    @action
    def step(self) -> None:
        self.n = min(self.n + 1, 3)
{action}

counter = Counter()
{init}

@always
def low() -> bool:
    return counter.n < 1


@always
def small() -> bool:
{property}
    return counter.n < 9
"""


@dataclass
class Ended:
    """The end of a command. ``late`` are seconds after the limit, which is `limit` seconds."""

    code: int
    out: str
    err: str
    limit: int
    late: float
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def bounds(self) -> str:
        words: list[str] = self.result["warnings"]
        return next(w for w in words if w.startswith("bounded"))


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    (folder / "slow.py").write_text("import time\n\n\ndef wait():\n    time.sleep(600)\n")
    return subprocess.Popen(
        [sys.executable, "-m", "statewalk", *words],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def ended(folder: Path, how: str, *words: str, after: float = LIMIT) -> Ended:
    """Run a command on a spec that hangs, pass a limit, and wait. On a busy machine the limit is
    later.
    """
    number = LIMITS[how]
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"signal {number} is ignored here, as under nohup")
    limit = math.ceil(after * busy())
    if number is None:
        words = (*words, "--timeout", str(limit))
    began = time.monotonic()
    process = start(folder, *words)
    if number is not None:
        begun = (folder / "ready", folder / "run/request.json")
        while not any(file.exists() for file in begun) and process.poll() is None:
            time.sleep(0.05)
        time.sleep(limit)
        began = time.monotonic() - limit
        process.send_signal(number)
    out, err = process.communicate(timeout=60 + SLACK)
    found = Ended(process.returncode, out, err, limit, time.monotonic() - began - limit)
    file = folder / "run/result.json"
    if file.exists():
        found.result = json.loads(file.read_text())
    return found
