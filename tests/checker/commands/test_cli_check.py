"""`statewalk check` from the outside: what it prints, its JSON, its exit codes, its run folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.machine.files import write_text
from statewalk.checker.report import runs
from statewalk.dsl.errors import RunError, SpecError
from tests.places import ROOT

INIT_PID = str(ROOT / "models/kafka/init_pid.py")

CONTRACT = [
    "schema", "spec", "constants", "engine", "verdict", "exhaustive", "as_expected", "counts",
    "seconds", "properties", "actions", "warnings",
]  # fmt: skip

COUNTER = """
from statewalk import (
    Constant, Role, action, always, config, constraint, exists, holds, require, terminal, violates
)

TOP: Constant[int] = 3
GOAL: Constant[int] = 3


class Counter(Role):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < TOP)
        self.n += 1

    @action
    def never(self) -> None:
        require(self.n < 0)
        self.n = 0


counter = Counter()


@always
def small() -> bool:
    return counter.n <= 3


@always
def tiny() -> bool:
    return counter.n <= 4


@exists
def goal() -> bool:
    return counter.n == GOAL


@terminal
def done() -> bool:
    return counter.n == TOP


config("good", expect=holds(distinct=4, generated=4, depth=4))
config("bad-count", expect=holds(distinct=5))
config("far", TOP=6, GOAL=4, expect=violates(tiny, length=5))
config("wrong", TOP=6, GOAL=4, expect=violates(tiny, length=4))
config("not-violated", expect=violates(small))
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "counter.py").write_text(COUNTER)


def check(*arguments: str) -> int:
    return main(["check", *arguments, "--engine", "reference"])


def check_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = check(*arguments, "--json", "-")
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, data


def test_json_is_the_contract_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, INIT_PID, "--set", "CLIENTS=2", "--set", "BROKERS=2")

    # TLC's counts of the published protocol
    assert {"initial": 1, "distinct": 316, "generated": 581, "depth": 15} == data["counts"]
    assert (0, "holds", True, None) == (
        code, data["verdict"], data["exhaustive"], data["as_expected"],
    )  # fmt: skip
    assert CONTRACT == list(data)
    assert 1 == data["schema"]
    assert "unique_pid_epoch" in [p["name"] for p in data["properties"]]
    assert "Deadlock" in [p["name"] for p in data["properties"]]
    assert {"name", "kind", "verdict", "vacuous", "trace", "length"} == set(data["properties"][0])


def test_a_violation_exits_with_1_and_leaves_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, "counter.py", "--set", "TOP=4")
    found = {p["name"]: p for p in data["properties"]}

    assert 1 == code
    assert ("violated", 4) == (found["small"]["verdict"], found["small"]["length"])
    assert "unknown" == found["tiny"]["verdict"]
    assert Path(found["small"]["trace"]).is_file()
    assert not data["exhaustive"]


def test_keep_going_reports_later_violations_too(capsys: pytest.CaptureFixture[str]) -> None:
    _, data = check_json(capsys, "counter.py", "--set", "TOP=6", "--keep-going")

    assert [("small", 4), ("tiny", 5)] == [
        (p["name"], p["length"]) for p in data["properties"] if p["verdict"] == "violated"
    ]


def test_an_unreached_witness_is_a_violation(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, "counter.py", "--set", "GOAL=9")
    goal = next(p for p in data["properties"] if p["name"] == "goal")

    assert (1, "violated", None) == (code, goal["verdict"], goal["trace"])


def test_rows_of_an_older_sweep_are_listed_and_left(capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> list[str]:
        check("counter.py", *arguments, "--out", "D")
        return [line for line in capsys.readouterr().out.splitlines() if "older" in line]

    assert [] == said("--set", "TOP=1,2,3")
    assert ["older results in D, not of this run: TOP=3"] == said("--set", "TOP=1,2")
    assert ["older results in D, not of this run: TOP=1, TOP=2, TOP=3"] == said()
    assert Path("D/TOP=3/result.json").is_file()


def test_a_bound_makes_the_verdict_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, "counter.py", "--max-depth", "2")

    assert (3, "bounded", False) == (code, data["verdict"], data["exhaustive"])
    assert {"unknown"} == {p["verdict"] for p in data["properties"]}
    assert ["bounded: --max-depth 2"] == data["warnings"]


def test_a_constraint_that_cuts_makes_the_verdict_bounded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    limit = "\n@constraint\ndef near() -> bool:\n    return counter.n <= 2\n"
    (tmp_path / "cut.py").write_text(COUNTER + limit)

    code, data = check_json(capsys, "cut.py")

    assert (3, "bounded", 3) == (code, data["verdict"], data["counts"]["distinct"])


