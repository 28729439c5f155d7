"""Under ``--view on`` nothing that decides may read what the view leaves out: it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from statewalk import check, load
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.hidden import HiddenRead, hiding
from statewalk.checker.native import explore
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import RunError
from tests.cases import some

HEAD = """
from contextlib import suppress
from typing import Literal

from statewalk import *

class Lamp(Role):
    on: bool = False
    n: int = 0
    seen: Auxiliary[bool] = False
    count: Auxiliary[int] = 0
    small: Auxiliary[Literal[0, 1, 2]] = 0
    log: Auxiliary[list[int]] = []
    marks: Auxiliary[set[int]] = set()
    table: Auxiliary[dict[int, int]] = {}

    @action
    def remember(self) -> None:
        self.seen = True
        self.count += 1
        self.small = any_of([1, 2])
        self.log.append(1)
        self.marks.add(1)
        self.table[1] = 1
"""
ACTIONS = """
    @action
    def flip(self) -> None:
        require(not self.on)
        self.on = True
        self.seen = True
"""
REST = """
    def inner(self) -> bool:
        return self.seen

lamp, other = Lamp(), Lamp()
"""

PROPERTIES = {
    "directly": "return not lamp.seen",
    "helper": "return not lamp.inner()",
    "alias": "l = lamp\n    return not l.seen",
    "getattr": "return not getattr(lamp, 'se' + 'en')",
    "comprehension": "return not any(l.seen for l in (lamp, other))",
    "f-string": "return f'{lamp.seen}' == 'False'",
    "length": "return len(lamp.log) < 9",
    "truth": "return not lamp.log",
    "whole": "return lamp.log == other.log",
    "element": "return 3 not in lamp.marks",
    "key": "return 3 not in lamp.table",
    "keys": "return len(lamp.table) < 9",
    "range": "return all(True for _ in range(lamp.count))",
    "copy": "return [*lamp.log] != [3]",
    "set of values": "return len({l.count for l in (lamp, other)}) == 1",
    "step that changes": "return any(s.changes for s in next_steps())",
    "after a step": "return all(s.after(lambda: lamp.count) < 9 for s in next_steps())",
    "lambda": "return (lambda l: not l.seen)(lamp)",
}
STEPS = {
    "guard": "require(not self.seen)\n        self.n = 1",
    "test": "if self.seen:\n            self.n = 1",
    "augmented": "self.n += self.count",
    "assignment": "self.n = self.count",
    "helper": "self.n = 1 if self.inner() else 2",
    "alias": "r = self\n        self.n = r.count",
    "getattr": "self.n = getattr(self, 'count')",
    "options": "self.n = any_of([0, self.count])",
    "range": "for _ in range(self.count):\n            self.n = 1",
    "default": "def f(x: int = self.count) -> int:\n            return x\n        self.n = f()",
    "f-string": "self.n = len(f'{self.count}')",
    "assert": "assert not self.seen",
    "after a change": "self.count += 1\n        self.n = self.count % 2",
    "popped": "self.log.append(1)\n        self.n = self.log.pop()",
    "removed": "self.marks.discard(1)\n        self.marks.remove(2)",
    "what was replaced": "before = self.log\n        self.log = []\n        self.n = len(before)",
    "out of its range": "self.small += 1",
    "other instance": "self.n = sum(l.count for l in (lamp, other) if l is not self)",
    "match": "match self.count:\n            case 0:\n                self.n = 1",
    "swallowed": "with suppress(BaseException):\n            self.n = self.count",
}
FREE = {
    "set": "self.seen = True",
    "set and read": "self.seen = self.on\n        self.n = 1 if self.seen else 2",
    "counted": "self.count += 1",
    "appended": "self.log.append(self.n)",
    "extended": "self.log += [1, 2]",
    "added": "self.marks.add(self.n)",
    "discarded": "self.marks.discard(self.n)",
    "entered": "self.table[self.n] = 1",
    "replaced": "self.log = []",
    "of another": "for l in (lamp, other):\n            l.count += 1",
}


def refused(tmp_path: Path, text: str, engine: str = "native", **options: object) -> str:
    """The code with which a spec is refused under the view; the verdict where it is not."""
    spec = tmp_path / "spec.py"
    spec.write_text(text)
    model = load(spec, optimize=options.pop("optimize", True))  # type: ignore[arg-type]
    try:
        run = check(model, engine=engine, view=True, liveness=False, max_depth=4, **options)  # type: ignore[arg-type]
    except RunError as error:
        return error.code
    return run.verdict


def with_property(body: str, mark: str = "always") -> str:
    return f"{HEAD}{ACTIONS}{REST}\n@{mark}\ndef looks() -> bool:\n    {body}\n"


def with_step(body: str) -> str:
    return f"{HEAD}\n    @action\n    def step(self) -> None:\n        {body}\n{REST}"


@pytest.mark.parametrize("how", some(PROPERTIES, every=6))
def test_a_property_that_reads_a_hidden_field_is_refused(tmp_path: Path, how: str) -> None:
    text = with_property(PROPERTIES[how])

    assert refused(tmp_path, text) == "SW356"
    assert refused(tmp_path, text, "reference", optimize=False) == "SW356"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mark", ["exists", "on_step", "constraint", "terminal"])
def test_whatever_else_decides_and_reads_a_hidden_field_is_refused(
    tmp_path: Path, mark: str
) -> None:
    text = with_property("return lamp.seen", mark)
    if mark == "terminal":  # asked where nothing is possible
        text = text.replace(
            "self.seen = True\n        self.count", "require(False)\n        self.count"
        )

    assert refused(tmp_path, text) == "SW356"
    assert refused(tmp_path, text, "reference") == "SW356"


def test_the_state_before_a_step_is_hidden_too(tmp_path: Path) -> None:
    text = with_property("return old(lamp.seen) == old(lamp.on)", "on_step")

    assert refused(tmp_path, text) == "SW356"
    assert refused(tmp_path, text, "reference") == "SW356"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", some(STEPS, every=6))
def test_a_step_that_reads_a_hidden_field_is_refused(tmp_path: Path, how: str) -> None:
    text = with_step(STEPS[how])

    assert refused(tmp_path, text) == "SW356"
    assert refused(tmp_path, text, "reference", optimize=False) == "SW356"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["Role", "Role, at_most=3"])
@pytest.mark.parametrize("how", FREE)
def test_a_step_may_write_a_hidden_field(tmp_path: Path, how: str, kind: str) -> None:
    text = with_step(FREE[how]).replace("Lamp(Role)", f"Lamp({kind})")

    assert refused(tmp_path, text) in ("holds", "bounded")
    assert refused(tmp_path, text, "reference") in ("holds", "bounded")


@pytest.mark.parametrize("collected", ["", ", collected=True"])
def test_a_role_may_end_where_hidden_fields_mention_none(tmp_path: Path, collected: str) -> None:
    begin = HEAD.replace("Lamp(Role)", f"Lamp(Role, at_most=3{collected})")
    ends = "    @action\n    def ends(self) -> None:\n        end(self)\n"
    kept = """
