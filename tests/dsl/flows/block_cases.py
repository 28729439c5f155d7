"""Small specifications with blocks, in both languages, and how many states they have.

The numbers of states are derived by hand, in the comment above each case.
"""

from pathlib import Path

from statewalk import check
from tests.dsl.flows import pairs

FRONT = (
    pairs.FRONT
    + """action Init:
    a = 0
    b = 0
    c = 0
"""
)
HEAD = """from statewalk import *
deadlock(False)
threads({most})
crashes({crash})
class S(State):
    a: int = 0
    b: int = 0
    c: int = 0
"""
TAIL = "s = S()\n@always\ndef small() -> bool:\n    return s.a < 9\n"

# name: (runs in flight, .fizz text, methods of the embedded spec,
#        distinct states without crashes, with crashes of runs)
CASES = {
    # 000, in flight with 100 and 110, 111 · crashes leave 100 and 110 without a run
    "each statement of a serial action is a step": (
        1,
        """action A:
    require a == 0
    a = 1
    b = 1
    c = 1
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        self.a = 1
        self.b = 1
        self.c = 1
""", 4, 6,
    ),
    # one step takes the guard and the whole of the block; nothing is in flight
    "what is atomic is one step": (
        1,
        """action A:
    atomic:
        require a == 0
        a = 1
        b = 1
""",
        """    @action
    def go(self) -> None:
        with atomic():
            require(self.a == 0)
            self.a = 1
            self.b = 1
""", 2, 2,
    ),
    # 000; one of three in flight (3); two of three (3); all three, behind the block (1); done (1)
    # crashes leave one or two of three without a run (6): the guard lets none start again
    "statements of a parallel block come in any order": (
        1,
        """action A:
    require a + b + c == 0
    parallel:
        a = 1
        b = 1
        c = 1
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a + self.b + self.c == 0)
        with parallel():
            self.a = 1
            self.b = 1
            self.c = 1
""", 9, 15,
    ),
    # 000, and 100, 010 and 220
    "one of the statements of a oneof block happens": (
        1,
        """atomic action A:
    require a + b == 0
    oneof:
        a = 1
        b = 1
        atomic:
            a = 2
            b = 2
""",
        """    @action
    def go(self) -> None:
        require(self.a + self.b == 0)
        with oneof():
            self.a = 1
            self.b = 1
            with atomic():
                self.a = 2
                self.b = 2
""", 4, 4,
    ),
    # 0; in flight at the loop's head with 1, 2 and 3; then c, at once the end of the action
    # crashes: 1, 2 and 3 without a run
    "a loop is left in the step of what follows": (
        1,
        """action A:
    require a == 0
    for i in range(3):
        a = a + 1
    c = 1
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        for i in range(3):
            self.a = self.a + 1
        self.c = 1
""", 5, 8,
    ),
    # 00; in flight with 10, 11 (head again), 21 (goes on with the next turn), 31, 33 (head), and 33
    # crashes: 10, 11, 21, 31 without a run
    "continue goes on with the next turn": (
        1,
        """action A:
    require a == 0
    for i in range(3):
        a = a + 1
        if a == 2:
            continue
        b = a
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        for i in range(3):
            self.a = self.a + 1
            if self.a == 2:
                continue
            self.b = self.a
""", 7, 11,
    ),
    # 0; in flight with 1; it waits until B makes b = 1; then the run ends with a = 2
    # crashes: a = 1 without a run, and B after that
    "a guard in the middle waits": (
        2,
        """action A:
    require a == 0
    a = 1
    require b == 1
    a = 2
atomic action B:
    require a == 1
    b = 1
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        self.a = 1
        require(self.b == 1)
        self.a = 2
    @action
    def other(self) -> None:
        require(self.a == 1)
        self.b = 1
""", 4, 6,
    ),
    # 000, in flight with 100; the choice and b are one step: 110, 120 in flight; 111 and 122
    # crashes: 100, 110, 120 without a run
    "a choice is no step": (
        1,
        """action A:
    require a == 0
    a = 1
    x = oneof [1, 2]
    b = x
    c = x
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        self.a = 1
        x = any_of([1, 2])
        self.b = x
        self.c = x
""", 6, 9,
    ),
    # 000 → in flight with 110 (behind the block) → 210 → 220 (behind the last statement of the
    # serial block) → 221 and the end · crashes: 110, 210, 220 without a run
    "blocks end with a step": (
        1,
        """action A:
    require a == 0
    atomic:
        a = 1
        b = 1
    serial:
        a = 2
        b = 2
    c = 1
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        with atomic():
            self.a = 1
            self.b = 1
        with serial():
            self.a = 2
            self.b = 2
        self.c = 1
""", 5, 8,
    ),
    # 0 → in flight with 1 → after one turn 3, after two 6, after three 6, and the ends of 6 runs,
    # since the turns 0, 1, 2 come in 6 orders, and b tells them apart
    # crashes: b is 0, 1, 2, 3 or 6 without a run; 5 and 7 are also ends
    "turns of a loop in a parallel block come in any order": (
        1,
        """action A:
    require a == 0
    a = 1
    parallel:
        for i in range(3):
            b = b * 3 + i
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        self.a = 1
        with parallel():
            for i in range(3):
                self.b = self.b * 3 + i
""", 23, 28,
    ),
    # 0, in flight with 1, which returns; then in flight with 2 and with b, and the end
    # crashes: 2 without b, and with it, without a run
    "a return ends a run": (
        1,
        """action A:
    require a < 2
    a = a + 1
    if a == 1:
        return
    b = 1
    c = 1
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a < 2)
        self.a = self.a + 1
        if self.a == 1:
            return
        self.b = 1
        self.c = 1
""", 6, 8,
    ),
    # 000 → a = 1 and out of the loop: in flight, then 101
    #     → b = 1 in flight, then a = 2, out of the loop as well: in flight, then 211
    # crashes: 100, 010 (which starts again as 000 does) and 210 without a run
    "break leaves the loop around a parallel block": (
        1,
        """action A:
    require a == 0
    for i in range(3):
        parallel:
            b = 1
            atomic:
                a = 1 + b
                break
    c = 1
""",
        """    @action(flow="serial")
    def go(self) -> None:
        require(self.a == 0)
        for i in range(3):
            with parallel():
                self.b = 1
                with atomic():
                    self.a = 1 + self.b
                    break
        self.c = 1
""", 6, 9,
    ),
}  # fmt: skip


def found(folder: Path, name: str, text: str) -> tuple[int, int, int]:
    """(distinct, generated, depth), the same with both engines."""
    path = folder / name
    path.write_text(text)
    results = [
        check(path, engine=e, liveness=False, symmetry=False) for e in ("reference", "native")
    ]
    assert [r.verdict for r in results] == ["holds", "holds"]
    one, other = [(r.counts.distinct, r.counts.generated, r.counts.depth) for r in results]
    assert one == other
    return one
