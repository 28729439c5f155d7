"""Warnings: what is allowed, and probably not meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from statewalk.dsl.blocks.read import has_blocks
from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.rules.rule import Checked, shortened
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.folding import NamesUsed
from statewalk.dsl.source.nodes import parts_of, walk
from statewalk.dsl.source.readers import reads
from statewalk.dsl.source.scopes import around
from statewalk.dsl.source.tree import SpecTree, is_old, may_crash, statements
from statewalk.dsl.source.types import spec_class
from statewalk.dsl.source.usage import analyse, mentions
from statewalk.dsl.state.roles import Role
from statewalk.dsl.words.constants import is_constant

_CRASH = re.compile(r"(?:^|_)(?:crash|crashes|die|dies|kill|reboot|restart)(?:_|$)")


def warn_of_function(checked: Checked) -> None:
    """SW601 a guard written as ``if``; SW602 ``print``; SW606 a crash that flows survive."""
    function = checked.function
    if function.marked("action"):
        _guard(checked)
        _crash(checked)
    if not checked.running:
        return
    for node in walk(function.node):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            if "print" not in function.module.namespace:
                said = "This prints when the checker learns a step, not when the step is taken."
                help = "To see what happens in a run, look at a trace: statewalk show."
                checked.doubtful("SW602", said, node, help=help)


def _guard(checked: Checked) -> None:
    body = checked.function.body()
    if len(body) != 1 or not isinstance(body[0], ast.If) or body[0].orelse:
        return
    names = [n.id for n in walk(body[0].test) if isinstance(n, ast.Name)]
    if all(name in checked.function.module.constants for name in names):
        return
    said = f"Where this is false, '{checked.function.name}' is a step that changes nothing."
    help = f"If it is meant as a guard: require({shortened(body[0].test)})"
    checked.doubtful("SW601", said, body[0].test, help=help)


def _crash(checked: Checked) -> None:
    """Warn of an action that is named a crash and ends no flow of its role."""
    function, owner = checked.function, checked.function.owner
    if owner is None or not _CRASH.search(function.name):
        return
    own = (f for f in checked.tree.functions if f.owner and issubclass(owner, f.owner))
    flow = next((f for f in own if has_blocks(f) or f.is_flow), None)
    reached = checked.effects.reached_from(function)
    calls = (n for f in reached for n in walk(f.node) if isinstance(n, ast.Call))
    ending = any(getattr(call.func, "id", "") in ("interrupt", "crash") for call in calls)
    if flow is None or ending:
        return
    said = f"'{flow.name}' continues after '{function.name}', which does not end suspended flows."
    help = "To end the flows of the instance, write interrupt(self), or crash(self)"
    checked.doubtful("SW606", said, function.node, help=help)


def warn_of_old(checked: Checked) -> None:
    """SW611: ``old(role).n``, which looks at the role as it is now."""
    namespace = around(checked.function.node, checked.function.module.namespace)
    elements = set(_elements_of_old(checked.function.node, namespace))
    for node, scope in checked.types.nodes:
        if not isinstance(node, ast.Attribute) or node.attr == "index":
            continue
        root = node.value
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        is_given = isinstance(root, ast.Call) and is_old(root, namespace)
        if not is_given and root not in elements:
            continue
        holder = root.args[0] if isinstance(root, ast.Call) and root is node.value else node.value
        cls = spec_class(checked.types.of(holder, scope))
        if cls is None or not issubclass(cls, Role):
            continue
        parent = checked.parents.get(node)
        whole = parent if isinstance(parent, ast.Call) and parent.func is node else node
        asked = ast.unparse(whole)
        if isinstance(root, ast.Call):
            asked = asked.replace(ast.unparse(root), ast.unparse(root.args[0]), 1)
        said = f"{shortened(node)} looks at '{node.attr}' after the step: old(...) gives the role, "
        said += "which is the same before and after."
        checked.doubtful(
            "SW611", said, node, help=f"For the value before the step, write old({asked})"
        )


def _elements_of_old(function: ast.AST, namespace: dict[str, Any]) -> Iterator[ast.AST]:
    """Yield the mentions of what a loop takes out of ``old(...)``, where ``old`` does not ask
    again.
    """
    for node in walk(function):
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
        taken = {n.id for loop in loops if is_old(loop.iter, namespace)
                 for n in walk(loop.target) if isinstance(n, ast.Name)}  # fmt: skip
        pending = [node] if taken else []
        while pending:
            part = pending.pop()
            if isinstance(part, ast.Name) and part.id in taken:
                yield part
            if not is_old(part, namespace):
                pending += parts_of(part)


def warn_of_history(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW604: an auxiliary field that an action reads, itself or through what it calls."""
    auxiliary = _annotated(tree, "auxiliary")
    for action in tree.functions if auxiliary else ():
        if not action.marked("action") or action.module.source.dialect == "fizz":
            continue
        for function in effects.reached_from(action):
            read = ((n, key) for n, key in reads(effects, function) if key in auxiliary)
            if (found := next(read, None)) is not None:
                node, (owner, name) = found
                place = f"{owner}.{name}"
                said = f"The step '{action.name}' reads {place}, which is an Auxiliary field."
                help = "Read another field: --view on refuses steps that depend on Auxiliary ones."
                mistakes.warn("SW604", said, at=function.span(node), help=help)
                break