class Entry(Record):
    names: tuple[str, int] = ("a", 1)
    of: "Entry | None" = None
class Book(State):
    entries: Auxiliary[list[Entry]] = []
    lamps: Auxiliary[list[Lamp]] = []
    @action
    def note(self, lamp: Lamp) -> None:
        self.lamps = [lamp]
    @action
    def make(self) -> None:
        require(len(instances(Lamp)) < 3)
        self.entries.append(Entry())
        Lamp().count += 1
book = Book()
"""
    free = kept.replace("list[Lamp]", "list[int]").replace("[lamp]", "[1]")

    assert refused(tmp_path, f"{begin}{ends}{free}") in ("holds", "bounded")
    assert refused(tmp_path, f"{begin}{ends}{kept}") == "SW356"


def test_a_property_that_is_not_asked_for_may_read_anything(tmp_path: Path) -> None:
    text = with_property("return not lamp.seen")

    assert refused(tmp_path, text, properties=("Deadlock",)) == "holds"


def test_the_refusal_names_the_reader_the_field_and_the_way_out(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(with_property("return not lamp.seen"))

    with pytest.raises(RunError) as caught:
        check(load(spec), view=True)

    assert caught.value.message == "With --view on, the property 'looks' cannot read Lamp.seen."
    assert "leave looks out with --property" in caught.value.help
    assert caught.value.at is not None
    assert (caught.value.at.line, caught.value.at.column) == (39, 16)


def test_what_is_hidden_is_said_of_a_check_that_reads_none_of_it(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(with_step("self.count += 1"))

    run = check(load(spec), view=True)

    assert run.counts.distinct == 1
    assert "Lamp.count" in run.evidence.hidden
    assert CheckOptions(view=True) == run.evidence.options


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", sorted({*STEPS} - {"out of its range", "default"}))
def test_a_step_that_reads_a_hidden_field_is_warned_of(tmp_path: Path, how: str) -> None:
    (tmp_path / "spec.py").write_text(with_step(STEPS[how]))

    assert "SW604" in [w.code for w in load(tmp_path / "spec.py").warnings]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", sorted({*FREE} - {"set and read"}))
def test_no_warning_is_given_of_a_step_that_only_writes(tmp_path: Path, how: str) -> None:
    (tmp_path / "spec.py").write_text(with_step(FREE[how]))

    assert "SW604" not in [w.code for w in load(tmp_path / "spec.py").warnings]


@pytest.mark.parametrize("name", ["inherited", "renamed", "named", "qualified"])
def test_a_hidden_field_is_one_however_it_is_declared(tmp_path: Path, name: str) -> None:
    text = f"""
