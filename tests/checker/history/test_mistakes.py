"""Histories and calls that are wrong: each code is provoked as a user would, and read as one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.history.commands.many import FileChecks, check_file
from statewalk.checker.history.decide.check import Options

HEAD = '{"statewalk-history": 1}\n'
ONE = '{"session": 0, "ops": [["w", "x", 1]]}\n'
LIST = '{"session": 1, "ops": [["append", "x", 2]]}\n'
COUNTER = """
from statewalk import *
class C(Role):
    n: int = 0
    @action
    def go(self) -> None:
        self.n += 1
c = C()
@always
def small() -> bool:
    return c.n < 2
"""

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `statewalk history ...` in a folder: the exit code, and what it says of a mistake."""
    monkeypatch.chdir(tmp_path)
    files = {
        "good.jsonl": HEAD + ONE,
        "none.jsonl": HEAD,
        "mixed.jsonl": HEAD + ONE + LIST,
        "empty": "",
        "text": "hello\n",
        "a\x1b##[b]": "hello\n",
        "counter.py": COUNTER,
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("noise").write_bytes(bytes(range(256)) * 8)
    Path("folder").mkdir()
    Path("folder", "a.jsonl").write_text(HEAD + ONE, encoding="utf-8")
    Path("nothing").mkdir()

    def call(*words: str) -> tuple[int, str]:
        try:
            code = main(["history", *words])
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return code, " ".join(capsys.readouterr().err.split())

    return call


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["check", "none.jsonl"],
            ["none.jsonl: SW702 the history has no transaction", "at least one"],
        ),
        (
            ["check", "mixed.jsonl"],
            ["mixed.jsonl, at 2: SW704 key 'x'", "both as a list and as a register (w(x, 1))"],
        ),
        (
            ["check", "empty"],
            [
                "empty: SW705 the file or folder is not in a format that is known",
                "one of jsonl, viper",
            ],
        ),
        (
            ["check", "text"],
            [
                "text: SW705 the file or folder is not in a format that is known",
                "reference/history-format.md",
            ],
        ),
        (
            ["check", "a\x1b##[b]"],
            [r"a\x1b#\u0023[b]: SW705 the file or folder is not in a format that is known"],
        ),
        (["check", "noise"], ["noise: SW705 the file or folder is not in a format that is known"]),
        (
            ["check", "nothing"],
            ["nothing: SW709 the folder has no file in it", "a folder with histories"],
        ),
        (["check", "absent"], ["absent: SW302 cannot be read: No such file"]),
        (["check", "good.jsonl", "--format", "viper"], ["good.jsonl: SW302", "Not a directory"]),
        (["check", "good.jsonl", "--jobs", "2"], ["good.jsonl: SW709 --jobs is for a folder"]),
        (["check", "folder", "--svg", "a.svg"], ["SW709 there is one drawing for one history"]),
        (["check", "good.jsonl", "--json", "no/x"], ["SW403 no/x cannot be written: No such"]),
        (["convert", "good.jsonl", "good.jsonl"], ["good.jsonl: SW706", "written over itself"]),
        (["convert", "good.jsonl", "./folder/../good.jsonl"], ["SW706", "another file"]),
        (["convert", "good.jsonl", "no/such/x"], ["no/such/x: SW403 cannot be written"]),
        (
            ["collect", "o", "--isolation", "high"],
            ["SW708 this database has no isolation level 'high'", "snapshot"],
        ),
        (
            ["collect", "o", "--database", "sqlite"],
            ["SW708 SQLite needs a file: there is no file for SQLite", "--url FILE"],
        ),
        (["collect", "o", "--url", "no/x.db"], ["SW708 duckdb cannot be used", "no/x.db"]),
        (["collect", "good.jsonl"], ["good.jsonl: SW707 the file exists"]),
        (["collect", "no/o"], ["no/o: SW403 cannot be written: No such file"]),
    ],
)
def test_a_mistake_is_said(run: Run, words: list[str], said: list[str]) -> None:
    code, printed = run(*words)

    assert 2 == code
    assert [] == [text for text in said if text not in printed], printed
    assert HEAD + ONE == Path("good.jsonl").read_text(encoding="utf-8")
    assert not Path("o").exists()


def test_a_spec_that_does_not_say_what_its_clients_record(run: Run) -> None:
    main(["check", "counter.py", "--engine", "reference", "--out", "out"])

    code, printed = run("from-trace", "out/small.trace.json", "--spec", "counter.py")

    assert 2 == code
    assert "SW710 counter.py does not say what its clients record." in printed
    assert "recorded_history() as statewalk.dsl.library.recording describes" in printed


def test_a_spec_that_records_something_else(run: Run) -> None:
    main(["check", "counter.py", "--engine", "reference", "--out", "out"])
    text = COUNTER + "def recorded_history():\n    return [c.n]\n"
    Path("counter.py").write_text(text, encoding="utf-8")

    code, printed = run("from-trace", "out/small.trace.json", "--spec", "counter.py")

    assert 2 == code
    assert "SW710 recorded_history() of counter.py returned 0, which is no transaction" in printed


@pytest.mark.thorough
def test_a_limit_covers_the_reading_of_a_history(run: Run) -> None:
    line = '{"session": %d, "ops": [["w", "x", %d]]}\n'
    text = "".join(line % (n % 9, n) for n in range(200_000))
    Path("long.jsonl").write_text(HEAD + text, encoding="utf-8")

    code, printed = run("check", "long.jsonl", "--timeout", "0.1")

    assert (3, "long.jsonl: undecided within 0.1 seconds") == (code, printed)
    assert (3, "long.jsonl: not read within 0.1 seconds") == (
        run("convert", "long.jsonl", "out.jsonl", "--timeout", "0.1")
    )
    assert not Path("out.jsonl").exists()
    assert ("undecided", "no verdict in 0.1 seconds") == (
        (row := check_file("long.jsonl", FileChecks("si", options=Options(timeout=0.1)))).outcome,
        row.message,
    )


def test_a_conversion_onto_another_name_of_the_history_is_refused(run: Run) -> None:
    for name in ("linked.jsonl", "hard.jsonl"):
        link = os.symlink if name == "linked.jsonl" else os.link
        link("good.jsonl", name)
        code, printed = run("convert", "good.jsonl", name)
        assert (2, True) == (code, "SW706" in printed)
    assert HEAD + ONE == Path("good.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "h.jsonl",
            '{"statewalk-history":1,"initial":[["x",0]]}\n'
            '{"statewalk-history":1,"initial":"unknown"}\n',
            "a second header",
        ),
        (
            "h.edn",
            "{:type :invoke, :process 0, :value [[:w :x 1]]}\n"
            "{:type :ok, :process 0, :value [[:w :x 2]]}\n",
            "other operations",
        ),
        (
            "h.edn",
            "{:type :invoke, :process 1, :value [[:r :x nil]]}\n"
            "{:type :ok, :process 1, :value [[:r :z 1]]}\n",
            "other operations",
        ),
    ],
)
def test_records_that_contradict_each_other_are_refused(
    name: str, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)

    assert 2 == main(["history", "check", str(tmp_path / name)])
    assert said in capsys.readouterr().err


def test_values_of_two_tags_are_two_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "{:type :ok, :process 0, :value [[:w :x #money/usd 1]]}\n"
        "{:type :ok, :process 1, :value [[:r :x #money/eur 1]]}\n"
    )
    (tmp_path / "h.edn").write_text(text)

    assert 1 == main(["history", "check", str(tmp_path / "h.edn")])
