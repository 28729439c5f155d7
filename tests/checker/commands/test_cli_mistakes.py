"""Mistakes of new users on the command line: no traceback, and a remedy."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from statewalk.checker.cli import main

ACTION = """
from statewalk import Constant, Role, action, always, require

N: Constant[int] = 3


class Counter(Role):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < N)
        self.n += step(self.n)


def step(n: int) -> int:
    return 1


counter = Counter()


@always
def small() -> bool:
    return counter.n <= N
"""
RAISES = ACTION.replace("return 1", "return [1, 1][n]")
FALSE_ASSERTION = ACTION.replace("return 1", "assert n < 2, 'too far'\n    return 1")
RAISES_IN_INVARIANT = ACTION.replace("counter.n <= N", "6 % (2 - counter.n) >= 0")
NO_BOOL = ACTION.replace("return counter.n <= N", "return counter.n")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "good.py").write_text(ACTION)
    (tmp_path / "a\nb.py").write_text(ACTION)
    (tmp_path / "binary.py").write_bytes(bytes(range(128, 256)))
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "syntax.py").write_text("x = \n")
    (tmp_path / "leaves.py").write_text("import statewalk\nraise SystemExit(0)\n")
    (tmp_path / "ends.py").write_text(ACTION.replace("return 1", "raise SystemExit(0)"))
    (tmp_path / "raises.py").write_text(RAISES)
    (tmp_path / "asserts.py").write_text(FALSE_ASSERTION)
    (tmp_path / "invariant.py").write_text(RAISES_IN_INVARIANT)
    (tmp_path / "nobool.py").write_text(NO_BOOL)


def run(*arguments: str) -> int:
    return main([*arguments, "--engine", "reference"])


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["good.py", "--set", "M=3"], ["SW301", "There is no constant M", "N"]),
        (["good.py", "--set", "N=many"], ["SW301", "N cannot be many", "an integer", "good.py:4"]),
        (["good.py", "--set", "N"], ["SW306", "--set NAME=VALUE"]),
        (["good.py", "--set", "N=1", "--set", "N=2"], ["SW306", "twice"]),
        (["good.py", "--set", "N=3..2"], ["SW306", "empty range"]),
        (["good.py", "--property", "smal"], ["SW308", "Did you mean small?"]),
        (["good.py", "--config", "c"], ["SW305", "There is no configuration c"]),
        (["missing.py"], ["SW302", "There is no file missing.py", "good.py"]),
        (["."], ["SW302", "is a directory"]),
        (["binary.py"], ["SW100", "is not text"]),
        (["empty.py"], ["SW115", "nothing to check"]),
        (["syntax.py"], ["SW100", "syntax.py:1:5", "x = "]),
        (["good.py", "--max-depth", "0"], ["'0' is not a positive number"]),
        (["good.py", "--max-memory", "lots"], ["'lots' is not a size such as 500M or 4G"]),
        (["good.py", "--timeout", "soon"], ["'soon' is not a time"]),
        (["good.py", "--engine", "warp"], ["invalid choice: 'warp'"]),
        (["good.py", "--threads", "100000"], ["'100000' threads are too many: at most"]),
        (
            ["good.py", "--kep-going"],
            ["there is no --kep-going. Did you mean --keep-going?"],
        ),
        (["good.py", "--z\n::error::x"], [r"there is no --z\n::error::x."]),
        (["a\nb.py"], [r"SW302 a\nb.py cannot be read: its name has a line break"]),
        (["good.py", "more"], ["statewalk check: unrecognized arguments: more"]),
        (["leaves.py"], ["leaves.py:2:1: SW303 SystemExit while loading the spec"]),
        (["ends.py"], ["SW205 The spec ended the program: SystemExit, in the action"]),
        ([], ["SPEC"]),
    ],
)
def test_a_mistake_is_named_with_a_way_out(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: list[str]
) -> None:
    code = main(["check", *arguments])
    printed = capsys.readouterr()

    assert 2 == code
    assert [] == [text for text in said if text not in printed.err]
    assert "Traceback" not in printed.err
    assert "" == printed.out


def test_a_mistake_is_json_too_where_json_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "good.py", "--set", "M=3", "--json", "-"])
    data = json.loads(capsys.readouterr().out)

    assert (2, "error") == (code, data["verdict"])
    assert "There is no constant M" in data["warnings"][0]


@pytest.mark.parametrize(
    "call", ["heapq.heappush(self.queue, 1)", "list.append(self.queue, 1)", "list.sort(self.queue)"]
)
def test_what_only_lists_of_python_can_be_given_is_said(
    call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ACTION.replace("self.n += step(self.n)", f"import heapq; {call}")
    text = text.replace("n: int = 0", "n: int = 0\n    queue: list[int] = []", 1)
    (tmp_path / "queue.py").write_text(text)
    code = run("check", "queue.py")
    printed = " ".join(capsys.readouterr().out.split())

    assert 2 == code
    assert "TypeError" in printed
    assert "Let it change a copy, and store that: queue = list(self.queue)" in printed


@pytest.mark.parametrize(
    ("spec", "title", "where", "line", "length"),
    [
        (
            "raises.py",
            "SW205 IndexError: list index out of range",
            "in the action Counter#0 · up",
            17,
            3,
        ),
        ("invariant.py", "SW205 ZeroDivisionError", "in the property 'small'", 25, 2),
        ("nobool.py", "SW207", "in the property 'small'", 24, 0),
    ],
)
def test_an_exception_of_the_spec_comes_with_state_and_step(
    capsys: pytest.CaptureFixture[str], spec: str, title: str, where: str, line: int, length: int
) -> None:
    code = run("check", spec)
    printed = capsys.readouterr()

    assert 2 == code
    assert printed.out.startswith(f"ERROR     {title}")
    assert where in printed.out
    assert f"{spec}:{line}" in printed.out
    assert f"!   {length}  " in printed.out
    assert "checker/" not in printed.out + printed.err
    assert 0 == main(["replay", ".statewalk/runs/0001/no_error.trace.json"])


def test_an_exception_is_an_error_in_json_with_its_trace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = run("check", "raises.py", "--json", "-")
    data = json.loads(capsys.readouterr().out)
    failed = data["properties"][-1]

    assert (2, "error", False) == (code, data["verdict"], data["exhaustive"])
    assert ("no_error", "violated", 3) == (failed["name"], failed["verdict"], failed["length"])
    assert "Deadlock" not in [p["name"] for p in data["properties"] if p["verdict"] == "violated"]
    assert "IndexError" in data["warnings"][0]


def test_a_failed_assertion_is_a_violated_property(capsys: pytest.CaptureFixture[str]) -> None:
    code = run("check", "asserts.py")
    out = capsys.readouterr().out

    assert 1 == code
    assert "VIOLATED  Assertion" in out
    assert "assert n < 2, 'too far'  is false   asserts.py:17" in out


@pytest.mark.parametrize("out", ["asserts.py", "good.py/run"])
def test_a_run_folder_that_cannot_be_made_keeps_the_result(
    capsys: pytest.CaptureFixture[str], out: str
) -> None:
    code = run("check", "good.py", "--out", out, "--json", "-")
    printed = capsys.readouterr()

    assert 2 == code
    assert 4 == json.loads(printed.out)["counts"]["distinct"]
    assert "SW403" in printed.err
    assert "with --out" in printed.err


def test_a_full_disk_keeps_the_result(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    code = run("check", "good.py")
    printed = capsys.readouterr()

    assert 1 == code
    assert "VIOLATED  Deadlock" in printed.out
    assert "cannot be written: No space left on device" in printed.err
    assert [] == list((tmp_path / ".statewalk/runs").iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_json_onto_a_full_device_is_a_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    code = run("check", "good.py", "--json", "/dev/full")

    assert 2 == code
    assert "SW403 /dev/full cannot be written" in capsys.readouterr().err


def test_a_bug_of_ours_is_called_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no idea")

    monkeypatch.setattr("statewalk.checker.commands.checking.search", broken)

    code = run("check", "good.py")

    assert 70 == code
    assert "This is a bug in statewalk, not in your spec." in capsys.readouterr().err


def test_one_file_that_cannot_be_written_costs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run("check", "good.py", "--junit", "no/such/place.xml", "--sarif", "found.sarif")
    out, err = capsys.readouterr()

    assert code == 2
    assert "VIOLATED" in out
    assert "SW403" in err
    assert "--junit FILE" in err
    assert json.loads((tmp_path / "found.sarif").read_text())["version"] == "2.1.0"


def test_a_run_folder_that_cannot_be_made_costs_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    code = run("check", "good.py", "--out", "file/run")
    out, err = capsys.readouterr()

    assert code == 2
    assert "VIOLATED" in out
    assert "SW403 The run folder file/run cannot be made" in err


def test_of_several_properties_the_one_that_raises_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = "\n\n@on_step\ndef bad() -> bool:\n    return 6 % (2 - counter.n) >= 0\n"
    live = "\n\n@eventually\ndef late() -> bool:\n    return 6 % (2 - counter.n) < 0\n"
    text = ACTION.replace("always, require", "always, eventually, on_step, require")
    (tmp_path / "both.py").write_text(text + live + step)

    assert run("check", "both.py") == 2
    assert "in the property 'bad'" in capsys.readouterr().out
    (tmp_path / "late.py").write_text(text + live)
    assert run("check", "late.py", "--property", "late") == 2
    out = capsys.readouterr().out
    assert "in the property 'late'" in out
    assert "Counter#0 · up" in out


@pytest.mark.parametrize("arguments", [[], ["--steps", "steps.txt"]])
def test_nothing_to_replay(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(["replay", *arguments]) == 2
    assert "SW325" in capsys.readouterr().err


def test_a_folder_without_a_check_cannot_be_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resume", str(tmp_path)]) == 2
    assert "it has no request.json" in capsys.readouterr().err


def test_a_stored_member_that_the_spec_does_not_have() -> None:
    from enum import Enum

    from statewalk.dsl.errors import RunError
    from statewalk.dsl.state.packing import decode
    from statewalk.dsl.values.stored import encode

    class Colour(Enum):
        RED = 1
        BLUE = 2

    class Fewer(Enum):
        RED = 1

    data = encode(Colour.BLUE)

    assert decode(data, {"Colour": Colour}) is Colour.BLUE
    with pytest.raises(RunError, match="SW402 The spec has no class Colour"):
        decode(data, {})
    with pytest.raises(RunError, match="SW402 A stored value is member 1 of Fewer, which has 1"):
        decode(data, {"Colour": Fewer})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["convert", "good.py"], ["SW150 good.py is in the embedded language already."]),
        (["convert", "missing.fizz"], ["SW302 There is no file missing.fizz."]),
        (
            ["convert", "none.fizz", "--out", "good.py"],
            ["SW403 good.py cannot be written"],
        ),
        (
            ["convert", "none.fizz", "--out", "no/x.py"],
            ["SW403 no/x.py cannot be written: No such"],
        ),
        (["check", "none.fizz"], ["SW115 none.fizz has nothing to check", "'action Name:'"]),
        (["convert", "none.fizz", "--ot", "x"], ["convert: there is no --ot. Did you mean --out?"]),
        (["history", "check", "x", "--levl", "si"], ["history check: there is no --levl."]),
    ],
)
def test_a_mistake_of_other_commands(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: list[str]
) -> None:
    Path("none.fizz").write_text("")

    code = main(arguments)

    printed = capsys.readouterr().err
    assert 2 == code
    assert [] == [text for text in said if text not in printed], printed
