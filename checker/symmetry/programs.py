"""What facts come to under given colours of the members: two words, and how they are mixed.

Everything here has a compiled twin in `checker.native.kernels.orbit_kernels`, which gives the same
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

Lanes = tuple[int, int]  # two independent words; fingerprints of 64 bits use the first

_PERSON = b"statewalk-sym-1"
WORD = (1 << 64) - 1
# Arbitrary odd numbers that keep uses and lanes apart (digits of the golden ratio, of pi and of e).
LANES = (0x9E3779B97F4A7C15, 0x243F6A8885A308D3)
SELF = (0xB7E151628AED2A6B, 0xBF7158809CF4F3C7)
APART = (0x13198A2E03707345, 0xA4093822299F31D1)
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def lanes_of(data: bytes) -> Lanes:
    """Two words that tell data apart. Source: BLAKE2b, RFC 7693."""
    digest = blake2b(data, digest_size=16, person=_PERSON).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def mix(key: int) -> int:
    """Spread the bits of a word. Source: finaliser of splitmix64, Steele et al., OOPSLA 2014."""
    key = ((key ^ (key >> 31)) * _MIX_1) & WORD
    key = ((key ^ (key >> 29)) * _MIX_2) & WORD
    return key ^ (key >> 32)


def join(first: int, second: int, lane: int) -> int:
    """One word from two, in this order."""
    return mix(mix((first + LANES[lane]) & WORD) ^ second)


def added(one: Lanes, other: Lanes) -> Lanes:
    """Sums of both words."""
    return (one[0] + other[0]) & WORD, (one[1] + other[1]) & WORD


@dataclass(frozen=True)
class Node:
    """A part of a fact: what it says apart from members, and who stands in the gaps.

    An argument is a member's number, or -1 - k for what node k gave. In a node that is not
    ``ordered`` the arguments have no order.
    """

    ordered: bool
    digest: Lanes
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class Fact:
    """Something that is said of ``members``; the last node is the whole."""

    number: int
    members: tuple[int, ...]
    nodes: tuple[Node, ...]


def run(fact: Fact, colours: Sequence[Lanes] | Mapping[int, Lanes], me: int = -1) -> Lanes:
    """What a fact comes to, as seen by nobody or by one of its members.

    Compiled twin:  statewalk.checker.native.kernels.orbit_kernels._run
    """
    values: list[Lanes] = []
    for node in fact.nodes:
        given = [
            values[-1 - a] if a < 0 else SELF if a == me else colours[a] for a in node.arguments
        ]
        word: list[int] = []
        for lane in (0, 1):
            total = node.digest[lane]
            if node.ordered:
                for one in given:
                    total = join(total, one[lane], lane)
            else:
                total = join(total, sum(mix(one[lane]) for one in given) & WORD, lane)
            word.append(total)
        values.append((word[0], word[1]))
    return values[-1]
