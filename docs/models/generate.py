"""Brings the generated parts of the pages of this folder up to date: python docs/models/generate.py

What is generated follows a line that says of what, up to its end:

- a fenced block of the language ``console`` that begins with ``$ statewalk check``: the trace that
  the command prints, without constants that fill several lines. If the command ends in ``# steps``,
  changes and evidence are left out too. A block with ``$ statewalk replay --steps story.txt`` takes
  the trace in the block before it for the story, and shows where it ends under other constants;
- ``<!-- configurations: FILE -->``: the table of the configurations of that spec, or of those with
  a prefix: ``FILE PREFIX``; if they are many, their number and the command that prints them;
- ``<!-- matrix: FILE -->``: a table of configurations, each cell with the name of one and what it
  expects of the property that the column names;
- ``<!-- compared: MODEL -->``: a table of options of ``statewalk compare MODEL``, with what becomes
  of the properties of the first, and of what refutes them;
- ``<!-- counts: kafka/replication -->``: the table of its rows;
- ``<!-- fields: SPEC [CONFIG] -->``: the fields that make most of the states of that spec;
- ``<!-- formats -->``: the same workloads on every format of tables, from their configurations;
- ``<!-- figure: ARGUMENTS -->``: what ``statewalk export ARGUMENTS`` draws;
- ``<!-- flow: FILE CONFIGURATION``, steps, ``-->``: the sequence diagram of these steps, or of
  those after a line ``...``;
- ``<!-- begin-commit graph: FILE CONFIGURATION -->``: the graph of the history at the end of the
  trace.

A test fails when a page is stale.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import tempfile
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

from statewalk.checker.api import check, declared_within
from statewalk.checker.behaviours.guided import follow, read_steps
from statewalk.checker.behaviours.replay import replay
from statewalk.checker.cli import main
from statewalk.checker.history.commands.from_trace import load_with_hook, recorded_in
from statewalk.checker.traces.exports import export_trace
from statewalk.checker.traces.reading import load_trace
from statewalk.dsl.declared import Expectation
from statewalk.dsl.library.isolation import (
    Edge,
    Transaction,
    Versions,
    bc_edges,
    dependencies,
    judge,
)
from statewalk.dsl.library.recording import log_of, transactions, version_order
from statewalk.dsl.loader import load
from statewalk.dsl.model import Configuration
from statewalk.models.kafka import replication_rows
from statewalk.models.tables import comparison

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
_SHORT = {"weak_isr": "weak", "strong_isr": "strong", "no_committed_record_lost": "lost"}
_ENDS = 44  # letters of a change
_LINES = 32  # of a diagram, beyond which its changes have no values
_SPAN = 7  # words of a row that says what the next ones share
_SOME_STATES = 50_000  # of which fields are counted
_MAKES, _MAKERS = 1.2, 3  # times the states, and of how many fields
_MANY = 16  # configurations, from which on there is no table
_MARKS = {"b": "begin", "c": "commit"}
_ELSEWHERE = ("diskless",)  # prefixes of configurations that have a page of their own
TRACE = r"^(```console\n\$ statewalk (?P<command>check [^\n]*)\n)(?P<old>.*?)^```$"
Constants = frozenset[tuple[str, Any]]
Group = tuple[Constants, list[int]]
STEPS = "# steps"
STORY = (
    r"^(```console\n\$ statewalk (?P<command>replay --steps story.txt [^\n]*)\n)(?P<old>.*?)^```$"
)
DRAWN = r"(?P<old>```mermaid\n.*?^```\n)"
ROWS = r"(?P<old>.*?\n)(?=\n|\Z)"
KINDS = {
    "traces": TRACE,
    "stories": STORY,
    "configurations": rf"^(<!-- configurations: (?P<spec>\S+)(?P<prefix> \S+)? -->\n\n){ROWS}",
    "matrices": rf"^(<!-- matrix: (?P<spec>\S+) -->\n\n){ROWS}",
    "comparisons": rf"^(<!-- compared: (?P<spec>\S+) -->\n\n){ROWS}",
    "counts": rf"^(<!-- counts: kafka/replication -->\n\n){ROWS}",
    "fields": rf"^(<!-- fields: (?P<spec>\S+)(?P<config> \S+)? -->\n\n){ROWS}",
    "formats": rf"^(<!-- formats -->\n\n){ROWS}",
    "figures": rf"^(<!-- figure: (?P<command>.*?) -->\n\n){DRAWN}",
    "flows": rf"^(<!-- flow: (?P<spec>\S+) (?P<config>\S+)\n(?P<of>.*?)-->\n\n){DRAWN}",
    "graphs": rf"^(<!-- begin-commit graph: (?P<spec>\S+) (?P<config>\S+) -->\n\n){DRAWN}",
}


def fresh(page: str, kinds: Collection[str] = KINDS) -> str:
    """The text of a page with its generated parts, or those of some kinds, as they should be."""
    for kind in kinds:
        found = re.compile(KINDS[kind], re.MULTILINE | re.DOTALL)
        page = found.sub(partial(part, kind, page), page)
    return page


def part(kind: str, page: str, m: re.Match[str]) -> str:
    """The line that says what is generated, and what follows it."""
    match kind:
        case "traces":
            told = re.search(STORY, page, re.MULTILINE | re.DOTALL) is not None
            return f"{m[1]}{trace(m['command'], told)}\n```"
        case "stories":
            told = re.findall(TRACE, page[: m.start()], re.MULTILINE | re.DOTALL)[-1][-1]
            return f"{m[1]}{story(m['command'], told)}\n```"
        case "configurations":
            return f"{m[1]}{table(m['spec'], (m['prefix'] or '').strip())}\n"
        case "matrices":
            return f"{m[1]}{matrix(m['spec'], m['old'])}\n"
        case "comparisons":
            return f"{m[1]}{comparisons(m['spec'], m['old'])}\n"
        case "counts":
            return f"{m[1]}{counts()}\n"
        case "fields":
            return f"{m[1]}{makers(m['spec'], (m['config'] or '').strip() or None)}\n"
        case "formats":
            return f"{m[1]}{formats()}\n"
        case "figures":
            drawn = "\n".join(printed("export", *shlex.split(m["command"])))
        case "flows":
            drawn = flow(m["spec"], m["config"], m["of"])
        case _:
            drawn = graph(m["spec"], m["config"])
    return f"{m[1]}```mermaid\n{drawn}\n```\n"


def printed(*command: str) -> list[str]:
    """The lines that a command prints."""
    out = io.StringIO()
    with (
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
        mock.patch.dict(os.environ, {"COLUMNS": "100"}),
    ):
        main(list(command))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def trace(command: str, told: bool = False) -> str:
    """What a command prints of the first violation, without where it was saved.

    Steps of a page that tells them again, as stories, keep their choices.
    """
    with tempfile.TemporaryDirectory() as run:
        words = shlex.split(command, comments=True)
        lines = printed(*words, "--out", str(Path(run) / "run"))
    end = next(i for i, line in enumerate(lines) if line.startswith("  replay"))
    shown = without_constants("\n".join(lines[:end]).rstrip())
    return steps_of(shown, told) if command.endswith(STEPS) else shown


def steps_of(trace: str, told: bool) -> str:
    """Return the verdict of a trace and its steps, without evidence, changes and (if they are not
    told again) choices of records.
    """
    head, _, steps = trace.partition("\n\n")
    kept = [x for x in head.splitlines() if not (x.startswith("    ") or x.endswith(":"))]
    kept = [line for line in kept if not re.match(r"  (If stopping|deadlock\()", line)]
    labels = [line for line in steps.splitlines() if not line.startswith(" " * 9)]
    if not told:
        joined = re.sub(r"\n {7}(?=\S)", " ", "\n".join(labels))
        cut = re.compile(r"^(.*? · .*?)(?: · | · (.*?), )(\S+=)?[A-Z]\w*\(.*")
        labels = [
            cut.sub(lambda m: f"{m[1]} · {m[2]}" if m[2] else m[1], line)
            for line in joined.splitlines()
        ]
    return "\n".join([*kept, "", *labels])


def without_constants(trace: str) -> str:
    """Return a trace without the constants of its first line if they fill several lines."""
    found = re.search(r"^    0  init  [A-Z].*\n(?: {10,}.*\n)+", trace, re.MULTILINE)
    if found is None:
        return trace
    kept = re.sub(r"\b[A-Z][A-Z0-9_]*=\S+\s*", "", found[0]).rstrip()
    return f"{trace[: found.start()]}{kept}  …\n{trace[found.end() :]}"


def story(command: str, told: str) -> str:
    """The last step that a story comes to, or the one that is not possible, and why."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "story.txt"
        file.write_text(told, encoding="utf-8")
        lines = printed(*shlex.split(command.replace("story.txt", str(file))))
    last = max(i for i, line in enumerate(lines) if re.match(r" +\d+  |line \d+: ", line))
    shown = [line for line in lines[last:] if line]
    if shown[0].startswith("line"):
        shown = shown[:2]
    return "\n".join(["…", *shown])


