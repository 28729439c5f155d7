"""Is a recorded history of an isolation level? Local checks, graph, rules, search, certificate.

The order of the telling: `scan` (what reads prove alone), `build` (what must come first),
`saturate` (what that forces), `decide` (the rest), `replay` (the accepted order is executed).
Levels weaker than snapshot isolation take the same way or a shorter one: `weak`, `prefix`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from statewalk.checker.history.certify.replay import replay
from statewalk.checker.history.certify.replay_weak import replay_weak
from statewalk.checker.history.data import INFO, Floats, History, Ints
from statewalk.checker.history.decide.findings import Finding
from statewalk.checker.history.decide.graph import Graph, build, order_by
from statewalk.checker.history.decide.guess import first_guess
from statewalk.checker.history.decide.prefix import (
    build_halves,
    events_of_halves,
    priority_of_halves,
)
from statewalk.checker.history.decide.saturate import Reach, Saturation, saturate
from statewalk.checker.history.decide.scan import Facts, scan
from statewalk.checker.history.decide.search import Decided, decide, initial_edges
from statewalk.checker.history.decide.weak import decide_weak
from statewalk.checker.history.recorded import contradiction, unrecorded
from statewalk.dsl.library.levels import (
    LEVELS,
    PREFIX,
    VIEW,
    IsolationLevel,
    implies,
    strongest,
    weaker,
    weakest,
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a check. Only `clock_error` (in the history's time unit) can change a verdict.

    `via_sessions` lets a level without session order try the one with it first, which is much
    faster and, when it holds, proves the weaker level; `saturation`, `guess` and `schedule`
    (Viper's heuristic: off, add, double) choose the way, for tests and comparison. Past
    `timeout` seconds of one level's check, Undecided is raised. `certain` looks at nothing but the
    edges that reads, sessions and times show: a cycle of them refutes, anything else is undecided.
    """

    clock_error: float = 0.0
    via_sessions: bool = True
    saturation: bool = True
    guess: bool = True
    schedule: str = "off"
    timeout: float = math.inf
    certain: bool = False


@dataclass(slots=True)
class Verdict:
    """The answer for one level, with its evidence.

    `order` is the certificate of an accepted history: (transaction, is commit) events that
    `replay` executed. One that is not `settled` says nothing; `reason` is what was not recorded,
    "" where that was not looked at (`certain`). A rejected one has `findings` (local
    checks), or the saturated `graph` with a cycle, or `used`, the nodes of every conflict of a
    search that found no order.
    """

    level: IsolationLevel
    holds: bool
    stage: str
    findings: list[Finding] = field(default_factory=list)
    order: list[tuple[int, bool]] = field(default_factory=list)
    graph: Graph | None = None
    used: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    stats: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    settled: bool = True
    reason: str = ""


def check(
    history: History,
    level: str,
    options: Options = Options(),
    *,
    known: tuple[Facts, list[Finding]] | None = None,
) -> Verdict:
    """Return the verdict for one level; `known` is the result of `scan`, when it was made before.

    It is not settled where the level asks for an order that was not recorded, and nothing that
    was recorded violates it.
    Raises:  HistoryError when the history itself is contradictory (a value written twice).
    """
    clock = _Clock()
    known = scan(history) if known is None else known
    clock.stop("local checks")
    found = _decided(history, level, options, known, clock)
    verdict = _as_recorded(history, known[0], found, LEVELS[level], options)
    if verdict.reason and not LEVELS[level].real_time:  # a stronger one may need no sessions
        timed = next(n for n in LEVELS if LEVELS[n].real_time and implies(n, level))
        stronger = check(history, timed, options, known=known)
        return stronger if stronger.holds else verdict
    return verdict


def _as_recorded(
    history: History, facts: Facts, found: Verdict, level: IsolationLevel, options: Options
) -> Verdict:
    """Return a verdict on a level; one that holds is taken back where an order was not recorded."""
    if not found.holds:
        return found
    reason = unrecorded(
        history,
        facts.members,
        options.clock_error,
        session=level.session,
        real_time=level.real_time,
    )
    if not reason and not len(facts.reads) and not len(facts.writes):
        reason = "nothing is known that committed transactions read or wrote"
    return replace(found, holds=False, settled=False, reason=reason) if reason else found


