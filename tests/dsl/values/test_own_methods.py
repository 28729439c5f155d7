"""Own methods of a spec's classes: called as Python calls them, or refused."""

from pathlib import Path

import pytest

from statewalk import check, load
from statewalk.dsl.errors import StatewalkError

SPEC = """
from statewalk import *
class Watch(State):
    now: int = 0
watch = Watch()
class Mixed:
    def other(self) -> int: return 0
class Job(MIXED Record):
    n: int = 0
    parts: list[int] = []
    RECORD
class Worker(MIXED Role):
    job: Job = Job()
    ROLE
    @action
    def step(self) -> None:
        require(watch.now < 2)
        watch.now += 1
        STEP
worker = Worker()
deadlock(False)
@always
def p() -> bool: return PROPERTY
"""
WAYS = [
    ("reference", True), ("reference", False), ("native", True),
]  # fmt: skip
BOTH = (
    "def __setattr__(self, name, value): pass", "def __delattr__(self, name): pass",
    "def __getattr__(self, name): return 0", "def __getattribute__(self, name): return 0",
    "def __new__(cls, *a, **b): return None", "__slots__ = ('q',)",
    "def __eq__(self, o): return True", "def __ne__(self, o): return True",
    "def __hash__(self): return 1", "__hash__ = None",
    "def _freeze(self): return 1", "_fields = ('n',)", "def _canonical(self): return b''",
    "_bytes = 3",
)  # fmt: skip
OF_RECORDS = (
    *BOTH, "def _with(self, x): return self", "_path = ()", "def _update(self): pass",
    "@property\n    def _at(self): return 1", "@classmethod\n    def _place(cls): return 1",
    "_open = True", "_referenced = int",
)  # fmt: skip
OF_ROLES = (
    *BOTH, "def __init__(self): pass", "def __post_init__(self): pass",
    "index: int = 0", "index = 3", "@action\n    def index(self): pass",
    "_index = 3", "_symmetric = True", "_instances = []", "@action\n    def _fizz(self): pass",
)  # fmt: skip


def written(folder: Path, **parts: str) -> Path:
    text = SPEC
    for name in ("MIXED", "RECORD", "ROLE", "STEP", "PROPERTY"):
        default = {"STEP": "pass", "PROPERTY": "True"}.get(name, "")
        text = text.replace(name, parts.get(name, default))
    path = folder / "spec.py"
    path.write_text(text)
    return path


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("kind", "own"), [*(("ROLE", o) for o in OF_ROLES), *(("RECORD", o) for o in OF_RECORDS)]
)
def test_what_the_state_would_not_ask_is_refused(kind: str, own: str, tmp_path: Path) -> None:
    with pytest.raises(StatewalkError, match=r"SW123 .* cannot define "):
        load(written(tmp_path, **{kind: own}))


@pytest.mark.parametrize(("engine", "optimize"), WAYS)
def test_other_names_with_an_underscore_are_free(
    engine: str, optimize: bool, tmp_path: Path
) -> None:
    own = "_k = 2\n    def _more(self): return self._k + 1\n    def _set(self, n): self.n = n"
    path = written(
        tmp_path, RECORD=own, ROLE="def _do(self): self.job._set(watch.now * self.job._more())",
        STEP="self._do()", PROPERTY="worker.job.n in (0, 3, 6)",
    )  # fmt: skip

    assert "holds" == check(load(path, optimize=optimize), engine=engine).verdict


def test_it_is_refused_of_a_class_that_is_mixed_in_as_well(tmp_path: Path) -> None:
    path = written(tmp_path, MIXED="Mixed,")
    path.write_text(path.read_text().replace("def other(self) -> int:", f"{BOTH[0]}\n    def o():"))

    with pytest.raises(StatewalkError, match="SW123 Job cannot define __setattr__"):
        load(path)


