"""Looking one step ahead in properties: which actions are enabled here, and which states follow.

Both run the spec's own actions against a view that keeps their writes to itself, so they mean what
the search means, and an engine that remembers what a property looked at remembers this as well.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Sequence, ValuesView
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from statewalk.dsl.binding import binding, bound
from statewalk.dsl.errors import SpecError, did_you_mean
from statewalk.dsl.state.detaching import Cell
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.values.frozen import FROZEN
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.stored import describe, freeze, same
from statewalk.dsl.view import Disabled, Path, Place, View, runs


class _Elsewhere(Cell):
    """A place of this state during a look at another one: using it is an error."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        super().__init__(lambda: None)
        self._word = word

    def get(self) -> Any:
        said = f"{self._word}(...) uses a reference that was taken outside it."
        why = "The reference belongs to the current state. In the other state, the same index or "
        why += "key may hold another element, or none."
        help = f"Start from a role inside {self._word}(...), or return the value from it: "
        help += f"other = {self._word}(list(log.entries))."
        raise SpecError("SW121", said, why=why, help=help)

    def set(self, value: Any) -> None:
        self.get()


class without_places:  # noqa: N801 (reads as a preposition)
    """While another state is looked at: references that were taken in this one are an error."""

    __slots__ = ("_taken", "_word")

    def __init__(self, word: str) -> None:
        self._word = word

    def __enter__(self) -> None:
        known = binding.references.values()
        self._taken = [r for places in known for r in places.values() if r._cell is None]
        self._put(_Elsewhere(self._word))

    def __exit__(self, *error: object) -> None:
        self._put(None)

    def _put(self, cell: Cell | None) -> None:
        for reference in self._taken:
            object.__setattr__(reference, "_cell", cell)


_VALUES = (bool, int, str, float, complex, bytes, type(None), Enum, type, range)


