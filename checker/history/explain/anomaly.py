"""The explanation of a rejected history: the anomaly's name, the cycle, and why no other
order helps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product

from statewalk.checker.history.clock import reached
from statewalk.checker.history.data import INITIAL, RANGE, History
from statewalk.checker.history.decide.check import Verdict
from statewalk.checker.history.decide.findings import Finding
from statewalk.checker.history.decide.scan import Facts, scan
from statewalk.checker.history.explain.cited import cited
from statewalk.checker.history.explain.prove import Link, Order, Proof, Small, prove, small
from statewalk.checker.history.explain.weak_prove import (
    closure_of,
    rejected_core,
    weakest_refuted,
)
from statewalk.dsl.library import isolation
from statewalk.dsl.library.isolation import Edge, Transaction, forbidden
from statewalk.dsl.library.levels import LEVELS, IsolationLevel

_ORDERS_TRIED = 2000
_EFFORT = 800_000  # tried orders times the cube of the transactions, roughly
_SEVERITY = (
    ("G0", "G1c"),
    ("fractured-read", "read-skew", "causality-violation", "lost-update"),
    ("long-fork", "G-nonadjacent", "stale-read"),
    ("write-skew", "read-only-anomaly", "G2-item"),
)
# What a level is refuted by that those below it are not; the general name is first.
_NAMES = {
    "serializable": ("G2-item", "write-skew", "read-only-anomaly"),
    "si": ("G-nonadjacent",),
}
_FINDINGS = (
    "G1a",
    "G1b",
    "garbage-read",
    "future-read",
    "internal",
    "incompatible-order",
    "non-repeatable",
)
RULES = {
    1: "the snapshot of the first was taken before the second committed, and they may not overlap",
    2: "the value read is older than the other's write",
    3: "the reader saw the second's version although it had the first's in its snapshot",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of the cycle: places of transactions in the history, its kind, and how we know.

    `how` is observed, derived (rule says by which) or assumed (then either order fails);
    `cites` are the two operations, -1 where an edge has none; `text` says it in words.
    """

    before: int
    after: int
    kind: str
    key: str
    how: str
    rule: int
    cites: tuple[int, int]
    text: str


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why `before` precedes `after` in the versions of `key`: the effect of the
    other order.
    """

    before: int
    after: int
    key: str
    rule: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A violation of a level, told with as few transactions as possible.

    `refutes` is the weakest level that it rules out; `minimal` is false when
    the search for fewer was bounded
    before every transaction was tried; `operations` are those worth showing, by transaction.
    """

    level: str
    name: str
    refutes: str
    transactions: tuple[int, ...]
    operations: dict[int, tuple[int, ...]]
    cycle: tuple[Step, ...]
    reasons: tuple[Reason, ...]
    minimal: bool
    text: str


def explain(history: History, verdict: Verdict, clock_error: float = 0.0) -> Explanation:
    """Return the explanation of a verdict that does not hold: name and cycle are of the
    weakest level.

    Raises:  ValueError when it holds.
    """
    if verdict.findings:
        return _of_finding(verdict)
    if verdict.holds or verdict.graph is None:
        raise ValueError(f"the history is {verdict.level.name}; there is nothing to explain")
    level = verdict.level
    facts = scan(history, again=True)[0]  # the weakest level that is refuted may ask for it
    few, proven = rejected_core(history, facts, level, verdict.graph, verdict.used, clock_error)
    refuted = LEVELS[weakest_refuted(history, few, level, clock_error)]
    return Explainer(history, few, refuted, clock_error).explanation(level.name, proven)


def _of_finding(verdict: Verdict) -> Explanation:
    finding: Finding = min(verdict.findings, key=lambda f: _FINDINGS.index(f.name))
    shown: dict[int, tuple[int, ...]] = {}
    for t, op in finding.operations:
        shown[t] = (*shown.get(t, ()), op)
    return Explanation(
        verdict.level.name,
        finding.name,
        finding.refutes,
        tuple(sorted(shown)),
        shown,
        (),
        (),
        True,
        finding.text,
    )


