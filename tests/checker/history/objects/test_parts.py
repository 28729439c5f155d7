"""Operations on one key are an object of their own only if none on another key touches it."""

from pathlib import Path
from typing import Any

import pytest

from statewalk import check_operations

BANK = """
from statewalk import State, action, any_of

KEYS = ("a", "b")


class Bank(State):
    balance: dict[str, int] = {}

    @action
    def deposit(self, key: str = any_of(KEYS), amount: int = any_of((1, 5))) -> None:
        self.balance[key] = self.balance.get(key, 0) + amount

    @action
    def show(self, key: str = any_of(KEYS)) -> int:
        return self.balance.get(key, 0)

    @action
    def transfer(self, key: str = any_of(KEYS), to: str = any_of(KEYS)) -> bool:
        if self.balance.get(key, 0) < 5:
            return False
        self.balance[key] -= 5
        self.balance[to] = self.balance.get(to, 0) + 5
        return True


bank = Bank()
"""


def op(name: str, key: str, *args: Any, **more: Any) -> dict[str, Any]:
    return {"client": 1, "op": name, "key": key, "args": [*args], **more}


SHOWN = [op("show", "b", answer=0, begin=0, end=1), op("show", "b", answer=5, begin=8, end=9)]
PAID = op("deposit", "a", 5, begin=2, end=3)


@pytest.mark.parametrize(
    ("between", "holds"),
    [
        ([PAID, op("transfer", "a", "b", answer=True, begin=4, end=5)], True),
        ([PAID, op("transfer", "a", "b", begin=4, end=5)], True),
        ([PAID, op("transfer", "a", "b", begin=4, status="info")], True),
        ([PAID, op("transfer", "a", "b", begin=2, end=4)], True),
        ([op("transfer", "a", "b", begin=2, end=4)], False),
        ([op("transfer", "a", "a", begin=4, end=5), PAID], False),
        ([op("deposit", "b", 1, begin=4, end=5), PAID], False),
    ],
)
def test_a_violation_of_a_key_counts_if_no_other_key_has_to_do_with_it(
    between: list[dict[str, Any]], holds: bool, tmp_path: Path
) -> None:
    spec = tmp_path / "bank.py"
    spec.write_text(BANK)

    found = check_operations([*between, *SHOWN], str(spec))

    assert holds is found.holds
    assert holds is ("not parted by key" in found.report)
