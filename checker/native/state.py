"""The state of a search: what its loop, its checks, findings and checkpoints all look at."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from statewalk.checker.contract.search import Finding, SearchCounts, SearchOptions
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines.layout import Layout
from statewalk.checker.machine.places import Place
from statewalk.checker.machine.watch import memory_in_use
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.learn.learning import Learner, Roots
from statewalk.checker.native.memory import PackedLinks
from statewalk.checker.native.states import Level, Seen, Shape, ids_type
from statewalk.checker.native.workers import Workers
from statewalk.dsl.model import Model


class Column(Protocol):
    """Numbers of a level's states by position: an array, or what is read from files."""

    @property
    def nbytes(self) -> int:
        """Memory held."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, position: int, /) -> Any: ...


@dataclass
class NativeSearch:
    """The state of one search; how it goes on is in `checker.native.search`.

    ``level`` is what is expanded next; ``links`` has the links of each level so far, ``sizes`` its
    states, and ``distinct`` counts them all: those kept in complete levels.
    """

    model: Model
    options: SearchOptions
    roots: Roots
    layout: Layout
    learner: Learner
    shape: Shape
    seen: Seen
    workers: Workers
    ordinal_bits: int
    level: Level
    links: list[Column] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    distinct: int = 0
    initial: int = 0
    queue: int = 0
    fired: Array = field(init=False)
    fresh: Array = field(init=False)
    walks: Array = field(init=False)
    cut: Counter[str] = field(default_factory=Counter)
    found: dict[str, Finding] = field(default_factory=dict)
    represented: int = 0  # states, where orbits are searched
    error: bool = False
    started: float = field(default_factory=time.monotonic)
    earlier: float = 0.0  # seconds spent before the search was resumed
    running: Place | None = None  # where the spec was, if it had to be ended

    def __post_init__(self) -> None:
        """Start the counters."""
        self.fired = np.zeros(len(self.model.actions), np.int64)
        self.fresh = np.zeros(len(self.model.actions), np.int64)
        self.walks = np.zeros(len(self.roots.all), np.int64)

    @property
    def generated(self) -> int:
        """See the engine contract, rule 2."""
        return len(self.model.initial_states) + int(self.fired.sum())

    def complete(self, links: Column) -> None:
        """Count a level that is complete, by its links."""
        if isinstance(links, np.ndarray):
            links = PackedLinks.of(links, self.ordinal_bits)
        self.links.append(links)
        self.sizes.append(len(links))
        self.distinct += len(links)

    @property
    def counts(self) -> SearchCounts:
        """See the contract, rule 2."""
        return SearchCounts(self.initial, self.distinct, self.generated, len(self.links))

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return self.earlier + time.monotonic() - self.started

    def urgent(self) -> StoppedBy | None:
        """Return reasons to stop in the middle of a stage."""
        if stopped := self.options.urgent(self.seconds):
            return stopped
        if self.options.max_memory is not None and memory_in_use() > self.options.max_memory:
            return "memory"
        return None

    def widen(self) -> None:
        """Let new rows hold every slot and every value id there is by now.

        Where ids need more room, the level's rows get it too, so that kernels see one type.
        """
        self.shape.width = max(self.shape.width, len(self.layout.slots))
        kind = ids_type(self.learner.learned.widest)
        if kind.itemsize > self.shape.dtype.itemsize:
            self.shape.dtype = kind
            rows = self.level.rows
            self.level.rows = rows._replace(values=rows.values.astype(kind))

    def groups(self, first: int, end: int) -> Array:
        """Per root: its group, the group's end, whether wanted, whether it may be skipped later."""
        result = np.zeros((4, len(self.roots.all)), np.int64)
        stop = end
        for number in range(end - 1, first - 1, -1):
            root = self.roots.all[number]
            if number + 1 < end and self.roots.all[number + 1].group != root.group:
                stop = number + 1
            name = self.roots.watched[root.group].name if root.kind != "terminal" else ""
            result[:, number] = (root.group, stop, name not in self.found, root.kind != "terminal")
        return result
