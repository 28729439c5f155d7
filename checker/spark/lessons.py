"""What the driver and its tasks tell each other when tasks learn: situations, and their paths.

Both sides number slots, values, projections, operations, calls and outcomes in their own order. A
lesson gives values as data; what is told is in the numbers of the one who tells, with tables that
say what they mean (names as in `checker.spark.naming`, values as `intern_key` has them).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from checker.native.arrays import Array
from checker.spark.naming import Name
from dsl.decode import decode
from dsl.errors import StatewalkError
from dsl.values import ABSENT, encode, intern_key
from dsl.view import FairChoice, Path

if TYPE_CHECKING:
    from checker.layout import Layout
    from checker.native.learning import Roots
    from dsl.model import Model

NO_CALL = -1


@dataclass(frozen=True)
class Lesson:
    """Situations to explain: ``pairs`` (n, 2) of (row, root).

    Column c of ``rows`` holds ids of the values of the slot at ``paths[c]``, which ``values[c]``
    gives by id.
    """

    paths: tuple[Path, ...]
    values: tuple[dict[int, Any], ...]
    rows: Array
    pairs: Array


@dataclass(frozen=True)
class Noted:
    """One path as it was noted: of a root, or of a ``call``.

    ``events`` are so many of those told. ``blind`` operations were applied on the way, and
    ``relied`` are the calls that were asked for after the step had changed something: (call,
    whether by the step itself, slots changed).
    """

    call: int
    events: int
    leaf: int
    blind: tuple[int, ...] = ()
    relied: tuple[tuple[int, bool, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class Explained:
    """One evaluation of a root in a row: what it took, and the paths in the order of the notes.

    A ``doubtful`` one did something else when it was run again.
    """

    row: int
    root: int
    seconds: float
    paths: tuple[Noted, ...]
    doubtful: bool = False


@dataclass(frozen=True)
class OutcomeData:
    """What an action writes: (slot, old, new), (slot, new) unseen, (slot, operation)."""

    known: tuple[tuple[int, Any, Any], ...]
    unseen: tuple[tuple[int, Any], ...]
    operations: tuple[tuple[int, int], ...]
    fair: tuple[FairChoice, ...]


@dataclass
class Told:
    """What a task has found out. ``problem`` is why it cannot learn at all.

    ``events`` (n, 4) are those of all paths in a row. ``results`` and ``call_results`` are keys of
    values by (projection or call, number of the result).
    """

    problem: str = ""
    explained: list[Explained] = field(default_factory=list)
    events: Array = field(default_factory=lambda: np.zeros((0, 4), np.int32))
    slots: tuple[Path, ...] = ()
    projections: dict[int, Name] = field(default_factory=dict)
    operations: dict[int, Name] = field(default_factory=dict)
    calls: dict[int, Name] = field(default_factory=dict)
    results: dict[tuple[int, int], Any] = field(default_factory=dict)
    call_results: dict[tuple[int, int], Any] = field(default_factory=dict)
    outcomes: dict[int, OutcomeData] = field(default_factory=dict)


def lesson_of(layout: Layout, rows: Array, pairs: Array) -> tuple[Lesson, Array]:
    """A lesson about some (position, root) pairs of rows, and the positions of its rows."""
    positions, numbered = np.unique(pairs[:, 0], return_inverse=True)
    own = rows[positions]
    paths, values, columns = [], [], []
    for slot in layout.slots[: own.shape[1]]:
        ids = np.unique(own[:, slot.id]).tolist()
        if ids != [0]:
            paths.append(slot.path)
            values.append({id: intern_key(slot.values[id]) for id in ids})
            columns.append(slot.id)
    lesson = Lesson(
        tuple(paths),
        tuple(values),
        np.ascontiguousarray(own[:, columns]),
        np.stack([numbered.reshape(-1), pairs[:, 1]], 1).astype(np.int32),
    )
    return lesson, positions


def value_of(key: Any, classes: Mapping[str, type]) -> Any:
    """The value of an `intern_key`.

    Raises:  LookupError for one that cannot be had from its key
    """
    if type(key) is not bytes:
        return key
    try:
        value = decode(key, classes)
    except (StatewalkError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise LookupError(key) from error
    if intern_key(value) != key:
        raise LookupError(key)
    return value


def identity(model: Model, roots: Roots) -> bytes:
    """A digest of what two loads of one spec must have in common to speak of the same."""
    told = hashlib.sha256()
    states = [*model.initial_states, model.fixed]
    about: list[object] = [
        [(root.kind, root.group, root.label) for root in roots.all],
        [(a.label, a.fairness, a.slot, a.continues, a.fault) for a in model.actions],
        sorted(map(repr, model.fields.items())),
        sorted((name, repr(value)) for name, value in model.constants.items()),
        sorted((name, [r.index for r in found]) for name, found in model.roles.items()),
        [sorted((repr(path), _bytes(value)) for path, value in s.items()) for s in states],
    ]
    for part in about:
        told.update(repr(part).encode() + b"\n")
    return told.digest()


def _bytes(value: Any) -> bytes:
    return b"" if value is ABSENT else encode(value)
