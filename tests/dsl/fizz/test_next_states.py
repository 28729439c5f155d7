"""``next_states()`` in .fizz assertions: what can happen next, and the state after it."""

from itertools import product
from pathlib import Path

import pytest

from statewalk import check
from tests.cases import slow, some

HEAD = "---\ndeadlock_detection: false\noptions:\n  crash_on_yield: false\n---\n"
SPEC = """
role Server:
    action Init:
        self.n = 0
        self.log = []
    atomic action Up:
        require self.n < 2
        self.n += 1
        self.log.append(self.n)
    def doubled(self):
        return self.n * 2

action Init:
    one = Server()
    two = Server()
    both = [one, two]
    by = {"one": one}
    pair = record(left=one, right=two)
    k = 0

atomic action Choose:
    require k == 0
    k = oneof [1, 1, 2]

action Slow:
    require k == 1
    k = 3
    k = 4

always assertion Asked:
    BODY
"""
# What is true in every state; ups: steps of Up.
TRUE = [
    "return all([s.state.one.n + s.state.two.n == one.n + two.n + 1 for s in ups()])",
    "return all([s.state.both[0].n == s.state.one.n for s in next_states()])",
    "return all([s.state.by['one'].n == s.state.pair.left.n for s in next_states()])",
    "return all([s.state.pair.right == two for s in next_states()])",
    "return all([len(s.state.one.log) == s.state.one.n for s in next_states()])",
    "return all([s.state.one.doubled() == 2 * s.state.one.n for s in next_states()])",
    "steps = next_states()\n    for s in steps:\n        if s.state.one.n < one.n:\n"
    "            return False\n    return len(steps) == len(next_states())",
    "return not next_states() or next_states()[0].state.one.n >= one.n",
    "return sorted([s.name for s in ups()]) == "
    "[n + '.Up' for n in ['Server#0', 'Server#1'] if n != 'Server#0' or one.n < 2"
    " if n != 'Server#1' or two.n < 2]",
    "return all([s.role_ref == 'Server#0' for s in ups() if s.role_id == one.__id__])",
    "return all([s.role_ref == None and s.role_id == None for s in next_states()"
    " if s.name == 'Choose'])",
    # what leads to the same state under the same name is one
    "return len([s for s in next_states() if s.action_name == 'Choose']) == (2 if k == 0 else 0)",
    "return len([s for s in next_states() if s.name == 'Slow']) == (1 if k == 1 else 0)",
    "return len([s for s in next_states() if s.kind == 'thread']) == (1 if k == 3 else 0)",
    "return all([s.state.k == 4 and s.action_name == None for s in next_states()"
    " if s.kind == 'thread'])",
    "return all([later(s.state) >= one.n for s in next_states()])",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("body", "engine"), some(product(TRUE, ["reference", "native"]), every=11))
def test_what_holds_of_next_states(body: str, engine: str, tmp_path: Path) -> None:
    text = SPEC.replace(
        "BODY", body.replace("ups()", "[s for s in next_states() if s.action_name == 'Up']")
    )
    path = tmp_path / "spec.fizz"
    path.write_text(HEAD + "def later(state):\n    return state.one.n\n" + text)

    for optimize in (True, False):
        result = check(path, engine=engine, liveness=False, optimize=optimize)
        assert result.verdict == "holds", body


@pytest.mark.parametrize(
    ("body", "length"),
    [
        ("return any([s.state.one.n == 0 for s in next_states()]) or k == 4", 1),
        ("return all([s.state.k != 4 for s in next_states()])", 2),
        ("return len(next_states()) == 3 or k != 0", None),
    ],
)
def test_what_does_not_hold_is_found(body: str, length: int | None, tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(HEAD + SPEC.replace("BODY", body))

    for engine in ("reference", "native"):
        found = check(path, engine=engine, liveness=False).properties[0]
        assert found.verdict == "violated"
        assert length in (None, found.length)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize(
    "body",
    [
        "return after.both[0].n + after.both[1].n == before.both[0].n + before.both[1].n + 1",
        "for s in before.both:\n        if s.n == 2 and s == after.one and after.one.n != 2:\n"
        "            return False\n    return True",
        "return before.both[0] == after.one and before.by['one'].__id__ == after.pair.left.__id__",
        "return sum([s.n for s in before.both]) < sum([s.n for s in after.both])",
        "return before.pair.left.doubled() + 2 * before.pair.right.n"
        " == 2 * (after.one.n + after.two.n) - 2",
        "return before.one.log == after.one.log or before.both[0].log != after.both[0].log",
    ],
)
def test_roles_before_a_step_are_as_they_were(body: str, engine: str, tmp_path: Path) -> None:
    text = SPEC[: SPEC.index("atomic action Choose")]
    assertion = f"transition assertion T(before, after):\n    {body}\n"
    path = tmp_path / "spec.fizz"
    path.write_text(HEAD + text + assertion)

    for optimize in (True, False):
        result = check(path, engine=engine, liveness=False, optimize=optimize)
        assert result.verdict == "holds"