@pytest.mark.parametrize(
    ("config", "verdict", "as_expected", "code"),
    [
        ("good", "holds", True, 0),
        ("bad-count", "holds", False, 4),
        ("far", "violated", True, 0),  # `small` is violated sooner; the search goes on for `tiny`
        ("wrong", "violated", False, 4),
        ("not-violated", "holds", False, 4),
    ],
)
def test_expectations_decide_the_exit_code_but_not_the_verdict(
    capsys: pytest.CaptureFixture[str], config: str, verdict: str, as_expected: bool, code: int
) -> None:
    found, data = check_json(capsys, "counter.py", "--config", config)

    assert (code, verdict, as_expected) == (found, data["verdict"], data["as_expected"])


def test_strict_makes_warnings_count(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, "counter.py", "--strict")

    assert ["never fired: never"] == data["warnings"]
    assert 4 == code


def test_the_report_says_which_guard_stopped_an_action(capsys: pytest.CaptureFixture[str]) -> None:
    code = check("counter.py")
    line = COUNTER[: COUNTER.index("require(self.n < 0)")].count("\n") + 1

    assert 0 == code
    assert f"never: `require(self.n < 0)` (counter.py:{line}) was false in every state" in (
        capsys.readouterr().out
    )


def test_only_the_properties_asked_for_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, "counter.py", "--set", "TOP=4", "--property", "tiny")

    assert (0, ["tiny"]) == (code, [p["name"] for p in data["properties"]])


@pytest.mark.thorough
def test_liveness_is_left_open_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, INIT_PID, "--no-liveness")
    liveness = next(p for p in data["properties"] if p["kind"] == "eventually_always")

    assert (0, "unknown") == (code, liveness["verdict"])
    assert ["eventually_all_clients_get_pid: --no-liveness"] == data["warnings"]


def test_a_sweep_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code = check("counter.py", "--set", "TOP=2..4")
    lines = capsys.readouterr().out.splitlines()

    assert 1 == code
    assert ["TOP", "verdict", "distinct", "generated", "depth", "time", "violated"] == (
        lines[0].split()
    )
    assert ["2", "violated", "3"] == lines[1].split()[:3]  # the witness is not reached
    assert ["3", "holds", "4"] == lines[2].split()[:3]
    assert lines[3].endswith("small at 4")
    assert 4 == len(lines)


def test_the_run_folder_is_complete_and_numbered(tmp_path: Path) -> None:
    check("counter.py")
    check("counter.py", "--set", "TOP=4")
    runs = tmp_path / ".statewalk/runs"

    assert ["0001", "0002"] == sorted(p.name for p in runs.iterdir())
    assert {"result.json", "evidence.json", "goal.trace.json"} == {
        p.name for p in (runs / "0001").iterdir()
    }
    assert CONTRACT == list(json.loads((runs / "0002/result.json").read_text()))


def test_out_names_the_folder_and_replaces_what_was_there(tmp_path: Path) -> None:
    check("counter.py", "--set", "TOP=4", "--out", "here")
    check("counter.py", "--out", "here")

    assert not (tmp_path / "here/small.trace.json").exists()
    assert (tmp_path / "here/goal.trace.json").exists()
    assert not (tmp_path / ".statewalk").exists()


def test_json_goes_to_a_file_beside_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check("counter.py", "--json", "sub/result.json")

    assert "holds" == json.loads((tmp_path / "sub/result.json").read_text())["verdict"]
    assert capsys.readouterr().out.startswith("HOLDS")


def test_an_interrupted_search_says_what_it_knows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "endless.py").write_text(COUNTER.replace("require(self.n < TOP)", "pass"))
    press = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    press.start()

    code, data = check_json(capsys, "endless.py", "--property", "goal")
    press.join()

    assert (3, "bounded") == (code, data["verdict"])
    assert "bounded: an interruption" in data["warnings"]
    assert 0 < data["counts"]["distinct"]
    assert (tmp_path / ".statewalk/runs/0001/result.json").exists()


