"""Python knows what it has compiled by length and time; what an author wrote is run from its text,
whichever way it is found.
"""

from __future__ import annotations

import json
import os
import py_compile
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

from statewalk import check, conform
from statewalk.dsl.errors import SpecError
from statewalk.dsl.origins import NO_MODULE
from tests.dsl.source.test_as_python import STEPS


def compiled_before(helper: Path, text: str) -> None:
    """Write a text where one of equal length and time, with 3 in the place of 4, was compiled."""
    helper.parent.mkdir(exist_ok=True)
    for n in "34":
        helper.write_text(text.replace("4", n))
        os.utime(helper, (1_000_000_000, 1_000_000_000))
        if n == "3":
            py_compile.compile(str(helper))


def spec(folder: Path, text: str) -> str:
    (folder / "specs").mkdir()
    (folder / "specs/spec.py").write_text(text)
    return str(folder / "specs/spec.py")


class Finder:
    """What setuptools installs with a package whose text is to be edited."""

    def __init__(self, name: str, file: Path) -> None:
        self.name, self.file = name, file

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        return spec_from_file_location(name, self.file) if name == self.name else None


@pytest.mark.parametrize("first", [False, True])
def test_a_helper_of_another_finder(
    first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"edited_{first}"
    file = tmp_path / "away/__init__.py"
    compiled_before(file, "N = 4")
    found = Finder(name, file)
    monkeypatch.setattr(
        sys, "meta_path", [found, *sys.meta_path] if first else [*sys.meta_path, found]
    )

    run = check(spec(tmp_path, f"from {name} import N as LIMIT" + STEPS), engine="reference")

    assert run.counts.distinct == 5
    assert f"{NO_MODULE}{name}" not in run.evidence.sources  # it was found


def test_a_helper_that_a_helper_imports_in_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled_before(tmp_path / "away/imported_late.py", "N = 4")
    outer = "def limit():\n    from imported_late import N\n    return N"
    (tmp_path / "away/imports_late.py").write_text(outer)
    monkeypatch.syspath_prepend(str(tmp_path / "away"))
    text = ("from imports_late import limit" + STEPS).replace("< LIMIT", "< limit()")

    assert check(spec(tmp_path, text), engine="reference").counts.distinct == 5


MAPS = {
    "itself": ("N = 4\n", "", None),
    "a helper": ("from of_a_map import N\n", "", "of_a_map"),
    "a helper in the function": (
        "",
        "from of_a_maps_function import N\n    ",
        "of_a_maps_function",
    ),
}


@pytest.mark.parametrize("way", MAPS)
def test_a_map(way: str, tmp_path: Path) -> None:
    head, inside, helper = MAPS[way]
    text = (
        f"import json\n{head}def event(line):\n    {inside}assert N == json.loads(line)\n"
        "    return {'action': 'go'}\n"
    )
    (tmp_path / "log").write_text(json.dumps(4) + "\n")
    if helper is None:
        compiled_before(tmp_path / "maps/map.py", text)
    else:
        compiled_before(tmp_path / f"maps/{helper}.py", "N = 4")
        (tmp_path / "maps/map.py").write_text(text)
    of = spec(tmp_path, "LIMIT = 3" + STEPS)

    assert conform(of, tmp_path / "log", map=f"{tmp_path}/maps/map.py:event").verdict == "conforms"


@pytest.mark.parametrize("late", [False, True])
def test_a_helper_of_a_map_does_not_come_in_the_place_of_the_specs(
    late: bool, tmp_path: Path
) -> None:
    for folder, limit in (("maps", 9), ("lib", 3)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bounds.py").write_text(f"N = {limit}\n")
    step, inside = "from bounds import N\n", "    assert N == 9\n    return {'action': 'go'}\n"
    inside = (
        f"def event(line):\n    {step}{inside}" if late else f"{step}def event(line):\n{inside}"
    )
    (tmp_path / "maps" / "map.py").write_text(inside)
    (tmp_path / "log").write_text("1\n" * 3)
    place = str(tmp_path / "lib")
    head = f"import sys\nsys.path.insert(0, {place!r})\ndef limit():\n    {step}    return N"
    of = spec(tmp_path, head + STEPS.replace("< LIMIT", "< limit()"))

    found = conform(of, tmp_path / "log", map=f"{tmp_path}/maps/map.py:event")

    assert ("conforms", 3) == (found.verdict, found.accepted)


def test_imports_of_others_are_left_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a spec, whoever runs one takes what Python compiled."""
    check(spec(tmp_path, "LIMIT = 3" + STEPS), engine="reference")
    compiled_before(tmp_path / "away/of_others.py", "N = 4")
    monkeypatch.syspath_prepend(str(tmp_path / "away"))

    assert __import__("of_others").N == 3


def test_a_helper_from_elsewhere_has_sets_in_order(tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "sw_names.py").write_text(
        "NAMES = {'h', 'g', 'f', 'e', 'd', 'c', 'b', 'a'}\nORDER = [n for n in NAMES]\n"
        "def ordered():\n    return list(set('dcba') | frozenset('hgfe'))\n"
    )
    text = f"import sys\nsys.path.append({str(away)!r})\nimport runpy, sw_names\n"
    text += f"LIMIT = len(runpy.run_module('sw_names')['NAMES']) - 5\n{STEPS}"
    text += "\nassert sw_names.ORDER == sw_names.ordered() == list('abcdefgh')\n"

    assert check(spec(tmp_path, text), engine="reference").counts.distinct == 4


def test_a_helper_from_elsewhere_that_asks_for_a_hash_is_named(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "sw_hashes.py").write_text("N = 3\nN = hash('a')\n")
    text = f"import sys\nsys.path.append({str(tmp_path / 'away')!r})\nimport sw_hashes\n"

    with pytest.raises(SpecError, match=r"sw_hashes\.py:2:5: SW104 'hash\(...\)' gives a hash"):
        check(spec(tmp_path, text), engine="reference")
