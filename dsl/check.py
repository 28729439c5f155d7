"""Static rules: mistakes that can be seen in the text, all of a file in one pass.

A rule looks at one function (or at the spec) and notes what it finds. Rules say only what is surely
wrong; where types are not declared they are silent. Text specs were checked when translated.
"""

from __future__ import annotations

from collections.abc import Callable

from dsl.check_blocks import check_blocks, check_strays
from dsl.check_calls import check_calls, check_flow, check_index
from dsl.check_classes import check_classes
from dsl.check_detached import warn_of_detached
from dsl.check_marked import check_decorated, check_marked
from dsl.check_methods import check_methods
from dsl.check_names import check_assigned, check_configurations, check_fields, check_statements
from dsl.check_rule import Checked
from dsl.check_shared import check_shared
from dsl.check_state import check_property, check_values
from dsl.check_types import check_types
from dsl.check_warnings import warn_of_crashes, warn_of_fields, warn_of_function
from dsl.effects import Effects
from dsl.errors import Mistakes, SpecError
from dsl.ranges import check_ranges
from dsl.tree import SpecTree

FUNCTION_RULES: tuple[Callable[[Checked], None], ...] = (
    check_classes,
    check_fields,
    check_methods,
    check_assigned,
    check_statements,
    check_property,
    check_values,
    check_calls,
    check_flow,
    check_blocks,
    check_index,
    warn_of_function,
    warn_of_detached,
)
SPEC_RULES: tuple[Callable[[SpecTree, Effects, Mistakes], None], ...] = (
    check_types,
    check_configurations,
    check_marked,
    check_decorated,
    check_shared,
    check_strays,
    check_ranges,
    warn_of_fields,
    warn_of_crashes,
)


def check_tree(tree: SpecTree, mistakes: Mistakes) -> None:
    """Add every mistake of a spec that its text shows; warnings go to ``mistakes.warned``."""
    if all(module.source.dialect == "fizz" for module in tree.loading.modules):
        return
    effects = Effects(tree)
    running = effects.reachable()
    for function in tree.functions:
        if function.module.source.dialect != "fizz":
            checked = Checked(tree, effects, function, mistakes, running=id(function) in running)
            for rule in FUNCTION_RULES:
                rule(checked)
    for spec_rule in SPEC_RULES:
        spec_rule(tree, effects, mistakes)


def allowed(tree: SpecTree, warning: SpecError) -> bool:
    """Whether the line of a warning says ``# allow SW603``."""
    for module in tree.loading.modules:
        if warning.at is not None and module.source.path == warning.at.file:
            line = module.source.text.splitlines()[warning.at.line - 1]
            return f"allow {warning.code}" in line.partition("#")[2]
    return False
