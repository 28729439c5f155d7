"""Expectations of configurations."""

from pathlib import Path

import pytest

from statewalk import check, holds, violates
from statewalk.checker.cli import main
from tests.cases import slow


def holding() -> bool:
    return True


def test_a_violation_may_state_its_length_and_how_many_states_there_are() -> None:
    expectation = violates(holding, "other", length=3, states=41)

    assert expectation.verdict == "violated"
    assert expectation.properties == ("holding", "other")
    assert (expectation.length, expectation.states) == (3, 41)
    assert expectation.distinct is None


def test_counts_of_a_run_that_holds_are_those_it_keeps() -> None:
    assert (holds(distinct=5).distinct, holds(distinct=5).states) == (5, None)


SPEC = """
from statewalk import *
class Counter(Role):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < 5)
        self.n += 1
    @action
    def back(self) -> None:
        require(self.n == 5)
        self.n = 0
counter = Counter()
@always
def small() -> bool:
    return counter.n < 2
@always
def tiny() -> bool:
    return counter.n < 4
@always
def fine() -> bool:
    return counter.n < 9
@exists
def huge() -> bool:
    return counter.n > 9
@always
def each(c: Counter) -> bool:
    return c.n < 3
config("c", expect=%s)
"""


def code_of(folder: Path, expect: str, *options: str, more: str = "") -> int:
    (folder / "spec.py").write_text(SPEC % expect + more)
    words = ["check", str(folder / "spec.py"), "--engine", "reference", "--config", "c"]
    return main([*words, "--out", str(folder / "run"), *options])


ALL = "small, tiny, huge, each"
# (an expectation that is met, the same with one thing in it wrong)
PAIRS = {
    "holds": ('violates("small")', "holds()"),
    "violates": ("violates()", "holds()"),
    "a property": ("violates(small)", "violates(fine)"),
    "a property by name": ("violates('small')", "violates('smal')"),
    "a second property": ("violates(small, tiny)", "violates(small, fine)"),
    "a family": ("violates('each')", "violates('eac')"),
    "of a family": ("violates('each(Counter#0)')", "violates('each(Counter#1)')"),
    "length": ("violates(small, length=2)", "violates(small, length=3)"),
    "length of no name": ("violates(length=2)", "violates(length=3)"),
    "length of the first": ("violates(tiny, small, length=4)", "violates(tiny, small, length=2)"),
    "length of each": ("violates({small: 2, tiny: 4})", "violates({small: 2, tiny: 5})"),
    "length of each, first": ("violates({small: 2, tiny: 4})", "violates({small: 1, tiny: 4})"),
    "length of a family": ("violates({'each': 3})", "violates({'each': 2})"),
    "both forms": ("violates(small, {tiny: 4})", "violates(small, {tiny: 3})"),
    "length where there is none": ("violates(huge)", "violates(huge, length=3)"),
    "states": ("violates(small, states=6)", "violates(small, states=7)"),
    "states of no name": ("violates(states=6)", "violates(states=3)"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("met", "unmet"), PAIRS.values(), ids=PAIRS.keys())
def test_every_word_of_an_expectation_decides(tmp_path: Path, met: str, unmet: str) -> None:
    assert 0 == code_of(tmp_path, met)
    assert 4 == code_of(tmp_path, unmet)


@pytest.mark.parametrize("word", ["distinct=6", "generated=7", "depth=6"])
def test_every_count_of_what_holds_decides(tmp_path: Path, word: str) -> None:
    name, _, number = word.partition("=")
    (tmp_path / "spec.py").write_text(
        (SPEC % f"holds({name}=NUMBER)").replace("@exists", "#").replace(" < ", " < 9 + ")
        .replace("self.n < 9 + 5", "self.n < 5")
        .replace("NUMBER", "N").replace("class Counter", "N: Constant[int] = 0\nclass Counter")
    )  # fmt: skip
    words = ["check", str(tmp_path / "spec.py"), "--engine", "reference", "--config", "c"]

    out = str(tmp_path / "run")
    assert 0 == main([*words, "--out", out, "--set", f"N={number}"])
    assert 4 == main([*words, "--out", f"{out}2", "--set", f"N={int(number) + 1}"])


CUT = """
@constraint
def few() -> bool:
    return counter.n < 4
"""
LIVE = """
@always
@eventually
def rests() -> bool:
    return counter.n == 0
"""


def test_what_a_constraint_of_the_spec_leaves_is_compared(tmp_path: Path) -> None:
    fine = ("--property", "fine")

    assert 0 == code_of(tmp_path, "violates(small, states=4)", more=CUT)
    assert 4 == code_of(tmp_path, "violates(small, states=5)", more=CUT)
    assert 4 == code_of(tmp_path, "violates(fine, states=4)", more=CUT)
    assert 3 == code_of(tmp_path, "violates(states=4)", *fine, more=CUT)
    assert 3 == code_of(tmp_path, "violates(states=4)", *fine, "--max-depth", "2", more=CUT)


def test_what_lies_beyond_a_constraint_cannot_be_told(tmp_path: Path) -> None:
    rests = "violates('rests', states=4)"

    assert 3 == code_of(tmp_path, "violates(huge, states=4)", more=CUT)
    assert 3 == code_of(tmp_path, rests, "--no-liveness", more=CUT + LIVE)


def test_what_was_not_looked_at_cannot_be_told(tmp_path: Path) -> None:
    assert 3 == code_of(tmp_path, "violates(tiny)", "--max-depth", "2")
    assert 0 == code_of(tmp_path, "violates(tiny)", "--property", "fine")  # compares nothing
    assert 3 == code_of(tmp_path, "violates(small, states=6)", "--max-depth", "4")
    assert 4 == code_of(tmp_path, "violates(small, states=3)", "--max-depth", "4")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "expect",
    [
        "violates(3)",
        "violates(small, length='3')",
        "violates(small, length=-1)",
        "violates({small: 2}, length=3)",
        "violates({small: True})",
        "violates(small, lenght=3)",
        "violates(leads_to(small, tiny))",
        "holds(distinct=2.0)",
        "holds(states=2)",
        "holds(small)",
        "holds",
        "'holds'",
        "holds(), N=3",
        "holds())\nconfig('c', expect=holds()",
        "holds())\nfor i in '12': config('d', expect=holds()",
        "holds())\nconfig(3",
        "holds())\nconfig(''",
    ],
)
def test_words_that_mean_nothing_are_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expect: str
) -> None:
    assert 2 == code_of(tmp_path, expect)
    assert "SW30" in capsys.readouterr().err


