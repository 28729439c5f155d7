"""Transaction commit: what any protocol by which resource managers decide together has to do.

The abstraction of Lamport's TCommit: who decides, and by which messages, is left out. A resource
manager may commit once all are prepared, and abort as long as none has committed. Two-phase commit
refines it: `statewalk compare toys/transaction_commit toys/two_phase_commit`.
"""

from typing import Literal

from statewalk import Constant, Role, action, always, config, exists, holds, require, terminal

RMS: Constant[int] = 3


def all_prepared() -> bool:
    return all(rm.state in ("prepared", "committed") for rm in rms)


def none_committed() -> bool:
    return all(rm.state != "committed" for rm in rms)


class ResourceManager(Role, symmetric=True):
    state: Literal["working", "prepared", "committed", "aborted"] = "working"

    @action
    def prepare(self) -> None:
        require(self.state == "working")
        self.state = "prepared"

    @action
    def decide_to_commit(self) -> None:
        require(self.state == "prepared")
        require(all_prepared())
        self.state = "committed"

    @action
    def decide_to_abort(self) -> None:
        require(self.state in ("working", "prepared"))
        require(none_committed())
        self.state = "aborted"


rms = [ResourceManager() for _ in range(RMS)]


@always
def consistent() -> bool:
    """No two resource managers decide differently."""
    return not (
        any(rm.state == "committed" for rm in rms) and any(rm.state == "aborted" for rm in rms)
    )


@exists
def all_committed() -> bool:
    return all(rm.state == "committed" for rm in rms)


@exists
def all_aborted() -> bool:
    return all(rm.state == "aborted" for rm in rms)


@terminal
def decided() -> bool:
    return all(rm.state in ("committed", "aborted") for rm in rms)


config("three", RMS=3, expect=holds(distinct=34, generated=94, depth=7))
