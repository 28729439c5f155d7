"""``test --update`` writes the numbers of searches that ended, and nothing over what was saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands.everyday import testing
from statewalk.checker.commands.everyday.rows import Row, checked
from statewalk.checker.commands.everyday.update import rewritten
from tests.places import ROOT

SPEC = """
from statewalk import Constant, State, action, config, holds

N: Constant[int] = 3

class Counter(State):
    n: int = 0

    @action
    def count(self) -> None:
        self.n = (self.n + 1) % N

counter = Counter()

config("one", expect=holds(distinct=2))
config("two", N=4, expect=holds(distinct=4))
"""
RIGHT = SPEC.replace("distinct=2", "distinct=3")
LINE = 'config("one", expect=holds(distinct=2))'
ENDLESS = """
from statewalk import State, action, always, config, holds, violates

class Counter(State):
    n: int = 0
    m: int = 0

    @action
    def count(self) -> None:
        self.n += 1

    @action
    def other(self) -> None:
        self.m += 1

counter = Counter()

@always
def small() -> bool:
    return counter.n < MOST

"""
UPDATE = ["test", "--engine", "reference", "--jobs", "1", "--update"]


class Terminal:
    """Somebody who does something and then answers."""

    def __init__(self, answer: str, first: Callable[[], object]) -> None:
        self.answer, self.first = answer, first

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        self.first()
        return self.answer


@pytest.fixture(autouse=True)
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(SPEC)
    return tmp_path / "s.py"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("most", "expected"), [("9**9", "holds(distinct=5)"), ("4", "violates(small, states=5)")]
)
def test_a_search_that_did_not_end_has_no_numbers(
    most: str, expected: str, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ENDLESS.replace("MOST", most) + f'config("x", expect={expected})\n'
    spec.write_text(text)

    main([*UPDATE, "--timeout", "2"])

    assert text == spec.read_text()
    assert "x: its search did not end; there are no numbers to write" in capsys.readouterr().out


@pytest.mark.thorough
def test_the_bound_of_a_spec_ends_its_search(spec: Path) -> None:
    text = ENDLESS.replace("import State", "import State, constraint").replace("MOST", "9")
    text += "@constraint\ndef few() -> bool:\n    return counter.n + counter.m < 3\n\n"
    spec.write_text(text + 'config("x", expect=holds(distinct=5))\n')

    assert 4 == main(UPDATE)

    assert text + 'config("x", expect=holds(distinct=6))\n' == spec.read_text()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("answer", ["y\n", "n\n"])
def test_somebody_is_asked(
    answer: str, spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer, lambda: None))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    main(UPDATE)

    assert (RIGHT if answer == "y\n" else SPEC) == spec.read_text()
    assert "Write this to s.py? [y/N]" in capsys.readouterr().out


def test_nothing_is_written_over_what_is_saved_while_it_asks(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = SPEC.replace("% N", "% (N + 1)")
    monkeypatch.setattr(sys, "stdin", Terminal("y\n", lambda: spec.write_text(edited)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    assert 4 == main(UPDATE)

    assert edited == spec.read_text()
    assert "s.py changed since it was checked; s.py is not written." in capsys.readouterr().out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", ["s.py", "helper.py"])
def test_numbers_of_another_text_are_not_written(
    file: str, spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (spec.parent / "helper.py").write_text("MORE = 0\n")
    spec.write_text("from helper import MORE\n" + SPEC)

    def saved_after(*given: Any) -> Iterator[list[Row]]:
        for rows in checked(*given):
            with (spec.parent / file).open("a") as out:
                out.write("# edited\n")
            yield rows

    monkeypatch.setattr(testing, "checked", saved_after)

    assert 4 == main([*UPDATE, "s.py"])

    assert LINE in spec.read_text()
    assert f"{file} changed since it was checked" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_spec_that_reads_one_that_was_updated_is_updated_too(spec: Path) -> None:
    reads = 'with open("s.py") as other:\n    SIZE = len(other.read())\n'
    (spec.parent / "t.py").write_text(reads + SPEC)

    main(UPDATE)

    assert RIGHT == spec.read_text()
    assert reads + RIGHT == (spec.parent / "t.py").read_text()


@pytest.mark.thorough
def test_a_spec_with_a_network_is_updated(spec: Path) -> None:
    text = (ROOT / "specs/examples/networks/echo.py").read_text()
    assert text.count("distinct=75")
    spec.write_text(text.replace("distinct=75", "distinct=1"))

    main(UPDATE)

    assert text == spec.read_text()


def test_only_numbers_change(spec: Path) -> None:
    """Line ends, a byte order mark, permissions, and a link stay."""
    head = b"\xef\xbb\xbf# caf\xc3\xa9\r\n# one\n\r# old\r"
    data = head + SPEC.encode().replace(b"\n", b"\r\n") + b"# no end"
    real = spec.parent / "real.txt"
    real.write_bytes(data)
    real.chmod(0o750)
    spec.unlink()
    spec.symlink_to(real)

    assert 4 == main(UPDATE)

    assert data.replace(b"distinct=2", b"distinct=3") == real.read_bytes()
    assert 0o750 == real.stat().st_mode & 0o777
    assert spec.is_symlink()


def test_numbers_that_are_not_in_the_call_stay() -> None:
    text = 'N = 3\nconfig("a", expect=holds(distinct=N))\nconfig("é", expect=holds(depth=1))\n'

    assert (text.replace("depth=1", "depth=2"), ["a"]) == rewritten(
        text, {"a": {"distinct": 4}, "é": {"depth": 2}}
    )
