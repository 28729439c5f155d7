"""``--slice``: groups of properties are searched one by one, without fields that none reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import check, load, replay
from statewalk.checker.engines import hidden, slices
from statewalk.checker.liveness import collect
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model
from statewalk.dsl.source.readers import Readers

HEAD = """
from typing import Literal

from statewalk import *

deadlock(False)

class Node(Role):
    b: bool = False
    h: int = 0
    k: int = 0

    @action{fair}
    def flip(self) -> None:
        {guard}
        self.b = not self.b

    @action
    def first(self) -> None:
        require(not self.b)
        self.h = 1

    @action
    def second(self) -> None:
        {with_it}self.k = 1

nodes = [Node() for _ in range(2)]
"""
INVARIANT = """
@always
def kept() -> bool:
    return all({test} for n in nodes)
"""
WITNESS = """
@exists
def reached() -> bool:
    return all(n.b and n.h == 1 for n in nodes)
"""


def spec(tmp_path: Path, rest: str = "", **parts: str) -> Model:
    path = tmp_path / "spec.py"
    given = {"guard": "pass", "with_it": "", "fair": "", **parts}
    path.write_text(HEAD.format(**given) + rest)
    return load(path)


def outcomes(run: Run) -> set[tuple[object, ...]]:
    return {(p.name, p.verdict, p.length, p.vacuous) for p in run.properties}


def sizes(run: Run) -> list[int]:
    return [one["distinct"] for one in run.evidence.statistics.get("slices", ())]


def test_a_property_that_reads_nothing_unread_is_searched_without(tmp_path: Path) -> None:
    model = spec(tmp_path, INVARIANT.format(test="n.b in (True, False)"))
    whole, apart = (check(model, slices=how) for how in ("off", "on"))

    assert (whole.counts.distinct, apart.counts.distinct) == (64, 4)
    assert outcomes(whole) == outcomes(apart)
    assert sizes(apart) == [4]


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_elements_of_different_instances_are_apart(tmp_path: Path, engine: str) -> None:
    model = spec(tmp_path, INVARIANT.format(test="n.h + n.k + n.b < 9"))
    apart = check(model, slices="on", engine=engine)

    assert apart.verdict == "holds"
    assert sizes(apart) == [4, 16, 16]


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_slots_that_are_written_together_are_watched(tmp_path: Path, engine: str) -> None:
    both = "self.h = 2\n        "
    model = spec(tmp_path, INVARIANT.format(test="n.h < 3"), with_it=both)
    assert sizes(check(model, slices="on", engine=engine)) == [4]

    broken = spec(tmp_path, INVARIANT.format(test="n.h < 2"), with_it=both)
    run = check(broken, slices="on", engine=engine)
    assert (run.of("kept").verdict, run.of("kept").length) == ("violated", 1)
    assert run.of("kept").kind == "always"
    assert replay(run.traces["kept"], broken).still


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_search_for_witnesses_ends_when_they_are_reached(tmp_path: Path, engine: str) -> None:
    model = spec(tmp_path, WITNESS)
    run = check(model, slices="on", engine=engine)

    assert (run.verdict, run.of("reached").length) == ("holds", 4)
    assert run.evidence.witnesses == (("reached", 4),)
    assert run.counts.distinct == 4  # not those of the search that ended
    never = spec(tmp_path, WITNESS.replace("n.h == 1", "n.h == 9"))
    assert check(never, slices="on", engine=engine).of("reached").verdict == "violated"


def suggesting_nothing(model: Model) -> dict[tuple[str, str], Readers]:
    return dict.fromkeys(model.fields, Readers())


def differ(model: Model) -> bool:
    whole, apart = (check(model, slices=s, engine="reference") for s in ("off", "on"))
    return outcomes(whole) != outcomes(apart)


def never(*_: Any) -> None:
    """Stand in for a rule that is left out."""


GUARD = {"guard": "require(self.h == 1)"}
MUTANTS = {
    "reads are not noticed": (hidden.HidingView, "_is_hidden", "n.h < 9", GUARD),
    "a watched element reads all": (hidden.WatchingView, "_is_hidden", "n.h == 0 or not n.b", {}),
    "slots are written apart": (hidden.HidingView, "parted", "n.h + n.k < 2", {}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_rule_that_is_left_out_is_noticed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, attribute, test, parts = MUTANTS[name]
    rest = INVARIANT.format(test=test) + WITNESS.replace("n.h == 1", "n.b")
    model = spec(tmp_path, rest, **parts)
    if parts:
        monkeypatch.setattr(slices, "readers_of", suggesting_nothing)
    assert not differ(model)

    monkeypatch.setattr(owner, attribute, never)

    assert differ(model)


LIVE = """
@always
@eventually
def on() -> bool:
    return nodes[0].b
"""


@pytest.mark.parametrize(("fair", "verdict"), [("(fair='weak')", "holds"), ("", "violated")])
def test_liveness_in_slices_is_that_of_the_whole(tmp_path: Path, fair: str, verdict: str) -> None:
    model = spec(tmp_path, LIVE, fair=fair)
    whole, apart = (check(model, slices=s, engine="native") for s in ("off", "on"))

    assert apart.of("on").verdict == verdict
    assert outcomes(whole) == outcomes(apart)


def test_the_graph_is_kept_in_the_first_slice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = spec(tmp_path, LIVE + INVARIANT.format(test="n.h < 9"), fair="(fair='weak')")
    monkeypatch.setattr(collect, "collect_sliced", None)

    assert check(model, slices="on", engine="native").of("on").verdict == "holds"


def test_liveness_that_reads_what_the_text_does_not_say_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "readers_of", suggesting_nothing)
    model = spec(tmp_path, LIVE.replace("nodes[0].b", "nodes[0].h == 0"), fair="(fair='weak')")
    whole, apart = (check(model, slices=s, engine="native") for s in ("off", "on"))

    assert outcomes(whole) == outcomes(apart)


HIDDEN_STEPS = """
from statewalk import *

class Node(Role):
    x: bool = False
    b: bool = False
    h: int = 0

    @action(fair="strong")
    def act(self) -> None:
        if self.x:
            self.b = True
        else:
            self.h = any_of([0, 1])

    @action(fair="weak")
    def turn(self) -> None:
        self.x = not self.x

node = Node()

@eventually
def done() -> bool:
    return node.b
"""


STAYS = """
@on_step
def stays() -> bool:
    return node.b or not old(node.b)
"""


@pytest.mark.parametrize("rest", ["", STAYS], ids=["graph alone", "with steps that change nothing"])
def test_fair_steps_that_change_only_what_nobody_reads_count(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HIDDEN_STEPS + rest)
    whole, apart = (check(path, slices=s, engine="native") for s in ("off", "on"))

    assert apart.of("done").verdict == "violated"
    assert outcomes(whole) == outcomes(apart)


OPTIONS = [{"view": True}, {"graph": "graph"}]


@pytest.mark.parametrize("options", OPTIONS, ids=["view", "graph"])
def test_what_needs_every_state_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(RunError) as caught:
        check(spec(tmp_path, LIVE), slices="on", **options)

    assert caught.value.code == "SW357"
