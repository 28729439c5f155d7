"""Two-phase commit of a few transactions: a coordinator and participants that may crash.

What a participant has prepared and what the coordinator has decided is on disk; votes are not. A
coordinator without a decision aborts. Messages may be lost, come late, and come twice.
"""

from typing import Literal

from statewalk import Constant, Role, action, always, any_of, exists, require

PARTICIPANTS: Constant[int] = 2
TRANSACTIONS: Constant[int] = 2

Outcome = Literal["committed", "aborted"]
State = Literal["none", "prepared", "committed", "aborted"]
TXNS = range(TRANSACTIONS)


class Coordinator(Role):
    begun: set[int] = set()
    votes: dict[int, set["Participant"]] = {txn: set() for txn in TXNS}
    decided: dict[int, Outcome] = {}
    told: dict[int, Outcome] = {}

    @action
    def begin(self, txn: int = any_of(TXNS)) -> None:
        require(txn not in self.begun)
        self.begun.add(txn)

    @action
    def collect(self, participant: "Participant", txn: int = any_of(TXNS)) -> None:
        """A vote arrives, once or again."""
        require(txn in self.begun and txn not in self.decided)
        require(participant.state[txn] == "prepared")
        self.votes[txn].add(participant)

    @action
    def commit(self, txn: int = any_of(TXNS)) -> None:
        require(txn in self.begun and txn not in self.decided)
        require(len(self.votes[txn]) == PARTICIPANTS)
        self.decided[txn] = "committed"

    @action
    def abort(self, txn: int = any_of(TXNS)) -> None:
        require(txn in self.begun and txn not in self.decided)
        self.decided[txn] = "aborted"

    @action
    def answer(self, txn: int = any_of(TXNS)) -> None:
        """The client is told."""
        require(txn in self.decided)
        self.told[txn] = self.decided[txn]

    @action
    def crash(self) -> None:
        for txn in TXNS:
            self.votes[txn].clear()


class Participant(Role):
    state: dict[int, State] = dict.fromkeys(TXNS, "none")

    @action
    def prepare(self, txn: int = any_of(TXNS)) -> None:
        require(txn in coordinator.begun and self.state[txn] == "none")
        self.state[txn] = "prepared"

    @action
    def refuse(self, txn: int = any_of(TXNS)) -> None:
        require(txn in coordinator.begun and self.state[txn] == "none")
        self.state[txn] = "aborted"

    @action
    def learn_commit(self, txn: int = any_of(TXNS)) -> None:
        require(self.state[txn] == "prepared" and coordinator.decided.get(txn) == "committed")
        self.state[txn] = "committed"

    @action
    def learn_abort(self, txn: int = any_of(TXNS)) -> None:
        require(self.state[txn] in ("none", "prepared"))
        require(coordinator.decided.get(txn) == "aborted")
        self.state[txn] = "aborted"

    @action
    def crash(self) -> None:
        """Prepared transactions are on disk."""


coordinator = Coordinator()
participants = [Participant() for _ in range(PARTICIPANTS)]


@always
def nobody_aborts_what_another_commits() -> bool:
    return not any(
        {"committed", "aborted"} <= {participant.state[txn] for participant in participants}
        for txn in TXNS
    )


@exists
def committed_everywhere() -> bool:
    return any(all(p.state[txn] == "committed" for p in participants) for txn in TXNS)


@exists
def refused_after_a_vote() -> bool:
    return any({p.state[txn] for p in participants} == {"prepared", "aborted"} for txn in TXNS)


@exists
def client_told_before_everybody_knows() -> bool:
    return any(
        coordinator.told.get(txn) == "committed" and participants[-1].state[txn] == "prepared"
        for txn in TXNS
    )
