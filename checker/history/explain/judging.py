"""A history to its verdicts, and why the weakest levels that fail do."""

from __future__ import annotations

from statewalk.checker.history.data import History
from statewalk.checker.history.decide.check import Options, Verdict, check, check_levels, summary
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.explain.anomaly import Explanation, explain


def judged(
    history: History, level: str, options: Options
) -> tuple[dict[str, Verdict], dict[str, Explanation]]:
    """Return the verdict on one level, or on all, and why the weakest that fail do."""
    known = scan(history)
    if level:
        verdicts = {level: check(history, level, options, known=known)}
    else:
        verdicts = check_levels(history, options, known=known)
    return verdicts, {
        name: explain(history, verdicts[name], options.clock_error) for name in summary(verdicts)[1]
    }
