"""Everything that a spec runs ends soon after a limit, with a report of the results so far."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import statewalk
from statewalk.checker.cli import main
from tests.cases import slow, some
from tests.checker.machine.hanging import (
    COUNTER,
    IMPORTS,
    LIMIT,
    LIMITS,
    SLACK,
    Ended,
    busy,
    ended,
    start,
)

HANGS = {
    "while": "i = 0\nwhile True:\n    i += sum(map(nap, (999,)))",
    "generator": "all(i >= 0 for i in iter(int, 1))",
    "doubling": "x = [1]\nwhile True:\n    x = x + x",
    "power": "10 ** 10 ** (9 + len(empty))",
    "sum": "sum(map(nap, itertools.repeat(9999)))",
    "regex": "re.match('(a+)+b', 'a' * 40)",
    "sleep": "slow.wait()",
    "crash": "ctypes.string_at(len(empty))",
}


def lines(text: str, depth: int) -> str:
    return "\n".join("    " * depth + line for line in text.splitlines())


def spec(what: str, where: str) -> str:
    """A spec with a hang at a place of it, when the counter is at 2."""
    hang = HANGS[what]
    parts = {"init": "", "action": "", "property": ""}
    head = IMPORTS
    if where == "load":
        return IMPORTS + hang + "\n" + COUNTER.format(**parts)
    if where == "init":
        parts["init"] = "\n\n@init\ndef begin() -> None:\n" + lines(hang, 1) + "\n"
    elif where == "action":
        parts["action"] = (
            "\n    @action\n    def hang(self) -> None:\n        require(self.n == 2)\n"
            + lines(hang, 2)
            + "\n        self.n = 0\n"
        )
    else:
        body = hang if where == "property" else "helper()"
        parts["property"] = "    if counter.n == 2:\n" + lines(body, 2)
    if where == "helper":
        head += "\ndef helper():\n" + lines(hang, 1) + "\n\n"
    return head + COUNTER.format(**parts)


NAMES = {
    "load": "loading the spec", "init": "the initial states 'begin'", "action": "the action 'hang'",
    "property": "the property 'small'", "helper": "the property 'small'",
}  # fmt: skip


def check(
    folder: Path, text: str, how: str, *words: str, name: str = "spec.py", after: float = LIMIT
) -> Ended:
    (folder / name).write_text(text)
    return ended(folder, how, "check", name, "--out", "run", "--keep-going", *words, after=after)


def line_of(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


def cases() -> Iterator[Any]:
    fast = {("while", "action", "time"), ("sum", "property", "time")}  # these spin least
    for what in HANGS:
        for where in NAMES:
            for how in LIMITS:
                if what == "crash" and how != "time":
                    continue  # it does not wait for a limit
                if how == "hup" and where not in ("load", "init"):
                    continue  # as "term"
                marks = () if (what, where, how) in fast else pytest.mark.slow
                yield pytest.param(what, where, how, marks=marks)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("what", "where", "how"), list(cases()))
def test_whatever_hangs_ends_soon_and_is_named(
    what: str, where: str, how: str, tmp_path: Path
) -> None:
    text = spec(what, where)
    more = ["--max-memory", "2G"] if what == "doubling" else []
    found = check(tmp_path, text, how, "--engine", "reference", *more)
    place = re.search(r"in (.*) \((?:.*/)?(spec|slow)\.py:(\d+)\)", found.bounds)

    assert place is not None, found.bounds
    assert NAMES[where] == place[1]
    assert ("slow" if what == "sleep" else "spec") == place[2]
    if what not in ("sleep", "generator"):
        assert 0 <= int(place[3]) - line_of(text, HANGS[what].splitlines()[0]) <= 3
    assert (3 if where in ("load", "init") else 1) == found.code, "low is violated before"
    assert found.late < 2 + SLACK
    if where not in ("load", "init"):
        assert 2 <= found.result["counts"]["distinct"]
        assert (tmp_path / "run/low.trace.json").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [slow("native"), "reference"])
def test_what_raises_beside_what_hangs_loses_no_violation(engine: str, tmp_path: Path) -> None:
    """The trace of the error is told without asking the properties of its last state again."""
    raises = "@always\ndef raises() -> bool:\n    return 1 // (2 - counter.n) < 9\n\n"
    text = spec("sum", "property").replace("@always", raises + "@always", 1)
    found = check(tmp_path, text, "time", "--engine", engine)

    assert found.code in (1, 2), "low is violated, and one property raises"
    verdicts = {p["name"]: p["verdict"] for p in found.result["properties"]}
    assert "violated" == verdicts["low"]
    assert (tmp_path / "run/low.trace.json").exists()


FIZZ = """
action Init:
  n = 0

