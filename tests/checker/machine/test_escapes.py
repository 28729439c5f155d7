"""Effects of a spec on its process: swallowing, printing, staying on."""

import json
from pathlib import Path

import pytest

import statewalk
from tests.cases import slow, some
from tests.checker.machine.hanging import COUNTER, IMPORTS, SLACK, ended, start

WELL = COUNTER.format(init="", action="", property="").replace("< 1", "< 9")
READY = IMPORTS + "import os, signal, sys, threading, time\n"

NEVER_ENDS = {
    "swallow": (
        "while True:\n    try:\n        while True: nap(999)\n    except BaseException: pass\n"
    ),
    "asleep": "while True:\n    try:\n        slow.wait()\n    except BaseException: pass\n",
    "finally": "try:\n    while True: pass\nfinally:\n    while True: pass\n",
    "another": "try:\n    while True: pass\nexcept BaseException:\n    raise KeyError('x')\n",
    "joined": "t = threading.Thread(target=slow.wait)\nt.start()\nt.join()\n",
    "prints": "while True: print('x')\n",
    "imports": "import slowly\n",
}
FAST = {("swallow", "time"), ("asleep", "hup")}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("what", "how"),
    [
        pytest.param(what, how, marks=() if (what, how) in FAST else pytest.mark.slow)
        for what in NEVER_ENDS
        for how in ("time", "term", "int", "hup")
    ],
)
def test_a_load_that_never_ends_is_ended_and_said(what: str, how: str, tmp_path: Path) -> None:
    packages = tmp_path / "packages"  # beside no spec, so that Python imports it, not we
    packages.mkdir()
    (packages / "slowly.py").write_text("while True: pass\n")
    (tmp_path / "spec.py").write_text(
        READY + f"sys.path.append({str(packages)!r})\n" + NEVER_ENDS[what] + WELL
    )

    found = ended(tmp_path, how, "check", "spec.py", "--json", "-", "--out", "run")

    assert 3 == found.code
    assert "bounded" == json.loads(found.out)["verdict"] == found.result["verdict"]
    assert "in loading the spec" in found.bounds
    assert "Traceback" not in found.err
    assert found.late < 2 + SLACK


STAYS = {
    "thread": "threading.Thread(target=slow.wait).start()\n",
    "busy thread": "def spin():\n    while True: pass\nthreading.Thread(target=spin).start()\n",
    "hook": "import atexit\natexit.register(slow.wait)\n",
    "pool": (
        "import multiprocessing\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1]))\n"
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", some(STAYS, every=3))
def test_what_a_spec_leaves_behind_changes_neither_the_answer_nor_the_code(
    what: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(READY + STAYS[what] + WELL)

    process = start(tmp_path, "check", "spec.py", "--json", "-", "--engine", "reference")
    out, _ = process.communicate(timeout=60 + SLACK)

    assert 0 == process.returncode
    assert ("holds", 4) == (json.loads(out)["verdict"], json.loads(out)["counts"]["distinct"])


PRINTS = """import subprocess
print("P1")
sys.stdout.write("P2\\n")
os.write(1, b"P3\\n")
subprocess.run(["echo", "P4"])
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "words",
    [
        ("check", "spec.py", "--json", "-"),
        slow(("check", "spec.py", "--json", "-", "--set", "N=1..2")),
        slow(("check", "spec.py")),
        slow(("simulate", "spec.py")),
        slow(("profile", "spec.py")),
        ("replay", "low.trace.json", "--spec", "spec.py"),
        slow(("export", "spec.py", "--format", "dot")),
    ],
)
def test_what_a_spec_prints_is_not_in_the_answer(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = COUNTER.format(init="", action="", property="    print('PP')")
    counter = counter.replace("self.n = min", "print('PA')\n        self.n = min")
    head = READY.replace("empty = ()", "N: Constant[int] = 1")
    head = head.replace("import Role", "import Constant, Role")
    (tmp_path / "spec.py").write_text(head + PRINTS + counter)
    if words[0] == "replay":
        (tmp_path / "slow.py").touch()
        monkeypatch.chdir(tmp_path)
        statewalk.check("spec.py", properties=["low"], out="run")
        Path("run/low.trace.json").rename("low.trace.json")

    out, err = start(tmp_path, *words).communicate(timeout=60 + SLACK)

    assert ["P1", "P2", "P3", "P4"] == [w for w in err.split() if w in ("P1", "P2", "P3", "P4")][:4]
    assert "PA" in err
    assert out
    assert not {"P1", "P2", "P3", "P4", "PA", "PP"} & set(out.split())
    if "--json" in words:
        assert {"schema"} <= set(json.loads(out))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "command", [("simulate",), slow(("profile",)), slow(("export", "--format", "dot"))]
)
@pytest.mark.parametrize("how", ["term", pytest.param("hup", marks=pytest.mark.slow)])
def test_other_commands_are_ended_while_they_load_too(
    command: tuple[str, ...], how: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(READY + NEVER_ENDS["swallow"] + WELL)

    found = ended(tmp_path, how, command[0], "spec.py", *command[1:])

    assert 3 == found.code
    assert "ended by an interruption, in loading the spec (spec.py:" in found.err or (
        command[0] == "export" and "(spec.py:" in found.err
    )
    assert "" == found.out


def text_spec(actions: int) -> str:
    """A .fizz file of four lines an action."""
    head = "action Init:\n  n = 0\n"
    body = [f"\natomic action Step{i}:\n  if n < {i}:\n    n += 1\n" for i in range(actions)]
    return head + "".join(body) + "\nalways assertion Low:\n  return n < 1\n"


@pytest.mark.thorough
def test_a_limit_is_kept_while_a_long_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "spec.fizz").write_text(text_spec(6000))

    found = ended(tmp_path, "time", "check", "spec.fizz", "--out", "run", after=1.0)

    assert 3 == found.code
    assert f"bounded: --timeout {found.limit} s, in loading the spec" == found.bounds
    assert found.late < 2 + SLACK
