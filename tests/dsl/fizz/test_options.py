"""Options of .fizz specs: front matter, fizz.yaml, and what is said of mistakes in them."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.text.options import read_options
from statewalk.dsl.loader import load
from tests.cases import slow


def test_nothing_said_gives_fizzbees_defaults() -> None:
    options = read_options("", "", 1)

    assert (100, 2, True, True) == (
        options.max_actions,
        options.max_concurrent_actions,
        options.crash_on_yield,
        options.deadlock_detection,
    )
    assert options.checks_liveness


def test_front_matter_is_stronger_than_the_file_beside(tmp_path: Path) -> None:
    (tmp_path / "fizz.yaml").write_text(
        "options:\n  maxActions: 5\n  crash_on_yield: false\nliveness: 'false'\n"
    )

    options = read_options(str(tmp_path / "a.fizz"), "options: {max_actions: 9}", 2)

    assert (9, False) == (options.max_actions, options.crash_on_yield)
    assert not options.checks_liveness


def test_options_of_actions_are_merged_by_action(tmp_path: Path) -> None:
    (tmp_path / "fizz.yaml").write_text(
        "action_options:\n  A: {max_actions: 1}\n  B: {max_actions: 2}\n"
    )

    options = read_options(str(tmp_path / "a.fizz"), "actionOptions:\n  B:\n    maxActions: 3\n", 2)

    assert {"A": 1, "B": 3} == {k: v.max_actions for k, v in options.action_options.items()}


@pytest.mark.parametrize(
    ("front", "line", "message", "help"),
    [
        ("\ndeadlock_detecton: false\n", 2, "no option 'deadlock_detecton'", "deadlock_detection"),
        ("\noptions:\n  max_action: 3\n", 3, "no option 'max_action' in options", "max_actions"),
        ("\nmax_actions: 3\n", 2, "no option 'max_actions'", "options:"),
        ("\nliveness: false\n", 2, "liveness cannot be False", ""),
        ("\noptions:\n  max_actions: many\n", 3, "options.max_actions cannot be 'many'", ""),
        ("\nliveness: strcit\n", 2, "It must be one of true, enabled, strict,", ""),
        ("\noptions:\n  max_actions: -5\n", 3, "options.max_actions cannot be -5", ""),
        ("\noptions:\n  max_concurrent_actions: -3\n", 3, "cannot be -3", ""),
        ("\naction_options:\n  A:\n    max_actions: -1\n", 4, "cannot be -1", ""),
        ("\nseed: 1\n", 2, "no option 'seed'", ""),
        ("\n- a\n", 1, "name: value", ""),
        ("\na: [\n", 3, "cannot be read", ""),
    ],
)
def test_mistakes_in_options_are_named(front: str, line: int, message: str, help: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_options("", front, 1)

    error = caught.value
    assert "SW151" == error.code
    assert line == (error.at and error.at.line)
    assert message in error.message
    assert help in error.help


def test_liveness_that_the_options_turn_off_is_listed_as_unchecked(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        '---\nliveness: "false"\n---\naction Init:\n    x = 0\natomic action A:\n    x = 1 - x\n'
        "always eventually assertion P:\n    return x == 5\n"
    )

    found = check(path).properties

    assert ["unknown"] == [p.verdict for p in found if p.name == "P"]


def test_bounds_of_one_instance_are_given_once(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        "---\naction_options: {R#0.A: {max_actions: 1}, R#00.A: {max_actions: 2}}\n---\n"
        "role R:\n    atomic action A:\n        pass\naction Init:\n    r = R()\n"
    )

    with pytest.raises(SpecError) as caught:
        check(path)

    assert "SW151" == caught.value.code
    assert "R#00.A are given already" in caught.value.message


BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{k}: &{k} [{','.join(['*' + before] * 9)}]\n"
    for before, k in zip("abcdefgh", "bcdefghi", strict=True)
)
HUGE = [
    (BOMB, "anchors (&) and aliases (*) are not supported"),
    ("options: &o\n  max_actions: 3\n", "anchors (&)"),
    ("action_options:\n  A: *o\n", "aliases (*)"),
    ("options: " + "[" * 500 + "]" * 500, "nested more than 10 levels deep"),
    ("options: " + "{a: " * 500 + "}" * 500, "nested more than 10 levels deep"),
    ("liveness: [" + "1, " * 15_000 + "1]", "liveness cannot be [1, 1, 1, 1, 1, 1, ...]."),
    ("a" * 1_000 + ": 1", "There is no option 'aaaaaaaaaaaa...aaaaaaaaaaaaa'."),
    ("# " + "x" * 100_000, "longer than 64,000 characters"),
    ("options:\n  max_actions: " + "9" * 5_000, "this number is malformed or too long"),
    ("options: !!python/object/apply:os.getcwd []", "tags (!) are not supported"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("beside", [slow(False), True], ids=["front matter", "fizz.yaml"])
@pytest.mark.parametrize(("text", "message"), HUGE, ids=range(len(HUGE)))
def test_options_that_stand_for_something_large_are_refused(
    text: str, message: str, beside: bool, tmp_path: Path
) -> None:
    if beside:
        (tmp_path / "fizz.yaml").write_text(text)

    with pytest.raises(SpecError) as caught:
        read_options(str(tmp_path / "a.fizz"), "" if beside else text, 1)

    assert "SW151" == caught.value.code
    assert message in caught.value.message
    assert len(caught.value.message) < 200


ODD = [
    ('options: {max_actions: !!int ""}', 24, "tags (!)"),
    ('deadlock_detection: !!bool "x"', 21, "tags (!)"),
    ('options: !!float ""', 10, "tags (!)"),
    ("options: !!timestamp x", 10, "tags (!)"),
    ("options: !!binary §", 10, "tags (!)"),
    ("options: !!set {a}", 10, "tags (!)"),
    ("options: !!omap [a]", 10, "tags (!)"),
    ("liveness: ! strict", 11, "tags (!)"),
    ("<<: {deadlock_detection: true}", 1, "merge keys (<<)"),
    ("options: {max_actions: 0x" + "f" * 5_000 + "}", 24, "this number is malformed or too long"),
    ("options: {max_actions: 0x_}", 24, "this number is malformed or too long"),
    ("liveness: " + "1:" * 400 + "0.0", 11, "this number is malformed or too long"),
    ("{liveness: strict, liveness: strict}", 20, "liveness is given twice"),
    ("1: 2", 1, "name is expected"),
    ("null: 2", 1, "name is expected"),
    ("[1, 2]: 3", 1, "name is expected"),
    ("{a: b}: 3", 1, "name is expected"),
    ("options: {max_actions: .inf}", 11, "options.max_actions cannot be inf"),
    ("action_options: {A: }", 18, "action_options.A cannot be None"),
    ("liveness: \x00", 11, "U+0000 is not allowed"),
    ("liveness: \ud800", 11, "U+D800 is not allowed"),
    ('liveness: "\\ud800"', 11, "a lone surrogate"),
    ('"\\ud800": 1', 1, "a lone surrogate"),
    ('liveness: "\\U00110000"', 14, "not a valid character"),
    ("liveness: 2020-13-99\noptions: 3", 1, "options cannot be 3"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "column", "message"), ODD, ids=range(len(ODD)))
def test_what_yaml_can_say_besides_is_refused_with_its_place(
    text: str, column: int, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        read_options("a.fizz", "\n" + text, 7)

    assert "SW151" == caught.value.code
    assert message in caught.value.message
    assert (8 + text.count("\n"), column) == (
        caught.value.at and caught.value.at.line,
        caught.value.at and caught.value.at.column,
    )


ONE_ROLE = (
    "role R:\n    action Init:\n        self.n = 0\n    atomic action Up:\n        self.n = 1\n"
)


@pytest.mark.parametrize(
    ("init", "why"), [("r = R()", "Init made R#0."), ("r = 0", "Init made no R.")]
)
def test_options_of_an_instance_that_init_does_not_make_are_a_warning_with_their_line(
    init: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    options = (
        '---\naction_options:\n  "R.Up": {max_actions: 1}\n  "R#5.Up": {max_actions: 1}\n---\n'
    )
    path.write_text(f"{options}{ONE_ROLE}action Init:\n    {init}\natomic action A:\n    pass\n")

    (warning,) = (w for w in load(path).warnings if w.code == "SW613")

    assert 4 == (warning.at and warning.at.line)
    assert f"There is no R#5 to give options to: {why}" == warning.message
    assert "For each of them: R#.Up" == warning.help


def test_options_of_an_instance_that_there_is_bound_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    options = '---\naction_options: {"R#1.Up": {max_actions: 1}}\ndeadlock_detection: false\n---\n'
    roles = ONE_ROLE.replace("self.n = 1", "self.n += 1\n        require self.n < 4")
    path.write_text(f"{options}{roles}action Init:\n    r = R()\n    s = R()\n")

    assert 4 * 2 == check(path, engine="reference").counts.distinct


def test_options_of_an_action_that_there_is_not_name_their_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "fizz.yaml").write_text("options:\n  max_actions: 3\naction_options:\n  B: {}\n")
    path = tmp_path / "spec.fizz"
    path.write_text("action Init:\n    x = 0\natomic action A:\n    x = 1 - x\n")

    (warning,) = load(path).warnings

    assert "SW613" == warning.code
    assert (str(tmp_path / "fizz.yaml"), 4) == (warning.at.file, warning.at.line)  # type: ignore[union-attr]


def test_options_of_an_action_that_there_is_not_change_nothing_and_can_be_allowed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "spec.fizz"
    text = "action Init:\n    x = 0\natomic action A:\n    x = (x + 1) % 3\n"
    path.write_text(
        f"---\naction_options:\n  B: {{max_actions: 1}}  # allow SW613\n  A: {{}}\n---\n{text}"
    )

    assert () == load(path).warnings
    assert 3 == check(path, engine="reference").counts.distinct


@pytest.mark.parametrize("to", ["missing", "fizz.yaml", "."])
def test_options_that_cannot_be_opened_are_not_taken_for_none(to: str, tmp_path: Path) -> None:
    (tmp_path / "fizz.yaml").symlink_to(to)

    with pytest.raises(SpecError, match=r"SW151 .*fizz\.yaml cannot be read"):
        read_options(str(tmp_path / "spec.fizz"), "", 1)


@pytest.mark.parametrize("held", ["token: s3cret\n", "s3cret", "- s3cret", "options: [s3cret\n"])
def test_of_what_a_link_leads_to_nothing_is_told(held: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(held)
    (tmp_path / "fizz.yaml").symlink_to("elsewhere")

    with pytest.raises(SpecError, match="these options cannot be read") as caught:
        read_options(str(tmp_path / "a.fizz"), "", 1)

    assert "s3cret" not in str(caught.value)
