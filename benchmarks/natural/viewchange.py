"""A view change as in Viewstamped Replication: a quorum's best log survives; messages stay.

A replica that starts a view change takes no more entries of the old view. Left out: clients, state
transfer, and recovery after a crash.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Role,
    State,
    action,
    always,
    any_of,
    deadlock,
    exists,
    pairs,
    require,
)

REPLICAS: Constant[int] = 3
MAX_VIEW: Constant[int] = 2
MAX_LOG: Constant[int] = 1
deadlock(False)  # views and entries run out


class Prepare(Message):
    view: int
    number: int
    entry: int
    commit: int


class PrepareOk(Message):
    view: int
    number: int
    source: "Replica"


class StartViewChange(Message):
    view: int
    source: "Replica"


class DoViewChange(Message):
    view: int
    source: "Replica"
    log: tuple[int, ...]
    last_normal: int
    commit: int


class StartView(Message):
    view: int
    log: tuple[int, ...]
    commit: int


class Network(State):
    sent: set[Message] = set()


class Replica(Role):
    view: int = 0
    status: Literal["normal", "changing"] = "normal"
    log: list[int] = []  # the views in which entries were added
    last_normal: int = 0
    commit: int = 0

    def is_primary(self) -> bool:
        return self.view % REPLICAS == self.index

    def join(self, view: int) -> None:
        self.view = view
        self.status = "changing"
        network.sent.add(StartViewChange(view, self))

    @action
    def client_request(self) -> None:
        require(self.is_primary() and self.status == "normal" and len(self.log) < MAX_LOG)
        self.log.append(self.view)
        network.sent.add(Prepare(self.view, len(self.log), self.view, self.commit))

    @action
    def receive_prepare(self) -> None:
        require(not self.is_primary() and self.status == "normal")
        new = [m for m in network.sent if isinstance(m, Prepare) and m.view == self.view]
        message = any_of([m for m in new if m.number == len(self.log) + 1])
        self.log.append(message.entry)
        self.commit = max(self.commit, message.commit)
        network.sent.add(PrepareOk(self.view, message.number, self))

    @action
    def advance_commit(self) -> None:
        require(self.is_primary() and self.status == "normal" and self.commit < len(self.log))
        oks = [m for m in network.sent if isinstance(m, PrepareOk) and m.view == self.view]
        have = {m.source for m in oks if m.number > self.commit}
        require(2 * (len(have) + 1) > REPLICAS)
        self.commit += 1

    @action
    def suspect(self) -> None:
        require(self.view < MAX_VIEW)
        self.join(self.view + 1)

    @action
    def receive_start_view_change(self) -> None:
        seen = [m for m in network.sent if isinstance(m, StartViewChange)]
        self.join(any_of(sorted({m.view for m in seen if m.view > self.view})))

    @action
    def send_do_view_change(self) -> None:
        require(self.status == "changing")
        seen = [m for m in network.sent if isinstance(m, StartViewChange)]
        require(2 * len({m.source for m in seen if m.view == self.view}) > REPLICAS)
        message = DoViewChange(self.view, self, tuple(self.log), self.last_normal, self.commit)
        require(message not in network.sent)
        network.sent.add(message)

    @action
    def start_view(self) -> None:
        require(self.is_primary() and self.status == "changing")
        seen = [m for m in network.sent if isinstance(m, DoViewChange) and m.view == self.view]
        require(2 * len(seen) > REPLICAS)
        best = max(seen, key=lambda m: (m.last_normal, len(m.log)))
        self.install(best.log, max(m.commit for m in seen))
        network.sent.add(StartView(self.view, best.log, self.commit))

    @action
    def receive_start_view(self) -> None:
        seen = [m for m in network.sent if isinstance(m, StartView) and m.view >= self.view]
        message = any_of([m for m in seen if m.view > self.view or self.status == "changing"])
        self.view = message.view
        self.install(message.log, message.commit)

    def install(self, log: tuple[int, ...], commit: int) -> None:
        self.status = "normal"
        self.last_normal = self.view
        self.log = list(log)
        self.commit = max(self.commit, commit)


network = Network()
replicas = [Replica() for _ in range(REPLICAS)]


@always
def committed_entries_agree() -> bool:
    return all(
        a.log[: min(a.commit, b.commit)] == b.log[: min(a.commit, b.commit)]
        for a, b in pairs(replicas)
    )


@always
def one_normal_primary_a_view() -> bool:
    primaries = [r.view for r in replicas if r.is_primary() and r.status == "normal"]
    return len(primaries) == len(set(primaries))


@exists
def committed_after_a_view_change() -> bool:
    return any(r.commit > 0 and r.view > 0 and r.status == "normal" for r in replicas)
