"""What machines that build software are told."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from jsonschema import Draft7Validator

from checker import Result, check
from checker.ci import to_github, to_junit, to_sarif
from checker.cli import main

MODELS = Path(__file__).parents[2] / "models"

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
def violated() -> Result:
    constants = {"BROKERS": 1, "MUTANT": "no_epoch_bump"}
    return check(MODELS / "kafka/init_pid.py", constants, engine="reference")


def test_junit_has_a_case_per_property(violated: Result) -> None:
    suite = Xml.fromstring(to_junit(violated))

    assert [p.name for p in violated.properties] == [c.get("name") for c in suite.iter("testcase")]
    assert ["epoch_monotone"] == [
        c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None
    ]
    failure = next(suite.iter("failure"))
    assert "Client#0 · send_init_pid(broker=Broker#0)" in (failure.text or "")


def test_sarif_has_its_shape_and_the_trace(violated: Result) -> None:
    document = json.loads(to_sarif(violated))

    assert [] == list(Draft7Validator(SARIF).iter_errors(document))
    first = document["runs"][0]["results"][0]
    assert first["ruleId"] == "violated"
    assert first["locations"][0]["physicalLocation"]["region"]["startLine"] > 1
    assert len(first["codeFlows"][0]["threadFlows"][0]["locations"]) == 5


def test_annotations_name_the_place(violated: Result) -> None:
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
