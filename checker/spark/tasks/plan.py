"""The messages between the driver and its tasks about one level.

A state's *bucket* is the high bits of its fingerprint. A task owns consecutive buckets, and writes
its states in the order of their fingerprints; so positions in a level, counted over all tasks, are
in that order too, and links (see `checker.native.kernels.arrays`) compare as the engine contract
wants, however many tasks there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from socket import gethostname

import numpy as np

import statewalk
from statewalk.checker.native.kernels.arrays import NO_LINK, Array, Rows
from statewalk.checker.native.states import Shape
from statewalk.checker.spark.tasks.blobs import Packing
from statewalk.checker.spark.tasks.files import Part, Stored
from statewalk.dsl.errors import RunError

# (root, kind, operand, value), and the rows in which it was missed: after and before for a step.
Miss = tuple[int, int, int, int, list[int], list[int] | None]
_EXAMPLES = 32  # rows told per miss: what lies behind it differs between them


@dataclass
class Examples:
    """Misses to be told to the driver: of each one as many as it can learn from."""

    misses: list[Miss]
    told: Counter[tuple[int, ...]] = field(default_factory=Counter)

    def tell(self, miss: list[int], row: list[int], before: list[int] | None = None) -> None:
        """Report a miss, unless it was reported often enough."""
        key = tuple(miss)
        if self.told[key] < _EXAMPLES:
            self.told[key] += 1
            self.misses.append((miss[0], miss[1], miss[2], miss[3], row, before))


@dataclass
class Here:
    """A batch of a task's states, consecutive ones, and where they stand in the level."""

    rows: Rows
    offset: int  # position of the first


@lru_cache(maxsize=1)
def sources() -> bytes:
    """Return a digest of the code that a search runs: driver and tasks must have the same."""
    told, root = sha256(), Path(statewalk.__file__).parent
    for package in ("checker", "dsl"):
        for file in sorted((root / package).rglob("*.py")):
            told.update(f"{file.relative_to(root)}\n".encode() + file.read_bytes())
    return told.digest()


def same_sources(theirs: bytes) -> None:
    """Raises RunError[SW334] where the driver runs other code."""
    if theirs != sources():
        raise RunError(
            "SW334",
            f"Statewalk on {gethostname()} is not the driver's: their sources differ.",
            help="Install the same version everywhere.",
        )


@dataclass(frozen=True)
class Division:
    """The division of the buckets among tasks."""

    buckets: int
    tasks: int

    def first_bucket(self, task: int) -> int:
        """Return the first bucket of a task."""
        return -(-task * self.buckets // self.tasks)

    def start(self, task: int) -> int:
        """Return the least fingerprint of a task."""
        return (self.first_bucket(task) << 64) // self.buckets

    def cuts(self) -> Array:
        """Return the fingerprints with which the tasks but the first begin."""
        return np.array([self.start(task) for task in range(1, self.tasks)], np.uint64)

    def share(self, fps: Array, task: int) -> slice:
        """Return which of some sorted fingerprints are a task's."""
        first = int(np.searchsorted(fps, np.uint64(self.start(task)))) if task else 0
        if self.first_bucket(task + 1) == self.buckets:
            return slice(first, len(fps))
        return slice(first, int(np.searchsorted(fps, np.uint64(self.start(task + 1)))))

    def touched(self, parts: tuple[Part, ...], task: int) -> Iterator[tuple[Part, int]]:
        """Yield the parts that may hold states of a task, with the position of each one's
        first state.
        """
        first, end = self.first_bucket(task), self.first_bucket(task + 1)
        at = 0
        for part in parts:
            if part.first < end and first < part.end:
                yield part, at
            at += part.n

    def part(self, task: int, n: int, ids: Stored, rows: Stored | None = None) -> Part:
        """Return what a task wrote, as a part."""
        return Part(self.first_bucket(task), self.first_bucket(task + 1), n, ids, rows)


@dataclass(frozen=True)
class Plan:
    """The plan that every task of an attempt at a level gets.

    ``sources`` are those of the driver, which must be the task's own.
    ``token`` tells this driver's files from those of one that died. ``parts`` are the level to
    expand, ``runs`` the visited fingerprints, of which those from ``compact`` on become one.
    ``durable`` files outlive the search. After the first attempt ``before`` holds per task what the
    attempt before left, and only tasks in ``again`` have to look at it without new states.
    ``forget`` tells that the driver does not know any more why a root was quiet in a state: another
    one found it out. ``base`` is the part of the fingerprint that all states have in common, in as
    many words as a fingerprint has. Where ``orbits`` are searched, they are what fingerprints name.
    ``ids`` is the type of value ids. Where states travel ``by_file``, only names of files are sent.
    """

    sources: bytes
    folder: str
    token: str
    durable: bool
    level: int
    attempt: int
    division: Division
    parts: tuple[Part, ...]
    runs: tuple[tuple[Part, ...], ...]
    compact: int
    before: tuple[Left, ...]
    again: frozenset[int]
    forget: bool
    base: Array
    orbits: bool
    packing: Packing
    by_file: bool
    width: int
    ids: str
    words: int
    n_roots: int
    first_action: int
    end_action: int
    end_terminal: int
    n_steps: int
    n_step_properties: int
    ordinal_bits: int
    deadlock: bool
    moving: Array
    groups: Array
    terminal_groups: Array
    n_watched: int
    n_properties: int

    def shape(self) -> Shape:
        """Return the shape of new rows."""
        return Shape(self.width, np.dtype(self.ids), self.words, self.wide)

    @property
    def wide(self) -> bool:
        """Return whether fingerprints have two words."""
        return len(self.base) > 1

    def name(self, what: str, task: int, level: int | None = None) -> str:
        """Return the name of a file of this attempt."""
        return file_name(
            what, self.level if level is None else level, self.token, self.attempt, task
        )


def file_name(what: str, level: int, token: str, attempt: int, task: int) -> str:
    """Return the name of a file that a task writes."""
    return f"{what}-{level:05}-{token}-{attempt:03}-{task:05}"


@dataclass(frozen=True)
class Left:
    """The remainder of an attempt for the next one: the states so far, those aside, the pairs
    missed.
    """

    part: Part | None = None
    aside: Stored | None = None
    missed: Stored | None = None


@dataclass
class Expanded:
    """The results of expanding a task's states, besides states."""

    task: int
    misses: list[Miss] = field(default_factory=list)
    missed: Stored | None = None
    fired: Array | None = None
    walks: Array | None = None
    assertion: int = NO_LINK
    error: int = NO_LINK
    stuck: int = NO_LINK
    terminal_error: int = NO_LINK
    step_error: int = NO_LINK
    steps: dict[int, int] = field(default_factory=dict)
    refused: Array | None = None
    records: int = 0
    sent: int = 0
    files: list[str] = field(default_factory=list)  # what was sent by file
    damaged: str = ""


@dataclass
class Merged:
    """The result of merging a task's new states; it replaces an earlier attempt's."""

    task: int
    misses: list[Miss] = field(default_factory=list)
    part: Part | None = None
    aside: Stored | None = None
    run: Part | None = None
    fresh: Array | None = None
    walks: Array | None = None
    events: dict[int, tuple[tuple[int, int], int]] = field(default_factory=dict)
    state_error: tuple[tuple[int, int], int] | None = None
    orbits: dict[int, int] = field(default_factory=dict)  # how many have so many permutations
    cut: dict[int, int] = field(default_factory=dict)
    changed: bool = True
    damaged: str = ""
