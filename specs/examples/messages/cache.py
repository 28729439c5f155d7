"""Processors with caches that write through to a memory, by one queue.

`memory.py` is what it has to look like to processors.
"""

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
    holds,
    init,
    require,
)

PROCESSORS: Constant[int] = 2
ADDRESSES: Constant[int] = 1
LENGTH: Constant[int] = 1  # of the queue

VALUES = ("v", "w")


class Read(Record):
    address: int


class Write(Record):
    address: int
    value: str


class Processor(Role):
    stage: Literal["ready", "busy", "waiting", "done"] = "ready"
    register: Read | Write | str | None = None
    cache: list[str | None] = [None] * ADDRESSES

    @action
    def ask(self) -> None:
        require(self.stage == "ready")
        address = any_of(range(ADDRESSES))
        value = any_of((None, *VALUES))
        self.register = Read(address) if value is None else Write(address, value)
        self.stage = "busy"
        memory.line = (self, self.register)

    @action
    def answer(self) -> None:
        require(self.stage == "done")
        assert not isinstance(self.register, Read | Write)
        memory.line = (self, self.register)
        self.stage = "ready"

    @action
    def miss(self) -> None:
        require(self.stage == "busy" and len(memory.queue) < LENGTH)
        request = self.register
        require(isinstance(request, Read))
        assert isinstance(request, Read)
        require(self.cache[request.address] is None)
        memory.queue.append((self, request))
        self.stage = "waiting"

    @action
    def read(self) -> None:
        require(self.stage in ("busy", "waiting"))
        request = self.register
        require(isinstance(request, Read))
        assert isinstance(request, Read)
        require(self.cache[request.address] is not None)
        self.register = self.cache[request.address]
        self.stage = "done"

    @action
    def write(self) -> None:
        require(self.stage == "busy" and len(memory.queue) < LENGTH)
        request = self.register
        require(isinstance(request, Write))
        assert isinstance(request, Write)
        for processor in processors:
            if processor == self or processor.cache[request.address] is not None:
                processor.cache[request.address] = request.value
        memory.queue.append((self, request))
        self.register = None
        self.stage = "done"

    @action
    def evict(self, address: int = any_of(range(ADDRESSES))) -> None:
        request = self.register
        waits_for_it = isinstance(request, Read) and request.address == address
        require(self.stage != "waiting" or not waits_for_it)
        self.cache[address] = None


class Memory(State):
    values: list[str] = ["v"] * ADDRESSES
    queue: list[tuple[Processor, Read | Write]] = []
    line: tuple[Processor, Read | Write | str | None]  # what was last said, and by or to whom

    @action
    def serve(self) -> None:
        """The first of the queue: a write reaches the memory, a read its cache."""
        require(self.queue)
        processor, request = self.queue[0]
        if isinstance(request, Write):
            self.values[request.address] = request.value
        else:
            processor.cache[request.address] = self.seen(request.address)
        self.queue.pop(0)

    def seen(self, address: int) -> str:
        """Return what is at an address when all that is in the queue is written."""
        written = [r.value for _, r in self.queue if isinstance(r, Write) and r.address == address]
        return written[-1] if written else self.values[address]


processors = [Processor() for _ in range(PROCESSORS)]
memory = Memory(line=(processors[0], None))


@init
def any_values() -> None:
    for address in range(ADDRESSES):
        memory.values[address] = any_of(VALUES)


@always
def caches_agree() -> bool:
    return all(
        len({p.cache[a] for p in processors if p.cache[a] is not None}) <= 1
        for a in range(ADDRESSES)
    )


@always
def caches_agree_with_the_memory() -> bool:
    return all(p.cache[a] in (None, memory.seen(a)) for p in processors for a in range(ADDRESSES))


config("small", expect=holds(distinct=5196, generated=28170, depth=18))