class Explainer:
    """Names and explains one minimal set of facts."""

    def __init__(
        self, history: History, facts: Facts, level: IsolationLevel, clock_error: float
    ) -> None:
        """Prepare the small graph; `facts` must have no order at the level."""
        self.history, self.facts, self.level = history, facts, level
        self.clock_error = clock_error
        self.small: Small = small(history, facts, level, clock_error)
        self.closure = closure_of(level, facts, self.small)
        self.plain = self.closure(self.small, plain=True)

    def explanation(self, level: str, proven: bool) -> Explanation:
        """Return the whole explanation of a violation of `level`, by that of the weakest level."""
        verdict = self._mildest()
        premises = {e: self._premise(e) for e in verdict.cycle}
        status = {p: self._status(p) for p in premises.values() if p is not None}
        steps = tuple(self._step(e, *_known(status, premises[e])) for e in verdict.cycle)
        reasons = tuple(
            self._reason(p, rule) for p, (how, rule) in status.items() if how != "observed"
        )
        members = tuple(int(t) for t in self.facts.members)
        return Explanation(
            level,
            fitting(verdict.anomaly, self.level.name),
            self.level.name,
            members,
            self._shown(),
            steps,
            reasons,
            proven,
            "",
        )

    def _transactions(self) -> list[Transaction]:
        h, f = self.history, self.facts
        reads: list[list[isolation.Read]] = [[] for _ in f.members]
        writes: list[list[int]] = [[] for _ in f.members]
        for r, k, i, op in f.reads.tolist():
            source = isolation.INITIAL if i == INITIAL else i
            reads[r].append(isolation.Read(k, source, moment=op))
        for t, k in f.writes.tolist():
            writes[t].append(k)

        begin = h.begin[f.members]
        end = reached(h.end[f.members], self.clock_error, begin, h.exact)

        def time(x: float) -> float | None:
            return None if x != x else float(x)  # noqa: PLR0124 - nan is not itself

        return [
            Transaction(
                x,
                tuple(reads[x]),
                tuple(writes[x]),
                int(h.session[t]),
                x,
                time(begin[x]),  # pyright: ignore[reportArgumentType]
                time(end[x]) if h.status[t] == 0 else None,  # pyright: ignore[reportArgumentType]
            )
            for x, t in enumerate(f.members.tolist())
        ]

    def _mildest(self) -> isolation.Verdict:
        """Return the verdict under the version orders that excuse the most; the shortest of
        those.
        """
        transactions = self._transactions()
        known = [
            (i, j, k)
            for x, y, k in self.small.pairs()
            for i, j in ((x, y), (y, x))
            if self._surely(i, j, k)
        ]
        keys = list(self.small.writers)
        few = max(20, _EFFORT // len(transactions) ** 3)
        tried = min(_ORDERS_TRIED, few)  # of all keys together, so no more are needed of one
        orders = []
        for k in keys:
            writers, before = self.small.writers[k], {(i, j) for i, j, key in known if key == k}
            found = [*islice(isolation.each_version_order(writers, before), tried)]
            orders.append(found or [tuple(writers)])
        verdicts = [
            isolation.judge(
                transactions,
                dict(zip(keys, choice, strict=True)),
                self.level.name,
            )
            for choice in islice(product(*orders), tried)
        ]
        broken = [v for v in verdicts if not v.holds]
        if not broken:  # lists were read in orders that contradict each other
            seen = [Edge(x.before, x.after, x.kind, x.key) for x in self.small.fixed]
            cycle = forbidden([t.name for t in transactions], seen, self.level.rule)[0]
            name = isolation.classify(cycle, transactions, set())
            return isolation.Verdict(False, name, self.level.name, cycle)
        return min(broken, key=lambda v: (v.refutes != self.level.name, _mildness(v)))

    def _surely(self, i: int, j: int, k: int) -> bool:
        """Return whether i's version of k is observed to precede j's, all cycles apart."""
        if not self.plain.cyclic():
            return self.plain.before(i, j)
        return any(
            (x.before, x.after) == (i, j) and (x.kind, x.key) == ("ww", k) for x in self.small.fixed
        )

    def _premise(self, edge: Edge) -> Order | None:
        """Return the version order that an edge stands on: (i, j, key), None when it needs none."""
        k = edge.key
        if edge.kind == "ww":
            return self._order(edge.before, edge.after, k)
        if edge.kind != "rw":
            return None
        for r, key, i in self.small.reads:
            if (r, key) == (edge.before, k) and i not in (INITIAL, edge.after):
                return self._order(i, edge.after, k)
        return None

    @staticmethod
    def _order(i: object, j: object, k: object) -> Order:
        assert isinstance(i, int)
        assert isinstance(j, int)
        assert isinstance(k, int)
        return i, j, k

    def _status(self, order: Order) -> tuple[str, int]:
        """Return how a version order is known: observed, derived by a rule, or only assumed."""
        i, j, k = order
        if not self.plain.cyclic() and self.plain.before(i, j):
            return "observed", 0
        if any(
            (x.before, x.after) == (i, j) and x.kind in ("wr", "ww", "so", "rt")
            for x in self.small.fixed
        ):
            return "observed", 0
        other = self.closure(self.small, ((j, i, k),), plain=True)
        this = self.closure(self.small, ((i, j, k),), plain=True)
        if not other.cyclic() or this.cyclic():
            return "assumed", 0
        uses_ww = any(x.kind == "ww" and x.rule < 0 for x in other.cycle())
        return "derived", 1 if uses_ww else 3

    def _reason(self, order: Order, rule: int) -> Reason:
        i, j, k = order
        proof = prove(self.small, ((j, i, k),), self.closure)
        lines = tuple(self._tell(proof, 0))
        return Reason(self._at(i), self._at(j), str(self.history.keys[k]), rule, lines)

    def _tell(self, proof: Proof, depth: int) -> list[str]:
        """Return a proof as lines: one per link, cases indented."""
        pad = "  " * depth
        if proof.pair is None:
            lines = []
            for link in proof.cycle:
                lines.append(pad + self._link(link))
                if link.derived:
                    lines += [
                        f"{pad}  by rule {link.rule}, from {self._link(x)}" for x in link.because
                    ]
            return lines
        i, j, k = proof.pair
        lines = []
        for (a, b), case in zip(((i, j), (j, i)), proof.cases, strict=True):
            lines.append(
                f"{pad}if {self._name(a)} wrote {self.history.keys[k]} before {self._name(b)}:"
            )
            lines += self._tell(case, depth + 1)
        return lines

    def _link(self, link: Link) -> str:
        edge = Edge(link.before, link.after, link.kind, link.key)
        step = self._step(edge, "observed", 0)
        how = {-1: " (in this case)"}.get(link.rule, " (derived)" if link.derived else "")
        key = f" {step.key}" if step.key else ""
        return (
            f"{self._name(link.before)} -{link.kind}{key}-> {self._name(link.after)}"
            f"{how}: {step.text}"
        )

    def _at(self, x: int) -> int:
        return int(self.facts.members[x])

    def _name(self, x: int) -> str:
        return self.history.name(self._at(x))

    def _step(self, edge: Edge, how: str, rule: int) -> Step:
        """Return an edge with the operations it rests on, in words."""
        i, j, _ = self._order(edge.before, edge.after, 0)
        a, b, h = self._at(i), self._at(j), self.history
        key = edge.key if isinstance(edge.key, int) and edge.key >= 0 else -1
        first, second = h.name(a), h.name(b)
        if edge.kind in ("so", "rt"):
            text = (
                f"{first} comes before {second} in session {h.sessions[h.session[a]]}"
                if edge.kind == "so"
                else f"{first} ended at {_time(h, h.end[a])}, {second} began at "
                f"{_time(h, h.begin[b])}"
            )
            return Step(a, b, edge.kind, "", how, rule, (-1, -1), text)
        one, two = cited(h, edge.kind, a, b, key)
        shown = tuple("?" if op < 0 else h.show(op) for op in (one, two))
        text = {
            "wr": f"{second} {shown[1]} returns what {first} wrote, {shown[0]}",
            "ww": f"{second} {shown[1]} replaces {first}'s {shown[0]}",
            "rw": f"{first} {shown[0]} does not see {second}'s {shown[1]}",
        }[edge.kind]
        return Step(a, b, edge.kind, str(h.keys[key]), how, rule, (one, two), text)

    def _shown(self) -> dict[int, tuple[int, ...]]:
        """Per transaction the operations on keys that at least two of them touch."""
        h, touched = self.history, dict[int, set[int]]()
        for t, k, *_ in (*self.facts.reads.tolist(), *self.facts.writes.tolist()):
            touched.setdefault(k, set()).add(t)
        shared = {k for k, ts in touched.items() if len(ts) > 1}
        return {
            int(t): tuple(
                op for op in h.operations(int(t)) if h.kind[op] == RANGE or int(h.key[op]) in shared
            )
            for t in self.facts.members
        }


def fitting(name: str, refuted: str) -> str:
    """Return the name, or the general one of the level that is refuted where the name says
    too much.

    Of many version orders only some are tried, and the mildest of those may be none that excuses
    as much as the weakest level that was decided.
    """
    names = _NAMES.get(refuted, (name,))
    return name if name in names else names[0]


def _known(status: dict[Order, tuple[str, int]], premise: Order | None) -> tuple[str, int]:
    """Return how an edge is known that stands on this version order, or on none."""
    return ("observed", 0) if premise is None else status[premise]


def _mildness(verdict: isolation.Verdict) -> tuple[int, int, int, int]:
    """Less is milder: needs real time, needs sessions, then the rarer kinds of cycle."""
    base = verdict.anomaly.removesuffix("-session").removesuffix("-realtime")
    kinds = [e.kind for e in verdict.cycle]
    extra = 2 if "rt" in kinds else 1 if "so" in kinds else 0
    rank = next(i for i, names in enumerate(_SEVERITY) if base in names)
    return -extra, -rank, len(kinds), kinds.count("ww")


def _time(history: History, value: float) -> str:
    x = float(value)
    return str(history.origin + int(x)) if x.is_integer() else str(x + history.origin)
