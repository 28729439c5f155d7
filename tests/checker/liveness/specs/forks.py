"""Two polite philosophers: with one fork and the other one taken, put it back.

One takes a fork and waits; the other one takes his and puts it back, for ever: one step, then
two. Whoever has a fork alone could eat, but not when the other one has taken his: weak fairness
does not force it. Strong does, since every round passes a state with one fork. Alone, nobody is
in the way.
"""

from statewalk import Constant, Fairness, Role, action, config, eventually, holds, require, violates

EAT: Constant[Fairness] = "weak"
GUESTS: Constant[int] = 2


class Philosopher(Role):
    has: bool = False
    ate: bool = False

    @action(fair="weak")
    def take(self) -> None:
        require(not self.has and not self.ate)
        self.has = True

    @action(fair="weak")
    def put_back(self) -> None:
        require(self.has and any(p.has for p in guests if p is not self))
        self.has = False

    @action(fair=EAT)
    def eat(self) -> None:
        require(self.has and not any(p.has for p in guests if p is not self))
        self.has = False
        self.ate = True


guests = [Philosopher() for _ in range(GUESTS)]


@eventually
def somebody_eats() -> bool:
    return any(p.ate for p in guests)


config("weak", expect=violates(somebody_eats, length=3))
config("strong", expect=holds(), EAT="strong")
config("alone", expect=holds(), GUESTS=1)
