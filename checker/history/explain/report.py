"""The report of `statewalk history check`, as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

from statewalk.checker.history.data import FAIL, INFO, History
from statewalk.checker.history.decide.check import Verdict, summary
from statewalk.checker.history.explain.anomaly import Explanation
from statewalk.checker.history.explain.drawing import lanes
from statewalk.checker.history.explain.telling import lines
from statewalk.dsl.errors import one_line


def text(
    history: History, verdicts: dict[str, Verdict], found: dict[str, Explanation], asked: str
) -> str:
    """Return the report for a reader at a terminal."""
    out = [*_about(history), ""]
    for name, verdict in verdicts.items():
        if not asked and (verdict.level.name != name or verdict.reason):
            continue  # implied by another one, or told below
        out.append(f"{name}: {_word(verdict)} ({_how(verdict)})")
    if not asked:
        held, failed = summary(verdicts)
        out.append("")
        out.append(f"Strongest level that holds: {', '.join(held) or 'none of these'}")
        out.append(f"Weakest level that fails: {', '.join(failed) or 'none of these'}")
        for reason in dict.fromkeys(v.reason for v in verdicts.values() if v.reason):
            left_out = [n for n, v in verdicts.items() if v.reason == reason]
            out.append(f"Not decided, since {reason}: {', '.join(left_out)}")
    for level, explanation in found.items():
        out += ["", f"Not {level}. {lines(history, explanation)[0]}"]
        out += lines(history, explanation)[1:]
        out += ["  The sessions:", *(f"    {line}" for line in lanes(history, explanation))]
        out += _model_states(history, explanation)
    return "\n".join(map(one_line, out)) + "\n"


def _about(history: History) -> list[str]:
    aborted = int((history.status == FAIL).sum())
    unsure = int((history.status == INFO).sum())
    out = [
        f"{history.source} ({history.format}): {len(history)} transactions in {_sessions(history)}"
        f", {len(history.kind)} operations on {len(history.keys)} keys"
    ]
    if aborted or unsure:
        out.append(
            f"{aborted} aborted; {unsure} indeterminate, which count as committed when a "
            "committed transaction read from them"
        )
    if not history.initial_known:
        out.append("Initial state unknown: a key's first value that nobody wrote counts as it")
    return [*out, *history.notes]


def _sessions(history: History) -> str:
    unknown = history.sessions.count(None)
    told = f"{len(history.sessions) - unknown} sessions"
    return f"{told}, {unknown} without a recorded session" if unknown else told


def _word(verdict: Verdict) -> str:
    if verdict.reason:
        return f"not decided, since {verdict.reason}"
    if not verdict.settled:
        return "nothing wrong among what is certain"
    return "holds" if verdict.holds else "violated"


def _how(verdict: Verdict) -> str:
    if verdict.reason:
        return "nothing that was recorded contradicts it"
    if not verdict.settled:
        return f"{verdict.stats['edges']} edges looked at; whether it holds is not decided"
    if verdict.findings:
        return f"{len(verdict.findings)} found by local checks"
    if verdict.holds:
        return (
            f"{verdict.stage}; certificate: an execution of {len(verdict.order) // 2} "
            "transactions, replayed"
        )
    return f"found by {verdict.stage}"


def _model_states(history: History, found: Explanation) -> list[str]:
    known = [t for t in found.transactions if t in history.states]
    return [f"  {history.name(t)} is at model state {history.states[t]}" for t in known]


PHASES = {
    "local checks": "build",
    "graph": "build",
    "saturation": "prune",
    "search": "search",
    "certificate": "replay",
}


def phases(verdicts: dict[str, Verdict], read: float) -> dict[str, float]:
    """CPU seconds of each phase, over all levels that were decided by themselves."""
    spent = {"read": read} | dict.fromkeys(PHASES.values(), 0.0)
    for verdict in {id(v): v for v in verdicts.values()}.values():
        for stage, seconds in verdict.seconds.items():
            spent[PHASES[stage]] += seconds
    return spent


def as_json(
    history: History,
    verdicts: dict[str, Verdict],
    found: dict[str, Explanation],
    read: float = 0.0,
) -> str:
    """Return the report as a JSON object; docs/reference/history-format.md describes its fields."""
    held, failed = summary(verdicts)
    return json.dumps(
        {
            "schema": 1,
            "source": history.source,
            "format": history.format,
            "notes": list(history.notes),
            "transactions": len(history),
            "operations": len(history.kind),
            "phases": phases(verdicts, read),
            "levels": {name: _verdict(v) for name, v in verdicts.items()},
            "strongest_that_hold": held,
            "weakest_that_fail": failed,
            "explanations": [_explanation(history, e) for e in found.values()],
        }
    )


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "holds": verdict.holds if verdict.settled else None,
        "reason": verdict.reason,
        "stage": verdict.stage,
        "decided_as": verdict.level.name,
        "stats": verdict.stats,
        "seconds": verdict.seconds,
    }


def _explanation(history: History, found: Explanation) -> dict[str, Any]:
    def cited(op: int) -> str | None:
        return history.show(op) if op >= 0 else None

    return {
        "level": found.level,
        "anomaly": found.name,
        "refutes": found.refutes,
        "minimal": found.minimal,
        "text": found.text,
        "transactions": [
            {
                "name": history.name(t),
                "session": history.sessions[history.session[t]],
                "place": int(history.place[t]),
                "state": history.states.get(t),
                "operations": [history.show(op) for op in found.operations.get(t, ())],
            }
            for t in found.transactions
        ],
        "cycle": [
            {
                "before": history.name(s.before),
                "after": history.name(s.after),
                "kind": s.kind,
                "key": s.key,
                "how": s.how,
                "rule": s.rule,
                "cites": [cited(op) for op in s.cites],
                "text": s.text,
            }
            for s in found.cycle
        ],
        "reasons": [
            {
                "before": history.name(r.before),
                "after": history.name(r.after),
                "key": r.key,
                "rule": r.rule,
                "otherwise": list(r.lines),
            }
            for r in found.reasons
        ],
    }
