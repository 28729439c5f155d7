"""A check that was begun with ``--out`` can be gone on with."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands import checking
from statewalk.checker.machine.locks import held
from statewalk.checker.native import checkpoints
from statewalk.dsl.errors import RunError
from tests.places import ROOT

MODELS = ROOT / "models"


def _counts(capsys: pytest.CaptureFixture[str]) -> object:
    return json.loads(capsys.readouterr().out)["counts"]


def test_a_search_cut_at_a_depth_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/two_phase_commit.py")
    whole = ["check", spec, "--set", "RMS=3", "--json", "-"]

    assert 0 == main([*whole, "--out", "whole"])
    expected = _counts(capsys)
    assert 3 == main([*whole, "--out", "run", "--max-depth", "6"])
    capsys.readouterr()
    request = json.loads(Path("run/request.json").read_text())
    del request["options"]["max_depth"]
    Path("run/request.json").write_text(json.dumps(request))
    assert 0 == main(["resume", "run", "--spec", spec, "--json", "-"])
    assert expected == _counts(capsys)


def test_a_spec_named_by_a_relative_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(MODELS)
    out = str(tmp_path / "run")
    main(["check", "toys/counters.py", "--out", out, "--max-depth", "2"])
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()

    assert 3 == main(["resume", out, "--spec", str(MODELS / "toys/counters.py")])
    assert "SW341" not in capsys.readouterr().err


WRONG = ["threads", "max_depth", "timeout", "properties", "spark", "checkpoint_every"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its request.json cannot be read (Expecting value"),
        ("{", "its request.json cannot be read"),
        ('{"spec": "a", "spec": "b"}', "cannot be read (field 'spec' is there twice)"),
        ("[]", "its request.json does not hold a check."),
        ("{}", "its request.json does not hold a check."),
        ('{"spec": 1, "options": {}}', "its request.json does not hold a check."),
        ('{"spec": "x", "options": {"a": 1}}', "its request.json does not hold a check."),
        *(
            (f'{{"spec": "x", "constants": {{}}, "options": {{"{name}": "many"}}}}', "not hold a")
            for name in WRONG
        ),
    ],
)
def test_a_folder_that_cannot_be_resumed(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "request.json").write_text(text)

    assert 2 == main(["resume", str(tmp_path)])
    printed = capsys.readouterr().err
    assert "SW342" in printed
    assert said in printed


def test_a_changed_spec_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = Path("spec.py")
    text = (MODELS / "toys/counters.py").read_text()
    spec.write_text(text)
    main(["check", "spec.py", "--out", "run", "--max-depth", "2"])
    spec.write_text(text.replace("shared.value += 1", "shared.value += 2"))
    capsys.readouterr()

    assert 2 == main(["resume", "run"])
    assert "there changed: spec.py." in capsys.readouterr().err


def test_a_second_writer_is_told_and_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/counters.py")
    main(["check", spec, "--out", "run", "--max-depth", "2"])
    before = {p: p.read_bytes() for p in Path("run").rglob("*") if p.is_file()}
    capsys.readouterr()

    with held("run"):
        assert 2 == main(["check", spec, "--out", "run"])
        assert 2 == main(["resume", "run", "--spec", spec])
    said = capsys.readouterr().err
    assert 2 == said.count(f"SW345 run is being written to by process {os.getpid()} on ")
    assert before == {p: p.read_bytes() for p in Path("run").rglob("*") if p.is_file()}


def test_a_second_writer_of_a_graph_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/counters.py")

    with held("g", graph=True):
        assert 2 == main(["check", spec, "--graph", "g"])
    assert "SW345" in capsys.readouterr().err
    assert 0 == main(["check", spec, "--graph", "g"])


def test_what_cannot_be_written_is_a_warning_and_no_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/counters.py")
    main(["check", spec, "--out", "run", "--max-depth", "2"])
    capsys.readouterr()
    request = json.loads(Path("run/request.json").read_text())
    del request["options"]["max_depth"]
    Path("run/request.json").write_text(json.dumps(request))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(os, "replace", full)

    assert 0 == main(["check", spec, "--out", "other", "--graph", "g", "--json", "-"])
    checked = capsys.readouterr()
    assert 0 == main(["resume", "run", "--spec", spec, "--json", "-"])
    resumed = capsys.readouterr()
    for printed, words in ((checked, ["other/", "g cannot be"]), (resumed, ["run/"])):
        warnings = [w for w in json.loads(printed.out)["warnings"] if w.startswith("SW403")]
        for word in words:
            assert any(word in w and "No space left on device" in w for w in warnings)
            assert word in printed.err


def test_a_report_says_where_the_search_was_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def interrupted(self: object) -> bool:
        return True

    monkeypatch.setattr("statewalk.checker.machine.limits.Interruptions.__call__", interrupted)

    spec = str(MODELS / "toys/counters.py")
    assert 3 == main(["check", spec, "--out", "run", "--engine", "native"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "checkpoint depth 1 at 0." in printed
    assert "statewalk resume run goes on from there" in printed


def test_what_was_interrupted_while_it_was_small_begins_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/counters.py")
    assert 3 == main(["check", spec, "--out", "run", "--engine", "native", "--max-depth", "2"])
    assert list(Path("run/checkpoint").glob("*.npz"))
    with monkeypatch.context() as patch:
        stop = "statewalk.checker.machine.limits.Interruptions.__call__"
        patch.setattr(stop, lambda self: True)
        assert 3 == main(["check", spec, "--out", "run"])
    assert not list(Path("run/checkpoint").iterdir())  # of the older search nothing is left
    capsys.readouterr()

    assert 0 == main(["resume", "run"])
    assert "HOLDS" in capsys.readouterr().out


def test_a_small_search_that_a_bound_cut_can_be_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/counters.py")
    assert 3 == main(["check", spec, "--out", "run", "--max-depth", "2"])

    assert Path("run/checkpoint/manifest.json").exists()


def test_a_damaged_checkpoint_names_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["check", str(MODELS / "toys/counters.py"), "--out", "run", "--max-depth", "2"])
    Path("run/checkpoint/level-0000.npz").write_bytes(b"hello")
    capsys.readouterr()

    assert 2 == main(["resume", "run", "--spec", str(MODELS / "toys/counters.py")])
    said = capsys.readouterr().err
    assert (
        "SW343 A file of the search is damaged: run/checkpoint/level-0000.npz has 5 bytes" in said
    )
    assert "check the spec anew" in said


@pytest.mark.parametrize("name", ["manifest.json", "level-0000.npz"])
def test_a_pipe_among_the_files_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["check", str(MODELS / "toys/counters.py"), "--out", "run", "--max-depth", "2"])
    for file in Path("run/checkpoint").glob(f"{Path(name).stem}*"):
        file.unlink()
        os.mkfifo(file)

    assert 2 == main(["resume", "run", "--spec", str(MODELS / "toys/counters.py")])
    assert "SW343" in (said := capsys.readouterr().err)
    assert "not a regular file" in said


def test_reading_what_was_saved_ends_at_a_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*_: object) -> None:
        for _step in range(1000):
            time.sleep(0.01)

    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/counters.py")
    main(["check", spec, "--out", "run", "--max-depth", "2", "--timeout", "1"])
    monkeypatch.setattr("statewalk.checker.native.checkpoints_read.read", slowly)

    assert 3 == main(["resume", "run", "--spec", spec])
    assert "in reading what was saved" in " ".join(capsys.readouterr().out.split())


FIZZ = """
action Init:
    n = 0

