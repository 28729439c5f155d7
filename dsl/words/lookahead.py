"""Looking one step ahead in properties: which actions are enabled here, and which states follow.

Both run the spec's own actions against a view that keeps their writes to itself, so they mean what
the search means, and an engine that remembers what a property looked at remembers this as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from statewalk.dsl.binding import binding, bound
from statewalk.dsl.errors import SpecError, did_you_mean
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.values.stored import same
from statewalk.dsl.view import Disabled, Path, Place, View, runs
from statewalk.dsl.words.lasting import lasting, without_places

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
        """See `View`."""
        return self.writes[path] if path in self.writes else self.around.get(path)

    def project(self, path: Path, key: object, fn: Callable[[Any], Any], place: Place = ()) -> Any:
        """See `View`."""
        if path in self.writes:
            return fn(self.writes[path])
        return self.around.project(path, key, fn, place)

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        """See `View`."""
        if self.is_unseen(path, key):
            self.unseen.append(path)
        else:
            super().update(path, key, fn)

    def is_unseen(self, path: Path, key: object) -> bool:
        """Whether an update is of a slot that nobody may read, and cannot fail."""
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
        """An expression's value in the state after the step: ``step.after(lambda: self.n)``."""
        with without_places("after"):
            return self.look(lambda: cast(T, lasting(expression(), "after")))

    def look(self, expression: Callable[[], T], /) -> T:
        """The same of whoever sees to it that what it gives looks at no state any more."""
        with bound(self._view, None, None, binding.reading, binding.actions):
            return expression()

    @property
    def changes(self) -> bool:
        """Whether the step changes the state."""
        view = self._view
        for path in view.unseen:
            view.around.get(path)
        return any(not same(view.around.get(path), value) for path, value in view.writes.items())


def enabled(action: Callable[..., object] | str, /, *arguments: object) -> bool:
    """Whether a step of an action is possible here.

    ``action`` is a name, a function (``Client.send``: of any client) or a method of an instance
    (``client.send``); ``arguments`` fix the first parameters. A step that would raise counts.
    """
    return any(True for instance in _instances(action, arguments) for _ in _ways(instance))


def next_steps(action: Callable[..., object] | str | None = None, /) -> list[NextStep]:
    """The steps that are possible here, in the order of the spec; those that raise are left out.

    So are faults; bounds on the number of actions, and of those in flight, are not looked at.
    """
    return [
        NextStep(
            instance.name,
            instance.actor,
            instance.arguments,
            view,
            "thread" if instance.continues else "action",
        )
        for instance in _instances(action, ())
        if not instance.fault
        for view in _ways(instance, unbounded=True)
        if view is not None
    ]


def _ways(instance: Any, unbounded: bool = False) -> Iterator[AheadView | None]:
    """Every way an action can go from here; None for one that raises."""
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
    """The action instances meant. Raises SpecError[SW121] where there are none of that name."""
    if binding.view is None or not binding.reading:
        raise SpecError("SW121", "enabled(...) and next_steps(...) are for properties only.")
    if action is None:
        return list(binding.actions)
    found = [a for a in binding.actions if _is(a, action)]
    if not found:
        name = action if isinstance(action, str) else _name(action)
        known = dict.fromkeys(a.name for a in binding.actions)
        raise SpecError("SW121", f"There is no action {name}. {did_you_mean(name, known)}")
    return [a for a in found if _begins(tuple(v for _, v in a.arguments), arguments)]


def _is(instance: Any, action: Callable[..., object] | str) -> bool:
    """Whether an action instance is one of those that a name, function or method means."""
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
    """The name of an action: that of ``@action(name=...)``, else the function's."""
    marks = getattr(action, "_statewalk_marks", [])
    given = next((m.options.get("name") for m in marks if m.kind == "action"), None)
    return str(given or getattr(action, "__name__", action))


def _begins(given: tuple[Any, ...], arguments: tuple[object, ...]) -> bool:
    return len(given) >= len(arguments) and all(map(same, given, arguments))
