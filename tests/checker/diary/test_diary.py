"""A diary says what comes out, shows it, and lets nothing else in."""

from __future__ import annotations

import json
import re
from difflib import unified_diff
from html.parser import HTMLParser
from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.cli import main
from statewalk.checker.diary.entry import Entry, entries
from statewalk.checker.diary.markup import drawn, to_html
from statewalk.checker.diary.notebook import to_notebook
from statewalk.checker.diary.play import Played, kept, play, shown_in
from statewalk.checker.diary.site import write_site
from statewalk.dsl.errors import RunError
from tests.places import ROOT

PRINTED = "HOLDS\n  searched 3 states · 1.20 s\nrun .statewalk/runs/0001"


def entry(folder: Path, text: str, **pinned: str) -> Entry:
    path = folder / "04-title.md"
    path.write_text(text, encoding="utf-8")
    for name, content in pinned.items():
        file = folder / "04" / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, encoding="utf-8")
    return Entry(path, text)


def says(words: list[str], folder: Path) -> str:
    return PRINTED


def block(*lines: str, info: str = "console") -> str:
    return "\n".join((f"# A\n\n```{info}", *lines, "```\n"))


def test_what_a_command_prints_is_written_below_it(tmp_path: Path) -> None:
    found = play(entry(tmp_path, block("$ statewalk check a.py")), says)

    assert block("$ statewalk check a.py", *PRINTED.splitlines()) == found.text
    assert "+HOLDS" in found.difference


def test_other_times_are_no_difference(tmp_path: Path) -> None:
    told = PRINTED.replace("1.20 s", "12 min 3 s").splitlines()
    found = play(entry(tmp_path, block("$ statewalk check a.py", *told)), says)

    assert "" == found.difference


def test_another_number_is_a_difference_and_other_lines_stay(tmp_path: Path) -> None:
    told = PRINTED.replace("3 states", "4 states").replace("1.20", "9.00")
    found = play(entry(tmp_path, block("$ statewalk check a.py", *told.splitlines())), says)

    assert ["-  searched 4 states · 9.00 s", "+  searched 3 states · 1.20 s"] == [
        line for line in found.difference.splitlines() if line[:2] in ("- ", "+ ")
    ]
    assert ["a 1 s", "b"] == kept(["a 1 s", "c"], ["a 2 s", "b"])


@pytest.mark.parametrize(
    "line",
    ["  ~ C.wait  '1 s' → '{} s'", "  ~ C.rates  ('at most {}k/s',)",
     "  ~ C.d  {{'a': \"it's {} ms\"}}",
     '  event  {{"after": {{"wait": "{} s"}}}}', "~ C's '1 s' → '{} s', the nodes' time 1 s"],
)  # fmt: skip
def test_a_string_of_a_spec_is_no_time(line: str) -> None:
    assert [line.format(3)] == kept([line.format(2)], [line.format(3)])


def test_a_time_beside_a_string_of_a_spec_is_one() -> None:
    line = "  it doesn't end with 'a b' in {} s, as the nodes' logs don't"
    assert [line.format(2)] == kept([line.format(2)], [line.format(3)])


def test_what_a_longer_time_moves_to_the_next_line_is_no_difference() -> None:
    told = ["HOLDS", "  searched 3 states · 1.20 s · levels ▂▃", "  run 1"]
    slow = ["HOLDS", "  searched 3 states · 1 min 20 s", "           levels ▂▃", "  run 1"]

    assert told == kept(told, slow)
    assert told[:2] == kept(told[:2], slow[:2])
    assert slow[:2] == kept(slow[:2], told[:2])
    assert ["  searched 3 states · 1 s · levels ▂█"] == kept(
        told[1:2], ["  searched 3 states · 1 s · levels ▂█"]
    )


