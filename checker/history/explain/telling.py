"""An explanation as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from statewalk.checker.history.data import History
from statewalk.checker.history.explain.anomaly import RULES, Explanation


def lines(history: History, found: Explanation) -> Sequence[str]:
    """Return the explanation as lines of text."""
    out = [f"{found.name}: refutes {found.refutes}"]
    if found.text:
        out.append(f"  {found.text}")
    few = "" if found.minimal else " (perhaps not the fewest: the search for fewer was bounded)"
    count = len(found.transactions)
    out.append(f"  {count} transaction{'s' * (count != 1)}{few}:")
    for t in found.transactions:
        ops = "  ".join(history.show(op) for op in found.operations.get(t, ()))
        out.append(
            f"    {history.name(t)} ({history.session_of(t)}, "
            f"{history.place_word} {history.place[t]}): {ops}"
        )
    if found.cycle:
        out.append("  The cycle:")
    for step in found.cycle:
        key = f" {step.key}" if step.key else ""
        how = {
            "observed": "",
            "assumed": "  [either order fails]",
            "derived": f"  [derived, rule {step.rule}]",
        }[step.how]
        out.append(
            f"    {history.name(step.before)} -{step.kind}{key}-> "
            f"{history.name(step.after)}: {step.text}{how}"
        )
    for reason in found.reasons:
        rule = f" (rule {reason.rule}: {RULES[reason.rule]})" if reason.rule else ""
        out.append(
            f"  {history.name(reason.before)} before {history.name(reason.after)} on "
            f"{reason.key}{rule}, because the other order closes this cycle:"
        )
        out += [f"    {line}" for line in reason.lines]
    return out
