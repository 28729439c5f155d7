"""What rules found is kept: nothing that a rule could have looked at changes unnoticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statewalk.dsl import caches, loader, remembered
from statewalk.dsl.errors import SpecError
from statewalk.dsl.model import Model
from statewalk.dsl.rules.all import check_tree
from tests.places import ROOT

SPEC = """
import os
from helper import TABLE
from parts import limit
from statewalk import Constant, Role, action, always, require

N: Constant[int] = 2
LEVEL = int(os.environ.get("LEVEL_OF_THE_TEST", "1"))


class Counter(Role):
    value: int = 0
    seen: int = 0

    @action
    def up(self) -> None:
        require(self.value < limit(N) + TABLE["more"])
        self.value += 1
        self.seen = self.value

    @action
    def down(self) -> None:
        require(self.value > 0)
        self.value -= 1


counter = Counter()


@always
def small() -> bool:
    return counter.value <= N + LEVEL
"""
HELPER = 'TABLE = {"more": 0}\n'
_FILLER = "# what stands here makes it large enough to be worth it\n" * 60


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spec with a warning, of three files; what is found is kept below ``tmp_path``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    monkeypatch.delenv(caches.CI, raising=False)
    path = tmp_path / "counting.py"
    path.write_text(SPEC + _FILLER)
    (tmp_path / "parts.py").write_text(
        "from statewalk import Record\n\n\ndef limit(n: int) -> int:\n    return n\n"
    )
    (tmp_path / "helper.py").write_text(HELPER)
    return path


def folder() -> Path:
    found = caches.folder("found")
    assert found is not None
    return found


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets a number each time that rules look at a spec."""
    found: list[int] = []

    def counted(*given: Any) -> None:
        found.append(1)
        look(*given)

    look = check_tree
    monkeypatch.setattr(loader, "check_tree", counted)
    return found


def told(spec: Path, **constants: Any) -> list[str]:
    return list(map(str, loader.load(spec, constants).warnings))


def entry() -> Path:
    (found,) = folder().glob("*.json")
    return found


def test_what_was_found_is_found_again_without_looking(spec: Path, looks: list[int]) -> None:
    first = told(spec)

    assert "SW603 Counter.seen is written and never read." in first[0]
    assert first == told(spec)
    assert len(looks) == 1


def test_an_edited_source_is_looked_at_anew(spec: Path, looks: list[int]) -> None:
    told(spec)
    spec.write_text((SPEC + _FILLER).replace("value <= N", "seen <= N"))

    assert told(spec) == []
    assert len(looks) == 2


def test_a_mistake_is_found_each_time_and_once_it_is_made(spec: Path, looks: list[int]) -> None:
    told(spec)
    spec.write_text((SPEC + _FILLER).replace("self.value += 1", "self.valeu += 1"))

    for _ in range(2):
        with pytest.raises(SpecError, match="SW101"):
            told(spec)
    assert len(looks) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: (spec.parent / "parts.py").write_text(
            "from statewalk import Record\n\n\ndef limit(n: int) -> int:\n    return 1 + n\n"
        ),
        lambda spec: (spec.parent / "helper.py").write_text('TABLE = {"more": 1}\n'),
    ],
)
def test_so_is_one_that_it_imports(
    spec: Path, looks: list[int], change: Callable[[Path], object]
) -> None:
    told(spec)
    change(spec)
    told(spec)

    assert len(looks) == 2


def test_other_constants_are_another_spec(spec: Path, looks: list[int]) -> None:
    told(spec)
    told(spec, N=3)

    assert len(looks) == 2


def test_what_modules_hold_counts_and_not_only_their_text(
    spec: Path, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(spec)
    monkeypatch.setenv("LEVEL_OF_THE_TEST", "2")
    told(spec)

    assert len(looks) == 2


def test_what_cannot_be_described_is_looked_at_each_time(spec: Path, looks: list[int]) -> None:
    spec.write_text(
        (SPEC + _FILLER).replace("import os\n", "import hashlib, os\nGATE = hashlib.sha256()\n")
    )
    told(spec)
    told(spec)

    assert len(looks) == 2
    assert not list(folder().glob("*"))


def test_another_version_of_ours_looks_anew(
    spec: Path, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(spec)
    monkeypatch.setattr(caches, "stamp", lambda *folders: "another")
    told(spec)

    assert len(looks) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("never read", "never seen"),
        lambda text: text.replace("SW603", "SW604"),
        lambda text: json.dumps(["[]", *json.loads(text)[1:]]),
        lambda text: "[" * 5000,
        lambda text: "7",
        lambda text: "\x00",
    ],
)
def test_what_is_damaged_is_not_believed_and_replaced(
    spec: Path, looks: list[int], damage: Callable[[str], str]
) -> None:
    first, whole = told(spec), entry().read_text()
    entry().write_text(damage(whole))

    assert first == told(spec)
    assert len(looks) == 2
    assert whole == entry().read_text()


def test_an_entry_under_the_name_of_another_is_not_believed(spec: Path, looks: list[int]) -> None:
    told(spec)
    one = entry()
    told(spec, N=3)
    (other,) = set(folder().glob("*.json")) - {one}
    other.write_bytes(one.read_bytes())
    told(spec, N=3)

    assert len(looks) == 3


def test_without_a_folder_everything_is_looked_at(spec: Path, looks: list[int]) -> None:
    (spec.parent / "kept").write_text("no folder")

    assert told(spec) == told(spec)
    assert len(looks) == 2


def test_old_entries_make_room(
    spec: Path, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "_MOST", 4)
    for n in range(9):
        told(spec, N=n)

    assert len(list(folder().iterdir())) <= 4
    told(spec, N=8)
    assert len(looks) == 9


def test_it_is_no_input_of_the_model(spec: Path) -> None:
    models: list[Model] = [loader.load(spec) for _ in range(2)]

    assert models[0].inputs == models[1].inputs
    assert not any("kept" in name or "/dsl/" in name for name in models[0].inputs)


@pytest.mark.parametrize("name", ["kafka/init_pid", "stores/snapshot"])
def test_models_of_the_library_are_as_they_are_without_it(
    name: str, spec: Path, looks: list[int]
) -> None:
    path = ROOT / "models" / f"{name}.py"
    first, second = (loader.load(path) for _ in range(2))

    assert len(looks) == 1
    assert list(map(str, first.warnings)) == list(map(str, second.warnings))
    assert [a.label for a in first.actions] == [a.label for a in second.actions]
    assert [p.name for p in first.properties] == [p.name for p in second.properties]
