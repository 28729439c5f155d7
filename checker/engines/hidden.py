"""Under a view nothing that decides may read what the view hides: a model that sees to it.

States that differ in hidden fields only are one state then, and what is met first stands for all of
them. As long as no step and no property reads a hidden field, the rest of a state alone says
what can happen and what is true there, and the search finds what it would find without the view.
So the first read ends it. Writing is free, and so are changes that neither give anything back nor
can fail because of what is there (``n += 1``, ``log.append(x)``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

from statewalk.checker.contract.search import Pass, SearchOptions
from statewalk.dsl.declared import Fairness
from statewalk.dsl.errors import RunError, place_of
from statewalk.dsl.model import Action, Model, Property
from statewalk.dsl.source.modules import FILES
from statewalk.dsl.state.roles import Field
from statewalk.dsl.view import CallResult, Path, Place, View

_SIGNS = frozenset({"+", "-", "*", "|", "&", "^"})
_FREE = frozenset({"append", "extend", "add", "discard", "keep", "xor", "set", "remove", "clear"})

Fields = frozenset[tuple[str, str]]
Hidden = Mapping[tuple[str, str], frozenset[int]]
"""Fields, each with the instances of which it is shown all the same."""


class HiddenRead(BaseException):
    """Something that decides read a hidden field. ``error`` is for the reader, ``predicate`` what
    read it, if that was no step. ``parted``: a step wrote only a part of what is watched.

    Not an `Exception`, so that an engine does not take it for one of the spec's.
    """

    parted = False

    def __init__(self, error: RunError, path: Path, predicate: object = None) -> None:
        super().__init__()
        self.error, self.path, self.predicate = error, path, predicate


class _Read(BaseException):
    """Ends the run that read a hidden slot."""


class HidingView:
    """Another view, of which hidden slots are written only, or read once the step has set them.

    After the first other read, ``read`` is its path, and ``ended`` what was raised there.
    """

    def __init__(self, view: View, hidden: Hidden, numbers: Fields) -> None:
        self._view = view
        self._hidden = hidden
        self._numbers = numbers
        self._set: set[Path] = set()
        self._changed: Path | None = None
        self._updated: set[Path] = set()
        self.read: Path | None = None
        self.ended = _Read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def _is_hidden(self, path: Path) -> bool:
        shown = self._hidden.get((path[0], path[2])) if len(path) > 2 else None
        return shown is not None and path[1] not in shown

    def _look(self, path: Path) -> None:
        if self._is_hidden(path) and path not in self._set:
            self._refuse(path)

    def _refuse(self, path: Path) -> NoReturn:
        self.read = path
        raise self.ended

    def get(self, path: Path) -> Any:
        """See `View`."""
        self._look(path)
        return self._view.get(path)

    def project(self, path: Path, key: object, fn: Callable[[Any], Any], place: Place = ()) -> Any:
        """See `View`."""
        self._look(path)
        return self._view.project(path, key, fn, place)

    def set(self, path: Path, value: Any) -> None:
        """See `View`."""
        if self._is_hidden(path):
            self._set.add(path)
        self._view.set(path, value)

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        """See `View`."""
        if self.is_unseen(path, key):
            self._changed = path
            self._updated.add(path[:3])
        else:
            self._look(path)
        self._view.update(path, key, fn)

    def call(self, key: tuple[object, ...], fn: CallResult) -> Any:
        """See `View`."""
        return self._view.call(key, fn)

    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any:
        """See `View`."""
        return self._view.choose(options, fair)

    def progress(self) -> object:
        """See `View`."""
        if self._changed is not None:
            self._refuse(self._changed)
        return self._view.progress()

    def later(self, path: Path) -> Callable[[], Any]:
        """See `View`."""
        value = self._view.later(path)
        if not self._is_hidden(path) or path in self._set:
            return value

        def look() -> Any:
            self._refuse(path)

        return look

    def parted(self, slots: frozenset[Path]) -> Path | None:
        """Return a slot of some that were written, but not all of them as a whole."""
        written = {path[:3] for path in self._set} | self._updated
        whole = {path for path in self._set if len(path) == 3} - self._updated
        return next(iter(written & slots), None) if not slots <= whole else None

    def is_unseen(self, path: Path, key: object) -> bool:
        """Return whether an update is of a slot that nobody may read, and cannot fail."""
        hidden = self._is_hidden(path) and path not in self._set
        return hidden and is_free(path, key, self._numbers)


def is_free(path: Path, key: object, numbers: Fields) -> bool:
    """Return whether an update that is known by a key never fails for what is there."""
    depth = 0
    while isinstance(key, tuple) and key:
        depth, key = depth + 1, key[0]  # a part of a record: (the update of the part, its name)
    if key in _SIGNS:
        return depth > 1 or (path[0], path[2]) in numbers
    return key in _FREE


class WatchingView(HidingView):
    """Another view, of which only some slots may be read."""

    def __init__(self, view: View, slots: frozenset[Path]) -> None:
        super().__init__(view, {}, frozenset())
        self._slots = slots

    def _is_hidden(self, path: Path) -> bool:
        return path[:3] not in self._slots


@dataclass
class HidingModel(Model):
    """A model whose steps and properties raise `HiddenRead` where they read a hidden field.

    ``numbers`` are the hidden fields that hold any number (or any text) while their role is there.
    ``watched`` are predicates of steps that may read some hidden slots, those that the step just
    wrote, and nothing else. A step that writes one of these slots has to replace all of them.
    """

    hidden: Hidden = field(default_factory=dict)
    numbers: Fields = frozenset()
    watched: Mapping[object, frozenset[Path]] = field(default_factory=dict)

    def take(self, action: Action, view: View, part: Callable[[], object] | None = None) -> object:
        """See `Model.take`."""
        seen = HidingView(view, self.hidden, self.numbers)
        try:
            result = super().take(action, seen, part)
        finally:  # whatever the spec did after it
            if seen.read is not None:
                raise _refusal(seen, f"the step '{action.name}'")
        for slots in self.watched.values() if part is None else ():
            if (path := seen.parted(slots)) is not None:
                seen.read = path
                raise _refusal(seen, f"the step '{action.name}'", parted=True)
        return result

    def holds(
        self,
        predicate: Callable[[], bool],
        view: View,
        before: View | None = None,
        part: Callable[[], object] | None = None,
    ) -> bool:
        """See `Model.holds`."""
        slots = self.watched.get(predicate)
        seen = HidingView(view, self.hidden, self.numbers)
        seen = seen if slots is None else WatchingView(view, slots)
        old = None if before is None else HidingView(before, self.hidden, self.numbers)
        try:
            return super().holds(predicate, seen, old, part)
        finally:
            for each in (seen, old):
                if each is not None and each.read is not None:
                    raise _refusal(each, *_reader(self, predicate), predicate)


def _refusal(
    seen: HidingView, reader: str, way_out: str = "", predicate: object = None, *,
    parted: bool = False,
) -> HiddenRead:  # fmt: skip
    """Return what is said of a read."""
    assert seen.read is not None
    place = f"{seen.read[0]}.{seen.read[2]}"
    error = RunError(
        "SW356",
        f"With --view on, {reader} cannot read {place}.",
        at=place_of(seen.ended, FILES),
        why=f"The view merges states that differ only in {place}, so the result would be that of "
        "the state found first.",
        help=f"Check with --view off, or make {place} a field that is not Auxiliary{way_out}.",
    )
    found = HiddenRead(error, seen.read, predicate)
    found.parted = parted
    return found


def hiding(model: Model, watched: Mapping[object, frozenset[Path]] | None = None) -> HidingModel:
    """Return the same model, for a search under the view that leaves auxiliary fields out."""
    hidden = {key: info.shown for key, info in model.fields.items() if info.auxiliary}
    content = {f.name: getattr(model, f.name) for f in fields(model)}
    numbers = numbers_of(model, hidden)
    return HidingModel(**content, hidden=hidden, numbers=numbers, watched=watched or {})


class Hiding(Pass):
    """Search the model under its view, where that is asked for."""

    def before(self, model: Model, asked: SearchOptions) -> tuple[Model, SearchOptions]:
        return hiding(model) if asked.view else model, asked


def numbers_of(model: Model, keys: Iterable[tuple[str, str]]) -> Fields:
    """Return the fields, of some, that hold any number or any text while their role is there."""
    return frozenset(key for key in keys if _is_number(model, *key))


def _is_number(model: Model, owner: str, name: str) -> bool:
    """Return whether a field holds any number or any text, and does so while its role is there."""
    found = getattr(model.classes.get(owner), name, None)
    if not isinstance(found, Field) or not (found.settled or found.given):
        return False
    return found.domain.text in ("an integer", "a string")


def _reader(model: Model, predicate: Callable[[], bool]) -> tuple[str, str]:
    """Return what a predicate belongs to, and the way out that only a property has."""
    kinds: tuple[tuple[str, tuple[Property, ...]], ...] = (
        ("property", model.properties),
        ("constraint", (*model.constraints, *model.step_constraints)),
        ("terminal condition", model.terminal),
        ("assumption", model.assumptions),
    )
    for kind, group in kinds:
        for prop in group:
            if predicate in _predicates(prop):
                name = prop.name.partition(" (premise)")[0]
                out = f", or leave {name} out with --property" if kind == "property" else ""
                return f"the {kind} '{name}'", out
    return f"'{getattr(predicate, '__name__', 'a property')}'", ""


def _predicates(prop: Property) -> Iterator[Callable[[], bool] | None]:
    for unit in prop.units:
        yield from (unit.whole, unit.premise)
    yield from (element.holds for element in prop.elements)
