"""Generated bodies: what plain Python objects do, the reference engine does without lowering, and
all engines with it: counts, verdicts, traces.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.binding import bound
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView
from tests.cases import some
from tests.checker.native.agreement import told
from tests.dsl.lowering import plain_spec
from tests.dsl.lowering.bodies import BodyWriter

STEPS = 8


def agree(seed: int, folder: Path) -> None:
    random = Random(seed)
    text = BodyWriter(random).source()
    path = folder / f"body_{seed}.py"
    path.write_text(text)
    plain, lowered = load(str(path), {}, optimize=False), load(str(path), {})
    do_as_python_does(plain, text, random)
    options = SearchOptions(keep_going=True, max_states=random.choice([20, 60]))
    expected = told(reference.explore(plain, options))

    assert expected == told(reference.explore(lowered, options)), seed
    assert expected == told(native.explore(lowered, options)), seed
    assert expected == told(native.explore(plain, options)), seed


def do_as_python_does(model: Model, text: str, random: Random) -> None:
    """Take some steps in both worlds."""
    names = plain_spec.run(text)
    state = dict(model.initial_states[0])
    nodes = names["nodes"]
    for _ in range(STEPS):
        assert _said(model, state) == [_answer(p.name, names) for p in model.properties]
        action = random.choice(model.actions)
        other = dict(action.arguments)["other"]
        actor: Any = action.actor
        getattr(nodes[actor.index], action.name)(nodes[other.index])
        (outcome,) = model.outcomes(action, state)
        state = model.successor(state, outcome)

        assert _content(nodes) == _held(model, state), action.label


def _held(model: Model, state: Any) -> list[str]:
    with bound(PlainView(state), classes=model.classes):
        return _content(model.roles["Node"])


def _content(nodes: Any) -> list[str]:
    fields = ("n", "m", "m_n", "xs", "kept", "table", "item", "items", "peers", "got")
    return [f"{f} {plain_spec.shown(getattr(node, f))}" for node in nodes for f in fields]


def _said(model: Model, state: Any) -> list[object]:
    found: list[object] = []
    for prop in model.properties:
        try:
            found.append(model.holds(prop.whole, PlainView(state)))
        except Exception as error:
            found.append(type(error))
    return found


def _answer(name: str, names: dict[str, Any]) -> object:
    try:
        return names[name]()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("seed", some(range(10), every=10))
def test_generated_bodies_do_what_python_does(seed: int, tmp_path: Path) -> None:
    agree(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_very_many_generated_bodies_do_what_python_does(block: int, tmp_path: Path) -> None:
    for seed in range(100 + 100 * block, 100 + 100 * (block + 1)):
        agree(seed, tmp_path)
