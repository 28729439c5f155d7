"""What the text of a spec calls its choices, for traces and logs."""

from __future__ import annotations

import ast
from typing import Any

from statewalk.dsl.blocks.read import flow_of, flow_option
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.tree import SpecTree

_WORDS = ("any_of", "maybe")


def named_choices(tree: SpecTree) -> dict[str, Any]:
    """Return `Model.choice_names` and `Model.choice_loops`."""
    return {"choice_names": _names(tree), "choice_loops": _loops(tree)}


def _names(tree: SpecTree) -> dict[tuple[str, int], str]:
    """(file, line) of each ``x = any_of(...)`` → x, to show choices by name; of blocks too."""
    names = {
        (f.module.source.path, f.node.lineno): "statement"
        for f in tree.functions
        if flow_option(f) in ("parallel", "oneof")
    }
    for module in tree.loading.modules:
        for node in walk(module.source.tree):
            if isinstance(node, ast.With) and flow_of(node, module.namespace) is not None:
                names[(module.source.path, node.lineno)] = "statement"
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                if getattr(node.value.func, "id", "") in _WORDS:
                    names[(module.source.path, node.lineno)] = ast.unparse(target)
    return names


def _loops(tree: SpecTree) -> dict[tuple[str, int], tuple[str, ...]]:
    """(file, line) of each ``any_of(...)`` in an element of a comprehension → its loops' names."""
    loops: dict[tuple[str, int], tuple[str, ...]] = {}
    for module in tree.loading.modules:
        for node in walk(module.source.tree):
            if not isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                continue
            element = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            targets = [n for loop in node.generators for n in walk(loop.target)]
            names = tuple(n.id for n in targets if isinstance(n, ast.Name))
            for call in (c for part in element for c in walk(part) if isinstance(c, ast.Call)):
                if getattr(call.func, "id", "") in _WORDS:
                    at = module.source.path, call.lineno
                    loops[at] = tuple(dict.fromkeys((*loops.get(at, ()), *names)))
    return loops
