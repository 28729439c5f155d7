"""Executable models of protocols, and a checker that visits every state they can reach.

A spec takes the words of the language from here. A script or a notebook takes `check`, `load`,
`replay` and what they return; those are imported when they are first used.
"""

from __future__ import annotations

try:
    from statewalk.checker.machine import early as _early  # noqa: F401 (first: a signal may come)
except ModuleNotFoundError as error:
    if error.name != "statewalk.checker":
        raise
    raise ImportError(
        "statewalk/dsl, statewalk/checker and statewalk/models are links, and are not in this copy "
        "of the repository. On Windows, turn on developer mode and clone again with: "
        "git clone -c core.symlinks=true"
    ) from None

from typing import TYPE_CHECKING, Any

from statewalk.dsl.declared import Expectation, Fairness
from statewalk.dsl.state.roles import Role, State
from statewalk.dsl.values.records import Bag, Message, Record, replace
from statewalk.dsl.view import Disabled
from statewalk.dsl.words import draw
from statewalk.dsl.words.clocks import Clock
from statewalk.dsl.words.constants import config, holds, violates
from statewalk.dsl.words.declare import (
    Auxiliary,
    Constant,
    Ephemeral,
    Flow,
    action,
    always,
    any_of,
    assume,
    atomic,
    constraint,
    crash,
    crashes,
    deadlock,
    end,
    eventually,
    exists,
    init,
    instances,
    interrupt,
    maybe,
    mutant,
    named,
    old,
    on_step,
    oneof,
    pairs,
    parallel,
    picture,
    refines,
    require,
    serial,
    symmetric_values,
    terminal,
    threads,
    unreachable,
)
from statewalk.dsl.words.formulas import (
    always_eventually,
    eventually_always,
    implies,
    leads_to,
    sometime,
    throughout,
    until,
)
from statewalk.dsl.words.lookahead import enabled, next_steps
from statewalk.dsl.words.networks import Network, on_message
from statewalk.dsl.words.timeouts import Timeout

if TYPE_CHECKING:
    from statewalk.checker.api import check as check
    from statewalk.checker.api import load as load
    from statewalk.checker.behaviours.replay import Replay as Replay
    from statewalk.checker.behaviours.replay import replay as replay
    from statewalk.checker.compare.compare import Comparison as Comparison
    from statewalk.checker.compare.from_python import compare as compare
    from statewalk.checker.conform.answer import Conformance as Conformance
    from statewalk.checker.conforming import conform as conform
    from statewalk.checker.graph.relations import Graph as Graph
    from statewalk.checker.history.objects.asking import ObjectVerdict as ObjectVerdict
    from statewalk.checker.history.objects.asking import check_operations as check_operations
    from statewalk.checker.page.html import page as page
    from statewalk.checker.traces.file import save_trace as save_trace
    from statewalk.checker.traces.reading import load_trace as load_trace
    from statewalk.checker.traces.trace import Trace as Trace
    from statewalk.checker.verdict.run import Result as Result
    from statewalk.checker.verdict.run import Run as Run

# What ``from statewalk import *`` brings into a spec: the language, and nothing that runs it.
__all__ = [
    "Auxiliary", "Bag", "Clock", "Constant", "Disabled", "Ephemeral", "Expectation", "Fairness",
    "Flow", "Message", "Network", "Record", "Role", "State", "Timeout", "action", "always",
    "always_eventually", "any_of", "assume", "atomic", "config", "constraint", "crash",
    "crashes", "deadlock", "draw", "enabled", "end", "eventually", "eventually_always",
    "exists", "holds", "implies", "init", "instances", "interrupt", "leads_to", "maybe",
    "mutant", "named", "next_steps", "old", "on_message", "on_step", "oneof", "pairs",
    "parallel", "picture", "refines", "replace", "require", "serial", "sometime",
    "symmetric_values", "terminal", "threads", "throughout", "unreachable", "until", "violates",
]  # fmt: skip

_CHECKING = {
    "Comparison": "compare.compare",
    "Graph": "graph.relations",
    "Conformance": "conform.answer",
    "ObjectVerdict": "history.objects.asking",
    "Replay": "behaviours.replay",
    "Result": "verdict.run",
    "Run": "verdict.run",
    "Trace": "traces.trace",
    "check": "api",
    "check_operations": "history.objects.asking",
    "conform": "conforming",
    "compare": "compare.from_python",
    "load": "api",
    "load_trace": "traces.reading",
    "page": "page.html",
    "replay": "behaviours.replay",
    "save_trace": "traces.file",
}


if not TYPE_CHECKING:  # so that type checkers name what there is not

    def __getattr__(name: str) -> Any:
        if name not in _CHECKING:
            raise AttributeError(f"module 'statewalk' has no attribute '{name}'")
        from statewalk.checker.contract.late import named

        return named(f"statewalk.checker.{_CHECKING[name]}", name)


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *_CHECKING, *own})