@pytest.mark.parametrize(
    ("pipe", "lines"),
    [
        ("head -1", ["HOLDS"]),
        ("tail -1", ["run .statewalk/runs/0001"]),
        ("grep -A1 HOLDS", PRINTED.splitlines()[:2]),
        ("grep ^run", ["run .statewalk/runs/0001"]),
    ],
)
def test_pipes_take_lines(tmp_path: Path, pipe: str, lines: list[str]) -> None:
    found = play(entry(tmp_path, block(f"$ statewalk check a.py | {pipe}")), says)

    assert block(f"$ statewalk check a.py | {pipe}", *lines) == found.text


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf x",
        "statewalk explore a.py",
        "statewalk check a.py | sh",
        "statewalk",
        "echo statewalk",
        "statewalk docs",
        "statewalk new x",
        "statewalk diary test .",
        "statewalk history collect x.jsonl --url postgresql://elsewhere",
        "statewalk history collect --operations 2 ../x.jsonl",
        "statewalk history convert a.jsonl b.jsonl",
        "statewalk query g --allow-files 'SELECT 1'",
        "statewalk query g --all 'SELECT 1'",
        "statewalk check 'a.py",
        "statewalk check a.py\0",
        "statewalk check a.py | grep (",
        "statewalk check a.py | head -²",
        "statewalk check a.py | ",
    ],
)
def test_nothing_else_is_run(tmp_path: Path, command: str) -> None:
    with pytest.raises(RunError, match="SW381"):
        play(entry(tmp_path, block(f"$ {command}")), says)


def test_a_file_grows_and_lies_where_commands_run(tmp_path: Path) -> None:
    seen: list[str] = []

    def run(words: list[str], folder: Path) -> str:
        seen.append((folder / "a.py").read_text("utf-8"))
        return ""

    first, more = block("x = 1", info="python a.py"), block("y = 2", info="python a.py +")
    play(entry(tmp_path, f"{first}{more}{block('$ statewalk check a.py')}"), run)

    assert ["x = 1\n\n\ny = 2\n"] == seen


def test_lines_that_the_pinned_file_does_not_have_are_wrong(tmp_path: Path) -> None:
    pinned = "a = 1\nb = 2\nc = 3\n"
    parts = block("a = 1", "# …", "c = 3", info="python spec.py")
    other = block("c = 3", "# …", "a = 1", info="python spec.py")

    assert [] == play(entry(tmp_path, parts, spec=pinned), says).wrong
    assert "04/spec.py" in play(entry(tmp_path, other, spec=pinned), says).difference


def test_a_file_may_lie_in_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    made = entry(tmp_path, block("x = 1", info="python sub/x.py"))

    assert [] == play(made, says).wrong


def test_a_file_outside_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="SW381"):
        play(entry(tmp_path, block("x", info="python ../../a.py")), says)


def test_a_file_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    assert [] == play(entry(tmp_path, block("x = 1", info="python sub/a.py")), says).wrong


def test_a_file_that_there_cannot_be_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="SW381"):
        play(entry(tmp_path, block("x", info="python .")), says)


