"""The transactions of a batch that abort, decided from their records alone.

A transaction is a record with an id, the items it requires and what it adds to the counts of items;
a removal is a negative count. It commits when each item that it requires has a positive count, as
seen by it. What it sees is what tells the ways of resolving a batch apart:

- ``naive``: nothing of the batch, only the collection before it;
- ``sequential``: transactions are executed one after the other, in the order of their ids;
- ``ordered``: the fixpoint of "aborted are those whose requirements fail on what the transactions
  with lower ids add that are not aborted", from the empty set on. Round r settles the first r
  transactions, so that n transactions need n + 1 rounds at most, and the result is that of
  ``sequential``; but each round is a join and a sum, which a data-parallel engine can do.

Source of the semantics: McSherry, Dataflow as Database.

>>> a, b = (0, 1), (1, 0)
>>> batch = (Transaction(1, (a,), ((b, -1),)), Transaction(2, (b,), ((a, -1),)))
>>> [tuple(resolve(((a, 1), (b, 1)), batch, how).aborted) for how in ("naive", "ordered")]
[(), (2,)]
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from statewalk import Record, mutant
from statewalk.dsl.library.isolation import INITIAL, Read, Verdict, judge
from statewalk.dsl.library.isolation import Transaction as Recorded

Edge = tuple[int, int]  # from, to
Coloured = tuple[int, int, str]  # what is said of an edge; it is there without the edge too
Item = Edge | Coloured
Counts = tuple[tuple[Item, int], ...]  # a multiset of items, ascending, without zeros
Answers = Literal["look_up", "reach", "red_degree"]  # what a query is about: see `maintenance`
Query = tuple[Answers, int, int]  # of a node: so many times more registered, or less
How = Literal["naive", "ordered", "sequential"]


class Transaction(Record):
    """Records of one transaction; queries are registered and taken back if it commits."""

    tid: int
    requires: tuple[Item, ...] = ()
    changes: Counts = ()
    queries: tuple[Query, ...] = ()


class Resolution(Record):
    """The outcome of a batch; `settled` is false where the rounds did not come to an end."""

    aborted: frozenset[int]
    changes: Counts  # what the committed transactions add up to
    rounds: int
    settled: bool = True


Name = tuple[int, int]  # of a committed transaction: epoch, id


class Execution(NamedTuple):
    """A committed transaction: whose versions it read (None: the first), and what it wrote."""

    name: Name
    reads: tuple[tuple[Item, Name | None], ...]
    writes: tuple[Item, ...]


def resolve(
    before: Counts,
    batch: Sequence[Transaction],
    how: How,
    workers: int = 1,
) -> Resolution:
    """Resolve a batch on the collection `before`; more than one worker share the items."""
    if how == "sequential":
        return outcome(batch, executed(before, batch), 1)
    if how == "naive":
        return outcome(batch, failing(before, batch, frozenset(), how, workers), 1)
    aborted: frozenset[int] = frozenset()
    for rounds in range(1, len(batch) + 2):
        now = failing(before, batch, aborted, how, workers)
        if now == aborted:
            return outcome(batch, aborted, rounds)
        aborted = now
    return outcome(batch, aborted, len(batch) + 1, settled=False)


def outcome(
    batch: Iterable[Transaction], aborted: frozenset[int], rounds: int, *, settled: bool = True
) -> Resolution:
    changes = [pair for t in batch if t.tid not in aborted for pair in t.changes]
    return Resolution(aborted, summed(changes), rounds, settled)


def summed(pairs: Iterable[tuple[Item, int]]) -> Counts:
    """The multiset with these counts, added up."""
    totals: dict[Item, int] = {}
    for item, count in pairs:
        totals[item] = totals.get(item, 0) + count
    return tuple(sorted((item, count) for item, count in totals.items() if count))


def executed(before: Counts, batch: Iterable[Transaction]) -> frozenset[int]:
    """Those that abort when one transaction is executed after the other."""
    counts = dict(before)
    aborted = set()
    for t in sorted(batch, key=lambda t: t.tid):
        if all(counts.get(item, 0) > 0 for item in t.requires):
            for item, count in t.changes:
                counts[item] = counts.get(item, 0) + count
        else:
            aborted.add(t.tid)
    return frozenset(aborted)


def failing(
    before: Counts,
    batch: Sequence[Transaction],
    aborted: frozenset[int],
    how: How,
    workers: int,
) -> frozenset[int]:
    """Those with a requirement that fails if `aborted` abort: each worker judges its items."""
    start = dict(before)
    found = set()
    for worker in range(workers):
        for at, t in enumerate(batch):
            mine = [item for item in t.requires if (item[0] + item[1]) % workers == worker]
            seen = [
                u
                for place, u in enumerate(batch)
                if u.tid not in aborted and sees(t, u, at > place, how)
            ]
            if not all(is_there(item, t, start, seen) for item in mine):
                found.add(t.tid)
    return frozenset(found)


def sees(reader: Transaction, writer: Transaction, came_later: bool, how: How) -> bool:
    """Return whether a transaction sees what another one of its batch writes."""
    return how != "naive" and reader is not writer and is_before(writer, reader, came_later)


def is_before(writer: Transaction, reader: Transaction, came_later: bool) -> bool:
    """Return whether a transaction of a batch is before another one, which came later or not."""
    return writer.tid < reader.tid


def is_there(
    item: Item, reader: Transaction, start: Mapping[Item, int], seen: Iterable[Transaction]
) -> bool:
    """Return whether an item has a positive count for a transaction that sees others."""
    return start.get(item, 0) + sum(counts_of(item, seen)) > 0


def counts_of(item: Item, writers: Iterable[Transaction]) -> list[int]:
    """Return what each of some transactions adds to the count of an item."""
    return [count for u in writers for written, count in u.changes if written == item]


def executions(
    batches: Sequence[Sequence[Transaction]],
    resolutions: Sequence[Resolution],
    how: How,
) -> tuple[Execution, ...]:
    """Return what the committed transactions read and wrote, in the order of epochs and ids.

    A version of an item is what one transaction makes of its count; versions follow the ids.
    """
    found: list[Execution] = []
    newest: dict[Item, Name] = {}
    for epoch, (batch, resolution) in enumerate(zip(batches, resolutions, strict=False)):
        live = [t for t in batch if t.tid not in resolution.aborted]
        start = dict(newest)
        for t in sorted(live, key=lambda t: t.tid):
            seen = [u for u in live if sees(t, u, batch.index(t) > batch.index(u), how)]
            reads = tuple((item, last_writer(item, epoch, seen, start)) for item in t.requires)
            written = tuple(item for item, _ in t.changes)
            found.append(Execution((epoch, t.tid), reads, written))
            newest |= dict.fromkeys(written, (epoch, t.tid))
    return tuple(found)


def in_order_of_ids(done: Sequence[Execution]) -> Verdict:
    """Return whether it is a serial execution in the order of ids.

    That is more than serializable: ids take the place of a session of all transactions.
    """
    versions: dict[Item, tuple[Name, ...]] = {}
    transactions = []
    for place, t in enumerate(done):
        for item in t.writes:
            versions[item] = (*versions.get(item, ()), t.name)
        reads = tuple(Read(item, INITIAL if w is None else w) for item, w in t.reads)
        transactions.append(Recorded(t.name, reads, t.writes, session="ids", index=place))
    return judge(transactions, versions, "strong-session-serializable")


def last_writer(
    item: Item, epoch: int, writers: Iterable[Transaction], start: Mapping[Item, Name]
) -> Name | None:
    """Return whose version of an item is read: of a writer of the batch, or the last one
    before it.
    """
    tids = [u.tid for u in writers if any(written == item for written, _ in u.changes)]
    return (epoch, max(tids)) if tids else start.get(item)


# -- mutants ---------------------------------------------------------------------------------------
@mutant(is_there)
def exists_join(
    item: Item, reader: Transaction, start: Mapping[Item, int], seen: Iterable[Transaction]
) -> bool:
    """An item counts as there once anything has been said of it, even a removal."""
    return start.get(item, 0) > 0 or any(counts_of(item, seen))


@mutant(is_there)
def tid_zero(
    item: Item, reader: Transaction, start: Mapping[Item, int], seen: Iterable[Transaction]
) -> bool:
    """The collection before the batch has the id 0, and is seen by higher ids only."""
    base = start.get(item, 0) if reader.tid > 0 else 0
    return base + sum(counts_of(item, seen)) > 0


@mutant(is_before)
def no_tid_bound(writer: Transaction, reader: Transaction, came_later: bool) -> bool:
    """A transaction sees those with higher ids as well."""
    return True


@mutant(is_before)
def arrival_order(writer: Transaction, reader: Transaction, came_later: bool) -> bool:
    """The order is that of arrival, not that of ids."""
    return came_later