def graph(spec: str, config: str) -> str:
    """The begin-commit graph at the end of the trace that a configuration gives."""
    with tempfile.TemporaryDirectory() as run, contextlib.chdir(ROOT):
        check(spec, config=config, out=Path(run))
        found = load_trace(next(Path(run).glob("*.trace.json")))
        model, hook = load_with_hook(spec, found)
        last = recorded_in(model, hook, replay(found, model).states[-1])
    level = str(model.constants["LEVEL"])
    return begin_commit(transactions(last), version_order(*log_of(last)), level)


def begin_commit(transactions: Sequence[Transaction], versions: Versions, level: str) -> str:
    """The begin-commit graph of the committed transactions, as a Mermaid diagram.

    Each transaction is two nodes, its begin and its commit. A cycle means that no order of begins
    and commits explains the history at the level; its edges are drawn thick.
    Session and real-time edges are drawn where the cycle has them.
    """
    done = [t for t in transactions if not t.aborted]
    names = [t.name for t in done]
    cycle = judge(transactions, versions, level).cycle
    edges = dict.fromkeys([*dependencies(done, versions), *cycle])
    out = ["flowchart LR"]
    for t in done:
        out.append(f'  subgraph {t.name}["{t.name}: {_short(t)}"]')
        out += [f'    {t.name}{half}["{word} {t.name}"]' for half, word in _MARKS.items()]
        out.append("  end")
    for before, after, edge in bc_edges(names, edges):
        thick = before[0] in _passed(cycle) if edge is None else edge in cycle
        arrow = "==>" if thick else "-->"
        label = "" if edge is None else f"|{_label(edge)}|"
        out.append(f"  {''.join(map(str, before))} {arrow}{label} {''.join(map(str, after))}")
    return "\n".join(out)