def _decided(
    history: History,
    level: str,
    options: Options,
    known: tuple[Facts, list[Finding]],
    clock: _Clock,
) -> Verdict:
    """Return the verdict for one level by what was recorded, as if that were all there is to
    know.
    """
    facts, findings = known
    against = [f for f in findings if implies(level, f.refutes)]
    if against:
        return Verdict(LEVELS[level], False, "local checks", against, seconds=clock.spent)
    if options.via_sessions and not options.certain and not LEVELS[level].session:
        stronger = _decided(history, f"strong-session-{level}", options, known, _Clock())
        if stronger.holds:
            stronger.level = LEVELS[level]
            stronger.stage += ", with session order"
            return stronger
        clock.add(stronger.seconds)
    if LEVELS[level].real_time:
        reason = contradiction(history, facts.members, options.clock_error)
        if reason:
            return _without_times(history, level, options, known, reason)
    if LEVELS[level].weak and LEVELS[level].rule != PREFIX:
        return _check_weak(history, facts, LEVELS[level], options, clock)
    return _check_graph(history, facts, LEVELS[level], options, clock)


def _without_times(
    history: History,
    level: str,
    options: Options,
    known: tuple[Facts, list[Finding]],
    reason: str,
) -> Verdict:
    """Return the verdict where times and sessions contradict each other: a violation of what
    the level asks beside real time, else none.
    """
    found = _decided(history, LEVELS[level].implies[0], options, known, _Clock())
    if found.holds:
        return replace(found, level=LEVELS[level], holds=False, settled=False, reason=reason)
    return found


def _check_weak(
    history: History, facts: Facts, level: IsolationLevel, options: Options, clock: _Clock
) -> Verdict:
    if level.rule == VIEW:
        facts = scan(history, again=True)[0]
    end, begin = history.end[facts.members], history.begin[facts.members]
    times = np.where(np.isnan(end), begin, end)
    priority = facts.members.astype(np.float64) if np.isnan(times).any() else times
    deadline = time.monotonic() + options.timeout
    found = decide_weak(history, facts, level, priority, deadline, hint=options.guess)
    stats = {"transactions": len(facts.members), "edges": len(found.graph.edges), **found.stats}
    clock.stop("search" if found.stage == "search" else "saturation")
    verdict = Verdict(level, found.holds, found.stage, graph=found.graph, used=found.used,
                      stats=stats, seconds=clock.spent)  # fmt: skip
    if found.holds:
        order = facts.members[found.order].tolist()
        verdict.order = [(t, commits) for t in order for commits in (False, True)]
        replay_weak(history, order, level)
        clock.stop("certificate")
    return verdict


def _check_graph(
    history: History, facts: Facts, level: IsolationLevel, options: Options, clock: _Clock
) -> Verdict:
    if level.rule == PREFIX:
        graph, priority = build_halves(history, facts, level), priority_of_halves(history, facts)
    else:
        graph = build(history, facts, level, options.clock_error)
        priority = _priority(history, facts, graph)
    clock.stop("graph")
    attempt = (lambda _: first_guess(graph, priority)) if options.guess else None
    done = Saturation(graph.connect(), 0)
    deadline = time.monotonic() + options.timeout
    if options.certain:
        return _check_certain(graph, level, priority, clock)
    if options.saturation:
        done = saturate(graph, attempt, deadline)
    clock.stop("saturation")
    stats = {
        "transactions": graph.n,
        "edges": len(graph.edges),
        "passes": done.passes,
        "derived": int((graph.batch > 0).sum()),
    }
    verdict = Verdict(level, False, "saturation", graph=graph, stats=stats, seconds=clock.spent)
    if len(done.order) < graph.size:
        return verdict
    decided = Decided(True, done.witness, done.witness[:0])
    if not len(done.witness):
        decided = decide(
            graph,
            Reach(graph, done.order),
            priority,
            guess=options.guess,
            saturated=options.saturation,
            schedule=options.schedule,
            deadline=deadline,
        )
    clock.stop("search")
    verdict.stats |= decided.stats
    verdict.stage = "search" if decided.stats.get("variables") else "first guess"
    if not decided.holds and not len(decided.used):
        verdict.stage = "saturation"
    verdict.holds, verdict.used = decided.holds, decided.used
    if decided.holds:
        prefix = level.rule == PREFIX
        verdict.order = (
            events_of_halves(facts, decided.order)
            if prefix
            else _events(graph, facts, decided.order)
        )
        replay(history, verdict.order, level, options.clock_error)
        clock.stop("certificate")
    return verdict


