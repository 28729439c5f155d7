"""Ready questions: the states where something is true, and a shortest path between two such sets.

Predicates are SQL over the columns of ``states``. A path is found level by level from the states of
the first predicate, each level an anti join with those before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from statewalk.checker.graph.ask import Answer, Database

_STEP = ("action", "actor", "arguments", "choices")


@dataclass(frozen=True)
class Found:
    """A shortest path: its states by column, and between them the steps."""

    states: tuple[dict[str, Any], ...]
    steps: tuple[dict[str, Any], ...]


def states_where(asked: Database, predicate: str, limit: int | None) -> Answer:
    """The states where a predicate is true, the nearest to an initial state first."""
    _can_be_asked(asked, predicate)
    where = f"({predicate}\n) IS TRUE"
    return asked.ask(f"SELECT * FROM states WHERE {where} ORDER BY depth, fingerprint", limit)


def shortest_path(asked: Database, start: str, goal: str, avoiding: str | None) -> Found | None:
    """A shortest path from a state of ``start`` to one of ``goal``; None where there is none.

    No state on it, the ends included, satisfies ``avoiding``. A state of both is a path of no
    steps. Of several the same one is given every time, whatever answers: the least end, then each
    time the least way there.
    """
    for predicate in (start, goal, *([] if avoiding is None else [avoiding])):
        _can_be_asked(asked, predicate)
    allowed = "TRUE" if avoiding is None else f"({avoiding}\n) IS NOT TRUE"
    for name, predicate in (("starts", start), ("goals", goal)):
        asked.keep(
            name,
            f"SELECT fingerprint FROM states WHERE ({predicate}\n) IS TRUE AND {allowed}",
        )
    asked.keep("allowed", f"SELECT fingerprint FROM states WHERE {allowed}")
    asked.keep("reached", "SELECT fingerprint, 0 AS step FROM starts")
    length = 0
    while (end := _least(asked, length)) is None:
        asked.keep("following", _following(length))
        if not asked.ask("SELECT fingerprint FROM following LIMIT 1").rows:
            return None
        length += 1
        asked.extend("reached", f"SELECT fingerprint, {length} AS step FROM following")
    return _way_back(asked, end, length)


def _can_be_asked(asked: Database, predicate: str) -> None:
    """Let a mistake in a predicate be told of the predicate alone. Raises RunError[SW352]."""
    asked.ask(f"EXPLAIN SELECT * FROM states WHERE {predicate}")


def _least(asked: Database, step: int) -> int | None:
    """The least goal reached by so many steps."""
    found: int | None = asked.ask(
        "SELECT min(r.fingerprint) FROM reached r JOIN goals g ON g.fingerprint = r.fingerprint "
        f"WHERE r.step = {step}"
    ).rows[0][0]
    return found


def _following(step: int) -> str:
    """The states one step further that were not reached sooner."""
    return (
        "SELECT DISTINCT t.target AS fingerprint FROM transitions t "
        f"JOIN reached r ON r.fingerprint = t.source AND r.step = {step} "
        "JOIN allowed a ON a.fingerprint = t.target "
        "WHERE NOT EXISTS (SELECT 1 FROM reached k WHERE k.fingerprint = t.target)"
    )


def _way_back(asked: Database, end: int, length: int) -> Found:
    steps: list[dict[str, Any]] = []
    at = end
    ways = [end]
    for step in range(length - 1, -1, -1):
        columns = ", ".join(f"t.{name}" for name in _STEP)
        order = ", ".join(f"t.{name} NULLS FIRST" for name in _STEP)
        row = asked.ask(
            f"SELECT t.source, {columns} FROM transitions t "
            f"JOIN reached r ON r.fingerprint = t.source AND r.step = {step} "
            f"WHERE t.target = {at} ORDER BY t.source, {order} LIMIT 1"
        ).rows[0]
        at = int(row[0])
        ways.append(at)
        steps.append(dict(zip(_STEP, row[1:], strict=True)))
    answer = asked.ask(f"SELECT * FROM states WHERE fingerprint IN ({', '.join(map(str, ways))})")
    where = answer.columns.index("fingerprint")
    by_print = {row[where]: dict(zip(answer.columns, row, strict=True)) for row in answer.rows}
    states = tuple(by_print[fingerprint] for fingerprint in reversed(ways))
    return Found(states, tuple(reversed(steps)))
