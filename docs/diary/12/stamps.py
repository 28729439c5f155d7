"""Transactions stamped in two places, applied in many: does everybody use one order?"""

from typing import Literal

from statewalk import Constant, Role, State, action, always, any_of, require, terminal

# Two transactions that meet at two shards; or three, of which each two meet at one shard.
WHO: Constant[Literal["two", "three"]] = "two"
ORACLE: Constant[
    Literal[
        "none",  # each shard takes what is concurrent as it comes
        "pairs",  # who asks first decides for all, of these two transactions
        "order",  # the same, but what follows from other decisions is decided
    ]
] = "none"

SHARDS = (("A", "B"), ("A", "B")) if WHO == "two" else (("A", "B"), ("B", "C"), ("A", "C"))


class Oracle(State):
    decided: frozenset[tuple[str, str]] = frozenset()

    def may_be(self, first: str, second: str) -> bool:
        """Whether nothing says that the second comes first."""
        if ORACLE == "none":
            return True
        known = closed(self.decided) if ORACLE == "order" else self.decided
        return (second, first) not in known


def closed(before: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """What follows from an order of pairs; of three transactions, one step is enough."""
    return before | {(a, d) for a, b in before for c, d in before if b == c}


class Shard(Role):
    applied: list[str] = []

    @action
    def apply(self) -> None:
        """Both transactions have arrived. One is applied, then the other."""
        require(not self.applied)
        one, other = SHARDS[self.index]
        first, second = any_of([(one, other), (other, one)])
        require(oracle.may_be(first, second))
        oracle.decided |= {(first, second)}
        self.applied = [first, second]


oracle = Oracle()
shards = [Shard() for _ in SHARDS]


@always
def one_order() -> bool:
    """No transaction is before itself, over all shards."""
    applied = frozenset((s.applied[0], s.applied[1]) for s in shards if s.applied)
    return all(a != b for a, b in closed(closed(applied)))


@terminal
def all_applied() -> bool:
    return all(shard.applied for shard in shards)
