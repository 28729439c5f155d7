"""A disk scheduler with three clients (nimble-code/Spin, LTL/diskhead)."""

from typing import Literal

from statewalk import Constant, State, action, any_of, leads_to, require

FAIR: Constant[Literal["weak", "none"]] = "weak"


class Disk(State):
    client_busy: list[bool] = [False] * 3
    interrupt: bool = False
    queue: list[int] = []
    busy: int = 0
    at: str = "top"
    cur: int = 0

    @action(fair=FAIR)
    def step(self) -> None:
        match self.at:
            case "top":
                way = any_of(("serve 0", "serve 1", "serve 2", "handle"))
                if way == "handle":
                    require(self.interrupt)
                    self.at = "h1"
                else:
                    x = int(way[-1])
                    require(not self.client_busy[x])
                    self.at = f"s1 {x}"
            case "s1 0" | "s1 1" | "s1 2":
                x = int(self.at[-1])
                self.client_busy[x] = True
                self.at = f"s2 {x}"
            case "s2 0" | "s2 1" | "s2 2":
                self.cur = int(self.at[-1]) + 1
                self.at = "s3"
            case "s3":
                self.at = "io1" if not self.busy else "s4"
            case "s4":
                require(len(self.queue) < 3)
                self.queue.append(self.cur)
                self.at = "top"
            case "io1":
                self.busy = self.cur
                self.at = "io2"
            case "io2":
                assert not self.interrupt
                self.at = "io3"
            case "io3":
                self.interrupt = True
                self.at = "top"
            case "h1":
                self.interrupt = False
                self.at = "h2"
            case "h2":
                self.client_busy[self.busy - 1] = False
                self.at = "h3"
            case "h3":
                if self.queue:
                    self.cur = self.queue.pop(0)
                    self.at = "io1"
                else:
                    self.at = "h4"
            case "h4":
                self.busy = 0
                self.at = "top"


disk = Disk()


def busy_1() -> bool:
    return disk.client_busy[1]


def not_busy_1() -> bool:
    return not disk.client_busy[1]


p = leads_to(busy_1, not_busy_1)
