"""All configurations of all specs are checked, and those again that may have changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands.everyday import found, rows, testing
from statewalk.checker.commands.everyday.found import specs_in
from statewalk.checker.commands.everyday.rows import How, checked, gist
from statewalk.checker.commands.everyday.testing import Green
from statewalk.dsl import caches
from statewalk.dsl.errors import RunError
from tests.places import ROOT

SPEC = """
from statewalk import Constant, State, action, always, config, holds, violates

N: Constant[int] = 3

class Counter(State):
    n: int = 0

    @action
    def count(self) -> None:
        self.n = (self.n + 1) % N

counter = Counter()

@always
def small() -> bool:
    return counter.n < 3

config("holds", expect=holds(distinct=3))
config("breaks", N=5, expect=violates(small, length=3))
"""
WRONG = 'config("wrong", N=4)\n'
FAST = ["test", "--engine", "reference", "--jobs", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counter.py").write_text(SPEC)
    return tmp_path


class Here:
    """A check in this process, where `test` starts one of its own."""

    returncode = 0

    def __init__(self, words: list[str], how: How) -> None:
        self.words = words

    def communicate(self) -> tuple[str, str]:
        printed, said = StringIO(), StringIO()
        with redirect_stdout(printed), redirect_stderr(said):
            self.returncode = main(self.words)
        return printed.getvalue(), said.getvalue()


@pytest.fixture(autouse=True)
def here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks run in this process, but for a test that asks for `processes`."""
    if "processes" not in request.fixturenames:
        monkeypatch.setattr(rows, "begun", Here)


@pytest.fixture
def processes() -> None:
    """Each check has a process of its own."""


