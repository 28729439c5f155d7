"""What is no log, event or option is told as what it is; it is no answer about the system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

SPEC = str(ROOT / "models/toys/die_hard.py")
MAPS = """
def word(line): return {"action": line.strip()}
def nothing(line): return None
def raises(line): raise ValueError("no")
def leaves(line): raise SystemExit(0)
def number(line): return 7
"""
LOGS = [
    (b"", "no events"),
    (b"\n \n", "no events"),
    (b"\xff\xfe\x00", "no UTF-8"),
    (b"[1]", "is no object"),
    (b'{"action": ', "no JSON object"),
    (b'{"after": {"big": 5.0}}', "no integer"),
    (b'{"after": {"big": NaN}}', "no integer"),
    (b'{"action": "fill_big", "action": "empty_big"}', "'action' twice"),
    (b'{"acton": "fill_big"}', "Did you mean action?"),
    (b'{"action": 3}', "is no text"),
    (b'{"action": "fil_big"}', "Did you mean fill_big?"),
    (b'{"action": "fill_big", "actor": "Jugs#9"}', "Did you mean Jugs#0?"),
    (b'{"after": {"bigg": 5}}', "the spec has no field bigg"),
    (b"[" * 100_000, "no JSON object"),
    (b'{"action": "' + b"x" * 1_000_000 + b'"}', "the spec has no action xxx"),
]


@pytest.mark.parametrize(("content", "said"), LOGS, ids=range(len(LOGS)))
def test_a_log_that_is_none(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").write_bytes(content)

    code = main(["conform", SPEC, str(tmp_path / "log")])

    printed = capsys.readouterr().err
    assert code == 2
    assert said in printed
    assert len(printed) < 2000


@pytest.mark.parametrize(
    ("name", "said"),
    [("raises", "ValueError: no"), ("leaves", "SystemExit"), ("number", "7 is no object"),
     ("nothing", "no events"), ("wrd", "Did you mean word?")],
)  # fmt: skip
def test_a_map_that_makes_no_events(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").write_text("fill_big\n", encoding="utf-8")
    (tmp_path / "maps.py").write_text(MAPS, encoding="utf-8")

    code = main(["conform", SPEC, str(tmp_path / "log"), "--map", f"{tmp_path}/maps.py:{name}"])

    assert code == 2
    assert said in capsys.readouterr().err


def test_a_field_that_only_others_have_refuses_a_step_and_is_no_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_text('{"after": {"state": "SentInitPidRequest"}}\n', encoding="utf-8")

    assert main(["conform", "kafka/init_pid", str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "conforms"


def test_a_byte_order_mark_and_more_behaviours_than_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xef\xbb\xbf" + b"{}\n" * 150)

    assert main(["conform", SPEC, str(log)]) == 0
    assert "more than 10^18 others" in capsys.readouterr().out


def test_time_that_is_over_is_undecided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_text("fill_big\n", encoding="utf-8")
    (tmp_path / "maps.py").write_text("def hang(line):\n    while True: pass\n", encoding="utf-8")
    command = ["conform", SPEC, str(tmp_path / "log"), "--map", f"{tmp_path}/maps.py:hang"]

    assert main([*command, "--timeout", "0.1", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["verdict"] == "undecided"