def _passed(cycle: Sequence[Edge]) -> set[object]:
    """The transactions that a cycle goes through from begin to commit.

    It arrives at the begin, other than by rw, and leaves from the commit, other than by rw.
    """
    arrives = {e.after for e in cycle if e.kind != "rw"}
    return {e.before for e in cycle if e.kind != "rw" and e.before in arrives}


def _label(edge: Edge) -> str:
    return edge.kind if edge.key is None else f"{edge.kind} {edge.key}"


def _short(t: Transaction) -> str:
    reads = [f"r {read.key}" for read in t.reads]
    return ", ".join([*reads, *(f"w {key}" for key in t.writes)])


@cache
def _configurations(spec: str) -> tuple[Configuration, ...]:
    """Those of a model: several parts of a page ask for them."""
    return tuple(declared_within(ROOT / spec).declared.configurations)


def table(spec: str, prefix: str = "") -> str:
    """Return the table of a spec's configurations; those that share constants stand together."""
    rows = [c for c in _configurations(spec) if c.name.startswith(prefix)]
    if not prefix:
        rows = [c for c in rows if not c.name.startswith(_ELSEWHERE)]
    if len(rows) > _MANY:
        model = spec.removeprefix("models/").removesuffix(".py")
        return counted(rows, model, len(rows) < len(_configurations(spec)))
    constants = [Constants(c.constants.items()) for c in rows]
    out = [
        "| configuration | constants | result (steps); states |",
        "|---|---|---|",
    ]
    for shared, members in groups(dict(enumerate(constants)), Constants()):
        if shared:
            first = rows[members[0]].constants
            named = listed({n: v for n, v in first.items() if (n, v) in shared})
            out.append(f"| *with* | {named} | |")
        out += [row(rows[i], {name for name, _ in shared}) for i in members]
    return "\n".join(out)


def makers(spec: str, config: str | None) -> str:
    """Return the fields without which a spec had fewest states."""
    run = check(
        spec, config=config, engine="native", threads=1, every_field=True, liveness=False,
        keep_going=True, max_states=_SOME_STATES,
    )  # fmt: skip
    found = sorted(run.evidence.fields, key=lambda one: (-one.factor, one.fields))
    told = [
        f"`{'` and `'.join(one.fields)}` {one.factor:.2g} times"
        + ("" if one.steps else " (read by no step)")
        for i, one in enumerate(found)
        if one.factor >= _MAKES and all({*one.fields}.isdisjoint(o.fields) for o in found[:i])
    ]
    few = "" if run.evidence.stopped is None else "first "
    return (
        f"*What makes the {few}{run.counts.distinct:,} states:* "
        f"{', '.join(told[:_MAKERS]) or 'no field by itself'}."
    )


