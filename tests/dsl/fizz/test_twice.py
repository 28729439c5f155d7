"""Names of .fizz files: what is defined twice is refused, what is made has a name of its own."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from tests.conformance.fizzbee_counts import unique_states

HEAD = "---\ndeadlock_detection: false\n---\n"
COUNT = (
    "action Init:\n    x = 0\natomic action A:\n    require x < 3\n    x = x + 1\n"
    "always assertion P:\n    return x < 3\n"
)
ROLE = (
    "role R:\n    action Init:\n        self.x = 0\n    atomic action A:\n        self.x = 5\n"
    "MEMBER\naction Init:\n    r = R()\nalways assertion P:\n    return r.x < 1\n"
)
TWICE = [
    (COUNT + "always assertion P:\n    return True\n", "'P'", 9, 11),
    (COUNT + "always assertion A:\n    return True\n", "'A'", 6, 11),
    (COUNT + "atomic action A:\n    pass\n", "'A'", 6, 11),
    (COUNT + "atomic action x:\n    pass\n", "'x'", 5, 11),
    (COUNT + "action Init:\n    x = 5\n", "'Init'", 4, 11),
    (COUNT + "init:\n    x = 5\n", "'Init'", 4, 11),
    (COUNT + "func P():\n    pass\n", "'P'", 9, 11),
    (COUNT + "def A():\n    return 1\n", "'A'", 6, 11),
    (COUNT + "func f():\n    pass\nfunc f():\n    pass\n", "'f'", 11, 13),
    (COUNT + "role P:\n    action Init:\n        self.n = 0\n", "'P'", 9, 11),
    (COUNT + "role P:\n    action Init:\n        self.n = 0\n", "'P'", 9, 11),
    ("A = 3\n" + COUNT, "'A'", 4, 7),
    ("x = 3\n" + COUNT, "'x'", 4, 6),
    (ROLE.replace("MEMBER", "    func A():\n        self.x = 0"), "'R.A'", 7, 9),
    (ROLE.replace("MEMBER", "    atomic action A:\n        pass"), "'R.A'", 7, 9),
    (ROLE.replace("MEMBER", "    action Init:\n        pass"), "'R.Init'", 5, 9),
    (ROLE.replace("MEMBER", "    func x():\n        return 0"), "'R.x'", 6, 9),
    (ROLE.replace("R()", "R(A=1)").replace("MEMBER", ""), "'R.A'", 7, 11),
    (ROLE.replace("MEMBER", "") + "atomic action R:\n    pass\n", "'R'", 4, 14),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "name", "first", "again"), TWICE, ids=range(len(TWICE)))
def test_what_is_defined_twice_is_refused_with_both_places(
    text: str, name: str, first: int, again: int, tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(HEAD + text)

    with pytest.raises(SpecError) as caught:
        check(path)

    assert "SW108" == caught.value.code
    assert again == (caught.value.at and caught.value.at.line)
    assert f"{name} is defined twice: " in caught.value.message
    assert f" in line {first}, and " in caught.value.message


W = '@state(ephemeral=["n"])\nrole W:\n    action Init:\n        self.n = 0\n'
# What the translation makes a name for, beside a name of the file that is the same.
MADE = {
    "invariants": COUNT.replace("P", "invariant_1") + "invariants:\n    always x < 2\n",
    "two blocks": COUNT.partition("always")[0]
    + "invariants:\n    always x < 2\ninvariants:\n    always x < 9\n",
    "crash": W + "    atomic action crash:\n        self.n = 1\n    atomic action crash_:\n"
    "        require self.n == 1\n        self.n = 2\n"
    "action Init:\n    w = W()\nalways assertion P:\n    return w.n < 2\n",
    "start": W + "        self.n_at_start = 5\n    atomic action Work:\n"
    "        require self.n < 2\n        self.n = self.n + 1\n        self.n_at_start = self.n\n"
    "action Init:\n    w = W()\n"
    "always assertion P:\n    return not (w.n == 0 and w.n_at_start == 1)\n",
    "at once": "action Init:\n    x = 0\n    y = 0\nfunc f():\n    x = 1\n    y = 1\n"
    "func f_at_once():\n    return 7\nfunc g():\n    f()\n    return f_at_once()\n"
    "action A:\n    f()\nalways assertion P:\n    return f_at_once() == 8\n",
    "returns": "action Init:\n    returns = 0\natomic action A:\n    returns = 1\n    return 5\n"
    "always assertion P:\n    return returns == 0 or __returns__ == {}\n",
    "state": "action Init:\n    state = 0\n    shared = 0\n    world = 0\n    Shared = 0\n"
    "    World = 0\natomic action A:\n    state = 1\n"
    "always assertion P:\n    return state + shared + world + Shared + World == 0\n",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", MADE)
def test_a_name_that_is_made_is_none_of_the_files(case: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(HEAD + MADE[case])

    assert "violated" == check(path, keep_going=True).verdict


CAPPED = """
role R:
    action Init:
        self.x = 0
    atomic action A:
        self.x = self.x + 1
action Init:
    r = R()
    y = 0
atomic action R_A:
    y = y + 1
always assertion P:
    return r.x < 3 or y < 2
"""


@pytest.mark.parametrize("role_key", ["R.A", "R#.A", "R#0.A"])
def test_starts_of_each_action_are_counted_apart(role_key: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    bounds = f"action_options: {{{role_key!r}: {{max_actions: 3}}, R_A: {{max_actions: 2}}}}\n"
    path.write_text(HEAD.replace("---\n", "---\n" + bounds, 1) + CAPPED)

    result = check(path, keep_going=True)

    assert "violated" == result.verdict
    assert 12 == result.counts.distinct
    assert 12 == unique_states(path)


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        (
            ROLE.replace("MEMBER", "    always assertion Q:\n        return self.x < 1"),
            "SW152", 9, "The assertion 'Q' is inside a role",
        ),
        (ROLE.replace("MEMBER", "").replace("x", "index"), "SW153", 6, "'index' cannot be a field"),
        (COUNT.replace("x", "index"), "SW153", 5, "'index' cannot be a state variable"),
        ("@state(ephemeral=['m'])\n" + ROLE.replace("MEMBER", ""), "SW101", 4, "field 'm'"),
        (
            "@state(ephemeral=['x'], durable=[])\n" + ROLE.replace("MEMBER", ""),
            "SW153", 4, "either ephemeral= or durable=",
        ),
        (
            "@state(ephemeral=['x'])\n@state(durable=[])\n" + ROLE.replace("MEMBER", ""),
            "SW153", 5, "only one @state",
        ),
    ],
)  # fmt: skip
def test_what_would_be_left_out_without_a_word_is_refused(
    text: str, code: str, line: int, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(HEAD + text)

    with pytest.raises(SpecError) as caught:
        check(path)

    assert code == caught.value.code
    assert line == (caught.value.at and caught.value.at.line)
    assert message in caught.value.message
