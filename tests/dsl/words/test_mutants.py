"""Mutants: where one is chosen, a spec is what it would be with the mutant written in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.cli import main
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.verdict.explain import explain
from statewalk.dsl.errors import SpecError, StatewalkError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.words.constants import GivenText
from tests.cases import some

HEAD = "from statewalk import *\nfrom functools import cache\ndeadlock(False)\n"
SHOP = """
KEYS = range(2)

def most() -> int:
    return 2

def promise() -> Fairness:
    return "strong"

@cache
def doubled(n: int) -> int:
    return 2 * n

LIMIT = doubled(most())

class Base(Role):
    extra: int = most()
    def by(self) -> int:
        return 1
    def spare(self) -> int:
        return 1

class Shop(Base):
    stock: int = 0
    log: list[int] = []
    waiting: bool = False
    @property
    def full(self) -> bool:
        return self.stock >= LIMIT
    @staticmethod
    def unit() -> int:
        return 1
    def by(self) -> int:
        return super().by()
    def note(self, key: int) -> None:
        pass
    @action(fair=promise())
    def fill(self, key: int = any_of(KEYS)) -> None:
        require(not self.full)
        self.stock += self.by() * self.unit() + key
        self.note(key)
    @action
    def sell(self) -> None:
        require(self.stock)
        self.stock -= 1
    @action
    def close(self) -> Flow[None]:
        require(self.full)
        self.waiting = True
        yield
        self.waiting = False

shop = Shop()
HANDLERS = {"by": Base.by}

@init
def begin() -> None:
    shop.stock = 1

def is_full() -> bool:
    return shop.full

def is_empty() -> bool:
    return shop.stock == 0

emptied = leads_to(is_full, is_empty)

@always
def small() -> bool:
    return shop.stock <= 5 and len(shop.log) < 2

@on_step
def in_small_steps() -> bool:
    return abs(shop.stock - old(shop.stock)) <= 2
