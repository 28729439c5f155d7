"""The explorer says what is possible in a state, and no other page than ours can ask it."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from statewalk import check, load, save_trace
from statewalk.checker.behaviours.walk import Path as Way
from statewalk.checker.behaviours.walk import joined, read_path, write_path
from statewalk.checker.commands import explore
from statewalk.checker.explore.answering import TOKEN, Server
from statewalk.checker.explore.answers import Answers
from statewalk.checker.explore.expressions import Expression
from statewalk.checker.explore.seek import nearest, search
from statewalk.checker.traces.exports.layered import cut_apart
from statewalk.dsl.errors import RunError, StatewalkError
from statewalk.dsl.model import Action, Model
from statewalk.dsl.view import View
from tests.places import ROOT

INIT_PID = ROOT / "models/kafka/init_pid.py"
Reply = tuple[int, dict[str, Any], dict[str, str]]


@pytest.fixture(scope="module")
def answers() -> Answers:
    return Answers(load(INIT_PID, {"BROKERS": 1}))


def words(step: dict[str, Any]) -> str:
    return "".join(text for text, _ in step["label"])


def test_a_state_lists_what_is_possible_with_what_it_would_change(answers: Answers) -> None:
    found = answers.answer("next", {"path": [0, []]})

    assert ["Client#0", "Client#1"] == [words(one).split(" ")[0] for one in found["enabled"]]
    assert ["~", "Client#0.state", "'Ready'", "'SentInitPidRequest'", False] in (
        found["enabled"][0]["changes"]
    )


def test_an_action_that_is_not_possible_names_the_line_that_stops_it(answers: Answers) -> None:
    path = [0, [answers.answer("next", {"path": [0, []]})["enabled"][0]["step"]]]
    found = answers.answer("next", {"path": path})
    stopped = {one["label"]: one for one in found["disabled"]}

    assert "self.state" in stopped["Client#0.send_init_pid(broker=Broker#0)"]["guard"]
    assert (
        "models/kafka/init_pid.py:" in stopped["Client#0.send_init_pid(broker=Broker#0)"]["place"]
    )
    assert "SentInitPidRequest" in stopped["Client#0.send_init_pid(broker=Broker#0)"]["values"]


def test_a_path_shows_what_a_trace_of_it_shows(answers: Answers) -> None:
    path: list[Any] = [0, []]
    for _ in range(4):
        first = answers.answer("next", {"path": path})["enabled"][0]
        path = [0, [*path[1], first["step"]]]
    found = answers.answer("path", {"path": path})

    assert path == found["path"]
    assert 5 == len(found["trace"]["states"])
    assert 4 == len(found["steps"])
    assert 5 == len(found["trace"]["truths"]["type_ok"])


@pytest.mark.thorough
def test_the_end_of_a_counterexample_is_where_its_trace_ends(answers: Answers) -> None:
    model = load(INIT_PID, {"BROKERS": 1, "MUTANT": "no_epoch_bump"})
    trace = check(model, engine="reference").traces["epoch_monotone"]
    other = Answers(model)
    found = other.walk.trace(other.walk.path_of(trace))

    assert trace.contents == found.contents
    assert trace.steps == found.steps
    assert trace.truths == found.truths


@pytest.mark.thorough
def test_the_nearest_state_is_the_one_that_a_check_would_find(answers: Answers) -> None:
    run = check(INIT_PID, {"BROKERS": 1}, engine="reference")
    lengths = {p.name: p.length for p in run.properties if p.kind == "exists"}
    found = {
        name: len(answers.answer("find", {"path": [0, []], "text": name})["path"][1])
        for name in lengths
    }

    assert lengths == found
    assert len(lengths) > 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text",
    [
        "clients[0].state == 'HasPid' and clients[1].state == 'HasPid'",
        "len(logs[0].entries) == 3",
        "brokers[0].metadata[0].epoch > 0",
        "len(clients) == 3",
        "clients[0].nothing",
        "pid_after_an_error",
    ],
)
def test_an_engine_finds_what_is_found_on_foot(answers: Answers, text: str) -> None:
    model, start = answers.model, answers.walk.state(Way())
    far = search(model, (start,), Expression(model, text).here)
    near = nearest(answers.walk, [start], Expression(model, text).holds)

    assert far is not None
    assert (near.steps is None, near.all) == (far.steps is None, far.all)
    assert len(near.steps or ()) == len(far.steps or ())
    if far.steps:
        found = answers.walk.state(joined(Way(), far.steps))
        assert Expression(model, text).holds(found)


@pytest.mark.thorough
def test_in_a_space_of_millions_only_what_is_looked_at_is_made_and_what_is_far_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = Answers(load("toys/two_phase_commit", {"RMS": 9}))
    taken: list[object] = []
    take = Model.take

    def counted(model: Model, action: Action, view: View) -> object:
        taken.append(action)
        return take(model, action, view)

    monkeypatch.setattr(Model, "take", counted)
    path: list[Any] = [0, []]
    for _ in range(3):
        path = [0, [*path[1], answers.answer("next", {"path": path})["enabled"][0]["step"]]]
    tried = len(taken)
    found = answers.answer(
        "find", {"path": path, "text": "all(r.state == 'prepared' for r in rms)"}
    )

    assert tried < 10 * len(answers.model.actions)
    assert 9 == len(found["path"][1])


def test_an_expression_may_list_what_the_spec_only_adds_to() -> None:
    answers = Answers(load("toys/two_phase_commit", listed=True))
    path = answers.answer("find", {"path": [0, []], "text": "len(network.sent) == 3"})["path"]
    found = answers.answer("watch", {"path": path, "expressions": ["len(network.sent)"]})

    assert ["0", "1", "2", "3"] == found["watched"][0]["values"]


def test_what_cannot_be_reached_is_said_to_be_so(answers: Answers) -> None:
    found = answers.answer("find", {"path": [0, []], "text": "len(clients) == 3"})

    assert "path" not in found
    assert "all that can be reached" in found["said"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clients[0].nothing", "it raised"),
        ("brokers[0].metadata.get", "it raised TypeError"),
    ],
)
def test_an_expression_that_raises_is_not_just_not_found(
    answers: Answers, text: str, said: str
) -> None:
    found = answers.answer("find", {"path": [0, []], "text": text})

    assert "path" not in found
    assert said in found["said"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not type_ok", r"Call it: type_ok\(\)\."),
        ("bool(type_ok)", r"Call it: type_ok\(\)\."),
        ("type_ok and len(clients) == 1", "type_ok is a function"),
        ("not clients[0].send_init_pid", r"Call it: clients\[0\]\.send_init_pid\(\)\."),
        ("client[0].state", "there is no name 'client'. Did you mean clients"),
        ("jug.big == 4", "there is no name 'jug'. The spec has: .*clients"),
        ("any(client.state for c in clients)", "no name 'client'"),
    ],
)
@pytest.mark.parametrize("question", ["find", "watch", "around"])
def test_what_means_nothing_in_any_state_is_refused_at_once(
    answers: Answers, question: str, text: str, said: str
) -> None:
    asked = {"path": [0, []], "text": text, "expressions": [text], "by": text, "depth": 1}

    if question == "watch":
        assert "SW371" in answers.answer(question, asked)["watched"][0]["error"]
        return
    with pytest.raises(RunError, match="SW371") as refused:
        answers.answer(question, asked)
    assert re.search(said, f"{refused.value.message} {refused.value.help}")


@pytest.mark.parametrize(
    "text",
    [
        "not type_ok()",
        "type_ok",
        "[type_ok for type_ok in clients]",
        "max(clients, key=lambda c: c.tid or 0)",
        "[*map(len, [b.inbox for b in brokers])]",
        "isinstance(clients[0].tid, int)",
    ],
)
def test_what_a_function_is_given_or_calls_is_no_mistake(answers: Answers, text: str) -> None:
    found = Expression(answers.model, text).shown(answers.model.initial_states[0])

    assert "Error" not in found


def test_what_is_true_already_leaves_the_path_as_it_is(answers: Answers) -> None:
    assert {"said": "It is true in this state already."} == answers.answer(
        "find", {"path": [0, [[0]]], "text": "type_ok"}
    )


@pytest.mark.thorough
def test_a_property_of_steps_is_not_looked_for_in_states() -> None:
    answers = Answers(load("kafka/transactions"))

    with pytest.raises(RunError, match="SW371"):
        answers.answer("find", {"path": [0, []], "text": "fenced_stays_fenced"})


def test_another_way_has_another_last_step() -> None:
    answers = Answers(load("toys/die_hard"))
    asked = {"path": [0, []], "text": "jugs.small == 3 and jugs.big == 5"}
    one = answers.answer("find", asked)["path"]
    other = answers.answer("another", {"path": one})["path"]

    ends = [answers.walk.state(read_path(path)) for path in (one, other)]
    assert ends[0] == ends[1]
    assert one[1][-1] != other[1][-1]


@pytest.mark.parametrize(
    "text",
    ["all(c.tid == 0 for c in clients)", "logs[0].entries and all(c.tid == 0 for c in clients)"],
)
def test_far_from_the_start_an_engine_finds_a_way_around_the_state_before(
    answers: Answers, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr("statewalk.checker.explore.answers.NEAR", 1)
    walk, start = answers.walk, answers.walk.state(Way())
    one = read_path(answers.answer("find", {"path": [0, []], "text": text})["path"])
    found = answers.answer("another", {"path": write_path(one)})
    target, before = (walk.row(node.state) for node in reversed(walk.nodes(one)[-2:]) if node.state)
    foot = nearest(
        walk, [start], lambda s: walk.row(s) == target, lambda row, step, after: row != before
    )

    assert foot.steps is not None
    assert len(foot.steps) == len(found["path"][1])
    rows = [walk.row(n.state) for n in walk.nodes(read_path(found["path"])) if n.state]
    assert target == rows[-1]
    assert before not in rows
    assert f"avoids state {len(one.steps) - 1}" in found["said"]


def test_where_all_ways_lead_through_the_state_before_it_is_said(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statewalk.checker.explore.answers.NEAR", 1)
    found = answers.answer("another", {"path": [0, [[0]]]})

    assert "No way to this state that avoids state 0: these are all" in found["said"]


def test_a_graph_has_the_states_around_and_says_where_it_ends(answers: Answers) -> None:
    near = answers.answer("around", {"path": [0, []], "depth": 1})
    far = answers.answer("around", {"path": [0, []], "depth": 9})
    by = answers.answer("around", {"path": [0, []], "depth": 9, "by": "len(logs[0].entries)"})

    assert [[0, []], [0, [[0]]], [0, [[1]]]] == near["paths"]
    assert "3 states within 1 step" == near["said"]
    assert len(far["paths"]) > 50
    rows = {answers.walk.row(answers.walk.state(read_path(path))) for path in far["paths"]}
    assert len(far["paths"]) == len(rows)
    assert ["0", "1", "2"] == [name.split("\n")[0] for name in by["drawing"]["names"]]


def test_a_state_at_the_rim_of_a_graph_unfolds_what_it_leads_to(answers: Answers) -> None:
    near = answers.answer("around", {"path": [0, []], "depth": 1})
    rim = near["paths"][1]
    more = answers.answer("around", {"path": [0, []], "depth": 1, "unfolded": [rim]})
    beyond = {tuple(map(tuple, path[1][:1])) for path in more["paths"] if len(path[1]) == 2}
    grips = [s for s in near["drawing"]["shapes"] if "data-unfold" in s[1]]

    assert len(near["paths"]) - 1 == len(grips)
    assert {tuple(map(tuple, rim[1]))} == beyond
    assert "and what is unfolded" in more["said"]


def test_a_graph_marks_the_path_and_what_is_wrong() -> None:
    answers = Answers(load("toys/die_hard"))
    path = answers.answer("find", {"path": [0, []], "text": "not goal_not_reached()"})["path"]
    found = answers.answer("around", {"path": [0, []], "along": path, "depth": 9})
    kinds = [s[1]["class"].split() for s in found["drawing"]["shapes"] if "data-spot" in s[1]]

    assert len(path[1]) == sum("on" in kind for kind in kinds)
    assert 1 <= sum("wrong" in kind for kind in kinds)
    assert "red: what has to hold does not" in found["said"]


def test_boxes_of_a_graph_are_cut_where_their_texts_do_not_differ() -> None:
    texts = [f"Client#0 · send_init_pid(broker=Broker#{n})" for n in range(3)]
    found = cut_apart([*texts, texts[0], "a" * 40, "short"], 29)

    assert [f"{n})" for n in range(3)] == [text[-2:] for text in found[:3]]
    assert found[0] == found[3]
    assert ["a" * 28 + "…", "short"] == found[4:]
    assert max(map(len, found)) <= 29


def test_watched_expressions_have_a_value_in_every_state(answers: Answers) -> None:
    asked = {"path": [0, [[0]]], "expressions": ["clients[0].state", "1 / 0", "a b", "type_ok"]}
    found = answers.answer("watch", asked)["watched"]

    assert ["'Ready'", "'SentInitPidRequest'"] == found[0]["values"]
    assert ["ZeroDivisionError: division by zero"] * 2 == found[1]["values"]
    assert "SW371" in found[2]["error"]
    assert ["True", "True"] == found[3]["values"]


def test_a_text_spec_never_reaches_python(tmp_path: Path) -> None:
    spec = tmp_path / "a.fizz"
    spec.write_text(
        "always assertion Small:\n  return x < 3\n\naction Init:\n  x = 0\n\n"
        "atomic action Up:\n  if x < 5:\n    x += 1\n"
    )
    answers = Answers(load(spec))

    with pytest.raises(RunError, match="SW371"):
        answers.answer("find", {"path": [0, []], "text": "__import__('os')"})
    assert ["True"] == (
        answers.answer("watch", {"path": [0, []], "expressions": ["Small"]})["watched"][0]["values"]
    )


@pytest.mark.parametrize("path", [[5, []], [0, [[999]]], [0, [[0], [0]]], [0, [[0, 3]]]])
def test_a_path_of_another_spec_is_refused(answers: Answers, path: Any) -> None:
    with pytest.raises(StatewalkError, match="SW370"):
        answers.answer("path", {"path": path})


@pytest.mark.parametrize("path", [None, [0], [0, [[]]], [0, [["a"]]], [0, [[-1]]], "0;1"])
def test_what_is_no_path_is_refused(answers: Answers, path: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        answers.answer("path", {"path": path})


# -- the server ----------------------------------------------------------------------------------


def served(act: Callable[[Server], Reply], ask: Callable[[str, Any], dict[str, Any]]) -> Reply:
    """Return what a browser's request is answered, by a server that runs meanwhile."""
    with Server("<p>page", "default-src 'none'") as server, ThreadPoolExecutor(1) as pool:
        reply = pool.submit(act, server)
        server.answer_until(reply.done, ask)
        return reply.result()