HANG_UP = """
import os, pty, signal, sys, time
child, terminal = pty.fork()
if child == 0:
    signal.signal(signal.SIGHUP, signal.{how})  # whoever runs the tests may ignore it
    words = "check endless.py --out run --engine reference --property goal".split()
    os.execv(sys.executable, [sys.executable, "-m", "statewalk", *words])
while not os.path.exists("run/request.json"):
    time.sleep(0.05)
time.sleep(0.5)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def hang_up(folder: Path, how: str) -> int:
    """The exit code of an endless search whose terminal goes away."""
    (folder / "endless.py").write_text(COUNTER.replace("require(self.n < TOP)", "pass"))
    text = HANG_UP.format(how=how)
    return subprocess.run(
        [sys.executable, "-c", text], cwd=folder, check=False, timeout=60
    ).returncode


@pytest.mark.thorough
def test_a_terminal_that_goes_away_costs_no_result(tmp_path: Path) -> None:
    assert hang_up(tmp_path, "SIG_DFL") == 3
    assert "bounded" == json.loads((tmp_path / "run/result.json").read_text())["verdict"]


def test_a_terminal_that_goes_away_unheard_is_no_verdict(tmp_path: Path) -> None:
    assert hang_up(tmp_path, "SIG_IGN") == 2, "not 1, a violation"


def test_a_time_limit_ends_the_search(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(COUNTER.replace("require(self.n < TOP)", "pass"))

    code, data = check_json(capsys, "endless.py", "--timeout", "0.2", "--property", "goal")

    assert (3, "bounded", ["bounded: --timeout 0.2 s"]) == (
        code, data["verdict"], [w for w in data["warnings"] if w.startswith("bounded")],
    )  # fmt: skip


def test_a_memory_limit_ends_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = check_json(capsys, "counter.py", "--max-memory", "1M")

    (said,) = (w for w in data["warnings"] if w.startswith("bounded"))
    assert (3, "bounded") == (code, data["verdict"])
    # a busy machine may still load the spec by then
    assert said in ("bounded: --max-memory", "bounded: --max-memory, in loading the spec")


@pytest.mark.thorough
def test_an_optimizing_python_keeps_the_assertions_of_a_spec_and_its_helpers(
    tmp_path: Path,
) -> None:
    (tmp_path / "helper.py").write_text("def limit():\n    return 5 if __debug__ else 3\n")
    asserting = COUNTER.replace("<= 3", "<= 9").replace(
        "self.n += 1", "self.n += 1\n        assert self.n < limit()"
    )
    top = "from helper import limit\n" + asserting.replace("[int] = 3", "[int] = limit()", 1)
    (tmp_path / "asserting.py").write_text(top)
    words = ["check", "asserting.py", "--engine", "reference"]

    done = subprocess.run(
        [sys.executable, "-O", "-m", "statewalk", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert 1 == done.returncode, done.stderr
    assert "assert self.n < limit()  is false" in done.stdout


@pytest.mark.parametrize(
    ("settings", "text"), [([], "def"), ([], COUNTER), (["--set", "TOP=3,4"], COUNTER)]
)
def test_no_result_of_an_earlier_check_stays_in_a_folder_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: list[str], text: str
) -> None:
    asked = ["counter.py", *settings, "--out", "here"]
    check(*asked)
    assert [*(tmp_path / "here").rglob("result.json")]
    (tmp_path / "counter.py").write_text(text)
    monkeypatch.setattr("statewalk.checker.commands.checking.search", killed)

    with suppress(KeyError, SpecError):
        check(*asked)

    left = {file.name for file in (tmp_path / "here").rglob("*.json")}
    assert left <= {"request.json", "manifest.json"}


def killed(*given: Any, **options: Any) -> Any:
    raise KeyError


def test_checks_of_a_sweep_have_a_folder_each(tmp_path: Path) -> None:
    spec = tmp_path / "signs.py"
    spec.write_text(
        "from typing import Literal\nfrom statewalk import *\n"
        'OP: Constant[Literal["<", ">", "a b", "A b", "a_b-2", "a/b"]] = "<"\n'
        "class N(Role):\n    v: int = 0\n    @action\n    def up(self) -> None:\n"
        "        require(self.v < 3)\n        self.v += 1\nn = N()\n"
        '@always\ndef small() -> bool:\n    return OP == ">" or n.v < 2\ndeadlock(False)\n'
    )

    assert main(["check", str(spec), "--set", "OP=all", "--out", "o"]) == 1

    found = {
        json.loads((folder / "result.json").read_text())["constants"]["OP"]: (
            (folder / "small.trace.json").exists()
        )
        for folder in (tmp_path / "o").iterdir()
    }
    assert dict.fromkeys(("<", "a b", "A b", "a_b-2", "a/b"), True) | {">": False} == found


@pytest.mark.parametrize("name", ["result.json", "evidence.json"])
def test_out_keeps_what_no_run_wrote(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text('{"mine": 1}')
    (tmp_path / "old_bug.trace.json").write_text("{}")

    assert check("counter.py", "--out", ".") == 2
    assert f"SW403 {name} is there already" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == '{"mine": 1}'

    (tmp_path / name).unlink()
    check("counter.py", "--out", ".")
    assert (tmp_path / "goal.trace.json").exists()
    check("counter.py", "--out", ".", "--set", "TOP=2")
    assert (tmp_path / "old_bug.trace.json").exists()
    assert not (tmp_path / "goal.trace.json").exists()


def test_traces_of_a_run_that_came_to_no_result_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write_text

    def full(path: Path, text: str) -> None:
        if path.name == "result.json":
            raise RunError("SW403", "The disk is full.")
        whole(path, text)

    monkeypatch.setattr(runs, "write_text", full)
    check("counter.py", "--set", "TOP=4", "--out", "here")
    assert (tmp_path / "here/small.trace.json").exists()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)

    check("counter.py", "--set", "TOP=2", "--out", "here")

    assert (tmp_path / "here/result.json").exists()
    assert not (tmp_path / "here/small.trace.json").exists()
