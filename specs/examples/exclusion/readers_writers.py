"""Readers and writers of one thing are served in the order of a queue."""

from typing import Literal

from statewalk import (
    Constant,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    eventually,
    holds,
    require,
)

ACTORS: Constant[int] = 3


class Request(Record):
    to: Literal["read", "write"]
    who: "Actor"


class Thing(State):
    waiting: list[Request] = []

    @action(fair="weak")
    def serve(self) -> None:
        """The first of the queue begins: a reader beside readers, a writer alone."""
        require(self.waiting and not any(a.writing for a in actors))
        first = self.waiting.pop(0)
        if first.to == "read":
            first.who.reading = True
        else:
            require(not any(a.reading for a in actors))
            first.who.writing = True

    @action(fair="weak")
    def end(self) -> None:
        """Somebody who reads or writes ends it."""
        who = any_of([a for a in actors if a.reading or a.writing])
        if who.reading:
            who.reading = False
        else:
            who.writing = False


class Actor(Role, symmetric=True):
    reading: bool = False
    writing: bool = False

    @action(fair="weak")
    def ask_to_read(self) -> None:
        require(Request("read", self) not in thing.waiting)
        thing.waiting.append(Request("read", self))

    @action(fair="weak")
    def ask_to_write(self) -> None:
        require(Request("write", self) not in thing.waiting)
        thing.waiting.append(Request("write", self))


thing = Thing()
actors = [Actor() for _ in range(ACTORS)]


@always
def a_writer_is_alone() -> bool:
    writers = sum(a.writing for a in actors)
    return writers == 0 or (writers == 1 and not any(a.reading for a in actors))


@always
@eventually
def reads(actor: Actor) -> bool:
    return actor.reading


@always
@eventually
def writes(actor: Actor) -> bool:
    return actor.writing


@always
@eventually
def stops_reading(actor: Actor) -> bool:
    return not actor.reading


@always
@eventually
def stops_writing(actor: Actor) -> bool:
    return not actor.writing


config("two", ACTORS=2, expect=holds())
config("three", expect=holds(distinct=21527, generated=59674, depth=13))
