"""Participants vote whether to commit, and a coordinator decides and tells one after the other.

The protocol of Babaoglu and Toueg with a simple broadcast: when the coordinator dies in the middle
of it, some have been told and others wait for ever. `atomic_commit_forwarded.py` mends that.
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
)

PARTICIPANTS: Constant[int] = 3


class Participant(Role):
    votes_yes: bool = False
    alive: bool = True
    vote_sent: bool = False
    decision: Literal["none", "commit", "abort"] = "none"
    asked: bool = False
    heard: Literal["none", "yes", "no"] = "none"  # what the coordinator knows of the vote
    told: Literal["none", "commit", "abort"] = "none"

    @action
    def die(self) -> None:
        require(self.alive)
        self.alive = False

    @action(fair="weak")
    def go_on(self) -> None:
        """Vote, or decide: a step for each reason."""
        require(self.alive)
        undecided = self.decision == "none"
        can = ["vote"] * self.asked
        can += ["no"] * (undecided and self.vote_sent and not self.votes_yes)
        can += ["nobody asks"] * (undecided and not coordinator.alive and not self.asked)
        can += ["told"] * (undecided and self.told != "none")
        why = any_of(can)
        if why == "vote":
            self.vote_sent = True
        else:
            self.decision = self.told if why == "told" else "abort"


class Coordinator(Role):
    decision: Literal["none", "commit", "abort"] = "none"
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
def decides_without_deaths() -> bool:
    return some_died() or all(p.decision != "none" for p in participants)


config("two", PARTICIPANTS=2, expect=holds())
config("three", expect=holds(distinct=54944, generated=218352, depth=21))