def _check_certain(graph: Graph, level: IsolationLevel, priority: Floats, clock: _Clock) -> Verdict:
    """Return a cycle of edges that need no reasoning, or no verdict."""
    edges = np.concatenate((graph.edges[:, :2], initial_edges(graph)))
    order = order_by(graph.size, edges[:, 0].copy(), edges[:, 1].copy(), priority)
    clock.stop("graph")
    verdict = Verdict(level, False, "certain edges", graph=graph, seconds=clock.spent)
    verdict.settled = len(order) < graph.size
    verdict.stats = {"transactions": graph.n, "edges": len(edges)}
    return verdict


def _priority(history: History, facts: Facts, graph: Graph) -> Floats:
    """Return when each node probably was: its recorded time, else the transaction's place in the
    file.
    """
    begin, end = history.begin[facts.members], history.end[facts.members]
    guess = np.full(graph.size, -np.inf)
    w, known = graph.w, graph.w * graph.n
    if np.isnan(begin).any():
        guess[:known] = np.repeat(facts.members, w)
        return guess
    guess[:known:w] = begin
    guess[w - 1 : known : w] = np.where(np.isnan(end), begin, end)
    return guess


def _events(graph: Graph, facts: Facts, order: Ints) -> list[tuple[int, bool]]:
    """Return an order of nodes as begin and commit events of the history's transactions."""
    nodes = order[order < graph.w * graph.n]
    t = facts.members[nodes // graph.w].tolist()
    if graph.w == 1:
        return [(x, commits) for x in t for commits in (False, True)]
    return list(zip(t, (nodes % 2 == 1).tolist(), strict=True))


def check_levels(
    history: History,
    options: Options = Options(),
    *,
    known: tuple[Facts, list[Finding]] | None = None,
) -> dict[str, Verdict]:
    """Verdicts for every level, each decided or implied by one that was, strongest first.

    Without any pair of an end and a begin, real-time levels are what they are without real time.
    An implied verdict shares the evidence of the one that implies it.
    """
    known = scan(history) if known is None else known
    ended = ~np.isnan(history.end) & (history.status != INFO)
    timed = bool((~np.isnan(history.begin)).any() and ended.any())
    names = [n for n in LEVELS if timed or not LEVELS[n].real_time]
    verdicts: dict[str, Verdict] = {}
    for name in ("si", "causal", *reversed(names)):
        if name in verdicts:
            continue
        verdict = _decided(history, name, options, known, _Clock())
        implied = weaker(name) if verdict.holds else {n for n in LEVELS if implies(n, name)}
        for other in implied:
            verdicts.setdefault(other, verdict)
    for name in LEVELS.keys() - verdicts.keys():
        verdicts[name] = verdicts[LEVELS[name].implies[0]]
    found = {
        name: _as_recorded(history, known[0], verdicts[name], level, options)
        for name, level in LEVELS.items()
    }
    held = {n: v for name, v in found.items() if v.holds for n in weaker(name)}
    return {n: v if v.holds or n not in held else held[n] for n, v in found.items()}


def summary(verdicts: dict[str, Verdict]) -> tuple[list[str], list[str]]:
    """Return the strongest levels that hold and the weakest that fail."""
    held = {name for name, v in verdicts.items() if v.holds}
    return strongest(held), weakest({n for n, v in verdicts.items() if v.settled} - held)


class _Clock:
    """CPU seconds per stage."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.last = time.process_time()

    def stop(self, stage: str) -> None:
        now = time.process_time()
        self.spent[stage] = self.spent.get(stage, 0.0) + now - self.last
        self.last = now

    def add(self, spent: dict[str, float]) -> None:
        """Take over what another check has spent since the last stop."""
        for stage, seconds in spent.items():
            self.spent[stage] = self.spent.get(stage, 0.0) + seconds
        self.last = time.process_time()