def groups(rows: Mapping[int, Constants], above: Constants) -> list[Group]:
    """Return constants and the rows that share them, so that a table has few words.

    The constants that save most are taken first, then those that save most below them.
    """
    left = dict(rows)
    found: list[Group] = []
    while True:
        pairs = {one & other for one in left.values() for other in left.values() if one != other}
        having = {
            s: [i for i in left if s <= left[i]]
            for s in sorted(pairs, key=lambda s: sorted(map(str, s)))
        }
        cost = _SPAN + length(above)
        saved = {s: length(s) * (len(having[s]) - 1) - cost for s in having}
        best = max(saved, key=lambda s: saved[s], default=Constants())
        if saved.get(best, 0) <= 0:
            break
        found += groups({i: left.pop(i) - best for i in having[best]}, above | best)
    found.sort(key=lambda group: group[1])
    return [(above, [*left]), *found] if left else found


def length(constants: Collection[tuple[str, Any]]) -> int:
    """Return the number of words of some constants."""
    return sum(len(str(value).split()) for _, value in constants)


def listed(constants: Mapping[str, Any]) -> str:
    """Return constants as options of ``--set``, in code, as cells of tables have them."""
    return " ".join(f"`{n}={v}`" for n, v in constants.items()).replace("|", "\\|")


def row(configuration: Configuration, shared: Collection[str]) -> str:
    """A row of the table."""
    constants = listed({n: v for n, v in configuration.constants.items() if n not in shared})
    return f"| `{configuration.name}` | {constants} | {result(configuration)} |"


def counted(rows: Sequence[Configuration], model: str, others: bool) -> str:
    """Return how many configurations hold, with how many states, and the command that prints all.

    With others, the rows are a part of those of the model.
    """
    sizes = [c.expect.distinct or 0 for c in rows if c.expect and c.expect.verdict == "holds"]
    command = f"`statewalk models {model}` prints"
    holding = f"{len(sizes)} hold, with up to {max(sizes):,} states"
    if others:
        return f"{command} all results. Of the {len(rows)} configurations of this page {holding}."
    return f"{command} all {len(rows)} and their results: {holding}."


def result(configuration: Configuration) -> str:
    """Return what a configuration expects: its verdict, and its states if they are given."""
    expect = configuration.expect
    if expect is None:
        return ""
    if expect.verdict == "holds":
        said, states = "holds", expect.distinct
    else:
        lengths = dict.fromkeys(expect.properties, expect.length) | expect.lengths
        by: dict[int | None, list[str]] = {}
        for name in expect.properties:
            by.setdefault(lengths[name], []).append(f"`{name}`")
        said = ", ".join(", ".join(names) + (f" ({n})" if n else "") for n, names in by.items())
        states = expect.states
    return said if states is None else f"{said}; {states:,}"


def matrix(spec: str, old: str) -> str:
    """A table of configurations, with what each expects of the property that its column names."""
    known = {c.name: c.expect for c in _configurations(spec)}
    head, _, *rows = (line[1:-1].split("|") for line in old.splitlines())
    columns = [name.strip() for name in head]
    out = [columns]
    for title, *cells in rows:
        found = [name.strip().partition(":")[0].strip("`") for name in cells]
        out.append(
            [title.strip(), *(cell(known, *x) for x in zip(found, columns[1:], strict=True))]
        )
    return lined(out)


def lined(rows: Sequence[Sequence[str]]) -> str:
    """Return a table, of its head and its rows."""
    head, *lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, f"|{'---|' * len(rows[0])}", *lines])


def cell(known: dict[str, Expectation | None], name: str, column: str) -> str:
    """Whether a configuration breaks the column's property, after how many steps; its states."""
    if not name:
        return ""
    expect = known[name]
    assert expect is not None
    states = expect.states or expect.distinct
    length = expect.lengths.get(column.split("`")[1])
    said = "never" if length is None else f"**after {length}**"
    return f"`{name}`: {said} ({states:,})"


