"""Nothing of a .fizz file is used up by going through it: iterators of Python's are lists there."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.dsl.errors import StatewalkError
from tests.cases import slow

LISTS = {
    "itertools.permutations([1, 2])": 2,
    "itertools.combinations([1, 2, 3], 2)": 3,
    "itertools.combinations_with_replacement([1, 2], 2)": 3,
    "itertools.product([1, 2], [3])": 2,
    "itertools.chain([1], [2])": 2,
    "itertools.chain(*[(x for x in [1]), itertools.product([1])])": 2,
    "(x for x in [1, 2])": 2,
    "zip([1], [2])": 1,
    "[enumerate([1, 2])][0]": 2,
    "record(x=reversed([1, 2])).x": 2,
}
TEXT = """
{top}

action Init:
    n = 0
    found = []

atomic action Step:
    require n < 2
    n = n + 1
    found = found + [{step}]

atomic action Rest:
    pass

always assertion Same:
    return found in ([], [{size}], [{size}, {size}]) and {also}
"""
CHANGED = {
    "genericset([1])": "C.add(n)",
    "record(x=genericset([1])).x": "C.discard(1)",
    "genericmap({1: 1})": "C.update({n + 5: 1})",
    "genericmap({1: [2]})": "C[1].append(n)",
    "bag([1])": "C.add(1)",
    "(1, genericset())": "C[1].add(n)",
    "[1].append": "C(n)",
    "[zip][0]([1, 2], [3, 4])": "found = list(C)",
}


def run(path: Path, engine: str, top: str, step: str, size: int, also: str = "True") -> str:
    path = path / "spec.fizz"
    path.write_text(TEXT.format(top=top, step=step, size=size, also=also))
    return check(path, engine=engine).verdict


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["native", slow("reference")])
@pytest.mark.parametrize("made", LISTS)
def test_a_constant_is_gone_through_as_often_as_asked(
    made: str, engine: str, tmp_path: Path
) -> None:
    size = LISTS[made]
    top = f"C = {made}\ndef again(c={made}):\n    return len(list(c))"
    also = f"len([x for x in C]) + again() == {2 * size}"

    assert "holds" == run(tmp_path, engine, top, "len([c for c in C])", size, also)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["native", slow("reference")])
@pytest.mark.parametrize("made", LISTS)
def test_a_local_has_a_length_and_an_order(made: str, engine: str, tmp_path: Path) -> None:
    top = f"def twice():\n    c = {made}\n    return len(list(c)) * 0 + len(c)"
    also = f"len({made}) + len(reversed({made})) == {2 * LISTS[made]}"

    assert "holds" == run(tmp_path, engine, top, "twice()", LISTS[made], also)


def test_a_function_of_the_file_gets_lists_whatever_it_is_called(tmp_path: Path) -> None:
    top = "def sum(xs):\n    return len(list(xs)) + len(list(xs))"

    assert "holds" == run(tmp_path, "reference", top, "sum(zip([1], [2]))", 2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["native", slow("reference")])
@pytest.mark.parametrize("made", CHANGED)
def test_a_constant_that_a_step_changes_is_no_part_of_the_state(
    made: str, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    text = TEXT.format(top=f"C = {made}", step="0", size=0, also="True")
    path.write_text(text.replace("found = found + [0]", CHANGED[made]))
    with pytest.raises(StatewalkError) as caught:
        check(path, engine=engine)

    assert "SW102" == caught.value.code
    assert " changed C" in caught.value.message
