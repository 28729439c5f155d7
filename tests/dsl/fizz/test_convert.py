"""A converted spec is one of the embedded language, with equal counts."""

import ast
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from statewalk import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.errors import RunError
from statewalk.dsl.fizz.convert import convert
from statewalk.dsl.loader import load
from tests.cases import examples, some
from tests.dsl.flows.pairs import Pairs
from tests.places import ROOT

SPECS = sorted((ROOT / "specs").rglob("*.fizz"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", some(SPECS, every=7), ids=lambda p: p.name)
def test_converted_specs_have_equal_counts(path: Path, tmp_path: Path) -> None:
    converted = tmp_path / f"{path.stem}.py"
    converted.write_text(convert(str(path)), encoding="utf-8")

    original = check(path, engine="reference", liveness=False, symmetry=False)
    again = check(converted, engine="reference", liveness=False, symmetry=False)

    assert (original.verdict, original.counts) == (again.verdict, again.counts)
    assert [p.name for p in original.properties] == [p.name for p in again.properties]


def test_the_converted_text_keeps_names_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.fizz"
    path.write_text(
        "# A counter.\n\n# How far it counts.\nN = 2\n"
        "action Init:\n    n = 0\natomic action Up:\n    n += 1\n"
    )

    text = convert(str(path))

    assert text.startswith('"""A counter.')
    assert "# How far it counts.\nN: Constant[int] = 2" in text
    assert "def Up() -> None:\n    state.n += 1" in text
    ast.parse(text)


def test_flows_and_blocks_are_written_as_such() -> None:
    text = convert(str(next(p for p in SPECS if p.name == "blocks.fizz")))

    assert "yield" not in text
    assert "@action(flow='serial', concurrent=2, resume='strong')" in text
    for block in ("atomic", "serial", "parallel"):
        assert f"with {block}():" in text


# In Fizzbee the second step of these is none where b is 1 already, which only the notes of a step
# can say; what an action has to say with notes, all that it calls says so as well.
DOING_NOTHING = """
action Init:
    a = 0
    b = 0
action A:
    require a == 0
    a = 1
    x = oneof [0, 1]
    if x == b:
        f()
func f():
    b = 1
    a = 2
action B:
    a = 3
    b = 3
"""


def test_what_blocks_cannot_say_keeps_its_yields(tmp_path: Path) -> None:
    path = tmp_path / "a.fizz"
    path.write_text("---\ndeadlock_detection: false\n---\n" + DOING_NOTHING)
    text = convert(str(path))
    (tmp_path / "a.py").write_text(text)

    assert "def A() -> Flow[None]:" in text
    assert "def f() -> Flow[None]:" in text
    assert "@action(flow='serial', concurrent=2, resume='strong')\ndef B() -> None:" in text
    counts = [check(tmp_path / f"a.{kind}", engine="reference").counts for kind in ("fizz", "py")]
    assert counts[0] == counts[1]


# F1 keeps its yields and notes of steps, since a jump leaves its loop in any order; F0 has blocks,
# and needs notes too.
KEEPING = """
action Init:
    s = set()
    l = [0]
action F0:
    atomic:
        v = oneof s
        for e in s:
            l = []
    serial:
        l = []
parallel action F1:
    for e in l:
        break
    l.clear()
"""


def test_what_keeps_its_yields_stays_as_it_is_beside_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.fizz"
    path.write_text("---\noptions:\n  max_concurrent_actions: 2\n---\n" + KEEPING)
    text = convert(str(path))
    (tmp_path / "a.py").write_text(text)

    assert "def F0() -> None:" in text
    assert "def F1() -> Flow[None]:" in text
    # l = [0]; l = [] with none, one or two runs suspended before their loop
    found = [check(tmp_path / f"a.{kind}", engine="reference").counts for kind in ("fizz", "py")]
    assert found[0].distinct == 4
    assert found[0] == found[1]


@pytest.mark.thorough
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@example(seed=1850)  # a function that nothing calls, calling one that gives way
@given(seed=st.integers(0, 2**32))
def test_generated_specs_convert(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pair")
    (folder / "a.fizz").write_text(Pairs(Random(seed)).write()[0])
    (folder / "a.py").write_text(convert(str(folder / "a.fizz")))
    options = SearchOptions(keep_going=True, max_states=2000)

    found = [explore(load(folder / name), options).counts for name in ("a.fizz", "a.py")]
    assert found[0] == found[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "value", ["(-2) ** 2", "-2 ** 2", "(-3) ** n", "2 ** -0", "-3 % 5", "-3 // 2", "(-7 % 3) ** 2"]
)
def test_numbers_below_zero_keep_their_signs(value: str, tmp_path: Path) -> None:
    lines = f"        n = {value} + 20\n        m = -1"
    (tmp_path / "a.fizz").write_text(
        f"action Init:\n    n = 2\n    m = 0\naction A:\n    parallel:\n{lines}\n"
        f"always assertion P:\n    return n == 2 or n == {value.replace('n', '2')} + 20\n"
    )
    text = convert(str(tmp_path / "a.fizz"))
    (tmp_path / "a.py").write_text(text)

    found = [
        check(tmp_path / name, engine="reference", max_states=99) for name in ("a.fizz", "a.py")
    ]
    assert found[0].counts == found[1].counts
    assert [p.verdict for p in found[0].properties] == [p.verdict for p in found[1].properties]
    assert "flow='parallel'" in text


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(RunError, match=r"There is no file nowhere.fizz"):
        convert("nowhere.fizz")
