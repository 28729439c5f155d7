"""Reports on terminals of any kind: light and dark, without colour, with few characters."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from statewalk.checker.machine.streams import FALL_BACK
from statewalk.checker.report.page import STYLES

# of the cube of colours that terminals have: levels of red, green and blue
_LEVELS = (0, 95, 135, 175, 215, 255)
BUG = "models/toys/die_hard.py"


def luminance(colour: int) -> float:
    """Return how bright one of the 216 colours is, as WCAG has it."""
    at = colour - 16
    parts = (_LEVELS[at // 36] / 255, _LEVELS[at // 6 % 6] / 255, _LEVELS[at % 6] / 255)
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("style", [s for s in STYLES.values() if "color" in s])
def test_every_colour_can_be_read_on_white_and_on_black(style: str) -> None:
    found = re.search(r"color\((\d+)\)", style)
    assert found
    bright = luminance(int(found[1]))

    assert 3.9 <= min(1.05 / (bright + 0.05), (bright + 0.05) / 0.05)


@pytest.mark.parametrize("page", ["cp437", "cp850", "cp1252", "ascii"])
def test_what_a_code_page_lacks_is_written_with_what_looks_alike(page: str) -> None:
    text = "a · b → c … ▁▂▃▄▅▆▇█ └─ 0–5".encode(page, FALL_BACK).decode(page)

    assert "->" in text
    assert "?" not in text
    assert b"?" == "\ud800".encode(page, FALL_BACK)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", ["cp437", "cp1252"])
def test_a_report_is_whole_on_windows_code_pages(page: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "statewalk", "check", BUG, "--levels", "--out", str(tmp_path / "r")],
        env=os.environ | {"PYTHONIOENCODING": page}, capture_output=True, check=False,
    )  # fmt: skip
    text = done.stdout.decode(page)

    assert 1 == done.returncode
    assert "~ Jugs.big  0 -> 5" in text
    assert "?" not in text
    assert b"" == done.stderr
