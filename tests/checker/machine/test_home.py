"""Where a spec goes, and what mask it sets, changes nothing about where and how we write."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import slow
from tests.checker.machine.hanging import COUNTER, IMPORTS, start
from tests.places import ROOT

AWAY = "V['chdir']('away'); V['umask'](0o777)"
WHERE = {
    "load": IMPORTS + "import os\nV = vars(os)\n" + AWAY + "\n",
    "action": IMPORTS + "import os\nV = vars(os)\n",
}
OUTPUTS = ("--json", "o.json", "--junit", "o.xml", "--sarif", "o.sarif")


def spec(where: str) -> str:
    text = COUNTER.format(init="", action="", property="")
    away = "if V['getcwd']().endswith('here'): " + AWAY.replace("away", "../away")
    if where == "action":
        text = text.replace("self.n = min", f"{away}\n        self.n = min")
    return WHERE[where].replace("'away'", "'../away'") + text


@pytest.mark.parametrize(
    ("where", "engine", "more"),
    [
        ("action", "reference", ("--out", "run")),
        slow("load", "native", ("--out", "run", "--checkpoint-every", "0", "--graph", "g")),
        slow("action", "native", ("--graph", "g")),
        slow("load", "reference", ()),
    ],
)
def test_outputs_lie_where_the_command_began(
    where: str, engine: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    here, away = tmp_path / "here", tmp_path / "away"
    here.mkdir()
    away.mkdir()
    (here / "spec.py").write_text(spec(where))
    words = ("--engine", engine, "--keep-going", *OUTPUTS, *more)
    process = start(here, "check", "spec.py", *words)
    out, err = process.communicate(timeout=120)

    assert 1 == process.returncode, out + err
    assert [] == list(away.iterdir())
    run = "run" if "--out" in more else ".statewalk/runs/0001"
    expected = ["o.json", "o.xml", "o.sarif", f"{run}/result.json", f"{run}/low.trace.json"]
    expected += ["g/graph.json"] if "--graph" in more else []
    assert [] == [name for name in expected if not (here / name).exists()]
    files = [f for f in here.rglob("*") if f.is_file() and f.name != "ready"]
    assert [] == [f.name for f in files if not f.stat().st_mode & 0o400]


@pytest.mark.parametrize("engine", [slow("native"), "reference"])
def test_a_removed_working_directory_loses_no_result(tmp_path: Path, engine: str) -> None:
    (tmp_path / "spec.py").write_text(
        "from statewalk import Role, action, always\n"
        "class C(Role):\n    n: int = 0\n    @action\n    def go(self) -> None:\n"
        "        self.n = 1\nc = C()\n@always\ndef low() -> bool:\n    return c.n < 1\n"
    )
    code = (
        "import os, sys\nfrom statewalk.checker.cli import main\n"
        "os.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')\n"
        f"done = main(['check', {str(tmp_path / 'spec.py')!r}, '--engine', {engine!r}])\n"
        "print('AND THEN', file=sys.stderr)\n"
        f"lost = main(['check', 'spec.py', '--engine', {engine!r}])\n"
        "sys.exit(10 * done + lost)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    done, _, lost = run.stderr.partition("AND THEN")

    assert 12 == run.returncode, run.stderr
    assert "VIOLATED  low" in run.stdout
    assert "cannot be made" in done
    assert "SW302" in lost
