"""Files as a page calls them: pages are shared, and folders on their author's disk are nobody's
business.

Only what the checker says is changed, never a value of a spec.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import statewalk

_VALUES = frozenset(
    {"states", "constants", "abstract", "arguments", "choices", "only", "classes", "truths",
     "actor", "values", "lanes", "changes", "given", "label", "lines", "pictures",
     "decided", "reads"}
)  # fmt: skip


def shared(data: dict[str, Any], spec: str) -> dict[str, Any]:
    """Return the data of a page without the folders of the spec, of the library and of here."""
    prefixes = _prefixes(spec)
    found: dict[str, Any] = _without(data, prefixes)
    return found


def _prefixes(spec: str) -> list[tuple[str, str]]:
    """Return beginnings of paths, the longest first, with what stands in their place."""
    package = Path(statewalk.__file__).parent
    own = package.resolve()
    roots = [package / "models", own / "models", own.parent / "models", Path.cwd()]
    real = Path(spec).resolve()
    if not any(real.is_relative_to(root.resolve()) for root in roots):
        roots.append(Path(spec).parent)
    found = {f"{name}{os.sep}": "" for root in roots for name in (str(root), str(root.resolve()))}
    home = os.path.expanduser("~")
    found.setdefault(f"{home}{os.sep}", f"~{os.sep}")
    return sorted(
        ((a, b) for a, b in found.items() if os.path.isabs(a) and len(a) > len(os.sep)),
        key=lambda pair: -len(pair[0]),
    )


def _without(value: Any, prefixes: list[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for prefix, name in prefixes:
            value = value.replace(prefix, name)
        return value
    if isinstance(value, dict):
        return {
            _without(key, prefixes): part if key in _VALUES else _without(part, prefixes)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without(part, prefixes) for part in value]
    return value
