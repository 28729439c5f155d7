"""The state graph as plain Python finds it: what the dataset must say, row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.attempts import attempts
from statewalk.checker.states.content import content_of, short_names, show_field
from statewalk.checker.states.shortening import text_of
from statewalk.checker.traces.trace import take_step
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.values.stored import ABSENT, freeze

Row = tuple[Any, ...]


@dataclass
class Explicit:
    """States by fingerprint: (depth, parent, action, actor, arguments, content); steps as rows."""

    states: dict[int, Row] = field(default_factory=dict)
    steps: Counter[Row] = field(default_factory=Counter)


def explicit(model: Model, max_depth: int | None = None) -> Explicit:
    """The graph of a model, breadth first; the first ``max_depth`` levels of it."""
    layout, found = Layout(model), Explicit()
    level: dict[int, Any] = {}
    for state in model.initial_states:
        if inside(model, state):
            level.setdefault(signed(layout.fingerprint(layout.row(state))), state)
    ways: dict[int, Row] = dict.fromkeys(level, (None, None, None, None))
    depth = 0
    while level:
        for fp, state in level.items():
            found.states[fp] = (depth, *ways[fp], shown(model, state))
        if max_depth is not None and depth + 1 >= max_depth:
            break
        following: dict[int, Any] = {}
        ways = {}
        for fp in sorted(level, key=lambda f: f % (1 << 64)):
            for action in model.actions:
                for outcome in attempts(model, action, level[fp]):
                    if outcome.error is not None:
                        continue
                    after = apply_writes(level[fp], outcome.writes)
                    if not inside(model, after, level[fp]):
                        continue
                    to = signed(layout.fingerprint(layout.row(after)))
                    named = names(model, level[fp], action, outcome.choices)
                    found.steps[fp, to, *named] += 1
                    if to not in found.states and to not in following:
                        following[to], ways[to] = after, (fp, *named[:3])
        level = following
        depth += 1
    return found


def inside(model: Model, state: Any, before: Any = None) -> bool:
    """Return whether the constraints keep a state, and the step that leads there."""
    view = PlainView(state)
    kept = all(model.holds(c.whole, view) for c in model.constraints)
    if before is None:
        return kept
    limits = model.step_constraints
    return kept and all(model.holds(c.whole, view, PlainView(before)) for c in limits)


def names(model: Model, state: Any, action: Any, choices: Any) -> Row:
    """(action, actor, arguments, choices) as a trace shows them."""
    taken = take_step(model, state, action, choices)
    assert taken is not None
    step, short = taken.step, short_names(model)
    actor = None if step.actor is None else repr(step.actor)
    if actor is not None:
        actor = short.get(actor.partition("#")[0], actor) or None
    arguments = ", ".join(f"{n}={text_of(v)}" for n, v in step.arguments) or None
    return step.action, actor, arguments, ", ".join(map(str, step.choices)) or None


def shown(model: Model, state: Any) -> dict[str, Any]:
    """The content of a state by field."""
    short = short_names(model)
    content = content_of(model, state).items()
    return {show_field(path, short): None if v is ABSENT else v for path, v in content}


def cell(value: Any, kind: pa.DataType) -> Any:
    """A value as a column, or a field of a struct, of that type holds it."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [cell(v, kind.value_type) for v in value]
    if pa.types.is_map(kind):
        keys = (text_of(k) if k is None else cell(k, kind.key_type) for k in value)
        return list(zip(keys, (cell(v, kind.item_type) for v in value.values()), strict=True))
    if pa.types.is_struct(kind):
        return {part.name: cell(part_of(value, part.name), part.type) for part in kind}
    return value if kind != pa.string() else text_of(value)


def bare(found: Any) -> Any:
    """A cell without quotes: strings have them only in a column of several types."""
    if isinstance(found, str):
        return found.strip("'")
    if isinstance(found, list | tuple):
        return type(found)(map(bare, found))
    return {n: bare(v) for n, v in found.items()} if isinstance(found, dict) else found


def part_of(value: Any, name: str) -> Any:
    """Return what a field of a struct shows."""
    if type(value) is tuple:
        return value[int(name.removesuffix("_text")[1:]) - 1]
    if name == "class":
        return type(value).__name__
    return freeze(getattr(value, name, getattr(value, name.removesuffix("_text"), None)))


def signed(fingerprint: int) -> int:
    """A fingerprint as a signed integer."""
    return fingerprint - (1 << 64) if fingerprint >> 63 else fingerprint
