"""Whatever the text, reading a .fizz file ends soon, with a module or with a placed error."""

import ast
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.read import read_fizz
from tests.cases import examples, some
from tests.places import ROOT

SPECS = sorted((ROOT / "specs").rglob("*.fizz"))
PIECES = [
    "action ", "atomic ", "serial ", "func f(x):", "role R:", "    ", "\t", "\n", "\n\n", ":",
    "(", ")",
    "[", "]", "{", "}", "any ", "oneof ", "x", " = ", " in ", "if ", "else:", "for ", "while ",
    "require ",
    "self.", ".a", ",", "1", "'s'", '"', "'''", "#", "\\", "---\n", "`l` ", "always assertion A:\n",
    "init:\n", "invariants:\n", "return ", "pass\n", "lambda x: ", "fair", "<strong> ",
    "@state\n", "==",
    "+", "-", "not ", "\r\n", "\u00e9", "\x0c", "Init:\n    ", "action Init:\n    x = 0\n",
    "x = any x",
]  # fmt: skip


CODES = ("SW101", "SW102", "SW108", "SW150", "SW151", "SW152", "SW153", "SW155")


def reads(text: str) -> None:
    """Read a text, in ten seconds of this process however busy the machine is; an error must have
    a code and a place inside the text.
    """
    started = time.process_time()
    try:
        found = read_fizz("fuzz.fizz", text)
        assert isinstance(found.tree, ast.Module)
    except SpecError as error:
        for one in getattr(error, "errors", [error]):
            assert one.code in CODES, str(one)
            assert one.at is not None
            assert 1 <= one.at.line <= text.count("\n") + text.count("\r") + 2
            assert str(one)
    assert time.process_time() - started < 10


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_mixture_of_words_is_read_or_refused(text: str) -> None:
    reads(text)


@given(st.text(max_size=80))
@settings(max_examples=examples(100), deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    reads(text)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", some(SPECS, every=7), ids=lambda p: p.name)
def test_mutated_specs_are_read_or_refused(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    chance = random.Random(path.name)
    for _ in range(12):
        mutated = text
        for _ in range(chance.randint(1, 4)):
            mutated = _mutated(mutated, chance)

        reads(mutated)


def _mutated(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    to = min(len(text), at + chance.choice([1, 3, 10, 80]))
    lines = text.splitlines(keepends=True)
    match chance.randrange(6):
        case 0:
            return text[:at] + text[to:]
        case 1:
            return text[:at] + chance.choice(PIECES) + text[at:]
        case 2:
            chance.shuffle(lines)
            return "".join(lines)
        case 3:
            return text[:at]
        case 4:
            line = chance.randrange(len(lines))
            lines[line] = chance.choice([" ", "\t", "   "]) + lines[line].lstrip()
            return "".join(lines)
        case _:
            return text[:at] + text[to : to + 40] + text[at:]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "text",
    [
        "x = " + "not " * 3000 + "y\n",
        "x = " + "-" * 5000 + "1\n",
        "x = " + " + ".join(["1"] * 5000) + "\n",
        "x" + ".a" * 5000 + " = 1\n",
        "".join(" " * i + "if x:\n" for i in range(200)) + " " * 200 + "pass\n",
        "action A:\n    if x: pass\n" + "".join("    elif x: pass\n" for _ in range(2000)),
        "#" * 100_000 + "\n",
        "\n" * 100_000,
        "(" * 100_000,
        "'" * 100_001,
        "-" * 100_000,
        "---\n" + "a: [" * 500 + "\n---\n",
    ],
    ids=lambda text: text[:12],
)
def test_extreme_texts_end_soon(text: str) -> None:
    reads(text)
