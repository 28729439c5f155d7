"""FiniteMonotonic/MCDistributedReplicatedLog (tlaplus/Examples)."""

from statewalk import Constant, Role, action, always, any_of, eventually, require

N: Constant[int] = 3
LAG: Constant[int] = 3


class Server(Role):
    log: tuple[str, ...] = ()
    grew: bool = False

    @action(fair="weak")
    def copy(self) -> None:
        j = any_of(servers)
        require(len(j.log) > len(self.log))
        lag = len(j.log) - len(self.log)
        more = any_of(range(lag - 1, lag + 1))
        self.extend_by(j.log[len(self.log) : len(self.log) + more])

    @action(fair="weak")
    def extend(self) -> None:
        require(all(len(j.log) <= len(self.log) for j in servers))
        room = LAG - max(len(self.log) - len(j.log) for j in servers)
        self.extend_by(("v",) * any_of(range(room + 1)))

    def extend_by(self, more: tuple[str, ...]) -> None:
        for s in servers:
            s.grew = False
        self.log += more
        self.grew = bool(more)
        least = min(len(s.log) for s in servers)
        for s in servers:
            s.log = s.log[least:]


servers = [Server() for _ in range(N)]


@always
def bounded_lag(a: Server, b: Server) -> bool:
    return abs(len(a.log) - len(b.log)) <= LAG


@always
@eventually
def in_sync(a: Server, b: Server) -> bool:
    return a.log == b.log


@always
@eventually
def extending(a: Server) -> bool:
    return a.grew
