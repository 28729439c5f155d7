"""Static rules: mistakes that can be seen in the text, all of a file in one pass.

A rule looks at one function (or at the spec) and notes what it finds. Rules say only what is surely
wrong; where types are not declared they are silent. Text specs were checked when translated.
"""

from __future__ import annotations

from collections.abc import Callable

from statewalk.dsl.errors import Mistakes, SpecError, source_lines
from statewalk.dsl.rules import blocks, calls, classes, names, networks, shared, warnings
from statewalk.dsl.rules.rule import Checked
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.modules import Loading
from statewalk.dsl.source.nodes import unchanged
from statewalk.dsl.source.ranges import check_ranges
from statewalk.dsl.source.tree import SpecTree

FUNCTION_RULES: tuple[Callable[[Checked], None], ...] = (
    classes.check_classes, names.check_fields, classes.check_methods, names.check_assigned,
    names.check_statements, names.check_property, names.check_values, calls.check_calls,
    calls.check_flow, blocks.check_blocks, calls.check_index, warnings.warn_of_function,
    warnings.warn_of_old, shared.warn_of_detached, networks.check_clocks,
)  # fmt: skip
SPEC_RULES: tuple[Callable[[SpecTree, Effects, Mistakes], None], ...] = (
    classes.check_private, classes.check_equal, classes.check_types, names.check_configurations,
    blocks.check_marked, blocks.check_decorated, shared.check_bodies, blocks.check_replaced,
    blocks.check_mutants, shared.check_shared, blocks.check_strays, check_ranges,
    warnings.warn_of_fields, warnings.warn_of_crashes, warnings.warn_of_history,
    warnings.warn_of_constants, networks.check_handlers,
)  # fmt: skip


def check_tree(tree: SpecTree, mistakes: Mistakes) -> None:
    """Add every mistake of a spec that its text shows; warnings go to ``mistakes.warned``."""
    with unchanged():
        _check(tree, mistakes)


def _check(tree: SpecTree, mistakes: Mistakes) -> None:
    calls.check_truths(tree, mistakes)
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
    """Return whether the line of a warning says ``# allow SW603``."""
    for module in loading.modules:
        if warning.at is not None and module.source.path == warning.at.file:
            line = source_lines(module.source.text)[warning.at.line - 1]
            return f"allow {warning.code}" in line.partition("#")[2]
    return False
