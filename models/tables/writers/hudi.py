"""Apache Hudi: the constants, the timeline, the file groups, and the writers."""

from typing import Literal

from statewalk import Auxiliary, Constant, Record, Role, State, action, any_of, require
from statewalk.models.tables.effort import aborted

# -- the protocol ----------------------------------------------------------------------------------
CONTROL: Constant[
    Literal[
        "none",
        "optimistic",  # a table lock from the index to the end, and a check under it
        "pessimistic",  # a lock of the file group, from reading it to the end
    ]
] = "optimistic"
PRIMARY_KEY_CHECK: Constant[bool] = True  # a new key that is in another group by now: give up
TIMESTAMPS: Constant[
    Literal[
        "monotonic",  # from one clock (TrueTime-like, required by the format)
        "any",  # up to one more than the greatest on the timeline: clocks differ
        "salted",  # the same, with something unique in the names of files
    ]
] = "monotonic"
PUT_IF_ABSENT: Constant[bool] = False  # the store refuses to overwrite
# -- the deployment --------------------------------------------------------------------------------
WRITERS: Constant[int] = 2
GROUPS: Constant[int] = 1  # file groups
# -- the workload ----------------------------------------------------------------------------------
KEYS: Constant[int] = 1
VALUES: Constant[int] = 2
OPS: Constant[int] = 2

Kind = Literal["upsert", "insert", "update", "delete"]
Phase = Literal[
    "ready", "request", "look up", "read", "write", "index", "check", "commit", "failed"
]
Slice = tuple[int, int, int | None]  # file group, timestamp, salt
Instant = tuple[int, str, int | None]  # timestamp, state, salt


# -- records and shared state ----------------------------------------------------------------------
class Operation(Record):
    kind: Kind
    key: int
    value: int
    time: int


class Merged(Record):
    """A slice as it was read."""

    time: int
    rows: dict[int, int]


class Table(State):
    timeline: dict[Instant, int | None] = {}  # completed instants tell the file group
    slices: dict[Slice, dict[int, int]] = {}
    groups: dict[int, int] = {}  # the index: the file group of each key
    lock: "Writer | None" = None
    group_locks: dict[int, "Writer"] = {}


class History(State):
    done: Auxiliary[dict[int, list[Operation]]] = {key: [] for key in range(KEYS)}
    started: int = 0


table = Table()
history = History()


def completed() -> list[Instant]:
    return [instant for instant in table.timeline if instant[1] == "completed"]


def newest(group: int) -> Instant | None:
    """The completed instant that readers of a group go by."""
    found = [i for i in completed() if table.timeline[i] == group]
    return max(found, key=lambda i: (i[0], i[2] or 0), default=None)


def last_time() -> int:
    return max((instant[0] for instant in table.timeline), default=0)


# -- writers ---------------------------------------------------------------------------------------
class Writer(Role):
    phase: Phase = "ready"
    op: Operation | None = None
    salt: int | None = None
    group: int | None = None
    merged: Merged | None = None

    @action(fair="weak")
    def obtain_timestamp(
        self,
        kind: Literal["upsert", "delete"],
        key: int = any_of(range(KEYS)),
        value: int = any_of(range(VALUES)),
    ) -> None:
        require(self.phase == "ready" and history.started < OPS)
        if TIMESTAMPS == "monotonic":
            time = history.started + 1
        else:
            time = any_of(range(1, last_time() + 2))
        self.op = Operation(kind, key, value, time)
        self.salt = history.started if TIMESTAMPS == "salted" else None
        self.phase = "request"
        history.started += 1

    @action(fair="weak")
    def append_requested(self) -> None:
        require(self.phase == "request")
        if self.put("requested", None):
            self.phase = "look up"

    @action(fair="weak")
    def look_up_key(self) -> None:
        """An upsert is an insert or an update; a new key may go to any file group."""
        require(self.phase == "look up")
        op = self.its_op()
        groups = [table.groups[op.key]] if op.key in table.groups else range(GROUPS)
        self.group = any_of(groups)
        if op.key not in table.groups and op.kind == "delete":
            self.end()
            return
        if op.kind == "upsert":
            op.kind = "update" if op.key in table.groups else "insert"
        self.op = op
        self.phase = "read"

    @action(fair="weak")
    def read_slice(self) -> None:
        """Read what to merge with; with a newer timestamp than its own, it gives up."""
        require(self.phase == "read")
        require(CONTROL != "pessimistic" or self.group not in table.group_locks)
        found = newest(self.its_group())
        slice = (
            None
            if found is None
            else Merged(found[0], table.slices[self.its_group(), found[0], found[2]])
        )
        if slice is not None and slice.time >= self.its_op().time:
            aborted()
            self.end()
        elif self.put("inflight", None):
            self.merged = slice
            self.phase = "write"
            if CONTROL == "pessimistic":
                table.group_locks[self.its_group()] = self

    @action(fair="weak")
    def write_slice(self) -> None:
        require(self.phase == "write")
        op = self.its_op()
        name = (self.its_group(), op.time, self.salt)
        if PUT_IF_ABSENT and name in table.slices:
            self.end()
            return
        rows = {} if self.merged is None else dict(self.merged.rows)
        rows.pop(op.key, None)
        if op.kind != "delete":
            rows[op.key] = op.value
        table.slices[name] = rows
        self.phase = "index"

    @action(fair="weak")
    def update_index(self) -> None:
        """Optimistic writers take the table lock first; for others it means nothing."""
        require(self.phase == "index")
        require(CONTROL != "optimistic" or table.lock is None)
        op = self.its_op()
        known = table.groups.get(op.key, self.group)
        if PRIMARY_KEY_CHECK and op.kind == "insert" and known != self.group:
            aborted()
            self.end()
            return
        table.lock = self
        table.groups[op.key] = self.its_group()
        self.phase = "check" if CONTROL == "optimistic" else "commit"

    @action(fair="weak")
    def check_conflict(self) -> None:
        require(self.phase == "check")
        if overtaken(self):
            aborted()
            self.end()
        else:
            self.phase = "commit"

    @action(fair="weak")
    def append_completed(self) -> None:
        require(self.phase == "commit")
        op = self.its_op()
        if not (PUT_IF_ABSENT and (op.time, "completed", self.salt) in table.timeline):
            table.timeline[op.time, "completed", self.salt] = self.group
            history.done[op.key].append(op)
        self.end()

    @action
    def fail(self) -> None:
        require(self.phase == "commit")
        self.end()
        self.phase = "failed"

    def put(self, state: str, group: int | None) -> bool:
        """Put an instant on the timeline, or give up where the name is taken."""
        instant = (self.its_op().time, state, self.salt)
        if PUT_IF_ABSENT and instant in table.timeline:
            self.end()
            return False
        table.timeline[instant] = group
        return True

    def end(self) -> None:
        """Done, or given up; locks are free again."""
        if CONTROL == "optimistic" and table.lock == self:
            table.lock = None
        if CONTROL == "pessimistic":
            for group in [g for g, holder in table.group_locks.items() if holder == self]:
                del table.group_locks[group]
        self.phase = "ready"
        self.op = None
        self.salt = None
        self.group = None
        self.merged = None

    def its_op(self) -> Operation:
        assert self.op is not None
        return self.op

    def its_group(self) -> int:
        assert self.group is not None
        return self.group


def overtaken(writer: Writer) -> bool:
    """Return whether something was completed in the file group since what was merged."""
    since = 0 if writer.merged is None else writer.merged.time
    return any(i[0] > since and table.timeline[i] == writer.group for i in completed())


writers = [Writer() for _ in range(WRITERS)]
