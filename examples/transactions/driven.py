"""The coordinator and its participants without the network, one step at a time.

What scenarios made from the spec need to try them: `conftest.py` hands a `System` to each.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coordinator import Coordinator, Participant

TRANSACTIONS = 2


class System:
    """Does what it is told, and says what can be seen of it, in the words of the spec."""

    def __init__(self, folder: Path, bug: str = "", transactions: int = TRANSACTIONS) -> None:
        chance = random.Random(0)
        self.txns = range(transactions)
        self.participants = [
            Participant(f"Participant#{n}", f"p{n}", folder, chance, bug) for n in range(2)
        ]
        for each in self.participants:
            each.transactions = transactions
        self.coordinator = Coordinator(folder, chance, bug, len(self.participants))
        self.everybody = {each.actor: each for each in (self.coordinator, *self.participants)}
        self.crashed: set[int] = set()  # transactions that a crash interrupted
        self.complete: set[int] = set()  # those that it would commit, by the votes that it has
        self.told: dict[int, str] = {}

    def take(self, action: str, actor: str, given: dict[str, Any]) -> None:
        """Do a step."""
        txn, whose = given.get("txn", 0), self.everybody[actor]
        if action == "crash":
            whose.crash()
            if whose is self.coordinator:
                self.crashed |= set(self.coordinator.begun)
                self.complete.clear()
        elif isinstance(whose, Participant):
            if action in ("prepare", "refuse"):
                whose.vote(txn, "a message", willing=action == "prepare")
            else:
                outcome = "committed" if action == "learn_commit" else "aborted"
                whose.learn(txn, outcome, "a message")
        else:
            self.coordinate(action, txn, given.get("participant", ""))

    def coordinate(self, action: str, txn: int, participant: str) -> None:
        """Do a step of the coordinator's."""
        coordinator = self.coordinator
        if action == "begin":
            coordinator.begin(txn)
        elif action == "collect":
            if coordinator.collect(txn, int(participant[-1]), "a message"):
                self.complete.add(txn)
        elif action == "answer":
            self.told[txn] = coordinator.answer(txn)
        elif action == "abort" and txn in self.crashed:
            asyncio.run(coordinator.recover(txn, []))
        else:
            coordinator.decide(txn, "committed" if action == "commit" else "aborted")

    def fields(self) -> dict[str, Any]:
        """Return what can be seen of it."""
        coordinator, txns = self.coordinator, self.txns
        seen: dict[str, Any] = {
            f"{each.actor}.state": {txn: each.states.get(txn, ["none"])[0] for txn in txns}
            for each in self.participants
        }
        votes = {txn: coordinator.votes.get(txn, ()) for txn in txns}
        return seen | {
            "Coordinator#0.begun": set(coordinator.begun),
            "Coordinator#0.votes": {t: {f"Participant#{n}" for n in votes[t]} for t in txns},
            "Coordinator#0.decided": {t: state for t, (state, _) in coordinator.states.items()},
            "Coordinator#0.told": self.told,
        }

    def offers(self) -> Iterator[dict[str, Any]]:
        """It commits as soon as it has all votes."""
        for txn in self.complete - set(self.coordinator.states):
            yield {"action": "commit", "actor": "Coordinator#0", "with": {"txn": txn}}

    def close(self) -> None:
        """Close the logs."""
        for each in self.everybody.values():
            each.events.close()
