"""The tracing View: does what a spec asks of a state, and takes notes of what was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from statewalk.checker.engines.layout import Slot
from statewalk.checker.native.kernels.arrays import CALL, FORK, PROJECT, READ
from statewalk.checker.native.learn.learned import Event, Learned
from statewalk.checker.native.learn.memo import OPAQUE, Call, leaf_of_result, result_id
from statewalk.dsl.declared import Fairness
from statewalk.dsl.state.plain_view import fair_choice
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import WHOLE, CallResult, Disabled, FairChoice, Path, Place, count_choices


class LookAgain(BaseException):
    """A blind update raised: from now on it looks at the value; paths are learned anew.

    Not an `Exception`, so that a spec does not swallow it.
    """

    def __init__(self, operation: int) -> None:
        super().__init__(operation)
        self.operation = operation


class NotToRemember(BaseException):
    """A call was not to be remembered. ``function`` as in `Call.function`.

    Not an `Exception`, so that a spec does not swallow it.
    """

    def __init__(self, function: object) -> None:
        super().__init__(function)
        self.function = function


class Overwritten(NotToRemember):
    """It looks at what the step has changed."""


class NotOnlyReading(NotToRemember):
    """It changes something, or chooses, which its text did not show; or it goes too deep."""


_UNKNOWN = object()


class TracingView:
    """A view of one state, given as a row of value ids.

    ``events`` is the path so far. A slot is noted when first read; a value written is known without
    looking. ``side`` is None in a state; in a step 0 tells the state after it and 1 the one before,
    and slots are then numbered ``2 * slot + side`` in events.
    """

    def __init__(self, learned: Learned, side: int | None = None) -> None:
        self._learned = learned
        self._layout = learned.layout
        self._slots = learned.layout.by_path
        self._side = side
        self.begin([], [])

    def begin(
        self,
        row: Sequence[int],
        script: Sequence[int],
        events: list[Event] | None = None,
        root: int = -1,
    ) -> None:
        """Start a root anew in a state, to take the choices of the script."""
        self.row = row
        self.script = script
        self.root = root
        self.events: list[Event] = [] if events is None else events
        self.choices: list[tuple[int, int]] = []  # where there was more than one option
        self._asked = 0
        self.fair: list[FairChoice] = []
        self.reads: set[int] = set()
        self.touched: set[int] = set()
        self.calls: set[int] = set()
        self.written: dict[int, Any] = {}
        self.pending: dict[int, int] = {}  # operations that nobody asked for the result of
        self._updated: dict[int, Any] = {}  # their results
        self.blind: set[int] = set()  # operations applied without looking, also those overwritten
        self._projected: dict[int, Any] = {}
        self._known: dict[int, set[Place]] = {}  # places in slots that were seen as a whole
        self._results: dict[object, Any] = {}
        self._remembering: object = None  # the function of the outermost call being learned
        self.refused: BaseException | None = None  # raised to end the search, whatever catches it

    # -- reading -------------------------------------------------------------------------------

    def _old_id(self, slot: int) -> int:
        return self.row[slot] if slot < len(self.row) else 0

    def _code(self, slot: int) -> int:
        return slot if self._side is None else 2 * slot + self._side

    def _read(self, slot: Slot) -> Any:
        """Return the value before the step, noted."""
        number, row = slot.id, self.row
        id = row[number] if number < len(row) else 0
        if number not in self.reads:
            self.reads.add(number)
            self.touched.add(number)
            self.events.append((READ, self._code(number), 0, id))
        return slot.values[id]

    def get(self, path: Path) -> Any:
        slot = self._slots[path]
        number = slot.id
        if number in self.written:
            self._forbid_remembering()
            return self.written[number]
        value = self._read(slot)
        if number in self.pending:
            self._forbid_remembering()
            del self.pending[number]
            value = self.written[number] = self._updated.pop(number)
        return value

    def project(self, path: Path, key: object, fn: Callable[[Any], Any], place: Place = ()) -> Any:
        learned = self._learned
        slot = self._slots[path]
        number = slot.id
        if number in self.written or number in self.reads:
            return fn(self.get(path))
        row, known = self.row, self._known.get(number)
        id = row[number] if number < len(row) else 0
        if number in self.pending:
            self._forbid_remembering()
            before, value = self.pending[number], self._updated[number]
            if known is not None and _is_in(known, place):
                return fn(value)
            whole_key: object = ("after", before, key, place)
        else:
            before, value = -1, slot.values[id]
            if known is not None and _is_in(known, place):
                return fn(value)
            whole_key = (key, place)
        projection = learned.projection_of.get((number, whole_key))
        if projection is None:
            full = fn if before < 0 else _in_turn(learned.operations[before].function, fn)
            projection = learned.projection(slot, whole_key, full)
        elif projection in self._projected:
            return self._projected[projection]
        about = learned.projections[projection]
        result = about.known.get(id)
        if result is None:
            result = learned.project(projection, id, lambda: fn(value))
        self.touched.add(number)
        self.events.append((PROJECT, self._code(number), projection, result))
        if result == OPAQUE:
            return fn(self.get(path))
        if key is WHOLE:
            self._known.setdefault(number, set()).add(place)
        found = self._projected[projection] = about.results[result]
        return found

    def later(self, path: Path) -> Callable[[], Any]:
        slot = self._slots[path]
        number = slot.id
        if number in self.written:
            value = self.written[number]
            return lambda: value
        if number in self.pending:
            update = self._learned.operations[self.pending[number]].function
            return lambda: update(self._read(slot))
        return lambda: self._read(slot)

    # -- remembered calls ------------------------------------------------------------------------

    def call(self, key: tuple[object, ...], fn: CallResult) -> Any:
        learned, function = self._learned, key[:2]
        outermost = self._remembering is None
        writing = bool(self.written or self.pending)
        if (
            self._side is not None
            or function in learned.not_only_reading
            or (writing and outermost and (self.root, function) in learned.inlined)
        ):
            return fn()
        call = learned.call(key, fn)
        if outermost:
            self._remembering = function
        try:
            if key not in self._results:
                self._call(key, call, fn)
            if writing:
                self._rely(call, outermost)
        finally:
            if outermost:
                self._remembering = None
        result = self._results[key]
        return fn() if result is _UNKNOWN else result

    def _call(self, key: object, call: Call, fn: Callable[[], Any]) -> None:
        """Find out what a call gives, and note that it was asked for."""
        learned = self._learned
        result = learned.call_result(call, self.row)
        if result <= OPAQUE:
            result = self._learn_call(call, fn)
        self.calls.add(call.number)
        self.events.append((CALL, 0, call.number, result))
        # What raises or cannot be stored is not remembered, but run again by whoever asks.
        self._results[key] = call.results[result] if result != OPAQUE else _UNKNOWN

    def _learn_call(self, call: Call, fn: Callable[[], Any]) -> int:
        """Run a call and remember the path; its result's number."""
        learned = self._learned
        outer = (self.events, self.reads, self.touched, self.calls)
        outer_known = (self._projected, self._results, self._known)
        self.events, self.reads, self.touched, self.calls = [], set(), set(), set()
        self._projected, self._results, self._known = {}, {}, {}
        try:
            result = result_id(call.results, call.ids, fn())
        except RecursionError:  # where Python ends is no matter of the state: see what it does
            raise NotOnlyReading(self._remembering) from None
        except (Exception, Disabled):
            result = OPAQUE
        finally:
            events, touched, calls = self.events, self.touched, self.calls
            self.events, self.reads, self.touched, self.calls = outer
            self._projected, self._results, self._known = outer_known
        roots = learned.call_roots.data
        self._agree(learned.insert(roots, call.number, events, leaf_of_result(result)))
        if self.root in learned.call_reads(call.number, touched, calls):
            raise Overwritten(None)
        return result

    def ask(self, call: Call) -> None:
        """Run a call that was missed, on its own, and remember the path."""
        assert call.run is not None
        self._remembering = call.function
        self._learn_call(call, call.run)

    def _rely(self, call: Call, outermost: bool) -> None:
        """Use a call's result after the step has changed something: it must not look at that."""
        overwritten = self.written.keys() | self.pending.keys()
        if not call.slots.isdisjoint(overwritten):
            raise Overwritten(self._remembering)
        if outermost:
            call.overwritten.setdefault(self.root, set()).update(overwritten)

    def _forbid_remembering(self) -> None:
        """A remembered call may not look at what the step has changed."""
        if self._remembering is not None:
            raise Overwritten(self._remembering)

    def _forbid_doing(self) -> None:
        """A remembered call only reads."""
        if self._remembering is not None:
            raise NotOnlyReading(self._remembering)

    def _agree(self, contradiction: str | None) -> None:
        if contradiction is not None:
            raise Contradiction(contradiction)

    def progress(self) -> object:
        for number in tuple(self.pending):
            self.get(self._layout.slots[number].path)
        return frozenset((slot, intern_key(value)) for slot, value in self.written.items())

    # -- writing -------------------------------------------------------------------------------

    def set(self, path: Path, value: Any) -> None:
        self._forbid_doing()
        slot = self._slots[path]
        if slot.id in self.pending:
            del self._updated[slot.id]
            self._settle(slot, self.pending.pop(slot.id))
        self.written[slot.id] = value

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        self._forbid_doing()
        slot = self._slots[path]
        number = slot.id
        if number in self.written or number in self.reads:
            self.set(path, fn(self.get(path)))
            return
        before, whole = self.pending.get(number), fn
        if before is not None:
            first = self._learned.operations[before].function
            key, whole = ("then", before, key), _in_turn(first, fn)
        operation = self._learned.operation(slot, key, whole)
        known = self._learned.operations[operation]
        if known.raising:
            self.set(path, whole(self._read(slot)))
            return
        id = self._old_id(number)
        if id not in known.after:
            try:
                known.after[id] = fn(slot.values[id] if before is None else self._updated[number])
            except Exception:
                raise LookAgain(operation) from None
        self.blind.add(operation)
        self.pending[number], self._updated[number] = operation, known.after[id]
        self._known.pop(number, None)

    def _settle(self, slot: Slot, operation: int) -> None:
        """Note that a blind update whose result is not needed did not raise: elsewhere it might."""
        function = self._learned.operations[operation].function
        projection = self._learned.projection(slot, ("raises", operation), _raises(function))
        result = self._learned.project(projection, self._old_id(slot.id))
        self.touched.add(slot.id)
        self.events.append((PROJECT, self._code(slot.id), projection, result))

    def give_up(self) -> None:
        """End a run that writes nothing although it may have begun to."""
        for number, operation in self.pending.items():
            self._settle(self._layout.slots[number], operation)

    # -- choosing ------------------------------------------------------------------------------

    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any:
        if not options:
            raise Disabled
        self._forbid_doing()
        count_choices(range(self._asked))
        self._asked += 1
        index = 0
        if len(options) > 1:
            at = len(self.choices)
            index = self.script[at] if at < len(self.script) else 0
            if index >= len(options):
                raise Contradiction(f"first it chose among more options, then among {len(options)}")
            self.choices.append((index, len(options)))
            self.events.append((FORK, 0, len(options), index))
        if fair != "none":
            self.fair.append(fair_choice(len(self.fair), options[index], fair))
        return options[index]


class Contradiction(BaseException):
    """A spec did something else when it was run again; the text tells what."""


def _is_in(known: set[Place], place: Place) -> bool:
    """Return whether a place is one of some, or in one."""
    if place in known:
        return True
    return bool(place) and any(place[:n] in known for n in range(len(place)))


def _in_turn(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: second(first(value))


def _raises(function: Callable[[Any], Any]) -> Callable[[Any], bool]:
    def raises(value: Any) -> bool:
        try:
            function(value)
        except Exception:
            return True
        return False

    return raises
