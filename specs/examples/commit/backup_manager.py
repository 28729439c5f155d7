"""Two-phase commit with a transaction manager that may fail, and a second one that takes over.

Managers look at what resource managers have done; the second one decides by the same rules as the
first. One resource manager may fail. That is too simple where messages take time.
"""

from math import prod
from typing import Literal

from statewalk import Constant, Role, State, action, always, any_of, config, holds, require

RMS: Constant[int] = 3


class ResourceManager(Role, symmetric=True):
    state: Literal["working", "prepared", "committed", "aborted", "failed"] = "working"
    done: bool = False

    @action(fair="weak")
    def go_on(self) -> None:
        require(not self.done)
        if self.state not in ("working", "prepared"):
            self.done = True
            return
        a_failure_is_possible = all(rm.state != "failed" for rm in rms)
        can = [
            *["prepared"] * (self.state == "working"),
            *["committed"] * (shown.decision == "commit"),
            *["aborted"] * (self.state == "working"),  # on its own
            *["aborted"] * (shown.decision == "abort"),
            "failed" if a_failure_is_possible else self.state,
        ]
        self.state = can[any_of(range(len(can)))]  # a step for each reason


class Shown(State):
    decision: Literal["none", "commit", "abort", "hidden"] = "none"


class Manager(Role):
    at: Literal["deciding", "to commit", "to abort", "failing", "done"] = "deciding"
    backup: bool = False

    @action(fair="weak")
    def decide(self) -> None:
        require(self.at == "deciding")
        require(not self.backup or shown.decision == "hidden")
        committed = sum(rm.state == "committed" for rm in rms)
        stopped = sum(rm.state in ("aborted", "failed") for rm in rms)
        can = ["to commit"] * prod((rm.state == "prepared") + committed for rm in rms)
        can += ["to abort"] * (0 if committed else stopped)
        require(can)
        at = can[any_of(range(len(can)))]
        assert at in ("to commit", "to abort")
        self.at = at

    @action(fair="weak")
    def show(self) -> None:
        require(self.at in ("to commit", "to abort"))
        shown.decision = "commit" if self.at == "to commit" else "abort"
        self.at = "done" if self.backup else "failing"

    @action(fair="weak")
    def fail(self) -> None:
        require(self.at == "failing")
        shown.decision = "hidden"
        self.at = "done"


shown = Shown()
rms = [ResourceManager() for _ in range(RMS)]
managers = [Manager(), Manager(backup=True)]


def all_done() -> bool:
    return all(rm.done for rm in rms) and all(m.at == "done" for m in managers)


@action
def rest() -> None:
    """All have ended."""
    require(all_done())


@always
def consistent() -> bool:
    states = {rm.state for rm in rms}
    return not {"committed", "aborted"} <= states


config("three", expect=holds(distinct=1245, generated=5841, depth=15))
