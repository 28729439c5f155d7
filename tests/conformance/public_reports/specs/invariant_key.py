"""A missing key, and a false conjunct (quint-co/quint, issues 1518 and 898)."""

from typing import Literal

from statewalk import Constant, State, action, always, any_of

WHICH: Constant[Literal["key", "and"]] = "key"


class S(State):
    m: dict[int, int] = {1: 1}

    @action
    def put(self, i: int = any_of(range(11))) -> None:
        self.m[i] = i


s = S()

if WHICH == "key":

    @always
    def inv() -> bool:
        return s.m[0] == 0
else:

    @always
    def several() -> bool:
        return all(k == v for k, v in s.m.items()) and len(s.m) < 9 and 7 not in s.m and 1 in s.m
