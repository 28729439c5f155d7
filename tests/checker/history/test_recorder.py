"""Uses of a recorder by applications: cursors kept, lists changed, keys that no history has.

The statements of a random application are told by a connection that counts on the recorder's
clock. It cannot show what other drivers' cursors can do beside.
"""

import itertools
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from statewalk.checker.history.collect import Front, Recorder
from statewalk.checker.history.data import FAIL, INFO, OK
from statewalk.checker.history.decide.check import check
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats import read
from tests.cases import slow


class Told:
    """A connection, and its own cursor, that notes when each statement was run."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.clock, self.statements = clock, list[int]()

    def cursor(self) -> "Told":
        cursor = Told(self.clock)
        cursor.statements = self.statements
        return cursor

    def execute(self, *_: Any) -> "Told":
        self.statements.append(self.clock())
        return self

    executemany = callproc = execute

    def fetchall(self) -> list[Any]:
        return []

    def commit(self) -> None:
        self.clock()

    rollback = commit


@pytest.mark.parametrize("seeds", [range(20), slow(range(20, 1000))], ids=["few", "many"])
def test_a_transaction_begins_before_its_first_statement_and_after_the_one_before(
    seeds: range, tmp_path: Path
) -> None:
    for seed in seeds:
        rng, clock = random.Random(seed), itertools.count().__next__
        began, ended, first = list[int](), list[int](), list[int]()
        path = tmp_path / f"{seed}.jsonl"
        with Recorder(path, clock=clock) as recorder:
            told = Told(clock)
            connection = recorder.wrap(told)
            kept = [connection.cursor(), connection.execute("SELECT 1")]
            connection.rollback()
            told.statements.clear()
            for value in range(5):
                began.append(clock())
                if rng.random() < 0.3:
                    kept.append(connection.cursor())
                    rng.choice(kept).fetchall()  # no statement
                for _ in range(rng.randint(1, 3)):
                    cursor = rng.choice([*kept, connection])
                    run = rng.choice(["execute", "executemany", "callproc"])
                    kept.append(getattr(cursor, run if cursor is not connection else "execute")(""))
                connection.wrote("x", value)
                first.append(told.statements[0])
                told.statements.clear()
                connection.commit()
                ended.append(clock())
        history = read(path)

        recorded = zip(began, history.begin[1:].tolist(), first, strict=True)
        assert all(earliest < begin < latest for earliest, begin, latest in recorded)
        assert [*history.end[1:]] == sorted(history.end[1:])
        assert all(end < latest for end, latest in zip(history.end[1:], ended, strict=True))


def test_a_cursor_that_is_used_again_begins_the_next_transaction(tmp_path: Path) -> None:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(tmp_path / "db", isolation_level=None)

    setup = connect()
    setup.execute("PRAGMA journal_mode = WAL")
    setup.execute("CREATE TABLE r (k PRIMARY KEY, v)")
    setup.execute("INSERT INTO r VALUES ('x', 0)")
    setup.close()
    with Recorder(tmp_path / "h.jsonl", initial=[("x", 0)]) as recorder:
        a, b = recorder.wrap(connect()), recorder.wrap(connect())
        cursor = a.cursor()
        for _ in range(2):
            cursor.execute("BEGIN")
            (value,) = cursor.execute("SELECT v FROM r WHERE k = 'x'").fetchone()
            if _:
                with b.transaction():
                    b.wrote("x", 1)
                    b.execute("UPDATE r SET v = 1 WHERE k = 'x'")
            a.saw("x", value)
            a.commit()
        a.close()
        b.close()

    assert check(read(tmp_path / "h.jsonl"), "strict-serializable").holds


@pytest.mark.parametrize(
    "statement",
    [
        "COMMIT",
        " end",
        "rollback;",
        "Abort",
        "ROLLBACK WORK",
        "-- done\nCOMMIT",
        "/* */ COMMIT",
        "SELECT ';'; COMMIT",
        "/*! COMMIT */",
        "/*M! COMMIT */",
        "PREPARE TRANSACTION 'x'",
        b"COMMIT",
        SimpleNamespace(as_string=lambda _: "COMMIT"),
        SimpleNamespace(query="COMMIT"),
    ],
)
def test_a_statement_that_ends_a_transaction_unseen_is_refused(
    statement: Any, tmp_path: Path
) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(sqlite3.connect(":memory:"))
        for run in (connection.execute, connection.cursor().execute):
            with pytest.raises(HistoryError, match="the recorder would not see"):
                run(statement)
        with pytest.raises(HistoryError, match="commits before it runs"):
            connection.cursor().executescript("CREATE TABLE a(b)")
        connection.execute("SELECT 'COMMIT; ' -- COMMIT")
        connection.execute("SAVEPOINT s")
        connection.execute("ROLLBACK TO s")
        connection.execute("ROLLBACK TRANSACTION TO SAVEPOINT s")
        connection.close()


def test_a_list_that_was_seen_is_the_applications_to_change(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(sqlite3.connect(":memory:"))
        items: list[Any] = []
        rows: list[Any] = [["k", 1]]
        for n in (1, 2):
            connection.saw("log", items)
            connection.saw_range(None, None, rows)
            items.append(n)
            rows[0][1] = rows
            rows[0] = ["k", 1]
            connection.appended("log", n)
            connection.commit()
        connection.close()
    history = read(tmp_path / "h.jsonl")

    assert "r(log) = []" == history.show(0)
    assert ["r(log) = [1]", "range(..) = {k=1}"] == [history.show(op) for op in (3, 4)]


class Named(str):
    """A string of another type, as libraries have them."""

    __slots__ = ()


def test_a_string_of_another_type_is_a_string(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(sqlite3.connect(":memory:"))
        connection.wrote(Named("k"), Named("v"))
        connection.commit()
        connection.close()

    assert ("k",) == read(tmp_path / "h.jsonl").keys


BAD: list[Any] = [("user", 7), True, 1.5, float("nan"), b"k", Ellipsis, {"a": 1}, [1]]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_a_recorder_refuses_at_the_call_what_no_history_has(bad: Any, tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(sqlite3.connect(":memory:"))
        calls: list[Callable[[], Any]] = [
            lambda: connection.saw(bad, 1),
            lambda: connection.wrote(bad, 1),
            lambda: connection.wrote("x", bad),
            lambda: connection.deleted("x", bad),
            lambda: connection.appended("x", bad),
            lambda: connection.saw("x", [bad]),
            lambda: connection.saw_range(bad, None, []),
            lambda: connection.saw_range(None, None, [("x", bad)]),
        ]
        for call in calls:
            with pytest.raises(HistoryError, match="SW701"):
                call()
        for low, high, rows in ((1, "b", []), (1, 2, [(3, 1)]), (1, 2, [(1, 1), (1, 2)])):
            with pytest.raises(HistoryError, match="SW701"):
                connection.saw_range(low, high, rows)
        connection.wrote("x", 1)
        connection.commit()
        connection.close()
    with pytest.raises(HistoryError, match="SW701"):
        Recorder(tmp_path / "other.jsonl", initial=[("x", bad)])

    assert not (tmp_path / "other.jsonl").exists()
    assert ["w(x, 1)"] == [read(tmp_path / "h.jsonl").show(0)]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_a_front_refuses_at_the_call_what_is_no_key(bad: Any, tmp_path: Path) -> None:
    def front(name: str, **more: Any) -> Front:
        return Front(tmp_path / name, str(tmp_path / "db"), database="sqlite", **more)

    with front("h.jsonl") as store:
        for word, *more in (("get",), ("put", 1), ("delete",)):
            with pytest.raises(HistoryError, match="SW701"), store.transaction() as t:
                getattr(t, str(word))(bad, *more)
        with store.transaction() as t:
            t.put("x", 1)
    if not isinstance(bad, dict | list):
        with pytest.raises(HistoryError, match="SW701"):
            front("other.jsonl", initial={bad: 1})

    assert 4 == len(read(tmp_path / "h.jsonl"))
    assert not (tmp_path / "other.jsonl").exists()


def test_a_front_stores_no_value_that_json_does_not_have(tmp_path: Path) -> None:
    with Front(tmp_path / "h.jsonl", str(tmp_path / "db"), database="sqlite") as store:
        with pytest.raises(ValueError, match="JSON"), store.transaction() as t:
            t.put("x", float("nan"))
        value = [1]
        with store.transaction() as t:
            t.put("x", value)
            value.append(2)
            t.get("x").append(3)
            assert [1] == t.get("x")


def test_a_session_without_a_name_gets_none_that_was_given(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connections = [recorder.wrap(sqlite3.connect(":memory:"), name) for name in ("s2", 0)]
        connections += [recorder.wrap(sqlite3.connect(":memory:")) for _ in range(2)]
        for taken in ("s1", True, 1.5):
            with pytest.raises(HistoryError, match="SW708"):
                recorder.wrap(connections[0], taken)  # type: ignore[arg-type]
        for connection in connections:
            connection.close()

    assert ["s2", 0, "s1", "s3"] == [connection.session for connection in connections]


def test_a_clock_that_was_set_back_loses_one_time_and_not_the_file(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl", clock=iter([5, 3, 6, 7]).__next__) as recorder:
        connection = recorder.wrap(sqlite3.connect(":memory:"))
        for value in (1, 2):
            connection.wrote("x", value)
            connection.commit()
        connection.close()
    history = read(tmp_path / "h.jsonl")

    assert [5, 6] == history.begin.tolist()
    assert "partial" in check(history, "strict-serializable").reason


def _duckdb() -> Any:
    return pytest.importorskip("duckdb").connect()


@pytest.mark.parametrize("connect", [lambda: sqlite3.connect(":memory:"), _duckdb])
@pytest.mark.parametrize("first", ["SELECT 1", "SAVEPOINT s", "BEGIN"])
def test_a_transaction_begins_with_its_first_statement(
    connect: Callable[[], Any], first: str, tmp_path: Path
) -> None:
    """Whatever the driver would do: a rollback takes all of it back."""
    plain = connect()
    if first == "SAVEPOINT s" and "Duck" in type(plain).__name__:
        pytest.skip("DuckDB has none")
    plain.execute("CREATE TABLE register (k TEXT PRIMARY KEY, v INTEGER)")
    plain.commit()
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(plain)
        connection.execute(first)
        connection.execute("INSERT INTO register VALUES ('x', 1)")
        if first.startswith("SAVEPOINT"):
            connection.execute("RELEASE s")
        connection.rollback()
        found = connection.execute("SELECT * FROM register").fetchall()
        connection.rollback()

    assert [] == found


def test_two_transactions_of_one_session_are_refused(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        one, other = (recorder.wrap(sqlite3.connect(":memory:"), "a") for _ in range(2))
        one.begin()
        with pytest.raises(HistoryError, match="open on another connection"):
            other.begin()
        one.rollback()
        other.begin()
        other.rollback()


def test_a_number_too_long_to_show_is_refused_all_the_same(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(sqlite3.connect(":memory:"))
        with pytest.raises(HistoryError, match="such a long number"):
            connection.wrote("x", 10**5000)


def test_a_transaction_that_sqlite_rolled_back_is_not_continued(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(sqlite3.connect(":memory:"))
        connection.execute("CREATE TABLE r (k PRIMARY KEY)")
        connection.commit()
        for end in (connection.commit, connection.rollback, connection.close):
            connection.wrote("x", 1)
            connection.execute("INSERT INTO r VALUES (1)")
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute("INSERT OR ROLLBACK INTO r VALUES (1)")
            with pytest.raises(HistoryError, match="has ended"):
                connection.execute("INSERT INTO r VALUES (2)")
            if end == connection.commit:
                with pytest.raises(HistoryError, match="had ended before"):
                    end()
            else:
                end()

    assert [FAIL] * 3 == read(tmp_path / "h.jsonl").status[1:].tolist()


def test_nobody_knows_the_outcome_of_what_another_hand_ended(tmp_path: Path) -> None:
    plain = sqlite3.connect(":memory:")
    plain.execute("CREATE TABLE r (k)")
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(plain)
        cursor = connection.cursor()
        assert cursor.connection is connection
        with pytest.raises(HistoryError, match=r"with connection\.transaction"), cursor.connection:
            pass
        for end in (connection.commit, connection.rollback):
            connection.wrote("x", 1)
            cursor.execute("INSERT INTO r VALUES (1)")
            plain.commit()
            with pytest.raises(HistoryError, match="has ended"):
                connection.execute("INSERT INTO r VALUES (2)")
            if end == connection.commit:
                with pytest.raises(HistoryError, match="had ended before"):
                    end()
            else:
                end()

    assert [INFO] * 2 == read(tmp_path / "h.jsonl").status.tolist()


class Server:
    """A driver of MySQL: `server_status` is that of the last answer that was no error."""

    __module__ = "pymysql.connections"

    def __init__(self, *, autocommit: bool) -> None:
        self.autocommits, self.server_status, self.asked = autocommit, 0, list[str]()

    def get_autocommit(self) -> bool:
        return self.autocommits

    def cursor(self) -> "Server":
        return self

    def execute(self, query: str) -> None:
        if query == "deadlock":
            raise ValueError(1213, "Deadlock found")
        self.asked.append(query)
        begins = query == "BEGIN" or (query.startswith("UPDATE") and not self.autocommits)
        self.server_status = int((self.server_status or begins) and not query.startswith("CALL"))

    def commit(self) -> None:
        self.execute("CALL COMMIT")

    def rollback(self) -> None:
        self.execute("CALL ROLLBACK")


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_transaction_in_mysql_ends_where_the_recorder_sees_it(
    autocommit: bool, tmp_path: Path
) -> None:
    server = Server(autocommit=autocommit)
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(server)
        cursor = connection.cursor()
        with connection.transaction():
            connection.execute("BEGIN")
            connection.wrote("x", 1)
            connection.execute("UPDATE r")
        cursor.execute("CREATE TABLE t (a)")
        connection.wrote("x", 2)
        cursor.execute(query="UPDATE r")
        for text in ("DROP TABLE t", "/*!50000 DROP TABLE t */", "set @@autocommit = 1", "BEGIN"):
            with pytest.raises(HistoryError, match="MySQL commits"):
                cursor.execute(query=text)
        with pytest.raises(HistoryError, match="MySQL commits"):
            connection.execute("SELECT 1; DROP TABLE t")
        with pytest.raises(ValueError, match="Deadlock"):
            cursor.execute("deadlock")
        with pytest.raises(HistoryError, match="has ended"):
            cursor.execute("UPDATE r")
        with pytest.raises(HistoryError, match="had ended before"):
            connection.commit()
        connection.wrote("x", 3)
        connection.execute("UPDATE r")
        with pytest.raises(HistoryError, match="it ended the transaction"):
            connection.execute("CALL commits()")
        connection.rollback()
    begin = ["BEGIN"] * autocommit

    assert [OK, FAIL, INFO] == read(tmp_path / "h.jsonl").status.tolist()
    assert server.asked == [
        "BEGIN", "UPDATE r", "CALL COMMIT", "CREATE TABLE t (a)", *begin, "UPDATE r",
        "CALL ROLLBACK", *begin, "UPDATE r", "CALL commits()", "CALL ROLLBACK",
    ]  # fmt: skip


def test_an_autocommit_mode_that_the_recorder_cannot_leave_is_refused(tmp_path: Path) -> None:
    told = Told(itertools.count().__next__)
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(told)
        with pytest.raises(AttributeError):
            connection.autocommit = True  # type: ignore[attr-defined]  # pyright: ignore
        told.autocommit = True  # type: ignore[attr-defined]  # pyright: ignore
        for call in (lambda: recorder.wrap(told), lambda: connection.execute("SELECT 1")):
            with pytest.raises(HistoryError, match="autocommit mode"):
                call()
