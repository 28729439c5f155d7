"""Blocks in wrong places, and flows that do not exist: each is told with its place."""

from pathlib import Path

import pytest

from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.words.declare import oneof

HEAD = """from statewalk import *
class S(State):
    a: int = 0
    def slow(self, n: int = 1) -> int:
        with serial():
            self.a = n
            self.a = 2 * n
            return 3
"""
TAIL = "\ns = S()\n"
GO = "    @action\n    def go(self) -> None:\n"

# name: (the rest of the class and module, code, what is said, text of the line with the caret)
CASES = {
    "arguments": (
        GO + "        with serial(2):\n            self.a = 1\n",
        "SW118", "serial() takes no arguments", "with serial(2):",
    ),
    "no call": (
        GO + "        with parallel:\n            self.a = 1\n",
        "SW118", "'parallel' is not called", "with parallel:",
    ),
    "no block": (GO + "        serial()\n", "SW118", "serial() does nothing by itself", "serial()"),
    "a name": (
        GO + "        with atomic() as x:\n            self.a = 1\n",
        "SW118", "atomic() returns nothing", "with atomic() as x:",
    ),
    "two at once": (
        GO + "        with atomic(), serial():\n            self.a = 1\n",
        "SW118", "atomic() shares its `with`", "with atomic(), serial():",
    ),
    "inside try": (
        GO + "        try:\n            with oneof():\n                self.a = 1\n"
        "        finally:\n            pass\n",
        "SW118", "with oneof() is inside 'try'", "with oneof():",
    ),
    "a function inside": (
        GO + "        def inner() -> None:\n            with serial():\n"
        "                self.a = 1\n        inner()\n",
        "SW118", "'inner' is a function inside a function", "with serial():",
    ),
    "in a class": (
        "    with parallel():\n        b: int = 0\n",
        "SW118", "outside an action", "with parallel():",
    ),
    "on module level": (
        "with atomic():\n    x = 1\n",
        "SW118", "outside an action", "with atomic():",
    ),
    "in a property": (
        "@always\ndef p() -> bool:\n    with atomic():\n        return True\n",
        "SW118", "The property 'p' has no steps", "with atomic():",
    ),
    "an unknown flow": (
        '    @action(flow="paralel")\n    def go(self) -> None:\n        self.a = 1\n',
        "SW119", "There is no flow 'paralel'", '@action(flow="paralel")',
    ),
    "an unknown fairness": (
        '    @action(fair="week")\n    def go(self) -> None:\n        self.a = 1\n',
        "SW119", "There is no fairness 'week'", '@action(fair="week")',
    ),
    "an unknown option": (
        '    @action(fare="weak")\n    def go(self) -> None:\n        self.a = 1\n',
        "SW119", "@action has no option 'fare'", '@action(fare="weak")',
    ),
    "a yield in an atomic action": (
        '    @action(flow="atomic")\n    def go(self) -> Flow[None]:\n        yield\n',
        "SW116", "'go' is declared atomic", "yield",
    ),
    "a yield in an atomic block": (
        "    @action\n    def go(self) -> Flow[None]:\n        with atomic():\n"
        "            yield\n            self.a = 1\n",
        "SW116", "a yield inside an atomic block", "yield",
    ),
    "a serial block in an atomic block": (
        GO + "        with atomic():\n            with serial():\n                self.a = 1\n"
        "                self.a = 2\n            self.a = 3\n",
        "SW116", "a step ends inside an atomic block", "self.a = 1",
    ),
    "a call that gives way in an atomic block": (
        GO + "        with atomic():\n            self.slow()\n            self.a = 1\n",
        "SW116", "'slow' inside an atomic block", "self.slow()",
    ),
    "a call that gives way in an expression": (
        GO + "        self.a = 1 + self.slow()\n",
        "SW116", "'slow' gives way, and is called inside an expression",
        "self.a = 1 + self.slow()",
    ),
    "a call that gives way in a test": (
        GO + "        if self.slow() > 1:\n            self.a = 1\n",
        "SW116", "'slow' gives way, and is called inside an expression", "if self.slow() > 1:",
    ),
    "a call of what calls what gives way": (
        "    def mid(self) -> int:\n        got = self.slow()\n        return got\n"
        + GO + "        self.a = 1 + self.mid()\n",
        "SW116", "'mid' gives way, and is called inside an expression", "self.a = 1 + self.mid()",
    ),
    "the else of a loop": (
        '    @action(flow="serial")\n    def go(self) -> None:\n        for n in range(2):\n'
        "            self.a = n\n        else:\n            self.a = 7\n",
        "SW116", "a loop has an else", "self.a = 7",
    ),
    "the else of a loop in an atomic block": (
        GO + "        with serial():\n            self.a = 1\n            with atomic():\n"
        "                while self.a < 3:\n                    self.a += 1\n"
        "                else:\n                    self.a = 7\n",
        "SW116", "a loop has an else", "self.a = 7",
    ),
    "a way out of match": (
        GO + "        with serial():\n            for n in range(2):\n                match n:\n"
        "                    case 0:\n                        self.a = 1\n"
        "                        continue\n                self.a = 2\n",
        "SW116", "a return or jump inside 'match'", "match n:",
    ),
    "a way out of try": (
        '    @action(flow="serial")\n    def go(self) -> None:\n        self.a = 1\n        try:\n'
        "            return\n        finally:\n            self.a = 2\n",
        "SW116", "a return or jump inside 'try'", "try:",
    ),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_the_mistake_is_told_with_its_place(name: str, tmp_path: Path) -> None:
    text, code, said, line = CASES[name]
    path = tmp_path / "spec.py"
    path.write_text(HEAD + text + TAIL)

    with pytest.raises(SpecError) as raised:
        load(path)
    error = raised.value

    assert error.code == code
    assert said in error.message
    assert error.at is not None
    assert path.read_text().splitlines()[error.at.line - 1].strip() == line
    assert error.help


def test_python_alone_does_not_choose_between_statements() -> None:
    with pytest.raises(SpecError, match="only in a spec that the checker runs"), oneof():
        pass
