"""An application that commits to PostgreSQL and to Kafka together, by prepared transactions.

The database is a real server, and its own log tells what it did. Kafka's coordinator is stood in
for by a few lines that give out epochs; what the application asks of it goes into a log of ours.
Instances die, or pause while another one takes their place, and go on as if nothing had happened.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import psycopg

FAULTS = ("unfenced", "row-after")
TABLES = """
DROP TABLE IF EXISTS payments, decided, owner;
CREATE TABLE payments (txn int PRIMARY KEY);
CREATE TABLE decided (tid int PRIMARY KEY, pid int, epoch int);
CREATE TABLE owner (tid int PRIMARY KEY, instance int);
INSERT INTO owner VALUES (0, 0);
"""
POINTS = ("begin", "send", "prepare", "decide")
Id = tuple[int, int]


@dataclass
class Kafka:
    """A stand-in for the coordinator: which id is used, and which transaction is ongoing."""

    id: Id = (1, 0)
    ongoing: Id | None = None

    def end(self) -> None:
        self.ongoing = None
        self.raise_epoch()

    def raise_epoch(self) -> None:
        self.id = (self.id[0], self.id[1] + 1)


class Instance:
    """An instance of the application."""

    def __init__(self, number: int, url: str, kafka: Kafka, log: TextIO, fault: str) -> None:
        self.number, self.kafka, self.log, self.fault = number, kafka, log, fault
        self.database = psycopg.connect(url, autocommit=True, application_name=f"producer-{number}")
        self.database.execute("SET log_min_duration_statement = 0; SET lock_timeout = '1s'")

    def note(self, action: str, state: str = "") -> None:
        """Log a step that the database has no part in."""
        time.sleep(0.003)  # the database's log counts milliseconds
        event = {"action": action, "time": time.time_ns() // 1_000_000}
        if action == "recover":
            event["with"] = {"producer": f"Producer#{self.number}"}
        else:
            event["actor"] = f"Producer#{self.number}"
        if state:
            event["after"] = {f"Producer#{self.number}.state": state}
        self.log.write(json.dumps(event) + "\n")
        time.sleep(0.003)

    def transaction(self, txn: int, until: str) -> str:
        """A transaction in both systems, or its part up to a point; what is prepared."""
        self.note("begin")
        if until == "begin":
            return ""
        self.kafka.ongoing = self.kafka.id
        self.note("send")
        if until == "send":
            return ""
        prepared = self.prepare(txn)
        if until == "prepare":
            return prepared
        self.decide(prepared)
        if until == "decide":
            return prepared
        if self.fault == "row-after":
            self.write_row(*self.kafka.id)
        self.kafka.end()
        self.note("commit")
        return prepared

    def prepare(self, txn: int) -> str:
        """Have the database promise that it can commit. Raises where another instance owns it."""
        pid, epoch = self.kafka.id
        name = f"kafka-0-{pid}-{epoch}"
        database = self.database
        database.execute("BEGIN")
        if self.fault != "unfenced":
            self.look_for_owner()
        database.execute(f"INSERT INTO payments VALUES ({txn})")
        if self.fault != "row-after":
            self.write_row(pid, epoch)
        database.execute(f"PREPARE TRANSACTION '{name}'")
        return name

    def look_for_owner(self) -> None:
        """Keep others from taking over until this is decided. Raises where one has."""
        found = self.database.execute("SELECT instance FROM owner WHERE tid = 0 FOR SHARE")
        if found.fetchone() != (self.number,):
            self.database.execute("ROLLBACK")
            raise psycopg.errors.ObjectInUse("another instance has taken over")

    def write_row(self, pid: int, epoch: int) -> None:
        """Keep the id of the transaction that the database decides."""
        row = f"({pid}, {epoch})"
        self.database.execute(
            f"INSERT INTO decided VALUES (0, {pid}, {epoch}) "
            f"ON CONFLICT (tid) DO UPDATE SET (pid, epoch) = {row}"
        )

    def decide(self, prepared: str) -> None:
        """The database commits, and so both have."""
        time.sleep(0.003)
        self.database.execute(f"COMMIT PREPARED '{prepared}'")

    def take_over(self) -> None:
        """Keep the instance before out, and end what it has begun."""
        while True:
            if self.fault != "unfenced":
                self.roll_back_prepared()
            with suppress(psycopg.errors.LockNotAvailable):  # it has prepared one more meanwhile
                time.sleep(0.003)
                self.database.execute(f"UPDATE owner SET instance = {self.number} WHERE tid = 0")
                break
        ongoing = self.kafka.ongoing
        self.kafka.raise_epoch()
        row = self.database.execute("SELECT pid, epoch FROM decided WHERE tid = 0").fetchone()
        if ongoing is None:
            self.note("recover", "Ready")
            return
        self.note("recover", "Committing" if row == ongoing else "Aborting")
        self.kafka.end()
        self.note("repeat_end", "Ready")

    def roll_back_prepared(self) -> None:
        """Abort the promised transactions that were not decided."""
        found = self.database.execute("SELECT gid FROM pg_prepared_xacts").fetchall()
        for (name,) in found:
            with suppress(psycopg.errors.UndefinedObject):
                self.database.execute(f"ROLLBACK PREPARED '{name}'")


def run(url: str, file: Path, seed: int, fault: str = "", instances: int = 4) -> int:
    """A run with some instances, one after the other; how many transactions were begun."""
    chance = random.Random(seed)
    txns = 0
    with psycopg.connect(url, autocommit=True) as database, file.open("w") as log:
        for (name,) in database.execute("SELECT gid FROM pg_prepared_xacts").fetchall():
            database.execute(f"ROLLBACK PREPARED '{name}'")
        database.execute(TABLES)
        kafka = Kafka()
        asleep = None  # an instance that has prepared a transaction and does not know its end
        for number in range(instances):
            instance = Instance(number, url, kafka, log, fault)
            if number:
                instance.take_over()
            if asleep is not None:
                with suppress(psycopg.errors.UndefinedObject):
                    asleep[0].decide(asleep[1])
                asleep[0].database.close()
            for _ in range(chance.randrange(3)):
                txns += 1
                instance.transaction(txns, "end")
            txns += 1
            point = chance.choice(POINTS)
            prepared = instance.transaction(txns, point)
            asleep = (instance, prepared) if point == "prepare" else None
            if asleep is None:
                instance.database.close()
        if asleep is not None:
            asleep[0].database.close()
    return txns


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="of a server with max_prepared_transactions above 0")
    parser.add_argument("log", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", choices=FAULTS, default="")
    given = parser.parse_args()
    print(run(given.url, given.log, given.seed, given.fault), "transactions")
