"""No result depends on a clock: which files may read one, and why."""

import ast
from pathlib import Path

from tests.architecture.sources import sources

# The only files that may read a clock, each with its reason. No result may depend on one: a clock
# limits what a user waits for, shows progress, measures, or chooses between two ways to the same
# result. Anything else is bounded by a count.
CLOCKS = {"time", "datetime", "timeit", "sched"}
LIMIT = "a limit that the user sets, or is told of"
PROGRESS = "shows progress, or how long something took"
SAME = "which way to go on; the result is the same"
WAITS = "waits for another process or for files"
MAY_READ_A_CLOCK = {
    "checker/api.py": PROGRESS,
    "checker/behaviours/simulate.py": SAME,
    "checker/commands/checking.py": PROGRESS,
    "checker/commands/diary.py": "the date of a new entry",
    "checker/commands/everyday/doctor.py": PROGRESS,
    "checker/commands/everyday/saved.py": WAITS,
    "checker/commands/everyday/watching.py": WAITS,
    "checker/commands/query.py": LIMIT,
    "checker/compare/compare.py": LIMIT,
    "checker/diary/play.py": PROGRESS,
    "checker/engines/reference.py": LIMIT,
    "checker/engines/slices.py": LIMIT,
    "checker/engines/table.py": SAME,
    "checker/explore/answering.py": LIMIT,
    "checker/explore/seek.py": LIMIT,
    "checker/graph/ask.py": LIMIT,
    "checker/history/collect/driver.py": WAITS,
    "checker/history/collect/object_driver.py": WAITS,
    "checker/induction/prove.py": PROGRESS,
    "checker/history/collect/recorder.py": "the times of what is recorded",
    "checker/history/commands/cli.py": PROGRESS,
    "checker/history/commands/many.py": PROGRESS,
    "checker/history/decide/check.py": LIMIT,
    "checker/history/decide/parallel.py": LIMIT,
    "checker/history/decide/saturate.py": LIMIT,
    "checker/history/decide/search.py": LIMIT,
    "checker/history/decide/weak.py": LIMIT,
    "checker/history/objects/deciding.py": LIMIT,
    "checker/history/objects/search.py": LIMIT,
    "checker/liveness/explore.py": LIMIT,
    "checker/machine/ahead.py": SAME,
    "checker/machine/limits.py": "signals that come at once",
    "checker/machine/locks.py": WAITS,
    "checker/machine/signals.py": "signals that come at once",
    "checker/machine/supervisor.py": LIMIT,
    "checker/machine/watch.py": LIMIT,
    "checker/native/checkpoints.py": "when to save; what is saved does not depend on it",
    "checker/native/learn/learning.py": PROGRESS,
    "checker/native/search.py": PROGRESS,
    "checker/native/state.py": LIMIT,
    "checker/quick.py": LIMIT,
    "checker/replaying.py": LIMIT,
    "checker/refinement/in_a_check.py": LIMIT,
    "checker/report/progress.py": PROGRESS,
    "checker/scenarios/make.py": LIMIT,
    "checker/spark/driver/stages.py": PROGRESS,
    "checker/spark/session/session.py": WAITS,
    "checker/behaviours/walk.py": LIMIT,
}

_TIMERS = ("Timer", "setitimer", "alarm")


def clocks_without_a_reason(root: Path) -> list[str]:
    """A file reads a clock only for a reason that is written down."""
    found = _clocks(root)
    return [each for path, all in found.items() if path not in MAY_READ_A_CLOCK for each in all]


def reasons_without_a_clock(root: Path) -> list[str]:
    """The files with a reason that read no clock."""
    found = _clocks(root)
    return [path for path in MAY_READ_A_CLOCK if not found.get(path)]


def _clocks(root: Path) -> dict[str, list[str]]:
    """The places that read a clock, by file."""
    found: dict[str, list[str]] = {}
    for source in sources(root):
        if source.top in ("dsl", "checker"):
            imported = [str(i) for i in source.imports if i.module.partition(".")[0] in CLOCKS]
            found[source.path] = imported + [
                f"{source.path}:{node.lineno} calls {ast.unparse(node.func)}"
                for node in source.nodes
                if isinstance(node, ast.Call) and _name(node.func).endswith(_TIMERS)
            ]
    return found


def _name(called: ast.expr) -> str:
    """Return the last name of what is called: ``c`` of ``a.b.c``."""
    name = getattr(called, "attr", None) or getattr(called, "id", "")
    return str(name)
