"""Fields without a type: programs assume what they held, and are dropped where it changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native.programs.knowledge import Knowledge
from statewalk.dsl.loader import load
from tests.cases import some
from tests.checker.native.agreement import told

TEXTS = {
    "a number that becomes a string": """
action Init:
  x = 0
  y = 0

atomic action Grow:
  require y < 12
  y += 1
  if y == 9:
    x = "a" + str(y)
    x = x + "b"
    x = len(x)
  else:
    x = x + 1
""",
    "a number that is None and then added to": """
action Init:
  x = 0
  n = 0

atomic action Grow:
  require n < 12
  n += 1
  x = n
  if n > 9:
    x = None
  if x == None or x > 3:
    x = 2

atomic action Look:
  require x != None
  n = n + x - x
""",
    "an attribute that changes its kind": """
action Init:
  n = 0
  kept = record(value=1, name="a")

atomic action Grow:
  require n < 14
  n += 1
  if n > 10:
    kept.value = "much"
  else:
    kept.value = n

atomic action Use:
  require n < 14
  n += 1
  if kept.value == n:
    kept.name = "last"
""",
    "entries of a dict": """
action Init:
  d = {}
  n = 0

atomic action Put:
  require n < 12
  any k in [0, 1]:
    n += 1
    d[k] = n if n < 10 else [n]

atomic action Sum:
  require n < 12 and 0 in d and 1 in d and n < 10
  n += 1
  d[0] = (d[0] + d[1]) % 5
""",
    "roles of two classes": """
role One:
  action Init:
    self.n = 0
  atomic func Step(k):
    self.n = (self.n + k) % 7

role Two:
  action Init:
    self.n = 5
  atomic func Step(k):
    self.n = (self.n + 2 * k) % 7

action Init:
  one = One()
  two = Two()
  it = one
  n = 0

atomic action Go:
  require n < 30
  n += 1
  it.Step(n)
  if n == 20:
    it = two
""",
}


@pytest.mark.parametrize("name", some(sorted(TEXTS), every=5))
def test_what_was_assumed_need_not_stay_so(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text("---\ndeadlock_detection: false\n---\n" + TEXTS[name])
    model = load(str(path), {})
    options = SearchOptions(keep_going=True, max_states=400, program_after=1)
    broken: list[tuple[str, str]] = []
    unexpected = Knowledge.unexpected

    def noted(self: Knowledge, key: tuple[str, str]) -> None:
        broken.append(key)
        unexpected(self, key)

    monkeypatch.setattr(Knowledge, "unexpected", noted)

    expected = told(reference.explore(load(str(path), {}, optimize=False), options))

    for after in (1, 2, 3, 5):
        assert expected == told(native.explore(model, replace(options, program_after=after)))
    assert broken
