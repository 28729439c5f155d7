"""A lock-free stack whose nodes are used again: A-B-A.

The bug: a thread reads the head and its next node; others pop both, and push the head again. Then
its compare-and-swap, which sees the same head, puts a node that is in use onto the stack.
"""

from statewalk import Constant, Role, State, action, always, any_of, deadlock, require

THREADS: Constant[int] = 5
NODES: Constant[int] = 6
POPS: Constant[int] = 3


class Memory(State):
    head: int = NODES - 1
    next: list[int] = [node - 1 for node in range(NODES)]
    owner: list[int] = [-1] * NODES  # the thread that popped it


class Thread(Role):
    head: int = -1
    next: int = -1
    at: int = 0
    pops: int = 0

    @action
    def read_head(self) -> None:
        require(self.at == 0 and memory.head >= 0 and self.pops < POPS)
        self.head, self.at = memory.head, 1

    @action
    def read_next(self) -> None:
        require(self.at == 1)
        self.next, self.at = memory.next[self.head], 2

    @action
    def swap(self) -> None:
        require(self.at == 2)
        if memory.head == self.head:
            memory.head, memory.owner[self.head] = self.next, self.index
            self.pops += 1
        self.at = 0

    @action
    def push(self) -> None:
        require(self.at == 0)
        node = any_of([n for n in range(NODES) if memory.owner[n] == self.index])
        memory.next[node], memory.head, memory.owner[node] = memory.head, node, -1


memory = Memory()
stack_users = [Thread() for _ in range(THREADS)]
deadlock(False)


@always
def the_head_belongs_to_nobody() -> bool:
    return memory.head < 0 or memory.owner[memory.head] < 0