"""


def mutant(of: str, head: str, *body: str) -> str:
    return "\n".join([f"@mutant({of})", f"def {head}:", *(f"    {line}" for line in body), ""])


# of what, and its text as a mutant; as it would be written where that stands
REPLACED = {
    "a method": (mutant("Base.by", "m(self: Base) -> int", "return 2"), ("by", "return 2")),
    "an action": (
        mutant(
            "Shop.fill",
            "m(self: Shop, key: int = any_of(KEYS)) -> None",
            "require(self.stock < 3)",
            "self.stock += 2",
        ),
        None,
    ),
    "a flow": (
        mutant("Shop.close", "m(self: Shop) -> Flow[None]", "self.waiting = True", "yield"),
        None,
    ),
    "a flow that gives way no more": (
        mutant("Shop.close", "m(self: Shop) -> None", "self.stock = 0"),
        None,
    ),
    "a property": (mutant("Shop.full", "m(self: Shop) -> bool", "return self.stock > 4"), None),
    "a static method": (mutant("Shop.unit", "m() -> int", "return 2"), None),
    "a function": (mutant("most", "m() -> int", "return 1"), None),
    "what Python remembers": (mutant("doubled", "m(n: int) -> int", "return 3 * n"), None),
    "what promises": (mutant("promise", "m() -> Fairness", 'return "weak"'), None),
    "a beginning": (mutant("begin", "m() -> None", "shop.stock = any_of(KEYS)"), None),
    "a premise": (mutant("is_full", "m() -> bool", "return shop.stock == 1"), None),
    "an invariant": (mutant("small", "m() -> bool", "return shop.stock < 3"), None),
    "what writes another field": (
        mutant("Shop.note", "m(self: Shop, key: int) -> None", "self.log = [key, key]"),
        None,
    ),
}


def by_hand(text: str) -> str:
    """The spec with the only mutant of a text written where that of which it is stands."""
    decorator, head, *body = text.splitlines()
    owner, _, name = decorator.removeprefix("@mutant(").rstrip(")").rpartition(".")
    lines = SHOP.splitlines()
    start = lines.index(f"class {owner}(Role):") if owner == "Base" else 0
    start = lines.index("class Shop(Base):") if owner == "Shop" else start
    at = next(i for i in range(start, len(lines)) if lines[i].strip().startswith(f"def {name}("))
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = next(
        i
        for i in range(at + 1, len(lines) + 1)
        if i == len(lines)
        or (lines[i].strip() and len(lines[i]) - len(lines[i].lstrip()) <= indent)
    )
    for word in ("Base", "Shop"):
        head = head.replace(f"self: {word}", "self")
    new = [" " * indent + line for line in (head.replace("def m(", f"def {name}("), *body)]
    return "\n".join([*lines[:at], *new, *lines[end:]])


def shown(model: Model) -> tuple[Any, ...]:
    """All of a model that an engine sees, as text."""
    return (
        model.initial_states,
        [(a.label, a.fairness) for a in model.actions],
        [(p.name, p.kind, [e.text for e in p.elements]) for p in model.properties],
        model.fixed,
        [w.one_line for w in model.warnings],
    )


def found(model: Model, explore: Any) -> tuple[Any, ...]:
    result = explore(model, SearchOptions(keep_going=True))
    findings = sorted((f.property, f.length) for f in result.findings)
    return result.counts, result.levels, findings


def spec(folder: Path, text: str, name: str = "spec.py") -> Path:
    path = folder / name
    path.write_text(HEAD + text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "optimize", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["lowered", "plain"]
)
@pytest.mark.parametrize("text", some((t for t, _ in REPLACED.values()), every=6), ids=[*REPLACED])
def test_a_mutant_is_as_if_written_where_its_target_stands(
    text: str, optimize: bool, tmp_path: Path
) -> None:
    written = load(spec(tmp_path, by_hand(text), "by_hand.py"), optimize=optimize)
    chosen = load(spec(tmp_path, SHOP + text), {"MUTANT": "m"}, optimize=optimize)

    assert shown(written) == shown(chosen)
    assert found(written, reference.explore) == found(chosen, reference.explore)


@pytest.mark.parametrize("text", some((t for t, _ in REPLACED.values()), every=8), ids=[*REPLACED])
def test_a_mutant_that_is_not_chosen_is_not_there(text: str, tmp_path: Path) -> None:
    without = load(spec(tmp_path, SHOP, "without.py"))
    beside = load(spec(tmp_path, SHOP + text))

    assert shown(without) == shown(beside)
    assert {**without.constants, "MUTANT": "none"} == beside.constants


@pytest.mark.parametrize("name", ["a method", "an action", "what writes another field"])
def test_engines_agree_about_mutants(name: str, tmp_path: Path) -> None:
    model = load(spec(tmp_path, SHOP + REPLACED[name][0]), {"MUTANT": "m"})

    assert found(model, reference.explore) == found(model, native.explore)


# -- in which module -----------------------------------------------------------------------------
PARTS = """
class Cell(Role):
    n: int = 0
    def most(self) -> int:
        return 2
    @action
    def up(self) -> None:
        require(self.n < self.most())
        self.n += 1

def start() -> int:
    return 0

FIRST = start()
cell = Cell(n=FIRST)
"""
CHECKED = """
from parts import *
from parts import Cell, cell, start
import parts
HIGH = 4

@always
def small() -> bool:
    return cell.n <= 2

@mutant(Cell.most)
def high(self: Cell) -> int:
    return HIGH

@mutant(parts.start)
def late() -> int:
    return 3

@mutant(start)
def too_early() -> int:
    return HIGH