def request(
    method: str = "POST", path: str = "/api/start", body: str = "{}", **headers: str | None
) -> Callable[[Server], Reply]:
    def act(server: Server) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        sent = {TOKEN: server.token, "Content-Type": "application/json"}
        for name, value in headers.items():
            sent[name.replace("_", "-")] = "" if value is None else value
        connection.request(method, path, body if method == "POST" else None, sent)
        answer = connection.getresponse()
        text = answer.read().decode()
        data = json.loads(text) if text.startswith("{") else {"text": text}
        return answer.status, data, dict(answer.getheaders())

    return act


def echo(question: str, asked: Any) -> dict[str, Any]:
    return {"question": question, "asked": asked}


def test_our_page_is_answered() -> None:
    status, data, _ = served(request(body='{"path": [0, []]}'), echo)

    assert 200 == status
    assert {"question": "start", "asked": {"path": [0, []]}} == data


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (401, {TOKEN.replace("-", "_"): None}),
        (401, {TOKEN.replace("-", "_"): "guessed"}),
        (403, {"Host": "attacker.example"}),
        (403, {"Host": "127.0.0.1:1"}),
        (403, {"Origin": "http://attacker.example"}),
        (403, {"Origin": "null"}),
        (415, {"Content_Type": "text/plain"}),
    ],
)
def test_nobody_else_is_answered(status: int, headers: dict[str, str | None]) -> None:
    found, data, _ = served(request(**headers), echo)  # type: ignore[arg-type]

    assert status == found
    assert "asked" not in data


