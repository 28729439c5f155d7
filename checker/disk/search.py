"""A search whose states are in files: a level is read piece by piece, what comes out is written
where there is too much of it, and sorted out when all of the level is expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from statewalk.checker.contract.saved import COLUMN, LINKS
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.disk.merging import Held, Merging, in_order
from statewalk.checker.disk.runs import (
    Column,
    SavedColumn,
    SortedRun,
    States,
    first_to_merge,
    merge,
    new_run,
    new_states,
)
from statewalk.checker.machine.watch import memory_in_use
from statewalk.checker.native.checkpoints import Writer
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT, Array
from statewalk.checker.native.kernels.runs import mark
from statewalk.checker.native.manifests import Damaged, damaged
from statewalk.checker.native.search import Loop
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Level, Partition
from statewalk.dsl.errors import EngineError

MOST_STATES = 1 << (63 - POSITION_SHIFT)  # of a level: links have no bits for more positions
_NEAR = 0.9  # of the memory that is allowed, at which files begin to be used
_LEAST = 1 << 26  # bytes that there have to be for states
_HELD = 0.5  # of the memory that there is for states: new ones, in segments and tables
_SLICE = 0.1  # the same: those that are sorted out together
_CELLS = 16  # bytes of the seen table for a state, at most
_NO_LOW = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class Limits:
    """The limits at which a search goes to files, in states; None where ``memory``
    (bytes) decides.

    ``after`` so many states known; ``held`` new ones until they are written; ``slice`` of them
    sorted out together. ``rows`` of a level are read together.
    """

    memory: int
    after: int | None = None
    held: int | None = None
    slice: int | None = None
    rows: int = 1 << 16


@dataclass
class Links:
    """The links of a level, by position: part of the column of all of them."""

    column: Column
    first: int
    n: int
    nbytes: int = 0

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, position: int) -> int:
        return self.column[self.first + position]


def _bytes(level: Level) -> int:
    return sum(array.nbytes for array in level.rows)


@dataclass
class Disk:
    """Takes over a search that outgrows its memory; see `checker.native.search.Elsewhere`.

    ``level`` is expanded next, ``done`` states of it already; ``seen`` are runs of the fingerprints
    of all levels, the last one those of ``level``; ``links`` of all levels, one after the other.
    ``written`` are new states. ``since`` is the depth from which on files are used.
    """

    search: NativeSearch
    folder: Path
    limits: Limits
    durable: bool = False
    writer: Writer | None = None
    level: States | None = None
    done: int = 0
    seen: list[SortedRun] = field(default_factory=list)
    links: Column = field(init=False)
    linked: SavedColumn | None = None  # where these end with the last whole level
    written: list[States] = field(default_factory=list)
    slice: int = 1  # states that are sorted out together
    since: int = 0
    named: int = 0  # files so far
    bytes: int = 0  # in files, at most
    old: list[Column] = field(default_factory=list)  # needed by what is saved only
    ended: StoppedBy | None = None
    problem: str = ""  # what keeps files from being written

    def __post_init__(self) -> None:
        """Begin with no file."""
        self.links = Column(self.folder / LINKS, np.int64, durable=self.durable)

    @property
    def n(self) -> int:
        """States of the level to expand; 0 while they are in memory."""
        return 0 if self.level is None else self.level.n

    @property
    def on_disk(self) -> tuple[int, int] | None:
        """See `Elsewhere`."""
        return None if self.level is None else (self.since, self.bytes)

    # -- when --------------------------------------------------------------------------------------

    def takes_over(self, expanded: int) -> bool:
        """See `Elsewhere`."""
        if self.level is None and self._outgrown():
            try:
                self._spill(expanded)
            except OSError as error:
                self._failed(error)
                return True
        return self.level is not None

    def _outgrown(self) -> bool:
        search, limits = self.search, self.limits
        if limits.after is not None:
            return search.distinct + search.seen.n_new > limits.after
        # The level to come, in order, takes the place of this one.
        coming = search.seen.n_new * search.shape.bytes - _bytes(search.level)
        growing = max(2 * partition.bytes for partition in search.seen.partitions)
        needed = memory_in_use() + max(0, coming) + growing
        return needed > _NEAR * limits.memory and self._room() > _LEAST

    def _room(self) -> float:
        """Return bytes of memory that there are for states."""
        search = self.search
        states = search.seen.n_new * search.shape.bytes + search.seen.bytes
        states += _bytes(search.level) + sum(links.nbytes for links in search.links)
        return _NEAR * self.limits.memory - max(memory_in_use() - states, 0)

    def _failed(self, error: OSError) -> None:
        place = error.filename or self.folder
        self.problem = f"{place} cannot be written: {error.strerror or error}"

    # -- from memory -------------------------------------------------------------------------------

    def _spill(self, expanded: int) -> None:
        """Write everything to files: links, the level, of which some is expanded, the new states
        of the next, and what was seen. Raises OSError.
        """
        search, level = self.search, self.search.level
        self.since, self.done = len(search.links), expanded
        self.folder.mkdir(parents=True, exist_ok=True)
        for at, links in enumerate(search.links):
            first = self.links.n
            self.links.append(np.asarray(links))
            search.links[at] = Links(self.links, first, self.links.n - first)
        states = self._states(self._run("seen"), self.links)
        states.first -= level.n
        values = level.rows.values  # as they are, though there may be more slots by now
        states.values.width, states.values.dtype = values.shape[1], values.dtype
        states.append(level, links=False)
        new, old = self._new(), self._run("seen")
        for at, partition in enumerate(search.seen.partitions):
            self._spill_partition(partition, level, new, old)
            fresh = Partition(at, len(search.seen.partitions), search.shape)
            search.seen.partitions[at] = fresh
        self.written = [new]
        self.seen = [old, states.run]
        self.level = states
        search.level = level.kept(np.zeros(0, np.int64))
        self.linked = self.links.saved()
        if self.writer is not None:
            self.writer.drop_pending()
        self._measure()

    def _spill_partition(
        self, partition: Partition, level: Level, new: States, old: SortedRun
    ) -> None:
        """Write the new states of a partition, and what it has seen of earlier levels."""
        search = self.search
        held = Held(partition)
        for part in in_order(held, self.limits.rows, search.shape):
            new.append(part)
            search.fresh -= self._fresh(part)
        fps, lows = partition.seen_words()
        order = np.lexsort((lows, fps)) if search.shape.wide else np.argsort(fps)
        fps, lows = fps[order], lows[order] if search.shape.wide else _NO_LOW
        known = np.zeros(len(fps), np.bool_)
        mark(fps, lows, *held.fingerprints(0, partition.n), known)
        mark(fps, lows, level.rows.fp, level.rows.low, known)
        old.append(fps[~known], lows[~known] if len(lows) else lows)

    def _fresh(self, level: Level) -> Array:
        """Return new states by the action that reached them first."""
        actions = (level.link & ((1 << POSITION_SHIFT) - 1)) >> self.search.ordinal_bits
        return np.bincount(actions, minlength=len(self.search.fresh))

    # -- files -------------------------------------------------------------------------------------

    def _name(self, what: str) -> str:
        self.named += 1
        return f"{what}-{self.named:06}"

    def _run(self, what: str) -> SortedRun:
        return new_run(self.folder, self._name(what), self.search.shape.wide, self.durable)

    def _states(self, run: SortedRun, link: Column) -> States:
        return new_states(self.folder, self._name("level"), self.search.shape, run, link)

    def _new(self) -> States:
        run = new_run(self.folder, self._name("new"), self.search.shape.wide, False)
        link = Column(self.folder / f"{self._name('new')}.link{COLUMN}", np.int64)
        return self._states(run, link)

    def _measure(self) -> None:
        """Note how much there is in files."""
        self.bytes = max(self.bytes, sum(column.size for column in self.columns()))

    def columns(self) -> Iterator[Column]:
        """Yield all files that are needed."""
        yield from (self.links, *(column for run in self.seen for column in run.columns))
        if self.level is not None:
            yield from self.level.own
        for states in self.written:
            yield from (*states.run.columns, states.link, *states.own)

    def _drop(self, columns: list[Column]) -> None:
        """Files that are not needed any more; what is saved may need them."""
        for column in columns:
            if column.durable:
                self.old.append(column)
            else:
                column.remove()

    def drop_old(self) -> None:
        """Take away what nothing needs any more."""
        for column in self.old:
            column.remove()
        self.old = []

    # -- a level -----------------------------------------------------------------------------------

    def expand(self, loop: Loop, stage: Stage) -> StoppedBy | None:
        """See `Elsewhere`."""
        if self.problem or self.level is None:
            return "memory"
        try:
            return self._expand(loop, stage, self.level)
        except OSError as error:
            self._failed(error)
            return "memory"
        except Damaged as damage:
            raise damaged([str(damage)]) from None
        finally:
            self.search.level = self.search.level.kept(np.zeros(0, np.int64))

    def _expand(self, loop: Loop, stage: Stage, level: States) -> StoppedBy | None:
        search, most = self.search, self._most(_HELD, self.limits.held, _CELLS)
        self.slice = self._most(_SLICE, self.limits.slice)
        while self.done < level.n:
            end = min(level.n, self.done + self.limits.rows)
            search.level = level.read(self.done, end, search.shape, links=False)
            if loop.orbits is not None and not self.done:
                loop.orbits.look(len(search.links) - 1, search.level.rows.values)
            stage.base = self.done
            if stopped := loop.expand_here(stage, level.n - end):
                return stopped
            self.done = end
            if search.seen.n_new >= most:
                self._write_new()
        return None

    def _most(self, share: float, given: int | None, more: int = 0) -> int:
        """Return how many states are in memory at most, of a share of what there is for them."""
        if given is not None:
            return given
        return int(share * max(self._room(), _LEAST)) // (self.search.shape.bytes + more)

    def _write_new(self) -> None:
        """Make room for more new states."""
        new = self._new()
        for partition in self.search.seen.partitions:
            held = Held(partition)
            for part in in_order(held, self.limits.rows, self.search.shape):
                new.append(part)
            held.clear()
        self.written.append(new)
        self._measure()

    def advance(self, loop: Loop, stage: Stage) -> bool:
        """See `Elsewhere`."""
        assert self.level is not None
        level = self.level
        ids = level.run.fp, level.run.low if level.run.low is not None else _NO_LOW
        made = None
        try:
            if self.done == level.n and not self.problem:
                made = self._sorted_out(loop, stage)
        except OSError as error:
            self._failed(error)
            self.ended = "memory"
        except Damaged as damage:
            raise damaged([str(damage)]) from None
        finally:
            stage.close(*ids)  # what was found until then counts
        if made is None:
            return False
        self._drop(level.own)
        self.level, self.done = made, 0
        if made.n > MOST_STATES:
            raise EngineError("SW315", f"A level has more than {MOST_STATES:,} states.")
        if made.n:
            self.seen.append(made.run)
            self.search.complete(Links(self.links, made.first, made.n))
            self.linked = self.links.saved()
        self._measure()
        for states in self.written:
            self._drop([*states.run.columns, states.link, *states.own])
        self.written = []
        return True

    def _sorted_out(self, loop: Loop, stage: Stage) -> States | None:
        """Return the next level, if nothing stopped it. Raises OSError, `Damaged`."""
        search = self.search
        search.widen()
        self._merge_seen()
        made = self._states(self._run("seen"), self.links)
        partitions, shift = search.seen.partitions, search.seen.shift
        merging = Merging(self.written, partitions, shift, self.seen, search.shape, self.slice)
        for part in merging.slices():
            keep = loop.check(search, part, stage, True)
            kept = part if keep.all() else part.kept(keep)
            made.append(kept)
            search.fresh += self._fresh(kept)
            if loop.orbits is not None and kept.n:
                outcomes = search.learner.learned.outcomes()
                search.represented += loop.orbits.measure(kept.rows, outcomes)
            if loop.fields is not None:
                loop.fields.note(kept.rows)
            loop.tell(made.n)
            if reason := search.urgent():
                self.ended = reason
                return None
        return made

    def _merge_seen(self) -> None:
        """Make one run of several, where there are many. The level's own stays by itself."""
        first = first_to_merge([run.n for run in self.seen[:-1]])
        if len(self.seen) - 1 - first > 1:
            runs, merged = self.seen[first:-1], self._run("seen")
            merge(runs, merged)
            self.seen[first:-1] = [merged]
            self._measure()
            self._drop([column for run in runs for column in run.columns])

    def save(self) -> bool:
        """See `Elsewhere`: its writer knows of files."""
        return False
