"""Bisimulation of two state graphs: every step of one can be taken in the other, for ever.

States are compared by what can be seen of them and by their steps, however many states either graph
needs for that. So an analysis may merge states, or keep apart what is equal, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Graph:
    """States by key: what is seen of each, and its steps as (label, state after it)."""

    initial: list[Any] = field(default_factory=list)
    labels: dict[Any, Any] = field(default_factory=dict)
    steps: dict[Any, list[tuple[str, Any]]] = field(default_factory=dict)


Classes = list[dict[Any, int]]  # for each graph: the class of each state


def rounds(*graphs: Graph) -> list[Classes]:
    """Classes of states that do the same for 0, 1, 2, ... steps; the last ones for ever."""
    numbers: dict[Any, int] = {}
    now = [
        {key: numbers.setdefault(repr(seen), len(numbers)) for key, seen in graph.labels.items()}
        for graph in graphs
    ]
    found = [now]
    while True:
        count, numbers = len(numbers), {}
        now = [
            {
                key: numbers.setdefault(
                    (known[key], frozenset((label, known[to]) for label, to in graph.steps[key])),
                    len(numbers),
                )
                for key in graph.labels
            }
            for graph, known in zip(graphs, now, strict=True)
        ]
        if len(numbers) == count:
            return found
        found.append(now)


def difference(one: Graph, other: Graph) -> str:
    """Empty where two graphs do the same; else steps after which only one can do something."""
    found = rounds(one, other)
    last = found[-1]
    for first, second, turned in ((one, other, False), (other, one, True)):
        mine, theirs = (last[1], last[0]) if turned else last
        there = {theirs[k] for k in second.initial}
        for key in first.initial:
            if mine[key] not in there:
                seen = [k for k in second.initial if _seen(second, k) == _seen(first, key)]
                if not seen:
                    return f"only one begins with {first.labels[key]}"
                pair = (seen[0], key) if turned else (key, seen[0])
                return _apart((one, other), found, pair)
    return ""


def _seen(graph: Graph, key: Any) -> str:
    return repr(graph.labels[key])


def _apart(graphs: tuple[Graph, Graph], found: list[Classes], pair: tuple[Any, Any]) -> str:
    """Follow steps that lead apart sooner and sooner, to one that only one graph has."""
    way: list[str] = []
    while True:
        at = next(r for r, now in enumerate(found) if now[0][pair[0]] != now[1][pair[1]])
        shown = [_seen(g, k) for g, k in zip(graphs, pair, strict=True)]
        if at == 0:
            return f"after {way}: {shown[0]} here, {shown[1]} there"
        for mine in (0, 1):
            now = found[at - 1]
            steps, others = graphs[mine].steps[pair[mine]], graphs[1 - mine].steps[pair[1 - mine]]
            can = {(label, now[1 - mine][to]) for label, to in others}
            extra = [(label, to) for label, to in steps if (label, now[mine][to]) not in can]
            if extra:
                break
        label, to = extra[0]
        there = [k for word, k in others if word == label]
        alike = [k for k in there if _seen(graphs[1 - mine], k) == _seen(graphs[mine], to)]
        if not alike:
            who = "here" if mine == 0 else "there"
            return f"after {way} at {shown[0]}: only {who} {label} to {_seen(graphs[mine], to)}"
        way.append(label)
        pair = (to, alike[0]) if mine == 0 else (alike[0], to)
