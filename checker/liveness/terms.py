"""Terms of formulas in linear temporal logic without a next step: see `dsl.assemble.formulas`.

`split` takes apart what only the end of a behavior decides; of the rest `Automaton` makes nodes
such that a behavior satisfies it if and only if it can be followed along them: each node says which
predicates are true and which false, and what is owed to an `until` must be paid in the end.

Source: Gerth, Peled, Vardi and Wolper, "Simple on-the-fly automatic verification of linear temporal
        logic", PSTV 1995
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from statewalk.dsl.model import Term

TRUE: Term = ("true",)
FALSE: Term = ("not", TRUE)
_TIMED = ("until", "often")


def simplified(term: Term, known: dict[Term, Term]) -> Term:
    """Return a term with some parts replaced, and constants folded."""
    if term in known:
        return known[term]
    op, *given = term
    if op in ("true", "part"):
        return term
    parts = [simplified(part, known) for part in given]
    last = parts[-1]
    match op:
        case "not":
            return last[1] if last[0] == "not" else ("not", last)
        case "often":
            return last if last in (TRUE, FALSE) else ("often", last)
        case "until":
            return last if last in (TRUE, FALSE) or parts[0] == FALSE else ("until", *parts)
        case "implies":
            return simplified(("or", ("not", parts[0]), last), known)
    stops, goes_on = (FALSE, TRUE) if op == "and" else (TRUE, FALSE)
    if stops in parts:
        return stops
    left = [part for part in parts if part != goes_on]
    return (op, *left) if len(left) > 1 else left[0] if left else goes_on


def split(term: Term) -> Iterator[tuple[tuple[tuple[Term, bool], ...], Term]]:
    """Yield (what is true infinitely often and what is not, the rest): one of them is the case.

    No `often` is in a rest; those that are timed themselves are ``throughout(sometime(...))``.
    """
    term = simplified(term, {})
    if term == FALSE:
        return
    found = next(_oftens(term), None)
    if found is None:
        yield (), term
        return
    if _is_timed(found[1]):
        again = ("not", ("until", TRUE, ("not", ("until", TRUE, found[1]))))
        yield from split(simplified(term, {found: again}))
        return
    for value in (True, False):
        for more, rest in split(simplified(term, {found: TRUE if value else FALSE})):
            yield ((found[1], value), *more), rest


def _oftens(term: Term) -> Iterator[Term]:
    """Yield the parts that say `often`, innermost first."""
    for part in term[1:]:
        if isinstance(part, tuple):
            yield from _oftens(part)
    if term[0] == "often":
        yield term


def _is_timed(term: Term) -> bool:
    return term[0] in _TIMED or any(_is_timed(p) for p in term[1:] if isinstance(p, tuple))


def on_lasso(
    term: Term, parts: Sequence[Sequence[bool]], steps: Collection[int], size: int, loop: int
) -> list[bool]:
    """Return in which of the ``size`` states of a lasso a term is true.

    ``parts`` are the predicates, by state; those in ``steps`` by step of the cycle that changes it.
    """
    op, *given = term
    if op == "true":
        return [True] * size
    if op == "part":
        return [*parts[given[0]]]
    if op == "often":
        (part,) = given
        if of := [*filter(steps.__contains__, parts_of(part))]:
            found = on_lasso(part, parts, (), len(parts[of[0]]), 0)
            return [any(found)] * size
        return [any(on_lasso(part, parts, steps, size, loop)[loop:])] * size
    values = [on_lasso(part, parts, steps, size, loop) for part in given]
    match op:
        case "not":
            return [not value for value in values[0]]
        case "and":
            return [*map(all, zip(*values, strict=True))]
        case "or":
            return [*map(any, zip(*values, strict=True))]
        case "implies":
            return [b or not a for a, b in zip(*values, strict=True)]
    first, second = values
    found = [False] * size
    for at in 2 * [*reversed(range(size))]:  # twice round the cycle
        found[at] = second[at] or (first[at] and found[at + 1 if at + 1 < size else loop])
    return found


def parts_of(term: Term) -> Iterator[int]:
    """Yield the predicates that a term is about."""
    if term[0] == "part":
        yield term[1]
    elif len(term) > 1:
        for part in term[1:]:
            yield from parts_of(part)


@dataclass(frozen=True)
class Node:
    """Predicates that are true and false here; terms for the next state, and those owed."""

    true: frozenset[int] = frozenset()
    false: frozenset[int] = frozenset()
    later: frozenset[tuple[Term, bool]] = frozenset()
    owed: frozenset[Term] = frozenset()

    def with_(self, other: Node) -> Node:
        """Return what says both."""
        return Node(
            self.true | other.true, self.false | other.false, self.later | other.later,
            self.owed | other.owed,
        )  # fmt: skip

    def asks_less(self, other: Node) -> bool:
        """Return whether all that this one says is said by another."""
        return (
            self.true <= other.true and self.false <= other.false
            and self.later <= other.later and self.owed <= other.owed
        )  # fmt: skip


@dataclass
class Automaton:
    """The nodes of a term, of which a behavior begins in the first ``initial``; edges by node."""

    term: Term
    nodes: list[Node] = field(default_factory=list)
    goes: list[list[int]] = field(default_factory=list)
    initial: int = 0

    def __post_init__(self) -> None:
        """Follow what is left to say until nothing is new."""
        numbers: dict[Node, int] = {}
        for node in _all_of(frozenset({(self.term, True)})):
            numbers[node] = len(numbers)
        self.initial, self.nodes = len(numbers), list(numbers)
        for node in self.nodes:
            after = _all_of(node.later)
            for one in after:
                if one not in numbers:
                    numbers[one] = len(numbers)
                    self.nodes.append(one)
            self.goes.append([numbers[one] for one in after])

    @property
    def owed(self) -> list[Term]:
        """All that is owed somewhere, in the order of the nodes."""
        return list(dict.fromkeys(t for n in self.nodes for t in sorted(n.owed, key=repr)))


def _all_of(terms: frozenset[tuple[Term, bool]]) -> list[Node]:
    """Return the ways to satisfy all of some terms, or their negations, as nodes."""
    found = [Node()]
    for term, holds in sorted(terms, key=repr):
        found = _both(found, _ways(term, holds))
    return [node for node in found if not any(one != node and one.asks_less(node) for one in found)]


def _both(first: list[Node], second: list[Node]) -> list[Node]:
    both = dict.fromkeys(a.with_(b) for a in first for b in second)
    return [node for node in both if not node.true & node.false]


def _ways(term: Term, holds: bool) -> list[Node]:
    op, *given = term
    match op:
        case "true":
            return [Node()] if holds else []
        case "part":
            own = frozenset(given)
            return [Node(true=own) if holds else Node(false=own)]
        case "not":
            return _ways(given[0], not holds)
        case "until":
            first, second = (_ways(part, holds) for part in given)
            if holds:
                wait = Node(later=frozenset({(term, True)}), owed=frozenset({term}))
                return [*second, *_both(first, [wait])]
            never = Node(later=frozenset({(term, False)}))
            return [*_both(first, second), *_both(second, [never])]
    ways = [_ways(part, holds) for part in given]
    if holds is (op == "and"):
        found = [Node()]
        for each in ways:
            found = _both(found, each)
        return found
    return [node for each in ways for node in each]
