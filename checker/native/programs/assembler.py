"""A small assembler for LLVM's text form: 32-bit registers, variables, structured control flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]


class Assembler:
    """One function being written. Values are operands as text: ``%t7`` or ``42``.

    Code after a jump or return gets a block of its own that nothing leads to, so that callers need
    not ask whether control reaches a place.
    """

    def __init__(self, name: str, signature: str, returns: str = "i32", internal: bool = True):
        linkage = "internal " if internal else ""
        self._head = f"define {linkage}{returns} @{name}({signature}) {{"
        self._returns = returns
        self._allocated: list[str] = []
        self._lines: list[str] = []
        self._n = 0
        self._reachable = True
        self.loops: list[tuple[str, str]] = []  # labels: next turn, end

    def fresh(self, stem: str = "t") -> str:
        """Return a name that nothing has yet."""
        self._n += 1
        return f"{stem}{self._n}"

    def do(self, line: str) -> None:
        """Write an instruction without a result."""
        if not self._reachable:
            self._lines.append(f"{self.fresh('dead')}:")
            self._reachable = True
        self._lines.append(f"  {line}")

    def value(self, instruction: str) -> str:
        """Write an instruction and return its result."""
        name = f"%{self.fresh()}"
        self.do(f"{name} = {instruction}")
        return name

    # -- numbers and memory --------------------------------------------------------------------

    def op(self, operation: str, one: str, other: str) -> str:
        """Return ``one operation other``."""
        return self.value(f"{operation} i32 {one}, {other}")

    def test(self, relation: str, one: str, other: str) -> str:
        """Return a comparison as a bit."""
        return self.value(f"icmp {relation} i32 {one}, {other}")

    def bit(self, operation: str, one: str, other: str) -> str:
        """Return a logical operation on two bits."""
        return self.value(f"{operation} i1 {one}, {other}")

    def select(self, bit: str, one: str, other: str) -> str:
        """Return one of two numbers."""
        return self.value(f"select i1 {bit}, i32 {one}, i32 {other}")

    def at(self, array: str, index: str, kind: str = "i32") -> str:
        """Return the address of an element of an array."""
        wide = self.value(f"sext i32 {index} to i64") if index[0] == "%" else index
        return self.value(f"getelementptr {kind}, ptr {array}, i64 {wide}")

    def load(self, array: str, index: str, kind: str = "i32") -> str:
        """Return an element of an array."""
        return self.value(f"load {kind}, ptr {self.at(array, index, kind)}")

    def store(self, array: str, index: str, value: str, kind: str = "i32") -> None:
        """Put an element into an array."""
        self.do(f"store {kind} {value}, ptr {self.at(array, index, kind)}")

    def var(self, first: str | None = None, kind: str = "i32") -> str:
        """Return a variable, set to ``first``."""
        name = f"%{self.fresh('v')}"
        self._allocated.append(f"  {name} = alloca {kind}")
        if first is not None:
            self.set(name, first, kind)
        return name

    def first(self, variable: str, value: str) -> None:
        """Let a variable hold a value where the function begins."""
        self._allocated.append(f"  store i32 {value}, ptr {variable}")

    def room(self, count: int) -> str:
        """Return an array of so many numbers that lasts as long as the call."""
        name = f"%{self.fresh('a')}"
        self._allocated.append(f"  {name} = alloca [{count} x i32]")
        return name

    def get(self, variable: str, kind: str = "i32") -> str:
        """Return what a variable holds."""
        return self.value(f"load {kind}, ptr {variable}")

    def set(self, variable: str, value: str, kind: str = "i32") -> None:
        """Let a variable hold a value."""
        self.do(f"store {kind} {value}, ptr {variable}")

    def call(self, function: str, arguments: str, kind: str = "i32") -> str:
        """Return what a function gives."""
        return self.value(f"call {kind} @{function}({arguments})")

    # -- control flow --------------------------------------------------------------------------

    def label(self, name: str) -> None:
        """Begin a block; control falls into it."""
        if self._reachable:
            self.jump(name)
        self._lines.append(f"{name}:")
        self._reachable = True

    def jump(self, label: str) -> None:
        """Go on at a label."""
        self.do(f"br label %{label}")
        self._reachable = False

    def branch(self, bit: str, yes: str, no: str) -> None:
        """Go on at one of two labels."""
        self.do(f"br i1 {bit}, label %{yes}, label %{no}")
        self._reachable = False

    def ret(self, value: str) -> None:
        """Return from the function."""
        self.do(f"ret {self._returns} {value}")
        self._reachable = False

    @contextmanager
    def when(self, bit: str) -> Iterator[None]:
        """Run the block where a bit is set."""
        yes, end = self.fresh("then"), self.fresh("end")
        self.branch(bit, yes, end)
        self.label(yes)
        yield
        self.label(end)

    def either(self, bit: str, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """Run one of two blocks."""
        first, second, end = self.fresh("then"), self.fresh("else"), self.fresh("end")
        self.branch(bit, first, second)
        self.label(first)
        yes()
        self.jump(end)
        self.label(second)
        no()
        self.label(end)

    @contextmanager
    def repeat(self, then: Callable[[], None] | None = None) -> Iterator[None]:
        """Run the block again and again, ``then`` after each turn; `leave` ends it."""
        head, following, end = self.fresh("loop"), self.fresh("next"), self.fresh("end")
        self.label(head)
        self.loops.append((following, end))
        yield
        self.loops.pop()
        self.label(following)
        if then is not None:
            then()
        self.jump(head)
        self.label(end)

    def leave(self) -> None:
        """Leave the innermost loop."""
        self.jump(self.loops[-1][1])

    def again(self) -> None:
        """Take the next turn of the innermost loop."""
        self.jump(self.loops[-1][0])

    @contextmanager
    def count(self, end: str, first: str = "0", step: int = 1) -> Iterator[str]:
        """Run the block for each number from ``first`` to below ``end``."""
        variable = self.var(first)

        def following() -> None:
            self.set(variable, self.op("add", self.get(variable), str(step)))

        with self.repeat(following):
            now = self.get(variable)
            with self.when(self.test("sge" if step > 0 else "sle", now, end)):
                self.leave()
            yield now

    def text(self) -> str:
        """Return the function's text."""
        if self._reachable:
            self.do("unreachable")
        body = "\n".join(self._lines)
        return "\n".join([self._head, "entry:", *self._allocated, body, "}"]) + "\n"


def compiled(text: str, *, fully: bool) -> Any:
    """Return an engine that holds the machine code of a module.

    Optimising ``fully`` takes four times as long and gives code that is a third faster.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    if fully:
        builder.getModulePassManager().run(module, builder)
    else:
        passes = llvm.create_new_function_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine
