"""Output for CI servers."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from jsonschema import Draft7Validator

from statewalk import Run, check
from statewalk.checker.cli import main
from statewalk.checker.report.ci import to_github, to_junit, to_sarif
from statewalk.checker.report.page import Page
from tests.places import ROOT

MODELS = ROOT / "models"

# The parts of the SARIF 2.1.0 schema that what we write makes use of.
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"enum": ["2.1.0"]},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {"driver": {"type": "object", "required": ["name"]}},
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message", "ruleId", "locations"],
                            "additionalProperties": False,
                            "properties": {
                                "ruleId": {"type": "string"},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"type": "object", "required": ["text"]},
                                "locations": {
                                    "type": "array",
                                    "items": {"$ref": "#/$defs/location"},
                                },
                                "codeFlows": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["threadFlows"],
                                        "properties": {
                                            "threadFlows": {
                                                "type": "array",
                                                "minItems": 1,
                                                "items": {
                                                    "type": "object",
                                                    "required": ["locations"],
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
    "$defs": {
        "location": {
            "type": "object",
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "properties": {
                        "region": {
                            "type": "object",
                            "properties": {"startLine": {"type": "integer", "minimum": 1}},
                        }
                    },
                }
            },
        }
    },
}


@pytest.fixture(scope="module")
def violated() -> Run:
    constants = {"BROKERS": 1, "MUTANT": "no_epoch_bump"}
    return check(MODELS / "kafka/init_pid.py", constants, engine="reference")


def test_a_violation_in_an_initial_state_has_its_trace(tmp_path: Path) -> None:
    spec = tmp_path / "a b%#.py"
    spec.write_text(
        "from statewalk import *\nclass Box(State):\n    n: int = 7\n"
        "    @action\n    def stay(self) -> None:\n        self.n += 1\nbox = Box()\n"
        "@always\ndef small() -> bool:\n    return box.n < 5\n"
    )
    run = check(spec, engine="reference")
    failure = next(iter(Xml.fromstring(to_junit(run)).iter("failure")))
    [result] = json.loads(to_sarif(run))["runs"][0]["results"]

    assert "Box.n  7" in (failure.text or "")
    assert "init" in json.dumps(result["codeFlows"])
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert spec.as_uri() == "file://" + place["uri"]


def test_junit_has_a_case_per_property(violated: Run) -> None:
    suite = Xml.fromstring(to_junit(violated))

    assert [p.name for p in violated.properties] == [c.get("name") for c in suite.iter("testcase")]
    assert ["epoch_monotone"] == [
        c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None
    ]
    failure = next(suite.iter("failure"))
    assert "Client#0 · send_init_pid(broker=Broker#0)" in (failure.text or "")


def test_sarif_has_its_shape_and_the_trace(violated: Run) -> None:
    document = json.loads(to_sarif(violated))

    assert [] == list(Draft7Validator(SARIF).iter_errors(document))
    first = document["runs"][0]["results"][0]
    assert first["ruleId"] == "violated"
    assert first["locations"][0]["physicalLocation"]["region"]["startLine"] > 1
    assert len(first["codeFlows"][0]["threadFlows"][0]["locations"]) == 5


def test_a_sweep_of_what_cannot_be_loaded_is_told_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, files = tmp_path / "a.py", [tmp_path / name for name in ("r.json", "j.xml", "s.sarif")]
    spec.write_text("N = (")
    asked = [f"--{f.suffix[1:]}".replace("xml", "junit") for f in files]
    words = [w for pair in zip(asked, map(str, files), strict=True) for w in pair]

    assert 2 == main(["check", str(spec), "--set", "N=2,4", "--github", *words])
    assert "::error" in capsys.readouterr().out
    assert all("SW100" in file.read_text() for file in files)


def test_annotations_name_the_place(violated: Run) -> None:
    lines = to_github(violated).splitlines()

    assert lines[0].startswith("::error file=")
    assert "title=epoch_monotone::epoch_monotone is violated after 5 steps: Broker#0" in lines[0]


def test_the_command_line_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/die_hard.py")
    code = main(
        [
            "check",
            spec,
            "--engine",
            "reference",
            "--junit",
            "j.xml",
            "--sarif",
            "s.json",
            "--github",
        ]
    )

    assert code == 1
    assert Xml.parse(tmp_path / "j.xml").getroot().get("failures") == "1"
    assert json.loads((tmp_path / "s.json").read_text())["version"] == "2.1.0"
    assert "::error file=" in capsys.readouterr().out


TWO = """
from statewalk import *
N: Constant[int] = 1
class Counter(Role):
    n: int = 0
    @action
    def up(self) -> None:
        self.n = min(N, self.n + 1 % (6 - N))
counter = Counter()
@always
def small() -> bool:
    return counter.n < 3
@always
def tiny() -> bool:
    return counter.n < 4
config("good", expect=holds())
config("bug", N=3, expect=violates(small))
config("wrong", N=3, expect=holds())
config("other", N=4, expect=violates(tiny, length=9))
config("missed", expect=violates(small))
config("any", N=4, expect=violates())
"""
# options → exit code
CASES = {
    "": 0,
    "--set N=4": 1,
    "--set N=6": 2,
    "--set M=1": 2,
    "--max-depth 1": 3,
    "--strict --set N=0": 0,
    "--strict --property small --max-depth 1": 3,
    "--config good": 0,
    "--config bug": 0,
    "--config any": 0,
    "--config wrong": 4,
    "--config other": 4,
    "--config missed": 4,
    "--config missed --max-depth 1": 3,
    "--config bug --set N=6": 2,
    "--config good --config bug": 0,
    "--config good --config bug --config wrong": 4,
    "--config bug --config nothing": 2,
    "--config good --config missed --max-depth 1": 3,
    "--set N=2..4": 1,
    "--set N=1..2": 0,
    "--config good --config bug --set N=1..2": 4,
}


def written(folder: Path, options: str, text: str = TWO) -> tuple[int, Xml.Element, list[str]]:
    """The exit code, JUnit's XML, the levels in SARIF."""
    spec = folder / "two.py"
    spec.write_text(text)
    files = ["--junit", str(folder / "j.xml"), "--sarif", str(folder / "s.json"), "--github"]
    words = ["check", str(spec), "--engine", "reference", "--out", str(folder / "run")]
    code = main([*words, *files, *options.split()])
    document = json.loads((folder / "s.json").read_text())
    assert [] == list(Draft7Validator(SARIF).iter_errors(document))
    levels = [r["level"] for r in document["runs"][0]["results"]]
    return code, Xml.parse(folder / "j.xml").getroot(), levels


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("options", "expected"), CASES.items())
def test_reports_speak_of_failure_exactly_where_the_exit_code_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, expected: int
) -> None:
    code, junit, levels = written(tmp_path, options)
    out = capsys.readouterr().out
    failed = code in (1, 2, 4)

    assert expected == code
    assert failed == any(True for word in ("failure", "error") for _ in junit.iter(word))
    assert failed == ("error" in levels)
    assert failed == ("::error" in out)
    for suite in junit.iter("testsuite"):
        assert suite.get("failures") == str(len(list(suite.iter("failure"))))
        assert suite.get("errors") == str(len(list(suite.iter("error"))))
        assert suite.get("tests") == str(len(list(suite.iter("testcase"))))


def test_strict_warnings_are_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    never = "@action\ndef never() -> None:\n    require(counter.n > 9)\n    counter.n = 0\n"
    code, junit, levels = written(tmp_path, "--strict", TWO + never)

    assert 4 == code
    assert ["warnings"] == [
        c.get("name") for c in junit.iter("testcase") if c.find("failure") is not None
    ]
    assert "error" in levels
    assert "::error" in capsys.readouterr().out


def test_several_configurations_are_all_checked_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, junit, _ = written(tmp_path, "--config good --config wrong --json -")
    out, err = capsys.readouterr()
    rows = json.loads(out)["sweep"]

    assert [("good", True), ("wrong", False)] == [(r["config"], r["as_expected"]) for r in rows]
    assert ["[good]", "[wrong]"] == [
        str(s.get("name")).rpartition(" ")[2] for s in junit.iter("testsuite")
    ]
    assert "::error" in err
    assert (tmp_path / "run/wrong/result.json").exists()
    written(tmp_path, "--config good --config wrong")
    shown = capsys.readouterr().out
    assert "wrong: expected to hold, but the verdict is 'violated'" in shown


def test_no_property_at_all_does_not_pass_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TWO.partition("@always")[0] + "deadlock(False)\n"

    assert 0 == written(tmp_path, "", text)[0]
    assert "no property was checked" in capsys.readouterr().out
    assert 4 == written(tmp_path, "--strict", text)[0]


def test_deadlocks_alone_do_not_pass_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TWO.partition("@always")[0]

    assert 0 == written(tmp_path, "--set N=0", text)[0]
    assert "no property was checked, only deadlocks" in capsys.readouterr().out
    assert 4 == written(tmp_path, "--strict --set N=0", text)[0]


def test_a_violation_that_was_not_expected_is_told_once_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, junit, levels = written(tmp_path, "--config wrong")
    lines = [s for s in capsys.readouterr().out.splitlines() if s.startswith("::error")]

    assert (4, "1", 1) == (code, junit.get("failures"), levels.count("error"))
    assert 1 == len(lines)
    assert ",line=1," not in lines[0]


def test_what_else_was_expected_is_told_too(tmp_path: Path) -> None:
    code, junit, _ = written(tmp_path, "--config missed")

    assert (4, "1") == (code, junit.get("failures"))


@pytest.mark.parametrize(
    ("settings", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "CI": "true"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_asked_for_or_refused(
    settings: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    file = StringIO()
    page = Page(80)
    page.add(("VIOLATED", "bad"), " x")
    page.show(file)

    assert coloured == ("\x1b[1;38;5;196mVIOLATED" in file.getvalue())
    assert "VIOLATED" in file.getvalue()
