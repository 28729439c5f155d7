"""Generated specs with and without `--reduce`: verdicts and lengths are equal, traces replay;
whatever the rule is that says what is reset.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk import check, load, replay
from statewalk.checker.engines.resets import Rule
from statewalk.checker.native import reducing
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.resetting import ResettingView
from statewalk.dsl.errors import EngineError
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import intern_key
from tests.cases import some
from tests.checker.native.spec_source import source as sequential
from tests.checker.verdict.test_view_campaign import generated as viewed
from tests.dsl.assemble.test_generated_coming import source as coming
from tests.dsl.flows.own_source import source as flows

DEPTH = 6
HEAD = """
from typing import Literal
from statewalk import Role, State, action, always, deadlock, eventually, exists, old
from statewalk import on_step, require

deadlock({deadlock})


class Net(State):
    sent: set[int] = set()
    log: list[int] = []


class P(Role, symmetric=True):
    at: Literal["idle", "busy", "done"] = "idle"
    x: Literal[0, 1, 2] = 0
    y: Literal[0, 1, 2] = 0
    n: int = 0
    kept: set[int] = set()
"""
GUARDS = (
    'self.at == "idle"', 'self.at == "busy"', 'self.at != "done"', "self.x == 0", "self.y < 2",
    "self.x == self.y", "1 in net.sent", "2 not in net.sent", "self.n < 2", "1 in self.kept",
    "len(net.log) < 2",
)  # fmt: skip
WRITES = (
    'self.at = "idle"', 'self.at = "busy"', 'self.at = "done"', "self.x = 1", "self.x = 2",
    "self.x = self.y", "self.y = v", "self.y = 0", "net.sent.add(v)", "net.sent.discard(1)",
    "self.kept.add(v)", "self.n = min(self.n + 1, 2)", "net.log.append(v)", "self.x = v",
)  # fmt: skip
STATES = (
    'p.at != "busy" or p.x < 2', "p.x + p.y < 4", 'p.at != "done"', "1 not in p.kept or p.n < 2",
    'p.at == "idle" or 2 not in net.sent', "len(net.log) < 3", 'p.at != "done" or p.y == 0',
)  # fmt: skip


def phased(random: Random) -> str:
    """A spec whose fields matter in some phases only."""
    lines = [HEAD.format(deadlock=random.random() < 0.3)]
    for number in range(random.randint(2, 5)):
        fair = random.choice(("", '(fair="weak")', ""))
        lines += [f"    @action{fair}", f"    def a{number}(self, v: Literal[1, 2]) -> None:"]
        lines += ["        require(len(net.log) < 3 and self.n < 3)"] * (random.random() < 0.5)
        phase = random.choice(GUARDS[:3])
        guards = [phase, *random.sample(GUARDS, random.randint(0, 2))]
        lines += [f"        require({guard})" for guard in guards]
        if "net.log" not in str(lines[-3:]):
            lines += ["        require(len(net.log) < 3)"]
        lines += [f"        {w}" for w in random.sample(WRITES, random.randint(1, 3))]
    lines += ["", "net = Net()", f"ps = [P() for _ in range({random.randint(1, 2)})]"]
    for number in range(random.randint(1, 2)):
        lines += ["", "@always", f"def s{number}() -> bool:"]
        lines += [f"    return all({random.choice(STATES)} for p in ps)"]
    lines += ["", "@exists", "def seen() -> bool:"]
    lines += [f"    return any(not ({random.choice(STATES)}) for p in ps)"]
    if random.random() < 0.4:
        lines += ["", "@on_step", "def steps() -> bool:"]
        lines += ["    return all(old(p.x) <= p.x or p.at != 'busy' for p in ps)"]
    if random.random() < 0.4:
        lines += ["", "@eventually", "def ends() -> bool:"]
        lines += [f"    return any({random.choice(STATES)} for p in ps)"]
    return "\n".join(lines) + "\n"


def of_kind(random: Random) -> str:
    """A spec of one kind or another."""
    kinds: list[Callable[[], str]] = [
        lambda: sequential(random, 0.0), lambda: viewed(random.randrange(1000)),
        lambda: coming(random, symmetric=random.random() < 0.5), lambda: flows(random),
    ]  # fmt: skip
    kinds += [lambda: phased(random)] * 4
    return random.choice(kinds)()


def found(model: Model, **options: Any) -> set[tuple[object, ...]]:
    """Return what a check finds, after how many steps."""
    run = check(model, max_depth=DEPTH, symmetry=False, **options)
    still = {name: replay(trace, model).still for name, trace in run.traces.items()}
    return {(p.name, p.verdict, p.length, still.get(p.name)) for p in run.properties}


def differs(path: Path, seed: int) -> str:
    """Return how the reduced search differs; empty where it does not."""
    random = Random(seed)
    path.write_text(of_kind(random))
    model = load(path)
    for keep_going in (True, False):
        whole = found(model, engine="native", keep_going=keep_going)
        reducing.PROBE = random.choice((1, 8, 60, 20_000))
        reduced = found(model, reduce=True, keep_going=keep_going, threads=random.choice((1, 2)))
        open_ = {name for name, verdict, *_ in whole | reduced if verdict == "unknown"}
        whole, reduced = (  # the depth need not cut both
            {told for told in one if told[0] not in open_ or told[2] is not None}
            for one in (whole, reduced)
        )
        if whole != reduced:
            return f"seed {seed}, {keep_going=}: {sorted(whole ^ reduced, key=str)}"
    return ""


def any_rule(learned: Learned, *_: object) -> Rule:
    """Return a rule that nothing speaks for."""
    layout, random = learned.layout, Random(len(learned.layout.slots))
    paths = [s.path for s in layout.slots if not s.hidden and s.path[3:4] != ("key",)]
    rules: list[dict[Any, frozenset[Any]]] = [{}, {}]
    for path in paths:
        slot = layout.slot(random.choice(paths))
        guard = slot.path, intern_key(random.choice(slot.values))
        part = random.choice(rules)
        part[guard] = part.get(guard, frozenset()) | {path}
    return Rule(rules[0], rules[1], {path: path for path in paths})


@pytest.fixture
def no_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reducing, "PROBE", 1)
    monkeypatch.setattr(reducing._States, "worth", lambda _, rule: rule)


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("no_worth")
@pytest.mark.parametrize("seed", some(range(12), every=4))
@pytest.mark.parametrize("rule", ["learned", "any"])
def test_reduced_searches_find_what_others_do(
    tmp_path: Path, seed: int, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "any":
        monkeypatch.setattr(reducing, "rule_of", any_rule)

    assert differs(tmp_path / "spec.py", seed) == ""


@pytest.mark.usefixtures("no_worth")
def test_a_rule_that_is_not_watched_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResettingView, "_look", lambda *_: None)
    monkeypatch.setattr(reducing, "rule_of", any_rule)

    def noticed(seed: int) -> bool:
        try:
            return differs(tmp_path / "spec.py", seed) != ""
        except EngineError:  # a step that was found cannot be taken
            return True

    assert any(map(noticed, range(6)))


@pytest.mark.slow
@pytest.mark.usefixtures("no_worth")
@pytest.mark.parametrize("rule", ["learned", "any"])
@pytest.mark.parametrize("block", range(20))
def test_reduced_searches_of_many_specs(
    tmp_path: Path, block: int, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rule == "any":
        monkeypatch.setattr(reducing, "rule_of", any_rule)
    told = [differs(tmp_path / "spec.py", seed) for seed in range(25 * block, 25 * block + 25)]

    assert [one for one in told if one] == []