def test_the_page_itself_holds_no_token_and_is_not_framed() -> None:
    status, data, headers = served(request("GET", "/"), echo)

    assert 200 == status
    assert "<p>page" == data["text"]
    assert "DENY" == headers["X-Frame-Options"]
    assert "default-src 'none'" == headers["Content-Security-Policy"]
    assert "no-store" == headers["Cache-Control"]


@pytest.mark.parametrize("host", ["attacker.example", "attacker.example:80"])
def test_a_name_that_was_made_to_lead_here_gets_no_page(host: str) -> None:
    assert 403 == served(request("GET", "/", Host=host), echo)[0]


def test_there_is_no_second_page() -> None:
    assert 404 == served(request("GET", "/../../etc/passwd"), echo)[0]


@pytest.mark.parametrize(
    "error", [KeyError("path"), ValueError("a path"), TypeError("x"), OverflowError()]
)
def test_a_question_that_the_page_never_asks_is_refused(error: Exception) -> None:
    def ask(question: str, asked: Any) -> dict[str, Any]:
        raise error

    assert 400 == served(request(body="[]"), ask)[0]


def test_a_question_that_ends_the_program_has_no_answer(answers: Answers) -> None:
    asked = {"path": [0, []], "expressions": ["exit()"]}

    assert "asks to end" in explore._asked(answers, "watch", asked)["error"]


