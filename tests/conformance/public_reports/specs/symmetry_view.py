"""Symmetric roles named by history fields (tlaplus/tlaplus, issues 206 and 570)."""

from statewalk import Auxiliary, Constant, Role, State, action, always, require

N: Constant[int] = 3


class Cpu(Role, symmetric=True):
    mode: int = 0

    @action
    def go(self) -> None:
        require(sum(c.mode == 1 for c in cpus) < 2 or self.mode == 1)
        self.mode = (self.mode + 1) % 3
        log.cmd = self
        log.trail.append(self)


class Log(State):
    cmd: Auxiliary[Cpu | None] = None
    trail: Auxiliary[list[Cpu]] = []


cpus = [Cpu() for _ in range(N)]
log = Log()


@always
def two_at_most() -> bool:
    return sum(c.mode == 1 for c in cpus) <= 2
