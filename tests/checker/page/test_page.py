"""The page holds what the trace and the result hold, and nothing that a spec says can leave its
element.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from statewalk import Run, check, compare, load, load_trace, page, save_trace
from statewalk.checker.cli import main
from statewalk.checker.page.data import Around, code_of, of_run, of_trace
from statewalk.checker.page.html import SCRIPTS, STYLES, embedded, of_comparison, to_html
from statewalk.checker.traces.exports.lanes import drawing
from statewalk.checker.traces.exports.pictures import fenced, svg_of
from statewalk.checker.traces.exports.sequence import events
from statewalk.checker.traces.file import to_dict
from tests.places import ROOT

INIT_PID = ROOT / "models/kafka/init_pid.py"
ASSETS = ROOT / "checker/page/assets"
HOSTILE = '</script><img src=x onerror="document.title=1"><!--\x1b[2J\u202e\u2028\x00'

NETWORK = """
from statewalk import *


class Ping(Message):
    n: int


class Node(Role):
    inbox: set[Ping] = set()
    n: int = 0

    @action
    def send(self) -> None:
        require(self.n == 0)
        self.n = 1
        net.held.add(Ping(1))
        self.inbox.add(Ping(2))

    @action
    def take(self) -> None:
        net.held.remove(any_of(net.held))


nodes = [Node()]


class Net(State):
    held: set[Ping] = set()

    @action
    def drop(self, node: Node = any_of(nodes)) -> None:
        node.inbox.remove(any_of(node.inbox))


net = Net()
deadlock(False)


@exists
def dropped() -> bool:
    return nodes[0].n == 1 and not nodes[0].inbox and not net.held
"""


@pytest.fixture(scope="module")
def lasso() -> Run:
    return check(INIT_PID, {"CLIENTS": 1, "MUTANT": "weak_send"}, engine="reference")


def data_in(html: str) -> Any:
    """Return what a browser finds in the element of the data: it ends at the first end of
    a script.
    """
    found = re.search(r'<script type="application/json" id="data">(.*?)</script', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def hostile_spec(folder: Path) -> Path:
    spec = folder / "hostile.py"
    spec.write_text(
        f"from statewalk import *\n\n\nTEXT = {HOSTILE!r}\n\n\nclass Box(State):\n"
        "    held: str = ''\n\n    @action\n    def put(self) -> None:\n"
        "        require(self.held == '')\n        self.held = TEXT\n\n\nbox = Box()\n\n\n"
        "@always\ndef is_empty() -> bool:\n    return box.held == ''\n"
    )
    return spec


def test_the_page_holds_the_result_and_the_trace_as_they_are(run: Run) -> None:
    data = data_in(to_html(of_run(run)))

    trace = json.loads(json.dumps(to_dict(run.traces["epoch_monotone"])))
    found = data["traces"][0]["trace"]
    apart = {"spec", "sources", "steps", "reason"}
    assert {n: v for n, v in run.to_dict().items() if n != "spec"} == {
        n: v for n, v in data["result"].items() if n != "spec"
    }
    assert "epoch_monotone" == found["property"]
    assert {n: v for n, v in trace.items() if n not in apart} == {
        n: v for n, v in found.items() if n not in apart
    }


@pytest.mark.thorough
def test_a_page_has_no_folder_of_the_disk(run: Run) -> None:
    html = to_html(of_run(run))

    assert str(ROOT) not in html
    assert str(Path.home()) not in html
    assert "kafka/init_pid.py" == data_in(html)["spec"]


def test_the_false_clause_is_in_the_trace_and_where_it_becomes_false(run: Run) -> None:
    reason = run.traces["epoch_monotone"].reason
    assert reason is not None

    assert "Along a log, the epochs of a transactional id strictly increase." == reason.doc
    assert "a < b is false: a = 0 · b = 0 · log = TxnLog#0 · tid = 0" == reason.said
    assert ("TxnLog#0.entries",) == reason.reads
    assert 5 == reason.at
    shapes = drawing(run.traces["epoch_monotone"])["shapes"]
    box = next(one for one in shapes if one[1]["class"] == "note why")
    assert "TxnLog#0" == drawing(run.traces["epoch_monotone"])["lanes"][box[1]["data-lane"]]["name"]
    assert {"a = 0", "b = 0"} <= {text for _, _, text in shapes}


def test_what_the_property_reads_is_never_shortened(run: Run) -> None:
    trace = run.traces["epoch_monotone"]
    shapes = drawing(trace)["shapes"]
    read = "".join(text for _, a, text in shapes if a["class"] == "own read")

    for at in (3, 5):
        entry = next(c for c in trace.diffs[at - 1] if c.place.startswith("TxnLog#0.entries"))
        assert str(entry.after).replace(" ", "") in read.replace(" ", "")


def test_lanes_have_a_band_with_the_state_of_their_role(run: Run) -> None:
    shapes = drawing(run.traces["epoch_monotone"])["shapes"]

    told = [text for _, a, text in shapes if a["class"] == "state"]
    assert ["Ready", "Ready", "SentInitPidRequest", "SentInitPidRequest"] == told
    assert 4 == sum(a["class"].startswith("band s") for _, a, _ in shapes)


def test_lanes_fit_beside_each_other(run: Run) -> None:
    found = drawing(run.traces["epoch_monotone"])
    ends = [0, *(lane["end"] for lane in found["lanes"])]

    assert 900 > found["width"]
    assert all(a < lane["left"] for a, lane in zip(ends, found["lanes"], strict=False))


@pytest.mark.thorough
def test_a_lasso_says_why_no_fair_action_ends_it(lasso: Run) -> None:
    trace = lasso.traces["eventually_all_clients_get_pid"]
    found = of_run(lasso)["traces"][0]["fair"]
    rows = {name: cells for name, _, cells in found["rows"]}

    assert list(range(trace.loop or 0, trace.length)) == found["states"]
    ask = rows["Client#0.send_init_pid(broker=Broker#0)"]
    assert ["", "", ""] == ask[0]
    assert 'require(self.state == "Ready")' == ask[1][0]
    assert "self.state = 'SentInitPidRequest'" == ask[1][1]


def test_each_step_has_its_words_and_what_it_changed(run: Run) -> None:
    first = of_run(run)["traces"][0]["steps"][0]

    assert "Client#1 · send_init_pid(broker=Broker#0) · self.tid=0" == "".join(
        text for text, _ in first["label"]
    )
    assert ["~", "Client#1.state", "'Ready'", "'SentInitPidRequest'", False] in first["changes"]


@pytest.mark.thorough
def test_a_page_of_a_check_has_what_was_possible_beside_the_path(run: Run) -> None:
    path = of_run(run)["traces"][0]
    around = path["around"]

    assert path["trace"]["length"] + 1 == len(around)
    for at, found in enumerate(around):
        assert at in found["goes"]
        assert {at - 1, at + 1} & {*range(len(around))} <= {*found["goes"]}
        assert len(found["goes"]) == len(found["drawing"]["names"])
    assert any(None in found["goes"] for found in around)


def test_red_is_where_what_has_to_hold_does_not(run: Run) -> None:
    drawn = [found["drawing"]["shapes"] for found in of_run(run)["traces"][0]["around"]]
    kinds = [[shape[1]["class"] for shape in shapes] for shapes in drawn]

    assert [5] == [
        at
        for at, found in enumerate(kinds)
        if any({"here", "wrong"} <= {*kind.split()} for kind in found)
    ]


@pytest.mark.thorough
def test_a_page_of_a_check_has_the_functions_of_its_steps(run: Run) -> None:
    data = of_run(run)
    step = next(s for s in data["traces"][0]["steps"] if "send_init_pid" in str(s["label"]))
    found = data["code"][step["place"]]

    assert "def send_init_pid(self" in found["lines"][1]
    assert found["lines"][0].startswith("@action")
    assert 1 + int(step["place"].rpartition(":")[2]) in (found["first"] + 1, found["first"] + 2)


def test_what_cannot_be_drawn_is_left_out(run: Run) -> None:
    assert run.model is not None
    spent = Around(run.model, runs=0)

    assert {} == spent.of(run.traces["epoch_monotone"])
    assert {} == Around(load("toys/die_hard")).of(run.traces["epoch_monotone"])


@pytest.mark.parametrize("line", [0, 10**6])
def test_a_place_that_is_not_in_the_file_has_no_code(line: int) -> None:
    assert {} == code_of([(str(INIT_PID), line), ("", 3)])


@pytest.mark.thorough
def test_a_page_of_a_saved_trace_needs_no_spec(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.trace.json"
    save_trace(run.traces["epoch_monotone"], file)

    steps = of_run(run)["traces"][0]["steps"]
    without = [
        {name: part for name, part in step.items() if name not in ("ran", "reads", "doc")}
        for step in steps
    ]
    assert of_trace(load_trace(file))["traces"][0]["steps"] == without


@pytest.mark.thorough
def test_a_page_has_the_lines_that_each_step_ran_and_its_mutant(run: Run) -> None:
    data = of_run(run)
    (place, lines, values), (mutant, *_), *_ = data["traces"][0]["steps"][4]["ran"]
    text = {
        data["code"][place]["first"] + at: t for at, t in enumerate(data["code"][place]["lines"])
    }

    assert "    self.append(entry)" in [text[line] for line in lines]
    assert "        return" not in [text[line] for line in lines]
    assert "result = Metadata(pid=1, epoch=0, …)" in [*values.values()]
    assert data["code"][mutant]["lines"][0].startswith("@mutant")


@pytest.mark.thorough
def test_a_page_of_a_saved_trace_with_its_spec_has_what_else_was_possible(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "a.trace.json", tmp_path / "a.html"
    save_trace(run.traces["epoch_monotone"], file)
    alone = main(["show", str(file), "--html", str(out)]), data_in(out.read_text())
    found = (
        main(["show", str(file), "--html", str(out), "--spec", str(INIT_PID)]),
        data_in(out.read_text()),
    )

    assert (0, 0) == (alone[0], found[0])
    assert "--spec SPEC" in alone[1]["alone"]
    assert "around" not in alone[1]["traces"][0]
    assert 6 == len(found[1]["traces"][0]["around"])
    assert found[1]["code"]
    assert 2 == main(["show", str(file), "--html", str(out), "--spec", "toys/die_hard"])
    assert 2 == main(["show", str(file), "--spec", str(INIT_PID)])
    assert "SW325" in capfd.readouterr().err


def test_no_text_of_a_spec_ends_the_element_it_stands_in(tmp_path: Path) -> None:
    run = check(hostile_spec(tmp_path), engine="reference")
    html = to_html(of_run(run))

    assert "violated" == run.verdict
    assert 2 == html.count("</script")
    assert "<img" not in html
    assert "\u2028" not in html
    assert "\x1b" not in html
    changes = data_in(html)["traces"][0]["trace"]["states"][-1]
    assert HOSTILE in [value for _, value in changes]


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028", "\ud800", "&lt;", '"'])
def test_embedded_data_is_what_was_put_in(text: str) -> None:
    found = embedded({text: [text]})

    assert {text: [text]} == json.loads(found)
    assert not set("<>&\u2028") & set(found)
    assert found.isascii()


def test_the_policy_lets_in_our_script_and_style_and_nothing_else(run: Run) -> None:
    html = to_html(of_run(run))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)

    assert policy is not None
    assert ["default-src 'none'", "script-src", "style-src"] == [
        part.partition(" 'sha256")[0] for part in policy[1].split("; ")
    ][:3]
    assert "unsafe" not in policy[1]
    assert "connect-src" not in policy[1]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", html)


def test_scripts_never_make_markup_of_texts() -> None:
    for name in SCRIPTS:
        text = (ASSETS / f"{name}.js").read_text(encoding="utf-8")

        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert "</script" not in text


def test_assets_are_all_used_and_short() -> None:
    assert {*(f"{n}.js" for n in SCRIPTS), *(f"{n}.css" for n in STYLES)} == {
        file.name for file in ASSETS.iterdir()
    }
    assert 300 > max(len(f.read_text().splitlines()) for f in ASSETS.iterdir())


def test_lanes_have_a_row_per_step_and_an_arrow_per_message(run: Run) -> None:
    found = drawing(run.traces["epoch_monotone"])
    kinds = [shape[1].get("class") for shape in found["shapes"]]

    assert ["Client#1", "Broker#0", "Client#0", "PidSource", "TxnLog#0"] == [
        text for _, _, text in found["head"]
    ]
    assert 1 + run.traces["epoch_monotone"].length == kinds.count("row")
    assert 1 == kinds.count("note bad")
    assert 3 == kinds.count("message")  # two requests, and the one answer


@pytest.mark.thorough
def test_a_lasso_has_a_way_back(lasso: Run) -> None:
    trace = lasso.traces["eventually_all_clients_get_pid"]
    kinds = [shape[1].get("class") for shape in drawing(trace)["shapes"]]

    assert ["arc", "arc tip"] == [k for k in kinds if str(k).startswith("arc")]


def test_what_a_network_drops_is_lost_and_what_is_taken_from_it_is_received(
    tmp_path: Path,
) -> None:
    spec = tmp_path / "net.py"
    spec.write_text(NETWORK)
    trace = check(spec, engine="reference").traces["dropped"]
    found = {(e.text, e.kind, e.target): e.received for e in events(trace)}

    assert ("Ping(n=1)", "message", "Net") in found
    assert ("Ping(n=1)",) == found["take", "step", ""]
    assert ("- inbox Ping(n=2)", "lost", "Node#0") in found


def test_a_drawing_as_text_is_escaped(run: Run) -> None:
    found = drawing(run.traces["epoch_monotone"])
    found["head"][0] = ("text", {"class": "name", "x": 1, "y": 1}, HOSTILE)

    assert "<img" not in svg_of(found)
    assert "&lt;img" in svg_of(found)


def test_the_commands_write_pages(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    checked, shown, out = tmp_path / "check.html", tmp_path / "show.html", tmp_path / "run"
    words = ["check", "toys/die_hard", "--engine", "reference", "--out", str(out)]

    assert 1 == main([*words, "--html", str(checked)])
    assert 0 == main(["show", str(next(out.glob("*.trace.json"))), "--html", str(shown)])
    assert "violated" == data_in(checked.read_text())["result"]["verdict"]
    assert 6 == len(data_in(shown.read_text())["traces"][0]["steps"])


def test_a_page_is_of_one_check(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "a.html"
    words = ["check", str(INIT_PID), "--set", "CLIENTS=1..2", "--html", str(page)]

    assert 2 == main(words)
    assert "SW326" in capfd.readouterr().err
    assert not page.exists()


def test_a_mistake_in_a_spec_has_a_page_too(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page, spec = tmp_path / "a.html", tmp_path / "a.py"
    spec.write_text("nonsense(")

    assert 2 == main(["check", str(spec), "--html", str(page)])
    assert "error" == data_in(page.read_text())["result"]["verdict"]


@pytest.mark.thorough
def test_a_comparison_has_a_page_with_both_ways(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "a.html"
    words = ["compare", str(INIT_PID), "--vary", "MUTANT=none,no_epoch_bump", "--set", "BROKERS=1"]

    assert 0 == main([*words, "--no-liveness", "--html", str(page)])
    data = data_in(page.read_text())
    first = data["traces"][0]
    assert ["MUTANT=none", "MUTANT=no_epoch_bump"] == data["compared"]["sides"]
    assert ["epoch_monotone", "holds", "violated at 5 · broken"] in data["compared"]["rows"]
    assert ("MUTANT=no_epoch_bump", "MUTANT=none") == (first["side"], first["beside"]["side"])
    assert first["steps"][0]["label"] == first["beside"]["steps"][0]["label"]
    assert "From step 5 on" in "".join(text for line in first["why"] for text, _ in line)


@pytest.mark.slow
def test_ways_of_a_comparison_of_three_have_titles_of_their_own() -> None:
    sides = {"MUTANT": ["no_epoch_bump", "none", "weak_send"]}
    found = compare(INIT_PID, vary=sides, constants={"BROKERS": 1}, liveness=False)
    titles = [way["title"] for way in of_comparison(found, "")["traces"]]

    assert len(titles) > len(found.sides) - 1
    assert len({*titles}) == len(titles)
    assert "epoch_monotone is violated with MUTANT=no_epoch_bump, beside MUTANT=none" in titles


def test_a_comparison_that_parts_at_the_first_step_has_a_page(tmp_path: Path) -> None:
    page, spec = tmp_path / "a.html", tmp_path / "a.py"
    spec.write_text(
        "from statewalk import *\nBY: Constant[int] = 1\nclass Box(State):\n    n: int = 0\n"
        "    @action\n    def grow(self) -> None:\n        require(self.n < 2)\n"
        "        self.n += BY\nbox = Box()\ndeadlock(False)\n"
    )

    assert 0 == main(["compare", str(spec), "--vary", "BY=1,2", "--html", str(page)])
    ways = data_in(page.read_text())["traces"]
    assert {1} == {len(way["steps"]) for way in ways}


def test_a_notebook_shows_a_trace_without_scripts_and_escaped(tmp_path: Path, run: Run) -> None:
    hostile = check(hostile_spec(tmp_path), engine="reference")
    shown = hostile.traces["is_empty"]._repr_html_() + hostile._repr_html_()

    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;img" in shown
    assert '<svg style="max-width: none"' in run.traces["epoch_monotone"]._repr_html_()
    assert 6 == run.traces["epoch_monotone"]._repr_html_().count("<tr")


def test_markdown_of_a_trace_is_one_block() -> None:
    assert "````text\na ``` b\n````\n" == fenced("a ``` b")


@pytest.mark.thorough
def test_a_page_in_a_notebook_is_a_frame_of_its_own(run: Run, tmp_path: Path) -> None:
    shown = page(run.traces["epoch_monotone"])
    shown.save(tmp_path / "a.html")

    assert 'sandbox="allow-scripts"' in shown._repr_html_()
    assert "Trust this notebook" in shown._repr_html_().rpartition("</iframe>")[2]
    assert "<script" not in shown._repr_html_()
    saved = data_in((tmp_path / "a.html").read_text())
    assert "epoch_monotone" == saved["traces"][0]["trace"]["property"]


def test_a_state_of_a_trace_is_by_names_and_shows_itself_escaped(tmp_path: Path, run: Run) -> None:
    state = run.traces["epoch_monotone"].states[2]
    hostile = check(hostile_spec(tmp_path), engine="reference").traces["is_empty"].states[-1]
    shown = hostile._repr_html_() + hostile._repr_markdown_()

    assert "SentInitPidRequest" == state["Client#0.state"]
    assert "Client#0.state       'SentInitPidRequest'" in str(state)
    assert len(state) == str(state).count("\n") + 1 == state._repr_html_().count("<tr>")
    assert "<img" not in shown
    assert not set("\x00\x1b\u202e\u2028") & set(shown)


@pytest.mark.thorough
def test_a_trace_of_a_run_is_explored_where_it_is(run: Run) -> None:
    shown = run.traces["epoch_monotone"].explore()

    assert "around" in data_in(shown.html)["traces"][0]
    assert data_in(run.explore().html)["code"]


def test_the_band_of_leads_to_has_what_is_false_for_ever(tmp_path: Path) -> None:
    spec = tmp_path / "rises.py"
    spec.write_text(
        "from statewalk import *\n\n\n"
        "class Box(Role):\n    n: int = 0\n\n"
        '    @action(fair="weak")\n    def up(self) -> None:\n'
        "        require(self.n < 2)\n        self.n += 1\n\n\n"
        "boxes = [Box()]\ndeadlock(False)\n\n\n"
        "def low() -> bool:\n    return boxes[0].n == 0\n\n\n"
        "def high() -> bool:\n    return all(box.n > 2 for box in boxes)\n\n\n"
        "rises = leads_to(low, high)\n",
        encoding="utf-8",
    )

    reason = check(spec).traces["rises"].reason

    assert reason is not None
    assert "box.n > 2" == reason.clauses[-1].text
    assert ("box.n", "2") in reason.clauses[-1].values
