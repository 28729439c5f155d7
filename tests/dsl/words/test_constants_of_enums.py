"""Constants of enums, as a person types them and as a trace keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import check, load, replay
from statewalk.dsl.errors import SpecError
from statewalk.dsl.words.constants import GivenText
from tests.cases import slow

SPEC = """
from enum import *
from typing import *
from statewalk import *
class Color(Enum):
    RED = 1
    BLUE = 2
    BLAU = 2
class Hue(Enum):
    RED = 1
    DARK = 2
class Bits(Flag):
    R = 1
    W = 2
    RW = 3
class Many(IntFlag):
    A = 1
    B = 4
X: Constant[{hint}] = {default}
class C(State):
    n: int = 0
    kept: Any = None
    @action
    def up(self) -> None:
        self.n += 1
        self.kept = X
c = C()
@always
def early() -> bool:
    return c.n < 1
"""


def spec_of(folder: Path, hint: str, default: str) -> Path:
    (folder / "spec.py").write_text(SPEC.format(hint=hint, default=default))
    return folder / "spec.py"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("hint", "default", "text", "shown"),
    [
        ("Color", "Color.RED", "BLAU", "Color.BLUE"),
        ("tuple[Color, Color]", "(Color.RED, Color.RED)", "(BLUE, Color.RED)",
         "(Color.BLUE, Color.RED)"),
        ("tuple[Color, ...]", "()", "BLUE, RED, BLUE", "(Color.BLUE, Color.RED, Color.BLUE)"),
        ("tuple[Color, ...]", "(Color.RED,)", "()", "()"),
        ("tuple[tuple[str, Color], ...]", "()", "(('a', BLUE), (b, RED))",
         "(('a', Color.BLUE), ('b', Color.RED))"),
        ("tuple[int, Literal['x', 'y']]", "(0, 'x')", "(3, y)", "(3, 'y')"),
        ("frozenset[Color]", "frozenset()", "{BLUE}", "frozenset({Color.BLUE})"),
        ("Color | Hue", "Color.RED", "Hue.RED", "Hue.RED"),
        ("Color | Hue", "Color.RED", "DARK", "Hue.DARK"),
        ("tuple[Color | Hue, ...]", "()", "(DARK, Color.RED)", "(Hue.DARK, Color.RED)"),
        ("Color | str", "Color.RED", "RED", "Color.RED"),
        ("Color | str", "Color.RED", "'RED'", "'RED'"),
        ("Color | None", "Color.RED", "None", "None"),
        ("Literal[Color.RED] | int", "3", "RED", "Color.RED"),
        ("Bits", "Bits.R", "W", "Bits.W"),
        ("Bits", "Bits.R", "R|W", "Bits.RW"),
        ("Bits", "Bits.R", "Bits.R | Bits.W", "Bits.RW"),
        ("Many", "Many.A", "A|B", "Many.A | Many.B"),
    ],
)  # fmt: skip
def test_what_a_text_means(hint: str, default: str, text: str, shown: str, tmp_path: Path) -> None:
    model = load(spec_of(tmp_path, hint, default), {"X": GivenText(text)})

    found = model.constants["X"]

    assert eval(shown, dict(model.classes)) == found


@pytest.mark.parametrize(
    ("hint", "default", "given", "said"),
    [
        ("Color | Hue", "Color.RED", GivenText("RED"), "can mean Color.RED or Hue.RED"),
        ("Color | Hue", "Color.RED", "RED", "can mean Color.RED or Hue.RED"),
        ("tuple[Color | Hue]", "(Color.RED,)", GivenText("(RED,)"),
         "can mean (Color.RED,) or (Hue.RED,)"),
        ("Color | Literal['RED']", "Color.RED", GivenText("RED"), "Color.RED or 'RED'"),
        ("tuple[Color]", "(Color.RED,)", GivenText("(GREEN,)"), "cannot be (GREEN,)"),
    ],
)  # fmt: skip
def test_what_can_mean_two_things_is_refused(
    hint: str, default: str, given: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as caught:
        load(spec_of(tmp_path, hint, default), {"X": given})

    assert "SW301" == caught.value.code
    assert said in caught.value.message


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["native", slow("reference")])
@pytest.mark.parametrize(
    ("hint", "default"),
    [
        ("Bits", "Bits.R | Bits.W"),
        ("Bits", "Bits(0)"),
        ("Many", "Many.A | Many.B"),
        ("Many", "Many(9)"),
        ("tuple[Bits, ...]", "(Bits.RW, Bits.W, ~Bits.W)"),
        ("Color", "Color.BLAU"),
    ],
)
def test_flags_and_aliases_are_values(engine: str, hint: str, default: str, tmp_path: Path) -> None:
    run = check(spec_of(tmp_path, hint, default), engine=engine, out=tmp_path / "run")

    again = replay(tmp_path / "run" / "early.trace.json")

    assert "violated" == run.verdict
    assert again.reproduced
