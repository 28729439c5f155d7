"""Missionaries and cannibals cross a river; cannibals must never be more on a bank.

The shortest way across takes eleven trips: it is the trace to a state in which all are over.
"""

from typing import Literal

from statewalk import Constant, Role, State, action, always, any_of, config, require, violates

EACH: Constant[int] = 3  # of missionaries, of cannibals


class Boat(State):
    bank: Literal["east", "west"] = "east"


class Missionary(Role, symmetric=True):
    bank: Literal["east", "west"] = "east"


class Cannibal(Role, symmetric=True):
    bank: Literal["east", "west"] = "east"


boat = Boat()
missionaries = [Missionary() for _ in range(EACH)]
cannibals = [Cannibal() for _ in range(EACH)]


def safe(bank: str) -> bool:
    ours = sum(m.bank == bank for m in missionaries)
    return ours == 0 or sum(c.bank == bank for c in cannibals) <= ours


@action
def cross() -> None:
    """One or two go over with the boat."""
    there = "west" if boat.bank == "east" else "east"
    waiting = [who for who in (*missionaries, *cannibals) if who.bank == boat.bank]
    first = any_of(range(len(waiting)))
    second = any_of(range(first, len(waiting)))
    waiting[first].bank = waiting[second].bank = there
    boat.bank = there
    require(safe("east") and safe("west"))


@always
def somebody_is_left() -> bool:
    return any(who.bank == "east" for who in (*missionaries, *cannibals))


config("three-each", expect=violates(somebody_is_left, length=11))
