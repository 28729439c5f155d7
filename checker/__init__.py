"""Checking models. The names of the Python API; everything is imported when first used.

`check` checks a spec file or a model, `load` makes a model of a file, `replay` repeats a saved
trace.
"""

from __future__ import annotations

from checker import early as _early  # noqa: F401, isort: skip (before what takes time)

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.api import check, load
    from checker.replaying import Replay, replay
    from checker.result import Result
    from checker.trace import Trace
    from checker.trace_file import load_trace, save_trace

__all__ = ["Replay", "Result", "Trace", "check", "load", "load_trace", "replay", "save_trace"]

_HOMES = {
    "Replay": "checker.replaying",
    "replay": "checker.replaying",
    "Result": "checker.result",
    "Trace": "checker.trace",
    "check": "checker.api",
    "load": "checker.api",
    "load_trace": "checker.trace_file",
    "save_trace": "checker.trace_file",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'checker' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(home), name)
