"""The written graph is the one that plain Python finds, row by row."""

from __future__ import annotations

import json
import tempfile
import textwrap
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker import native
from statewalk.checker.api import load
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines.layout import Layout
from statewalk.checker.graph.ask import Database
from statewalk.checker.graph.columns import columns_of
from statewalk.checker.graph.dataset import read_about
from statewalk.checker.graph.write import write_graph
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import encode
from tests.cases import examples, some
from tests.checker.graph.explicit import bare, cell, explicit
from tests.checker.native.generated import generate
from tests.places import ROOT

SPECS = {
    "two_phase_commit": ("models/toys/two_phase_commit.py", {"RMS": 3}),
    "die_hard": ("models/toys/die_hard.py", {}),
    "token_ring": ("models/toys/token_ring.py", {}),
    "counters": ("models/toys/counters.py", {}),
    "choices": ("specs/toys/choices.fizz", {}),
    "roles": ("specs/toys/roles.fizz", {}),
    "steps": ("specs/toys/steps.fizz", {}),
    "values": ("specs/toys/values.fizz", {}),
    "dice": ("specs/toys/dice.fizz", {}),
    "init_pid": ("models/kafka/init_pid.py", {"CLIENTS": 1, "BROKERS": 2}),
}
FIXED = ("fingerprint", "depth", "parent", "action", "actor", "arguments", "expanded")

SPECS_OF_GRAPHS = ROOT / "tests/checker/graph/specs"
KINDS = {
    "Node_0_log": "list<element: int64>",
    "Node_0_seen": "list<element: int64>",
    "Node_0_bag": "list<element: int64>",
    "Node_0_votes": "list<element: struct<term: int64, who: string>>",
    "Node_0_sent": "list<element: struct<class: string, ok: bool, term: int64, who: string>>",
    "Node_0_pair": "struct<_1: int64, _2: string>",
    "Node_0_odd": "struct<_1: int64, _2_text: string>",
    "Node_0_point": "list<element: int64>",
    "Node_0_at": "map<list<element: int64>, int64 ('Node_0_at')>",
    "Node_0_by": "map<string, list<element: int64> ('Node_0_by')>",
    "Node_0_nested": "map<string, map<string, list<element: int64> ('value')> ('Node_0_nested')>",
    "Node_0_unnamed_text": "map<string, int64 ('Node_0_unnamed_text')>",
    "Node_0_mixed_text": "list<element: string>",
    "Node_0_union_text": "string",
    "Node_0_flags_text": "string",
    "Node_0_kinds_text": "string",
    "Node_0_large_text": "string",
    "Node_0_peer": "string",
    "Node_0_colour": "string",
    "Node_0_empty": "struct<class: string>",
}
CUT = """
    from statewalk import State, action, any_of, constraint, old, on_step

    class Counters(State):
        a: int = 0
        b: int = 0
        seen: set[int] = set()

        @action
        def raise_a(self):
            self.a += 1

        @action
        def raise_b(self):
            step = any_of([0, 1, 2])
            self.b = (self.b + step) % 4
            self.seen.add(step)

    counters = Counters()

    @constraint
    def small():
        return counters.a <= 2

    @constraint
    @on_step
    def not_far():
        return counters.b - old(counters.b) < 2
"""


def graph_of(model: Model, folder: Path, **options: Any) -> tuple[Exploration, list[Any], Any]:
    asked = SearchOptions(threads=2, **options)
    found = native.explore(model, asked)
    write_graph(model, asked, found, folder)
    tables = [pq.read_table(folder / name).to_pylist() for name in ("states", "transitions")]
    return found, tables, read_about(folder)


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    graph_of(load(SPECS_OF_GRAPHS / "kinds.py"), folder, keep_going=True)
    return folder


def agree(model: Model, folder: Path, **options: Any) -> tuple[Exploration, Any]:
    """Write the graph, and compare it with the explicit one."""
    found, (states, transitions), about = graph_of(model, folder, **options)
    depth = None if found.complete else found.counts.depth
    expected = explicit(model, depth)

    assert Counter(tuple(row.values()) for row in transitions) == expected.steps
    assert len(states) == len(expected.states) == found.counts.distinct == about.states
    fields = about.columns
    schema = pq.read_schema(next((folder / "states").glob("*.parquet")))
    of = {field: column for column, field in fields.items()}
    for row in states:
        *way, content = expected.states[row["fingerprint"]]
        assert [row[name] for name in FIXED[1:6]] == way
        own = {field: row[column] for column, field in fields.items()}
        assert {f: bare(v) for f, v in own.items() if v is not None or f in content} == {
            f: bare(cell(v, schema.field(of[f]).type)) for f, v in content.items()
        }
    return found, about


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", some(SPECS, every=6))
def test_the_rows_are_those_of_plain_python(name: str, tmp_path: Path) -> None:
    path, constants = SPECS[name]
    model = load(ROOT / path, constants)
    found, about = agree(model, tmp_path / "graph", keep_going=True)

    # no constraint here: every step that was generated is a row, loops and repetitions included
    assert about.transitions == found.counts.generated - len(model.initial_states)
    assert about.complete
    assert about.expanded_depth == found.counts.depth


