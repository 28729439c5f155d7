"""The bindings while the code of a spec runs: the view, and the references taken so far.

Specs are ordinary functions without a state argument, so the state they speak of has to be
somewhere. It is here and only here: one `Binding` per thread of evaluation. Engines evaluate specs
in one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from statewalk.dsl.view import Path, View


class Binding:
    """The view that fields read and write; ``before`` is the state before the step, for `old`.

    ``references`` holds every live reference taken in this run by place, so that one place has one
    reference object, and replacing a place can detach it. ``reading`` names the property being
    evaluated, if one is. ``classes`` are the classes of the model's values by name, ``actions`` the
    action instances that a property may look ahead along. ``step`` and ``ended`` are notes that a
    step makes about itself, see `dsl.blocks.steps`; ``handed`` are the values that it took into
    use, see `dsl.fizz.runtime.symmetry`; ``gone`` are the roles that ended in it.
    """

    __slots__ = (
        "actions", "before", "classes", "ended", "gone", "handed", "reading", "references",
        "step", "view",
    )  # fmt: skip

    def __init__(self) -> None:
        self.view: View | None = None
        self.before: View | None = None
        self.references: dict[Path, dict[tuple[Any, ...], Any]] = {}
        self.reading: str = ""
        self.classes: dict[str, type] = {}
        self.actions: Sequence[Any] = ()
        self.step = "idle"
        self.ended = ""
        self.handed: tuple[str, ...] = ()
        self.gone: tuple[Any, ...] = ()


binding = Binding()


class bound:  # noqa: N801 (reads as a verb: with bound(view): ...)
    """Bind a view for the run of one action or predicate."""

    __slots__ = ("_new", "_notes", "_saved")

    def __init__(
        self,
        view: View | None,
        before: View | None = None,
        classes: dict[str, type] | None = None,
        reading: str = "",
        actions: Sequence[Any] = (),
    ) -> None:
        classes = binding.classes if classes is None else classes
        fresh: dict[Path, dict[tuple[Any, ...], Any]] = {}
        self._new = (view, before, fresh, reading, classes, actions)

    def __enter__(self) -> None:
        b = binding
        self._saved = (b.view, b.before, b.references, b.reading, b.classes, b.actions)
        self._notes = (b.step, b.ended, b.handed, b.gone)
        b.step, b.ended, b.handed, b.gone = "idle", "", (), ()
        b.view, b.before, b.references, b.reading, b.classes, b.actions = self._new

    def __exit__(self, *error: object) -> None:
        b = binding
        b.view, b.before, b.references, b.reading, b.classes, b.actions = self._saved
        b.step, b.ended, b.handed, b.gone = self._notes


class before_the_step:  # noqa: N801
    """Evaluate in the state before the step (the operand of `old`)."""

    __slots__ = ("_saved",)

    def __enter__(self) -> None:
        self._saved = (binding.view, binding.references)
        binding.view, binding.references = binding.before, {}

    def __exit__(self, *error: object) -> None:
        binding.view, binding.references = self._saved
