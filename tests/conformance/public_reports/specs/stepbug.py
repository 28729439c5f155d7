"""A guard that is false after a part of the step (after bcastFolklore, tlaplus/Examples)."""

from itertools import combinations

from statewalk import Constant, State, action, always, any_of, init, maybe, require

N: Constant[int] = 3
F: Constant[int] = 1
PROCS = range(1, N + 1)


class S(State):
    corr: set[int] = set(PROCS)
    crashed: int = 0
    pc: dict[int, str] = dict.fromkeys(PROCS, "")

    @action
    def step(self, p: int = any_of(PROCS)) -> None:
        require(p in self.corr and self.pc[p] != "CR")
        any_of([c for n in range(N + 1) for c in combinations(PROCS, n)])
        if maybe():
            require(self.crashed < F)
            self.crashed += 1
            self.pc[p] = "CR"
            self.corr.remove(p)


s = S()


@init
def start() -> None:
    for p in PROCS:
        s.pc[p] = any_of(("M", ""))


@always
def some_are_correct() -> bool:
    return len(s.corr) >= N - F
