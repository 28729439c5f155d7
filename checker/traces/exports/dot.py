"""Graphviz: a trace as a chain. A small state graph, or its quotient by fields (mermaid, too)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.content import content_of, show_field
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model

MAX_STATES = 2000


def _quoted(text: str) -> str:
    text = text.replace("&", "&amp;")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l") + '"'


def to_dot(trace: Trace) -> str:
    """Return a trace as a chain of states; each shows what the step before it changed."""
    lines = [
        "digraph trace {",
        "  node [shape=box, fontname=monospace];",
        "  edge [fontname=monospace];",
    ]
    lines.append('  s0 [label="init", style=filled];')
    for at, (step, changes) in enumerate(trace):
        text = "\n".join(str(c) for c in changes) or "(nothing changes)"
        target = f"s{at + 1}"
        if trace.loop is not None and at == len(trace.steps) - 1:
            target = f"s{trace.loop}"
        else:
            lines.append(f"  {target} [label={_quoted(text + chr(10))}];")
        lines.append(f"  s{at} -> {target} [label={_quoted(step.label)}];")
    return "\n".join([*lines, "}"]) + "\n"


Nodes = dict[str, str]
"""What is shown of a node, and its name"""

Edges = dict[tuple[str, str], set[str]]
"""From a node to a node, the actions that lead there"""


def graph_to_dot(model: Model, by: Sequence[str] = (), limit: int = MAX_STATES) -> str:
    """Return the state graph of a model; with ``by``, states with equal values of these
    fields are one node.

    ``by`` names fields: ``Client.state`` (of every instance) or ``Client#0.state``.

    Raises:  RunError[SW320] for a graph of more than ``limit`` nodes, RunError[SW321] for a field
    that there is not.
    """
    nodes, first, edges = _graph(model, by, limit)
    lines = [
        "digraph states {",
        "  node [shape=box, fontname=monospace];",
        "  edge [fontname=monospace];",
    ]
    for shown, name in nodes.items():
        style = ", style=filled" if name in first else ""
        lines.append(f"  {name} [label={_quoted(shown + chr(10))}{style}];")
    for (source, target), labels in edges.items():
        lines.append(f"  {source} -> {target} [label={_quoted(chr(10).join(sorted(labels)))}];")
    return "\n".join([*lines, "}"]) + "\n"


def graph_to_mermaid(model: Model, by: Sequence[str] = (), limit: int = MAX_STATES) -> str:
    """Return the same as a mermaid ``flowchart``."""
    nodes, first, edges = _graph(model, by, limit)
    lines = ["flowchart LR"]
    for shown, name in nodes.items():
        opens, closes = ("([", "])") if name in first else ("[", "]")
        lines.append(f'  {name}{opens}"{mermaid_text(shown)}"{closes}')
    for (source, target), labels in edges.items():
        lines.append(f'  {source} -->|"{mermaid_text(chr(10).join(sorted(labels)))}"| {target}')
    return "\n".join(lines) + "\n"


def mermaid_text(text: str) -> str:
    """Return a text as one of mermaid's, in quotes."""
    for old, new in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(old, new)
    return text.replace("\n", "<br/>")


def _graph(model: Model, by: Sequence[str], limit: int) -> tuple[Nodes, set[str], Edges]:
    """Return the nodes, which of them are initial, and the edges."""
    nodes: Nodes = {}
    edges: Edges = {}
    layout = Layout(model)
    seen = {layout.row(s): dict(s) for s in model.initial_states}
    todo = list(seen.values())
    first = {_node(model, s, by, nodes) for s in todo}
    while todo:
        state = todo.pop(0)
        source = _node(model, state, by, nodes)
        for action in model.actions:
            for outcome in model.outcomes(action, state):
                after = model.successor(state, outcome)
                row = layout.row(after)
                if row not in seen:
                    seen[row] = after
                    todo.append(after)
                target = _node(model, after, by, nodes)
                edges.setdefault((source, target), set()).add(action.label)
                if len(nodes) > limit or len(seen) > 100 * limit:
                    raise _too_large(limit)
    return nodes, first, edges


def _too_large(limit: int) -> RunError:
    return RunError(
        "SW320",
        f"This graph has more than {limit} nodes: nobody could read it.",
        help="Show a quotient: --by Client.state,Broker.epoch draws one node for all states "
        "alike in these.",
    )


def _node(model: Model, state: Any, by: Sequence[str], nodes: dict[str, str]) -> str:
    content = content_of(model, state)
    shown = [(show_field(path), value) for path, value in content.items()]
    if by:
        wanted = [(n, v) for n, v in shown if n in by or _of_class(n) in by]
        missing = [b for b in by if not any(b in (n, _of_class(n)) for n, _ in shown)]
        if missing:
            known = sorted({_of_class(n) for n, _ in shown})
            raise RunError(
                "SW321",
                f"--by names {missing[0]}, but there is no such field.",
                help=f"There are: {', '.join(known)}.",
            )
        shown = wanted
    text = "\n".join(f"{name} = {value!r}" for name, value in shown)
    return nodes.setdefault(text, f"n{len(nodes)}")


def _of_class(name: str) -> str:
    owner, _, rest = name.partition("#")
    return f"{owner}.{rest.partition('.')[2]}"