def _annotated(tree: SpecTree, word: str) -> set[tuple[str, str]]:
    """Return the fields whose type says a word, which `dsl.words.declare` defines."""
    found = set()
    for cls in tree.roles:
        try:
            hints = tree.hints(cls)
        except Exception:  # said where fields are made
            continue
        found |= {
            (cls.__name__, name)
            for name, hint in hints.items()
            if f"statewalk.{word}" in getattr(hint, "__metadata__", ())
        }
    return found


def warn_of_crashes(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW607: fields that a crash sets back, where nothing crashes."""
    ephemeral = _annotated(tree, "ephemeral")
    if not ephemeral or "role_crashes" in tree.loading.declared.options or may_crash(tree):
        return
    for name, at in _declared(tree, ephemeral):
        help = "Let roles crash at any time, crashes(True), or in a step: crash(self)."
        mistakes.warn("SW607", f"{name} is Ephemeral, but nothing crashes.", at=at, help=help)


def warn_of_fields(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW603: a field that is written and never read."""
    read: set[tuple[str, str]] = set()
    written: set[tuple[str, str]] = set()
    for function in tree.functions:
        receivers = effects.receivers(function)
        for _, node in mentions(function.node):
            found = read if isinstance(node.ctx, ast.Load) else written
            found |= {(c.__name__, node.attr) for c in receivers.owners(node)}
    for name, at in _declared(tree, written - read - _annotated(tree, "auxiliary")):
        help = "It only multiplies states: declare it Auxiliary[...], or remove it."
        mistakes.warn("SW603", f"{name} is written and never read.", at=at, help=help)


def warn_of_constants(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW612: a constant whose value has no effect under those of the others."""
    changed = dict(_changed(tree))
    if not changed or any(m.source.dialect == "fizz" for m in tree.loading.modules):
        return
    asked = NamesUsed(tree)
    for name, at in changed.items():
        if name not in asked.names and not analyse(tree).blind:
            said = f"Constant {name} is not used under these constants."
            help = "Remove it, or enable the actions that use it."
            mistakes.warn("SW612", said, at=at, help=help)


def _changed(tree: SpecTree) -> Iterator[tuple[str, Span]]:
    """Yield the constants that have another value than the text says, and where it says so."""
    for module in tree.loading.modules:
        for node in module.source.tree.body if tree.loading.given else ():
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                if is_constant(node.annotation) is not None and node.value is not None:
                    try:
                        default = ast.literal_eval(node.value)
                    except ValueError:
                        continue
                    if module.constants.get(node.target.id, default) != default:
                        yield node.target.id, module.source.span(node.target)


def _declared(tree: SpecTree, fields: set[tuple[str, str]]) -> Iterator[tuple[str, Span]]:
    """Yield the fields (class, name) that Python text declares, as text with their place."""
    for module in tree.loading.modules:
        nodes = walk(module.source.tree) if module.source.dialect != "fizz" else ()
        for cls in (n for n in nodes if isinstance(n, ast.ClassDef)):
            for item in statements(cls.body):
                target = item.target if isinstance(item, ast.AnnAssign) else None
                if isinstance(target, ast.Name) and (cls.name, target.id) in fields:
                    yield f"{cls.name}.{target.id}", module.source.span(target)
