"""A picture of a history: operations as bars over time, a lane for each client, the order as dots.

Times are those of events in their order, so that what happens at once has room.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from statewalk.checker.history.objects.spec import Bound
from statewalk.dsl.errors import printable

_STEP, _LANE, _BAR, _LEFT, _TOP = 46, 44, 22, 90, 46
_MOST = 60  # operations in a picture
_LETTER = 6.4
_FITS, _FAILS, _OPEN, _NEEDED = "#dfeaf8", "#f6c9c5", "#f1f1f1", "#c0271f"


def svg(
    title: str,
    operations: Sequence[Bound],
    order: Sequence[int],
    failed: int | None,
    needed: Sequence[int] = (),
) -> str:
    """Return lanes of clients with an order of operations drawn as a line through dots."""
    shown = _chosen(operations, order, failed, needed)
    columns = _columns(operations, shown)
    rows = {client: row for row, client in enumerate(dict.fromkeys(_clients(operations, shown)))}
    right = _LEFT + _STEP * (1 + max((end for _, end in columns.values()), default=0))
    height = _TOP + _LANE * len(rows) + 16
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right + 10}" height="{height}" '
        'font-family="monospace" font-size="11">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="6" y="18" font-weight="bold">{escape(title)}</text>',
    ]
    for client, row in rows.items():
        y = _TOP + _LANE * row + _BAR // 2
        out.append(f'<text x="6" y="{y + 4}">client {escape(str(client))}</text>')
        out.append(f'<line x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#ddd"/>')
    for i in shown:
        y = _TOP + _LANE * rows[operations[i].op.client]
        out.append(_bar(operations[i], *columns[i], y, failed=i == failed, needed=i in needed))
    out += _dots(operations, [i for i in order if i in columns], columns, rows)
    return printable("\n".join([*out, "</svg>", ""]))


def _chosen(
    operations: Sequence[Bound], order: Sequence[int], failed: int | None, needed: Sequence[int]
) -> list[int]:
    """Return the operations of a picture: those that matter, then the last ones before the
    break.
    """
    until = operations[failed].op.end if failed is not None else None
    open_ = [i for i, b in enumerate(operations) if until is None or b.op.begin <= until]
    wanted = [*([failed] if failed is not None else []), *needed, *reversed(order), *open_]
    return sorted(list(dict.fromkeys(wanted))[:_MOST])


def _clients(operations: Sequence[Bound], shown: Sequence[int]) -> list[int | str]:
    found = {operations[i].op.client for i in shown}
    return sorted(found, key=lambda client: (isinstance(client, str), client))


def _columns(operations: Sequence[Bound], shown: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return the place of each operation's begin and end among all of them."""
    events = [(operations[i].op.begin, 0, i) for i in shown]
    events += [(b.op.end, 1, i) for i in shown if (b := operations[i]).op.end is not None]
    place = {(i, kind): at for at, (_, kind, i) in enumerate(sorted(events))}
    return {i: (place[i, 0], place.get((i, 1), len(events))) for i in shown}


def _bar(bound: Bound, begin: int, end: int, y: int, *, failed: bool, needed: bool) -> str:
    x, width = _LEFT + _STEP * begin, _STEP * (end - begin)
    fill = _FAILS if failed else _FITS if bound.required else _OPEN
    stroke = _NEEDED if needed or failed else "#667"
    dashed = "" if bound.required else ' stroke-dasharray="4 3"'
    room = max(3, int(width / _LETTER) - 1)
    text = bound.kind.shown
    short = text if len(text) <= room else text[: room - 1] + "…"
    return (
        f"<g><title>{escape(f'{text}, {bound.op.where}')}</title>"
        f'<rect x="{x}" y="{y}" width="{width}" height="{_BAR}" rx="4" fill="{fill}" '
        f'stroke="{stroke}"{dashed}/><text x="{x + 4}" y="{y + 15}">{escape(short)}</text></g>'
    )


def _dots(
    operations: Sequence[Bound],
    order: Sequence[int],
    columns: dict[int, tuple[int, int]],
    rows: dict[int | str, int],
) -> list[str]:
    """Return the line of an order: each operation as early as it can be after those before it."""
    points: list[tuple[float, float]] = []
    at = 0.0
    for i in order:
        begin, end = columns[i]
        at = max(at + 0.15, begin + 0.15)
        at = min(at, max(end - 0.05, begin + 0.15))
        y = _TOP + _LANE * rows[operations[i].op.client] + _BAR
        points.append((_LEFT + _STEP * at, y))
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    dots = [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3.5" fill="#1f5fc0"/>' for x, y in points]
    return [f'<polyline points="{line}" fill="none" stroke="#1f5fc0" opacity="0.5"/>', *dots]