"""


@pytest.mark.parametrize("explore", [reference.explore, native.explore])
def test_a_mutant_may_stand_in_another_module_than_its_target(explore: Any, tmp_path: Path) -> None:
    spec(tmp_path, PARTS, "parts.py")
    path = spec(tmp_path, CHECKED)

    high = found(load(path, {"MUTANT": "high"}), explore)
    late = found(load(path, {"MUTANT": "late"}), explore)

    assert [("small", 3)] == high[2]
    assert (5, 5) == (high[0].distinct, high[0].generated)
    assert [("small", 0)] == late[2]


def test_a_mutant_of_what_runs_while_modules_do_has_what_is_there_by_then(tmp_path: Path) -> None:
    spec(tmp_path, PARTS, "parts.py")
    path = spec(tmp_path, CHECKED)

    with pytest.raises(SpecError, match="NameError while loading the spec") as error:
        load(path, {"MUTANT": "too_early"})

    assert error.value.at is not None
    assert (str(path), HEAD.count("\n") + 21) == (error.value.at.file, error.value.at.line)


def test_mutants_may_have_a_module_of_their_own(tmp_path: Path) -> None:
    spec(tmp_path, PARTS, "parts.py")
    spec(
        tmp_path,
        "from parts import Cell\n" + mutant("Cell.most", "m(self: Cell) -> int", "return 5"),
        "bad.py",
    )
    path = spec(
        tmp_path, "from parts import cell\nimport bad\n@always\ndef p():\n    return cell.n < 5"
    )

    found_ = reference.explore(load(path, {"MUTANT": "m"}), SearchOptions())

    assert [("p", 5)] == [(f.property, f.length) for f in found_.findings]


def test_a_mutant_may_be_there_in_one_variant_only(tmp_path: Path) -> None:
    inside = "    @mutant(most)\n    def m() -> int:\n        return 1\n"
    text = f"NEW: Constant[bool] = False\nif NEW:\n{inside}"
    path = spec(tmp_path, SHOP + text)

    assert "m" in load(path, {"NEW": True, "MUTANT": "m"}).mutants
    with pytest.raises(SpecError, match="There is no constant MUTANT"):
        load(path, {"MUTANT": "m"})


# -- what is refused -----------------------------------------------------------------------------
M = "@mutant({})\ndef m({}) -> int:\n    return 1\n"
NOWHERE = "'m' cannot be a mutant here."
WRONG = {
    "no such method": (M.format("Shop.byy", "self"), "SW303 AttributeError while loading"),
    "no such function": (M.format("mostly", ""), "SW303 NameError while loading the spec"),
    "a method of a base class": (M.format("Shop.spare", "self"), "Shop.spare is defined in Base."),
    "a field": (
        M.format("Shop.stock", "self"),
        "'m' names Shop.stock, which is not a function of the spec.",
    ),
    "a method of Role": (
        M.format("Shop.index", "self"),
        "'m' names Shop.index, which is not a function of the spec.",
    ),
    "a library's function": (
        M.format("len", "x"),
        "'m' names len, which is not a function of the spec.",
    ),
    "a lambda": (M.format("short", ""), "'m' names short, which is not a function of the spec."),
    "what a decorator made": (
        M.format("odd", ""),
        "'m' names odd, which is not a function of the spec.",
    ),
    "a mutant": (
        M.format("most", "") + "@mutant(m)\ndef n() -> int:\n    return 2\n",
        "'n' names m, which is not a function of the spec.",
    ),
    "other parameters": (
        M.format("Base.by", "self, n"),
        "Base.by takes (self), but 'm' takes (self, n).",
    ),
    "another default": (
        "@mutant(Shop.fill)\ndef m(self: Shop, key: int = any_of([0])) -> None:\n    pass\n",
        "Shop.fill takes (self, key=any_of(KEYS)), but 'm' takes (self, key=any_of([0])).",
    ),
    "decorators of its own": (
        "@mutant(Shop.sell)\n@action\ndef m(self: Shop) -> None:\n    pass\n",
        "@mutant must be the only decorator of 'm'.",
    ),
    "no decorator": (
        "def m():\n    return 1\nmutant(most)(m)\n",
        "@mutant must be the only decorator of 'm'.",
    ),
    "bare": ("@mutant\ndef m() -> int:\n    return 1\n", NOWHERE),
    "in a class": (
        "class Bad(Role):\n    @mutant(Shop.by)\n    def m(self) -> int:\n        return 1\n",
        NOWHERE,
    ),
    "in a function": (
        "def f():\n    @mutant(most)\n    def m():\n        return 1\nf()\n",
        NOWHERE,
    ),
    "a lambda as a mutant": ("m = mutant(most)(lambda: 1)\n", "'<lambda>' cannot be a mutant"),
    "async": ("@mutant(most)\nasync def m() -> int:\n    return 1\n", NOWHERE),
    "defined again": (M.format("most", "") + "def m() -> None:\n    pass\n", NOWHERE),
    "of one name": (M.format("most", "") * 2, "There are two mutants called m."),
    "called none": (
        M.format("most", "").replace("m()", "none()"),
        "A mutant is called none, which means that there is none.",
    ),
    "super": (
        "@mutant(Shop.by)\ndef m(self: Shop) -> int:\n    return super().by() + 1\n",
        "'m' calls super() outside a class.",
    ),
    "a constant MUTANT": (
        'MUTANT: Constant[str] = "none"\n' + M.format("most", ""),
        "MUTANT cannot be declared in a spec with mutants.",
    ),
    "called by another": (
        M.format("most", "") + "@mutant(most)\ndef n() -> int:\n    return m() + 1\n",
        "The mutant 'm' cannot be used by name.",
    ),
    "a misspelt field": (
        "@mutant(Shop.by)\ndef m(self: Shop) -> int:\n    return self.stok\n",
        "SW101 Shop has no field 'stok'. Did you mean 'stock'?",
    ),
}
MORE = """
short = lambda: 1
def odd_one(f):
    return lambda: f()
