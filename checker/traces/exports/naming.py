"""Names of fields as flat variables, for formats whose states are flat."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.view import Path


def variables(trace: Trace) -> dict[Path, str]:
    """Every place of a trace's states → an identifier; singletons without a number."""
    paths = list(dict.fromkeys(path for content in trace.contents for path in content))
    several = {path[0] for path in paths if len(path) > 1 and path[1] != 0}
    names: dict[Any, str] = {}
    for path in paths:
        parts = [str(p) for p in path if not (p == 0 and path[0] not in several and p is path[1])]
        name = re.sub(r"\W", "_", "_".join(parts))
        while name in names.values():
            name += "_"
        names[path] = name
    return names
