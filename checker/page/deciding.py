"""The constants that decide a counterexample: those that its steps or its property ask for.

Each comes with the other values that its type lists, and the comments beside them in the spec. The
steps are taken with other values: where they violate nothing, a value may be a repair.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from statewalk.checker.page.ran import judged
from statewalk.checker.states.shortening import text_of
from statewalk.checker.verdict.spec_text import lines_of, parsed
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.loader import load
from statewalk.dsl.values.stored import same
from statewalk.dsl.view import Endless
from statewalk.dsl.words.constants import is_constant

if TYPE_CHECKING:
    from statewalk.checker.page.ran import Ran
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State


LINES = 20_000  # of a spec that is loaded once for each value of a constant
_COMMENT = re.compile(r"[\s,]*#\s*(.*)")

Place = tuple[str, int]
"""The file of a function, and its first line"""


@dataclass(frozen=True)
class _Declared:
    """A constant: the values that its type lists, each with its comment, and its own comment."""

    values: Mapping[Any, str]
    doc: str


@dataclass
class _Texts:
    """The texts of a spec: declared constants, and the names that each module-level name and each
    function mentions.
    """

    constants: dict[str, _Declared] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[Place, list[str]] = field(default_factory=dict)

    def add(self, file: str) -> None:
        """Read a file."""
        if (tree := parsed(file)) is not None:
            self._statements(file, tree.body, [])

    def _statements(self, file: str, body: Iterable[ast.AST], tests: list[str]) -> None:
        """Read statements; ``tests`` are the names in conditions around them."""
        for node in body:
            match node:
                case ast.FunctionDef():
                    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                    self.functions[file, first] = [*_names(node), *tests]
                case ast.ClassDef():
                    self._statements(file, node.body, tests)
                case ast.If():
                    inner = [*tests, *_names(node.test)]
                    self._statements(file, [*node.body, *node.orelse], inner)
                case (
                    ast.AnnAssign(target=ast.Name(id=name))
                    | ast.Assign(targets=[ast.Name(id=name)])
                ):
                    of = is_constant(node.annotation) if isinstance(node, ast.AnnAssign) else None
                    if isinstance(node, ast.AnnAssign) and of is not None:
                        self.constants[name] = _declared(node, of, lines_of(file))
                    else:
                        self.names[name] = _names(node)

    def asked(self, ran: Iterable[Place]) -> list[str]:
        """Return the constants that functions ask for, also by names that are made of them."""
        found: dict[str, None] = {}
        left = [name for place in ran for name in self.functions.get(place, ())]
        seen = set[str]()
        while left:
            name = left.pop(0)
            if name in self.constants:
                found[name] = None
            elif name not in seen:
                seen.add(name)
                left[:0] = self.names.get(name, ())
        return list(found)


class Deciding:
    """Takes the steps of counterexamples with other constants, with so many lines of specs loaded
    for that at most.
    """

    def __init__(self, lines: int = LINES) -> None:
        self.left = lines
        self.models: dict[tuple[str, Any], Model | None] = {}

    def of(self, trace: Trace, states: Sequence[State], lines: Sequence[Ran]) -> dict[str, Any]:
        """Return the constants that decide a counterexample of a property of states or steps: each
        with its other values, their comments and what comes of the steps with them.
        """
        model = trace.model
        if model is None or trace.loop is not None or not states or trace.of_kind.witness:
            return {}
        prop = next((p for p in model.properties if p.name == trace.property), None)
        if prop is None or not prop.of_kind.searched or prop.refined is not None:
            return {}
        texts = _Texts()
        for file in model.sources:
            texts.add(file)
        judging = judged(model, prop, states)
        ran = [(file, first) for of in (judging, *reversed(lines)) for file, first, _ in of]
        found = []
        for name in texts.asked(dict.fromkeys(ran)):
            known, now = texts.constants[name], model.constants.get(name)
            others = [value for value in known.values if not same(value, now)]
            if name not in model.constants or not others:
                continue
            came = {value: self._came(trace, model, name, value) for value in others}
            if {"holds", "stops"} & {*came.values()}:
                told = [[text_of(v), known.values[v], came[v]] for v in others]
                doc = known.values.get(now) or known.doc
                found.append({"name": name, "value": text_of(now), "doc": doc, "others": told})
        return {"decided": found} if found else {}

    def _came(self, trace: Trace, model: Model, name: str, value: Any) -> str:
        """Return what comes of the steps with another value: "holds", "fails", or "stops" where a
        guard forbids the last one; nothing where that says nothing of the property, or was too
        much.
        """
        from statewalk.checker.compare.crossing import cross  # late: the explorer has no use for it

        other = self._model(model, name, value)
        if other is None:
            return ""
        try:
            crossing = cross(trace, model, other)
        except (StatewalkError, Endless):
            return ""
        if crossing.step is not None:
            last = crossing.step == trace.length and crossing.guard is not None
            return "stops" if last else ""
        if trace.property in crossing.broken:
            return "fails"
        before = crossing.followed.truths.get(trace.property, ())
        return "" if crossing.most or False in before else "holds"

    def _model(self, model: Model, name: str, value: Any) -> Model | None:
        if (name, value) not in self.models:
            self.left -= sum(len(lines_of(file)) for file in model.sources)
            self.models[name, value] = None
            if self.left >= 0:
                with suppress(StatewalkError, Endless):
                    self.models[name, value] = load(model.path, {**model.constants, name: value})
        return self.models[name, value]


def _names(node: ast.AST) -> list[str]:
    return list(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))


def _declared(node: ast.AnnAssign, kind: ast.expr, lines: Sequence[str]) -> _Declared:
    """Return what a declaration lists, with the comments beside it."""
    return _Declared(dict(_values(kind, lines)), _beside(node, lines) or _above(node, lines))


def _values(kind: ast.expr, lines: Sequence[str]) -> Iterator[tuple[Any, str]]:
    match kind:
        case ast.Name(id="bool"):
            yield from {True: "", False: ""}.items()
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            for one in inner.elts if isinstance(inner, ast.Tuple) else [inner]:
                if isinstance(one, ast.Constant):
                    yield one.value, _beside(one, lines) if kind.end_lineno != kind.lineno else ""


def _beside(node: ast.expr | ast.stmt, lines: Sequence[str]) -> str:
    """Return the comment that ends the line on which a node ends."""
    end = node.end_lineno or node.lineno
    found = _COMMENT.fullmatch(lines[end - 1].encode()[node.end_col_offset or 0 :].decode())
    return found[1] if found else ""


def _above(node: ast.stmt, lines: Sequence[str]) -> str:
    """Return the comment above a statement."""
    said: list[str] = []
    at = node.lineno - 2
    while at >= 0 and lines[at].startswith("# ") and not lines[at].startswith("# --"):
        said.insert(0, lines[at].removeprefix("# "))
        at -= 1
    return " ".join(said)
