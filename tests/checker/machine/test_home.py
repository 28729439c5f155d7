"""Where a spec goes, and what mask it sets, changes nothing about where and how we write."""

from pathlib import Path

import pytest

from tests.cases import slow
from tests.checker.machine.hanging import COUNTER, IMPORTS, start

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
