"""Values of a configuration that are told apart by what they are called: each run makes its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load

SPEC = """
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple
from statewalk import Constant, State, action, config

def make(k):
    return lambda: k

@lru_cache
def cached():
    return 1

@lru_cache
def fast():
    return 2

class Token:
    def get(self):
        return 2

class Pair(NamedTuple):
    x: int

class Marked(Pair):
    extra = 0

@dataclass
class Record:
    x: int
    extra = 0

def marked(value):
    value.extra = 2
    return value

RULES = {{"slow": lambda: 1, "fast": lambda: 2}}
NOTHING, other, closed, one, part = object(), make(2), make(1), Token(), partial(cached)
token = Token()
CHOSEN = fast
F: Constant[Any] = cached
IS_OTHER = {is_other}

class C(State):
    n: int = 0

    @action
    def up(self) -> None:
        self.n = (self.n + 1) % (2 if IS_OTHER else 1)

c = C()
later = object()
closed, token = make(2), Token()
config("other", F={other})
"""
FOUND = {
    "a cached function": ("fast", "F is fast"),
    "one of a table": ("RULES['fast']", "F is RULES['fast']"),
    "a closure": ("other", "F is other"),
    "a closure that has the name of another": ("closed", "F() == 2"),
    "an object": ("NOTHING", "F is NOTHING"),
    "an object of a class": ("one", "F is one"),
    "its method": ("one.get", "F == one.get"),
    "a partial function": ("part", "F is part"),
    "attributes of a tuple": ("marked(Marked(1))", "getattr(F, 'extra', 0) == 2"),
    "attributes of a record": ("marked(Record(1))", "getattr(F, 'extra', 0) == 2"),
    "one of its own": ("lambda: 2", "F() == 2"),
}


@pytest.mark.parametrize(("other", "is_other"), FOUND.values(), ids=FOUND)
def test_a_configuration_has_the_values_of_its_run(
    other: str, is_other: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(SPEC.format(other=other, is_other=is_other))

    first = load(tmp_path / "spec.py", config="other")
    given = load(tmp_path / "spec.py", first.constants)

    assert 2 == explore(first, SearchOptions()).counts.distinct
    assert 2 == explore(given, SearchOptions()).counts.distinct


@pytest.mark.parametrize("other", ["later", "token", "partial(fast)"])
def test_a_value_of_another_run_is_refused(other: str, tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(SPEC.format(other=other, is_other="F is not cached"))

    with pytest.raises(SpecError, match=r"above the constant|an earlier run") as caught:
        load(tmp_path / "spec.py", config="other")

    assert "SW301" == caught.value.code


def test_a_value_of_a_helper_elsewhere_is_known_too(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "tokens.py").write_text("A, B = object(), object()\n")
    path = f"import sys\nsys.path.insert(0, {str(tmp_path / 'lib')!r})\nimport tokens\n"
    text = SPEC.format(other="tokens.B", is_other="F is tokens.B")
    (tmp_path / "spec.py").write_text(path + text.replace("= cached\nIS", "= tokens.A\nIS"))

    model = load(tmp_path / "spec.py", config="other")

    assert 2 == explore(model, SearchOptions()).counts.distinct
