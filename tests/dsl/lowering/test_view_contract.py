"""The promises of lowered code to its View: equal keys mean equal functions (contract of
`dsl.view.View`).

An engine remembers results by key. Here a view recomputes every one and compares, over all
reachable states of the library's small models and of awkward specs. A plain view cannot notice a
key that says too little.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.values.stored import ABSENT, encode, intern_key
from statewalk.dsl.view import Disabled, Place, runs
from statewalk.dsl.view import Path as SlotPath
from tests.cases import slow
from tests.places import ROOT

_here = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("awkward", _here / "test_lowering_agrees.py")
assert _spec is not None and _spec.loader is not None
awkward = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(awkward)

Memo = dict[Any, Any]


def _key(value: Any) -> Any:
    return "absent" if value is ABSENT else encode(value)


class RememberingView(PlainView):
    """Compares every projection, update and call with what was remembered for its key."""

    __slots__ = ("memo", "state")

    def __init__(self, base: Any, script: Any, memo: Memo, state: int) -> None:
        super().__init__(base, script)
        self.memo = memo
        self.state = state

    def remember(self, key: Any, result: Any) -> Any:
        known = self.memo.setdefault(key, _key(result))
        assert known == _key(result), f"two results for {key}"
        return result

    def project(
        self, path: SlotPath, key: object, fn: Callable[[Any], Any], place: Place = ()
    ) -> Any:
        value = self.get(path)
        hash(key)
        return self.remember(("project", path, _key(value), key, place), fn(value))

    def update(self, path: SlotPath, key: object, fn: Callable[[Any], Any]) -> None:
        value = self.get(path)
        self.writes[path] = self.remember(("update", path, _key(value), key), fn(value))

    def call(self, key: object, fn: Callable[[], Any]) -> Any:
        if self.writes:
            return fn()
        return self.remember(("call", self.state, key), fn())


def _explore(model: Model, limit: int) -> tuple[int, int]:
    """(states seen, results remembered)"""
    fingerprints = Fingerprints(model.fields)
    memo: Memo = {}
    seen: set[int] = set()
    todo: list[Any] = [dict(s) for s in model.initial_states]
    while todo and len(seen) < limit:
        state = todo.pop()
        fingerprint = fingerprints.of_state(state)
        if fingerprint in seen:
            continue
        seen.add(fingerprint)
        for prop in model.properties:
            if prop.kind != "on_step":
                for element in prop.elements:
                    model.holds(element.holds, RememberingView(state, (), memo, fingerprint))
        for action in model.actions:
            for view in runs(partial(RememberingView, state, memo=memo, state=fingerprint)):
                try:
                    model.take(action, view)
                except Disabled:
                    pass
                else:
                    after = dict(state)
                    after.update(view.writes)
                    todo.append({p: v for p, v in after.items() if v is not ABSENT})
    return len(seen), len(memo)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", awkward.SPECS)
def test_keys_of_awkward_specs_say_enough(name: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(awkward.HEAD + awkward.SPECS[name])

    states, _ = _explore(load(path), 600)

    assert states > 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("spec", "constants"),
    [
        ("kafka/init_pid.py", {}),
        slow("kafka/init_pid.py", {"TIDS": 2, "LOG_PARTITIONS": 2, "KEEP_PROCESSED": True}),
        ("toys/two_phase_commit.py", {}),
        ("toys/token_ring.py", {}),
        ("toys/counters.py", {"ATOMIC": False}),
    ],
)
def test_keys_of_models_say_enough(spec: str, constants: dict[str, Any]) -> None:
    root = ROOT / "models"

    states, remembered = _explore(load(root / spec, constants), 1500)

    assert states > 10
    assert remembered > 0 or spec in ("toys/two_phase_commit.py", "toys/counters.py")


def test_keys_tell_true_from_one() -> None:
    assert intern_key(True) != intern_key(1)
    assert intern_key((True,)) != intern_key((1,))