@pytest.mark.parametrize("kind", ["Job", "Worker"])
def test_what_a_decorator_of_the_class_writes_is_refused_as_well(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    text = path.read_text().replace("parts: list[int] = []", "")
    text = text.replace(f"class {kind}", f"@dataclass\nclass {kind}")
    path.write_text(f"from dataclasses import dataclass\n{text}")

    with pytest.raises(StatewalkError, match=f"SW123 {kind} cannot define __eq__"):
        load(path)


LATER = "{0}.__eq__ = lambda self, other: True"


@pytest.mark.parametrize("kind", ["Job", "Worker"])
def test_what_a_later_statement_writes_is_refused_as_well(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(f"{path.read_text()}\n{LATER.format(kind)}\n")

    with pytest.raises(StatewalkError, match=f"SW123 {kind} cannot define __eq__"):
        load(path)


@pytest.mark.parametrize("mixed", ["", "Same, "])
def test_an_enum_says_not_what_its_members_equal(mixed: str, tmp_path: Path) -> None:
    path = written(tmp_path, RECORD="colour: Colour = Colour.RED")
    equal = "def __eq__(self, other): return True\n    def __hash__(self): return 1"
    body = "pass" if mixed else equal
    path.write_text(
        f"from enum import Enum\nclass Same:\n    {equal}\n"
        f"class Colour({mixed}Enum):\n    {body}\n    RED = 1\n    BLUE = 2\n{path.read_text()}"
    )

    with pytest.raises(StatewalkError, match="SW123 Colour cannot define __eq__"):
        load(path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("engine", "optimize"), WAYS)
@pytest.mark.parametrize("head", ["__post_init__(self)", "__init__(self, n=0, parts=())"])
def test_what_a_record_does_when_it_is_made_is_done(
    head: str, engine: str, optimize: bool, tmp_path: Path
) -> None:
    given = "self.n = n; self.parts = [*parts]; " if "parts" in head else ""
    capped = f"def {head}: {given}self.n = min(self.n, watch.now)"
    step = "self.job = replace(self.job, n=9) if watch.now % 2 else Job(9)"
    path = written(
        tmp_path, RECORD=capped, STEP=step, PROPERTY="replace(worker.job, n=9).n == watch.now"
    )
    run = check(load(path, optimize=optimize), engine=engine)

    assert ("holds", 3) == (run.verdict, run.counts.distinct)
    assert "holds" == check(
        written(tmp_path, RECORD=capped, STEP=step, PROPERTY="worker.job.n == watch.now"),
        engine=engine,
    ).verdict  # fmt: skip


@pytest.mark.parametrize(("engine", "optimize"), WAYS)
def test_a_changed_copy_can_be_changed_until_it_is_stored(
    engine: str, optimize: bool, tmp_path: Path
) -> None:
    step = "job = replace(self.job, n=1); job.parts.append(watch.now); self.job = job"
    path = written(tmp_path, STEP=step, PROPERTY="len(worker.job.parts) == watch.now")
    run = check(load(path, optimize=optimize), engine=engine)

    assert ("holds", 3) == (run.verdict, run.counts.distinct)


METHODS = """
    @classmethod
    def made(cls, n: int) -> "Job": return cls(n=n)
    @classmethod
    def is_job(cls) -> bool: return cls is Job
    @property
    def double(self) -> int: return 2 * self.n
    @double.setter
    def double(self, value: int) -> None: self.n = value // 2
"""
SETTER = """
    @property
    def n(self) -> int: return self.job.n
    @n.setter
    def n(self, value: int) -> None: self.job.n = value
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("engine", "optimize"), WAYS)
@pytest.mark.parametrize(
    "step",
    [
        "self.job = self.job.made(3)", "self.job = Job().made(3)",
        "self.job = type(self.job).made(3)",
        "self.job.double = 6", "self.job.double += 6 - self.job.double",
        "job = Job(); job.double = 6; self.job = job", "self.n = 3",
    ],
)  # fmt: skip
def test_methods_of_the_class_and_properties_that_are_set_are_pythons(
    step: str, engine: str, optimize: bool, tmp_path: Path
) -> None:
    right = "worker.job.is_job() and worker.job.n == (3 if watch.now else 0)"
    path = written(tmp_path, RECORD=METHODS, ROLE=SETTER, STEP=step, PROPERTY=right)
    run = check(load(path, optimize=optimize), engine=engine)

    assert ("holds", 3) == (run.verdict, run.counts.distinct)
