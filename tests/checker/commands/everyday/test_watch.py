"""``--watch`` checks again when something is saved, and says what changed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands.everyday.saved import Files
from statewalk.checker.commands.everyday.watching import without
from statewalk.checker.report.progress import since_page
from statewalk.checker.verdict.run import ActionResult, Counts, PropertyResult, Result
from statewalk.dsl.origins import ABSENT

SPEC = """
from statewalk import State, action, always, require
from limit import LIMIT

class Counter(State):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < LIMIT)
        self.n += 1

    @action
    def back(self) -> None:
        require(self.n == LIMIT)
        self.n = 0

counter = Counter()

@always
def small() -> bool:
    return counter.n < 4
"""
MARK = "Ctrl-C ends it\n"


@contextmanager
def watching(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "statewalk", *words, "--watch", "--engine", "reference"],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    """Return what is printed until the next save is waited for."""
    assert process.stdout is not None
    text = ""
    while not text.endswith(MARK):
        line = process.stdout.readline()
        assert line, text
        text += line
    return text


@pytest.mark.thorough
def test_what_is_saved_is_checked_again(tmp_path: Path) -> None:
    """A module that it imports, a mistake, what mends it, and a file that was not there."""
    limit = tmp_path / "limit.py"
    limit.write_text(
        "try:\n    LIMIT = int(open('data.txt').read())\nexcept OSError:\n    LIMIT = 3\n"
    )
    (tmp_path / "spec.py").write_text(SPEC)

    with watching(tmp_path, "check", "spec.py") as process:
        assert said(process).startswith("HOLDS  1 invariant")
        (tmp_path / "data.txt").write_text("2")
        assert "saved: data.txt\n" in (now := said(process)) and "states    4 → 3 distinct" in now
        limit.write_text("LIMIT = \n")
        mistaken = said(process)
        assert "saved: limit.py\n" in mistaken
        assert "limit.py:1:" in mistaken
        assert "verdict   holds → error" in mistaken
        limit.write_text("LIMIT = 4\n")
        changed = said(process).partition("since the check at ")[2]
        process.send_signal(signal.SIGINT)
        assert 1 == process.wait()

    assert [
        "verdict   holds → violated",
        "states    3 → 5 distinct · 4 → 5 generated · depth 3 → 5",
        "property  small: holds → violated in 4 steps",
        "property  Deadlock: holds → unknown",
        "action    back does not fire any more",
    ] == [line.strip() for line in changed.splitlines()[1:-1]]


def test_a_save_ends_the_check_that_is_running(tmp_path: Path) -> None:
    (tmp_path / "limit.py").write_text("LIMIT = 10**9\n")
    (tmp_path / "spec.py").write_text(SPEC.replace("n < 4", "n >= 0"))

    with watching(tmp_path, "check", "spec.py") as process:
        (tmp_path / "limit.py").write_text("LIMIT = 3\n")
        text = said(process)

    assert "4 distinct states" in text
    assert "since the check" not in text


@pytest.mark.slow
def test_tests_are_done_again_after_a_save(tmp_path: Path) -> None:
    """Also where what is saved is a new file."""
    (tmp_path / "spec.py").write_text(
        SPEC.replace("from limit import LIMIT", "from statewalk import config, holds\nLIMIT = 3")
        + 'config("it", expect=holds())\n'
    )

    with watching(tmp_path, "test") as process:
        assert "ok   it" in said(process)
        (tmp_path / "new.py").write_text("from statewalk import config\nconfig('a')\n")
        text = said(process)
        assert "saved: new.py" in text
        assert "==   it" in text
        process.send_signal(signal.SIGINT)
        assert 2 == process.wait()


def test_nobody_is_there_to_ask_for_an_update(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["test", "--watch", "--update"])
    assert "SW326 --update" in capsys.readouterr().err


def result(**more: object) -> Result:
    fields: dict[str, object] = {"spec": "s.py", "engine": "native", "verdict": "holds", **more}
    return Result(**fields)  # type: ignore[arg-type]


def test_what_is_new_and_what_is_gone() -> None:
    a, b = (PropertyResult(name=name, kind="always", verdict="holds") for name in "ab")
    before = result(constants={"N": 1}, properties=(a,), actions=(ActionResult(name="x", fired=1),))
    now = result(constants={"M": 2}, properties=(b,), actions=(ActionResult(name="y", fired=1),))

    text = since_page({"": before}, {"": now}, "12:00:00").plain()

    for line in (
        "constants N is gone · M=2 is new",
        "new       property b: holds",
        "gone      property a: holds",
        "new       action y",
        "gone      action x",
    ):
        assert line in text


def test_of_several_checks_only_those_that_differ_are_named() -> None:
    one, two = result(), result(counts=Counts(distinct=3))
    before = {"N=1": one, "N=2": one, "N=3": one}

    text = since_page(before, {"N=1": one, "N=2": two, "N=4": one}, "12:00:00").plain()

    assert "N=1" not in text
    assert "  N=2\n  states    0 → 3 distinct" in text
    assert "gone      N=3" in text
    assert "new       N=4 · holds" in text
    assert since_page(before, before, "12:00:00").plain().endswith("the same verdicts and counts")


def test_files_that_come_and_go_were_saved(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.touch()
    files = Files(lambda: [str(one), str(two)])

    assert [] == files.saved()
    two.write_text("2")
    assert [str(two)] == files.settled()
    one.unlink()
    assert [str(one)] == files.saved()


def test_a_file_that_belongs_to_them_only_now_was_not_saved(tmp_path: Path) -> None:
    """As what a test that passed was made of; unless it was written or renamed meanwhile."""
    old, new, moved = tmp_path / "old", tmp_path / "new", tmp_path / "moved"
    which: list[str] = []
    old.touch()
    moved.with_name("elsewhere").touch()
    time.sleep(0.1)
    files = Files(lambda: which)
    new.touch()
    moved.with_name("elsewhere").rename(moved)
    which += [str(old), str(new), str(moved)]
    files.learn()

    assert [str(moved), str(new)] == files.saved()


def test_a_file_that_comes_was_saved_however_old_it_is(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    files = Files(lambda: map(str, tmp_path.glob("*.py")))
    files.since = time.time_ns() + 10**9

    (tmp_path / "spec.py").symlink_to("elsewhere")

    assert [str(tmp_path / "spec.py")] == files.saved()


def test_a_file_that_belongs_to_them_only_now_is_looked_at_once_it_was_learned(
    tmp_path: Path,
) -> None:
    for folder in ("v1", "v2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data").write_text(folder)
    (tmp_path / "now").symlink_to("v2")
    (tmp_path / "gone").write_text("x")
    which: list[str] = []
    files = Files(lambda: which)
    files.since = time.time_ns() + 10**9  # all of them are older
    which += [str(tmp_path / "now" / "data"), str(tmp_path / "gone")]
    files.learn()
    assert [] == files.saved()

    (tmp_path / "gone").unlink()
    (tmp_path / "now").unlink()
    (tmp_path / "now").symlink_to("v1")

    assert [str(tmp_path / "gone"), str(tmp_path / "now" / "data")] == files.saved()


def test_the_check_that_is_begun_does_not_watch() -> None:
    words = ["check", "s.py", "--watch", "--wat", "--view", "on", "-", "--"]

    assert ["check", "s.py", "--view", "on", "-", "--"] == without(words)


def test_a_result_alone_leaves_no_room_for_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.py").write_text(SPEC)

    assert 2 == main(["check", str(tmp_path / "spec.py"), "--watch", "--json", "-"])
    assert re.search("SW326 --watch .*\n.*--json FILE", capsys.readouterr().err)


def test_a_module_that_may_come_is_waited_for(tmp_path: Path) -> None:
    spec, told = tmp_path / "spec.py", tmp_path / "told.json"
    optional = "try:\n    from limit import LIMIT\nexcept ImportError:\n    LIMIT = 3"
    spec.write_text(SPEC.replace("from limit import LIMIT", optional))

    here = ("--out", str(tmp_path / "run"))
    main(["check", str(spec), "--engine", "reference", "--tell", str(told), *here])

    assert str(tmp_path / "limit.py") in json.loads(told.read_text())["files"]


def test_what_was_made_of_another_content_is_not_as_it_was(tmp_path: Path) -> None:
    """A file that went, or a link that was turned, after it was read."""
    same, gone, turned, came = (str(tmp_path / n) for n in ("same", "gone", "turned", "came"))
    made = {file: sha256(b"x").hexdigest() for file in (same, gone, turned)} | {came: ABSENT}
    for file in (same, came):
        Path(file).write_text("x")
    (tmp_path / "old").write_text("y")
    Path(turned).symlink_to("old")
    files = Files(lambda: made)

    files.learn([made])
    assert [came, gone, turned] == files.saved()
    files.learn([made])
    assert [came, gone, turned] == files.saved()
    files.settled()
    files.learn([made])
    assert [] == files.saved(), "not for ever"
    files.learn([])
    files.learn([made])
    assert [came, gone, turned] == files.saved()


TURNS = """
import os
from statewalk import State, action, always, config, holds, deadlock
deadlock(False)