import statewalk as sw
from statewalk import *
from statewalk import Auxiliary as Hidden
History = Auxiliary[int]
class Device(Role):
    inherited: Auxiliary[int] = 0
class Lamp(Device):
    n: int = 0
    renamed: Hidden[int] = 0
    named: History = 0
    qualified: sw.Auxiliary[int] = 0
    @action
    def step(self) -> None:
        self.n += self.{name}
        self.{name} += 1
lamp = Lamp()
"""

    assert refused(tmp_path, text) == "SW356"
    assert "SW604" in [w.code for w in load(tmp_path / "spec.py").warnings]


def test_a_search_that_goes_on_is_refused_as_one_at_one_go(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text("""
from statewalk import *
class Counter(Role):
    n: int = 0
    log: Auxiliary[list[int]] = []
    @action
    def up(self) -> None:
        require(self.n < 6)
        self.n += 1
        self.log.append(self.n)
counter = Counter()
@always
def short() -> bool:
    return counter.n < 5 or len(counter.log) < 9
""")

    def go_on(depth: int, *, resume: bool) -> Run:
        folder = str(tmp_path / "saved")
        return check(
            load(spec), engine="native", view=True, max_depth=depth, checkpoint=folder,
            checkpoint_every=0.0, resume=resume,
        )  # fmt: skip

    assert go_on(3, resume=False).verdict == "bounded"
    assert go_on(4, resume=True).counts.distinct == 4
    with pytest.raises(RunError, match=r"short.*log") as caught:
        go_on(9, resume=True)
    assert caught.value.code == "SW356"


def test_a_property_may_look_ahead_along_steps_that_write_hidden_fields(tmp_path: Path) -> None:
    ahead = "enabled(lamp.remember) and all(s.after(lambda: lamp.n) == 0 for s in next_steps())"
    text = with_property(f"return {ahead}")

    assert refused(tmp_path, text) == "holds"
    assert refused(tmp_path, text, "reference") == "holds"


COMPILED = """
from typing import Literal

from statewalk import *

N = 50
deadlock(False)

class Rare(Role):
    n: int = 0
    ready: bool = False
    seen: set[tuple[int, int]] = set()
    last: Auxiliary[int] = 0
    marks: Auxiliary[set[int]] = set()

    @action
    def step(self, k: Literal[0, 1]) -> None:
        require(self.n < N and all(pair != (k, -1) for pair in self.seen))
        self.n += 1
        if self.n > N - 3:
            {rarely}

    @action
    def remember(self) -> None:
        self.seen = {{(self.n, 1)}}
        self.last = self.n % 2
        self.marks.add(1)

rare = Rare()

@always
def never() -> bool:
    return {always}
"""
RARELY = {
    "a membership": ("self.ready = 2 in self.marks", "not rare.ready"),
    "a test": ("self.ready = self.last == 1", "not rare.ready"),
    "an element taken out": ("self.marks.remove(1)", "not rare.ready"),
    "a property": ("self.ready = True", "not rare.ready or rare.last < 9"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("programs", ["all", "whole"])
@pytest.mark.parametrize("how", some(RARELY, every=4))
def test_programs_refuse_what_the_spec_as_written_would(
    tmp_path: Path, how: str, programs: Literal["all", "whole"]
) -> None:
    spec = tmp_path / "spec.py"
    rarely, always = RARELY[how]
    spec.write_text(COMPILED.format(rarely=rarely, always=always))
    options = SearchOptions(view=True, programs=programs, program_after=4)

    with pytest.raises(HiddenRead):
        explore(hiding(load(spec)), options)