def marks(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Configuration → how its line begins."""
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    return {row[1]: row[0] for row in rows if row and row[0] in ("ok", "FAIL", "==", "??")}


def test_only_what_changed_or_failed_is_checked_again(
    folder: Path, capsys: pytest.CaptureFixture[str], processes: None
) -> None:
    (folder / "counter.py").write_text(SPEC + WRONG)

    assert 4 == main(FAST)
    assert {"holds": "ok", "breaks": "ok", "wrong": "FAIL"} == marks(capsys)
    assert 4 == main(FAST)
    assert {"holds": "==", "breaks": "==", "wrong": "FAIL"} == marks(capsys)
    (folder / "counter.py").write_text(SPEC)
    assert 0 == main(FAST)
    assert {"holds": "ok", "breaks": "ok"} == marks(capsys)


@pytest.mark.slow
def test_all_means_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(FAST)
    assert 0 == main([*FAST, "--all"])
    assert {"holds": "ok", "breaks": "ok"} == marks(capsys)


def test_a_spec_with_a_mistake_does_not_keep_others_from_being_tested(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text('from statewalk import config\nconfig("a")\n')

    assert 2 == main(FAST)
    out = capsys.readouterr().out
    assert "broken.py\n  SW" in out
    assert "2 as expected, 1 not" in out


def test_a_spec_without_a_configuration_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = "from statewalk import action, config, holds\n@action\ndef go() -> None:\n    pass\n"
    (folder / "forgotten.py").write_text(declared)
    (folder / "shared.py").write_text(declared)
    (folder / "user.py").write_text(
        'from statewalk import config, holds\nimport shared\nconfig("a", expect=holds())\n'
    )

    main(FAST)

    said = "forgotten.py\n  --   nothing of it is tested: no configuration\n"
    out = capsys.readouterr().out
    assert said in out
    assert "shared.py\n" not in out


def test_which_files_are_specs(folder: Path) -> None:
    for name in ("sub/a.py", ".hidden/b.py", "venv/c.py", "node_modules/d.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(SPEC)
    (folder / "venv/pyvenv.cfg").touch()
    (folder / "other.py").write_text('config("no spec")\n')

    assert ["counter.py", "sub/a.py"] == specs_in(["."])
    assert ["counter.py"] == specs_in(["counter.py", "./counter.py", "counter.py"])[:1]


def test_what_may_not_be_read_is_no_success(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read_text(path: Path, errors: str, most: int) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(found, "read_text", read_text)
    assert found.is_tested(folder / "any.py")

    really = os.walk

    def walk(top: Path, onerror: Callable[[OSError], None] | None = None) -> Iterator[Any]:
        if onerror is None:
            yield from really(top)
            return
        onerror(FileNotFoundError(2, "No such file or directory", "gone"))
        onerror(PermissionError(13, "Permission denied", "closed"))

    monkeypatch.setattr("os.walk", walk)
    assert 2 == main(["test", str(folder)])
    assert "SW302 The folder closed cannot be read: Permission denied." in capsys.readouterr().err


@pytest.mark.parametrize("path", ["nothing.py", "empty", "nothing.fizz"])
def test_where_nothing_is_to_be_tested_it_is_no_success(path: str, folder: Path) -> None:
    (folder / "empty").mkdir()

    with pytest.raises(RunError, match="SW382"):
        specs_in([path])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1, "by": 3}', "[" * 5000])
def test_a_damaged_memory_is_none(text: str) -> None:
    green = Green.read(How(1))
    assert green.file is not None
    green.file.write_text(text)

    assert {} == Green.read(How(1)).specs


def test_what_other_sources_or_options_found_is_forgotten(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    green = Green.read(How(1))
    green.specs["a.py"] = ({"a.py": "12"}, {"one": "holds"})
    green.write()

    assert {"one": "holds"} == Green.read(How(2)).passed("a.py", {"a.py": "12"})
    assert {} == Green.read(How(1)).passed("a.py", {"a.py": "13"})
    assert {} == Green.read(How(1, "reference")).specs
    assert {} == Green.read(How(1, timeout=3.0)).specs
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    assert {} == Green.read(How(1)).specs
    monkeypatch.chdir(folder)
    monkeypatch.setattr(caches, "stamp", lambda *folders: "mended")
    assert {} == Green.read(How(1)).specs


def test_a_green_file_in_the_checkout_is_not_believed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(FAST)
    kept = Green.read(How(1)).file
    assert kept is not None
    (folder / ".statewalk").mkdir(exist_ok=True)
    (folder / ".statewalk/green.json").write_bytes(kept.read_bytes())
    kept.unlink()
    capsys.readouterr()

    assert 0 == main(FAST)
    assert {"holds": "ok", "breaks": "ok"} == marks(capsys)


def test_in_continuous_integration_everything_is_checked_unless_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(FAST)
    monkeypatch.setenv("CI", "true")
    capsys.readouterr()

    assert 0 == main(FAST)
    assert {"holds": "ok", "breaks": "ok"} == marks(capsys)
    assert 0 == main([*FAST, "--skip-unchanged"])
    assert {"holds": "==", "breaks": "=="} == marks(capsys)


def test_junit_says_what_was_not_checked_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(FAST)
    main([*FAST, "--junit", "out.xml"])

    suites = [*ElementTree.parse(folder / "out.xml").getroot()]
    assert ["1", "1"] == [suite.get("skipped") for suite in suites]
    messages = [skipped.get("message", "") for s in suites for skipped in s.iter("skipped")]
    assert 2 == sum(text.startswith("not checked again: unchanged") for text in messages)
    assert "2 of them not checked again" in capsys.readouterr().out


def test_machines_are_told_what_came_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "counter.py").write_text(SPEC + WRONG)
    (folder / "broken.py").write_text('from statewalk import config\nconfig("a"\n')
    files = ["--junit", "out.xml", "--sarif", "out.json", "--github"]

    assert 2 == main([*FAST, *files])

    suites = {s.get("name"): s for s in ElementTree.parse(folder / "out.xml").getroot()}
    failing = {n for n, s in suites.items() if int(s.get("failures", 0)) + int(s.get("errors", 0))}
    results = json.loads((folder / "out.json").read_text())["runs"][0]["results"]
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert {f"counter.py [{c}]" for c in ("holds", "breaks", "wrong")} <= set(suites)
    assert {"broken.py", "counter.py [wrong]"} == failing
    assert ["error", "note", "error"] == [r["level"] for r in results]
    assert ["::error", "::notice", "::error"] == [line.split()[0] for line in shown]

    assert 2 == main([*FAST, "--junit", "out.xml"])
    names = [s.get("name") for s in ElementTree.parse(folder / "out.xml").getroot()]
    assert "counter.py [holds]" in names  # as before, and not checked again


def test_names_of_configurations_are_no_commands(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "counter.py").write_text(SPEC + 'config("a\\x1b\\n::error::##[b]", N=4)\n')

    assert 4 == main(FAST)
    out = capsys.readouterr().out
    assert r"a\x1b\n::error::#\u0023[b]" in out
    assert not [said for said in ("\x1b", "\n::", "##[") if said in out]


def test_a_fizz_file_is_tested_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    spec = str(ROOT / "specs" / "toys" / "capped.fizz")

    assert 0 == main([*FAST, spec])
    assert "ok   (as it is)" in capsys.readouterr().out


def test_a_configuration_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main([*FAST, "--config", "breaks"])
    assert {"breaks": "ok"} == marks(capsys)
    assert 2 == main([*FAST, "--config", "nothing"])
    assert "SW382" in capsys.readouterr().err


def test_what_was_green_stays_so_when_another_configuration_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main([*FAST, "--config", "breaks"])
    main([*FAST, "--config", "holds"])
    capsys.readouterr()

    assert 0 == main(FAST)
    assert {"holds": "==", "breaks": "=="} == marks(capsys)


def test_a_configuration_that_looked_for_a_file_in_vain_is_checked_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reads = """N: Constant[int] = 3
BOUND = N
if N == 2:
    try:
        BOUND = int(Path("bound.txt").read_text())
    except FileNotFoundError:
        pass
"""
    text = "from pathlib import Path\n" + SPEC.replace("N: Constant[int] = 3\n", reads).replace(
        "% N", "% BOUND"
    )
    (folder / "counter.py").write_text(text + 'config("reads", N=2, expect=holds())\n')
    assert 0 == main(FAST)
    (folder / "bound.txt").write_text("9")

    assert 4 == main(FAST)
    assert "FAIL reads" in capsys.readouterr().out


def test_numbers_are_brought_up_to_date(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = SPEC.replace("distinct=3", "distinct=1_4").replace("length=3", "length=1") + WRONG
    (folder / "counter.py").write_text(old)

    assert 4 == main([*FAST, "--update"])

    assert (SPEC + WRONG) == (folder / "counter.py").read_text()
    out = capsys.readouterr().out
    assert '-config("holds", expect=holds(distinct=1_4))' in out
    assert '+config("holds", expect=holds(distinct=3))' in out


def test_what_a_misspelt_expectation_may_have_meant_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "counter.py").write_text(SPEC + 'config("odd", N=5, expect=violates("smal"))\n')

    assert 4 == main(FAST)
    assert "there is no property smal. Did you mean small?" in capsys.readouterr().out


IDLE = """
@action
def reset() -> None:
    require(N > 3)
    counter.n = 0

@always
def vain() -> bool:
    return counter.n < 9 or N == 3
"""


def warned(folder: Path) -> None:
    text = SPEC.replace("action,", "action, require,").replace(
        'config("holds"', IDLE + '\nconfig("holds"', 1
    )
    (folder / "counter.py").write_text(text)


def test_warnings_are_counted_and_said_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warned(folder)

    assert 0 == main(FAST)
    out = capsys.readouterr().out
    assert "holds; 3 states; 2 warnings" in out
    assert 1 == out.count("warning: never fired: reset")
    assert 1 == out.count("warning: vacuous: vain")
    assert 0 == main(FAST)
    assert (
        "==   holds                        holds; 3 states; 2 warnings" in capsys.readouterr().out
    )


@pytest.mark.slow
def test_of_many_specs_warnings_are_told_where_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warned(folder)
    (folder / "other.py").write_text(SPEC)

    main(FAST)
    assert "warning:" not in capsys.readouterr().out
    main([*FAST, "--all", "-v"])
    assert "warning: vacuous: vain" in capsys.readouterr().out


def test_strict_lets_no_warning_pass_nor_be_remembered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warned(folder)
    main(FAST)
    capsys.readouterr()

    assert 4 == main([*FAST, "--strict", "--junit", "out.xml"])
    out = capsys.readouterr().out
    assert "expected: holds: distinct 3, and no warning (--strict)" in out
    assert "see: statewalk check counter.py --config holds --strict" in out
    cases = ElementTree.parse(folder / "out.xml").getroot().iter("testcase")
    assert "warnings" in [c.get("name") for c in cases if c.find("failure") is not None]


def test_annotations_name_configurations_and_are_said_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warned(folder)
    text = (folder / "counter.py").read_text()
    (folder / "counter.py").write_text(text + 'config("four", N=4)\nconfig("five", N=5)\n')

    main([*FAST, "--github"])
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert ["small [four%2C five]"] == [
        line.partition("title=")[2].partition("::")[0]
        for line in found
        if line.startswith("::error")
    ]
    assert not [line for line in found if "never happened" in line]  # it does, in another
    (folder / "counter.py").write_text(text.replace("N > 3", "N > 9"))
    main([*FAST, "--github"])
    found = [line for line in capsys.readouterr().out.splitlines() if "never happened" in line]
    assert ["reset [holds]"] == [line.partition("title=")[2].partition("::")[0] for line in found]


def test_the_first_line_of_an_internal_error_is_told() -> None:
    said = (
        "SW900 internal error: KeyError: 3\n\n   Please attach /tmp/statewalk-1.txt to a report.\n"
    )

    assert "SW900 internal error: KeyError: 3" == gist(said)
    assert "the last" == gist("one\nthe last\n")


def test_a_pass_of_a_text_that_changed_meanwhile_is_not_remembered(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SPEC.replace("counter.n < 3", "counter.n < 2").replace(", length=3", "")
    (folder / "counter.py").write_text(text)

    def edited(*given: Any) -> Any:
        (folder / "counter.py").write_text(SPEC)
        return checked(*given)

    with monkeypatch.context() as patch:
        patch.setattr(testing, "checked", edited)
        main(FAST)
    (folder / "counter.py").write_text(text)
    capsys.readouterr()

    assert 4 == main(FAST)
    assert {"holds": "FAIL", "breaks": "ok"} == marks(capsys)


def test_a_file_that_only_one_configuration_reads_is_noticed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reading = (
        "\nM = 3\nif N == 5:\n    with open('limit.txt') as f:\n        M = int(f.read())\n\nclass"
    )
    text = SPEC.replace("\nclass", reading, 1).replace("counter.n < 3", "counter.n < M")
    (folder / "counter.py").write_text(text)
    (folder / "limit.txt").write_text("3")
    assert 0 == main(FAST)
    (folder / "limit.txt").write_text("5")
    capsys.readouterr()

    assert 4 == main(FAST)
    assert {"holds": "==", "breaks": "FAIL"} == marks(capsys)


def test_a_spec_that_may_ask_for_more_than_its_files_is_checked_each_time(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "counter.py").write_text("import os.path\n" + SPEC)
    assert 0 == main(FAST)
    capsys.readouterr()

    assert 0 == main(FAST)
    assert {"ok"} == set(marks(capsys).values())


def test_a_failure_under_strict_removes_what_was_green(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warned(folder)
    assert 0 == main(FAST)
    main([*FAST, "--strict"])
    capsys.readouterr()

    assert 0 == main(FAST)
    assert {"holds": "ok", "breaks": "=="} == marks(capsys)


def test_a_pass_of_a_spec_that_lists_a_folder_is_not_remembered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "counter.py").write_text(f"import os\nSEEN = len(os.listdir('.'))\n{SPEC}")
    assert 0 == main(FAST)
    capsys.readouterr()

    assert 0 == main(FAST)
    assert {"holds": "ok", "breaks": "ok"} == marks(capsys)


def test_a_folder_around_one_that_a_link_leads_to(tmp_path: Path) -> None:
    for place in ("specs", "q/1", "q/specs"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "cur").symlink_to("q/1")
    text = "from statewalk import *\nconfig('one')\n"
    for place in ("specs", "q/specs"):
        (tmp_path / place / "spec.py").write_text(text)

    (found,) = specs_in([str(tmp_path / "cur/../specs")])

    assert os.path.samefile(tmp_path / "q/specs/spec.py", found)