@pytest.mark.thorough
def test_a_saved_trace_is_explored_at_its_end(tmp_path: Path) -> None:
    from statewalk.checker.cli import make_parser
    from statewalk.checker.commands.explore import answers_of

    run = check(INIT_PID, {"BROKERS": 1, "MUTANT": "no_epoch_bump"}, engine="reference")
    file = tmp_path / "a.trace.json"
    save_trace(run.traces["epoch_monotone"], file)
    parsed = make_parser("explore").parse_args(["explore", str(file)])
    started = answers_of(parsed).answer("start", {})

    assert 5 == len(started["start"][1])
    assert ["MUTANT", "'no_epoch_bump'"] in started["constants"]


@pytest.mark.thorough
def test_a_lasso_that_is_explored_keeps_its_property_and_its_cycle(tmp_path: Path) -> None:
    from statewalk.checker.cli import make_parser
    from statewalk.checker.commands.explore import answers_of

    run = check(INIT_PID, {"CLIENTS": 1, "MUTANT": "weak_send"}, engine="reference")
    trace = run.traces["eventually_all_clients_get_pid"]
    save_trace(trace, tmp_path / "a.trace.json")
    parsed = make_parser("explore").parse_args(["explore", str(tmp_path / "a.trace.json")])
    answers = answers_of(parsed)
    path = answers.answer("start", {})["start"]
    whole = answers.answer("path", {"path": path})["trace"]
    part = answers.answer("path", {"path": [path[0], path[1][:1]]})["trace"]

    assert (trace.property, trace.loop) == (whole["property"], whole["loop"])
    assert ("", None) == (part["property"], part["loop"])


