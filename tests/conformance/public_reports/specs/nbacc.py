"""Non-blocking atomic commitment, nbacc_ray97 with two processes (tlaplus/Examples)."""

from itertools import combinations

from statewalk import Constant, Role, State, action, always, any_of, init, maybe, require

N: Constant[int] = 2


class Net(State):
    sent: frozenset[tuple[int, str]] = frozenset()


def subsets(s):
    s = sorted(s)
    return [frozenset(c) for n in range(len(s) + 1) for c in combinations(s, n)]


class P(Role):
    pc: str = "YES"
    rcvd: frozenset[tuple[int, str]] = frozenset()
    fd: bool = False

    @action
    def step(self) -> None:
        before = self.rcvd
        self.rcvd = before | any_of(subsets(net.sent - before))
        self.fd = maybe()
        way = any_of(("yes", "no", "crash", "suspect", "heard no", "all yes", "nothing"))
        if way == "yes":
            require(self.pc == "YES")
            self.pc = "SENT"
            net.sent = net.sent | {(self.index, "YES")}
        elif way == "no":
            require(self.pc == "NO")
            self.pc = "SENT"
            net.sent = net.sent | {(self.index, "NO")}
        elif way == "crash":
            require(self.pc != "CRASH")
            self.pc = "CRASH"
        elif way == "suspect":
            require(self.pc == "SENT" and self.fd)
            self.pc = "ABORT"
        elif way == "heard no":
            require(self.pc == "SENT")
            require(any(m == "NO" for _, m in before))
            self.pc = "ABORT"
        elif way == "all yes":
            require(self.pc == "SENT" and not self.fd)
            require(all((p.index, "YES") in self.rcvd for p in ps))
            self.pc = "COMMIT"


net = Net()
ps = [P() for _ in range(N)]


@init
def start() -> None:
    for p in ps:
        p.pc = any_of(("YES", "NO"))
        p.fd = maybe()


@always
def type_ok() -> bool:
    return all(p.rcvd <= net.sent for p in ps)
