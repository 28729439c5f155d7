"""A check as a list of passes around one search.

Passes see the model in the order of the list, and what was found in the opposite one, so that the
last is next to the engine. What they decide they note in one `Checked`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from statewalk.checker.contract import rescue
from statewalk.checker.contract.late import named
from statewalk.checker.contract.saved import OtherPremises
from statewalk.checker.contract.search import (
    ASSERTION,
    DEADLOCK,
    NO_ERROR,
    Engine,
    Exploration,
    Finding,
    Pass,
    SearchCounts,
    SearchOptions,
)
from statewalk.checker.engines.hidden import HiddenRead, Hiding
from statewalk.checker.engines.resets import refuse_reduce
from statewalk.checker.engines.slices import Sliced, refuse_slices
from statewalk.checker.engines.table import SmallFirst
from statewalk.checker.liveness.in_a_check import Liveness, keeping, keeping_first, not_decided
from statewalk.checker.machine import supervisor
from statewalk.checker.machine.supervisor import End
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.symmetry.group import Families
from statewalk.checker.verdict.guards import Premises
from statewalk.checker.verdict.judge import Checked
from statewalk.dsl.view import Endless


@dataclass
class _Killed(Pass):
    """A stand-in for a killed search: its notes; nothing of the spec is run again."""

    end: End
    name: str

    def explore(self, _model: object, _asked: object) -> Exploration:
        return rescue.exploration(self.end, self.name)

    def after(self, _found: Exploration) -> Exploration:
        raise CutShort("interrupt", rescue.place(self.end))


def around(
    checked: Checked, asked: SearchOptions, name: str, engine: Engine, stack: ExitStack
) -> tuple[list[Pass], Engine]:
    """Return the passes of a check, and the engine for its search, by the name of its own one."""
    if supervisor.rescue is not None:
        killed = _Killed(supervisor.rescue, name)
        return [killed, Families()], killed
    model, options = checked.model, checked.options
    passes: list[Pass] = []
    further = replace(asked, checkpoint=None, resume=False)  # these searches are not saved
    refined = bool(asked.wanted(model, "specs"))
    # Under a limit of memory the search comes first, and in parts there is no graph of the whole.
    rows = refined and options.max_memory is None and asked.checkpoint is None
    search = keeping(engine, name, model, options, asked, rows)
    if refined:
        refinements = named("statewalk.checker.refinement.in_a_check", "Refinements")
        passes.append(refinements(checked, further, rows))
    passes.append(Liveness(checked, further))
    if options.graph is not None:
        writing = named("statewalk.checker.graph.relations", "Writing")
        graph = writing(checked, asked, name, options.graph, stack)
        search = search if graph.written is None else graph
        passes.append(graph)
    if options.slices != "off":
        refuse_slices(asked, {"--graph": options.graph is not None, "a refinement": refined,
                              "--engine spark": name == "spark"})  # fmt: skip
        keeps = keeping_first(search, name, model, options, asked)
        search = Sliced(search, options.slices == "on", keeps)
    if options.reduce:
        refuse_reduce(asked, {
            "--slice": options.slices != "off", "--graph": options.graph is not None,
            "a refinement": refined, f"the {name} engine": name != "native",
        })  # fmt: skip
        reducing = named("statewalk.checker.native.reducing", "Reducing")
        search = reducing(search.large if isinstance(search, SmallFirst) else search)
    return [*passes, Families(), Premises(checked), Hiding()], search


def passed(
    checked: Checked, asked: SearchOptions, name: str, engine: Engine,
    ended: Callable[[Exploration], Exploration], stack: ExitStack,
) -> Checked:  # fmt: skip
    """Search with passes around it; ``ended`` is told as soon as the search itself is over."""
    passes, engine = around(checked, asked, name, engine, stack)
    try:
        found = _explored(checked, asked, passes, engine)
    except (Endless, HiddenRead) as said:
        raise said.error from None
    except CutShort as cut:
        none = SearchCounts(0, 0, 0, 0)
        found = Exploration(name, none, (), (), (), {}, {}, False, cut.reason, 0.0)
        found = cut_short(found, cut)
    found = ended(found)
    try:
        for each in reversed(passes):
            found = each.after(found)
        checked.model.look_outside()
    except CutShort as cut:
        found = cut_short(found, cut)
        checked = Checked(
            checked.model, checked.options, graph=checked.graph, vacuous=checked.vacuous,
            unchecked=not_decided(checked.model, asked, cut.reason), warnings=checked.warnings,
            unfinished=True,
        )  # fmt: skip
    checked.exploration = found
    checked.findings = {**_by_property(found), **checked.findings}
    checked.warnings = [*found.warnings, *checked.warnings]
    return checked


def _explored(
    checked: Checked, asked: SearchOptions, passes: list[Pass], engine: Engine
) -> Exploration:
    model, inner = checked.model, asked
    for each in passes:
        model, inner = each.before(model, inner)
    try:
        return engine.explore(model, inner)
    except OtherPremises as saved:
        premises = next(p for p in passes if isinstance(p, Premises))
        if premises.saved is not None:
            raise
        premises.saved = saved.premises
        return _explored(checked, asked, passes, engine)


def cut_short(exploration: Exploration, cut: CutShort) -> Exploration:
    """Return what was found when something the spec ran had to be ended."""
    return replace(exploration, stopped=exploration.stopped or cut.reason, running=cut.place)


def _by_property(exploration: Exploration) -> dict[str, Finding]:
    """Return the findings; a state that only looks stuck because a step of it raised is no
    deadlock.
    """
    found = {f.property: f for f in (*exploration.findings, *exploration.witnesses)}
    deadlock = found.get(DEADLOCK)
    for name in (NO_ERROR, ASSERTION):
        other = found.get(name)
        if deadlock and other and other.failing:
            if (other.initial, other.steps) == (deadlock.initial, deadlock.steps):
                found.pop(DEADLOCK, None)
    return found
