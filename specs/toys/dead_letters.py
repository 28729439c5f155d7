"""Letters to a session that may end: what is in transit to it ends with it.

# check -> holds distinct=25 generated=41 depth=8
"""

from statewalk import (
    Message,
    Network,
    Role,
    State,
    action,
    always,
    deadlock,
    end,
    on_message,
    require,
)

deadlock(False)


class Letter(Message):
    """A number."""

    n: int


class Session(Role, at_most=1):
    """Who adds what comes."""

    total: int = 0

    @on_message
    def read(self, letter: Letter) -> None:
        """Add a number."""
        self.total += letter.n

    @action
    def leave(self) -> None:
        """End, whatever is in transit."""
        server.session = None
        end(self)


class Server(State):
    """Who opens two sessions, and writes two letters."""

    session: Session | None = None
    opened: int = 0
    written: int = 0

    @action
    def open(self) -> None:
        """Open a session when there is none."""
        require(self.session is None and self.opened < 2)
        self.session = Session()
        self.opened += 1

    @action
    def write(self) -> None:
        """Write to the session that there is."""
        require(self.written < 2)
        if self.session is None:
            require(False)
        else:
            self.written += 1
            wire.send(self.session, Letter(self.written))


class Wire(Network[Letter, Session]):
    """Letters in transit."""


server, wire = Server(), Wire()


@always
def nothing_is_added() -> bool:
    """A session gets no more than what was written."""
    return server.session is None or server.session.total <= 3