def lasting(value: Any, word: str) -> Any:
    """Return a value of another state without references to it. Raises SpecError[SW121]."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset, OrderedSet, OrderedFrozenSet):
        return kind(lasting(v, word) for v in value)
    if kind is dict:
        return {lasting(k, word): lasting(v, word) for k, v in value.items()}
    if kind in FROZEN or hasattr(value, "_freeze"):
        return freeze(value)
    if isinstance(value, KeysView | ValuesView | ItemsView):
        return [lasting(v, word) for v in value]
    if isinstance(value, _VALUES) or getattr(kind, "is_lasting", False):
        return value
    said = f"{word}(...) cannot return {describe(value)}."
    why = "It would be evaluated later, in another state."
    help = f"Compute the result inside {word}(...), and return numbers, strings, lists or "
    help += f"records: {word}(list(...)), {word}(sum(...))."
    raise SpecError("SW121", said, why=why, help=help)


T = TypeVar("T")


class AheadView(PlainView):
    """A view of what a step makes of another view, ``around`` it; that one is only read.

    ``unbounded`` steps may be more in flight, and more in number, than the spec's bounds allow.
    ``unseen`` are the slots that the step changes and ``around`` lets nobody read.
    """

    __slots__ = ("around", "unbounded", "unseen")

    def __init__(self, around: View, script: Sequence[int] = (), unbounded: bool = False) -> None:
        super().__init__({}, script)
        self.around = around
        self.unbounded = unbounded
        self.unseen: list[Path] = []

    def get(self, path: Path) -> Any:
        return self.writes[path] if path in self.writes else self.around.get(path)

    def project(self, path: Path, key: object, fn: Callable[[Any], Any], place: Place = ()) -> Any:
        if path in self.writes:
            return fn(self.writes[path])
        return self.around.project(path, key, fn, place)

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        if self.is_unseen(path, key):
            self.unseen.append(path)
        else:
            super().update(path, key, fn)

    def is_unseen(self, path: Path, key: object) -> bool:
        """Return whether an update is of a slot that nobody may read, and cannot fail."""
        asked = getattr(self.around, "is_unseen", None)
        return path not in self.writes and asked is not None and asked(path, key)


@dataclass(frozen=True)
class NextStep:
    """A step that is possible here: the action's name, its actor and its arguments.

    ``kind`` is "thread" where a suspended run goes on.
    """

    action: str
    actor: Any
    arguments: tuple[tuple[str, Any], ...]
    _view: AheadView
    kind: str = "action"
    is_lasting: ClassVar[bool] = True

    def after(self, expression: Callable[[], T], /) -> T:
        """Return an expression's value in the state after the step: ``step.after(lambda:
        self.n)``.
        """
        with without_places("after"):
            return self.look(lambda: cast(T, lasting(expression(), "after")))

    def look(self, expression: Callable[[], T], /) -> T:
        """Return the same of whoever sees to it that what it gives looks at no state any more."""
        with bound(self._view, None, None, binding.reading, binding.actions):
            return expression()

    @property
    def changes(self) -> bool:
        """Return whether the step changes the state."""
        view = self._view
        for path in view.unseen:
            view.around.get(path)
        return any(not same(view.around.get(path), value) for path, value in view.writes.items())


def enabled(action: Callable[..., object] | str, /, *arguments: object) -> bool:
    """Return whether a step of an action is enabled here.

    ``action`` is a name, a function (``Client.send``: of any client) or a method of an instance
    (``client.send``); ``arguments`` fix the first parameters. A step that would raise counts.
    """
    return any(True for instance in _instances(action, arguments) for _ in _ways(instance))


def next_steps(action: Callable[..., object] | str | None = None, /) -> list[NextStep]:
    """Return the enabled steps in the order of the spec, without faults and steps that raise.

    Bounds on the number of actions are ignored.
    """
    return [
        NextStep(one.name, one.actor, one.arguments, view, "thread" if one.continues else "action")
        for one in _instances(action, ())
        if not one.fault
        for view in _ways(one, unbounded=True)
        if view is not None
    ]


def _ways(instance: Any, unbounded: bool = False) -> Iterator[AheadView | None]:
    """Yield the view of each option of an action in this state; None for one that raises."""
    base = binding.view
    assert base is not None
    for view in runs(lambda script: AheadView(base, script, unbounded)):
        try:
            with bound(view):
                instance.run()
        except Disabled:
            pass
        except Exception as error:
            if isinstance(error, SpecError) and error.code == "SW121":
                raise  # what an action may not ask is no step of it
            yield None
        else:
            yield view


def _instances(
    action: Callable[..., object] | str | None, arguments: tuple[object, ...]
) -> list[Any]:
    """Return the action instances meant.

    Raises SpecError[SW121] where there are none of that name.
    """
    if binding.view is None or not binding.reading:
        said = "enabled(...) and next_steps(...) are for properties only."
        help = "In an action, call the guard of the other action as a function: require(ready())."
        raise SpecError("SW121", said, help=help)
    if action is None:
        return list(binding.actions)
    found = [a for a in binding.actions if _is(a, action)]
    if not found:
        name = action if isinstance(action, str) else _name(action)
        known = dict.fromkeys(a.name for a in binding.actions)
        raise SpecError("SW121", f"There is no action {name}. {did_you_mean(name, known)}")
    return [a for a in found if _begins(tuple(v for _, v in a.arguments), arguments)]


def _is(instance: Any, action: Callable[..., object] | str) -> bool:
    """Return whether an action instance is one of those that a name, function or method means."""
    if isinstance(action, str):
        return bool(instance.name == action)
    if instance.name != _name(action):
        return False
    bound_to = getattr(action, "__self__", None)
    if bound_to is not None:
        return bool(instance.actor == bound_to)
    if instance.actor is None:
        return "." not in action.__qualname__  # of a module, not of a role
    return getattr(type(instance.actor), action.__name__, None) is action


def _name(action: Callable[..., object]) -> str:
    """Return the name of an action: that of ``@action(name=...)``, else the function's."""
    marks = getattr(action, "_statewalk_marks", [])
    given = next((m.options.get("name") for m in marks if m.kind == "action"), None)
    return str(given or getattr(action, "__name__", action))


def _begins(given: tuple[Any, ...], arguments: tuple[object, ...]) -> bool:
    return len(given) >= len(arguments) and all(map(same, given, arguments))
