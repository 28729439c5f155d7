"""Brings the generated parts of the pages of this folder up to date: python docs/models/generate.py

A fenced block of the language ``console`` that begins with ``$ statewalk check`` is followed by the
trace that the command prints. What follows a line ``<!-- configurations: FILE -->`` up to the next
empty line is the table of the configurations of that spec. After a line
``<!-- begin-commit graph: FILE CONFIGURATION -->`` comes the graph of the history at the end of the
trace. A test fails when a page is stale.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay
from statewalk.checker.cli import main
from statewalk.checker.history.commands.from_trace import load_with_hook, recorded_in
from statewalk.checker.traces.file import load_trace
from statewalk.dsl.library.cycles import Edge, bc_edges
from statewalk.dsl.library.isolation import Transaction, Versions, dependencies, judge
from statewalk.dsl.library.recording import log_of, transactions, version_order
from statewalk.dsl.loader import load
from statewalk.dsl.model import Configuration

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
_MARKS = {"b": "begin", "c": "commit"}
CONSOLE = re.compile(
    r"^```console\n\$ statewalk (check [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
GRAPH = re.compile(
    r"^<!-- begin-commit graph: (\S+) (\S+) -->\n\n```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
TABLE = re.compile(r"^<!-- configurations: (\S+) -->\n\n(.*?)\n\n", re.MULTILINE | re.DOTALL)


def fresh(page: str) -> str:
    """The text of a page with its generated parts as they should be."""
    page = CONSOLE.sub(lambda m: f"```console\n$ statewalk {m[1]}\n{trace(m[1])}\n```", page)
    page = GRAPH.sub(
        lambda m: (
            f"<!-- begin-commit graph: {m[1]} {m[2]} -->\n\n```mermaid\n{graph(m[1], m[2])}\n```"
        ),
        page,
    )
    return TABLE.sub(lambda m: f"<!-- configurations: {m[1]} -->\n\n{table(m[1])}\n\n", page)


def trace(command: str) -> str:
    """What a command prints of the first violation, without where it was saved."""
    printed = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as run,
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        main([*shlex.split(command), "--out", str(Path(run) / "run")])
    lines = printed.getvalue().splitlines()
    end = next(i for i, line in enumerate(lines) if line.startswith("  replay"))
    return "\n".join(line.rstrip() for line in lines[:end]).rstrip()


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


def table(spec: str) -> str:
    """The configurations of a spec with what they expect."""
    rows = [row(c) for c in load(ROOT / spec).configurations]
    head = "| configuration | constants | expected (generated / distinct / depth) |"
    return "\n".join([head, "|---|---|---|", *rows])


def row(configuration: Configuration) -> str:
    """A row of the table."""
    constants = " ".join(f"`{n}={v}`" for n, v in configuration.constants.items())
    expect = configuration.expect
    if expect is None:
        said = ""
    elif expect.verdict == "holds":
        numbers = (expect.generated, expect.distinct, expect.depth)
        said = "holds: " + " / ".join("–" if n is None else f"{n:,}" for n in numbers)
    else:
        lengths = expect.lengths if len(expect.lengths) > 1 else {}
        named = ", ".join(
            f"`{name}`" + (f" after {lengths[name]}" if name in lengths else "")
            for name in expect.properties
        )
        said = f"violates {named}"
        said += f" after {expect.length} steps" if expect.length and not lengths else ""
        said += f"; {expect.states:,} states in all" if expect.states is not None else ""
    return f"| `{configuration.name}` | {constants} | {said} |"


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.md")):
        path.write_text(fresh(path.read_text(encoding="utf-8")), encoding="utf-8")
