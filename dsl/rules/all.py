"""Static rules: mistakes that can be seen in the text, all of a file in one pass.

A rule looks at one function (or at the spec) and notes what it finds. Rules say only what is surely
wrong; where types are not declared they are silent. Text specs were checked when translated.
"""

from __future__ import annotations

from collections.abc import Callable

from statewalk.dsl.errors import Mistakes, SpecError, source_lines
from statewalk.dsl.rules.blocks import (
    check_blocks,
    check_decorated,
    check_marked,
    check_mutants,
    check_replaced,
    check_strays,
)
from statewalk.dsl.rules.calls import check_calls, check_flow, check_index, check_truths
from statewalk.dsl.rules.classes import (
    check_classes,
    check_equal,
    check_methods,
    check_private,
    check_types,
)
from statewalk.dsl.rules.names import (
    check_assigned,
    check_configurations,
    check_fields,
    check_property,
    check_statements,
    check_values,
)
from statewalk.dsl.rules.rule import Checked
from statewalk.dsl.rules.shared import check_bodies, check_shared, warn_of_detached
from statewalk.dsl.rules.warnings import (
    warn_of_constants,
    warn_of_crashes,
    warn_of_fields,
    warn_of_function,
    warn_of_history,
    warn_of_old,
)
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.modules import Loading
from statewalk.dsl.source.ranges import check_ranges
from statewalk.dsl.source.tree import SpecTree

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
    warn_of_old,
    warn_of_detached,
)
SPEC_RULES: tuple[Callable[[SpecTree, Effects, Mistakes], None], ...] = (
    check_private,
    check_equal,
    check_types,
    check_configurations,
    check_marked,
    check_decorated,
    check_bodies,
    check_replaced,
    check_mutants,
    check_shared,
    check_strays,
    check_ranges,
    warn_of_fields,
    warn_of_crashes,
    warn_of_history,
    warn_of_constants,
)


def check_tree(tree: SpecTree, mistakes: Mistakes) -> None:
    """Add every mistake of a spec that its text shows; warnings go to ``mistakes.warned``."""
    check_truths(tree, mistakes)
    if all(module.source.dialect == "fizz" for module in tree.loading.modules):
        return
    effects = Effects(tree)
    running = effects.reachable()
    for function in tree.functions:
        if function.module.source.dialect != "fizz":
            checked = Checked(tree, effects, function, mistakes, running=id(function) in running)
            for rule in FUNCTION_RULES:
                rule(checked)
    for mutant in tree.mutants:
        if mutant.name != tree.loading.mutant:
            checked = Checked(tree, effects, effects.adopt(mutant), mistakes, running=False)
            for rule in FUNCTION_RULES:
                rule(checked)
    for spec_rule in SPEC_RULES:
        spec_rule(tree, effects, mistakes)


def allowed(loading: Loading, warning: SpecError) -> bool:
    """Whether the line of a warning says ``# allow SW603``."""
    for module in loading.modules:
        if warning.at is not None and module.source.path == warning.at.file:
            line = source_lines(module.source.text)[warning.at.line - 1]
            return f"allow {warning.code}" in line.partition("#")[2]
    return False
