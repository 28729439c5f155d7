"""Two tellers take one coin each and write a letter, in any order; `blocks.fizz` is the same.

A teller is new, begun, has taken, has written, has done both, or is done: 6 places each. Where
taking is two steps, there is one more before and after writing.
"""

# check -> holds distinct=36
# check CAREFUL=false -> violated nothing_is_lost length=10

from typing import Literal

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    atomic,
    parallel,
    require,
    serial,
    terminal,
    threads,
)

CAREFUL: Constant[bool] = True


class Account(State):
    """The account that the tellers share."""

    balance: int = 2
    letters: int = 0


class Teller(Role):
    """Takes a coin and writes a letter."""

    stage: Literal["new", "begun", "done"] = "new"

    @action(flow="serial")
    def withdraw(self) -> None:
        """Each statement is a step."""
        require(self.stage == "new")
        self.stage = "begun"
        with parallel():
            self.take()
            account.letters += 1
        self.stage = "done"

    def take(self) -> None:
        """Take a coin, looking at the balance first."""
        if CAREFUL:
            with atomic():
                seen = account.balance
                account.balance = seen - 1
        else:
            with serial():
                seen = account.balance
                account.balance = seen - 1


account = Account()
tellers = [Teller() for _ in range(2)]
threads(2)


@terminal
def all_done() -> bool:
    """Both are through."""
    return all(teller.stage == "done" for teller in tellers)


@always
def nothing_is_lost() -> bool:
    """Every coin that was taken is missing."""
    return not all_done() or (account.balance == 0 and account.letters == 2)
