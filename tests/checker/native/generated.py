"""Generated models: small programs over a View, built from random numbers.

They use everything a View offers, on purpose in odd mixtures: values that Python takes for equal,
functions that raise or return what cannot be stored, updates of what was read, absent slots.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.model import FieldInfo, Model, Property
from statewalk.dsl.values.stored import ABSENT, FrozenList, FrozenSet, encode
from statewalk.dsl.view import Path, View
from tests.checker.native.hand import make_model, require, view

Expression = Callable[[dict[str, Any]], Any]
Statement = Callable[[dict[str, Any]], None]

VALUES: list[Any] = [0, 1, 2, True, False, None, "a", FrozenList([1]), (1,), FrozenSet([0, "b"])]


def digest(value: Any) -> int:
    """A small number that tells most values apart."""
    if value is ABSENT:
        return 0
    if type(value) is int:
        return value
    return sum(encode(value)) % 7


class Asked:
    """A call of a function of the state."""

    def __init__(self, function: Expression, lasts: bool) -> None:
        self.function = function
        self.lasting = lasts

    def __call__(self) -> Any:
        return self.function({})

    def lasts(self) -> bool:
        return self.lasting


class Program:
    """Draws expressions and statements over a few slots."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.n_slots = random.randint(1, 5)
        self.paths: list[Path] = [("R", i % 2, f"f{i}") for i in range(self.n_slots)]
        if random.random() < 0.3:
            self.paths.append(("R", 0, "f0", "key", encode(1)))
        self.functions: list[Expression] = []
        for _ in range(random.randint(0, 2)):
            self.functions.append(self.expression(2))

    def path(self) -> Path:
        return self.random.choice(self.paths)

    def expression(self, depth: int) -> Expression:
        """Something that reads; its value is a small number."""
        kind = self.random.randint(0, 8 if depth else 3)
        path, k = self.path(), self.random.randint(1, 4)
        if kind == 0:
            return lambda local: k - 1
        if kind in (1, 2):
            return lambda local: digest(view().get(path))
        if kind == 3:
            return lambda local: local.get("chosen", k)
        if kind in (4, 5):
            return self.projection(path, k)
        if kind == 6 and self.functions:
            number = self.random.randrange(len(self.functions))
            function = self.functions[number]
            asked = Asked(function, lasts=k < 3)
            return lambda local: digest(view().call(("f", number), asked))
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if kind == 7:
            return lambda local: left(local) and right(local)
        return lambda local: (left(local) + right(local)) % (k + 1)

    def projection(self, path: Path, k: int) -> Expression:
        def remainder(value: Any) -> Any:
            if k == 4 and digest(value) == 3:
                raise ValueError("projection")
            return digest(value) % k

        def pair(value: Any) -> Any:
            return [digest(value) % k, k] if digest(value) % 2 else (digest(value) % k, k)

        if self.random.random() < 0.7:
            return lambda local: view().project(path, ("rem", k), remainder)
        return lambda local: view().project(path, ("pair", k), pair)[0]

    def statements(self, n: int, depth: int) -> Statement:
        parts = [self.statement(depth) for _ in range(n)]

        def run(local: dict[str, Any]) -> None:
            for part in parts:
                part(local)

        return run

    def statement(self, depth: int) -> Statement:
        random = self.random
        path, k = self.path(), random.randint(1, 4)
        kind = random.randint(0, 13)
        value = self.expression(2)
        if kind <= 1:
            return lambda local: require(value(local) % 2 == 0)
        if kind <= 4:
            stored = random.choice([*VALUES, ABSENT, None, None])
            if random.random() < 0.5:
                return lambda local: view().set(path, value(local) % 4)
            return lambda local: view().set(path, stored)
        if kind <= 7:
            return self.update(path, k)
        if kind <= 9:

            def choose(local: dict[str, Any]) -> None:
                local["chosen"] = view().choose(range(k - 1 if k > 3 else k))

            return choose
        if kind == 10:
            later = [self.statement(0)]

            def deferred(local: dict[str, Any]) -> None:
                get = view().later(path)
                for part in later:
                    part(local)
                local["chosen"] = digest(get()) % 3

            return deferred
        if kind == 11 and depth:
            yes, no = self.statements(2, depth - 1), self.statements(1, depth - 1)
            return lambda local: yes(local) if value(local) % 2 else no(local)
        if kind == 12 and random.random() < 0.15:
            return self.failure(value)
        return lambda local: local.__setitem__("chosen", value(local))

    def failure(self, value: Expression) -> Statement:
        which = self.random.random() < 0.5

        def fail(local: dict[str, Any]) -> None:
            if value(local) == 2:
                raise AssertionError("assertion") if which else KeyError("error")

        return fail

    def update(self, path: Path, k: int) -> Statement:
        raising = self.random.random() < 0.15
        guarded = self.random.random() < 0.5

        def add(value: Any) -> Any:
            if raising and digest(value) == 2:
                raise ValueError("update")
            return (digest(value) + k) % 4

        def run(local: dict[str, Any]) -> None:
            if not guarded:
                view().update(path, ("add", k, raising), add)
                return
            try:
                view().update(path, ("add", k, raising), add)
            except ValueError:
                view().set(path, "caught")

        return run

    def predicate(self) -> Callable[[], bool]:
        value, bad = self.expression(2), self.random.randint(0, 9)
        return lambda: value({}) != bad

    def step_predicate(self) -> Callable[[], bool]:
        value, path, bad = self.expression(2), self.path(), self.random.randint(0, 9)

        def holds() -> bool:
            before: View | None = binding.before
            assert before is not None
            return bool(digest(before.get(path)) + value({}) != bad)

        return holds

    def property_(self, name: str, kind: Any) -> Property:
        one = self.step_predicate() if kind == "on_step" else self.predicate()
        if kind == "exists":
            holds = one
            return Property(name, kind, (), lambda: not holds())
        return Property(name, kind, (), one)


