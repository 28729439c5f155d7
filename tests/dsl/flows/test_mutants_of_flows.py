"""Mutants of actions of several steps, in another module: as if written where these stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from tests.cases import slow

PARTS = """
from statewalk import *

class Account(State):
    n: int = 0

class Teller(Role):
    stage: str = "new"
    seen: int = 0

    @action(flow="serial", fair="weak")
    def go(self) -> None:
        require(self.stage == "new")
        self.stage = "busy"
        with parallel():
            self.take(1)
            account.n += 1
        self.stage = "done"

    def take(self, k: int) -> None:
        with atomic():
            x = account.n
            account.n = x + k

    @action
    def slow(self) -> Flow[None]:
        require(self.seen == 0)
        self.seen = 1
        yield
        yield from self.more()
        account.n += 1

    def more(self) -> Flow[None]:
        account.n += 1
        yield
        self.seen = 2

account = Account()
tellers = [Teller() for _ in range(2)]
deadlock(False)
threads(1)
"""
HELP = """
STEP = 1

def one_more(x: int) -> int:
    return x + STEP
"""
CHECKED = f"""
from parts import *
from parts import Teller, account
{HELP}
@mutant(Teller.take)
def torn(self: Teller, k: int) -> None:
    with serial():
        x = account.n
        account.n = one_more(x)

@mutant(Teller.go)
def one_of(self: Teller) -> None:
    require(self.stage == "new")
    self.stage = "busy"
    with oneof():
        account.n = one_more(account.n)
        self.take(2)
    self.stage = "done"

@mutant(Teller.more)
def longer(self: Teller) -> Flow[None]:
    x = one_more(account.n)
    yield
    account.n = x
    yield
    self.seen = any_of([2, 3])

@mutant(Teller.slow)
def slower(self: Teller) -> Flow[None]:
    require(self.seen == 0)
    self.seen = STEP
    yield
    yield from self.more()
    if account.n > 2:
        yield
        account.n -= 1
"""
MUTANT = re.compile(r"@mutant\(Teller\.(\w+)\)\ndef (\w+)\(([^)]*)\)([^\n]*)\n((?:    .*\n)+)")
MUTANTS = {name: (of, head, end, body) for of, name, head, end, body in MUTANT.findall(CHECKED)}


def by_hand(of: str, head: str, end: str, body: str) -> str:
    own = f"    def {of}({head.replace(': Teller', '')}){end}\n" + re.sub("(?m)^", "    ", body)
    text, times = re.subn(
        rf"(?m)^    def {of}\(.*\n(?:        .*\n)+", lambda _: own.rstrip() + "\n", PARTS
    )
    assert times == 1
    return text.replace("import *\n", "import *\n" + HELP, 1)


def found(path: Path, explore: Any, *, optimize: bool, **constants: str) -> tuple[Any, ...]:
    model = load(path, constants, optimize=optimize)
    result = explore(model, SearchOptions())
    return [(a.label, a.fairness) for a in model.actions], result.counts, result.levels


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("explore", "optimize"),
    [
        (reference.explore, False),
        (native.explore, True),
        slow(reference.explore, True),
        slow(native.explore, False),
    ],
)
@pytest.mark.parametrize("name", [*MUTANTS])
def test_a_mutant_of_a_flow_is_as_if_written_there(
    name: str, explore: Any, optimize: bool, tmp_path: Path
) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "spec.py").write_text(CHECKED)
    (tmp_path / "hand.py").write_text(by_hand(*MUTANTS[name]))

    written = found(tmp_path / "hand.py", explore, optimize=optimize)
    chosen = found(tmp_path / "spec.py", explore, optimize=optimize, MUTANT=name)

    assert written == chosen
