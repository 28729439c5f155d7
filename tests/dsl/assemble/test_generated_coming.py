"""Generated specs with roles that come and go, mentioned in fields, lists, sets, dicts and records:
states, orbits and verdicts are those that plain Python finds by running the text.

`COMING=2000 pytest -m slow tests/dsl/assemble/test_generated_coming.py` looks at so many.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from statewalk.checker.api import check
from tests.checker.native.brute import Brute

MANY = int(os.environ.get("COMING", "200"))
HEAD = """
from statewalk import *

class Note(Record):
    who: "W | None" = None
    n: int = 0

class W(Role, at_most={most}{symmetric}):
    n: int = 0
    friend: "W | None" = None
    known: set["W"] = set()

    @action
    def step(self) -> None:
{step}

    @action
    def meet(self, other: "W") -> None:
{meet}

    @action
    def leave(self) -> None:
{leave}

class Hub(State):
    order: list[W] = []
    pool: set[W] = set()
    score: dict[W, int] = {{}}
    last: W | None = None
    note: Note = Note()
    pairs: set[tuple[W, int]] = set()

    @action
    def make(self) -> None:
        require(len(instances(W)) < {most})
{make}

    @action
    def change(self) -> None:
{change}

    @action
    def close(self) -> None:
{close}

def forget(gone: W) -> None:
    if gone in hub.order:
        hub.order.remove(gone)
    hub.pool.discard(gone)
    hub.score.pop(gone, None)
    hub.pairs = {{pair for pair in hub.pairs if pair[0] is not gone}}
    if hub.last is gone:
        hub.last = None
    if hub.note.who is gone:
        hub.note = Note()
    for w in instances(W):
        if w.friend is gone:
            w.friend = None
        w.known.discard(gone)

hub = Hub()
{first}
deadlock(False)

@always
def few() -> bool:
    return {few}

@always
def each(w: W) -> bool:
    return {each}

@exists
def met() -> bool:
    return {met}
"""
OWN = [  # what a role does with one that it knows as `w`
    "{w}.n = ({w}.n + 1) % 2",
    "hub.last = {w}",
    "hub.pool.add({w})",
    "hub.pool ^= {{{w}}}",
    "hub.score[{w}] = {w}.n",
    "hub.score.setdefault({w}, 0)",
    "hub.note = Note({w}, {w}.n)",
    "hub.pairs.add(({w}, {w}.n))",
    "require({w} not in hub.order)\n        hub.order.append({w})",
    "if {w} in hub.order:\n            hub.order.remove({w})",
    "{w}.friend = hub.last",
    "{w}.friend = None",
    "{w}.known = set(hub.pool)",
    "{w}.known.add({w})",
    "hub.order = [{w}]",
    "hub.last = {w}.friend",
]
PICK = [
    "w = any_of(instances(W))",
    "require(hub.pool)\n        w = any_of(hub.pool)",
    "require(hub.order)\n        w = hub.order[0]",
    "require(hub.last is not None)\n        w = hub.last",
    "require(hub.score)\n        w = any_of(list(hub.score))",
]
FEW = [
    "len(hub.order) < 2",
    "all(w.n < 1 for w in instances(W))",
    "hub.last is None",
    "len(hub.pool) < 2",
    "all(w.there for w in hub.pool)",
    "sum(hub.score.values()) < 2",
    "True",
]
EACH = ["w.there", "w.friend is not w", "w.n == 0 or w in hub.pool", "w not in w.known",
        "hub.last is not w or w.n == 0"]  # fmt: skip


def source(random: Random, *, symmetric: bool) -> str:
    def body(first: str, w: str, most: int) -> str:
        lines = [random.choice(OWN).format(w=w) for _ in range(random.randint(1, most))]
        return "        " + "\n        ".join([*([first] if first else []), *lines])

    forgets = random.random() < 0.85
    most = random.randint(1, 3)
    leave = [random.choice(["require(self.n == 1)", "require(hub.last is not self)", "self.n = 0"])]
    leave += [*(["forget(self)"] if forgets else []), "end(self)"]
    close = [random.choice(PICK), *(["forget(w)"] if forgets else []), "end(w)"]
    first = "first = W()" if not symmetric and random.random() < 0.3 else ""
    return HEAD.format(
        most=most, symmetric=", symmetric=True" if symmetric else "",
        step=body("", "self", 2), meet=body("require(other is not self)", "other", 2),
        leave="        " + "\n        ".join(leave), make=body("w = W()", "w", 2),
        change=body(random.choice(PICK), "w", 2), close="        " + "\n        ".join(close),
        first=first, few=random.choice(FEW), each=random.choice(EACH),
        met=f"not ({random.choice(FEW)})",
    )  # fmt: skip


def agree(seed: int, folder: Path, most: int = 400) -> str:
    """Compare one spec by both engines; what came out."""
    random = Random(f"coming/{seed}")
    symmetric = seed % 2 == 1
    text = source(random, symmetric=symmetric)
    path = folder / "spec.py"
    path.write_text(text, encoding="utf-8")
    found = Brute(text, "W" if symmetric else "").explore(most)
    if found is None:
        return "too many"
    names = ["few", "met", *([] if symmetric else ["each"])]
    for engine in ("reference", "native"):
        run = check(
            path, engine=engine, keep_going=True, symmetry=symmetric,
            properties=None if not symmetric else ("few", "met"),
        )  # fmt: skip
        if "no_error" in found.first:
            assert "error" == run.verdict, seed
            assert found.first["no_error"] + 1 == run.result.of("no_error").length, seed
            continue
        counts = run.counts

        assert "error" != run.verdict, seed
        assert (found.distinct, found.depth) == (counts.distinct, counts.depth), seed
        assert symmetric or found.generated == counts.generated, seed
        lengths = {
            n: [p.length for p in run.properties if p.name.partition("(")[0] == n] for n in names
        }
        assert {n: found.first.get(n) for n in names} == {
            n: min((size for size in told if size is not None), default=None)
            for n, told in lengths.items()
        }, seed
    return "error" if "no_error" in found.first else f"{'orbits' if symmetric else 'states'}"


@pytest.mark.thorough
def test_generated_roles_that_come_and_go(tmp_path: Path) -> None:
    told = Counter(agree(seed, tmp_path, 40) for seed in range(2))

    assert {"orbits", "states"} <= set(told)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_roles_that_come_and_go(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 10)
    first = 100 + block * share
    told = Counter(agree(seed, tmp_path) for seed in range(first, first + share))

    assert {"error", "orbits", "states"} <= set(told)
