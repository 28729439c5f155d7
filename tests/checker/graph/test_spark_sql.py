"""What SQL may not do on Spark: run programs, reach files, change anything; and what it may."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.graph.ask import ENDLESS, Patience, TookTooLong
from statewalk.checker.graph.ask_spark import SparkTables
from statewalk.checker.graph.write import write_graph
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from tests.cases import some
from tests.places import ROOT

pytestmark = pytest.mark.spark
RUN = "SELECT TRANSFORM(depth) USING 'touch {went}' AS (x string) FROM states"
TOUCH = "reflect('java.lang.Runtime', 'getRuntime')"

# What is tried, and what the error says of it. {went} must not be there afterwards.
ESCAPES = [
    (RUN, "TRANSFORM"),
    ("MAP depth USING 'touch {went}' AS (x string) FROM states", ""),
    ("FROM states MAP depth USING 'touch {went}' AS x", "TRANSFORM"),
    ("FROM (FROM states SELECT depth) REDUCE depth USING 'touch {went}'", "TRANSFORM"),
    (f"SELECT * FROM ({RUN})", "TRANSFORM"),
    (f"WITH t AS ({RUN}) SELECT * FROM t", "TRANSFORM"),
    (f"WITH a AS (WITH b AS ({RUN}) SELECT * FROM b) SELECT 1 FROM a", "TRANSFORM"),
    (f"SELECT 1 WHERE EXISTS ({RUN})", "TRANSFORM"),
    (f"SELECT (SELECT count(*) FROM ({RUN}))", "TRANSFORM"),
    (f"SELECT 1 UNION ALL {RUN}", "TRANSFORM"),
    (f"SELECT * FROM states, LATERAL ({RUN})", "TRANSFORM"),
    (f"EXPLAIN CODEGEN {RUN}", "TRANSFORM"),
    (f"DESCRIBE QUERY {RUN}", ""),
    (f"SELECT * FROM explode(array((SELECT max(x) FROM ({RUN}))))", "TRANSFORM"),
    ("SELECT reflect('java.lang.System', 'getenv', 'HOME')", "the function reflect"),
    ("SELECT ReFlect('java.lang.System', 'getenv', 'HOME')", "the function ReFlect"),
    ("SELECT `reflect`('java.lang.System', 'getenv', 'HOME')", "the function reflect"),
    ("SELECT java_method('java.lang.System', 'getenv', 'HOME')", "the function java_method"),
    ("SELECT try_reflect('java.lang.System', 'getenv', 'HOME')", "the function try_reflect"),
    ("SELECT system.builtin.reflect('java.lang.System', 'getenv', 'HOME')", "reflect"),
    (f"SELECT transform(array(1), x -> {TOUCH})", "the function reflect"),
    (f"SELECT 1 FROM states ORDER BY {TOUCH}", "the function reflect"),
    (f"SELECT 1 FROM states GROUP BY {TOUCH}", "the function reflect"),
    (f"SELECT sum(depth) OVER (PARTITION BY {TOUCH}) FROM states", "the function reflect"),
    (f"SELECT sum(depth) OVER w FROM states WINDOW w AS (ORDER BY {TOUCH})", "reflect"),
    (f"SELECT sum(depth) FILTER (WHERE {TOUCH} = 'a') FROM states", "the function reflect"),
    (f"SELECT count(*) FROM states HAVING {TOUCH} = 'a'", "the function reflect"),
    (f"SELECT * FROM VALUES ({TOUCH}) AS t(x)", "the function reflect"),
    (f"SELECT * FROM states LATERAL VIEW explode(array({TOUCH})) t AS x", "the function reflect"),
    (f"SELECT * FROM states s JOIN states t ON {TOUCH} = 'a'", "the function reflect"),
    (f"SELECT * FROM range(length({TOUCH}))", "the function reflect"),
    (f"SELECT * FROM states LIMIT length({TOUCH})", "the function reflect"),
    (f"SELECT CASE WHEN 1 = 1 THEN {TOUCH} END", "the function reflect"),
    (f"FROM states |> WHERE {TOUCH} = 'a'", "the function reflect"),
    ("SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'getenv', 'HOME')", ""),
    ("SELECT * FROM IDENTIFIER('csv.`/etc/passwd`')", ""),
    ("EXECUTE IMMEDIATE 'SELECT reflect(''java.lang.System'', ''getenv'', ''HOME'')'", ""),
    (f"BEGIN {RUN}; END", ""),
    ("SELECT * FROM csv.`/etc/passwd`", "the table csv./etc/passwd"),
    ("TABLE text.`/etc/passwd`", "the table text./etc/passwd"),
    ("DESCRIBE csv.`/etc/passwd`", "the table csv./etc/passwd"),
    ("SELECT * FROM binaryFile.`/etc/passwd`", "the table"),
    ("SELECT * FROM jdbc.`jdbc:derby:{went};create=true`", "the table"),
    ("SELECT * FROM states JOIN parquet.`{went}` USING (depth)", "the table parquet."),
    ("CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/etc/passwd')", "Create"),
    ("CREATE TABLE t USING parquet LOCATION '{went}' AS SELECT 1", "Create"),
    ("CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:derby:{went};create=true', dbtable 'x')", ""),
    ("CREATE TEMPORARY FUNCTION f AS 'java.lang.Runtime'", "Create"),
    ("CREATE FUNCTION f AS 'x' USING JAR '/tmp/x.jar'", "Create"),
    ("CREATE OR REPLACE TEMPORARY FUNCTION f() RETURNS INT RETURN 1", "Create"),
    ("CREATE DATABASE d LOCATION '{went}'", "Create"),
    ("INSERT OVERWRITE DIRECTORY '{went}' USING csv SELECT 1", "InsertIntoDir"),
    ("INSERT OVERWRITE LOCAL DIRECTORY '{went}' USING csv SELECT 1", "InsertIntoDir"),
    ("WITH x AS (SELECT 1) INSERT OVERWRITE DIRECTORY '{went}' USING csv SELECT * FROM x", ""),
    ("FROM states INSERT OVERWRITE DIRECTORY '{went}' USING csv SELECT 1", "InsertIntoDir"),
    ("ADD JAR '/tmp/x.jar'", "Add"),
    ("ADD FILE '/etc/passwd'", "Add"),
    ("LIST FILES", ""),
    ("SET spark.sql.runSQLOnFiles = true", "SetCommand"),
    ("SET -v", "SetCommand"),
    ("RESET", "ResetCommand"),
    ("SET VAR x = 1", ""),
    ("DROP VIEW states", ""),
    ("CACHE TABLE states", "Cache"),
    ("REFRESH '/etc'", "Refresh"),
    ("LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE t", ""),
    ("USE default", ""),
    ("SELECT from_xml('<a/>', 'a INT')", "the function from_xml"),
    ("SELECT xpath_string('<a/>', 'a')", "the function xpath_string"),
    ("SELECT from_protobuf(x'00', 'm', '/etc/passwd')", "the function from_protobuf"),
    ("SELECT input_file_name() FROM states", "the function input_file_name"),
    ("SELECT current_user()", "the function current_user"),
    ("SELECT nothing FROM states", "nothing"),
]
# Whoever may read and write files may run no program all the same.
NEVER = [sql for sql, _ in ESCAPES if "touch" in sql or "reflect" in sql or "FUNCTION" in sql]
NEVER += [sql for sql, _ in ESCAPES if "JAR" in sql or "jdbc" in sql]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs") / "g"
    model = load(ROOT / "models/toys/two_phase_commit.py", {"RMS": 2})
    options = SearchOptions(threads=1)
    write_graph(model, options, native.explore(model, options), folder)
    return folder


@pytest.fixture(scope="module")
def tables(graph: Path) -> SparkTables:
    return SparkTables(graph)


@pytest.mark.parametrize(("sql", "said"), some(ESCAPES, every=6))
def test_questions_that_are_none(sql: str, said: str, tables: SparkTables, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="SW352") as error:
        tables.ask(sql.replace("{went}", str(tmp_path / "went")))

    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sql", some(NEVER, every=8))
def test_not_with_files_either(sql: str, graph: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="SW352"):
        SparkTables(graph, files=True).ask(sql.replace("{went}", str(tmp_path / "went")))

    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_is_looked_at_as_well(tables: SparkTables, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="TRANSFORM"):
        tables.keep("goals", RUN.replace("{went}", str(tmp_path / "went")))

    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_not_told(tables: SparkTables) -> None:
    assert tables.ask("SELECT '${env:HOME}'").rows == (("${env:HOME}",),)


def test_files_of_data_when_asked_for(graph: Path, tmp_path: Path) -> None:
    files = SparkTables(graph, files=True)
    files.ask(f"INSERT OVERWRITE DIRECTORY '{tmp_path / 'out'}' USING csv SELECT 7 AS n")

    assert (("7",),) == files.ask(f"SELECT * FROM csv.`{tmp_path / 'out'}`").rows


QUESTIONS = [
    "WITH a AS (SELECT max(depth) AS n FROM states) SELECT upper('x'), n FROM a",
    "SELECT action, count(DISTINCT source) FROM transitions GROUP BY 1 HAVING count(*) > 1",
    "SELECT depth, rank() OVER (PARTITION BY expanded ORDER BY depth) FROM states LIMIT 3",
    "SELECT * FROM states WHERE fingerprint NOT IN (SELECT source FROM transitions) ORDER BY 1",
    "SELECT transform(array(1, 2), x -> x + 1), CASE WHEN true THEN 1 END, CAST(1 AS INT)",
    "SELECT * FROM (SELECT depth, expanded e FROM states) PIVOT (count(*) FOR e IN (true))",
    "SELECT e FROM states LATERAL VIEW explode(array(depth)) t AS e",
    "WITH RECURSIVE t AS (SELECT 1 n UNION ALL SELECT n + 1 FROM t WHERE n < 5) TABLE t",
    "FROM states |> WHERE depth > 1 |> SELECT depth",
    "SELECT * FROM states s JOIN transitions t ON s.fingerprint = t.source LEFT JOIN range(2)",
    "EXPLAIN SELECT * FROM states",
    "DESCRIBE states",
    "SHOW TABLES",
]


@pytest.mark.parametrize("sql", some(QUESTIONS, every=4))
def test_questions(sql: str, tables: SparkTables) -> None:
    assert tables.ask(sql, 100).columns


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_a_question_without_end(seconds: float, tables: SparkTables) -> None:
    # a row of the first table is the least that Spark does before it hears that it is to stop
    sql = "SELECT count(*) FROM range(100000000000) a, range(100) b WHERE a.id < b.id"
    began = time.monotonic()
    tables.patience = Patience(seconds)
    try:
        with pytest.raises(TookTooLong, match="SW355"):
            tables.ask(sql)
    finally:
        tables.patience = ENDLESS

    assert time.monotonic() - began < 30
    assert ((4,),) == tables.ask("SELECT count(*) FROM range(0, 4, 1, 4)").rows
