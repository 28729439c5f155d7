"""Questions to a graph: in SQL, by predicate, and for shortest paths; and what is refused."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.graph.ask import Database, shortest_path
from tests.places import ROOT

DIE_HARD = str(ROOT / "models/toys/die_hard.py")
TWO_PHASE = str(ROOT / "models/toys/two_phase_commit.py")
COUNTER = """
from statewalk import Role, action, always

class Counter(Role):
    n: int = 0
    m: int = 0

    @action
    def step(self) -> None:  # few values of each: for more, another kernel would be compiled
        self.n = (self.n + 1) % 30_000
        self.m = (self.m + (self.n == 0)) % 30_000

counter = Counter()

@always
def counts() -> bool:
    return counter.n >= 0
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("graphs")
    main(["check", TWO_PHASE, "--graph", str(folder / "g"), "--out", str(folder / "run")])
    return str(folder / "g")


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["query", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_sql_is_answered_as_a_table(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT depth, count(*) AS states FROM states GROUP BY depth ORDER BY depth"
    code, out, _ = ask(capsys, graph, sql)

    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["depth", "states"]
    assert lines[-1] == "11 rows"
    assert sum(int(line.split()[1]) for line in lines[1:12]) == 288


def test_as_json(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, graph, "SELECT count(*) AS n FROM transitions", "--json")

    assert json.loads(out) == {"columns": ["n"], "rows": [[1145]], "more": False}


def test_a_limit_is_told(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = ask(capsys, graph, "SELECT action FROM transitions", "--limit", "3")
    assert out.splitlines()[-1].startswith("the first 3 rows; there are more")
    _, out, _ = ask(capsys, graph, "SELECT action FROM transitions", "--limit", "1145")
    assert out.splitlines()[-1] == "1,145 rows"
    _, out, _ = ask(capsys, graph, "SELECT action FROM transitions", "--limit", "0", "--json")
    assert len(json.loads(out)["rows"]) == 1145


def test_without_a_question_the_columns_are_listed(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = ask(capsys, graph)

    assert "the whole state space · 288 states · 1,145 transitions" in " ".join(out.split())
    assert "ResourceManager#0.state" in out
    assert "choices" in out


def test_states_where(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, graph, "--where", "TransactionManager_0_state = 'aborted'", "--json")
    found = json.loads(out)
    at = found["columns"].index("depth")
    depths = [row[at] for row in found["rows"]]

    assert code == 0
    assert depths == sorted(depths)
    assert depths[0] == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "avoiding", [None, "ResourceManager_0_state = 'prepared'", "depth = 2", "depth = 0"]
)
def test_a_path_is_a_shortest_one(graph: str, avoiding: str | None) -> None:
    asked = Database(Path(graph))
    goal = "ResourceManager_0_state = 'committed' OR ResourceManager_1_state = 'aborted'"
    found = shortest_path(asked, "depth = 0", goal, avoiding)
    length = breadth_first(asked, "depth = 0", goal, avoiding)

    assert (None if found is None else len(found.steps)) == length
    if found is not None:
        check_path(asked, found.states, found.steps)


def check_path(asked: Database, states: Any, steps: Any) -> None:
    """Each step is one of the graph's."""
    for before, after, step in zip(states, states[1:], steps, strict=False):
        rows = asked.ask(
            f"SELECT action, actor FROM transitions WHERE source = {before['fingerprint']} "
            f"AND target = {after['fingerprint']}"
        ).rows
        assert (step["action"], step["actor"]) in rows


def breadth_first(asked: Database, start: str, goal: str, avoiding: str | None) -> int | None:
    """The length of a shortest path, found in Python."""
    avoid = avoiding or "FALSE"
    sql = f"SELECT fingerprint, ({start}), ({goal}) FROM states WHERE NOT ({avoid})"
    states = {row[0]: row[1:] for row in asked.ask(sql).rows}
    edges: dict[int, list[int]] = {}
    for source, target in asked.ask("SELECT source, target FROM transitions").rows:
        edges.setdefault(source, []).append(target)
    queue = deque((fp, 0) for fp, (starts, _) in states.items() if starts)
    seen = {fp for fp, _ in queue}
    while queue:
        at, length = queue.popleft()
        if states[at][1]:
            return length
        for to in edges.get(at, []):
            if to in states and to not in seen:
                seen.add(to)
                queue.append((to, length + 1))
    return None


def test_a_path_is_shown_step_by_step(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    goal = "TransactionManager_0_state = 'committed'"
    code, out, _ = ask(capsys, graph, "--path", "depth = 0", goal)

    assert code == 0
    assert "ResourceManager#0 · prepare" in out
    assert "~ TransactionManager_0_state  init → committed" in out
    assert out.splitlines()[-1] == "7 steps, a shortest path"


@pytest.mark.thorough
def test_no_path_is_an_answer(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    both = "ResourceManager_0_state = 'committed' AND ResourceManager_1_state = 'aborted'"
    code, out, _ = ask(capsys, graph, "--path", "depth = 0", both)

    assert (code, out) == (1, "There is no such path.\n")
    code, out, _ = ask(capsys, graph, "--path", "depth = 0", both, "--json")
    assert json.loads(out)["length"] is None


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["SELECT nothing FROM states"], ["SW352", 'column "nothing" not found', "^"]),
        (["SELEC 1"], ["SW352", "syntax error", "^"]),
        (["SELECT 1; SELECT 2"], ["SW352", "2 statements"]),
        ([""], ["SW352", "0 statements"]),
        (["COPY states TO 'out.csv'"], ["SW352", "COPY is not a query"]),
        (["CREATE TABLE t AS SELECT 1"], ["SW352", "CREATE is not a query"]),
        (["SET enable_external_access = true"], ["SW352", "SET is not a query"]),
        (["SELECT * FROM read_csv('/etc/passwd')"], ["SW352", "read_csv is not among"]),
        (["SELECT * FROM glob('/*')"], ["SW352", "glob is not among"]),
        (["SELECT * FROM query('SELECT 1')"], ["SW352", "query is not among"]),
        (["SELECT * FROM '/etc/passwd.csv'"], ["SW352", "disabled by configuration"]),
        (["SELECT 1", "--where", "TRUE"], ["SW352", "Several questions"]),
        (["--avoiding", "TRUE"], ["SW352", "--avoiding needs --path"]),
        (["--where", "depth =="], ["SW352", "depth ==", "^"]),
        (["--where", "TRUE) OR (TRUE"], ["SW352", "syntax error"]),
        (["--where", "TRUE; COPY states TO 'x.csv'"], ["SW352", "2 statements"]),
    ],
)
def test_what_cannot_be_asked(
    graph: str, capsys: pytest.CaptureFixture[str], arguments: list[str], said: list[str]
) -> None:
    code, out, err = ask(capsys, graph, *arguments)

    assert (code, out) == (2, "")
    for part in said:
        assert part in err


def test_files_may_be_written_when_asked_for(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    sql = f"COPY (SELECT depth FROM states) TO '{out}'"
    code, _, _ = ask(capsys, graph, sql, "--allow-files")

    assert code == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 289


ENDLESS = "WITH RECURSIVE t AS (SELECT 1 AS n UNION SELECT (n + 1) % 1e18::INT8 FROM t) "
ENDLESS += "SELECT count(*) FROM t"


@pytest.mark.parametrize(
    "question", [[ENDLESS], ["--where", f"({ENDLESS}) > 1"], ["--path", "TRUE", f"({ENDLESS}) = 1"]]
)
def test_a_question_without_end(
    graph: str, capsys: pytest.CaptureFixture[str], question: list[str]
) -> None:
    code, out, err = ask(capsys, graph, *question, "--timeout", "0.5s")

    assert (code, out) == (3, "")
    assert "SW355 There is no answer after 0.5 seconds." in err


def test_the_question_may_come_after_options(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = ask(capsys, graph, "--limit", "5", "SELECT 1 AS one", "--json")

    assert code == 0
    assert [[1]] == json.loads(out)["rows"]
    code, _, err = ask(capsys, graph, "SELECT 1", "--limit", "5", "SELECT 2")
    assert code == 2
    assert "SELECT 2" in err


def test_a_folder_that_is_no_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, str(tmp_path), "SELECT 1")

    assert code == 2
    assert "SW350" in err
    assert "statewalk check SPEC --graph DIR" in err


def test_the_report_names_the_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", DIE_HARD, "--graph", str(tmp_path / "g"), "--out", str(tmp_path / "run")])

    out = capsys.readouterr().out

    assert code == 1
    assert "14 states" in out
    assert "72 transitions" in out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--engine", "reference"], "SW353"),
        (["--view", "on"], "SW353"),
        (["--symmetry", "on", "--engine", "reference"], "SW353"),
    ],
)
def test_what_has_no_graph_is_said_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: str
) -> None:
    arguments = ["check", DIE_HARD, "--graph", str(tmp_path / "g"), *options]

    assert main([*arguments, "--out", str(tmp_path / "run")]) == 2
    out, err = capsys.readouterr()
    assert code in err
    assert out == ""
    assert not (tmp_path / "g").exists()


def test_a_search_ended_inside_a_level_keeps_its_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "endless.py").write_text(COUNTER, encoding="utf-8")  # loaded at once

    arguments = ["check", str(tmp_path / "endless.py"), "--timeout", "1"]
    code = main([*arguments, "--graph", str(tmp_path / "g"), "--out", str(tmp_path / "run")])
    out, err = capsys.readouterr()

    assert 2 == code  # a notice of compiling may come first
    assert "bounded by --timeout" in out
    assert "SW354" in err
    assert not (tmp_path / "g").exists()