def test_what_constraints_refuse_is_no_row(tmp_path: Path) -> None:
    spec = tmp_path / "cut.py"
    spec.write_text(textwrap.dedent(CUT), encoding="utf-8")
    found, about = agree(load(spec), tmp_path / "graph")

    assert set(found.cut) == {"small", "not_far"}
    assert about.transitions < found.counts.generated - 1


def test_a_bounded_search_gives_the_levels_it_saw(tmp_path: Path) -> None:
    model = load(ROOT / "models/toys/two_phase_commit.py", {"RMS": 3})
    _, about = agree(model, tmp_path / "graph", max_depth=4)

    assert not about.complete
    assert (about.depth, about.expanded_depth) == (4, 3)
    states = pq.read_table(tmp_path / "graph/states").to_pylist()
    assert all(row["expanded"] == (row["depth"] < 3) for row in states)


def test_a_search_that_stops_at_a_violation(tmp_path: Path) -> None:
    found, about = agree(load(ROOT / "models/toys/die_hard.py"), tmp_path / "graph")

    assert found.stopped == "violation"
    assert about.depth == found.counts.depth == about.expanded_depth + 1


def test_scalars_have_types_of_their_own(tmp_path: Path) -> None:
    _, (states, _), _ = graph_of(load(ROOT / "models/toys/die_hard.py"), tmp_path / "g")
    schema = pq.read_schema(next((tmp_path / "g/states").glob("*.parquet")))

    assert str(schema.field("Jugs_big").type) == "int64"
    assert str(schema.field("expanded").type) == "bool"
    assert {type(row["Jugs_big"]) for row in states} == {int}


def test_a_graph_replaces_a_graph_and_nothing_else(tmp_path: Path) -> None:
    model, folder = load(ROOT / "models/toys/die_hard.py"), tmp_path / "graph"
    graph_of(model, folder, max_depth=2)
    graph_of(model, folder)
    assert read_about(folder).depth == 7

    other = tmp_path / "mine"
    other.mkdir()
    (other / "notes.txt").write_text("keep me", encoding="utf-8")
    with pytest.raises(RunError, match="SW350"):
        graph_of(model, other)
    assert (other / "notes.txt").read_text(encoding="utf-8") == "keep me"


def test_what_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    from statewalk.checker.graph import write

    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "state_table", fails)
    with pytest.raises(RunError, match="No space left"):
        graph_of(load(ROOT / "models/toys/die_hard.py"), tmp_path / "graph")
    assert list(tmp_path.iterdir()) == []


def test_values_have_types_that_sql_looks_into(tmp_path: Path) -> None:
    _, about = agree(load(SPECS_OF_GRAPHS / "kinds.py"), tmp_path, keep_going=True)
    schema = pq.read_schema(next((tmp_path / "states").glob("*.parquet")))

    assert KINDS == {name: str(schema.field(name).type) for name in about.columns}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("states", "predicate"),
    [
        (3, "len(Node_0_log) = 1"),
        (4, "list_contains(Node_0_seen, 0)"),
        (7, "Node_0_votes[1].who = 'x'"),
        (6, "len(list_filter(Node_0_sent, lambda m: m.class = 'Ack')) = 1"),
        (7, "cardinality(Node_0_at) = 1 AND Node_0_at[[1, 2]] = 3"),
        (6, "list_contains(Node_0_nested['a']['b'], 3)"),
        (6, "1 IN (SELECT unnest(Node_0_bag))"),
        (6, "Node_0_union_text = '''0'''"),
        (3, "Node_0_union_text = '0'"),
    ],
)
def test_sql_looks_into_values(kinds: Path, states: int, predicate: str) -> None:
    found = Database(kinds).ask(f"SELECT count(*) FROM states WHERE {predicate}")

    assert ((states,),) == found.rows


@pytest.mark.thorough
def test_the_questions_of_the_page_are_answered(kinds: Path) -> None:
    page = (ROOT / "docs/how-to/graph.md").read_text(encoding="utf-8")
    block = next(b for b in page.split("```sql\n") if "Node_0_log" in b).partition("```")[0]
    asked = [line.partition("--")[0] for line in block.splitlines()]

    assert 6 == len(asked)
    assert all(Database(kinds).ask(question).rows for question in asked)


