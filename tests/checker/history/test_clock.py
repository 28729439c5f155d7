"""Times and clock errors are compared as the decimals that a file and a command line say."""

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from statewalk.checker.cli import main
from statewalk.checker.history import formats
from statewalk.checker.history.clock import reached
from statewalk.checker.history.decide.check import Options, check
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.explain.anomaly import explain
from statewalk.checker.history.formats.jsonl import from_records

REAL_TIME = ("strong-si", "strict-serializable")


def missed(end: Any, begin: Any) -> list[dict[str, Any]]:
    """A write that ended, and a read that began and does not see it."""
    return [
        {"session": 1, "begin": 0, "end": end, "ops": [["w", 1, 1]]},
        {"session": 2, "begin": begin, "end": 9e17, "ops": [["r", 1, None]]},
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("level", REAL_TIME)
@pytest.mark.parametrize(
    ("end", "begin", "error", "holds"),
    [
        (0.7, 0.8, 0.1, True),
        (0.7, 0.8, 0.09, False),
        (0.1, 0.3, 0.2, True),
        (1.1, 3.3, 2.2, True),
        (0.3, 0.4, 0.1, True),
        (1700000000.7, 1700000000.8, 0.1, True),
        (1700000000.7, 1700000000.8, 0.0999, False),
        (7, 8, 1, True),
        (7, 8.5, 1.5, True),
        (7, 8.5, 1.4999999999999, False),
        (7, 8, float("inf"), True),
    ],
)
def test_a_begin_that_is_as_late_as_the_clock_error_is_not_after_the_end(
    level: str, end: float, begin: float, error: float, holds: bool
) -> None:
    history, options = from_records(missed(end, begin)), Options(clock_error=error)
    verdict = check(history, level, options)

    assert holds == verdict.holds
    if not holds:
        found = explain(history, verdict, error)
        assert "rt" in {step.kind for step in found.cycle}


@pytest.mark.parametrize(
    ("end", "begin", "holds"),
    [("0.1", "0.20000000000000001", False), ("0.10000000000000001", "0.2", True)],
)
def test_digits_that_a_float_rounds_count(
    tmp_path: Path, end: str, begin: str, holds: bool
) -> None:
    file = tmp_path / "h.jsonl"
    file.write_text(
        f'{{"session":1,"begin":0,"end":{end},"ops":[["w",1,1]]}}\n'
        f'{{"session":2,"begin":{begin},"end":7,"ops":[["r",1,null]]}}\n',
        encoding="utf-8",
    )

    assert holds == check(formats.read(file), "strong-si", Options(clock_error=0.1)).holds


def test_a_time_that_a_float_takes_for_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "h.jsonl"
    file.write_text('{"session":1,"begin":1e-999,"ops":[["w",1,1]]}\n', encoding="utf-8")

    with pytest.raises(HistoryError, match="would be rounded"):
        formats.read(file)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_reached_agrees_with_fractions(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        shift = rng.choice((0, 1700000000))
        times = [shift + rng.randrange(100) / 10 for _ in range(5)]
        against = [shift + rng.randrange(100) / 10 for _ in range(5)]
        error = rng.choice((0.1, 0.2, 0.3, 0.7, 1.1, 3.0))

        found = reached(np.array([*times, np.nan]), error, np.array([*against, np.nan]), {})

        assert np.isnan(found[-1])
        for time, limit in zip(times, found, strict=False):
            for other in against:
                late = Fraction(repr(time)) + Fraction(repr(error)) < Fraction(repr(other))
                assert late == (limit < other), (time, error, other)


def test_a_clock_error_of_more_digits_than_are_kept_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["history", "check", "h.jsonl", "--clock-error", "0.1000000000000000000001"])

    assert 2 == code
    assert "would be rounded" in capsys.readouterr().err
