"""Lists of interchangeable values in the order of a dict: taken as long as no order matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError

SEATS = """
---
deadlock_detection: false
---
SEATS = symmetry.nominal(name="seat", limit=3)
action Init:
    seats = {}
    for i in range(3):
        seats[SEATS.fresh()] = "free"
    seen = []
atomic action Look:
    seen = [s for s in seats if seats[s] != "mine"]
atomic action Lend:
    require "lent" not in seats.values()
    seat = oneof [s for s in seats if seats[s] == "free"]
    seats[seat] = "lent"
atomic action Take:
    require "mine" not in seats.values()
    seat = MINE
    require seats[seat] == "free"
    seats[seat] = "mine"
atomic action Leave:
    for s in seats:
        seats[s] = "free"
always assertion Taken:
    return HOLDS
"""
MINE, HOLDS = "oneof seen", "len([s for s in seats if seats[s] == 'mine']) < 2"


def spec(folder: Path, mine: str = MINE, holds: str = HOLDS) -> Path:
    path = folder / "seats.fizz"
    text = SEATS.replace("seat = MINE", f"seat = {mine}").replace("HOLDS", holds)
    path.write_text(text.lstrip(), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        (HOLDS, "holds"),
        ("len(seen) < 3 or 'mine' not in seats.values()", "violated"),
        ("not seen", "violated"),
    ],
)
def test_lists_are_kept_in_order_and_none_is_preferred(
    tmp_path: Path, holds: str, verdict: str
) -> None:
    path = spec(tmp_path, holds=holds)

    plain = check(path, symmetry=False, engine="reference")
    found = [check(path, symmetry=True, engine=engine) for engine in ("reference", "native")]

    assert [verdict] * 3 == [run.verdict for run in (plain, *found)]
    assert found[0].counts == found[1].counts
    assert verdict == "violated" or found[0].counts.distinct < plain.counts.distinct
    assert plain.properties[0].length == found[0].properties[0].length


@pytest.mark.parametrize(
    ("mine", "holds", "what"),
    [
        ("oneof seen[-1:]", HOLDS, "Take"),
        (MINE, "[s for s in seats if s in seen] == seen", "Taken"),
        ("oneof seen[:1]", HOLDS, "Take"),
    ],
)
def test_an_order_that_makes_a_difference_is_named(
    tmp_path: Path, mine: str, holds: str, what: str
) -> None:
    with pytest.raises(SpecError) as caught:
        check(spec(tmp_path, mine, holds), symmetry=True, engine="reference")

    assert "SW209" == caught.value.code
    assert what in caught.value.message
