"""The constants that decide a counterexample: those that its steps or its property ask for.

Each comes with the other values that its type lists, and the comments beside them in the spec; a
mutant with its sentence, and the spec without it. The steps are taken with other values: where they
violate the property no longer, a value may be a repair.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    from statewalk.checker.compare.crossing import Crossing
    from statewalk.checker.page.ran import Ran
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State


LINES = 30_000  # of a spec that is loaded once for each value of a constant
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

    def asked(self, called: Iterable[Place]) -> list[str]:
        """Return the constants that functions ask for, also by names that are made of them."""
        found: dict[str, None] = {}
        left = [name for place in called for name in self.functions.get(place, ())]
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
        self.models: dict[tuple[str, Any], Model | str] = {}

    def of(self, trace: Trace, states: Sequence[State], lines: Sequence[Ran]) -> dict[str, Any]:
        """Return the constants that decide a counterexample of a property of states or steps: each
        with its other values, their comments, what comes of the steps with them and why; and the
        functions with which the property is judged in the last state.
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
        called = [(file, first) for of in (judging, *reversed(lines)) for file, first, _ in of]
        found = self._mutant(trace, model)
        for name in texts.asked(dict.fromkeys(called)):
            known, now = texts.constants[name], model.constants.get(name)
            others = [value for value in known.values if not same(value, now)]
            if name not in model.constants or not others:
                continue
            came = [self._came(trace, model, name, value) for value in others]
            if {"holds", "stops"} & {one for one, _ in came}:
                pairs = zip(others, came, strict=True)
                told = [[text_of(v), known.values[v], what, why] for v, (what, why) in pairs]
                doc = known.values.get(now) or known.doc
                found.append({"name": name, "value": text_of(now), "doc": doc, "others": told})
        first = self._asking(texts, judging, [one["name"] for one in found])
        return {"judged": first, **({"decided": found} if found else {})}

    def _mutant(self, trace: Trace, model: Model) -> list[dict[str, Any]]:
        """Return what comes of the steps without the mutant, if there is one."""
        name = model.constants.get("MUTANT", "none")
        if name == "none":
            return []
        came = self._came(trace, model, "MUTANT", "none")
        others = [[text_of("none"), "", *came]]
        doc = model.mutants.get(name, "")
        return [{"name": "MUTANT", "value": text_of(name), "doc": doc, "others": others}]

    def _asking(self, texts: _Texts, judging: Ran, names: list[str]) -> Ran:
        """Return the functions that judge: the property, those that ask for what decides, others;
        each of them in the order in which they are called.
        """

        def asks(one: tuple[str, int, Any]) -> bool:
            return bool({*names} & {*texts.asked([one[:2]])})

        head, rest = judging[:1], judging[1:]
        return [*head, *filter(asks, rest), *(one for one in rest if not asks(one))]

    def _came(self, trace: Trace, model: Model, name: str, value: Any) -> tuple[str, str]:
        """Return what comes of the steps with another value, and why: "holds", "fails", or "stops"
        where a guard forbids the last one; nothing where that says nothing of the property, or was
        too much.
        """
        from statewalk.checker.compare.crossing import cross  # late: the explorer has no use for it

        other = self._model(model, name, value)
        if isinstance(other, str):
            return "", other
        try:
            crossing = cross(trace, model, other)
        except (StatewalkError, Endless) as error:
            return "", f"not replayed: {error}".split("\n")[0]
        if crossing.step is not None:
            return _stopped(trace, crossing)
        if trace.property in crossing.broken:
            return "fails", ""
        if trace.property not in crossing.followed.truths:
            return "", "the spec does not have the property then"
        if False in crossing.followed.truths[trace.property]:
            return "fails", "in an earlier step"
        if crossing.most:
            return "", f"these steps can be taken in more than {crossing.most} ways: not all tried"
        return "holds", ""

    def _model(self, model: Model, name: str, value: Any) -> Model | str:
        """Return the spec with another value, or why there is none."""
        if (name, value) not in self.models:
            self.left -= sum(len(lines_of(file)) for file in model.sources)
            self.models[name, value] = "not tried: so many values would take too long"
            if self.left >= 0:
                try:
                    self.models[name, value] = load(model.path, {**model.constants, name: value})
                except (StatewalkError, Endless) as error:
                    said = str(error).split("\n")[0]
                    self.models[name, value] = f"the spec cannot be loaded so: {said}"
        return self.models[name, value]


def _stopped(trace: Trace, crossing: Crossing) -> tuple[str, str]:
    """Return what came of steps of which one is not possible: "stops" if that is the last."""
    number, guard = crossing.step, crossing.guard
    why = guard.said if guard is not None else crossing.why
    came = "stops" if number == trace.length and guard is not None else ""
    fails = f" {guard.fails}" if guard is not None else ""
    return came, f"step {number} is not possible: {why}{fails}"


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