def test_links_beside_an_entry_stay_behind(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    found = entry(tmp_path, block("$ statewalk check a.py"), a="x = 1\n")
    (found.pinned / "up").symlink_to(tmp_path)
    (found.pinned / "secret.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "05").symlink_to(tmp_path)
    (tmp_path / "05-more.md").write_text("# B\n")
    seen: list[str] = []

    def run(words: list[str], folder: Path) -> str:
        seen.extend(sorted(str(p.relative_to(folder.parent)) for p in folder.parent.rglob("*")))
        return PRINTED

    write_site([play(found, run)], [found], tmp_path / "site")

    assert ["04", "04/a.py"] == seen
    assert ["a.py"] == [p.name for p in (tmp_path / "site/04").iterdir()]


EXERCISE = "# A\n<!-- exercise: spec.py solution.py\nHOLDS statewalk check SPEC\n-->\n"


def test_an_exercise_is_one_that_the_solution_solves_and_the_spec_does_not(tmp_path: Path) -> None:
    def run(words: list[str], folder: Path) -> str:
        return Path(words[1]).read_text("utf-8")

    good = entry(tmp_path, EXERCISE, spec="no", solution="HOLDS so")
    assert "" == play(good, run).difference

    bad = entry(tmp_path, EXERCISE, spec="HOLDS", solution="no")
    assert 2 == len(play(bad, run).wrong)


def test_a_long_line_of_an_entry_takes_linear_time(tmp_path: Path) -> None:
    spaces = " " * 200_000
    text = EXERCISE.replace("HOLDS", f"HOLDS{spaces}so") + f"```!{spaces}x\n```\n"
    found = entry(tmp_path, text, spec="no", solution="no")

    assert [] == found.cells()
    assert f"HOLDS{spaces}so" == found.exercises[0].asked[0][0]


SPEC = "".join(f"line {n}\n" for n in range(1, 21))
MINE = SPEC.replace("line 3\n", "HOLDS\n").replace("line 9\n", "").replace("20\n", "20\nend\n")


def patch_of(spec: str, mine: str) -> str:
    lines = spec.splitlines(keepends=True), mine.splitlines(keepends=True)
    return "".join(unified_diff(*lines, "spec.py", "my.py"))


@pytest.mark.parametrize("mine", [MINE, "HOLDS\n", f"HOLDS\n{SPEC}", f"{SPEC}\nHOLDS\n"])
@pytest.mark.parametrize("space", [" \n", "\n"], ids=["space", "no space"])
def test_a_solution_may_be_a_patch(tmp_path: Path, mine: str, space: str) -> None:
    seen: list[str] = []

    def run(words: list[str], folder: Path) -> str:
        seen.append(Path(words[1]).read_text("utf-8"))
        return seen[-1]

    spec = SPEC.replace("line 12", "")
    text = EXERCISE.replace("solution.py", "solution.patch")
    made = entry(tmp_path, text, spec=spec)
    patch = patch_of(spec, mine.replace("line 12", "")).replace(" \n", space)
    (made.pinned / "solution.patch").write_text(patch)

    assert [] == play(made, run).wrong
    assert [spec, mine.replace("line 12", "")] == seen


def test_a_patch_that_does_not_fit_is_told(tmp_path: Path) -> None:
    made = entry(tmp_path, EXERCISE.replace("solution.py", "solution.patch"), spec=f"new\n{SPEC}")
    (made.pinned / "solution.patch").write_text(patch_of(SPEC, MINE))

    with pytest.raises(RunError, match=r"solution\.patch does not fit .*line 1 is not 'line 1'"):
        play(made, says)
    (made.pinned / "solution.patch").unlink()
    with pytest.raises(RunError, match="No such file"):
        play(made, says)


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def test_folds_are_the_only_html(tmp_path: Path) -> None:
    text = "<details>\n<summary>A *b* <i>c</i></summary>\n\n<script>x</script>\n\n</details>\n"
    page = to_html(Played(entry(tmp_path, text), f"{text}\n<!-- a\nb -->\n\n- <img src=x>\n"))

    found = [tag for tag in Tags(page).found if tag != "wbr"]
    assert ["details", "summary", "em", "p", "ul", "li"] == found
    assert "-->" not in page


def test_a_state_graph_is_drawn_from_its_text(tmp_path: Path) -> None:
    lines = (
        "flowchart LR",
        '  n0(["A#35;0.x = #quot;<i>#quot;"])',
        '  n1["A#35;0.x = 1<br/>A#35;0.y = 2"]',
        '  n0 -->|"A#35;0.go"| n1',
        '  n1 -->|"A#35;0.go"| n1',
    )
    text = block(*lines, info="mermaid")
    page = to_html(Played(entry(tmp_path, text), text))

    assert 2 == page.count('class="spot')
    assert "A#0.go</code> leads to 2" in page
    assert "#0 x = 1" in page
    assert "<i>" not in page
    assert "All 2 in full" in page


def test_a_state_diagram_is_drawn(tmp_path: Path) -> None:
    lines = ("stateDiagram-v2", "  [*] --> Idle", "  Idle --> Busy: begin, go on")
    text = block(*lines, info="mermaid")
    page = to_html(Played(entry(tmp_path, text), text))

    assert 2 == page.count('class="spot')
    assert "begin, go on</code> leads to 2" in page


def test_a_trace_is_told_by_who_did_what(tmp_path: Path) -> None:
    spec = (
        "from statewalk import *\nclass A(Role):\n    n: int = 0\n    @action\n"
        "    def go(self) -> None:\n        self.n += 1\na = A()\n"
        "@always\ndef small() -> bool:\n    return a.n < 1\n"
    )
    (tmp_path / "spec.py").write_text(spec)
    run = check(tmp_path / "spec.py", engine="reference")
    page = drawn(run.traces["small"])

    assert "<li><code>A#0 · go</code><pre>~ A#0.n  0 → 1</pre></li>" in page


def test_a_name_that_is_too_long_for_a_column_may_end_a_line(tmp_path: Path) -> None:
    page = to_html(Played(entry(tmp_path, ""), "`a_long_name` PrimaryKeyConflict 1.5 <b>"))

    assert "<code>a_<wbr>long_<wbr>name</code> Primary<wbr>Key<wbr>Conflict 1.5 &lt;b&gt;" in page


def test_links_to_entries_lead_to_their_pages(tmp_path: Path) -> None:
    page = to_html(Played(entry(tmp_path, ""), "[a](03-b.md#c) [d](https://e.f/g.md) [h](../i.md)"))

    assert '<a href="03-b.html#c">' in page
    assert '<a href="https://e.f/g.md">' in page
    assert "<a>h</a>" in page


def test_a_new_entry_runs_and_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert 0 == main(["diary", "new", "Counting, again", "."])
    assert 0 == main(["diary", "build", ".", "--out", "site"])
    text = (tmp_path / "00-counting-again.md").read_text("utf-8")
    page = (tmp_path / "site/00-counting-again.html").read_text("utf-8")
    assert "VIOLATED  small  (always)  after 3 steps" in text
    assert "sequenceDiagram" in text
    assert "<svg" in page
    assert "http:" not in page.replace("http://www.w3.org/2000/svg", "")
    assert re.search(r"\A# Counting, again\n\n\*\d+ \w+ \d{4}\*\n", text)
    assert re.search(
        r"00-counting-again\.html.*<small>\d+ \w+ \d{4}</small><p>What we have",
        (tmp_path / "site/index.html").read_text("utf-8"),
    )
    capsys.readouterr()
    assert 2 == main(["diary", "check", "0", "00/spec.py", "."])
    assert "SW380" in capsys.readouterr().err


def test_a_folder_without_entries_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="SW380"):
        entries(tmp_path)


def test_an_exercise_is_checked_from_where_the_reader_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned = entry(tmp_path, EXERCISE, spec="x = 1\n").pinned
    for folder, title in ((pinned, "# A"), (tmp_path, "# A"), (ROOT, "# T"), (Path("/"), "# T")):
        monkeypatch.chdir(folder)
        main(["diary", "notebook", "4" if title == "# A" else "3"])
        assert title in capsys.readouterr().out


def test_a_notebook_writes_the_files_and_runs_the_commands(tmp_path: Path) -> None:
    (tmp_path / "03").mkdir()
    (tmp_path / "03/b.py").write_text("c = 3")
    (tmp_path / "03/other.py").write_text("d = 4")
    text = (
        f"Text.\n{block('a = 1', info='python a.py')}{block('$ statewalk check a.py', 'HOLDS')}End."
        "\n<details>\n<summary>Why?</summary>\n\nSo.\n"
        f"{block('$ statewalk check ../03/b.py')}</details>\n{EXERCISE}"
    )
    made = entry(tmp_path, text, spec="b = 2", solution="no")
    cells = json.loads(to_notebook(made))["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    said = "".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")

    assert 'for folder in ["03", "04"]' in code[0].replace("'", '"')
    assert ["%%writefile spec.py\nb = 2", "%%writefile ../03/b.py\nc = 3"] == code[1:3]
    assert "%%writefile a.py\na = 1" == code[3]
    assert ["!statewalk check a.py", "!statewalk check ../03/b.py"] == code[4:]
    assert ["HOLDS"] == [c["outputs"][0]["text"] for c in cells if c.get("outputs")]
    assert "**Why?**" in said
    assert "details" not in said


def test_a_block_knows_which_lines_of_a_file_it_shows() -> None:
    whole = "class A:\n    def f():\n        x\n\n    def g():\n        y\n"
    assert {2: 1, 3: 2, 6: 4} == shown_in("def f():\n    x\n# …\n    y", whole)
    assert {} == shown_in("def h():", whole)
