"""Misspelt words get a suggestion everywhere."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.cli import main
from statewalk.checker.contract.options import read_size
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load

SPEC = """from statewalk import *
N: Constant[int] = 3
class C(State):
    n: int = 0
    @action
    def up(self) -> None:
        self.n = min(self.n + 1, N)
c = C()
def low() -> bool:
    return c.n == 0
def high() -> bool:
    return c.n == 9
rises = leads_to(low, high)
@always
def small() -> bool:
    return c.n < 2
"""


def test_a_liveness_property_is_named_by_its_object(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(SPEC + "config('a', expect=violates(small, rises))\n"
                    "config('b', expect=violates({rises: 1}))\n")  # fmt: skip

    found = [c.expect.properties for c in load(spec).configurations if c.expect]
    assert [("small", "rises"), ("rises",)] == found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("config('a', expect=violates(small, lenght=3))", "Did you mean length?"),
        ("config('a', expect=holds(distnct=4))", "Did you mean distinct?"),
        ("config('a', expects=holds())", "Did you mean expect?"),
        ("config('a', expect=holds)", "Write expect=holds()."),
        ("config('a', expect=violates)", "Write expect=violates()."),
        ("config('a', expect=violates(leads_to(low, high)))", "Give its name as a string."),
        ("@exist\ndef far() -> bool:\n    return c.n > 1", "Did you mean exists?"),
        ("from statewalk import exist", "Did you mean exists?"),
        ("nothing_like_it(3)", "name 'nothing_like_it' is not defined"),
    ],
)
def test_a_word_of_a_spec(tmp_path: Path, line: str, said: str) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(f"{SPEC}{line}\n")

    with pytest.raises(SpecError) as told:
        load(spec)
    assert said in str(told.value)


def test_an_option_of_check(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"no option 'max_state'. Did you mean max_states\?"):
        check(tmp_path / "spec.py", max_state=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek", "spec.py"], "there is no command chek. Did you mean check?"),
        (["test", "nothere"], "There is no file or folder nothere, and no model of that name."),
        (["docs", "languag"], "There is no page languag. Did you mean language?"),
    ],
)
def test_a_word_of_the_command_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(words)
    assert said in capsys.readouterr().err


def test_a_size_says_its_unit() -> None:
    with pytest.raises(ValueError, match="say the unit, as in 4G"):
        read_size("4")
    assert 4_000_000_000 == read_size("4000000000")


def test_a_page_is_read_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["docs", "SW119"])
    out = capsys.readouterr().out
    assert "There is no flow 'sequential'." in out
    assert "```" not in out


def test_the_library_is_listed_on_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["models"])
    assert len(capsys.readouterr().out.splitlines()) < 80
