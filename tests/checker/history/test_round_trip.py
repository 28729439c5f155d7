"""Round trips: converted histories are read back the same, except for reported losses.

It cannot show that Viper, Elle and the others read these files as we do.
"""

import random
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history import formats
from statewalk.checker.history.data import History
from statewalk.checker.history.decide.check import check_levels
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.jsonl import from_records
from tests.cases import slow
from tests.checker.history.round_trip import HARMLESS, data_of, random_records, same


def judged(history: History) -> Any:
    try:
        return {name: (v.holds, v.reason) for name, v in check_levels(history).items()}
    except HistoryError as error:
        return error.code


def converted(history: History, name: str, place: Path) -> tuple[History | None, list[str]]:
    """The history written and read back, None when nothing of it is left; and what was dropped."""
    try:
        lost = formats.write(history, place, name)
    except HistoryError as error:
        none = -1 - history.origin in (*history.begin.tolist(), *history.end.tolist())
        assert error.code == ("SW701" if none else "SW702")  # noqa: PT017 - all outcomes are right
        return None, []
    return formats.read(place), lost


@pytest.mark.parametrize("seeds", [range(12), slow(range(12, 1500))], ids=["few", "many"])
@pytest.mark.parametrize("name", formats.WRITERS)
def test_exactly_what_is_listed_is_lost(name: str, seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        history = from_records(random_records(random.Random(seed)))

        back, lost = converted(history, name, tmp_path / str(seed))

        if back is None:
            continue
        assert name == back.format
        before, after = data_of(history), data_of(back)
        assert same(before, after, lost), (seed, lost, before, after)
        for one in lost:
            rest = [x for x in lost if x != one]
            assert not same(before, after, rest), (seed, one, before, after)
        verdicts, again = judged(history), judged(back)
        if all(HARMLESS.match(x) for x in lost):
            assert verdicts == again, (seed, lost, before, after)


def test_a_read_of_nothing_that_did_not_surely_commit_is_said_to_be_lost(tmp_path: Path) -> None:
    history = from_records([
        {"session": 1, "ops": [["w", "x", 1], ["w", "z", 1]]},
        {"session": 2, "status": "info", "ops": [["r", "z", 1], ["r", "x", None], ["w", "y", 1]]},
        {"session": 3, "ops": [["r", "y", 1]]},
    ])  # fmt: skip

    lost = formats.write(history, tmp_path / "h.edn", "edn")

    assert ["that reads of transactions that did not surely commit found nothing"] == lost


def test_what_goes_on_after_a_crash_is_a_new_process(tmp_path: Path) -> None:
    history = from_records([
        {"session": 1, "status": "info", "begin": 2, "ops": [["w", 2, 1]]},
        {"session": 1, "begin": 7, "end": 8, "ops": [["w", 0, 1]]},
    ])  # fmt: skip

    back, lost = converted(history, "edn", tmp_path / "h.edn")

    assert back is not None
    assert {1, 2} == set(back.sessions)
    assert ["that a session goes on after an indeterminate transaction"] == lost


def test_a_stated_initial_state_that_is_then_unknown_is_said_to_be_lost(tmp_path: Path) -> None:
    (tmp_path / "h").write_text(
        '{"statewalk-history": 1, "initial": [["x", 1]]}\n{"session": 1, "ops": []}\n'
    )
    history = formats.read(tmp_path / "h", initial="unknown")

    assert ["the stated initial state, now unknown"] == formats.write(
        history, tmp_path / "out", "jsonl"
    )


def test_a_key_that_viper_says_is_null_at_first_has_no_initial_value(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "J0.log").write_text(
        '{"value": [["w", 1, 0, true]], "isInitial": true}\n{"value": []}\n'
    )

    back, lost = converted(formats.read(tmp_path / "h"), "jsonl", tmp_path / "h.jsonl")

    assert back is not None
    assert ({}, []) == (back.initial, lost)
