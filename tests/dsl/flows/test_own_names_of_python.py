"""Functions of a spec that are called as Python's: blocks and loops of flows mean Python's own."""

from pathlib import Path

from statewalk import check
from statewalk.checker.verdict.run import Counts

SPEC = """
from statewalk import *
deadlock(False)
def RANGE(*x): return [5]
def LEN(x): return 1
def LIST(x): return [x[0]]
def ENUMERATE(x): return [(7, v) for v in x]
def ZIP(x): return [(v, 2) for v in x]
class S(State):
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    @action(flow="parallel")
    def p(self) -> None:
        require(self.a == 0)
        self.a = 1
        self.b = self.a + 1
        self.c = self.a + self.b
    @action
    def q(self) -> None:
        with parallel():
            for i, x in ENUMERATE([1, 2]):
                self.d = i * 10 + x
    @action
    def r(self) -> Flow[None]:
        for i, x in ENUMERATE([1, 2]):
            yield
            self.d = i * 10 + x
        for i, x in ZIP([1, 2]):
            yield
            self.d = i * 10 + x
    @action(flow="oneof")
    def o(self) -> None:
        self.b = 1
        self.b = 2
s = S()
"""
NAMES = ("RANGE", "LEN", "LIST", "ENUMERATE", "ZIP")


def counts(folder: Path, *, pythons: bool) -> Counts:
    text = SPEC
    for name in NAMES:
        text = text.replace(name, name.lower() if pythons else f"own_{name.lower()}")
    path = folder / f"spec_{pythons}.py"
    path.write_text(text)
    return check(path, engine="native").counts


def test_a_spec_means_the_same_whatever_its_functions_are_called(tmp_path: Path) -> None:
    assert counts(tmp_path, pythons=False) == counts(tmp_path, pythons=True)