def test_a_graph_of_another_format_is_refused(tmp_path: Path) -> None:
    graph_of(load(ROOT / "models/toys/die_hard.py"), tmp_path)
    manifest = tmp_path / "graph.json"
    data = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**data, "schema": 1}), encoding="utf-8")

    with pytest.raises(RunError, match=r"SW351.*has format 1; this version reads 3"):
        read_about(tmp_path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "column", "said"),
    [
        ("depth", pa.array([1] * 14), "two columns 'depth'"),
        ("Depth", pa.array([1] * 14), "two columns"),
        ("half", pa.array([1.0] * 14, pa.float16()), "'half' that graph.json does not name"),
        ("wide", pa.array([1] * 14, pa.decimal256(60, 3)), "'wide' that graph.json does not name"),
    ],
)
def test_columns_that_were_not_written_are_named(
    tmp_path: Path, name: str, column: pa.Array, said: str
) -> None:
    graph_of(load(ROOT / "models/toys/die_hard.py"), tmp_path)
    part = next((tmp_path / "states").glob("*.parquet"))
    pq.write_table(pq.read_table(part).append_column(name, column), part)

    with pytest.raises(RunError, match=f"SW351.*{said}"):
        read_about(tmp_path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [pa.float16(), pa.decimal256(60, 3), pa.int8(), pa.binary()])
def test_a_column_of_another_type_is_named(tmp_path: Path, kind: pa.DataType) -> None:
    graph_of(load(ROOT / "models/toys/die_hard.py"), tmp_path)
    part = next((tmp_path / "states").glob("*.parquet"))
    table = pq.read_table(part)
    for name in ("depth", table.column_names[-1]):
        at, nothing = table.column_names.index(name), pa.nulls(len(table), kind)
        pq.write_table(table.set_column(at, name, nothing), part)

        with pytest.raises(RunError, match=f"SW351.*'{name}' of the type"):
            read_about(tmp_path)


def test_a_column_that_is_only_spoken_of_is_named(tmp_path: Path) -> None:
    graph_of(load(ROOT / "models/toys/die_hard.py"), tmp_path)
    manifest = tmp_path / "graph.json"
    data = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**data, "columns": {**data["columns"], "Nope": "x"}}))

    with pytest.raises(RunError, match=r"SW351.*no column 'Nope'"):
        read_about(tmp_path)


def test_a_file_of_another_graph_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    graph_of(load(ROOT / "models/toys/die_hard.py"), tmp_path / "graph")
    graph_of(load(ROOT / "models/toys/die_hard.py"), other)
    part, further = (next((p / "states").glob("*.parquet")) for p in (tmp_path / "graph", other))
    table = pq.read_table(part)
    pq.write_table(table.take(pa.array([*range(1, len(table)), 0])), further)

    with pytest.raises(RunError, match=r"SW351.*states/\S+ does not hold what was written to it"):
        read_about(other)
    further.write_bytes(part.read_bytes())
    assert 14 == read_about(other).states
    empty = pq.read_table(part).slice(0, 0)
    pq.write_table(empty, further.with_name("more.parquet"))
    with pytest.raises(RunError, match=r"SW351.*states/more.parquet does not hold what was"):
        read_about(other)


def test_damage_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    graph_of(load(ROOT / "models/toys/die_hard.py"), folder)
    part = next((folder / "transitions").glob("*.parquet"))
    whole = part.read_bytes()

    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match=r"SW351.*a file of transitions cannot be read"):
        read_about(folder)
    part.unlink()
    with pytest.raises(RunError, match=r"SW351.*transitions has 0 rows"):
        read_about(folder)
    part.write_bytes(whole)
    manifest = folder / "graph.json"
    data = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**data, "states": 1}), encoding="utf-8")
    with pytest.raises(RunError, match=r"SW351.*states has \d+ rows, of 1 written"):
        read_about(folder)
    manifest.write_text("{", encoding="utf-8")
    with pytest.raises(RunError, match="SW351"):
        read_about(folder)
    manifest.unlink()
    with pytest.raises(RunError, match="SW350"):
        read_about(folder)


@settings(deadline=None, max_examples=examples(30))
@given(random=st.randoms(use_true_random=False), max_depth=st.sampled_from([None, 3]))
def test_generated_models(random: Random, max_depth: int | None) -> None:
    model = generate(random)
    with tempfile.TemporaryDirectory() as folder:
        found = native.explore(model, SearchOptions(keep_going=True, max_states=150))
        if found.stopped == "states" or any(f.kind == "error" for f in found.findings):
            return
        agree(model, Path(folder, "graph"), keep_going=True, max_depth=max_depth)


def test_a_field_that_is_only_ever_there_in_parts_has_a_column() -> None:
    model = load(ROOT / "models" / "toys" / "die_hard.py")
    layout = Layout(model)
    layout.slot(("R", 0, "f0"))  # looked at, and never there as a whole
    part = layout.slot(("R", 0, "f0", "key", encode(1)))
    layout.value_id(part, 7)

    assert "R#0.f0" in [column.shows for column in columns_of(model, layout)]
