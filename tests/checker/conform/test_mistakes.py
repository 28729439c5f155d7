"""Mistakes in logs, events and options are reported as such, not as answers about the system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk import conform
from statewalk.checker.cli import main
from statewalk.checker.conform import follower
from statewalk.dsl.errors import RunError
from tests.places import ROOT

SPEC = str(ROOT / "models/toys/die_hard.py")
MAPS = """
def word(line): return {"action": line.strip()}
def nothing(line): return None
def raises(line): raise ValueError("no")
def leaves(line): raise SystemExit(0)
def number(line): return 7
def deep(line):
    value = []
    for _ in range(100_000): value = [value]
    return {"after": {"big": value}}
def deep_list(line): return [deep(line)["after"]["big"]]
def deep_name(line): return {"action": deep_list(line)}
def deep_clock(line): return {"clock": deep_list(line)}
def round_and_round(line):
    value = []
    value.append(value)
    return {"after": {"big": value}}
def long(line): return {"after": {"big": 10 ** 5000}}
def set_(line): return {"after": {"big": {1}}}
class Odd(dict):
    def get(self, *_): raise ValueError
class Text(str):
    def __eq__(self, other): raise ValueError
    __hash__ = str.__hash__
class Five(int): pass
def odd(line): return Odd(action=Text("fill_big"), after=Odd(big=Five(5)))
"""
DOOR = """
from typing import Annotated, Literal
from statewalk import Role, action, require

class Door(Role):
    state: Literal["shut", "open"] = "shut"
    last: str | None = None
    count: Annotated[int, range(3)] = 0

    @action
    def push(self, how: Literal["slowly", "fast"]) -> None:
        require(self.count < 2)
        self.count += 1
        self.state = "open"
        self.last = "slowly" if how == "slowly" else None

door = Door()
"""
LOGS = [
    (b"", "no events"),
    (b"\n \n", "no events"),
    (b"\xff\xfe\x00", "no UTF-8"),
    (b"[1]", "is no object"),
    (b'{"action": ', "no JSON object"),
    (b'{"after": {"big": 5.0}}', "not an integer"),
    (b'{"after": {"big": NaN}}', "not an integer"),
    (b'{"action": "fill_big", "action": "empty_big"}', "'action' twice"),
    (b'{"time": "2026-11-23"}', "time is no number"),
    (b'{"time": 1e999, "after": {"big": [{"a": 1, "a": 1}]}}', "'a' twice"),
    (b'{"action": "fill_big", "after": {"bi', "The last line ends in the middle"),
    (b'{"action": "fill_big", "note": "\xc3', "The last line ends in the middle"),
    (b'{"action": "fill_big", "with": {"hw": 1}}', "no argument or choice hw"),
    (b'{"acton": "fill_big"}', "Did you mean action?"),
    (b'{"action": 3}', "is not a string"),
    (b'{"after": {"big": ' + b"[" * 1500 + b"]" * 1500 + b"}}", "more than 100 deep"),
    (b'{"after": {"big": ' + b'{"a":' * 1500 + b"1" + b"}" * 1500 + b"}}", "more than 100 deep"),
    (b'{"action": "fil_big"}', "Did you mean fill_big?"),
    (b'{"action": "fill_big", "actor": "Jugs#9"}', "Did you mean Jugs#0?"),
    (b'{"after": {"bigg": 5}}', "the spec has no field bigg"),
    (b'{"after": {"big": "5"}}', 'big can never be "5": it is an integer'),
    (b'{"after": {"big": true}}', "big can never be true: it is an integer"),
    (b'{"after": {"big": null}}', "big can never be null: it is an integer"),
    (b'{"after": {"big": [5]}}', "big can never be [5]: it is an integer"),
    (b"[" * 100_000, "no JSON object"),
    (b'{"time": 1e-99999999999999999999}', "too long an exponent"),
    (b'{"action": "' + b"x" * 1_000_000 + b'"}', "the spec has no action xxx"),
]


@pytest.mark.sampled(4)
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


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "said"),
    [("raises", "ValueError: no"), ("leaves", "SystemExit"), ("number", "7 is no object"),
     ("nothing", "no events"), ("wrd", "Did you mean word?"), ("deep", "more than 100 deep"),
     ("round_and_round", "more than 100 deep"), ("deep_list", "list is no object"),
     ("deep_name", "action is not a string"), ("deep_clock", "clock does not count"),
     ("long", "too many digits"), ("set_", "set is not a JSON type")],
)  # fmt: skip
def test_a_map_that_makes_no_events(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").write_text("fill_big\n", encoding="utf-8")
    (tmp_path / "maps.py").write_text(MAPS, encoding="utf-8")

    code = main(["conform", SPEC, str(tmp_path / "log"), "--map", f"{tmp_path}/maps.py:{name}"])

    assert code == 2
    assert said in capsys.readouterr().err


def test_classes_of_a_map_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("fill_big\n", encoding="utf-8")
    (tmp_path / "maps.py").write_text(MAPS, encoding="utf-8")
    command = ["conform", SPEC, str(tmp_path / "log"), "--map", f"{tmp_path}/maps.py:odd"]

    assert main([*command, "--out", str(tmp_path / "trace.json")]) == 0


def test_a_field_that_only_others_have_refuses_a_step_and_is_no_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_text('{"after": {"state": "SentInitPidRequest"}}\n', encoding="utf-8")

    assert main(["conform", "kafka/init_pid", str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "conforms"


def test_a_text_that_a_field_or_an_argument_can_never_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.py").write_text(DOOR, encoding="utf-8")
    ask = ["conform", str(tmp_path / "spec.py"), str(tmp_path / "log")]
    for event, code, said in [
        (
            '{"after": {"state": "opn"}}',
            2,
            "state can never be \"opn\": it is one of 'shut', 'open'",
        ),
        ('{"with": {"how": "slwly"}}', 2, "push has no how"),
        ('{"after": {"last": 3}}', 2, "last can never be 3: it is"),
        ('{"after": {"last": null}, "with": {"how": "slowly"}}', 1, "last is 'slowly'"),
        ('{"after": {"count": 9}}', 1, "count is 1"),  # a system may count further than a spec
        ('{"after": {"last": "slowly"}, "with": {"how": "slowly"}}', 0, "CONFORMS"),
    ]:
        (tmp_path / "log").write_text(event.replace("{", '{"action": "push", ', 1) + "\n")

        assert code == main(ask), event
        printed = capsys.readouterr()
        assert said in " ".join((printed.out + printed.err).split())


def test_python_is_told_of_folders_and_takes_lists(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"action": "fill_big"}\n', encoding="utf-8")

    with pytest.raises(RunError, match="is a folder, and this function takes the logs of one run"):
        conform(SPEC, tmp_path)
    assert conform(SPEC, [tmp_path / "a"])


def test_a_byte_order_mark_and_more_behaviors_than_can_be_written(
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

    junit = tmp_path / "answer.xml"

    assert main([*command, "--timeout", "0.1", "--json", "--junit", str(junit)]) == 3
    assert json.loads(capsys.readouterr().out)["verdict"] == "undecided"
    assert "UNDECIDED  before the log was read: the time is over" in junit.read_text("utf-8")
    assert main([*command, "--timeout", "0.1"]) == 3
    assert capsys.readouterr().out.startswith("UNDECIDED  before the log was read")


LEASE = """
from statewalk import Role, action, any_of, require

