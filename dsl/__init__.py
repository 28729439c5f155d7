"""The language of statewalk: what a spec module imports."""

from dsl.declare import (
    Auxiliary,
    Constant,
    Ephemeral,
    Fairness,
    Flow,
    action,
    always,
    any_of,
    atomic,
    constraint,
    crash,
    crashes,
    deadlock,
    eventually,
    exists,
    init,
    interrupt,
    leads_to,
    maybe,
    named,
    old,
    on_step,
    oneof,
    pairs,
    parallel,
    require,
    serial,
    symmetric_values,
    terminal,
    threads,
    unreachable,
    until,
)
from dsl.declared import Expectation
from dsl.expectations import config, holds, violates
from dsl.lookahead import enabled, next_steps
from dsl.records import Bag, Message, Record, replace
from dsl.roles import Role, State
from dsl.view import Disabled

__all__ = [
    "Auxiliary", "Bag", "Constant", "Disabled", "Ephemeral", "Expectation", "Fairness", "Flow",
    "Message", "Record", "Role", "State", "action", "always", "any_of", "atomic", "config",
    "constraint", "crash", "crashes", "deadlock", "enabled", "eventually", "exists", "holds",
    "init", "interrupt", "leads_to", "maybe", "named", "next_steps", "old", "on_step", "oneof",
    "pairs", "parallel", "replace", "require", "serial", "symmetric_values", "terminal",
    "threads", "unreachable", "until", "violates",
]  # fmt: skip
