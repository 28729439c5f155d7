"""Roles that a step would make: they have no actions, so nothing is checked without them."""

from pathlib import Path

import pytest

from statewalk import check

SPEC = """\
from statewalk import Role, State, action, always, require

class Worker(Role):
    n: int = 0

    @action
    def work(self) -> None:
        self.n = 1

class Boss(State):
    hired: list[Worker] = []

    @action
    def hire(self) -> None:
        require(not self.hired)
        self.hired.append(Worker())

boss = Boss()

@always
def nobody_works() -> bool:
    return all(worker.n == 0 for worker in boss.hired)
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_role_made_in_a_step_is_an_error_and_no_verdict_of_a_property(
    engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC)

    run = check(path, engine=engine)

    assert ("error", True) == (run.verdict, "SW211" in str(run.traces["no_error"]))
