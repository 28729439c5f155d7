"""Fields of roles in .fizz text: what is misspelt is found before anything runs."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.read import read_fizz

SPEC = """
role Node:
    action Init:
        self.up = False
        self.n = 0

    atomic action Step:
        {step}
        self.n = 1 - self.n

    func ping():
        return self.up

action Init:
    limit = 3
    node = Node(ID=1)
    {init}

atomic action Stay:
    {stay}
    limit = limit

always assertion Fine:
    {fine}
    return True
"""


def _text(**parts: str) -> str:
    text = SPEC
    for name in ("step", "init", "stay", "fine"):
        text = text.replace(f"{{{name}}}", parts.get(name, "pass"))
    return text


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"step": "require not self.upp"}, "Role Node has no field 'upp'. Did you mean 'up'?"),
        ({"step": "require self.upp > 3"}, "Role Node has no field 'upp'. Did you mean 'up'?"),
        ({"step": "x = [self.id]"}, "Role Node has no field 'id'."),
        ({"stay": "require not node.upp"}, "No role has a field 'upp'. Did you mean 'up'?"),
        ({"fine": "x = [m for m in [node] if m.upp]"}, "No role has a field 'upp'."),
        ({"init": "node.upp = 1"}, "No role has a field 'upp'. Did you mean 'up'?"),
        ({"stay": "node.upp = 1"}, "No role has a field 'upp'. Did you mean 'up'?"),
    ],
)
def test_a_misspelt_field_is_found_before_the_search(parts: dict[str, str], said: str) -> None:
    with pytest.raises(SpecError) as error:
        read_fizz("spec.fizz", _text(**parts))

    assert "SW101" in str(error.value)
    assert said in str(error.value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "parts",
    [
        {"step": "require self.ID == 1"},
        {"step": "self.late = 1", "stay": "x = node"},
        {"stay": "x = record(upp=1).upp"},
        {"stay": "x = record(a=1)\n    x.upp = 2\n    require x.upp == 2"},
        {"fine": "x = node.__id__"},
        {"stay": "x = {'a': 1}.items()"},
        {"stay": "node.n = 1"},
    ],
)
def test_a_field_that_something_gives_a_value_is_no_mistake(
    parts: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(_text(**parts))

    assert "holds" == check(path, engine="reference", liveness=False).verdict


@pytest.mark.parametrize(
    "look", ["require not self.late", "require self.late != True", "x = len(self.late)"]
)
def test_a_field_that_only_another_step_sets_is_an_error_until_then(
    look: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(_text(step=f"{look}\n        self.late = {{}}"))

    result = check(path, engine="reference", liveness=False)

    assert "error" == result.verdict
    assert "SW208 Node#0.late has no value yet" in str(result)


def test_a_field_without_a_value_is_said_in_words_of_the_language(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(_text(step="x = len(self.late)\n        self.late = {}"))

    said = str(check(path, engine="reference", liveness=False))

    assert "SW208 Node#0.late has no value yet." in said
    assert "Assign it in the action Init of Node" in said
    assert "@init" not in said


def test_a_state_variable_without_a_value_is_said_in_words_of_the_language(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        "role R:\n    action Init:\n        self.n = late\n    atomic action A:\n        pass\n"
        "action Init:\n    r = R()\n    late = 1\n"
    )

    with pytest.raises(SpecError) as error:
        check(path)

    assert "late has no value yet." == error.value.message
    assert "Assign it in the action Init" in error.value.help


def test_no_initial_state_is_said_in_words_of_the_language(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text("action Init:\n    x = 0\n    require x == 1\natomic action A:\n    x = 1\n")

    with pytest.raises(SpecError, match="false in every run of the action Init"):
        check(path)
