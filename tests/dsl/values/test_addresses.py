"""Addresses and hashes decide nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.loader import load

PYTHON = """
import functools, operator
from statewalk import *

def f(x): return x
def g(x): return x
TABLE = [f, g]
OF = {"f": f}
words = ["a", "b", "c"]
hashed = lambda x: hash(x)
texts = str

class Plain:
    pass

class Key:
    def __init__(self, n: int) -> None:
        self.n = n
    def __hash__(self) -> int:
        return hash(self.n)
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.n == other.n

plain = Plain()

class Part(Record):
    n: int = 1

class Box(State):
    t: str = ""
    @action
    def go(self) -> None:
        self.t = str(EXPR)

box = Box()
"""
FIZZ = """
def f(x):
    return x
g = lambda x: x
TABLE = [f, g]
OF = {"f": f}
action Init:
    t = ""
atomic action Go:
    t = str(EXPR)
"""
TEXTS = [
    "str(TABLE)",
    "'%s' % TABLE",
    "'{}'.format(OF)",
    "str([TABLE])",
    "str(TABLE[0])",
    "str(OF)[-8:]",
    "','.join([str(x) for x in TABLE])",
    "'%s %s' % (1, TABLE)",
    "repr(OF)",
    "repr(TABLE) < 'a'",
    "sorted(TABLE, key=str)",
    "sorted(TABLE, key=repr)",
]
OF_PYTHON = [
    "f'{TABLE}'",
    "f'{TABLE!r:>90}'",
    "f'{1:{len(str(TABLE))}}'",
    "format(TABLE[0])",
    "ascii(TABLE)",
    "list(map(str, TABLE))",
    "list(map(repr, TABLE))",
    "TABLE[0].__repr__()",
    "plain",
    "[plain]",
    "operator.mod('%s', TABLE)",
    "str.format('{}', TABLE)",
    "functools.partial(f)",
    "(x for x in words)",
    "'{0[0]}'.format(TABLE)",
    "Exception(f)",
    "{'a': (f,)}",
    "reversed([1])",
    "zip([1])",
    "plain.__init__",
    "map(str, words)",
    "[texts(x) for x in TABLE]",
]
HASHES = [
    "max(words, key=hash)",
    "sorted(words, key=hash)",
    "list(map(hash, words))",
    "'a'.__hash__()",
    "str.__hash__('a')",
    "functools.partial(hash, 'a')()",
    "id.__call__(f)",
    "[h('a') for h in [hash]]",
    "hashed('a')",
    "getattr('a', '__hash__')()",
    "operator.methodcaller('__hash__')('a')",
    "sorted(TABLE, key=id)",
    "self.__hash__()",
    "Part().__hash__()",
    "min(words, key=lambda w: w.__hash__())",
]
FINE = [
    "str(1)",
    "'%s' % 'x'",
    "'fault at 0x7fd7ec867f60'",
    "7 % 2",
    "str([1])",
    "'{}'.format(2)",
    "repr('a')",
    "str(len)",
    "'<' + str([1, 'at 0x7']) + '>'",
]
FINE_OF_PYTHON = [
    "f'{1}'",
    "len({Key(1), Key(1)})",
    "self",
    "Part()",
    "self.go",
    "Part",
    "any(x is f for x in TABLE)",
    "list(map(str, words))",
    "ascii('é')",
    "format(3, '>4')",
    "TABLE[0].__name__",
]


def run(folder: Path, dialect: str, text: str) -> None:
    """Run the step of a specification."""
    path = folder / f"spec.{dialect}"
    path.write_text((PYTHON if dialect == "py" else FIZZ).replace("EXPR", text))
    model = load(path)
    for action in model.actions:
        list(model.outcomes(action, model.initial_states[0]))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", [*TEXTS, *OF_PYTHON, *HASHES])
def test_what_is_an_address_in_memory_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(StatewalkError, match="differs from run to run"):
        run(tmp_path, "py", text)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", TEXTS)
def test_so_it_is_in_a_text_spec(text: str, tmp_path: Path) -> None:
    with pytest.raises(StatewalkError, match="differs from run to run"):
        run(tmp_path, "fizz", text)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", [*FINE, *FINE_OF_PYTHON])
def test_what_says_no_address_is_text_as_any_other(text: str, tmp_path: Path) -> None:
    run(tmp_path, "py", text)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", FINE)
def test_so_it_is_in_a_text_spec_as_well(text: str, tmp_path: Path) -> None:
    run(tmp_path, "fizz", text)


@pytest.mark.parametrize("text", ["str(TABLE)", "min(words, key=hash)", "hash('a')"])
def test_nor_is_a_constant_made_of_one(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(PYTHON.replace("EXPR", "1") + f"\nMADE = {text}\n")
    with pytest.raises(StatewalkError, match="differs from run to run"):
        load(path)
