"""A state as a sum of facts: what each slot says of the members that may change places.

A set says one thing per element, a dict per entry, a record per field, a list per place, and so on
inwards, down to what has no order of its own to be taken apart by: an element of a set, a key, a
plain value. Such a *fact* is a place and a value. One that mentions no member counts as it does
without symmetry. One that mentions a single member, however often, is a property of that member.
What mentions several relates them, and is kept as a small program over their colours.

Like fingerprints, facts do not depend on how fields are laid out in slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from statewalk.checker.states.fingerprints import Fingerprints, path_bytes
from statewalk.dsl.model import Model
from statewalk.dsl.state.packing import decode
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    encode,
    freeze,
)
from statewalk.dsl.view import Path

Member = Any  # a role instance, or a string of `symmetric_values`
_PLACE = "@place"  # a reference that a suspended flow holds, see `dsl.flows.kept.keep`


class _Word(str):
    """A part of a place that is no value: the name of a class or field, or a kind of step."""

    __slots__ = ()

    def _canonical(self) -> bytes:
        return encode(str(self))


_IN, _KEY, _FIELD, _KIND, _COUNT, _AT = map(_Word, ("in", "key", ".", "kind", "count", "at"))


@dataclass(frozen=True)
class Slice:
    """The facts that one value of one slot gives.

    ``rest`` mentions nobody; ``single`` has (member, sum of facts about it alone); ``facts``
    relate members.
    """

    rest: Lanes
    single: tuple[tuple[int, Lanes], ...]
    facts: tuple[Fact, ...]


class Facts:
    """Takes values apart, as seen by the members of the given cells. Keeps each fact once."""

    def __init__(self, model: Model, cells: Sequence[Sequence[Member]]) -> None:
        self.model = model
        self.members: tuple[Member, ...] = tuple(m for cell in cells for m in cell)
        self.number: dict[Member, int] = {m: n for n, m in enumerate(self.members)}
        self.cell = tuple(at for at, cell in enumerate(cells) for _ in cell)
        self._mentions: dict[bytes, frozenset[Member]] = {}
        self._facts: dict[bytes, Fact] = {}

    # -- who is mentioned ------------------------------------------------------------------------

    def is_member(self, value: Any) -> bool:
        """Return whether a value is a member itself."""
        return (isinstance(value, Role) or type(value) is str) and value in self.number

    def mentioned(self, value: Any) -> frozenset[Member]:
        """Return the members inside a value."""
        kind = type(value)
        if kind is int or kind is bool or value is None:
            return frozenset()
        if isinstance(value, Role) or kind is str:
            return frozenset((value,)) if value in self.number else frozenset()
        key = encode(value)
        known = self._mentions.get(key)
        if known is None:
            place = place_of(self.model, value)
            parts = _children(value) if place is None else (place, *value[2:])
            known = self._mentions[key] = frozenset().union(*map(self.mentioned, parts))
        return known

    def of_path(self, path: Path) -> Iterator[Any]:
        """Yield the parts of a path that may mention members: its role, its key or element."""
        first, *rest = parts_of_path(self.model, path)
        yield first
        if len(path) == 5:
            yield rest[-1]

    def without_order(self, value: Any) -> Any:
        """Return a value with lists that mention members as bags."""
        return self._lists_as(value, FrozenBag)

    def reordered(self, value: Any, turn: int) -> Any:
        """Return a value with another order of the lists that mention members: the value itself
        where there is none. The orders of two turns together generate all.
        """

        def in_turn(items: list[Any]) -> FrozenList:
            first, *rest = items or [None]
            swapped = [*rest[:1], first, *rest[1:]] if turn % 2 else [*rest, first]
            return FrozenList(swapped if items else items)

        return self._lists_as(value, in_turn)

    def _lists_as(self, value: Any, make: Callable[[list[Any]], Any]) -> Any:
        if value is ABSENT or not self.mentioned(value) or self.is_member(value):
            return value
        kind = type(value)
        if place_of(self.model, value) is not None:
            return value
        if kind is FrozenDict:
            return FrozenDict((k, self._lists_as(v, make)) for k, v in value.items())
        if isinstance(value, Record):
            content = {n: self._lists_as(getattr(value, n), make) for n in fields_of(value)}
            return freeze(kind(**content))
        if kind not in (tuple, FrozenList):
            return value  # what is in a set or bag, or is a key, is compared as it is
        items = [self._lists_as(v, make) for v in value]
        return make(items) if kind is FrozenList else tuple(items)

    # -- taking values apart ---------------------------------------------------------------------

    def slice(self, path: Path, value: Any, fingerprints: Fingerprints) -> Slice:
        """Return what a slot says. Not for one that is absent or hidden."""
        asked = [self.mentioned(part) for part in self.of_path(path)]
        if not any(asked) and not self.mentioned(value):
            return Slice(_split(fingerprints.contribution(path, value), fingerprints), (), ())
        sums: dict[int, Lanes] = {}
        related: list[Fact] = []
        rest = 0
        plain = path_bytes(path)
        todo = [(tuple(parts_of_path(self.model, path)), plain, any(asked), value,
                 fingerprints.declared(path))]  # fmt: skip
        while todo:
            parts, plain, mentions, value, declared = todo.pop()
            if not mentions and not self.mentioned(value):
                rest += fingerprints.leaves(plain, value, declared)
                continue
            inner = None if place_of(self.model, value) is not None else _inner(value, declared)
            if inner is not None:
                for steps, item in inner:
                    more = mentions or any(self.mentioned(step) for step in steps[1:])
                    below = plain + b"".join(map(encode, steps))
                    todo.append(((*parts, *steps), below, more, item, None))
                continue
            fact = self._fact(parts, value)
            if len(fact.members) > 1:
                related.append(fact)
                continue
            for member in fact.members:
                sums[member] = added(sums.get(member, (0, 0)), run(fact, {member: SELF}))
        return Slice(_split(rest, fingerprints), tuple(sums.items()), tuple(related))

    def _fact(self, parts: Sequence[Any], value: Any) -> Fact:
        key = b"".join(encode(part) for part in (*parts, value))
        known = self._facts.get(key)
        if known is None:
            nodes: list[Node] = []
            self._node(nodes, (*parts, value))
            members = {a for node in nodes for a in node.arguments if a >= 0}
            known = Fact(len(self._facts), tuple(sorted(members)), tuple(nodes))
            self._facts[key] = known
        return known

    def _node(self, nodes: list[Node], values: Sequence[Any], count: int = 1) -> int:
        """Append a node for values in order; what stands for it as an argument."""
        arguments: list[int] = []
        text = b"".join(self._shape(value, nodes, arguments) for value in values)
        nodes.append(Node(True, lanes_of(b"o" + encode(count) + text), tuple(arguments)))
        return -len(nodes)

    def _shape(self, value: Any, nodes: list[Node], arguments: list[int]) -> bytes:
        """Return a value with gaps where members stand; ``arguments`` takes who stands there."""
        if self.is_member(value):
            arguments.append(self.number[value])
            return b"m"
        if not self.mentioned(value):
            data = encode(value)
            return b"v" + len(data).to_bytes(4, "big") + data
        if (place := place_of(self.model, value)) is not None:
            return b"p" + b"".join(
                self._shape(part, nodes, arguments) for part in (place, value[1][2], *value[2:])
            )
        kind = type(value)
        if kind is tuple or kind is FrozenList:
            inner = b"".join(self._shape(v, nodes, arguments) for v in value)
            return (b"t" if kind is tuple else b"l") + len(value).to_bytes(4, "big") + inner
        if isinstance(value, Record):
            names = fields_of(value)
            inner = b"".join(self._shape(getattr(value, n), nodes, arguments) for n in names)
            return b"r" + encode((kind.__name__, names)) + inner
        arguments.append(self._unordered(value, nodes))
        return b"n"

    def _unordered(self, value: Any, nodes: list[Node]) -> int:
        """Append nodes for the entries of a set, bag or dict, and one for them all."""
        if type(value) is FrozenDict:
            entries = [self._node(nodes, item) for item in value.items()]
        elif type(value) is FrozenBag:
            entries = [self._node(nodes, (e,), count) for e, count in value.counts()]
        else:
            entries = [self._node(nodes, (e,)) for e in value]
        kind = lanes_of(b"u" + type(value).__name__.encode())
        nodes.append(Node(False, kind, tuple(entries)))
        return -len(nodes)


def _children(value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is FrozenDict:
        for key, item in value.items():
            yield key
            yield item
    elif kind in (tuple, FrozenList, FrozenSet):
        yield from value
    elif kind is FrozenBag:
        yield from (e for e, _ in value.counts())
    elif isinstance(value, Record):
        yield from (getattr(value, n) for n in fields_of(value))


def _inner(value: Any, declared: str | None) -> list[tuple[tuple[Any, ...], Any]] | None:
    """Return the steps to what a container holds, and what is there; None for a plain value.

    Where a field is declared as what it holds, that need not be said again.
    """
    kind = type(value)
    found: list[tuple[tuple[Any, ...], Any]]
    if kind is FrozenSet:
        found = [((_IN, e), True) for e in value]
        return found if declared == "set" else [*found, ((_KIND,), _Word("set"))]
    if kind is FrozenDict:
        found = [((_KEY, k), v) for k, v in value.items()]
        return found if declared == "dict" else [*found, ((_KIND,), _Word("dict"))]
    if kind is FrozenBag:
        return [((_KIND,), _Word("bag")), *(((_COUNT, e), n) for e, n in value.counts())]
    if kind is tuple or kind is FrozenList:
        size = _Word(f"{'tuple' if kind is tuple else 'list'} {len(value)}")
        return [((_KIND,), size), *(((_AT, i), v) for i, v in enumerate(value))]
    if isinstance(value, Record):
        named = ((_Word(n), getattr(value, n)) for n in fields_of(value))
        return [((_KIND,), _Word(kind.__name__)), *(((_FIELD, n), v) for n, v in named)]
    return None


def place_of(model: Model, value: Any) -> Role | None:
    """Return the role in whose state a kept reference points; None for any other value."""
    if type(value) is not tuple or len(value) != 4 or value[0] != _PLACE:
        return None
    return _role(model, value[1])


def parts_of_path(model: Model, path: Path) -> Iterator[Any]:
    """Yield a path as values: its role as one, its key or element as it was."""
    role = _role(model, path)
    if role is not None:
        yield role
    else:
        yield (_Word(path[0]), path[1])
    yield from map(_Word, path[2:4])
    for part in path[4:]:
        yield decode(part, model.classes) if type(part) is bytes else part


def _role(model: Model, path: Path) -> Role | None:
    instances = model.roles.get(path[0])
    if instances is None or not 0 <= path[1] < len(instances):
        return None
    role: Role = instances[path[1]]
    return role


def _split(total: int, fingerprints: Fingerprints) -> Lanes:
    """Return a sum of contributions as two words, the second one 0 where there is one only."""
    total &= fingerprints.mask
    return (total >> 64, total & WORD) if fingerprints.bits == 128 else (total, 0)


Lanes = tuple[int, int]  # two independent words; fingerprints of 64 bits use the first

_PERSON = b"statewalk-sym-1"
WORD = (1 << 64) - 1
# Arbitrary odd numbers that keep uses and lanes apart (digits of the golden ratio, of pi and of e).
LANES = (0x9E3779B97F4A7C15, 0x243F6A8885A308D3)
SELF = (0xB7E151628AED2A6B, 0xBF7158809CF4F3C7)
APART = (0x13198A2E03707345, 0xA4093822299F31D1)
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def lanes_of(data: bytes) -> Lanes:
    """Return two words that tell data apart. Source: BLAKE2b, RFC 7693."""
    digest = blake2b(data, digest_size=16, person=_PERSON).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def mix(key: int) -> int:
    """Spread the bits of a word. Source: finaliser of splitmix64, Steele et al., OOPSLA 2014."""
    key = ((key ^ (key >> 31)) * _MIX_1) & WORD
    key = ((key ^ (key >> 29)) * _MIX_2) & WORD
    return key ^ (key >> 32)


def join(first: int, second: int, lane: int) -> int:
    """Return one word from two, in this order."""
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
    """Return what a fact comes to, as seen by nobody or by one of its members.

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
