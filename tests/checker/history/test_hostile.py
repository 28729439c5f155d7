"""Hostile text: the work to read it grows about as fast as the text does, and depth is refused.

Steps are lines of Python that run, which a machine's load does not change. What runs in C, as
matching does, is seen by the slow test alone (processor time of a text and one four times as long),
and by tests/architecture/test_patterns.py.
"""

import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.conform.logs import events_of
from statewalk.checker.history import formats
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.edn import EdnError, Reader
from statewalk.checker.traces.reading import load_trace
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.fizz.text.parse import parse, split_front_matter
from tests.checker.history import foreign

EDN = "{:type :ok :process 0 :value [[:w 1 2]]}\n"
LINE = '{"session": 1, "ops": %s}\n'
Text = Callable[[int], str]
HISTORIES: dict[str, tuple[str, Text]] = {
    "comments": ("edn", lambda n: EDN + ";" * n + '\n"'),
    "comments and spaces": ("edn", lambda n: EDN + "; " * n + '\n"'),
    "lines of comments": ("edn", lambda n: EDN + ",; ;\n" * n + '"'),
    "left out": ("edn", lambda n: EDN + "#_ " * n + "1 " * n),
    "left out and open": ("edn", lambda n: EDN + "#_ " * n + "[" * 50),
    "left out in lists": ("edn", lambda n: EDN + "[#_ " * 40 + "[#_ 1] " * n),
    "an open string": ("edn", lambda n: EDN + '"' + 'a\\"' * n),
    "strings": ("edn", lambda n: EDN + '"a" ' * n),
    "signs": ("edn", lambda n: EDN + "\\( " * n + "\\"),
    "tags": ("edn", lambda n: EDN + "#a " * n),
    "opened": ("edn", lambda n: EDN + "[" * n),
    "maps": ("edn", lambda n: EDN + "{" + ":a " * n + "}"),
    "long numbers": ("edn", lambda n: EDN + "9" * n + "x"),
    "exponents": ("edn", lambda n: EDN + ("1e" + "9" * 900 + " ") * (n // 100)),
    "events": ("edn", lambda n: EDN * n),
    "no invocations": ("edn", lambda n: EDN.replace(":ok", ":info") * n),
    "blank lines": ("jsonl", lambda n: LINE % "[]" + " \n" * n),
    "lists in lists": ("jsonl", lambda n: LINE % ("[" * n + "]" * n)),
    "operations": ("jsonl", lambda n: LINE % ("[" + '["r", 1], ' * n + '["r", 1]]')),
    "elements": ("jsonl", lambda n: LINE % ('[["r", 1, [' + "1, " * n + "1]]]")),
    "rows": ("jsonl", lambda n: LINE % ('[["range", null, null, [' + "[1, 2], " * n + "[1, 2]]]]")),
    "outcomes": ("jsonl", lambda n: "".join(
        f'{{"session": 1, "id": {i}, "status": "info", "ops": []}}\n'
        f'{{"completes": {i}, "status": "ok"}}\n' for i in range(n)
    )),
    "fractions": ("jsonl", lambda n: "".join(
        f'{{"session": 1, "begin": {i}.{i:0300}, "ops": []}}\n' for i in range(n // 10)
    )),
    "spaces": ("polysi", lambda n: "w(1,2,3,4)" + " " * n + "x"),
    "spaces within": ("polysi", lambda n: "w(1,2,3,4)\n" + f"w({' ' * n}1{' ' * n},"),
    "digits": ("polysi", lambda n: "w(" + "1" * n + ",2,3,4)"),
    "transactions": ("polysi", lambda n: "".join(f"w({i},1,1,{i})\n" for i in range(n))),
}  # fmt: skip
FOLDERS: dict[str, Callable[[int], bytes]] = {
    "viper": lambda n: b'{"value": [["w", 1, 5, true]]}\n' * n,
    "cobra": lambda n: b"".join(
        struct.pack(">cQ", b"S", i) + struct.pack(">cQ", b"C", i) for i in range(n)
    ),
}
OTHERS: dict[str, tuple[Callable[[Path], Any], Text]] = {
    "a log's fields": (
        lambda f: events_of(str(f)),
        lambda n: "{" + "".join(f'"{i}": 1, ' for i in range(n)) + f'"{n - 1}": 1}}\n',
    ),
    "a log's depth": (lambda f: events_of(str(f)), lambda n: '{"with": ' + "[" * n + "\n"),
    "a trace's depth": (load_trace, lambda n: "[" * n + "]" * n),
    "comments of .fizz": (lambda f: parse(f.read_text(), "a.fizz"), lambda n: "#" * n + "\n(\n"),
    "lines of .fizz": (lambda f: parse(f.read_text(), "a.fizz"), lambda n: " #\n" * n + "\n((\n"),
    "front matter": (lambda f: split_front_matter(f.read_text()), lambda n: "--- a\n---\n" * n),
    "spaces of .fizz": (
        lambda f: parse(f.read_text(), "a.fizz"), lambda n: "atomic " * n + "action" + " " * n + "("
    ),
}  # fmt: skip


def reads(tmp_path: Path) -> dict[str, Callable[[int], None]]:
    """By name: read a text of about n characters or records, whatever it says."""
    found: dict[str, Callable[[int], None]] = {}
    file, folder = tmp_path / "h", tmp_path / "logs"
    folder.mkdir()

    def reading(read: Callable[[Path], Any], place: Path, text: Callable[[int], bytes]) -> Any:
        def run(n: int) -> None:
            (place / "J1.log" if place == folder else place).write_bytes(text(n))
            with suppress(StatewalkError):
                read(place)

        return run

    def encoded(text: Text) -> Callable[[int], bytes]:
        return lambda n: text(n).encode()

    for name, (kind, text) in HISTORIES.items():
        found[name] = reading(partial(formats.read, format=kind), file, encoded(text))
    for kind, bytes_of in FOLDERS.items():
        found[kind] = reading(partial(formats.read, format=kind), folder, bytes_of)
    for name, (read, text) in OTHERS.items():
        found[name] = reading(read, file, encoded(text))
    return found


NAMES = [*HISTORIES, *FOLDERS, *OTHERS]


def steps(work: Callable[[int], None], n: int) -> int:
    """Return how many lines of Python run."""
    count = 0

    def line(*_: Any) -> Any:
        nonlocal count
        count += 1
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        work(n)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_the_steps_to_read_a_text_grow_as_it_does(name: str, tmp_path: Path) -> None:
    work = reads(tmp_path)[name]
    work(10)  # what is made once

    assert steps(work, 800) < 2.3 * steps(work, 400) + 3000


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_time_to_read_a_text_grows_as_it_does(name: str, tmp_path: Path) -> None:
    work = reads(tmp_path)[name]
    work(10)

    def seconds(n: int) -> float:
        began = time.process_time()
        work(n)
        return time.process_time() - began

    assert min(seconds(40_000) for _ in range(2)) < 9 * seconds(10_000) + 0.5


@pytest.mark.parametrize("text", ["#_ " * 20_000 + "1", "#_ #_ " * 20_000, "#_" * 20_000 + "]"])
def test_values_that_are_left_out_have_no_depth(text: str) -> None:
    with pytest.raises(EdnError):
        Reader(text).value()


def test_each_value_that_is_left_out_is_one() -> None:
    reader = Reader("#_ #_ a b #_ [#_ c #_ #_ d e f] [1 #_ 2 #_ #_ 3 4] ; the end #_")

    assert [1] == reader.value()
    assert not reader.more()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("edn", "[" * 20_000), ("edn", EDN + "{:a " * 20_000), ("edn", "#a " * 20_000 + "1"),
        ("edn", "#_ [" * 20_000), ("edn", EDN + "[#_ " * 20_000),
        ("jsonl", LINE % ("[" * 100_000)), ("jsonl", '{"ops": ' * 100_000),
        ("jsonl", '{"session": 1, "ops": [], "state": ' + "[" * 200 + "]" * 200 + "}\n"),
        ("jsonl", LINE % ('[["w", 1, ' + "[" * 200 + "]" * 200 + "]]")),
        ("jsonl", '{"session": 1, "ops": [], "state": ' + "[" * 100_000 + "]" * 100_000 + "}\n"),
    ],
)  # fmt: skip
def test_depth_is_a_record_that_cannot_be_read(kind: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "h").write_text(text)

    with pytest.raises(HistoryError, match="SW701"):
        formats.read(tmp_path / "h", kind)


@pytest.mark.parametrize("name", ["jsonl", "edn", "polysi", "viper"])
def test_the_mark_that_some_editors_write_first_is_no_part_of_a_history(
    name: str, tmp_path: Path
) -> None:
    records = [{"session": 1, "ops": [["w", 1, 2]]}, {"session": 2, "ops": [["r", 1, 2]]}]
    place = tmp_path / "h"
    if name in formats.WRITERS:
        formats.write(formats.jsonl.from_records(records), place, name)
    else:
        foreign.write(name, place)
    for file in place.iterdir() if place.is_dir() else [place]:
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())

    history = formats.read(place)
    assert (name, 2 if name in formats.WRITERS else 3) == (history.format, len(history))
