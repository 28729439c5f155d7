"""Peterson's algorithm: two processes exclude each other by two flags and whose turn it is.

What it is to do is `lock.py`: a process gets a lock, or waits.
"""

from typing import Annotated, Literal

from statewalk import Role, State, action, always, config, holds, leads_to, require

PLACES = ("idle", "flag", "turn", "wait", "inside", "leave")


class Turn(State):
    of: Annotated[int, range(2)] = 0


class Process(Role):
    at: Literal["idle", "flag", "turn", "wait", "inside", "leave"] = "idle"
    flag: bool = False

    @action(fair="weak")
    def go_on(self) -> None:
        other = processes[1 - self.index]
        if self.at == "flag":
            self.flag = True
        elif self.at == "turn":
            turn.of = other.index
        elif self.at == "wait":
            require(not other.flag or turn.of == self.index)
        elif self.at == "leave":
            self.flag = False
        self.at = PLACES[(PLACES.index(self.at) + 1) % len(PLACES)]


turn = Turn()
processes = [Process() for _ in range(2)]


@always
def one_inside() -> bool:
    return sum(p.at in ("inside", "leave") for p in processes) <= 1


@always
def flag_says_where() -> bool:
    return all(p.flag == (p.at in ("turn", "wait", "inside", "leave")) for p in processes)


@always
def who_is_inside_has_the_turn() -> bool:
    """Or the other does not wait: what makes ``one_inside`` inductive, with the flags."""
    return all(
        processes[1 - p.index].at != "wait" or turn.of == p.index
        for p in processes
        if p.at in ("inside", "leave")
    )


def wants(process: Process) -> bool:
    return process.at == "flag"


def gets(process: Process) -> bool:
    return process.at == "inside"


gets_in = leads_to(wants, gets)

config("two", expect=holds(distinct=42, generated=77, depth=11))
