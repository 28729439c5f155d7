"""A store that keeps versions, sessions that run scripts on it, and what isolation they get."""

from typing import Literal

from statewalk import (
    Constant,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    require,
    terminal,
)
from statewalk.dsl.library.recording import Recorded, did, ended, from_events, judged

# Sessions are separated by ||, the transactions of a session by ;
SCRIPT: Constant[str] = "r x, w y, w z || r y, w x, w z"
VARIANT: Constant[
    Literal[
        "snapshots",  # reads are of a snapshot; a commit fails if a key it writes has changed since
        "unchecked",  # reads are of a snapshot, and a commit never fails
        "read_committed",  # reads are of what is newest, and a commit never fails
        "two_copies",  # as snapshots; sessions have one copy each, commits reach the other later
        "reads_too",  # as snapshots; a commit also fails if a key it has read has changed
    ]
] = "snapshots"
LEVEL: Constant[Literal["si", "serializable"]] = "si"

SESSIONS = [
    [[op.split() for op in transaction.split(",")] for transaction in session.split(";")]
    for session in SCRIPT.split("||")
]
NAMES = [
    [f"{'ABCD'[number]}{n + 1}" for n in range(len(session))]
    for number, session in enumerate(SESSIONS)
]
KEYS = sorted({key for session in SESSIONS for transaction in session for _, key in transaction})
COPIES = 2 if VARIANT == "two_copies" else 1


class Version(Record):
    value: str
    writer: str


class Store(State):
    versions: dict[str, list[Version]] = {key: [] for key in KEYS}
    arrived: list[frozenset[str]] = [frozenset() for _ in range(COPIES)]  # transactions, by copy


class History(State):
    """What clients asked and were told."""

    events: list[tuple[Literal["begin", "commit", "abort", "receive"], str]] = []
    ops: dict[str, list[tuple[Literal["r", "w"], str, str | None]]] = {}


class Session(Role):
    running: bool = False
    begun: int = 0
    snapshot: frozenset[str] = frozenset()  # the transactions that it sees

    def name(self) -> str:
        return NAMES[self.index][self.begun - 1]

    def script(self) -> list[list[str]]:
        return SESSIONS[self.index][self.begun - 1]

    def copy(self) -> int:
        return self.index % COPIES

    @action
    def begin(self) -> None:
        require(not self.running and self.begun < len(SESSIONS[self.index]))
        self.begun += 1
        self.running = True
        self.snapshot = store.arrived[self.copy()]
        history.ops[self.name()] = []
        history.events.append(("begin", self.name()))

    @action
    def read_or_write(self) -> None:
        done = history.ops[self.name()] if self.running else []
        require(self.running and len(done) < len(self.script()))
        kind, key = self.script()[len(done)]
        if kind == "w":
            done.append(("w", key, f"{self.name()}.{len(done) + 1}"))
            return
        own = [value for k, name, value in done if (k, name) == ("w", key)]
        seen = store.arrived[0] if VARIANT == "read_committed" else self.snapshot
        found = [v.value for v in store.versions[key] if v.writer in seen]
        done.append(("r", key, (own or found or [None])[-1]))

    @action
    def commit(self) -> None:
        """Or fail, if the store says so."""
        require(self.running and len(history.ops[self.name()]) == len(self.script()))
        mine = history.ops[self.name()]
        written = sorted({key for kind, key, _ in mine if kind == "w"})
        checked = KEYS if VARIANT == "reads_too" else written
        if VARIANT in ("unchecked", "read_committed"):
            checked = []
        touched = {key for _, key, _ in mine}
        if any(self.has_changed(key) for key in checked if key in touched and written):
            history.events.append(("abort", self.name()))
        else:
            for key in written:
                value = [value for kind, name, value in mine if (kind, name) == ("w", key)][-1]
                store.versions[key].append(Version(str(value), self.name()))
            if written:
                store.arrived[self.copy()] |= {self.name()}
            history.events.append(("commit", self.name()))
        self.running = False
        self.snapshot = frozenset()

    def has_changed(self, key: str) -> bool:
        return any(v.writer not in self.snapshot for v in store.versions[key])

    if VARIANT == "two_copies":

        @action
        def receive(self) -> None:
            """What was committed at the other copy arrives here, in any order."""
            require(self.index < COPIES)
            name = any_of(store.arrived[1 - self.copy()] - store.arrived[self.copy()])
            store.arrived[self.copy()] |= {name}
            history.events.append(("receive", name))


store = Store()
history = History()
sessions = [Session() for _ in SESSIONS]


def anomaly() -> str:
    """Why what the clients saw is not of the level; empty if it is."""
    events = history.events[:]
    work = [did(name[0], name, history.ops[name][:]) for name in ended(events)]
    return judged(events, tuple(work), LEVEL).anomaly


@always
def keeps_the_level() -> bool:
    return anomaly() == ""


def recorded_history() -> tuple[Recorded, ...]:
    """For `statewalk history from-trace`: what the clients could have written down."""
    names = [name for session in NAMES for name in session if name in history.ops]
    return from_events(history.events[:], [did(n[0], n, history.ops[n][:]) for n in names])


@terminal
def all_have_ended() -> bool:
    return all(not s.running and s.begun == len(SESSIONS[s.index]) for s in sessions)
