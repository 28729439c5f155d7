"""Generated specs with auxiliary fields: what the view does not refuse has the verdicts it has
without the view.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from statewalk import check, load
from statewalk.dsl.errors import RunError
from tests.cases import some

DEPTH = 5
HEAD = """
from typing import Literal

from statewalk import *

class Node(Role):
    a: Literal[0, 1, 2] = 0
    b: bool = False
    h: Auxiliary[int] = 0
    k: Auxiliary[Literal[0, 1, 2]] = 0
    log: Auxiliary[list[int]] = []
    marks: Auxiliary[set[int]] = set()
    table: Auxiliary[dict[int, int]] = {}

    def hidden(self) -> int:
        return self.h % 2

"""
SHOWN = ("{o}.a == {n}", "{o}.b", "not {o}.b", "{o}.a + other.a < 3", "one.b == other.b")
HIDDEN = (
    "{o}.h < 3", "{o}.k == {n}", "len({o}.log) < 3", "{n} in {o}.marks", "{o}.hidden() == 0",
    "{n} not in {o}.table", "any(r.h > 1 for r in (one, other))", "one.log == other.log",
)  # fmt: skip
CHANGES = (
    "self.a = ({o}.a + 1) % 3", "self.b = not self.b", "{o}.b = {test}",
    "self.a = any_of([0, {n}])", "self.b = {o}.a == {n}",
)  # fmt: skip
WRITES = (
    "{o}.h += 1", "{o}.h += self.a", "self.k = {o}.a", "self.k = any_of([0, 1])",
    "{o}.log.append({o}.a)", "self.log = []", "{o}.marks.add({n})", "{o}.marks.discard(self.a)",
    "self.table[{n}] = self.a", "self.h = {n}", "self.log += [{n}]", "self.marks = set()",
)  # fmt: skip
LEAKS = (
    "self.a = {o}.k", "self.h = self.h + 1", "self.k += 1", "self.b = {o}.hidden() == 1",
    "self.a = any_of([0, {o}.k])", "self.a = self.log.pop() % 3", "self.table = {{}}",
    "self.marks.remove({n})",
)  # fmt: skip


def generated(seed: int) -> str:
    """A spec in which now and then something that decides reads an auxiliary field."""
    rng = random.Random(seed)
    leaky = rng.choice((0.0, 0.0, 0.1, 0.3))

    def filled(template: str) -> str:
        who = rng.choice(("self", "one", "other"))
        return template.format(o=who, n=rng.randrange(3), test=who + ".a == 1")

    def told(owner: str) -> str:
        text = filled(rng.choice(HIDDEN if rng.random() < leaky else SHOWN))
        return text if owner == "self" else text.replace("self.", "one.")

    def statement() -> str:
        if rng.random() < leaky:
            return filled(rng.choice(LEAKS))
        return filled(rng.choice((*CHANGES, *WRITES)))

    text = HEAD
    for at in range(rng.randint(1, 3)):
        text += f"    @action\n    def step{at}(self) -> None:\n"
        if rng.random() < 0.7:
            text += f"        require({told('self')})\n"
        for _ in range(rng.randint(1, 4)):
            line = statement()
            if rng.random() < 0.3:
                line = f"if {told('self')}:\n            {line}"
            text += f"        {line}\n"
        if rng.random() < 0.2:
            text += f"        assert {told('self')} or {told('self')}\n"
    text += "\none, other = Node(), Node()\n"
    for at, mark in enumerate(("always", "exists", "on_step", "terminal", "constraint")):
        if at < 2 or rng.random() < 0.4:
            both = "and" if mark == "exists" else "or"
            words = f"{told('')} {both} {told('')}"
            text += f"\n@{mark}\ndef p{at}() -> bool:\n    return {words}\n"
    return text


def found(path: Path, engine: str, view: bool) -> object:
    """Return what a search finds in its first levels, after how many steps; or the code
    of why not.
    """
    try:
        run = check(
            load(path), engine=engine, view=view, keep_going=True, max_depth=DEPTH,
        )  # fmt: skip
    except RunError as error:
        return error.code
    reached = {"exists": "holds"}
    return {
        (p.name, p.length)
        for p in run.properties
        if p.verdict == reached.get(p.kind, "violated") or p.name == "no_error"
    }


def agreement(tmp_path: Path, seed: int) -> str:
    """Return whether a spec is refused or decided under the view, as both engines say."""
    path = tmp_path / f"spec{seed}.py"
    path.write_text(generated(seed))
    seen = found(path, "native", view=True)
    assert seen == found(path, "reference", view=True), f"engines differ: seed {seed}"
    if seen == "SW356":
        return "refused"
    assert seen == found(path, "reference", view=False), f"the view decides: seed {seed}"
    return "decided"


@pytest.mark.parametrize("seed", some(range(6), every=6))
def test_a_verdict_under_the_view_is_the_one_without_it(tmp_path: Path, seed: int) -> None:
    agreement(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_verdicts_under_the_view_are_those_without_it(tmp_path: Path, block: int) -> None:
    told = Counter(agreement(tmp_path, seed) for seed in range(100 + 25 * block, 125 + 25 * block))

    assert set(told) == {"refused", "decided"}
