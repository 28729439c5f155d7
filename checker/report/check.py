"""The report of a check: first what is wrong and how it comes about, then what the verdict rests
on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from shlex import quote
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.stops import bounded
from statewalk.checker.report.page import Page, Segment, bars, number, plural, seconds
from statewalk.checker.report.trace import add_abstract, props_page, trace_page
from statewalk.checker.states.diff import between
from statewalk.checker.states.shortening import Steps, cut, first_difference, fit, place, text_of
from statewalk.checker.verdict.evidence import (
    Evidence,
    Failure,
    Guard,
    NeverFired,
    NoticeKind,
    Violation,
    disables,
)
from statewalk.checker.verdict.fields import worth_leaving_out
from statewalk.checker.verdict.run import held_vacuously
from statewalk.dsl.kinds import KINDS
from statewalk.dsl.values.stored import freeze

if TYPE_CHECKING:
    from statewalk.checker.verdict.explain import Explanation, Values
    from statewalk.checker.verdict.run import PropertyResult, Result, Run
    from statewalk.dsl.model import Dialect


_COLUMN = 14
# Kinds of warnings that have a row, or a place, of their own.
_HAVE_ROWS: frozenset[NoticeKind] = frozenset({"error", "unchecked", "bounded", "never", "vacuous"})


def report(run: Run, *, width: int = 100, props: bool = False) -> Page:
    """Return the report of a run, for a width; with ``props``, of every property along each
    trace.
    """
    page = Page(width)
    evidence = run.evidence
    if evidence.failure is not None:
        show_failure(page, run.result, evidence.failure)
    for violation in evidence.violations:
        page.blank()
        show_violation(page, run.result, violation, props=props)
    page.blank()
    page.join(evidence_page(run, width=width))
    return page


def evidence_page(run: Run, *, width: int = 100) -> Page:
    """Return the verdict of a run and what it rests on, without what is wrong."""
    page = Page(width)
    _headline(page, run)
    _evidence(page, run)
    return page


# -- the verdict ---------------------------------------------------------------------------


def _headline(page: Page, run: Run) -> None:
    evidence = run.evidence
    reached = len(evidence.witnesses)
    wanted = reached + len(evidence.unreached)
    wanted += sum(p.of_kind.witness and p.verdict == "unknown" for p in run.properties)
    checked = [p for p in run.properties if p.verdict != "unknown" or run.verdict == "bounded"]
    words = summary(p.kind for p in checked if p.name not in dict(evidence.unchecked))
    witnesses = [f"{reached}/{wanted} witnesses"] if wanted else []
    if run.verdict == "holds":
        head: Segment = ("HOLDS", "good")
        items = [*words, *witnesses, *([] if words or witnesses else ["no property"]), "exhaustive"]
    elif run.verdict == "bounded":
        head = ("NO VIOLATION FOUND", "warn")
        items = [
            f"bounded by {', '.join(evidence.bounds) or 'what could be checked'}",
            *words,
            *witnesses,
        ]
    elif run.verdict == "violated":
        head = ("VIOLATED", "bad")
        items = [p.name for p in run.properties if p.verdict == "violated"]
    else:
        head = ("ERROR", "bad")
        items = ["the spec raised an exception, the search stopped there"]
    page.flow([head, "  "], [i if run.verdict != "violated" else (i, "head") for i in items])


def summary(kinds: Iterable[str]) -> list[str]:
    """``5 invariants``, ``no deadlock``: what a set of properties is made of; witnesses apart."""
    n = Counter(KINDS[kind].one for kind in kinds if not KINDS[kind].witness)
    said = {k.one: k.many and (k.one if n[k.one] == 1 else k.many) for k in KINDS.values()}
    return [f"{n[one]} {word}" if word else one for one, word in said.items() if one and n[one]]


def _evidence(page: Page, run: Run) -> None:
    evidence = run.evidence
    counts = run.counts
    reduced = evidence.statistics.get("reduced")
    sizes = [
        plural(counts.distinct, "reduced state" if reduced else "distinct state"),
        f"{number(counts.generated)} generated",
        f"depth {counts.depth}",
        seconds(run.seconds),
    ]
    if evidence.queue:
        sizes.append(f"{number(evidence.queue)} left on queue")
    if evidence.stopped == "violation":
        sizes.append("stopped at the violation (--keep-going searches on)")
    if shape := bars(evidence.levels):
        sizes.append(f"levels {shape}")
    _row(page, "searched", sizes)
    if run.verdict in ("violated", "error"):  # the headline says other things then
        _row(page, "bounded", [(f"by {bound}", "warn") for bound in evidence.bounds])
        left = [p.name for p in run.properties if p.verdict == "unknown"]
        left = [name for name in left if name not in dict(evidence.unchecked)]
        _row(page, "undecided", [(n, "warn") for n in left] if evidence.bounds else [])
    _row(page, "unchecked", [(f"{name} ({why})", "warn") for name, why in evidence.unchecked])
    _actions(page, run)
    _witnesses(page, run)
    _row(
        page,
        "vacuous",
        [(f"{n} ({_why_vacuous(p)})", "warn") for n, p in held_vacuously(run.properties).items()],
    )
    for name, fields in evidence.compared.items():
        _row(page, "refines", [f"{name}, seen through {fields[0]}", *fields[1:]], between=", ")
    _row(page, "cut", [f"{name} refused {number(count)}" for name, count in evidence.cut.items()])
    _row(page, "view", [f"hides {name}" for name in evidence.hidden])
    _row(page, "symmetry", evidence.symmetry)
    _row(page, "fields", _fields(run))
    _slices(page, evidence)
    _row(page, "reduced", _reduced(reduced))
    for fairness, names in evidence.fairness.items():
        _row(page, "fairness", [f"{fairness}: {names[0]}", *names[1:]], between=", ")
    _row(page, "constants", [f"{n}={fit(v, 40)}" for n, v in run.constants.items()], between=" ")
    _row(page, "engine", [run.engine, _collision(evidence)])
    _row(page, "distributed", _distributed(run))
    _row(page, "disk", _disk(run))
    _row(page, "expected", _expected(run))
    if evidence.options.strict and run.warnings:
        said = f"{plural(len(run.warnings), 'warning')}, which --strict does not let pass"
        _row(page, "strict", [(said, "bad")])
    for notice in evidence.warnings:
        if notice.kind not in _HAVE_ROWS:
            page.words((f"  {'warning':<{_COLUMN - 2}}", "warn"), notice.text)
    if evidence.graph is not None and evidence.graph.problem is None:
        graph = evidence.graph
        sizes = [plural(graph.states, "state"), plural(graph.transitions, "transition")]
        _row(page, "graph", [graph.folder, *sizes])
    _row(page, "checkpoint", _checkpoint(evidence))
    if evidence.folder:
        _row(page, "run", [evidence.folder])


def _why_vacuous(prop: PropertyResult) -> str:
    code = "" if prop.of_kind.searched else "SW504: "
    return f"{code}the case it speaks of never arose"


def _row(page: Page, name: str, items: Sequence[Segment | str], between: str = " · ") -> None:
    if items:
        page.flow([(f"  {name:<{_COLUMN - 2}}", "dim")], items, between=between)


def _fields(run: Run) -> list[str]:
    """Return the fields without which there would be far fewer states, and what to do."""
    cost = worth_leaving_out(run.evidence.fields, run.counts.distinct)
    if cost is None:
        return []
    one = len(cost.fields) == 1
    readers = [p.name for p in run.properties if p.name in cost.properties]
    make, them = ("makes", "it") if one else ("make", "them")
    read = f"no step reads {them}, only {_few(readers)}" if readers else f"nothing reads {them}"
    do = "" if cost.auxiliary else f"make {them} Auxiliary and "
    rest = " the other properties (--property NAME)" if readers else ""
    return [
        f"{_few(cost.fields)} {make} {cost.times} times the states",
        read,
        f"{do}check{rest} with --view on",
    ]


def _slices(page: Page, evidence: Evidence) -> None:
    """Tell what the search for each group of properties took; one line for equal ones."""
    told: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in evidence.statistics.get("slices", ()):
        told.setdefault((one["distinct"], one["without"], one["partly"]), []).append(one)
    for (distinct, without, partly), alike in told.items():
        names = list(dict.fromkeys(name for one in alike for name in one["properties"]))
        names = [name for name in names if not name.startswith("premise of ")]
        said = ", ".join(names) if len(names) < 4 else f"{len(names)} properties"
        times = f"{len(alike)} times " * (len(alike) > 1)
        left = [*without, *(f"{name} of all but one" for name in partly)]
        _row(page, "slice", [
            f"{times}{number(distinct)} states{' until reached' * alike[0]['ended']}",
            f"without {', '.join(left)}" if left else "with every field",
            said or "deadlocks",
        ])  # fmt: skip


def _reduced(said: Mapping[str, Any] | None) -> list[str]:
    """Return what was reset, and what could not be."""
    if said is None:
        return []
    fields = ", ".join(said["fields"])
    left = [f"not {', '.join(said['withdrawn'])}: read again"] if said["withdrawn"] else []
    return [f"resets {fields}" if fields else "nothing to reset: the states are all states", *left]


def _distributed(run: Run) -> list[str]:
    """Return what a search over many machines moved, and how even its shares were."""
    found = run.evidence.statistics
    if "jobs" not in found:
        return []
    if not found["jobs"]:
        few = f"each level searched has fewer than {number(found['native_until'])} states"
        return [f"no Spark job ran: {few} (--spark-native-until)"]
    # where Spark does not tell what it wrote: the size of what it was given
    moved = found["shuffled_bytes"] or found["sent_bytes"]
    items = [
        plural(found["jobs"], "job"),
        f"{moved / max(1, run.counts.distinct):.1f} bytes moved per distinct state",
    ]
    if found["balance"]:
        items.append(f"largest partition {found['balance']:.2f} of the mean")
    return items


def _disk(run: Run) -> list[str]:
    """From where on a search went on in files, and how large they were."""
    found = run.evidence.statistics.get("disk")
    if not found:
        return []
    depth, size = found
    return [f"states in files from depth {depth} on", f"at most {size / 1e6:,.0f} MB"]


def _checkpoint(evidence: Evidence) -> list[str]:
    """Return where the search was saved last, if it did not come to its end."""
    saved = evidence.statistics.get("checkpoint")
    if not saved or not bounded(evidence.stopped):
        return []
    resumed = evidence.stopped == "interrupt" and evidence.folder
    return [saved, *([f"statewalk resume {evidence.folder} goes on from there"] if resumed else [])]


def _actions(page: Page, run: Run) -> None:
    if not run.actions:
        return
    fired = [f"{a.name} {number(a.fired)}" for a in run.actions if a.fired]
    _row(page, "actions", [f"{len(fired)} of {len(run.actions)} fired", *fired])
    for action in run.evidence.never:
        page.words((f"  {'never':<{_COLUMN - 2}}", "warn"), never_text(action))


def never_text(action: NeverFired) -> str:
    """Return why an action never fired, as far as is known."""
    where = f" ({place(action.span.file, action.line)})" if action.span and action.line else ""
    if action.idle:
        return f"{action.name}: where its guards hold, it changes nothing, which is no step"
    if not action.guard:
        return f"{action.name} never fired"
    scope = "every state" if action.all_states else f"all {number(action.states)} states sampled"
    fails = disables(action.guard, "was false", "had no option")
    return f"{action.name}: `{action.guard}`{where} {fails} in {scope}"


def _witnesses(page: Page, run: Run) -> None:
    _row(page, "witnesses", [f"{name} at {length}" for name, length in run.evidence.witnesses])
    _row(
        page,
        "unreached",
        [(f"{name}: no state like this is reachable", "bad") for name in run.evidence.unreached],
    )
    known = {*run.evidence.unreached, *dict(run.evidence.witnesses)}
    unseen = [p.name for p in run.properties if p.of_kind.witness and p.name not in known]
    _row(page, "not reached", [(f"{name} (so far)", "warn") for name in unseen])


def _collision(evidence: Evidence) -> str:
    if evidence.collision is None:
        return "states compared whole, none can be missed"
    least = 1e-19 if evidence.options.bits == 64 else 1e-38
    return f"P(a state was missed by a collision) < {max(evidence.collision, least):.0e}"


def _expected(run: Run) -> list[Segment | str]:
    evidence = run.evidence
    left = f"{_few(evidence.left_out)}, which --property leaves out" if evidence.left_out else ""
    if evidence.expectation is None:
        said = f"not compared: the configuration expects something of {left}"
        return [(said, "warn")] if left else []
    if run.as_expected:
        named = evidence.expectation.properties
        beside = f", in what --property asks for{f'; of {left}, nothing is said' if named else ''}"
        return [(f"as expected{beside if left else ''}", "good")]
    if run.as_expected is None:
        beside = f"; it speaks of {left}" if left else ""
        return [(f"cannot be told: the search did not see all that it speaks of{beside}", "warn")]
    return [(text.removeprefix("expected "), "bad") for text in evidence.unexpected]


def _few(names: Sequence[str]) -> str:
    shown = [*names[:3], *([f"{len(names) - 3} more"] if len(names) > 3 else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


_MAX_GUARDS = 8
_MAX_NOT_TAKEN = 8
_STOPPING: dict[Dialect, str] = {
    "python": "If stopping here is right, say so with a @terminal predicate; if anywhere is, with "
    "deadlock(False).",
    "fizz": "If stopping is right, say deadlock_detection: false in the options.",
}


def show_violation(
    page: Page,
    result: Result,
    violation: Violation,
    *,
    props: bool = False,
    shortest: bool = True,
) -> None:
    """A violated property: what is false, the trace, and the commands that continue from it.

    ``props`` adds what every property says along the trace; ``shortest`` says that there is no
    shorter one.
    """
    trace = violation.trace
    way = f"after {plural(trace.length, 'step')}" if trace.length else "in an initial state"
    if trace.loop is None:
        way += ", a shortest trace" if trace.length and shortest else ""
    elif trace.loop < trace.length:
        again = plural(trace.length - trace.loop, "step")
        way = f"{plural(trace.loop, 'step')}, then {again} for ever"
    else:
        way += ", then stuttering"
    page.flow(
        [("VIOLATED", "bad"), "  "],
        [(violation.property, "head"), f"({violation.of_kind.word})", way],
        between="  ",
    )
    _false(page, violation)
    page.blank()
    page.join(trace_page(trace, width=page.width))
    _not_taken(page, violation)
    add_abstract(page, violation.trace)
    if props:
        page.blank()
        page.join(props_page(trace, width=page.width))
    page.blank()
    _files(page, result, violation.property)


def why_page(violation: Violation, *, width: int = 100) -> Page:
    """Return what is false of a violated property and why, without the trace."""
    page = Page(width)
    _false(page, violation)
    _not_taken(page, violation)
    add_abstract(page, violation.trace)
    return page


def _false(page: Page, violation: Violation) -> None:
    """Show the docstring of a property, and its false part."""
    if violation.doc:
        page.words("  ", violation.doc.split("\n\n")[0], "dim")
    if violation.explanation is not None:
        _explanation(page, violation.explanation)
    elif violation.span is not None:
        page.add(f"  {place(violation.span.file, violation.span.line)}")
    _blocked(page, violation)
    if violation.kind == "deadlock":
        page.words("  ", _STOPPING[violation.dialect], "dim")


def _not_taken(page: Page, violation: Violation) -> None:
    """For a lasso: what is enabled on the cycle and never taken."""
    if not violation.not_taken:
        return
    where = "there" if violation.trace.loop == violation.trace.length else "on the cycle"
    page.blank()
    page.add(f"  enabled {where}, but never taken:")
    for text in violation.not_taken[:_MAX_NOT_TAKEN]:
        page.add(f"    {text}")
    if len(violation.not_taken) > _MAX_NOT_TAKEN:
        page.add(f"    and {len(violation.not_taken) - _MAX_NOT_TAKEN} more")


def _blocked(page: Page, violation: Violation) -> None:
    """For a deadlock: no action is possible, and what stops each; alike ones together."""
    if not violation.blocked:
        return
    page.add("  no action is enabled in the last state:")
    groups: dict[tuple[str, int, str] | None, list[tuple[str, Guard | None]]] = {}
    for label, guard in violation.blocked:
        key = (guard.file, guard.line, guard.why or guard.shown) if guard else None
        groups.setdefault(key, []).append((label, guard))
    for alike in list(groups.values())[:_MAX_GUARDS]:
        label, guard = alike[0]
        page.add(f"    {label}{f' and {len(alike) - 1} more' if len(alike) > 1 else ''}")
        text = guard.said if guard else "it raises an exception"
        where = [(f" {place(guard.file, guard.line)}", "dim")] if guard and guard.file else []
        page.flow(["        "], [(text, "head"), *where], between="  ")
        if guard and guard.shown:
            page.flow(["          "], guard.shown.split(" · "))
    if len(groups) > _MAX_GUARDS:
        page.add(f"    and {plural(len(groups) - _MAX_GUARDS, 'more guard')}")


def _explanation(page: Page, explanation: Explanation) -> None:
    for layer in explanation.layers:
        indent = "  " * (layer.depth + 1)
        said = "is true" if layer.truth else "is false"
        where = [(f" {place(layer.span.file, layer.span.line)}", "dim")] if layer.span else []
        text = show_text(layer.text, page.width - len(indent) - len(said) - 2)
        page.flow([indent], [(text, "head"), said, *where], between="  ")
        _values(page, f"{indent}    ", (*layer.bindings, *layer.values))


def _values(page: Page, indent: str, named: Values) -> None:
    """The values in a false expression; two of a kind that are long, by where they differ."""
    room = max(2 * (page.width - len(indent)) - 8, 60)
    long = [(n, v) for n, v in named if len(text_of(v)) > page.width - len(indent) - len(n) - 3]
    paths: dict[str, Steps] = {}
    said = ""
    for (one, a), (other, b) in combinations(long, 2):
        path = first_difference(a, b)
        if path and one not in paths and other not in paths:
            paths |= {one: path, other: path}
            change = next(between("", freeze(a), freeze(b)), None)
            said = said or (str(change) if change is not None else "")
    items = [f"{n} = {fit(v, max(room - len(n), 40), paths.get(n, ()))}" for n, v in named]
    if items:
        page.flow([indent], items)
    if said:
        page.flow([indent], ["they differ:", cut(said, room)], between="  ")


def show_text(text: str, limit: int) -> str:
    """Return a piece of the spec's text on one line, elided at the end."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: max(20, limit - 1)] + "…"


def show_failure(page: Page, result: Result, failure: Failure) -> None:
    """An exception of the spec: what it says, where, and the trace that leads there."""
    page.words(("ERROR     ", "bad"), failure.title, "head")
    page.join(failure_page(failure, width=page.width))
    page.blank()
    page.join(trace_page(failure.trace, width=page.width))
    page.blank()
    _files(page, result, failure.trace.property)


def failure_page(failure: Failure, *, width: int = 100) -> Page:
    """Return where an exception of the spec was raised, and what there is to say of it."""
    page = Page(width)
    if failure.where:
        page.add(f"  {failure.where}")
    for span in failure.frames:
        page.add(f"  {place(span.file, span.line)}")
        for line in span.excerpt()[:1]:
            page.add(("  " + line, "dim"))
    for text in (failure.why, failure.help):
        if text:
            page.words("  ", text)
    return page


def _files(page: Page, result: Result, name: str) -> None:
    """The commands that continue from a trace."""
    file = next((p.trace for p in result.properties if p.name == name), None)
    if file is None:
        return
    page.add(("  replay   ", "dim"), f"statewalk replay {quote(file)}")
    page.add(("  look     ", "dim"), f"statewalk show {quote(file)} --full")