atomic action Up:
    require n < 5
    n = n + 1

always assertion Small:
    return n < 9
"""


def test_changed_options_of_a_fizz_spec_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.fizz").write_text(FIZZ)
    Path("fizz.yaml").write_text("deadlock_detection: false\n")
    main(["check", "spec.fizz", "--out", "run", "--max-depth", "2"])

    assert 3 == main(["resume", "run", "--spec", "spec.fizz"])
    Path("fizz.yaml").write_text("deadlock_detection: true\n")
    capsys.readouterr()

    assert 2 == main(["resume", "run", "--spec", "spec.fizz"])
    said = capsys.readouterr().err
    assert "SW341" in said
    assert "there changed: fizz.yaml." in said


def test_a_changed_helper_beside_a_spec_is_refused_and_named_by_a_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "from statewalk import State, action, always, require\nfrom limits import LIMIT\n"
    text += "class S(State):\n    x: int = 0\n    @action\n    def go(self) -> None:\n"
    text += "        require(self.x < 9)\n        self.x += 1\ns = S()\n"
    text += "@always\ndef small() -> bool:\n    return s.x < LIMIT\n"
    Path("spec.py").write_text(text)
    Path("limits.py").write_text("LIMIT = 4\n")
    main(["check", "spec.py", "--out", "run", "--max-depth", "2"])
    main(["check", "spec.py", "--out", "whole"])
    Path("limits.py").write_text("LIMIT = 3\n")
    capsys.readouterr()

    assert 2 == main(["resume", "run", "--spec", "spec.py"])
    assert "there changed: limits.py." in capsys.readouterr().err
    main(["replay", "whole/small.trace.json"])
    assert "limits.py" in capsys.readouterr().out


def test_another_program_does_not_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = str(MODELS / "toys/counters.py")
    main(["check", spec, "--out", str(tmp_path), "--max-depth", "2"])
    capsys.readouterr()
    monkeypatch.setattr(checkpoints, "stamp", lambda: "of other sources")

    assert 2 == main(["resume", str(tmp_path)])
    assert "there changed: the version of statewalk." in capsys.readouterr().err


def test_a_request_that_waits_has_no_older_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = str(MODELS / "toys/counters.py")
    main(["check", spec, "--out", str(tmp_path), "--max-depth", "2"])
    assert (tmp_path / "checkpoint" / "manifest.json").exists()

    def ended(*_: object) -> None:
        raise RunError("SW403", "It ends before it begins.")

    monkeypatch.setattr(checking, "checked", ended)

    assert 2 == main(["check", spec, "--out", str(tmp_path)])
    assert (tmp_path / "request.json").exists()
    assert not (tmp_path / "checkpoint" / "manifest.json").exists()


def test_what_was_asked_before_is_not_resumed_for_a_check_that_ended_in_loading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = ["check", str(MODELS / "toys/die_hard.py"), "--out", str(tmp_path)]
    main([*check, "--property", "type_ok"])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checking, "load_within", killed)
    assert 3 == main(check)
    monkeypatch.undo()
    capsys.readouterr()

    assert 2 == main(["resume", str(tmp_path)])
    assert "it has no request.json" in capsys.readouterr().err


def test_what_was_asked_before_is_not_resumed_for_a_sweep(tmp_path: Path) -> None:
    check = ["check", str(MODELS / "toys/die_hard.py"), "--out", str(tmp_path)]
    main([*check, "--property", "type_ok"])
    main([*check, "--set", "GOAL=1,2"])

    assert not (tmp_path / "request.json").exists()
    assert 2 == main(["resume", str(tmp_path)])
