"""Blocks and flows of the embedded language: what they mean, and that .fizz text means the same.

The numbers of states are derived by hand, here or beside the cases.
"""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.states.content import content_of
from statewalk.dsl.loader import load
from tests.cases import some
from tests.dsl.flows.block_cases import CASES, FRONT, HEAD, TAIL, found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize("name", some(CASES, every=5))
def test_blocks_mean_what_they_mean_in_fizz_text(name: str, crash: bool, tmp_path: Path) -> None:
    most, fizz, own, calm, crashing = CASES[name]
    front = FRONT.format(crash=str(crash).lower(), most=most)
    head = HEAD.format(crash=crash, most=most)

    first = found(tmp_path, "spec.fizz", front + fizz)
    second = found(tmp_path, "spec.py", head + own + TAIL)

    assert first == second
    assert second[0] == (crashing if crash else calm)


CALLS = """
class R(Role):
    a: int = 0
    b: int = 0
    def store(self, value: int, times: int = 1) -> int:
        with serial():
            self.b = value
            self.b = self.b + times
            return self.b
    def note(self) -> None:
        with serial():
            self.b = 9
    @action
    def work(self) -> None:
        require(self.a == 0)
        kept = self.store(1, times=2)
        self.a = kept
        self.note()
        self.b = 0
    @action
    def look(self) -> None:
        require(self.a == 9)
        self.a = self.more()
    def more(self) -> int:
        with atomic():
            return self.a + 1
r = R()
@always
def small() -> bool:
    return r.a in (0, 3)
"""


def test_who_calls_what_gives_way_gives_way(tmp_path: Path) -> None:
    # 00 → in store with 01, 03 (its last statement that does something) → the call has ended, a = 3
    # and b = 9 are one step, which the end of note ends: 39 → 30
    assert found(tmp_path, "spec.py", "from statewalk import *\ndeadlock(False)\n" + CALLS)[0] == 5


AT_ONCE = """
from statewalk import *
deadlock(False)
class R(Role):
    a: int = 0
    b: int = 0
    def fill(self) -> None:
        with serial():
            self.a = self.a + 1
            with parallel():
                self.b = 2 * self.b
                self.b = self.b + 1
            with oneof():
                self.a = 3
                self.a = 4
    @action
    def work(self) -> None:
        require(self.a == 9)
        self.fill()
r = R()
@init
def begin() -> None:
    r.b = 1
    r.fill()
@always
def four() -> bool:
    return (r.a, r.b) in ((3, 3), (4, 3), (3, 4), (4, 4))
"""


def test_before_the_first_step_all_of_it_happens_at_once(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(AT_ONCE)
    model = load(path)
    states = {(s[("R", 0, "a")], s[("R", 0, "b")]) for s in model.initial_states}

    # 2 · 1 + 1 or 2 · (1 + 1), and one of two values for a
    assert states == {(3, 3), (4, 3), (3, 4), (4, 4)}
    assert check(path, engine="reference").verdict == "holds"


MIXED = """
from statewalk import *
deadlock(False)
class R(Role):
    a: int = 0
    b: int = 0
    c: int = 0
    @action
    def work(self) -> Flow[None]:
        require(self.a == 0)
        self.a = 1
        yield
        with parallel():
            self.b = 1
            self.c = 1
        got = yield from self.twice(self.b)
        self.a = got
    def twice(self, n: int) -> Flow[int]:
        yield
        return 2 * n
r = R()
@exists
def ends() -> bool:
    return (r.a, r.b, r.c) == (2, 1, 1)
"""


def test_blocks_stand_beside_yields(tmp_path: Path) -> None:
    # 000 → 100 → b or c → both, in the same step into twice, where it waits → the end
    assert found(tmp_path, "spec.py", MIXED)[0] == 6


BESIDE = """
from statewalk import *
deadlock(False)
class S(State):
    a: int = 0
    b: int = 0
s = S()
@action(flow="serial")
def work() -> None:
    require(s.a == 0)
    s.a = 1
    s.b = 1
@action
def search() -> None:
    for i in range(2, 4):
        if i == s.a:
            break
    else:
        s.b = 2
"""


def test_what_has_nothing_to_do_with_blocks_is_written_as_ever(tmp_path: Path) -> None:
    # a = 0: b is 0 or 2; a = 1 and suspended: the same; the run has ended: b is 1 or 2
    assert found(tmp_path, "spec.py", BESIDE)[0] == 6


OF_ACTIONS = """
from statewalk import *
deadlock(False)
class R(Role):
    a: int = 0
    b: int = 0
    @action(flow={flow!r})
    def work(self) -> None:
        {guard}
        self.a = 1
        self.b = 1
r = R()
@always
def small() -> bool:
    return r.a < 2
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("flow", "guard", "distinct"),
    [
        ("atomic", "require(r.a + r.b == 0)", 2),  # 00 and 11
        ("serial", "require(r.a + r.b == 0)", 3),  # 10 in between
        # 00; the guard, which ends no step, then a or b: 10, 01 with the other left; or one of
        # these first: 10, 01 with the guard and the other left; 11 done; 11 with the guard left,
        # which never holds; and from 11 anew: 11 with the guard and b, or a, left
        ("parallel", "require(r.a + r.b == 0)", 9),
        ("oneof", "pass", 4),  # any of the three, again and again: 00, 10, 01, 11
    ],
)
def test_an_action_as_a_whole_has_a_flow(
    flow: str, guard: str, distinct: int, tmp_path: Path
) -> None:
    assert found(tmp_path, "spec.py", OF_ACTIONS.format(flow=flow, guard=guard))[0] == distinct


# -- what people see ---------------------------------------------------------------------------
def test_a_suspended_run_is_shown_with_its_place_and_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text("from statewalk import *\n" + CALLS)
    model = load(path)
    state = dict(model.initial_states[0])
    shown = []
    for name in ("work", "work (continued)", "work (continued)"):
        action = next(a for a in model.actions if a.name == name)
        state = model.successor(state, next(iter(model.outcomes(action, state))))
        shown.append(content_of(model, state)[("R", 0, "work (suspended)")])

    assert shown == [
        {"at": "line 17 > store line 9", "store.times": 2},
        {"at": "line 17 > store line 10"},
        {"at": "line 20"},
    ]


def test_what_is_left_of_a_parallel_block_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    own = CASES["statements of a parallel block come in any order"][2]
    path.write_text(HEAD.format(crash=False, most=1) + own + TAIL)
    model = load(path)
    outcomes = list(model.outcomes(model.actions[0], model.initial_states[0]))
    after = [model.successor(model.initial_states[0], o) for o in outcomes]

    left = [content_of(model, s)[("S", 0, "go (suspended)")]["left"] for s in after]
    assert left == [[2, 3], [1, 3], [1, 2]]
    assert set(model.choice_names.values()) == {"statement"}
