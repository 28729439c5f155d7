"""``getattr(self, "x")`` and ``hasattr`` name a field as ``self.x`` does."""

from pathlib import Path

import pytest

from statewalk import check, load

SPEC = """
from statewalk import *
class Box(State):
    jobs: list[int] = []
    last: HINT = 0
    n: int = 0
    @action
    def go(self) -> None:
        require(self.n < 3)
        getattr(self, "jobs").append(self.n)
        self.n += 1
        self.last = self.n
    @action
    def look(self) -> None:
        require(self.n == 3)
        self.n = LOOK
box = Box()
@always
def few() -> bool:
    return len(box.jobs) < 3
"""


def warned(folder: Path, look: str, hint: str = "int") -> list[str]:
    path = folder / "spec.py"
    path.write_text(SPEC.replace("LOOK", look).replace("HINT", hint))
    return [warning.code for warning in load(path).warnings]


@pytest.mark.parametrize(
    "look", ['getattr(self, "last")', 'getattr(box, "last", 5)', 'int(hasattr(self, "last"))']
)
def test_a_field_that_is_read_by_its_name_is_read(tmp_path: Path, look: str) -> None:
    assert warned(tmp_path, "0") == ["SW603"]
    assert warned(tmp_path, look) == []
    assert warned(tmp_path, look, "Auxiliary[int]") == ["SW604"]


def test_a_list_that_is_got_by_its_name_can_be_changed(tmp_path: Path) -> None:
    warned(tmp_path, "0")

    result = check(tmp_path / "spec.py", engine="reference")

    assert [(p.name, p.length) for p in result.properties if p.verdict == "violated"] == [
        ("few", 3)
    ]
