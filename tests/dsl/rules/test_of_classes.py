"""Methods that get the class, as `classmethod` has them: what they may do before any step."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """
from statewalk import *
class Kept(KIND):
    n: int = 0
    STEPS = 1
    def __init_subclass__(cls, steps=1, **options):
        super().__init_subclass__(**options)
        cls.STEPS = steps
    @classmethod
    def mark(cls, steps):
        cls.STEPS = steps
        cls.n = steps
    @classmethod
    def low(cls) -> int:
        return cls.n
class Two(Kept, steps=2):
    pass
class Three(Kept):
    pass
Three.mark(3)
class Run(State):
    n: int = 0
    two: Two = Two()
    three: Three = Three()
    @action
    def step(self) -> None:
        require(self.n < 6)
        self.n += self.two.STEPS + self.three.n
        assert ["Two", "Three"] == [c.__name__ for c in Kept.__subclasses__()]
        assert [] == Two.__subclasses__() and [] == Three.__subclasses__()
        STEP
run = Run()
deadlock(False)
@exists
def p() -> bool: return run.n == 5
"""


def written(folder: Path, *, kind: str = "Record", step: str = "pass") -> Path:
    path = folder / "spec.py"
    path.write_text(SPEC.replace("KIND", kind).replace("STEP\n", f"{step}\n"))
    return path


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize("kind", ["Record", "Role"])
def test_a_class_may_be_changed_before_the_first_step(
    engine: str, kind: str, tmp_path: Path
) -> None:
    run = check(written(tmp_path, kind=kind), engine=engine)

    found = next(one for one in run.result.properties if one.name == "p")
    assert ("holds", 3) == (found.verdict, run.counts.distinct)


@pytest.mark.parametrize("step", ["self.two.mark(3)", "Two.mark(1)"])
def test_a_step_that_changes_one_is_refused_with_the_reason(step: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, kind="Role", step=step))

    said = {error.message for error in caught.value.errors}
    assert said > {
        "cls.STEPS = ... changes an attribute of a class, which is not part of the state."
    }


def test_a_step_that_asks_the_class_for_a_field_is_told_of_the_instance(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, kind="Role", step="self.two.low()"))

    [error] = caught.value.errors
    assert ("SW120", "cls.n is a field of the class Kept, not of an instance.") == (
        error.code,
        error.message,
    )
