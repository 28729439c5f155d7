"""The lines of a step that a page marks, and the values beside them."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from statewalk import Run, check
from statewalk.checker.page.data import of_run
from statewalk.checker.page.ran import folded

TEXT = """
def f(self):
    if A:
        one()
    elif B:
        two()
    if C:
        three()
    four()
    if D:
        five()
"""

FENCE = """
from statewalk import Constant, Record, State, action, always, require

FENCING: Constant[bool] = False


class Request(Record):
    epoch: int
    note: str = "a long text that takes all the room there is beside a line"


class Store(State):
    epoch: int = 1

    def refuses(self, request: Request) -> bool:
        if FENCING:
            return request.epoch < self.epoch
        return False

    @action
    def take(self) -> None:
        request = Request(0)
        if FENCING and request.epoch < self.epoch:
            return
        require(not self.refuses(request) and self.epoch == 1)
        self.epoch = request.epoch


store = Store()


@always
def kept() -> bool:
    return store.epoch == 1
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ({4, 8, 9}, [3, 7, 10]),
        ({6, 9}, [3, 5, 7, 10]),
        ({4}, [3, 7]),
        (set(), []),
    ],
)
def test_conditions_that_were_decided_before_have_been_come_past(
    lines: set[int], found: list[int]
) -> None:
    function = ast.parse(TEXT).body[0]
    assert isinstance(function, ast.FunctionDef)

    assert sorted(folded(function.body, lines)) == found


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    file = tmp_path_factory.mktemp("ran") / "fence.py"
    file.write_text(FENCE)
    return of_run(check(file, engine="reference"))["traces"][0]["steps"]  # type: ignore[no-any-return]


def test_constants_and_named_fields_stand_beside_a_line(steps: list[dict[str, Any]]) -> None:
    (_, _, values), (_, lines, inner) = steps[0]["ran"]

    assert values[23] == "FENCING = False · request.epoch = 0 · self.epoch = 1"
    assert lines == [16, 18]
    assert inner == {16: "FENCING = False"}


@pytest.mark.thorough
def test_an_answer_to_a_message_stands_where_its_author_wrote_it(run: Run) -> None:
    page = of_run(run)
    step = page["traces"][0]["steps"][4]

    assert step["place"] == step["ran"][0][0]
    assert page["code"][step["place"]]["lines"][0] == '@on_message(fair="weak")'
    assert "_receive_receive" not in str([page["code"][place] for place, *_ in step["ran"]])
