"""Pictures of an explanation: lanes of sessions as text or SVG, and the cycle as DOT."""

from __future__ import annotations

from heapq import heappop, heappush
from html import escape

from statewalk.checker.history.data import History
from statewalk.checker.history.explain.anomaly import Explanation, Step
from statewalk.dsl.errors import printable

_WIDTH, _LANE, _LEFT, _TOP = 190, 96, 110, 30
_MANY = 60  # transactions in one picture of text
_COLOURS = {"rw": "#c0271f", "wr": "#1f5fc0", "ww": "#1d7d3a", "so": "#666666", "rt": "#a06a00"}


def columns(found: Explanation) -> dict[int, int]:
    """Return a column for each transaction: after those that the cycle's firm edges put
    before it.
    """
    members = {t: at for at, t in enumerate(found.transactions)}
    firm = [(s.before, s.after) for s in found.cycle if s.kind != "rw"]
    edges = {*firm, *((r.before, r.after) for r in found.reasons if r.rule)}
    after: dict[int, list[int]] = {t: [] for t in members}
    missing = dict.fromkeys(members, 0)
    for first, second in edges:
        after[first].append(second)
        missing[second] += 1
    ready, rest = [at for t, at in members.items() if not missing[t]], iter([*members])
    column: dict[int, int] = {}
    while len(column) < len(members):
        # where the edges themselves are a cycle, it begins with the first transaction
        t = (
            found.transactions[heappop(ready)]
            if ready
            else next(t for t in rest if t not in column)
        )
        if t in column:
            continue
        column[t] = len(column)
        for second in after[t]:
            missing[second] -= 1
            if not missing[second] and second not in column:
                heappush(ready, members[second])
    return column


def lanes(history: History, found: Explanation) -> list[str]:
    """Return one line per session, its transactions as [begin … commit] from left to right.

    With more than some dozens of transactions, each line has its own alone.
    """
    column = columns(found)
    cells = {t: f"[{history.name(t)}: {_short(history, found, t)}]" for t in column}
    sessions = dict.fromkeys(int(history.session[t]) for t in found.transactions)
    names = {s: str("?" if history.sessions[s] is None else history.sessions[s]) for s in sessions}
    label = max(map(len, names.values()))
    out = []
    of: dict[int, list[int]] = {s: [] for s in sessions}
    for t in column:
        of[int(history.session[t])].append(t)
    for s in sessions:
        line = f"{names[s]:>{label}} |"
        for t in column if len(column) <= _MANY else of[s]:
            mine = int(history.session[t]) == s
            line += " " + (cells[t] if mine else "-" * len(cells[t]))
        out.append(line)
    return out


def _short(history: History, found: Explanation, t: int) -> str:
    return " ".join(history.show(op).replace(" = ", "=") for op in found.operations.get(t, ()))


def svg(history: History, found: Explanation) -> str:
    """Lanes of sessions with the cycle drawn over them; rw red, derived edges dashed."""
    column = columns(found)
    sessions = list(dict.fromkeys(int(history.session[t]) for t in found.transactions))
    width = _LEFT + _WIDTH * len(column) + 20
    height = _TOP + _LANE * len(sessions) + 30
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="monospace" font-size="11">',
        f"<title>{escape(found.name)}: refutes {escape(found.refutes)}</title>",
        "<defs>",
        *(_marker(kind, colour) for kind, colour in _COLOURS.items()),
        "</defs>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for row, s in enumerate(sessions):
        y = _TOP + _LANE * row + 24
        name = "no session" if history.sessions[s] is None else f"session {history.sessions[s]}"
        out.append(f'<text x="6" y="{y + 4}">{escape(name)}</text>')
        out.append(f'<line x1="{_LEFT - 10}" y1="{y}" x2="{width - 10}" y2="{y}" stroke="#ccc"/>')
    place = {
        t: (_LEFT + _WIDTH * at, _TOP + _LANE * sessions.index(int(history.session[t])) + 4)
        for t, at in column.items()
    }
    out += [_box(history, found, t, *place[t]) for t in found.transactions]
    out += [_arrow(step, place) for step in found.cycle]
    return printable("\n".join([*out, "</svg>", ""]))


