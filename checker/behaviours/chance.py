"""Random numbers of a walk: a stream of its own, from the seed and the number of the walk.

So a walk does the same whatever was walked before it, or beside it. The compiled walks draw the
same numbers (`checker.native.kernels.random_walks`).
"""

from __future__ import annotations

_WORD = (1 << 64) - 1
_GAP = 0x9E3779B97F4A7C15


class Chance:
    """The stream of a walk; ``at`` says how far it is.

    Source: splitmix64, Steele et al., OOPSLA 2014, with the shifts of `walking.scramble`
    """

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at

    @classmethod
    def of_walk(cls, seed: int, walk: int) -> Chance:
        """The stream of the n-th walk."""
        return cls(_scrambled((_scrambled((seed + _GAP) & _WORD) + walk * _GAP) & _WORD))

    def below(self, n: int) -> int:
        """A number below n (at most 2³²), each with equal chance but for a part in 2³² / n."""
        self.at = (self.at + _GAP) & _WORD
        return ((_scrambled(self.at) >> 32) * n) >> 32


def _scrambled(word: int) -> int:
    word = ((word ^ (word >> 31)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 29)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 32)
