"""Isolation levels decided straight from their axioms, by trying every order of commits.

A history is of a level when some order of its committed transactions contains the session order
(if it counts) and "read from", agrees with every list that was read, and satisfies: whenever r
reads x from i, and another writer j of x was visible to r, then j is before i. The levels differ
in what visible means (Biswas and Enea, OOPSLA 2019; parallel snapshot isolation: Cerone, Bernardi
and Gotsman, CONCUR 2015). Shares no code with the checker and knows no graphs of versions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Record = dict[str, Any]
T0 = -1
RULES = ("read-committed", "monotonic-atomic-view", "read-atomic", "causal", "parallel-si",
         "prefix", "si", "serializable")  # fmt: skip


@dataclass
class Txn:
    """Reads of others in order, (key, value or list, operation); what is left behind by key."""

    session: Any
    reads: list[tuple[Any, Any, int]]
    writes: dict[Any, Any]


def in_parts(records: list[Record]) -> list[Record]:
    """The records with sessions that end at an indeterminate transaction."""
    ended: dict[Any, int] = {}
    renamed = []
    for r in records:
        s = r["session"]
        renamed.append({**r, "session": (s, ended.get(s, 0))})
        ended[s] = ended.get(s, 0) + (r.get("status") == "info")
    return renamed


def levels_of(records: list[Record], given: dict[Any, list[Any]] | None = None) -> set[str]:
    """Every level of RULES, plain and `strong-session-`, that the history is of; `given` is what
    lists hold at the start.
    """
    records = in_parts(records)
    sure = [i for i, r in enumerate(records) if r.get("status", "ok") == "ok"]
    maybe = [i for i, r in enumerate(records) if r.get("status") == "info"]
    keys = {op[1] for r in records for op in r["ops"] if op[0] != "range"}
    keys |= {k for r in records for op in r["ops"] if op[0] == "range" for k, _ in op[3]}
    found: set[str] = set()
    for n in range(len(maybe) + 1):
        for extra in combinations(maybe, n):
            txns = [parsed(records[i], keys) for i in sorted([*sure, *extra])]
            if all(t is not None for t in txns):
                found |= levels_of_committed([t for t in txns if t is not None], given or {})
    return found


def parsed(record: Record, keys: set[Any]) -> Txn | None:
    """None when a transaction does not see its own writes."""
    reads: list[tuple[Any, Any, int]] = []
    writes: dict[Any, Any] = {}

    def read(key: Any, value: Any, at: int) -> bool:
        mine = writes.get(key)
        if isinstance(value, list):
            own = list(mine or ())
            reads.append((key, value[: len(value) - len(own)], at))
            return value[len(value) - len(own) :] == own
        if mine is None:
            reads.append((key, value, at))
        return mine is None or bool(mine == value)

    for at, (word, key, *rest) in enumerate(record["ops"]):
        if word == "append":
            writes[key] = (*writes.get(key, ()), rest[0])
        elif word == "w":
            writes[key] = rest[0]
        elif word == "range":
            rows = dict(rest[1])
            if not all(read(k, rows.get(k), at) for k in sorted(keys) if key <= k <= rest[0]):
                return None
        elif rest and not read(key, rest[0], at):
            return None
    return Txn(record["session"], reads, writes)


def levels_of_committed(txns: list[Txn], given: dict[Any, list[Any]]) -> set[str]:
    found: set[str] = set()
    for session in (False, True):
        prefix = "strong-session-" if session else ""
        for order in orders(txns, session):
            if len(found) == 2 * len(RULES):
                break
            sources = read_from(txns, order, given)
            if sources is not None:
                found |= {prefix + r for r in RULES if prefix + r not in found
                          and satisfied(txns, order, sources, r, session)}  # fmt: skip
    return found


def orders(txns: list[Txn], session: bool) -> Iterator[list[int]]:
    """Every order of the transactions that keeps the sessions, if they count."""

    def extend(done: list[int]) -> Iterator[list[int]]:
        if len(done) == len(txns):
            yield done
        for t in range(len(txns)):
            earlier = (s for s in range(t) if txns[s].session == txns[t].session)
            if t not in done and not (session and any(s not in done for s in earlier)):
                yield from extend([*done, t])

    return extend([])


def read_from(
    txns: list[Txn], order: list[int], given: dict[Any, list[Any]]
) -> list[list[tuple[Any, int, int]]] | None:
    """Per transaction its reads as (key, writer, operation); None when the order cannot be."""
    place = {t: i for i, t in enumerate(order)} | {T0: -1}
    lists: dict[Any, dict[tuple[Any, ...], int]] = {}
    whole: dict[Any, tuple[Any, ...]] = {k: tuple(v) for k, v in given.items()}
    for t in order:
        for k, v in txns[t].writes.items():
            if isinstance(v, tuple):
                whole[k] = whole.get(k, ()) + v
                lists.setdefault(k, {})[whole[k]] = t
    result = []
    for t, txn in enumerate(txns):
        sources = []
        for k, v, at in txn.reads:
            if isinstance(v, list):
                writer = lists.get(k, {}).get(tuple(v), T0 if v == given.get(k, []) else None)
            elif v is None:
                writer = T0
            else:
                writer = next((w for w, x in enumerate(txns) if x.writes.get(k) == v), None)
            if writer is None or writer == t or place[writer] > place[t]:
                return None
            sources.append((k, writer, at))
        result.append(sources)
    return result


def satisfied(
    txns: list[Txn],
    order: list[int],
    sources: list[list[tuple[Any, int, int]]],
    rule: str,
    session: bool,
) -> bool:
    place = {t: i for i, t in enumerate(order)} | {T0: -1}
    n = len(txns)
    before = {(a, b) for a in range(n) for b in range(n) if place[a] < place[b]}
    so = {(a, b) for a, b in combinations(range(n), 2) if session
          and txns[a].session == txns[b].session}  # fmt: skip
    wr = {(w, t) for t in range(n) for _, w, _ in sources[t] if w != T0}
    seen = visible(txns, before, so, wr, rule)
    for r in range(n):
        for key, i, at in sources[r]:
            for j in range(n):
                if j in (i, r) or key not in txns[j].writes:
                    continue
                if rule == "read-committed":
                    shown = False
                elif rule == "monotonic-atomic-view":
                    shown = any(w == j and op <= at for _, w, op in sources[r])
                else:
                    shown = (j, r) in seen
                if shown and place[j] > place[i]:
                    return False
    return True


def visible(
    txns: list[Txn],
    before: set[tuple[int, int]],
    so: set[tuple[int, int]],
    wr: set[tuple[int, int]],
    rule: str,
) -> set[tuple[int, int]]:
    direct = so | wr
    if rule == "read-atomic":
        return direct
    if rule == "causal":
        return closure(direct, len(txns))
    clash = {(a, b) for a, b in before if txns[a].writes.keys() & txns[b].writes.keys()}
    if rule == "parallel-si":
        return closure(direct | clash, len(txns))
    if rule in ("prefix", "si"):
        if rule == "si":
            direct = direct | clash
        return direct | {(a, c) for a, b in before for x, c in direct if x == b}
    return before


def closure(pairs: set[tuple[int, int]], n: int) -> set[tuple[int, int]]:
    done = set(pairs)
    for b in range(n):
        done |= {(a, c) for a, x in done if x == b for y, c in done if y == b}
    return done
