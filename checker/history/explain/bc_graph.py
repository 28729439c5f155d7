"""The begin-commit graph of a history whose version order is known, as a Mermaid diagram.

Each transaction is two nodes, its begin and its commit. A cycle means that no order of begins and
commits explains the history at the level; its edges are drawn thick.
"""

from __future__ import annotations

from collections.abc import Sequence

from statewalk.dsl.library.cycles import Edge, bc_edges
from statewalk.dsl.library.isolation import Transaction, Versions, dependencies, judge

_MARKS = {"b": "begin", "c": "commit"}


def mermaid(transactions: Sequence[Transaction], versions: Versions, level: str) -> str:
    """The graph of the committed transactions with the cycle that refutes a level, if one does.

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
