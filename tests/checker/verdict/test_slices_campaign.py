"""Generated specs searched in slices: verdicts and lengths are those of one search, traces replay;
whatever the text of a spec suggests.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from statewalk import check, load, replay
from statewalk.checker.engines import slices
from statewalk.dsl.model import Model
from statewalk.dsl.source.readers import Readers
from tests.cases import some
from tests.checker.verdict.test_view_campaign import generated

DEPTH = 5
JOINT = """
    @action
    def note(self) -> None:
        require({guard})
        self.h = {n}
        {other}self.k = {m}

    @action
    def turn(self) -> None:
        self.b = not self.b
"""
ELEMENT = """
@always
def kept() -> bool:
    return all({test} for r in (one, other))
"""
TESTS = (
    "r.h == r.k",
    "(r.h == 0) == (r.k == 0)",
    "r.h < {n}",
    "r.h + r.k < {m}",
    "r.h < {n} or r.b",
)


def spec(seed: int) -> str:
    """A spec some of whose fields no step reads, as likely as not."""
    rng = random.Random(seed)
    text = generated(seed)
    for kind in ("Literal[0, 1, 2]", "list[int]", "set[int]", "dict[int, int]", "int"):
        text = text.replace(f"Auxiliary[{kind}]", kind)
    numbers = {"n": rng.randrange(1, 4), "m": rng.randrange(3)}
    other = "require(self.a == 0)\n        self.k = 1\n        " if rng.random() < 0.3 else ""
    guard = rng.choice(("self.a == 1", "self.b", "not self.b"))
    joint = JOINT.format(guard=guard, other=other, **numbers)
    if rng.random() < 0.3:
        joint = joint.replace(
            "self.h = ", rng.choice(("self.h += ", "if self.b:\n            self.h = "))
        )
    text = text.replace("\none, other =", f"{joint}\none, other =")
    return text + ELEMENT.format(test=rng.choice(TESTS).format(**numbers))


def found(
    model: Model, slices: str, *, keep_going: bool, engine: str = "reference"
) -> set[tuple[object, ...]]:
    """Return what a check finds, after how many steps."""
    run = check(
        model, engine=engine, slices=slices, keep_going=keep_going, max_depth=DEPTH, liveness=False
    )
    still = {name: replay(trace, model).still for name, trace in run.traces.items()}
    return {(p.name, p.verdict, p.length, still.get(p.name)) for p in run.properties}


def differs(path: Path, seed: int, engine: str = "reference") -> str:
    """Return how slices differ from one search; empty where they do not."""
    path.write_text(spec(seed))
    model = load(path)
    for keep_going in (True, False):
        whole = found(model, "off", keep_going=keep_going)
        apart = found(model, "on", keep_going=keep_going, engine=engine)
        open_ = {p for p, verdict, *_ in whole if verdict == "unknown"}
        apart = {told for told in apart if told[0] not in open_ or told[2] is not None}
        whole = {told for told in whole if told[0] not in open_}
        if whole != apart:
            return f"seed {seed}, {keep_going=}: {sorted(whole ^ apart, key=str)}"
    return ""


def suggesting_nothing(model: Model) -> dict[tuple[str, str], Readers]:
    """Say of every field that nobody reads it."""
    return dict.fromkeys(model.fields, Readers())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", some(range(8), every=3))
@pytest.mark.parametrize("suggestion", ["text", "nothing"])
def test_slices_find_what_one_search_finds(
    tmp_path: Path, seed: int, suggestion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if suggestion == "nothing":
        monkeypatch.setattr(slices, "readers_of", suggesting_nothing)

    assert differs(tmp_path / "spec.py", seed) == ""


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_slices_of_many_specs(tmp_path: Path, block: int) -> None:
    told = [differs(tmp_path / "spec.py", seed) for seed in range(25 * block, 25 * block + 25)]

    assert [one for one in told if one] == []
