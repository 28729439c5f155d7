"""Two clients take turns with a lock, or do not.

Weak: whenever one client releases, the other one may lose the race again; taking is disabled
while the lock is held, so weak fairness does not force it. The lasso: the other takes, releases.
Strong: the lock is free again and again, so each client gets it again and again.
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
    holding: bool = False

    @action(fair=FAIR)
    def take(self) -> None:
        require(not any(c.holding for c in clients))
        self.holding = True

    @action(fair="weak")
    def release(self) -> None:
        require(self.holding)
        self.holding = False


clients = [Client() for _ in range(2)]


@always
@eventually
def gets(client: Client) -> bool:
    return client.holding


config("weak", expect=violates("gets(Client#0)", "gets(Client#1)", length=2))
config("strong", expect=holds(), FAIR="strong")