def generate(random: Random) -> Model:
    """A random model."""
    from statewalk.dsl.model import Element

    program = Program(random)
    actions: list[tuple[str, Callable[[], object]]] = []
    for number in range(random.randint(1, 4)):
        body = program.statements(random.randint(1, 5), 2)
        actions.append((f"a{number}", lambda body=body: body({})))  # type: ignore[misc]
    properties: list[Property] = []
    for number in range(random.randint(0, 2)):
        parts = [program.predicate() for _ in range(random.randint(1, 3))]
        elements = tuple(Element(f"e{i}", (), part) for i, part in enumerate(parts))
        properties.append(
            Property(f"p{number}", "always", elements, lambda parts=parts: all(p() for p in parts))  # type: ignore[misc]
        )
    if random.random() < 0.5:
        properties.append(program.property_("reached", "exists"))
    if random.random() < 0.3:
        properties.append(program.property_("each_step", "on_step"))

    def some(name: str, kind: Any, chance: float) -> tuple[Property, ...]:
        return (program.property_(name, kind),) if random.random() < chance else ()

    states = [
        {p: random.choice(VALUES[:7]) for p in program.paths if random.random() < 0.8}
        for _ in range(random.choice([1, 1, 2, 3]))
    ]
    fields = {}
    for path in program.paths[: program.n_slots]:
        hidden = random.random() < 0.2
        fields["R", path[2]] = FieldInfo("R", path[2], "scalar", auxiliary=hidden)
    return make_model(
        "generated",
        states,  # type: ignore[arg-type]
        actions,
        properties,
        constraints=some("inside", "always", 0.25) + some("inside_too", "always", 0.1),
        step_constraints=some("step_inside", "on_step", 0.2),
        terminal=some("done", "always", 0.3) + some("over", "always", 0.1),
        check_deadlock=random.random() < 0.5,
        fields=fields,
    )
