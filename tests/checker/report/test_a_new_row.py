"""A bound, and a kind of property, added to a copy of the tree as inside.md says, work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import slow
from tests.places import ROOT

SPEC = """
from statewalk import *

class C(Role):
    n: int = 0

    @action(fair="weak")
    def up(self) -> None:
        self.n = min(self.n + 1, 9)

c = C()

@eventually
def full() -> bool:
    return c.n == 9

@exists
def begun() -> bool:
    return c.n == 2
"""
ROW = """        case "generated":
            cut = "the search was cut at a number of generated states"
            own = "--max-generated"
            return Stop(cut, f"{own} {{}}", own, "max_generated", "generated")
"""
NAME = ("StoppedBy = Literal[", 'StoppedBy = Literal["generated", ')
EDITS = {
    "checker/contract/stops.py": [NAME, ("    assert_never(", f"{ROW}    assert_never(")],
    "checker/contract/options.py": [
        ('"max_states": _COUNT', '"max_states": _COUNT, "max_generated": _COUNT'),
        ("    max_states: int |", "    max_generated: int | None = None\n    max_states: int |"),
    ],
    "checker/contract/search.py": [
        ("    max_states: int |", "    max_generated: int | None = None\n    max_states: int |"),
    ],
    "checker/commands/check.py": [
        ('    group.add_argument("--max-depth"',
         '    group.add_argument("--max-generated", type=number)\n'
         '    group.add_argument("--max-depth"'),
        ("        max_states=a.max_states", "        max_generated=a.max_generated,\n"
         "        max_states=a.max_states"),
    ],
}  # fmt: skip


KIND = {
    "dsl/kinds.py": [
        ("PropertyKind = Literal[", 'PropertyKind = Literal["never", '),
        ('    Kind("eventually",',
         '    Kind("never", "states", "ban", "bans", (("never",),), True, absent=False),\n'
         '    Kind("eventually",'),
    ],
    "dsl/words/declare.py": [
        ("def on_step(",
         'def never(function: P, /) -> P:\n    return _mark(function, "never")\n\n\n'
         "def on_step("),
    ],
    "statewalk/__init__.py": [("    named,\n", "    named,\n    never,\n")],
}  # fmt: skip
FORBIDDEN = """
from statewalk import Role, action, never, require

class C(Role):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < 5)
        self.n += 1

c = [C(), C()]

@never
def high(x: C) -> bool:
    return x.n > 4

@never
def negative() -> bool:
    return any(x.n < 0 for x in c)
"""


def copy(to: Path, edits: dict[str, list[tuple[str, str]]]) -> None:
    """Copy the tree, with what is compiled, and change texts that each occur once."""
    for package in ("statewalk", "dsl", "checker", "models"):
        shutil.copytree(ROOT / package, to / package, symlinks=True)
    for name, changes in edits.items():
        text = (to / name).read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (to / name).write_text(text, encoding="utf-8")


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run statewalk from a copy of the tree."""
    return subprocess.run(
        [sys.executable, "-m", "statewalk", *words],
        cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)}, capture_output=True, text=True,
        encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_it_is_told_everywhere(tmp_path: Path, engine: str) -> None:
    copy(tmp_path, EDITS)
    (tmp_path / "spec.py").write_text(SPEC, encoding="utf-8")
    outputs = ["--html", "page.html", "--junit", "junit.xml", "--json", "result.json"]
    given = ["check", "spec.py", "--engine", engine, "--max-generated", "4", *outputs]
    made = run(tmp_path, *given, "--out", "run")

    said = "bounded: --max-generated 4"
    why = "SW503: the search was cut at a number of generated states"
    assert "bounded by --max-generated 4" in made.stdout, made.stdout + made.stderr
    assert f"full ({why}; --allow-unsound takes the risk)" in " ".join(made.stdout.split())
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert ("bounded", 4) == (result["verdict"], result["counts"]["generated"])
    assert said in result["warnings"]
    evidence = json.loads(next(tmp_path.glob("run/**/evidence.json")).read_text(encoding="utf-8"))
    assert ("generated", ["--max-generated 4"]) == (evidence["stopped"], evidence["bounds"])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "--max-generated 4" in page
    assert '"around"' in page  # drawn, as the levels are whole
    assert "full: unknown (bounded)" in (tmp_path / "junit.xml").read_text(encoding="utf-8")


def test_it_needs_a_row(tmp_path: Path) -> None:
    copy(tmp_path, {"checker/contract/stops.py": [NAME]})
    made = run(tmp_path, "check", "toys/die_hard")

    assert "unreachable, but got: 'generated'" in made.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [slow("auto"), slow("reference"), "native"])
def test_a_kind_of_property_is_searched_for(tmp_path: Path, engine: str) -> None:
    copy(tmp_path, KIND)
    (tmp_path / "spec.py").write_text(FORBIDDEN, encoding="utf-8")
    made = run(tmp_path, "check", "spec.py", "--engine", engine, "--keep-going", "--out", "run")

    assert "VIOLATED  high(C#1)  (never)  after 5 steps, a shortest trace" in made.stdout, made
    assert "high(C#0) · high(C#1)" in made.stdout
    assert "negative" not in made.stdout
    shown = run(tmp_path, "replay", "run/high_C_0.trace.json")
    assert "high(C#0) is violated again" in shown.stdout
    walked = run(tmp_path, "simulate", "spec.py", "--runs", "20")
    assert "(never)" in walked.stdout
