"""New folders can be tested at once: a configuration holds, another is violated."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from statewalk import check, load
from statewalk.checker.cli import main
from statewalk.checker.commands.everyday.new import TEMPLATES
from statewalk.checker.commands.everyday.templates import workflow


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verdicts(spec: str) -> list[str]:
    """Return what comes out of the configurations, two of them at most; each has to be as
    expected.
    """
    configurations = load(spec).configurations
    runs = [check(spec, config=c.name, engine="reference")
            for c in (configurations[0], configurations[-1])]  # fmt: skip
    assert all(run.as_expected for run in runs)
    return [run.verdict for run in runs]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("template", TEMPLATES)
def test_each_template_holds_and_is_violated(template: str) -> None:
    assert 0 == main(["new", "my-lock", "--template", template])

    assert ["holds", "violated"] == verdicts("my-lock/my_lock.py")
    ignored = Path("my-lock/.gitignore").read_text().splitlines()
    assert {".statewalk/", "specs.xml"} <= set(ignored)
    assert (
        "- run: statewalk test --github" in Path("my-lock/.github/workflows/specs.yml").read_text()
    )


def test_a_model_of_the_library_is_copied() -> None:
    assert 0 == main(["new", "pids", "--from", "kafka/init_pid"])

    assert "pids" == load("pids/pids.py").name


def test_what_ci_installs_is_what_wrote_it(capsys: pytest.CaptureFixture[str]) -> None:
    """And where nobody would read the workflow, that is said."""
    assert 0 == main(["new", "alone"])
    assert "move" not in capsys.readouterr().out
    assert workflow() == Path("alone/.github/workflows/specs.yml").read_text()
    assert "`statewalk docs language`" in Path("alone/AGENTS.md").read_text()

    Path(".git").mkdir()
    assert 0 == main(["new", "specs/part"])
    assert "move specs/part/.github to" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["class"], ["a b"], ["."], ["statewalk"], ["full"], ["x", "--from", "toys"]]
)
def test_what_cannot_be_begun_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("full").mkdir()
    Path("full/mine.py").write_text("kept")

    assert 2 == main(["new", *words])
    assert "SW383" in capsys.readouterr().err
    assert ["full"] == [p.name for p in Path().iterdir()]
    assert ["mine.py"] == [p.name for p in Path("full").iterdir()]


def test_what_could_not_be_written_whole_is_not_left_behind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(handle: int) -> None:
        if Path("lock/lock.py").exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert 2 == main(["new", "lock"])
    assert "No space left" in capsys.readouterr().err
    assert [] == list(Path().iterdir())


def test_a_place_without_a_name_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["new", "."])
    assert "SW383 . names a folder, not a spec." in capsys.readouterr().err
