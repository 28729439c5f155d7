"""Atomic commitment that does not block: who hears a decision tells all others before deciding.

`atomic_commit.py` with a broadcast that is forwarded. So whoever lives may abort as soon as nobody
who lives can have heard anything.
"""

from typing import Literal

from statewalk import (
    Constant,
    Role,
    action,
    always,
    any_of,
    config,
    deadlock,
    eventually,
    holds,
    init,
    maybe,
    old,
    on_step,
    require,
    violates,
)

PARTICIPANTS: Constant[int] = 2
CAREFUL: Constant[bool] = True  # whether everybody forwards what he heard, and decides then

Decision = Literal["none", "commit", "abort"]
NOBODY: list[Decision] = ["none"] * PARTICIPANTS


class Participant(Role):
    votes_yes: bool = False
    alive: bool = True
    vote_sent: bool = False
    decision: Decision = "none"
    asked: bool = False
    heard: Literal["none", "yes", "no"] = "none"  # what the coordinator knows of the vote
    told: Decision = "none"
    forwarded: list[Decision] = NOBODY  # to each; to itself: what it will decide

    @action
    def die(self, _beside: "Participant") -> None:
        require(self.alive)
        self.alive = False

    @action(fair="weak")
    def go_on(self) -> None:
        """Vote, abort, forward or decide: a step for each reason, and each other participant."""
        require(self.alive)
        undecided = self.decision == "none"
        known = self.forwarded[self.index] if CAREFUL else self.decision
        alone = ["vote"] * self.asked
        alone += ["abort"] * (undecided and self.vote_sent and not self.votes_yes)
        alone += ["abort"] * (undecided and not coordinator.alive and not self.asked)
        alone += ["abort"] * (undecided and nobody_can_know())
        alone += ["take"] * (known == "none" and self.told != "none")
        alone += ["decide"] * ("none" not in self.forwarded)
        can = [(what, self) for what in alone for _ in participants]
        for other in participants:
            if other != self and known != "none" and self.forwarded[other.index] == "none":
                can.append(("forward", other))
            if other != self and known == "none" and other.forwarded[self.index] != "none":
                can.append(("hear", other))
        what, other = can[any_of(range(len(can)))]
        self.do(what, other)

    def do(self, what: str, other: "Participant") -> None:
        if what == "vote":
            self.vote_sent = True
        elif what == "abort":
            self.decision = "abort"
        elif what == "take":
            self.know(self.told)
        elif what == "decide":
            self.decision = self.forwarded[self.index]
        elif what == "forward":
            known = self.forwarded[self.index] if CAREFUL else self.decision
            self.forwarded[other.index] = known
        else:
            self.know(other.forwarded[self.index])

    def know(self, decision: Decision) -> None:
        if CAREFUL:
            self.forwarded[self.index] = decision
        else:
            self.decision = decision


class Coordinator(Role):
    decision: Decision = "none"
    alive: bool = True

    @action
    def die(self) -> None:
        require(self.alive)
        self.alive = False

    @action(fair="weak")
    def go_on(self) -> None:
        """Ask, hear, decide, tell; who is dead and has not voted makes it decide to abort."""
        require(self.alive)
        open_ = self.decision == "none" and all(p.asked for p in participants)
        silent = [p for p in participants if p.heard == "none"]
        can = [("ask", p) for p in participants if not p.asked]
        if open_:
            can += [("hear", p) for p in silent if p.vote_sent]
            can += [("abort", p) for p in silent if not p.vote_sent and not p.alive]
        if open_ and not silent:
            can += [("commit", participants[0])] * all(p.heard == "yes" for p in participants)
            can += [("abort", p) for p in participants if p.heard == "no"]
        if self.decision != "none":
            can += [("tell", p) for p in participants if p.told == "none"]
        what, who = any_of(can)
        if what == "ask":
            who.asked = True
        elif what == "hear":
            who.heard = "yes" if who.votes_yes else "no"
        elif what == "tell":
            who.told = self.decision
        else:
            self.decision = "commit" if what == "commit" else "abort"


participants = [Participant() for _ in range(PARTICIPANTS)]
coordinator = Coordinator()
deadlock(False)


def nobody_can_know() -> bool:
    """The coordinator is dead, has told nobody who lives, and no dead one has forwarded to one."""
    living = [p for p in participants if p.alive]
    dead = [p for p in participants if not p.alive]
    told = any(p.told != "none" for p in living)
    forwarded = any(d.forwarded[p.index] != "none" for d in dead for p in living)
    return not (coordinator.alive or told or forwarded)


@init
def votes() -> None:
    for participant in participants:
        participant.votes_yes = maybe()


def some_died() -> bool:
    return not coordinator.alive or not all(p.alive for p in participants)


@always
def one_decision() -> bool:
    return not {"commit", "abort"} <= {p.decision for p in participants}


@always
def commit_only_if_all_vote_yes() -> bool:
    none = all(p.decision != "commit" for p in participants)
    return none or all(p.votes_yes for p in participants)


@always
def abort_only_for_a_reason() -> bool:
    none = all(p.decision != "abort" for p in participants)
    return none or some_died() or not all(p.votes_yes for p in participants)


@on_step
def decisions_stay() -> bool:
    return all(old(p.decision) in ("none", p.decision) for p in participants)


@eventually
def all_who_live_decide() -> bool:
    return all(p.decision != "none" or not p.alive for p in participants)


config("two", expect=holds(distinct=4284, generated=23988, depth=19))
config("careless", CAREFUL=False, expect=violates(one_decision, length=12))
