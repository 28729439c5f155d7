"""A constant is given a value that nothing asks for: a warning says so, and only then."""

from pathlib import Path
from typing import Any

import pytest

from statewalk.dsl.loader import load

SPEC = """
from statewalk import *
RULE: Constant[Literal["one", "two"]] = "one"
GUARD: Constant[int] = 0
LOST: Constant[int] = 0
SIZE: Constant[int] = 1
LIMIT: Constant[int] = 1
LATE: Constant[bool] = False
QUIET: Constant[int] = 0  # allow SW612
TWO = RULE == "two"
REPEATS = TWO and GUARD > 1
assert GUARD < 9
class Fault(State):
    left: int
    def strike(self) -> None:
        require(self.left > 0)
        self.left -= 1
class Lost(Fault):
    pass
class Node(Role):
    n: int = 0
    @action
    def up(self, by: int = any_of(range(1, LIMIT + 1))) -> None:
        self.n = (self.n + by) % 3
        if not TWO:
            self.n = 0
        else:
            self.lose()
    def lose(self) -> None:
        lost.strike()
    if REPEATS:
        @action
        def again(self) -> None:
            self.n = 1 if LATE else 2
lost = Lost(left=LOST)
nodes = [Node() for _ in range(SIZE)]
"""


def warned(folder: Path, text: str = SPEC, **given: Any) -> list[str]:
    (folder / "spec.py").write_text(
        text.replace("from statewalk", "from typing import Literal\nfrom statewalk", 1)
    )
    found = load(folder / "spec.py", given).warnings
    return [w.message.split()[1] for w in found if w.code == "SW612"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("given", "without"),
    [
        ({}, []),
        ({"GUARD": 1, "LOST": 1, "LATE": True}, ["GUARD", "LOST", "LATE"]),
        ({"GUARD": 0, "LOST": 0}, []),
        ({"RULE": "two", "GUARD": 1, "LOST": 1}, []),
        ({"RULE": "two", "GUARD": 1, "LATE": True}, ["LATE"]),
        ({"RULE": "two", "GUARD": 2, "LATE": True}, []),
        ({"SIZE": 2, "LIMIT": 2, "RULE": "two"}, []),
        ({"QUIET": 1}, []),
    ],
)
def test_only_what_nothing_asks_for_is_without_effect(
    given: dict[str, Any], without: list[str], tmp_path: Path
) -> None:
    assert without == warned(tmp_path, **given)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "asked",
    [
        "class Other(State):\n    m: int = GUARD\nother = Other()",
        "class Other(State):\n    if not TWO:\n        m: int = GUARD\nother = Other()",
        "@always\ndef p() -> bool:\n    return nodes[0].n != GUARD + 9",
        "def high() -> bool:\n    return nodes[0].n > GUARD\ndef low() -> bool:\n    return True\n"
        "q = leads_to(high, low)",
        "class Kind(Record):\n    def __repr__(self) -> str:\n        return str(GUARD)",
        "def make() -> None:\n    lost.left = GUARD\nmake()",
        "@init\ndef begin() -> None:\n    nodes[0].n = limit_of[0]()\nlimit_of = [lambda: GUARD]",
        "@always\ndef p() -> bool:\n    return nodes[0].n != eval('GUARD') + 9",
    ],
    ids=[
        "default",
        "default under a test",
        "property",
        "leads_to",
        "asked by Python",
        "module",
        "lambda",
        "hidden",
    ],
)
def test_what_is_asked_somewhere_has_an_effect(asked: str, tmp_path: Path) -> None:
    assert [] == warned(tmp_path, SPEC + asked, GUARD=1)
