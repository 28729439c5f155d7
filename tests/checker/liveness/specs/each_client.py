"""Fairness is per role instance: each client fetches once.

Weak: each client's own fetching is enabled until it happens. Unfair: the behavior that stops at
once is a lasso without steps, for each client.
"""

from statewalk import (
    Constant,
    Fairness,
    Role,
    action,
    always,
    config,
    eventually,
    holds,
    require,
    violates,
)

FAIR: Constant[Fairness] = "weak"


class Client(Role):
    has: bool = False

    @action(fair=FAIR)
    def fetch(self) -> None:
        require(not self.has)
        self.has = True


clients = [Client() for _ in range(3)]


@eventually
@always
def served(client: Client) -> bool:
    return client.has


config("weak", expect=holds())
config(
    "unfair",
    expect=violates("served(Client#0)", "served(Client#1)", "served(Client#2)", length=0),
    FAIR="none",
)