@odd_one
def odd() -> int:
    return 1
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "message"), list(WRONG.values()), ids=[*WRONG])
def test_a_mutant_that_cannot_be_is_refused_whether_chosen_or_not(
    text: str, message: str, tmp_path: Path
) -> None:
    path = spec(tmp_path, SHOP + MORE + text)

    said = []
    for given in ({}, {"MUTANT": "m"}):
        with pytest.raises(StatewalkError) as error:
            load(path, given)
        said.append(str(error.value))

    assert message in said[0]
    assert message in said[1] or "MUTANT cannot be 'm'. It must be one of 'none'" in said[1]
    assert f"{path}:" in said[0]


def test_an_unknown_mutant_is_answered_with_those_there_are(tmp_path: Path) -> None:
    text = M.replace("m(", "by_two(").format("Base.by", "self")
    path = spec(tmp_path, SHOP + text)

    with pytest.raises(SpecError) as error:
        load(path, {"MUTANT": GivenText("by_too")})

    assert "SW301" == error.value.code
    assert "MUTANT cannot be by_too. It must be one of 'none', 'by_two'." == error.value.message
    assert "Did you mean by_two? (also: none)" == error.value.help


def test_what_is_wrong_in_a_mutant_is_shown_in_its_own_text(tmp_path: Path) -> None:
    spec(tmp_path, PARTS, "parts.py")
    text = mutant("parts.Cell.most", "m(self: parts.Cell) -> int", "return 1 // self.n")
    path = spec(tmp_path, f"import parts\n{text}")

    (finding,) = reference.explore(load(path, {"MUTANT": "m"}), SearchOptions()).findings

    assert isinstance(finding.error, ZeroDivisionError)
    assert "return 1 // self.n" == path.read_text().splitlines()[_line(finding.error) - 1].strip()


def test_why_a_mutant_is_false_is_told_by_its_text(tmp_path: Path) -> None:
    text = mutant("small", "m() -> bool", "return shop.stock < 2 or shop.extra > 5")
    path = spec(tmp_path, SHOP + text)

    model = load(path, {"MUTANT": "m"})
    (finding,) = reference.explore(model, SearchOptions()).findings

    explanation = explain(model, finding)
    assert explanation is not None
    assert explanation.last is not None
    assert "shop.stock < 2 or shop.extra > 5" == explanation.last.text


def _line(error: BaseException) -> int:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    return trace.tb_lineno


# -- the command line ----------------------------------------------------------------------------
def test_the_report_and_a_replay_know_the_mutant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec(tmp_path, SHOP + mutant("Base.by", "m(self: Base) -> int", "return 3"))

    code = main(["check", "spec.py", "--set", "MUTANT=m", "--engine", "reference", "--out", "run"])
    printed = capsys.readouterr().out
    (trace,) = Path("run").glob("*.trace.json")
    again = main(["replay", str(trace)])

    assert (1, 0) == (code, again)
    assert "MUTANT='m'" in printed


def test_a_configuration_names_a_mutant(tmp_path: Path) -> None:
    text = mutant("most", "m() -> int", "return 1")
    path = spec(tmp_path, SHOP + text + 'config("bad", MUTANT="m", expect=holds(distinct=9))\n')

    assert "m" == load(path, config="bad").constants["MUTANT"]
