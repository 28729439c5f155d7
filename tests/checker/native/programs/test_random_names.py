"""Random actions with several names for one thing: programs, uncompared, beside plain Python."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from statewalk.checker import quick
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native.programs.programs import Programs
from statewalk.dsl.loader import load
from tests.cases import some
from tests.checker.native.agreement import told
from tests.checker.native.programs.test_names import HEAD

ELEMENTS = (
    "self.one", "self.items[0]", "self.items[-1]", "self.table[1]", "self.table.get(1)",
    "self.local()", "self.newest()", "Item(3)", "self.same({x})", "any_of(self.items)", "{x}",
    "self.latest() or self.one", "{x} if self.n else self.one", "Item(1, {x}.tags)",
)  # fmt: skip
OF_LISTS = ("{l}[0]", "{l}[-1]", "{l}.pop()")
LISTS = (
    "self.items", "[{x}, {x}]", "list(self.items)", "[i for i in self.items]", "self.viacopy()",
    "self.allof()", "[Item(0)]", "[]",
)  # fmt: skip
CHANGES = (
    "{x}.n = {k}", "{x}.n = {k}", "{x}.tags.append({k})", "{x}.tags = [{k}]", "{l}.append({x})",
    "{l}[0].n = {k}", "{l}[0] = {x}", "self.one = {x}", "self.items[0] = {x}", "self.bump({x})",
    "self.items[0].n = {k}", "for v in {l}:\n    v.n = {k}", "if self.n:\n    {x}.n = {k}",
    "require({x}.n != {k})",
)  # fmt: skip
BOUNDS = """require(len(self.items) < 4 and len(self.table) < 4)
require(all(len(i.tags) < 3 for i in self.items) and len(self.one.tags) < 3)"""


def body(random: Random) -> str:
    """Return the statements of an action: names are bound, changed by one, and read by another."""
    elements, lists = ["x"], ["self.items"]

    def filled(text: str) -> str:
        names = {"x": random.choice(elements), "l": random.choice(lists)}
        return text.format(**names, k=random.randint(0, 3))

    lines = ["x = " + random.choice(("self.one", "self.items[0]", "Item(3)", "self.local()"))]
    for _ in range(random.randint(2, 6)):
        kind = random.random()
        if kind < 0.25:
            lines.append(f"{random.choice('xyzw')} = {filled(random.choice(ELEMENTS + OF_LISTS))}")
            elements.append(lines[-1][0])
        elif kind < 0.4:
            lines.append(f"{random.choice('pq')} = {filled(random.choice((*LISTS, '{l}')))}")
            lists.append(lines[-1][0])
        else:
            lines.append(filled(random.choice(CHANGES)))
    lines.append(filled("self.n = ({x}.n + 2 * len({x}.tags)) % 4"))
    lines.append(filled("require(sum(i.n for i in {l}) < 7)"))
    text = "\n".join([*lines, BOUNDS])
    return "\n".join(f"        {line}" for line in text.splitlines())


@pytest.mark.thorough
@pytest.mark.parametrize("block", some(range(5, 205), every=200))
def test_programs_keep_random_names(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Programs, "_compare", lambda *_: None)
    for seed in range(5 * block, 5 * block + 5):
        path = tmp_path / f"spec_{seed}.py"
        path.write_text(HEAD.replace("@\n", body(Random(seed)) + "\n", 1))
        options = SearchOptions(keep_going=True, max_states=120)
        expected = told(reference.explore(load(str(path), {}, optimize=False), options))

        found = quick.explore(load(str(path), {}), options)

        assert found is None or expected == told(found), path.read_text()
