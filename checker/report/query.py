"""The report of `statewalk query`: answers as tables, paths as traces, what a graph is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.report.page import Page, plural
from statewalk.checker.states.shortening import cut

if TYPE_CHECKING:
    from statewalk.checker.graph.ask import Answer, Found
    from statewalk.checker.graph.dataset import About

_CELL = 60


def cell(value: Any, inside: bool = False) -> str:
    """Return a value of a table on one line, as SQL writes it. Strings have quotes only inside of
    lists, maps and structs.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(cell(v, True) for v in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{cell(k, True)}: {cell(v, True)}' for k, v in value.items())}}}"
    text = repr(value) if inside and isinstance(value, str) else str(value)
    return " ".join(text.split("\n"))


def answer_page(answer: Answer, *, width: int) -> Page:
    """Return an answer as a table; where that is too wide, each row as a list of its columns."""
    page = Page(width)
    shown = [[cut(cell(v), _CELL) for v in row] for row in answer.rows]
    sizes = [
        max(len(name), *(len(row[at]) for row in shown), 0)
        for at, name in enumerate(answer.columns)
    ]
    if sum(sizes) + 2 * max(0, len(sizes) - 1) <= width:
        left = [not _is_number([row[at] for row in answer.rows]) for at in range(len(sizes))]
        page.table(answer.columns, shown, left)
    else:
        _records(page, answer, width)
    page.blank()
    rows = plural(len(answer.rows), "row")
    more = "; there are more (--limit N shows N, --limit 0 all)" if answer.more else ""
    page.add((f"{'the first ' if answer.more else ''}{rows}{more}", "warn" if answer.more else ""))
    return page


def _records(page: Page, answer: Answer, width: int) -> None:
    column = max(map(len, answer.columns))
    for number, row in enumerate(answer.rows, 1):
        page.blank()
        page.add((f"row {number}", "head"))
        for name, value in zip(answer.columns, row, strict=True):
            head = f"  {name:<{column}}  "
            page.add((head, "dim"), cut(cell(value), max(40, width - len(head))))


def _is_number(values: Sequence[Any]) -> bool:
    there = [v for v in values if v is not None]
    return bool(there) and all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in there
    )


def path_page(found: Found, columns: Mapping[str, str], *, width: int) -> Page:
    """Return a path: its first state whole, then each step with what it changed."""
    page = Page(width)
    page.add(("   0  ", "dim"), ("start", "action"), _depth(found.states[0]))
    column = max((len(name) for name in columns), default=0)
    for name in columns:
        head = f"        {name:<{column}}  "
        page.add((head, "dim"), cut(cell(found.states[0][name]), max(40, width - len(head))))
    pairs = zip(found.states, found.states[1:], strict=False)
    for number, ((before, after), step) in enumerate(zip(pairs, found.steps, strict=True), 1):
        page.add((f"{number:>4}  ", "dim"), (step_text(step), "action"), _depth(after))
        changed = [name for name in columns if before[name] != after[name]]
        for name in changed:
            room = max(24, (width - len(name) - 15) // 2)
            old, new = cut(cell(before[name]), room), cut(cell(after[name]), room)
            page.add("        ", ("~ ", "~"), f"{name}  {old} → {new}")
        if not changed:
            page.add("        ", ("(changes nothing that is shown)", "dim"))
    page.blank()
    page.add(f"{plural(len(found.steps), 'step')}, a shortest path")
    return page


def _depth(state: Mapping[str, Any]) -> tuple[str, str]:
    return (f"   depth {state['depth']}, state {state['fingerprint']}", "dim")


def step_text(step: Mapping[str, Any]) -> str:
    """``Client#0 · send(broker=Broker#1) · tid=0``"""
    call = step["action"] + (f"({step['arguments']})" if step["arguments"] else "")
    return " · ".join(part for part in (step["actor"], call, step["choices"]) if part)


def about_page(
    about: About, types: Mapping[str, Mapping[str, str]], *, folder: str, width: int
) -> Page:
    """Return what a graph is of, how large it is, and the columns of its tables."""
    page = Page(width)
    page.flow(
        [("graph  ", "head")],
        [about.spec, *(f"{n}={cell(v)}" for n, v in about.constants.items())],
        between="  ",
    )
    whole = "the whole state space" if about.complete else f"the first {about.depth} levels"
    sizes = [
        whole,
        plural(about.states, "state"),
        plural(about.transitions, "transition"),
        f"depth {about.depth}",
        f"engine {about.engine}",
    ]
    page.flow(["       "], sizes)
    for table, columns in types.items():
        page.blank()
        page.add((table, "head"))
        size = max(map(len, columns))
        for name, kind in columns.items():
            of = about.columns.get(name, "") if table == "states" else ""
            page.add(f"  {name:<{size}}  ", (f"{kind:<8}", "dim"), f"  {of}" if of != name else "")
    page.blank()
    example = "SELECT action, count(*) FROM transitions GROUP BY action"
    page.add(("ask    ", "head"), f'statewalk query {folder} "{example}"')
    return page
