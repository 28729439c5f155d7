"""Loops of flows over what others change meanwhile."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.errors import SpecError
from tests.cases import some
from tests.dsl.flows.replayed import agree, load_text

SPEC = """
class Node(Role):
    xs: list[int] = [1, 2]
    s: set[int] = {{1, 2}}
    d: dict[int, int] = {{1: 5, 2: 6}}
    out: list[int] = []
    runs: int = 0
    others: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.runs < 1)
        self.runs += 1
        ys = [1, 2]
        {body}
    @action
    def other(self) -> None:
        require(self.others < 1 and self.runs)
        self.others += 1
        {change}
nodes = [Node()]
"""
OUT = "\n            yield\n            self.out.append(x)"

LISTS = [
    f"for x in self.xs:{OUT}",
    f"for i, x in enumerate(self.xs):{OUT}\n            self.out.append(i)",
    f"for i, x in enumerate(self.xs, start=3):{OUT}\n            self.out.append(i)",
    f"for x in list(self.xs):{OUT}",
    f"for x in ys:{OUT}\n            if len(ys) < 4:\n                ys.append(x + 5)",
    f"for x in ys:{OUT}\n            if len(ys) < 4:\n                ys += [x + 5]",
    f"for x in ys:{OUT}\n            ys = [8]",
    f"for x, y in self.d.items():{OUT}\n            self.out.append(y)",
    f"for x in self.d.values():{OUT}",
    f"for x in self.d:{OUT}",
    "for x in (y for y in self.xs):\n            self.xs.append(3)\n"
    "            if len(self.xs) > 3:\n                return\n        yield",
]
CHANGES = [
    "self.xs.append(3)",
    "self.xs.pop(0)",
    "self.xs[1] = 7",
    "self.xs.clear()",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", some(LISTS, every=12))
@pytest.mark.parametrize("change", CHANGES)
def test_a_loop_goes_on_in_what_is_there_by_then(body: str, change: str, tmp_path: Path) -> None:
    agree(tmp_path, SPEC.format(body=body, change=change))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("body", "change"),
    [
        (f"for x in self.s:{OUT}", "self.s.add(3)"),
        (f"for x in self.s:{OUT}", "self.s.discard(2)"),
        (f"for x in self.s:{OUT}", "self.s = {1, 3}"),
        (f"for x in self.d:{OUT}", "self.d[3] = 1"),
        (f"for x, _ in self.d.items():{OUT}", "del self.d[1]"),
        (f"for x in set(ys):{OUT}", "pass"),
        (f"s = set(ys)\n        for x in s:{OUT}\n            s.add(5)", "pass"),
    ],
)
def test_a_set_or_dict_that_changed_meanwhile_is_an_error(
    body: str, change: str, tmp_path: Path
) -> None:
    model = load_text(tmp_path, SPEC.format(body=body, change=change))

    errors = [str(f.error) for f in explore(model, SearchOptions()).findings if f.error]

    changes = change != "pass" or "s.add" in body
    assert changes == any("changed during iteration" in error for error in errors)


@pytest.mark.parametrize("head", ["x in self.d.values()", "_, x in self.d.items()"])
def test_a_loop_over_values_of_a_dict_gives_those_there_by_then(head: str, tmp_path: Path) -> None:
    seen = "@always\ndef unseen() -> bool:\n    return nodes[0].out != [5, 9]\n"
    text = SPEC.format(body=f"for {head}:{OUT}", change="self.d[2] = 9") + seen

    result = explore(load_text(tmp_path, text), SearchOptions(keep_going=True))

    assert ["unseen"] == [f.property for f in result.findings]


@pytest.mark.parametrize("head", ["zip(self.xs, ys)", "reversed(self.xs)", "(y for y in self.xs)"])
def test_a_loop_with_a_yield_goes_through_nothing_made_turn_by_turn(
    head: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError, match="which is lazy"):
        load_text(tmp_path, SPEC.format(body=f"for x in {head}:{OUT}", change="pass"))


RECORD = """
from statewalk import *
class Pair(Record):
    a: int = 1
    b: int = 5
    def __iter__(self): MADE
class Node(Role):
    pair: Pair = Pair()
    n: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.n == 0)
        for x in WAY(self.pair):
            self.n += x
            yield
    @action
    def other(self) -> None:
        self.pair.b = 7
node = Node()
deadlock(False)
@exists
def six() -> bool: return node.n == 6 and node.pair.b == 7
"""


@pytest.mark.parametrize("made", ["yield self.a; yield self.b", "return iter([self.a, self.b])"])
@pytest.mark.parametrize(("way", "told"), [("", "error"), ("list", "holds")])
def test_nor_through_a_record_that_makes_its_own(
    made: str, way: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(RECORD.replace("MADE", made).replace("WAY", way))
    run = check(path, engine="reference")
    said = " ".join("\n".join(map(str, run.traces.values())).split())

    assert told == run.verdict
    assert (told == "error") == ("which is lazy" in said)
