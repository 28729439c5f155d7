"""Sessions that come and go: made in a step, ended in another, and made again in their place.

Two requests are answered in sessions of their own; a session waits before it answers, and may be
dropped meanwhile. Of one session there are: none, stage 0, 1 (its run is suspended), 2. Two are
any two of these, and without names as many as there are pairs in no order, 4 + 3 + 2 + 1.

# check -> holds distinct=16 generated=40 depth=7
# check SESSIONS=3 -> holds distinct=64 depth=10
"""

from __future__ import annotations

from statewalk import (
    Constant,
    Flow,
    Role,
    State,
    action,
    always,
    end,
    exists,
    instances,
    leads_to,
    old,
    on_step,
    require,
)

SESSIONS: Constant[int] = 2


class Session(Role, at_most=3, symmetric=True):
    """A session that answers one request."""

    stage: int = 0

    @action(fair="weak")
    def answer(self) -> Flow[None]:
        require(self.stage == 0)
        self.stage = 1
        yield
        self.stage = 2

    @action(fair="weak")
    def close(self) -> None:
        require(self.stage == 2)
        server.open.discard(self)
        end(self)


class Server(State):
    """Knows which sessions are open."""

    open: set[Session] = set()

    @action
    def connect(self) -> None:
        require(len(instances(Session)) < SESSIONS)
        self.open.add(Session())

    @action
    def drop(self, session: Session) -> None:
        require(session.stage == 1)
        self.open.discard(session)
        end(session)


server = Server()


@always
def is_known(session: Session) -> bool:
    """Whoever is there is known."""
    return session in server.open


@always
def enough_room() -> bool:
    """No more are open than may be."""
    return len(server.open) <= SESSIONS


@on_step
def stages_go_up(session: Session) -> bool:
    """No session begins anew."""
    return session.stage >= old(session.stage)


@exists
def both_answered() -> bool:
    """Two at a time get an answer."""
    return [s.stage for s in instances(Session)] == [2, 2]


def begun(session: Session) -> bool:
    """The session has begun to answer."""
    return session.stage == 1


def answered(session: Session) -> bool:
    """It has answered."""
    return session.stage == 2


is_answered = leads_to(begun, answered)