def test_the_command_serves_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "statewalk", "explore", "toys/die_hard"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        address, _, token = lines[2].strip().partition("/#token=")
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
        headers = {TOKEN: token, "Content-Type": "application/json"}
        leaving = '{"path": [0, []], "expressions": ["__import__(\'os\')._exit(0)"]}'
        connection.request("POST", "/api/watch", leaving, headers)
        left = json.loads(connection.getresponse().read())
        connection.request("POST", "/api/next", '{"path": [0, []]}', headers)
        found = json.loads(connection.getresponse().read())
        process.send_signal(signal.SIGINT)

    assert 0 == process.returncode
    assert "SW205" in left["error"]
    assert 6 == len(found["enabled"])


COUNTERS = """
from statewalk import *


class Counter(Role):
    n: int = 0
    m: int = 0
{more}
    @action
    def b(self) -> None:
        require(self.m < 3)
        self.m += 1

    @action
    def a(self) -> None:
        require(self.n < 3)
        self.n += 1


counter = Counter()
deadlock(False)
"""
MORE = """
    @action
    def zero(self) -> None:
        require(self.n == 3)
        self.n = 0
"""


def counters(folder: Path, more: str) -> Answers:
    file = folder / f"counters{len(more)}.py"
    file.write_text(COUNTERS.replace("{more}", more), encoding="utf-8")
    return Answers(load(file))


def test_a_link_leads_to_the_same_states_when_the_spec_has_more_actions(tmp_path: Path) -> None:
    before, after = counters(tmp_path, ""), counters(tmp_path, MORE)
    link = before.answer("path", {"path": [0, [[1], [0], [1]]]})

    again = after.answer("path", {"path": link["path"], "prints": link["prints"]})

    assert [0, [[2], [1], [2]]] == again["path"]
    assert link["prints"] == again["prints"]
    assert "said" not in again


def test_a_link_of_which_states_are_gone_goes_as_far_as_it_can(tmp_path: Path) -> None:
    before, after = counters(tmp_path, MORE), counters(tmp_path, "")
    link = before.answer("path", {"path": [0, [[2], [2], [2], [0]]]})

    found = after.answer("path", {"path": link["path"], "prints": [*link["prints"], "f00"]})

    assert [0, [[1], [1], [1]]] == found["path"]
    assert "of the link's 5 steps, the first 3" in found["said"]
    with pytest.raises(RunError, match="none of the initial states"):
        after.answer("path", {"path": [0, [[9]]], "prints": ["f00"]})
    other = after.answer("path", {"path": [0, [[1]]], "prints": ["f00"]})
    assert "the same steps, but other states" in other["said"]


def test_the_code_of_a_step_has_the_values_of_its_lines(tmp_path: Path) -> None:
    found = counters(tmp_path, "").answer("path", {"path": [0, [[1], [1]]]})

    [[place, lines, values]] = found["steps"][1]["ran"]
    assert place in found["code"]
    assert [16, 17] == lines
    assert {16: "self.n = 1", 17: "self.n = 2"} == values


def test_edges_to_states_known_before_have_their_actions(tmp_path: Path) -> None:
    found = counters(tmp_path, "").answer("around", {"path": [0, []], "depth": 2})

    named = [text for tag, at, text in found["drawing"]["shapes"] if at["class"] == "edge"]
    assert ["Counter#0.b"] == named