def comparisons(spec: str, old: str) -> str:
    """A table of pairs of designs: what changes from the first to the second, and why."""
    head = [
        "from → to: options",
        "changes",
        "shortest counterexample of the first, under the second",
    ]
    out = [head]
    for line in old.splitlines()[2:]:
        title = line[1:-1].split("|")[0].strip()
        words = title.split("`")[1]
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "compared.json")
            printed("compare", spec, *shlex.split(words), "--json", file)
            told = json.loads(Path(file).read_text(encoding="utf-8"))
        [marks], [versus] = told["changed"].values(), told["versus"]
        changes = dict.fromkeys(marks.values())
        named = [f"{mark}: " + ", ".join(f"`{n}`" for n in marks if marks[n] == mark)
                 for mark in changes]  # fmt: skip
        tried = [c for c in versus["counterexamples_of_base"] if marks.get(c["property"])]
        out.append([
            title,
            "; ".join(named) or "–",
            tried_on(tried or versus["counterexamples_of_base"]),
        ])  # fmt: skip
    return lined(out)


def tried_on(crossings: Sequence[Mapping[str, Any]]) -> str:
    """What comes of the first of some counterexamples on the other side."""
    if not crossings:
        return "–"
    one = crossings[0]
    if one["possible"]:
        false = ", ".join(f"`{name}`" for name in one["false_at_end"])
        ends = f", but ends with `{shortened(one['ends'][0])}`" if one["ends"] else ""
        said = f"also violates {false}" if false else f"possible{ends}"
        said += ", and continues" if one["goes_on"] else ""
    else:
        guard = one["guard"]
        why = f"`{guard['text']}`" if guard else one["because"]
        said = f"step {one['stopped_at']} is disabled: {why}"
    return f"`{one['property']}`: {said}"


def shortened(change: str) -> str:
    """A change in at most so many letters."""
    return change if len(change) <= _ENDS else change[: _ENDS - 1] + "…"


def counts() -> str:
    """The table of replication: rules by sizes."""
    sizes = list(dict.fromkeys((r.replicas, r.max_epoch) for r in replication_rows.ROWS))
    head = ["rule", *(f"{n} replicas, epochs 0–{e}" for n, e in sizes)]
    out = [head]
    for rule in dict.fromkeys(r.rule for r in replication_rows.ROWS):
        of = {(r.replicas, r.max_epoch): r for r in replication_rows.ROWS if r.rule == rule}
        out.append([f"`{rule}`", *(count(of[size]) for size in sizes)])
    return lined(out)


def count(row: replication_rows.Row) -> str:
    """Distinct states, depth, and what breaks."""
    _, distinct, depth = row.numbers
    broken = ", ".join(f"{_SHORT[name]} **{length}**" for name, length in row.breaks.items())
    return f"{distinct:,} / {depth}: {broken or 'holds'}"


def formats() -> str:
    """The comparison of table formats; each line ends with the row that tells its story."""
    head = ["workload", "format", "setting", "anomaly", "aborts/retries", "row"]
    out = [head]
    said = ""
    for row in comparison.TABLE:
        steps = min(row.expect.lengths.values(), default=0)
        assert bool(steps) == (row.anomaly != "none"), row.name
        out.append(
            [
                "" if row.workload == said else row.workload,
                row.format,
                row.setting,
                f"**{row.anomaly}**, {steps} steps" if steps else "none",
                "/".join(str(row.constants.get(n, "–")) for n in ("MOST_ABORTS", "MOST_RETRIES")),
                f"`{row.name}`",
            ]
        )
        said = row.workload
    return lined(out)


def flow(spec: str, config: str, steps: str) -> str:
    """The sequence diagram of some steps, or of those after a line ``...``."""
    before, _, after = steps.rpartition("...\n")
    constants = next(c.constants for c in _configurations(spec) if c.name == config)
    guided = follow(load(ROOT / spec, dict(constants)), read_steps(before + after))
    assert guided.failed is None, guided.why
    lines = export_trace(guided.trace(), "mermaid").splitlines()
    lines = [line for line in lines if not line.startswith("  %%")]
    if before:
        first = f": {len(before.splitlines()) + 1}. "
        start = next(i for i, line in enumerate(lines) if first in line)
        head = [line for line in lines if line.startswith(("sequence", "  participant"))]
        told = "\n".join(lines[start:])
        lines = [h for h in head if h[2:3] != "p" or h.split()[1] in told] + lines[start:]
    return "\n".join(map(places, lines) if len(lines) > _LINES else lines)


def places(line: str) -> str:
    """A line of a long diagram: of what is added or dropped only the place."""
    changes = line.split("<br/>")
    return "<br/>".join(c if "~ " in c else c.partition(" = ")[0] for c in changes)


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.md")):
        path.write_text(fresh(path.read_text(encoding="utf-8")), encoding="utf-8")
