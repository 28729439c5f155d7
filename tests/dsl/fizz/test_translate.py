"""The meaning of .fizz text: small specs with counts derived by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.read import read_fizz
from tests.conformance.fizzbee_counts import unique_states

Checked = Callable[..., Run]


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    def run(text: str, **options: object) -> Run:
        path = tmp_path / "spec.fizz"
        path.write_text(text, encoding="utf-8")
        return check(path, engine="reference", liveness=False, **options)  # type: ignore[arg-type]

    return run


def distinct(result: Run) -> int:
    assert result.verdict == "holds", result
    return result.counts.distinct


STAY = "\natomic action Stay:\n    pass\n"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("body", "states"),
    [
        ("    if n < 2:\n        n += 1", 3),
        ("    n += 1\n    require n < 3", 3),
        ("    if n == 1:\n        return\n    n = 1", 2),
        ("    for i in range(2):\n        if n == i:\n            n = 5", 2),
        ("    x = oneof [1, 2]\n    if x == 2 and n == 0:\n        n = x", 2),
        ("    n = oneof [1, 2]", 3),
        ("    oneof x in [1, 2]:\n        if x == 2:\n            n = x", 2),
        ("    require n == 0\n    oneof x in []:\n        pass\n    n = 7", 2),
        ("    oneof x in []:\n        n = 7", 1),
        (
            "    oneof:\n        n = 1\n        pass\n        atomic:\n"
            "            n = 2\n            n += 1",
            3,
        ),
        ("    while n < 9:\n        n += 4\n        if n > 5:\n            break", 3),
        ("    x = any [m for m in range(5)] : m_ok(x)\n    n = x", 3),
    ],
)
def test_actions_do_what_fizzbee_does(checked: Checked, body: str, states: int) -> None:
    text = (
        f"def m_ok(x):\n    return x < 3\naction Init:\n    n = 0\natomic action A:\n{body}\n{STAY}"
    )

    assert states == distinct(checked(text))


def test_a_choice_before_nothing_makes_the_action_impossible(checked: Checked) -> None:
    """In Fizzbee what ran before a choice does not count as having acted after it."""
    text = """
action Init:
    n = 0
atomic action A:
    require n == 0
    n = 1
    x = oneof [0, 1]
    if x == 1:
        n = 2
"""

    assert 2 == distinct(checked(text + STAY))


def test_names_assigned_at_the_outermost_level_of_init_are_state(checked: Checked) -> None:
    text = """
LIMIT = 2
action Init:
    a = 0
    for i in range(3):
        inner = i
    rows = [i for i in range(2)]
atomic func bump():
    a += 1
    inner = 5
    return inner
atomic action A:
    require a < LIMIT
    got = bump()
    rows[0] = got + a
"""

    assert 3 == distinct(checked(text + STAY))


def test_what_only_init_calls_has_locals_named_like_state(checked: Checked) -> None:
    text = """
atomic func make(count):
    items = range(count)
    return [i + 1 for i in items]
action Init:
    items = []
    numbers = make(2)
always assertion Kept:
    return items == [] and numbers == [1, 2]
"""

    assert 1 == distinct(checked(text + STAY))


def test_assigning_a_constant_is_an_error() -> None:
    with pytest.raises(SpecError) as caught:
        read_fizz("a.fizz", "N = 1\natomic action A:\n    N = 2\n")

    assert ("SW102", 3) == (caught.value.code, caught.value.at and caught.value.at.line)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("D = [symmetry]\naction A:\n    pass\n", 1, "'symmetry' without a kind"),
        ("always assertion A:\n    return Channel() == None\n", 2, "Channels"),
        ("compose:\n    a: a.f\n", 1, "compose"),
        ("action Init:\n    a = 3\nfunc f(x, y=[a]):\n    return x\n", 3, "variable 'a'"),
        ("func g():\n    return 1\nfunc f(y=g()):\n    return y\n", 3, "the func 'g'"),
        (
            "role R:\n    action Init:\n        pass\n    func f(y=self.n):\n        return y\n",
            4,
            "'self'",
        ),
        (
            "role R:\n    def f(y=a):\n        return y\naction Init:\n    a = 1\n",
            2,
            "variable 'a'",
        ),
    ],
)
def test_what_is_not_supported_is_refused_by_name(text: str, line: int, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_fizz("a.fizz", text)

    assert "SW152" == caught.value.code
    assert line == (caught.value.at and caught.value.at.line)
    assert words in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "action A:\n    require True\n    x = 1\n",
        "action A:\n    if True:\n        x = 1\n    else:\n        y = 2\n",
        "action A:\n    atomic:\n        x = 1\n        y = 2\n",
        "atomic action A:\n    x = f(1)\n    y = 2\nfunc f(a):\n    return a\n",
        "action A:\n    x = oneof [1, 2]\n",
        "oneof action A:\n    x = 1\n    x = 2\n",
    ],
)
def test_serial_text_that_comes_to_one_step_is_accepted(text: str) -> None:
    assert read_fizz("a.fizz", text).tree.body


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("atomic action A:\n    for a, b in []:\n        pass\n", 2, "single name"),
        ("exists always assertion A:\n    return True\n", 1, "cannot be 'exists always'"),
        (
            "role R:\n    action Init:\n        pass\naction Init:\n    a = [R() for i in [1]]\n",
            5,
            "comprehension",
        ),
        ("always assertion A:\n    x = oneof [1]\n    return True\n", 2, "choice"),
        ("transition assertion A(b, c):\n    return b == c\n", 2, "whole state"),
        ("require True\n", 1, "outside an action"),
    ],
)
def test_what_the_language_does_not_allow_is_named(text: str, line: int, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_fizz("a.fizz", text)

    assert line == (caught.value.at and caught.value.at.line)
    assert message in caught.value.message


def test_errors_in_steps_point_into_the_fizz_file(checked: Checked) -> None:
    result = checked("action Init:\n    d = {}\natomic action A:\n    x = d['missing']\n")

    assert "error" == result.verdict


def test_what_the_last_action_returned_counts_for_fizzbee(checked: Checked, tmp_path: Path) -> None:
    text = "action Init:\n    n = 0\natomic action A:\n    return f(3)\ndef f(k):\n    return k\n"

    result = checked(text)

    assert (1, 2) == (result.counts.distinct, unique_states(tmp_path / "spec.fizz"))


def test_the_older_stanza_counts_its_initial_state_only_when_entered(
    checked: Checked, tmp_path: Path
) -> None:
    text = "init:\n    n = 0\natomic action A:\n    n = 1\n"

    result = checked(text)

    assert (2, 1) == (result.counts.distinct, unique_states(tmp_path / "spec.fizz"))


def test_paths_end_after_a_hundred_actions_unless_told_otherwise(checked: Checked) -> None:
    text = "action Init:\n    n = 0\natomic action A:\n    n += 1\n"

    default = checked(text)
    told = checked("---\noptions: {max_actions: 7}\n---\n" + text)

    assert ("bounded", 101) == (default.verdict, default.counts.distinct)
    assert ("bounded", 8) == (told.verdict, told.counts.distinct)
