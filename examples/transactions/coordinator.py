"""A coordinator of transactions and two participants: TCP on loopback, files, crashes, logs.

It knows nothing of any spec. Each process writes what it does to a log, an event a line; an event
names the message that it sends and the one that it received.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
from pathlib import Path
from typing import Any

BUGS = ("counted", "unwritten", "forgetful", "impatient", "presumed")


class CrashError(Exception):
    """A process stops in the middle of what it does, and begins again with what its file says."""


class Process:
    """The state of a process in memory (``states``) and on disk, and the log of its events."""

    def __init__(self, actor: str, file: str, folder: Path, chance: random.Random, bug: str):
        self.actor = actor
        self.chance = chance
        self.bug = bug
        self.disk = folder / f"{file}.disk"
        self.events = (folder / f"{file}.jsonl").open("w", encoding="utf-8")
        self.name = file
        self.logged = 0
        self.states: dict[int, list[str]] = {}  # state, and the message that says so
        self.disk.write_text("", encoding="utf-8")

    def log(
        self, action: str, received: str = "", after: dict[str, Any] | None = None, **chosen: Any
    ) -> str:
        """Write an event; the name of the message that tells others."""
        self.logged += 1
        sent = f"{self.name}:{self.logged}"
        event = {"action": action, "actor": self.actor, "with": chosen, "sent": sent}
        more = {"received": received, "after": after}
        event |= {key: value for key, value in more.items() if value}
        self.events.write(json.dumps(event) + "\n")
        return sent

    def become(self, txn: int, state: str, message: str, *, written: bool = True) -> None:
        self.states[txn] = [state, message]
        if written:
            with self.disk.open("a", encoding="utf-8") as file:
                file.write(json.dumps([txn, state, message]) + "\n")
                file.flush()
                os.fsync(file.fileno())

    def crash(self) -> None:
        """Forget what is not on disk."""
        lines = self.disk.read_text(encoding="utf-8").splitlines()
        self.states = {txn: [state, message] for txn, state, message in map(json.loads, lines)}
        self.log("crash", after=self.found())

    def found(self) -> dict[str, Any]:
        """Return what a log says of what is on disk after a crash."""
        return {}

    def perhaps_crash(self) -> None:
        if self.chance.random() < 0.06:
            raise CrashError(self.name)


class Participant(Process):
    port = 0
    transactions = 2
    handling: set[asyncio.Task[None]]

    def found(self) -> dict[str, Any]:
        known = {txn: self.states.get(txn, ["none"])[0] for txn in range(self.transactions)}
        return {"state": known}

    def vote(self, txn: int, message: str, *, willing: bool = True) -> list[str]:
        """The vote, and the message that carries it."""
        if txn not in self.states and willing:
            sent = self.log("prepare", message, txn=txn)
            self.become(txn, "prepared", sent, written=self.bug != "forgetful")
        elif txn not in self.states:
            self.become(txn, "aborted", self.log("refuse", message, txn=txn))
        return self.states[txn]

    def learn(self, txn: int, outcome: str, message: str) -> list[str]:
        """The coordinator has decided."""
        now = self.states.get(txn, ["none", ""])[0]
        if now in ("none", "prepared"):
            action = "learn_commit" if outcome == "committed" else "learn_abort"
            self.become(txn, outcome, self.log(action, message, txn=txn))
        return ["done", ""]

    def crash(self) -> None:
        super().crash()
        for txn, (state, _) in list(self.states.items()):
            if self.bug == "impatient" and state == "prepared":
                self.become(txn, "aborted", self.log("refuse", txn=txn))

    async def serve(self) -> asyncio.Server:
        self.handling = set()
        server = await asyncio.start_server(self.connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.handling.add(task)
        try:
            while line := await reader.readline():
                kind, txn, message = json.loads(line)
                self.perhaps_crash()
                if kind == "prepare":
                    answer = self.vote(txn, message, willing=self.chance.random() < 0.85)
                else:
                    answer = self.learn(txn, kind, message)
                self.perhaps_crash()
                writer.write((json.dumps(answer) + "\n").encode())
        except CrashError:
            self.crash()
        except ConnectionError:
            pass
        finally:
            writer.close()


class Coordinator(Process):
    def __init__(self, folder: Path, chance: random.Random, bug: str, size: int):
        super().__init__("Coordinator#0", "coordinator", folder, chance, bug)
        self.size = size
        self.begun: dict[int, str] = {}
        self.votes: dict[int, list[int]] = {}

    def begin(self, txn: int) -> str:
        self.begun[txn] = self.log("begin", txn=txn)
        return self.begun[txn]

    def collect(self, txn: int, participant: int, message: str) -> bool:
        """A vote for the transaction has arrived; whether all have."""
        self.log("collect", message, txn=txn, participant=f"Participant#{participant}")
        self.votes.setdefault(txn, []).append(participant)
        votes = self.votes[txn]
        return len(votes if self.bug == "counted" else set(votes)) >= self.size

    def decide(self, txn: int, outcome: str, message: str = "") -> None:
        sent = self.log("commit" if outcome == "committed" else "abort", message, txn=txn)
        self.become(txn, outcome, sent, written=self.bug != "unwritten")

    def answer(self, txn: int) -> str:
        self.log("answer", txn=txn)
        return self.states[txn][0]

    def crash(self) -> None:
        super().crash()
        self.votes.clear()

    async def ask(self, port: int, kind: str, txn: int, message: str) -> list[list[str]]:
        """Send a message, twice perhaps; the answers that came, none where the other crashed."""
        times = 1 + (self.chance.random() < 0.2)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answers = []
        try:
            writer.write((json.dumps([kind, txn, message]) + "\n").encode() * times)
            while len(answers) < times and (line := await reader.readline()):
                answers.append(json.loads(line))
        except ConnectionError:
            pass
        finally:
            writer.close()
        return answers

    async def vote(self, txn: int, ports: list[int]) -> None:
        """Ask everybody for a vote, and decide."""
        for number, port in enumerate(ports):
            answers = await self.ask(port, "prepare", txn, self.begun[txn])
            self.perhaps_crash()
            for vote, message in answers:
                if vote != "prepared":
                    return self.decide(txn, "aborted", message)
                if self.collect(txn, number, message):
                    return self.decide(txn, "committed")
            if not answers:
                return self.decide(txn, "aborted")
        return self.decide(txn, "aborted")

    async def spread(self, txn: int, ports: list[int]) -> None:
        """Tell everybody, until they know, and the client."""
        for port in ports:
            self.perhaps_crash()
            while not await self.ask(port, self.states[txn][0], txn, self.states[txn][1]):
                pass
        self.answer(txn)

    async def run(self, txn: int, ports: list[int]) -> None:
        self.begin(txn)
        work = self.vote
        while True:
            try:
                if txn not in self.states:
                    await work(txn, ports)
                return await self.spread(txn, ports)
            except CrashError:
                self.crash()
                work = self.recover

    async def recover(self, txn: int, _: list[int]) -> None:
        """The file has no decision, so nobody can have been told that it was committed."""
        self.decide(txn, "committed" if self.bug == "presumed" else "aborted")


async def run(folder: Path, seed: int, bug: str = "", transactions: int = 2) -> list[str]:
    """A run of the system; the logs that it wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    participants = [Participant(f"Participant#{n}", f"p{n}", folder, chance, bug) for n in range(2)]
    for each in participants:
        each.transactions = transactions
    servers = [await each.serve() for each in participants]
    coordinator = Coordinator(folder, chance, bug, len(participants))
    try:
        for txn in range(transactions):
            await coordinator.run(txn, [each.port for each in participants])
    finally:
        for server in servers:
            server.close()
        await asyncio.gather(*(task for each in participants for task in each.handling))
        for each in (coordinator, *participants):
            each.events.close()
    return [str(folder / f"{each.name}.jsonl") for each in (coordinator, *participants)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bug", choices=BUGS, default="")
    parser.add_argument("--transactions", type=int, default=2)
    given = parser.parse_args()
    print(*asyncio.run(run(given.folder, given.seed, given.bug, given.transactions)))