class Client(Role):
    token: int = 0

class Lock(Role):
    @action
    def grant(self, client: Client, rounds: int = any_of([1, 2])) -> None:
        require(client.token == 0)
        client.token = rounds

clients = [Client() for _ in range(2)]
lock = Lock()
"""


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"client": "Client#7"}, 2, 'grant has no client "Client#7"'),
        ({"client": 2}, 2, "There are: Client#0, Client#1."),
        ({"rounds": "2"}, 2, 'grant has no rounds "2"'),
        ({"clinet": "Client#1"}, 2, "Did you mean client?"),
        ({"rounds": 7}, 1, "rounds is one of 1, 2"),
        ({"rounds": 2}, 0, "CONFORMS"),
    ],
)
def test_what_an_argument_can_never_be_is_a_mistake(
    given: dict[str, object],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "lease.py").write_text(LEASE, encoding="utf-8")
    log = tmp_path / "log"
    log.write_text(json.dumps({"action": "grant", "with": given}), encoding="utf-8")

    assert main(["conform", str(tmp_path / "lease.py"), str(log)]) == code

    printed = capsys.readouterr()
    assert said in printed.out + printed.err


def test_a_note_takes_any_json_and_a_time_any_number(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('{"note": {"took": 0.5, "a": NaN, "a": [null]}, "time": 1.5}\n', "utf-8")

    assert conform(SPEC, log).conforms


def test_an_answer_is_short(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('{"action": "fill_big", "after": {"big": 6}}\n', encoding="utf-8")

    answer = conform(SPEC, log)

    assert not answer
    assert answer.report.index("refused") < answer.report.index("accepted")
    assert answer.report.index("accepted") < answer.report.index("big = 0")
    assert "DOES NOT CONFORM" in repr(answer)
    assert len(repr(answer)) < 240


def test_undecided_says_nothing_of_behaviors(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("{}\n{}\n", encoding="utf-8")

    answer = conform(SPEC, log, hidden="all", max_states=1)

    assert answer.verdict == "undecided"
    assert "behaviors   not known" in answer.report
    assert "--depth-first, which looks for one behavior" in answer.report
    assert "less that is hidden" in answer.report


def test_one_behavior_is_looked_for_where_too_much_can_be_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "_WIDE", 3)
    log = tmp_path / "log"
    log.write_text("{}\n{}\n", encoding="utf-8")

    answer = conform(SPEC, log, hidden="all", max_states=4)
    assert answer.verdict == "conforms"
    assert "no others were looked for: of all, 5 states at a time were possible" in answer.report

    log.write_text('{}\n{"after": {"big": 4}}\n{"after": {"big": 4, "small": 4}}\n', "utf-8")
    answer = conform(SPEC, log, hidden="all", max_states=4)
    assert answer.verdict == "undecided"
    assert "one behavior, depth first: it was not found" in answer.report


def test_a_time_that_goes_back_orders_nothing(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text('{"time": 2.5}\n{"time": 1}\n', encoding="utf-8")
    other.write_text('{"time": 3}\n', encoding="utf-8")

    assert conform(SPEC, one).conforms
    with pytest.raises(RunError, match=r"one:2: its time is 1, and the line before"):
        conform(SPEC, one, other)


def test_an_event_without_a_clock_is_before_none_of_another_process(tmp_path: Path) -> None:
    filled, emptied = tmp_path / "filled", tmp_path / "emptied"
    fill = {"action": "fill_big", "before": {"big": 0}, "clock": {"a": 1}}
    filled.write_text(json.dumps(fill), encoding="utf-8")
    emptied.write_text('{"action": "empty_big", "before": {"big": 5}}', encoding="utf-8")

    assert conform(SPEC, filled, emptied).conforms