def test_a_property_that_there_is_not_is_told_with_a_suggestion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code_of(tmp_path, "violates('smal')")

    assert "there is no such property. Did you mean small?" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_counts_and_verdicts_are_of_the_one_search_that_went_on(
    tmp_path: Path, engine: str
) -> None:
    (tmp_path / "spec.py").write_text(SPEC % "violates(tiny)")
    result = check(tmp_path / "spec.py", config="c", engine=engine)

    assert result.as_expected
    assert (result.counts.distinct, result.counts.depth) == (5, 5)
    violated = {p.name: p.length for p in result.properties if p.verdict == "violated"}
    assert violated == {"small": 2, "each(Counter#0)": 3, "tiny": 4}


def test_what_is_not_asked_for_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(SPEC % "violates(tiny)")
    result = check(
        tmp_path / "spec.py", config="c", engine="reference", properties=("small", "fine")
    )

    assert result.counts.distinct == 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize("option", ["--max-states", "--max-depth"])
@pytest.mark.parametrize(("states", "code"), [(3, 4), (4, 3), (6, 3)])
def test_a_search_that_an_option_cut_tells_only_of_too_many_states(
    tmp_path: Path, option: str, states: int, code: int
) -> None:
    assert code == code_of(tmp_path, f"violates(small, states={states})", option, "4")


@pytest.mark.parametrize(("length", "code"), [(1, 0), (4, 4), (3, 4)])
def test_the_length_of_a_family_is_that_of_its_first(
    tmp_path: Path, length: int, code: int
) -> None:
    text = """
from statewalk import *
class N(Role):
    pc: int = 0
    limit: int = 0
    @action
    def go(self) -> None:
        self.pc = min(self.pc + 1, 5)
ns = [N(limit=4), N(limit=1)]
def reaches(n: N) -> bool:
    return n.pc == n.limit
def beyond(n: N) -> bool:
    return n.pc > 5
answered = leads_to(reaches, beyond)
deadlock(False)
"""
    expect = f'config("c", expect=violates("answered", length={length}))\n'
    (tmp_path / "spec.py").write_text(text + expect)
    words = ["check", str(tmp_path / "spec.py"), "--engine", "reference", "--config", "c"]

    assert code == main([*words, "--out", str(tmp_path / "run")])


def test_the_length_of_no_name_is_that_of_the_first_violation(tmp_path: Path) -> None:
    assert 0 == code_of(tmp_path, "violates(length=2)", "--keep-going", "--property", "tiny",
                        "--property", "small")  # fmt: skip
    assert 4 == code_of(tmp_path, "violates(length=4)", "--keep-going")
