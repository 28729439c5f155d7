"""Two worlds for the same operations: plain Python objects, and the state of a spec.

In the plain world, what is stored is copied by hand, as the state does by itself; everything else
is Python's own semantics, aliases included.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from statewalk.dsl.binding import bound
from statewalk.dsl.loader import load
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.values.records import Bag, Record
from statewalk.dsl.values.stored import FrozenBag

SPEC = """
from statewalk import Bag, Record, State, always, deadlock

class Node(Record):
    v: int = 0
    kids: "list[Node]" = []
    tags: dict[str, int] = {}
    seen: set[int] = set()
    next: "Node | None" = None

class Box(State):
    nodes: list[Node] = []
    one: Node | None = None
    by: dict[int, Node] = {}
    rows: dict[str, list[int]] = {}
    words: set[str] = set()
    numbers: list[int] = []
    bag: Bag[str] = Bag()
    deep: list[dict[str, list[int]]] = []

    def touch(self, name: str) -> None:
        setattr(self, name, None)  # so that every field counts as written and listed

box = Box()
deadlock(False)

@always
def fine() -> bool:
    return True
"""


class PlainNode:
    """The record in plain Python."""

    def __init__(self, v: int = 0) -> None:
        self.v = v
        self.kids: list[PlainNode] = []
        self.tags: dict[str, int] = {}
        self.seen: set[int] = set()
        self.next: PlainNode | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainNode) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]


class PlainBag:
    """A bag in plain Python."""

    def __init__(self) -> None:
        self.content: Counter[str] = Counter()

    def add(self, element: str) -> None:
        self.content[element] += 1

    def discard(self, element: str) -> None:
        self.content[element] -= self.content[element] > 0

    def remove(self, element: str) -> None:
        if not self.content[element]:
            raise KeyError(element)
        self.content[element] -= 1

    def count(self, element: str) -> int:
        return self.content[element]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.content.elements()))

    def __len__(self) -> int:
        return sum(self.content.values())

    def __contains__(self, element: str) -> bool:
        return self.content[element] > 0


class PlainBox:
    """The shared object in plain Python."""

    def __init__(self) -> None:
        self.nodes: list[PlainNode] = []
        self.one: PlainNode | None = None
        self.by: dict[int, PlainNode] = {}
        self.rows: dict[str, list[int]] = {}
        self.words: set[str] = set()
        self.numbers: list[int] = []
        self.bag = PlainBag()
        self.deep: list[dict[str, list[int]]] = []


class World:
    """A box, and the names a spec would give to parts of it."""

    def __init__(self, box: Any, node: Any, *, copies: bool) -> None:
        self.box = box
        self.node = node
        self.names: list[Any] = []
        self._copies = copies

    def kept(self, value: Any) -> Any:
        """Return what is stored of a value: a copy."""
        return copy.deepcopy(value) if self._copies else value

    def content(self) -> Any:
        """Everything in the box, in plain terms."""
        box = self.box
        return {name: plain(getattr(box, name)) for name in FIELDS}


FIELDS = ("nodes", "one", "by", "rows", "words", "numbers", "bag", "deep")


def plain(value: Any) -> Any:
    """A value of either world as something that can be compared."""
    if isinstance(value, PlainNode | Record):
        return {n: plain(getattr(value, n)) for n in ("v", "kids", "tags", "seen", "next")}
    if isinstance(value, PlainBag | Bag | FrozenBag) or hasattr(value, "_bag"):
        return sorted(value)
    if type(value).__name__ == "BagReference":
        return sorted(value)
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, dict):
        return {k: plain(value[k]) for k in sorted(value)}
    return value


def spec_model(folder: Path) -> Any:
    """The model of the spec with the box."""
    path = folder / "box.py"
    path.write_text(SPEC)
    return load(path, optimize=False)


@contextmanager
def state_world(model: Any) -> Iterator[World]:
    """The box inside one step of a spec."""
    view = PlainView(model.initial_states[0])
    with bound(view, classes=model.classes):
        world = World(model.roles["Box"][0], model.classes["Node"], copies=False)
        yield world
    with bound(PlainView(apply_writes(view.base, view.writes)), classes=model.classes):
        world.names = []
        world.after = world.content()  # type: ignore[attr-defined]


def plain_world() -> World:
    """The box in plain Python."""
    return World(PlainBox(), PlainNode, copies=True)