atomic action Step:
  if n < 3:
    n += 1

atomic action Hang:
  require n == 2
{hang}

always assertion Low:
  return n < 1
"""


SPINS = "  while n < 5:\n    pass"


@pytest.mark.slow
@pytest.mark.parametrize(
    "hang", [SPINS, "  x = 10 ** 10 ** (7 + n)", "  x = [1]\n  while True:\n    x = x + x"]
)
@pytest.mark.parametrize("how", ["time", "term"])
def test_a_text_spec_that_hangs_ends_too(hang: str, how: str, tmp_path: Path) -> None:
    more = ["--max-memory", "2G"] if "+" in hang else []
    more += ["--engine", "reference"]
    found = check(tmp_path, FIZZ.format(hang=hang), how, *more, name="spec.fizz", after=3.0)

    assert "in the action 'Hang' (spec.fizz:1" in found.bounds
    assert 1 == found.code, "Low is violated"
    assert found.late < 2 + SLACK


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("what", "engine"),
    [
        ("sleep", "native"),
        slow("while", "native"),
        slow("while", "reference"),
        slow("sum", "native"),
        slow("sum", "reference"),
    ],
)
def test_every_engine_keeps_what_it_found(what: str, engine: str, tmp_path: Path) -> None:
    words = ("--engine", engine, "--property", "small")
    found = check(tmp_path, spec(what, "action"), "time", *words, after=3.0)

    assert 3 == found.code
    assert ("bounded", engine) == (found.result["verdict"], found.result["engine"])
    assert 3 == found.result["counts"]["distinct"]
    said = f"NO VIOLATION FOUND  bounded by --timeout {found.limit} s, in the action 'hang'"
    assert said in found.out


def test_json_on_standard_output_is_one_object_when_the_process_had_to_be_killed(
    tmp_path: Path,
) -> None:
    (tmp_path / "spec.py").write_text(spec("sum", "action"))

    words = ("--json", "-", "--engine", "reference", "--property", "small")
    found = ended(tmp_path, "time", "check", "spec.py", *words)

    assert "bounded" == json.loads(found.out)["verdict"]


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["while", slow("sum")])
def test_a_random_walk_that_hangs_says_where(what: str, tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(spec(what, "action").replace("< 1", "< 9"))

    found = ended(tmp_path, "term", "simulate", "spec.py")

    assert 3 == found.code
    assert "in the action 'hang' (spec.py:" in found.out + found.err


def test_a_profile_of_what_hangs_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slow.py").touch()
    Path("spec.py").write_text(spec("while", "action"))

    code = main(["profile", "spec.py", "--timeout", f"{busy():.1f}"])

    assert 3 == code
    assert "in the action 'hang' (spec.py:" in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.parametrize("what", [slow("while"), "sum"])
def test_a_sweep_keeps_the_runs_that_ended(what: str, tmp_path: Path) -> None:
    text = (
        spec(what, "action")
        .replace("self.n == 2", "self.n == (9 if N == 1 else 2)")
        .replace("< 1", "< 9")
    )
    text = text.replace("empty = ()", "empty = ()\nN: Constant[int] = 1")
    (tmp_path / "spec.py").write_text(text.replace("import Role", "import Constant, Role"))

    sweep = ("--set", "N=1..2", "--engine", "reference", "--json", "out.json")
    ended(tmp_path, "time", "check", "spec.py", *sweep)
    first, second = json.loads((tmp_path / "out.json").read_text())["sweep"]

    assert ("holds", "bounded") == (first["verdict"], second["verdict"])
    assert 3 == second["counts"]["distinct"]


def test_a_spec_that_ends_the_program_is_no_success(tmp_path: Path) -> None:
    text = spec("while", "action").replace(lines(HANGS["while"], 2).lstrip(), "exit(0)")
    (tmp_path / "spec.py").write_text(text)
    process = start(tmp_path, "check", "spec.py", "--json", "out.json", "--keep-going")
    _, err = process.communicate(timeout=60)

    assert 2 == process.returncode
    assert "SW205 The spec ended the program: SystemExit, in the action 'hang'" in err
    assert "error" == json.loads((tmp_path / "out.json").read_text())["verdict"]


@pytest.mark.thorough
def test_a_process_that_ends_without_a_word_is_no_success(tmp_path: Path) -> None:
    text = spec("while", "action").replace(
        lines(HANGS["while"], 2).lstrip(), "__import__('os')._exit(0)"
    )
    (tmp_path / "spec.py").write_text(text)
    words = ("--json", "out.json", "--property", "small", "--engine", "reference")
    process = start(tmp_path, "check", "spec.py", *words)
    process.communicate(timeout=60)

    assert 3 == process.returncode
    assert "bounded" == json.loads((tmp_path / "out.json").read_text())["verdict"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", some([0.06, 0.1, 0.15, 0.2, 0.3, 0.5], every=6))
def test_a_signal_while_we_start_is_no_verdict_and_no_traceback(
    number: int, after: float, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(spec("sleep", "load"))
    process = start(tmp_path, "check", "spec.py")
    time.sleep(after)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    too_early = process.returncode != 3 and "cli.py" not in err  # Python was not ready for us

    assert too_early or 3 == process.returncode
    assert too_early or "Traceback" not in out + err


def test_from_python_a_time_limit_reaches_into_the_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slow.py").touch()
    Path("spec.py").write_text(spec("while", "property"))

    result = statewalk.check("spec.py", engine="reference", timeout=busy() / 2, keep_going=True)

    assert ("violated", "unknown") == (result.verdict, result.of("small").verdict)
    assert "in the property 'small' (spec.py:" in " ".join(result.warnings)
    assert result.traces["low"].length == 1


@pytest.mark.slow
def test_from_python_a_time_limit_reaches_into_a_text_spec(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(FIZZ.format(hang=SPINS))

    result = statewalk.check(path, engine="reference", timeout=busy() / 2, keep_going=True)

    assert "violated" == result.of("Low").verdict
    assert "in the action 'Hang' (" in " ".join(result.warnings)
    assert "spec.fizz:1" in " ".join(result.warnings)


@pytest.mark.thorough
def test_a_slow_step_within_the_limit_is_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slow.py").touch()
    Path("spec.py").write_text(
        spec("sum", "property").replace(HANGS["sum"], "sum(range(3 * 10**7))")
    )

    result = statewalk.check("spec.py", engine="reference", timeout=30, keep_going=True)

    assert "holds" == result.of("small").verdict
    assert result.exhaustive


def test_an_interrupt_before_signals_are_handled_is_no_internal_error() -> None:
    text = """
import sys
sys.orig_argv = ["python", "-m", "statewalk"]
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "statewalk.checker.machine.signals":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
import statewalk
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=60
    )

    assert (3, "\nstatewalk: interrupted before there was a result\n") == (
        done.returncode, done.stderr,
    )  # fmt: skip
