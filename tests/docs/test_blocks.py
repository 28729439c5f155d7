"""Every block of the pages runs, here or in another test; what is not run is named, with why."""

from __future__ import annotations

import shlex
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.explore.answering import Server
from tests.docs.blocks import ELSEWHERE, NOT_RUN, PAGES, WALKS, Piece, Step, Walk, pieces
from tests.places import ROOT


def walks(spark: bool) -> list[Any]:
    marks = {True: [pytest.mark.slow], False: []}
    return [pytest.param(w, marks=marks[w.slow]) for w in WALKS if w.spark is spark]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout as the pages see it; an explorer serves its page once."""

    def look(server: Server, *_: object) -> None:
        with urllib.request.urlopen(server.address) as page:
            assert b"<html" in page.read()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(Server, "answer_until", look)
    (tmp_path / "models").symlink_to(ROOT / "models")
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    (tmp_path / "runs").mkdir()
    (tmp_path / "jepsen").mkdir()
    return tmp_path


@pytest.mark.sampled(4)
@pytest.mark.parametrize("walk", walks(spark=False), ids=lambda w: Path(w.page).stem)
def test_a_page_can_be_followed(
    walk: Walk, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    follow(walk, capsys)


@pytest.mark.spark
@pytest.mark.parametrize("walk", walks(spark=True), ids=lambda w: Path(w.page).stem)
def test_the_page_of_spark_can_be_followed(
    walk: Walk, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    follow(walk, capsys)


def follow(walk: Walk, capsys: pytest.CaptureFixture[str]) -> None:
    for command in walk.before:
        given(command)
    for step in walk.steps:
        capsys.readouterr()
        code = run(found(walk.page, step), step)
        captured = capsys.readouterr()
        printed = " ".join((captured.out + captured.err).split())

        assert step.code == code, printed
        for said in step.says:
            assert said in printed
        assert Path(step.writes).exists()


def found(page: str, step: Step) -> Piece:
    """The piece of a page that begins so: the shortest, as another command may go on from it."""
    begun = [p for p in pieces(page) if p.text.startswith(step.begins)]
    return min(begun, key=lambda p: len(p.text))


def run(piece: Piece, step: Step) -> int:
    """Return what a reader does with a piece; the exit code."""
    old, new = step.instead
    assert old in piece.text
    text = piece.text.replace(old, new) if old else piece.text
    if step.file:
        Path(step.file).write_text(text, encoding="utf-8")
        return given(step.then)
    if piece.language == "python":
        exec(compile(text, piece.page, "exec"), {})
        return 0
    if piece.language == "sql":
        asked = [given(f"statewalk query graph {shlex.quote(q)}") for q in text.split(";\n") if q]
        return max(asked)
    return given(text)


def given(command: str) -> int:
    """The exit code of a command."""
    words = shlex.split(command)
    assert words[0] == "statewalk"
    return main(words[1:])


def test_what_is_not_run_is_named() -> None:
    forgotten = []
    for page in PAGES:
        run_here = {found(page, s) for w in WALKS if w.page == page for s in w.steps}
        languages, _ = ELSEWHERE.get(page, ("", ""))
        for piece in pieces(page):
            named = piece.text.startswith(tuple(NOT_RUN.get(page, {})))
            if not (piece in run_here or piece.language in languages.split() or named):
                forgotten.append((page, piece.text.partition("\n")[0]))

    assert [] == forgotten


def test_what_is_named_is_on_the_pages() -> None:
    said = [(page, begins) for page, pieces_ in NOT_RUN.items() for begins in pieces_]
    shown = {page: [p.text for p in pieces(page)] for page in PAGES}

    assert [] == [(p, b) for p, b in said if not any(t.startswith(b) for t in shown[p])]
    for page, (languages, test) in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text("utf-8")
        assert set(languages.split()) <= {p.language for p in pieces(page)}
