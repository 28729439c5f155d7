"""A search in Python that runs programs: for a few states, where kernels are not compiled yet.

It is the reference engine's search, which asks a function's program (decision 0048) in place of
the function. What has no program runs as it is written.
"""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass, replace
from itertools import chain, repeat

from statewalk.checker.contract.search import Exploration, Progress, SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.reference import Row
from statewalk.checker.engines.repeats import Repeats
from statewalk.checker.machine.ahead import Background, are_kept
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.learning import make_roots
from statewalk.checker.native.programs.operations import GaveUp
from statewalk.checker.native.programs.programs import Programs
from statewalk.checker.replaying import Replaying
from statewalk.dsl.model import Model

STATES = 200_000
"""More than these are searched by kernels, compiled first if need be."""


def fits(model: Model, options: SearchOptions) -> bool:
    """Return whether a search can be done here: nobody asks for more than its states."""
    return (
        model.tree is not None
        and options.programs != "none"
        and not (options.symmetry or options.view)
        and all(p.of_kind.searched for p in model.properties if options.wants(p.name))
    )


def explore_uncompiled(model: Model, options: SearchOptions) -> Exploration | None:
    """Search as long as kernels are not compiled, which another process does meanwhile.

    None where they are there, or where the search has more states than this is good for.
    """
    if not fits(model, options) or are_kept():
        return None
    large = False
    with Background(getattr(options.on_progress, "compiling", _nothing)) as compiling:

        def interrupted() -> bool:
            nonlocal large
            large = large or compiling.is_done()
            return large or options.interrupted()

        def told(progress: Progress) -> None:
            nonlocal large
            large = large or progress.distinct > STATES
            if options.on_progress is not None:
                options.on_progress(progress)

        found = explore(model, replace(options, interrupted=interrupted, on_progress=told))
    if found is None or large:
        return None
    return replace(found, engine="native", statistics={**found.statistics, "small": True})


def explore(model: Model, options: SearchOptions) -> Exploration | None:
    """Search as `checker.contract.search` says; None where a program turns out not to serve."""
    started = time.monotonic()
    programs = Programs(model, replace(options, program_after=0))
    roots = make_roots(model, options, whole=True)
    layout = Layout(model, options.fingerprint_bits)
    layout.explode(programs.exploded)
    learned = Learned(layout, len(roots.all), roots.end_terminal)
    for state in model.initial_states:
        layout.row(state)
    learned.contribute_all()
    search = QuickSearch(
        model, options, layout, Repeats(model), programs=programs, learned=learned, roots=roots
    )
    try:
        programs.attach(learned, roots.all)
        return reference.run(search, None, started)
    except GaveUp:
        return None


@dataclass(kw_only=True)
class QuickSearch(Replaying):
    """The state of such a search."""

    programs: Programs
    learned: Learned

    def __post_init__(self) -> None:
        """See nothing yet."""
        super().__post_init__()
        self._seen: tuple[Row, Row | None] | None = None
        self._held: array[int] = array("I")  # code has its address
        self._touched: dict[int, int] = {}  # by outcome: roots that may read what it writes

    def leaves(self, number: int, row: Row, before: Row | None = None) -> list[int] | None:
        """See `Replaying.leaves`. Where a root has no program, it is run."""
        if number not in self.programs.roots:
            return None
        if self._seen is None or self._seen[0] is not row or self._seen[1] is not before:
            self._seen = row, before
            if before is None:
                self._held = array("I", row)
            else:
                pairs = zip(row, chain(before, repeat(0)), strict=False)
                self._held = array("q", chain.from_iterable(pairs))
            address = self._held.buffer_info()[0]
            self.programs.look(address, len(row), with_before=before is not None)
        return self.programs.answer(number, row, before)

    def reached(self, row: Row, outcome: int) -> Row:
        """See `Replaying.reached`."""
        after = self.learned.apply([*row], outcome)
        while after and after[-1] == 0:
            after.pop()
        return tuple(after)

    def readers(self, outcome: int) -> int:
        """See `Replaying.readers`."""
        touched = self._touched.get(outcome)
        if touched is None:
            touched, start = 0, int(self.learned.start.data[outcome])
            for at in range(start, start + int(self.learned.count.data[outcome])):
                path = self.layout.slots[int(self.learned.write_slot.data[at])].path
                touched |= self.programs.readers(path[2]) if len(path) > 2 else -1
            self._touched[outcome] = touched
        return touched

    def meet(self, row: Row) -> None:
        """See `Replaying.meet`: programs are asked of it next."""
        self.programs.see(row)


def _nothing() -> None:
    """Tell nobody."""