with open("now/limit") as file:
    LIMIT = int(file.read())
if os.path.exists("once"):
    os.remove("once")
    os.remove("now")
    os.symlink("old", "now")

class Counter(State):
    n: int = 0

    @action
    def up(self) -> None:
        self.n = min(self.n + 1, 3)

counter = Counter()

@always
def small() -> bool:
    return counter.n <= LIMIT

config("it", expect=holds())
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "first", "then"),
    [
        (("check", "spec.py"), "HOLDS", "VIOLATED"),
        (("test", "--all"), "ok   it", "FAIL it"),
    ],
    ids=["check", "test"],
)
def test_a_link_that_is_turned_while_a_spec_is_loaded_was_saved(
    command: tuple[str, ...], first: str, then: str, tmp_path: Path
) -> None:
    for folder, limit in (("old", "2"), ("new", "3")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "limit").write_text(limit)
    (tmp_path / "now").symlink_to("new")
    (tmp_path / "once").touch()
    (tmp_path / "spec.py").write_text(TURNS)
    os.utime(tmp_path, (0, 0))

    with watching(tmp_path, *command) as process:
        text = said(process)
        assert first in text or command[0] == "test"
        again = said(process)

    assert "saved: now/limit" in again
    assert then in again


NEWCOMERS = (
    "first/limit.py", "first/string.py", "lib/optional.py", "second/__init__.py",
    "top/__init__.py", "top/limit.py", "top/string.py", "top/in/limit.py",
    "top/in/limit/__init__.py", "top/in/numpy.py", "top/in/string.py",
)  # fmt: skip


