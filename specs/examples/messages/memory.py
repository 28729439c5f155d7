"""A memory that serves a request of each processor at a time: what a cache has to look like."""

from typing import Literal

from statewalk import (
    Constant,
    Record,
    Role,
    State,
    action,
    any_of,
    config,
    holds,
    init,
    old,
    on_step,
    require,
)

PROCESSORS: Constant[int] = 2
ADDRESSES: Constant[int] = 3

VALUES = ("v", "w")


class Read(Record):
    address: int


class Write(Record):
    address: int
    value: str


class Processor(Role):
    stage: Literal["ready", "busy", "done"] = "ready"
    register: Read | Write | str | None = None

    @action
    def ask(self) -> None:
        require(self.stage == "ready")
        address = any_of(range(ADDRESSES))
        value = any_of((None, *VALUES))
        self.register = Read(address) if value is None else Write(address, value)
        self.stage = "busy"
        memory.line = (self, self.register)

    @action
    def serve(self) -> None:
        require(self.stage == "busy")
        match self.register:
            case Read(address):
                self.register = memory.values[address]
            case Write(address, value):
                memory.values[address] = value
                self.register = None
        self.stage = "done"

    @action
    def answer(self) -> None:
        require(self.stage == "done")
        assert not isinstance(self.register, Read | Write)
        memory.line = (self, self.register)
        self.stage = "ready"


class Memory(State):
    values: list[str] = ["v"] * ADDRESSES
    line: tuple[Processor, Read | Write | str | None]  # what was last said, and by or to whom


processors = [Processor() for _ in range(PROCESSORS)]
memory = Memory(line=(processors[0], None))


@init
def any_values() -> None:
    for address in range(ADDRESSES):
        memory.values[address] = any_of(VALUES)


@on_step
def writes_one_address() -> bool:
    before = old(list(memory.values))
    return sum(a != b for a, b in zip(before, memory.values, strict=True)) <= 1


config("three-addresses", expect=holds(distinct=4408, generated=21400, depth=10))