def _marker(kind: str, colour: str) -> str:
    return (
        f'<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    )


def _box(history: History, found: Explanation, t: int, x: int, y: int) -> str:
    ops = [history.show(op) for op in found.operations.get(t, ())]
    shown = [op if len(op) <= 24 else op[:23] + "…" for op in ops[:3]]
    shown += [f"… {len(ops) - 3} more"] if len(ops) > 3 else []
    full = escape("\n".join(ops))
    texts = "".join(
        f'<text x="{x + 6}" y="{y + 26 + 12 * i}">{escape(op)}</text>' for i, op in enumerate(shown)
    )
    return (
        f'<g><title>{full}</title><rect x="{x}" y="{y}" width="{_WIDTH - 24}" height="64" '
        f'rx="5" fill="#f4f6fa" stroke="#445"/><text x="{x + 6}" y="{y + 13}" '
        f'font-weight="bold">{escape(history.name(t))}</text>{texts}</g>'
    )


def _arrow(step: Step, place: dict[int, tuple[int, int]]) -> str:
    """An rw edge leads from begin to commit, every other kind from commit to begin."""
    (x1, y1), (x2, y2) = place[step.before], place[step.after]
    right = _WIDTH - 24
    if step.kind == "rw":
        x2 += right
    else:
        x1 += right
    y1, y2 = y1 + 32, y2 + 32
    bend = 34 if y1 == y2 else (y2 - y1) // 4
    middle = ((x1 + x2) // 2, (y1 + y2) // 2 - (bend if y1 == y2 else 0))
    colour = _COLOURS[step.kind]
    dashed = "" if step.how == "observed" else ' stroke-dasharray="5 3"'
    label = escape(f"{step.kind} {step.key}".strip())
    return (
        f'<path d="M{x1} {y1} Q{middle[0]} {middle[1] - bend} {x2} {y2}" fill="none" '
        f'stroke="{colour}" stroke-width="1.6"{dashed} marker-end="url(#{step.kind})">'
        f'<title>{escape(step.text)}</title></path><text x="{middle[0]}" '
        f'y="{middle[1] - 4}" fill="{colour}">{label}</text>'
    )


def mermaid(history: History, found: Explanation) -> str:
    """Return the cycle as a mermaid flowchart."""

    def plain(text: str) -> str:
        for old, new in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
            text = text.replace(old, new)
        return printable(text)

    out, names = ["flowchart LR"], {}
    for at, t in enumerate(found.transactions):
        names[t] = f"n{at}"
        ops = [history.show(op) for op in found.operations.get(t, ())]
        label = "<br/>".join(map(plain, [str(history.name(t)), *ops]))
        out.append(f'  n{at}["{label}"]')
    for step in found.cycle:
        kind = plain(f"{step.kind} {step.key}".strip())
        out.append(f'  {names[step.before]} -->|"{kind}"| {names[step.after]}')
    return "\n".join([*out, ""])


def dot(history: History, found: Explanation) -> str:
    """Return the cycle for Graphviz; rw red, derived edges dashed."""

    def quoted(text: str) -> str:
        escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'

    out = [f"digraph {quoted(found.name)} {{", "  node [shape=box, fontname=monospace];"]
    nodes = {t: f"n{at}" for at, t in enumerate(found.transactions)}
    for t, node in nodes.items():
        ops = "\n".join(history.show(op) for op in found.operations.get(t, ()))
        label = f"{history.name(t)} ({history.session_of(t)})\n{ops}"
        out.append(f"  {node} [label={quoted(label)}];")
    for step in found.cycle:
        style = "solid" if step.how == "observed" else "dashed"
        out.append(
            f"  {nodes[step.before]} -> {nodes[step.after]} "
            f"[label={quoted(f'{step.kind} {step.key}'.strip())}, style={style}, "
            f'color="{_COLOURS[step.kind]}"];'
        )
    return "\n".join([*out, "}", ""])
