"""A record that a leader lends, to one consumer at a time, and what it does when a write fails."""

from typing import Literal

from statewalk import Constant, State, action, always, deadlock, exists, require

# What a failed write does: as in Kafka 4.0, and after two pull requests of August 2025.
FIX: Constant[Literal["none", "pr20286", "pr20310"]] = "none"
LIMIT: Constant[int] = 2  # deliveries
FAILURES: Constant[int] = 1  # writes that fail
DELETES: Constant[bool] = False  # old records are deleted from the log

deadlock(False)  # a record that is done rests


class Lent(State):
    state: Literal["available", "acquired", "acknowledged", "archived"] = "available"
    deliveries: int = 0
    timer: Literal["off", "running", "out"] = "off"
    is_writing: bool = False  # an acknowledgement, by its holder
    is_deleted: bool = False
    stays_archived: bool = False
    failures: int = 0

    def offered_again(self) -> Literal["available", "archived"]:
        return "available" if self.deliveries < LIMIT else "archived"

    @action
    def fetch(self) -> None:
        require(self.state == "available" and not self.is_writing and not self.is_deleted)
        self.state = "acquired"
        self.deliveries += 1
        self.timer = "running"

    @action
    def acknowledge(self, kind: Literal["accept", "release"]) -> None:
        require(self.state == "acquired" and not self.is_deleted)
        self.state = "acknowledged" if kind == "accept" else self.offered_again()
        self.is_writing = True

    @action
    def written(self) -> None:
        require(self.is_writing)
        self.is_writing = False
        self.timer = "off"

    @action
    def write_fails(self) -> None:
        require(self.is_writing and self.failures < FAILURES)
        self.failures += 1
        self.is_writing = False
        if FIX == "none":
            self.state = "acquired"
        elif self.stays_archived:
            self.timer = "off"
        elif self.timer == "out":
            self.state = "available" if FIX == "pr20286" else self.offered_again()
            self.timer = "off"
        else:
            self.state = "acquired"

    @action
    def time_out(self) -> None:
        require(self.timer == "running")
        self.timer = "out"
        if self.state == "acquired":
            self.state = "archived" if self.is_deleted else self.offered_again()
            self.timer = "off"

    if DELETES:

        @action
        def delete(self) -> None:
            require(not self.is_deleted)
            self.is_deleted = True
            if self.state == "available":
                self.state = "archived"
                self.stays_archived = True


record = Lent()


@always
def locks_end() -> bool:
    """Who holds a record has a timer."""
    return record.state != "acquired" or record.timer == "running"


@always
def archived_stays() -> bool:
    return not record.stays_archived or record.state == "archived"


@always
def within_limit() -> bool:
    """What is offered may be delivered once more."""
    return record.state != "available" or record.is_writing or record.deliveries < LIMIT


@always
def nothing_deleted_is_offered() -> bool:
    return record.state != "available" or record.is_writing or not record.is_deleted


@exists
def accepted() -> bool:
    return record.state == "acknowledged" and not record.is_writing