def test_modules_that_may_hide_others_are_looked_at(tmp_path: Path) -> None:
    spec, told = tmp_path / "top" / "in" / "spec.py", tmp_path / "told.json"
    for folder in ("first", "second", "lib", "top/in"):
        (tmp_path / folder).mkdir(parents=True)
    head = f"import string, numpy, sys\nsys.path.append({str(tmp_path / 'lib')!r})\n"
    head += "try:\n    import optional\nexcept ImportError:\n    pass\n"
    spec.write_text(head + SPEC)
    (spec.parent / "__init__.py").touch()
    (tmp_path / "second" / "limit.py").write_text("LIMIT = 3\n")
    path = os.pathsep.join(str(tmp_path / folder) for folder in ("first", "second"))
    words = [sys.executable, "-m", "statewalk", "check", str(spec), "--engine", "reference"]

    subprocess.run([*words, "--tell", str(told)], check=True, env=os.environ | {"PYTHONPATH": path})

    files = json.loads(told.read_text())["files"]
    assert [] == [name for name in NEWCOMERS if str(tmp_path / name) not in files]


@pytest.mark.parametrize("command", ["check", "test"])
@pytest.mark.parametrize(
    ("does", "file"),
    [
        ("LIMIT = int(open({!r}).read())", "away/limit.txt"),
        ("import sys; sys.path.append({!r}); import sw_never", "away/sw_never.py"),
    ],
)
def test_what_a_mistaken_spec_looked_for_in_vain_is_looked_at(
    command: str, does: str, file: str, tmp_path: Path
) -> None:
    spec, told, come = tmp_path / "specs" / "spec.py", tmp_path / "told.json", tmp_path / file
    spec.parent.mkdir()
    named = come if come.suffix == ".txt" else come.parent
    spec.write_text(f"from statewalk import config\nconfig('a')\n{does.format(str(named))}\n")

    assert 2 == main([command, str(spec), "--tell", str(told)])

    assert str(come) in json.loads(told.read_text())["files"]


def test_a_mistake_of_what_is_no_longer_there_does_not_stay(tmp_path: Path) -> None:
    for folder, limit in (("old", "2"), ("new", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "limit").write_text(limit)
    (tmp_path / "now").symlink_to("new")
    (tmp_path / "once").touch()
    lines = TURNS.replace("LIMIT = int(file.read())", "text = file.read()")
    (tmp_path / "spec.py").write_text(lines.replace("class ", "LIMIT = int(text)\nclass ", 1))

    with watching(tmp_path, "check", "spec.py") as process:
        assert "ValueError" in said(process)
        assert "VIOLATED" in said(process)
