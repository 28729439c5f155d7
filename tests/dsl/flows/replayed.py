"""Flows as the generators that they are: what the naive interpreter and the engines say of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.checker.native import explore as explore_natively
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.checker.native.agreement import told
from tests.dsl.flows import naive

HEAD = "from statewalk import *\ndeadlock(False)\n"


def load_text(folder: Path, text: str, *, optimize: bool = True) -> Model:
    """The model of a spec's text."""
    path = folder / "spec.py"
    path.write_text(HEAD + "from typing import Literal\n" + text)
    return load(path, optimize=optimize)


def _plain_states(model: Model) -> set[int]:
    """Fingerprints of the reachable states without their flow slots."""
    fingerprints = Fingerprints(model.fields)
    seen, found = set(), set()
    todo: list[Any] = [dict(s) for s in model.initial_states]
    while todo:
        state = todo.pop()
        key = fingerprints.of_state(state)
        if key in seen:
            continue
        seen.add(key)
        found.add(fingerprints.of_state({p: v for p, v in state.items() if "@flow" not in p}))
        for action in model.actions:
            todo += [model.successor(state, o) for o in model.outcomes(action, state)]
    return found


def _violated(result: Exploration) -> set[str]:
    return {f.property for f in result.findings}


def agree(folder: Path, text: str) -> None:
    """Compare everything that is said of a spec."""
    options = SearchOptions(keep_going=True)
    with patch("statewalk.dsl.flows.run.refuse_plain_calls"):  # the generators are called here
        model = load_text(folder, text)
    lowered = explore(model, options)
    plain = explore(load_text(folder, text, optimize=False), options)
    native = [explore_natively(model, replace(options, threads=n)) for n in (1, 2)]
    states, violated = naive.reachable(model)

    assert not [f.error for f in lowered.findings if f.error]
    assert told(plain) == told(lowered)
    assert [told(lowered)] * 2 == [*map(told, native)]
    assert states == _plain_states(model)
    assert violated == _violated(lowered)
