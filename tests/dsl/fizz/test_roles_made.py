"""Roles that steps of .fizz text make: how many states there are, and when a role is gone."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.convert import convert
from statewalk.dsl.loader import load
from tests.cases import slow

BOTH = pytest.mark.parametrize("engine", ["native", slow("reference")])
OPTIONS = "options: {crash_on_yield: false, max_concurrent_actions: 1}"
HEAD = f"---\ndeadlock_detection: false\n{OPTIONS}\n---\n"
WORKER = """\
role Worker:
    action Init:
        self.n = 0

    atomic action Work:
        require self.n < 2
        self.n += 1

"""
OFFICE = f"""{HEAD}AT_MOST_Worker = 2

{WORKER}
action Init:
    hired = []

atomic action Hire:
    require len(hired) < 2
    hired.append(Worker())

atomic action Fire:
    require len(hired) > 0 and hired[0].n == 2
    hired.pop(0)
"""
# Nobody; one of two with 0, 1, 2; both, in two orders, with 0, 1, 2 each.
NAMED = 1 + 2 * 3 + 2 * 3 * 3
NAMELESS = 1 + 3 + 3 * 3


def spec(folder: Path, text: str) -> Path:
    path = folder / "spec.fizz"
    path.write_text(text)
    return path


@BOTH
def test_what_is_fired_is_gone_and_its_place_is_taken_again(engine: str, tmp_path: Path) -> None:
    assert NAMED == check(spec(tmp_path, OFFICE), engine=engine).counts.distinct


@BOTH
def test_symmetric_roles_have_no_names(engine: str, tmp_path: Path) -> None:
    text = OFFICE.replace("role Worker", "symmetric role Worker")

    assert NAMELESS == check(spec(tmp_path, text), engine=engine).counts.distinct


def test_what_convert_prints_gives_the_same(tmp_path: Path) -> None:
    converted = tmp_path / "office.py"
    converted.write_text(convert(str(spec(tmp_path, OFFICE))))

    assert NAMED == check(converted, engine="reference").counts.distinct


@BOTH
@pytest.mark.parametrize(
    ("body", "states"),
    [
        # Held by the run alone, while which nothing starts; then stored, having done 0 to 2.
        ("    w = Worker()\n    hired = [w]\n", 1 + 1 + 3),
        # Nobody holds it: it is gone at once, but a step was taken.
        ("    Worker()\n", 1),
        # One that only another one holds that nobody holds is gone, too.
        ("    a = Worker()\n    b = Worker()\n    a.n = b\n    hired = []\n", None),
    ],
)
def test_a_role_lives_as_long_as_something_leads_to_it(
    body: str, states: int | None, engine: str, tmp_path: Path
) -> None:
    work = WORKER.replace("require self.n < 2", "require self.n in [0, 1]")
    flow = "atomic action" if states is None else "action"
    text = (
        f"{HEAD}{work}action Init:\n    hired = []\n\n{flow} Hire:\n    require len(hired) == 0\n"
    )

    result = check(spec(tmp_path, f"{text}{body}"), engine=engine)

    assert (states or 1) == result.counts.distinct


@BOTH
def test_what_only_a_run_held_is_gone_when_that_crashes(engine: str, tmp_path: Path) -> None:
    text = f"{HEAD}{WORKER}action Init:\n    hired = []\n\n".replace("yield: false", "yield: true")
    hire = "action Hire:\n    require len(hired) == 0\n    w = Worker()\n    hired = [w]\n"

    result = check(spec(tmp_path, text + hire), engine=engine)

    # Nobody; held by the run, while which nothing starts; stored, having done 0 to 2. After a crash
    # of the run there is nobody again.
    assert 1 + 1 + 3 == result.counts.distinct


@BOTH
def test_one_more_than_there_is_room_for_is_an_error(engine: str, tmp_path: Path) -> None:
    text = OFFICE.replace("require len(hired) < 2", "pass")

    run = check(spec(tmp_path, text), engine=engine)

    failure = run.evidence.failure
    assert failure is not None
    assert "SW212 There is no room for another Worker: there are at most 2." == failure.title
    assert failure.title in str(run.traces["no_error"])
    assert "AT_MOST_Worker = 4" in failure.help


def test_a_class_of_which_steps_make_none_keeps_what_nothing_leads_to(tmp_path: Path) -> None:
    text = f"{HEAD}{WORKER}action Init:\n    w = Worker()\n\natomic action Drop:\n    w = None\n"

    model = load(spec(tmp_path, text))

    assert 1 == len(model.roles["Worker"])
    assert 2 * 3 == check(model, engine="reference").counts.distinct


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (OFFICE.replace("AT_MOST_Worker = 2", "") + "\nAT_MOST_Worker = 2\n", "SW153"),
        (OFFICE.replace("AT_MOST_Worker = 2", "AT_MOST_Worker = []"), "SW212"),
        (OFFICE.replace("hired = []", "hired = [Worker() for i in range(2)]"), "SW153"),
        (OFFICE + "\nalways assertion A:\n    return Worker() != None\n", "SW153"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused(text: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(spec(tmp_path, text))

    assert code == caught.value.code


SESSIONS = """\
---
deadlock_detection: false
---
AT_MOST_Session = 4

@state(ephemeral=["buffer"])
symmetric role Session:
    action Init:
        self.buffer = 0
        self.me = None

    action Fill:
        require self.buffer == 0
        self.buffer = 1
        self.buffer = 2

    atomic func hello(x):
        self.me = x

action Init:
    sessions = set()

atomic action Connect:
    require len(sessions) < 2
    s = Session()
    sessions.add(s)
    s.hello(s)

atomic action Close:
    s = oneof sessions
    sessions.remove(s)
"""


@BOTH
def test_sessions_with_runs_and_crashes_are_counted_by_hand(engine: str, tmp_path: Path) -> None:
    """A session in the set is at 0, in the middle of its run, at 1 after that crashed, or at 2; one
    outside is in the middle of its run, or it would be gone, though it refers to itself. With r
    runs of those in the set and k of others, r + k is at most two; where it is two, only a run
    that starts led there, and it was one of the set, as with two in flight no session is closed.
    """
    resting, most = 3, 2
    states = 0
    for size in range(3):
        for r in range(size + 1):
            others = {0: 1, 1: resting, 2: resting * (resting + 1) // 2}[size - r]
            k = [k for k in range(most + 1) if r + k < most or (r + k == most and r > 0)]
            states += others * len(k)

    result = check(spec(tmp_path, SESSIONS), engine=engine)

    assert 29 == states == result.counts.distinct


@BOTH
def test_a_run_of_init_knows_of_no_role_of_another(engine: str, tmp_path: Path) -> None:
    begin = """\
    oneof:
        hired.append(Worker())
        pass
    if len(hired) > 0:
        hired.append(Worker())
"""
    text = OFFICE.replace("    hired = []\n", f"    hired = []\n{begin}")

    counts = check(spec(tmp_path, text), engine=engine).counts

    assert (2, NAMED) == (counts.initial, counts.distinct)
