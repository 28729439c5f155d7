"""The Spark engine gives what the native engine gives, state for state, and really distributes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from statewalk.checker.cli import main
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines.layout import Layout
from statewalk.checker.native import explore as explore_natively
from statewalk.checker.spark import explore, unable
from statewalk.checker.spark.driver import stages
from statewalk.checker.spark.driver.jobs import Jobs, context_of
from statewalk.checker.spark.session.settings import Settings, find_java, java_version, whole_java
from statewalk.dsl.errors import EngineError, RunError
from statewalk.dsl.loader import load
from tests.cases import some
from tests.places import ROOT

MODELS = ROOT / "models"
# spec, constants, buckets, tasks, native until, keep going
CASES: list[tuple[str, dict[str, Any], int, int, int, bool]] = [
    ("toys/two_phase_commit.py", {"RMS": 4}, 8, 2, 200, True),
    ("toys/two_phase_commit.py", {"RMS": 4}, 16, 5, 9, True),
    ("kafka/init_pid.py", {}, 64, 3, 33, True),
    ("kafka/init_pid.py", {"BROKERS": 1, "MUTANT": "no_epoch_bump"}, 8, 2, 5, False),
    ("kafka/init_pid.py", {"BROKERS": 1, "MUTANT": "no_epoch_bump"}, 1, 1, 5, False),
    ("toys/counters.py", {"ATOMIC": False, "PROCESSES": 3}, 8, 1, 12, True),
    ("toys/token_ring.py", {}, 4, 4, 1, True),
    ("toys/die_hard.py", {}, 2, 2, 1, False),
    ("../specs/toys/threads.fizz", {}, 4, 2, 4, True),
    ("../specs/toys/threads_own.py", {"WORKERS": 2}, 8, 2, 40, True),
]
SAME = (
    "counts", "levels", "findings", "witnesses", "fired", "fresh", "stopped", "complete", "cut",
    "queue",
)  # fmt: skip


def _same(native: Exploration, found: Exploration) -> None:
    assert {f: getattr(native, f) for f in SAME} == {f: getattr(found, f) for f in SAME}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("spec", "constants", "buckets", "tasks", "native_until", "keep_going"),
    some(CASES, every=len(CASES)),
)
def test_spark_equals_native(
    spec: str,
    constants: dict[str, Any],
    buckets: int,
    tasks: int,
    native_until: int,
    keep_going: bool,
) -> None:
    model = load(MODELS / spec, constants)
    options = SearchOptions(keep_going=keep_going)
    found = explore(model, options, buckets=buckets, tasks=tasks, native_until=native_until)

    _same(explore_natively(model, options), found)
    assert found.statistics["jobs"] > 0
    assert found.statistics["sent_bytes"] > 0


@pytest.mark.slow
@pytest.mark.spark
def test_a_state_in_which_nothing_is_there_is_known_again(tmp_path: Path) -> None:
    """Its fingerprint is 0, which in a table of states stands for a free place."""
    spec = tmp_path / "spec.py"
    spec.write_text(
        "from statewalk import Role, action, any_of\n"
        "class Client(Role):\n    held: set[str] = set()\n"
        "    @action\n    def change(self, what: str = any_of('ab')) -> None:\n"
        "        self.held ^= {what}\nclient = Client()\n",
        encoding="utf-8",
    )
    model, options = load(spec), SearchOptions()
    layout = Layout(model)
    found = explore(model, options, buckets=2, tasks=2, native_until=1)

    assert layout.fingerprint(layout.row(model.initial_states[0])) == 0
    assert found.counts.distinct == 4
    _same(explore_natively(model, options), found)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("by_file", [True, False])
def test_states_really_move_between_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_file: bool
) -> None:
    monkeypatch.setattr(Jobs, "are_here", lambda jobs: by_file)
    model = load(MODELS / "toys/two_phase_commit.py", {"RMS": 5})
    options = SearchOptions(max_depth=9, checkpoint=str(tmp_path))
    found = explore(model, options, buckets=8, tasks=4, native_until=100)

    _same(explore_natively(model, SearchOptions(max_depth=9)), found)
    assert not [file.name for file in tmp_path.iterdir() if "sent-" in file.name]
    # Spark's own figure: what its tasks have written for others. Every task has its share.
    assert found.statistics["shuffled_bytes"] > 10 * found.counts.distinct
    assert 1.0 <= found.statistics["balance"] < 1.6


@pytest.mark.slow
@pytest.mark.spark
def test_bounds_stop_at_the_same_state() -> None:
    model = load(MODELS / "kafka/init_pid.py")
    options = SearchOptions(max_depth=9)
    found = explore(model, options, buckets=4, tasks=2, native_until=25)

    assert explore_natively(model, options).counts == found.counts
    assert found.stopped == "depth"


def test_a_search_without_a_large_level_says_that_no_job_ran(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--engine", "spark", "--spark-native-until", "300", "--out", str(tmp_path)]
    main(["check", str(MODELS / "toys/die_hard.py"), *words])

    said = "no Spark job ran: each level searched has fewer than 300 states (--spark-native-until)"
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.spark
def test_a_level_that_cannot_be_numbered_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "MOST_STATES", 30)
    model = load(MODELS / "toys/two_phase_commit.py", {"RMS": 3})
    with pytest.raises(EngineError, match="more than 30 states"):
        explore(model, SearchOptions(), tasks=2, native_until=1)


def test_spark_connect_is_refused() -> None:
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()

    for settings in (Settings(master="sc://host:15002"), Settings(session=session)):
        with pytest.raises(RunError, match="is one of Spark Connect"):
            context_of(settings, 1)


def test_what_it_cannot_do_is_said_before_it_starts() -> None:
    model = load(MODELS / "toys/token_ring.py")

    def reason(**settings: Any) -> str:
        return unable(model, SearchOptions(engine_settings=settings))

    assert "power of two" in reason(buckets=12)
    assert "--spark-tasks" in reason(buckets=4, tasks=5)
    assert "no setting bucket;" in reason(bucket=4)
    assert "map its files" in reason(folder="hdfs://host/states")
    assert "map its files" in reason(folder="file://elsewhere/states")
    assert not reason(folder="file:///shared/a%20b")
    assert not reason(buckets=4, tasks=4)


def test_a_folder_may_be_said_as_a_url() -> None:
    assert Settings(folder="file:///shared/a%20b").folder == "/shared/a b"
    assert Settings(folder="file:/shared").folder == "/shared"
    assert Settings(folder="/shared/a%20b").folder == "/shared/a%20b"


def test_java_is_found_without_a_system_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", "")
    home, version = find_java()

    assert version >= 17
    assert java_version(home) == version


def test_a_java_without_a_module_is_started_without_asking_for_it(tmp_path: Path) -> None:
    home, made = tmp_path / "home", tmp_path / "made"
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    (home / "release").write_text('JAVA_VERSION="21"\nMODULES="java.base jdk.net"\n')
    (home / "bin" / "java").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (home / "bin" / "java").chmod(0o755)

    assert made == whole_java(home, made)
    words = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "M"]
    told = subprocess.run([str(made / "bin" / "java"), *words], capture_output=True, check=True)
    assert told.stdout == b"-Xmx1g|a b|M|"


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from statewalk.checker.spark.session import session

    def fails(settings: dict[str, str]) -> Any:
        raise RuntimeError(f"no route to {settings['spark.master']}\nand more")

    monkeypatch.setattr(session, "_context", fails)
    monkeypatch.setattr(session, "_alive", lambda: None)
    with pytest.raises(RunError, match=r"There is no Spark at spark://nowhere:7077: no route"):
        session.cluster_context("spark://nowhere:7077")


def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from statewalk.checker.spark.session import session

    context = Mock()
    context._jsc.sc().isStopped.return_value = True
    monkeypatch.setattr(session, "_context", lambda settings: context)
    monkeypatch.setattr(session, "_alive", lambda: None)
    with pytest.raises(RunError, match=r"no Spark at spark://nowhere:7077: nobody answers there"):
        session.cluster_context("spark://nowhere:7077")

    context.stop.assert_called_once_with()


@pytest.mark.spark
def test_a_cluster_beside_a_session_that_lives() -> None:
    from statewalk.checker.spark.session import session

    session.local_session("local[2]")
    with pytest.raises(RunError, match="this process has a Spark session with local"):
        session.cluster_context("spark://nowhere:7077")


@pytest.mark.parametrize(
    ("master", "secret", "expected"),
    [
        ("yarn", False, True),
        ("k8s://https://node:443", False, True),
        ("spark://node:7077", True, True),
        ("spark://node:7077", False, False),
        ("spark://127.0.0.1:7077", True, False),
        ("local[2]", True, False),
    ],
)
def test_processes_on_several_machines_know_each_other(
    master: str, secret: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from statewalk.checker.spark.session import session

    monkeypatch.delenv(session.SECRET, raising=False)
    if secret:
        monkeypatch.setenv(session.SECRET, "s3cret")

    found = session._authentication(master)

    assert expected == ("spark.authenticate" in found)
    assert (expected and secret) == ("s3cret" in found.values())


@pytest.mark.parametrize(
    "said", ["x\n: java.lang.NullPointerException: Cannot invoke y", "on a stopped SparkContext."]
)
def test_a_cluster_that_is_gone_is_said_plainly(said: str) -> None:
    from statewalk.checker.spark.session import session

    told = session._unreachable("spark://node:7077", RuntimeError(said))

    assert str(told).startswith("SW332 There is no Spark at spark://node:7077: nobody answers")
