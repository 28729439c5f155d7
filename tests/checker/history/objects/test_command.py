"""`history check --object`: what it reads, prints, writes, refuses, and its exit codes."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from statewalk import check_operations
from statewalk.checker.cli import main
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.objects.operations import ABSENT, Operation
from statewalk.checker.history.objects.reading import read_operations

TWICE = """{"client": "ann", "op": "enqueue", "args": ["job 1"], "begin": 0, "end": 3}
{"client": "bob", "op": "dequeue", "answer": "job 1", "begin": 2, "end": 6}
{"client": "ann", "op": "enqueue", "args": {"item": "job 2"}, "begin": 4, "end": 9}
{"client": "eve", "op": "dequeue", "answer": "job 1", "begin": 7, "end": 8}
"""
EDN = """; a comment
[{:process 0, :type :invoke, :f :write, :value 3}
 {:process 1, :type :invoke, :f :read, :value nil}
 {:process :nemesis, :type :info, :f :start}
 {:process 1, :type :ok, :f :read, :value 3}
 {:process 2, :type :invoke, :f :cas, :value [3 4]}
 {:process 2, :type :fail, :f :cas, :value [3 4]}
 {:process 0, :type :info, :f :write, :value 3}
 {:process 3, :type :invoke, :f :cas, :value [3 5]}
 {:process 3, :type :ok, :f :cas, :value [3 5]}]
"""
LOG = """INFO  jepsen.util - 0\t:invoke\t:write\t3
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 0\t:ok\t:write\t3
INFO  jepsen.util - 1\t:ok\t:read\tnil
INFO  jepsen.util - 2\t:invoke\t:read\tnil
INFO  jepsen.util - 2\t:fail\t:read\t:timed-out
"""
KEYS = """{:process 0, :type :invoke, :f :put, :key "x", :value "a"}
{:process 0, :type :ok, :f :put, :key "x", :value "a"}
{:process 1, :type :invoke, :f :get, :value ["x" nil]}
{:process 1, :type :ok, :f :get, :value ["x" "a"]}
{:process 1, :type :invoke, :f :get, :value ["y" nil]}
{:process 1, :type :ok, :f :get, :value ["y" nil]}
"""


def file_of(folder: Path, text: str, name: str = "h.jsonl") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def run(*args: str | Path) -> int:
    return main(["history", "check", *map(str, args)])


def test_a_violation_is_told_drawn_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    svg, data = tmp_path / "a.svg", tmp_path / "a.json"

    code = run(file_of(tmp_path, TWICE), "--object", "queue", "--svg", svg, "--json", data)
    out = capsys.readouterr().out
    found = json.loads(data.read_text())

    assert 1 == code
    assert "linearizable: violated" in out
    assert "dequeue() → 'job 1'  (client eve, line 4) fits nowhere." in out
    assert "(client eve, line 4): require(self.items) is false: self.items = []" in out
    assert "(client eve, line 4): it returns 'job 2'" in out
    assert [[2], [4]] == [one["lines"] for one in found["violation"]["needed"]]
    assert (False, [4], 3) == (
        found["holds"], found["violation"]["failed"]["lines"], len(found["violation"]["order"])
    )  # fmt: skip
    bars = ET.fromstring(svg.read_text()).iter("{http://www.w3.org/2000/svg}circle")
    assert 3 == len([*bars])


def test_a_history_that_holds_has_a_witness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TWICE.replace('1", "begin": 7', '2", "begin": 7')

    code = run(file_of(tmp_path, text), "--object", "queue", "--json", "-")
    found = json.loads(capsys.readouterr().out)

    assert 0 == code
    assert [1, 2, 3, 4] == [one["lines"][0] for one in found["witness"][0]["order"]]


def test_what_is_old_is_sequentially_consistent(tmp_path: Path) -> None:
    text = """{"client": 1, "op": "write", "args": [1], "begin": 0, "end": 1}
{"client": 2, "op": "read", "answer": null, "begin": 2, "end": 3}
"""
    file = file_of(tmp_path, text)

    assert 1 == run(file, "--object", "register")
    assert 0 == run(file, "--object", "register", "--order", "sessions")


def test_a_spec_of_ones_own_may_choose(tmp_path: Path) -> None:
    spec = tmp_path / "twice.py"
    spec.write_text(
        "from statewalk import State, action, any_of, maybe, require\n\n\n"
        "class Queue(State):\n    items: list[str] = []\n\n"
        "    @action\n    def enqueue(self, item: str = any_of(['a'])) -> None:\n"
        "        self.items.append(item)\n\n"
        "    @action\n    def dequeue(self) -> str:\n        require(self.items)\n"
        "        return self.items.pop(0) if maybe() else self.items[0]\n\n\nqueue = Queue()\n"
    )

    assert 0 == run(file_of(tmp_path, TWICE), "--object", spec)


@pytest.mark.parametrize(("text", "name"), [(EDN, "h.edn"), (LOG, "h.log")])
def test_histories_of_jepsen_are_read(
    tmp_path: Path, text: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(file_of(tmp_path, text, name), "--object", "register")

    assert 0 == code
    assert "1 failed, without effect" in capsys.readouterr().out


def test_operations_of_jepsen_have_their_outcomes(tmp_path: Path) -> None:
    found = read_operations(file_of(tmp_path, EDN)).all

    assert [
        Operation(0, "write", "info", 0, None, 2, 8, 3),
        Operation(1, "read", "ok", 1, 2, 3, 5, None, 3),
        Operation(2, "cas", "fail", 3, 4, 6, 7, [3, 4]),
        Operation(3, "cas", "ok", 6, 7, 9, 10, [3, 5], [3, 5]),
    ] == [*found]
    assert ABSENT is found[0].told


def test_a_nil_of_knossos_says_nothing_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = file_of(
        tmp_path,
        "".join(f"INFO  jepsen.util - {line}\n" for line in (
            "0\t:invoke\t:write\t3", "0\t:ok\t:write\t3",
            "1\t:invoke\t:read\tnil", "1\t:ok\t:read\tnil",
        )),
        "late.log",
    )  # fmt: skip

    assert 1 == run(late, "--object", "register")
    assert "see --nil unknown" in capsys.readouterr().out
    assert 0 == run(late, "--object", "register", "--nil", "unknown")


def test_keys_are_objects_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(tmp_path, KEYS, "h.edn")

    assert 0 == run(file, "--object", "kv")
    assert "each of 2 keys for itself" in capsys.readouterr().out
    assert 1 == run(file, "--object", "kv", "--set", "EMPTY=")
    assert "of key 'y'" in capsys.readouterr().out


def test_keys_that_share_a_field_are_checked_as_a_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "latest.py"
    spec.write_text(
        "from statewalk import State, action, any_of\n\nKEYS = ('x', 'y')\n\n\n"
        "class Latest(State):\n    of: dict[str, str] = {}\n    written: str = ''\n\n"
        "    @action\n    def put(self, key: str = any_of(KEYS), "
        "value: str = any_of(KEYS)) -> None:\n"
        "        self.of[key] = value\n        self.written = value\n\n"
        "    @action\n    def get(self, key: str = any_of(KEYS)) -> str:\n"
        "        return self.written if key in self.of else ''\n\n\nlatest = Latest()\n"
    )
    text = """{"client": 1, "op": "put", "args": ["x", "a"], "begin": 0, "end": 1}
{"client": 1, "op": "put", "args": ["y", "b"], "begin": 2, "end": 3}
{"client": 1, "op": "get", "args": ["x"], "answer": "b", "begin": 4, "end": 5}
"""

    code = run(file_of(tmp_path, text), "--object", spec)

    assert "operations of several keys share Latest.written" in capsys.readouterr().out
    assert 0 == code


def test_a_folder_has_a_line_for_each_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file_of(tmp_path, TWICE, "a.jsonl")
    file_of(tmp_path, TWICE.partition("\n")[0], "b.jsonl")
    file_of(tmp_path, "{", "c.edn")

    code = run(tmp_path, "--object", "queue")
    lines = capsys.readouterr().out.splitlines()

    assert 1 == code
    assert ["violated", "holds", "unreadable"] == [line.split()[0] for line in lines[:3]]
    assert "3 histories: 1 violated, 1 unreadable, 1 holds" == lines[3]


def test_a_hard_history_is_undecided_in_time(tmp_path: Path) -> None:
    adds = [
        {"client": n, "op": "append", "args": [n], "begin": 0, "end": 99} for n in range(12)
    ]  # 12! orders
    read = {"client": 0, "op": "read", "answer": [99], "begin": 100, "end": 101}
    file = file_of(tmp_path, "\n".join(map(json.dumps, [*adds, read])))

    assert 3 == run(file, "--object", "list", "--timeout", "0.3")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"client": 1, "op": "push", "begin": 0, "end": 1}', "no action push"),
        ('{"client": 1, "op": "enqueue", "begin": 0, "end": 1}', "with other arguments: []"),
        ('{"client": 1, "op": "peek", "begin": 2, "end": 1}', "times that are no interval"),
        ('{"client": 1, "op": "peek", "begin": 2, "stop": 1}', "unknown field 'stop'"),
        ('{"client": 1, "event": "ok"}', "client 1 completes what it did not invoke"),
        ('{"client": 1, "op": "enqueue", "args": [1.5], "begin": 0, "end": 1}', "no spec has"),
        (
            '{"client": 1, "op": "enqueue", "args": [1], "answer": 7, "begin": 0, "end": 1}',
            "an answer of enqueue, which returns nothing",
        ),
    ],
)
def test_a_record_that_cannot_be_is_refused(
    line: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(file_of(tmp_path, line), "--object", "queue")

    assert 2 == code
    assert said in capsys.readouterr().err


def test_what_is_no_object_is_said_with_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of(tmp_path, '{"client": 1, "op": "peek", "begin": 0, "end": 1}')

    assert 2 == run(file, "--object", "queu")
    assert "In the library: counter, kv, lease," in capsys.readouterr().err
    assert 2 == main(["history", "check", str(file)])
    assert "are checked with --object" in capsys.readouterr().err


def test_a_client_that_invokes_twice_needs_an_id(tmp_path: Path) -> None:
    events = [
        {"client": 1, "event": "invoke", "op": "peek", "id": 1},
        {"client": 1, "event": "invoke", "op": "peek", "id": 2},
        {"client": 1, "event": "ok", "answer": None, "id": 1},
    ]
    plain = [{name: e[name] for name in e if name != "id"} for e in events]

    found = read_operations(file_of(tmp_path, "\n".join(map(json.dumps, events)))).all

    assert ["ok", "info"] == [op.status for op in found]
    with pytest.raises(HistoryError, match="invokes while its operation of line 1 is open"):
        read_operations(file_of(tmp_path, "\n".join(map(json.dumps, plain))))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('none')", "fails in Box.n = 0: ValueError: none"),
        ("yield", "takes several steps"),
    ],
)
def test_a_spec_that_is_no_object_is_refused(
    body: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "box.py"
    spec.write_text(
        "from statewalk import State, action\n\n\nclass Box(State):\n    n: int = 0\n\n"
        f"    @action\n    def peek(self) -> None:\n        self.n = self.n\n        {body}\n\n\n"
        "box = Box()\n"
    )
    line = '{"client": 1, "op": "peek", "begin": 0, "end": 1}'

    code = run(file_of(tmp_path, line), "--object", spec)

    assert 2 == code
    assert "SW711" in (err := capsys.readouterr().err)
    assert said in err


def test_who_forgets_the_object_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(file_of(tmp_path, EDN, "h.edn"))

    assert 2 == code
    assert "operations on one object are checked with --object" in capsys.readouterr().err


def test_options_for_transactions_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(file_of(tmp_path, TWICE), "--object", "queue", "--level", "si")

    assert 2 == code
    assert "--level is for histories of transactions" in capsys.readouterr().err


def test_python_asks_the_same(tmp_path: Path) -> None:
    records = [json.loads(line) for line in TWICE.splitlines()]

    found = check_operations(records, "queue")
    found.save(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()

    assert not found
    assert "fits nowhere." in str(found)
    assert "<ObjectVerdict: linearizable: violated; 4 operations>" == repr(found)
    assert [4] == found.json["violation"]["failed"]["lines"]
    assert "<svg" in found._repr_html_()
    assert "dequeue() → &#x27;job 1&#x27;" in page
    assert check_operations(file_of(tmp_path, TWICE), "queue").holds is False
    assert check_operations(records[:3], "queue", order="sessions")


def test_a_page_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "a.html"

    assert 1 == run(file_of(tmp_path, TWICE), "--object", "queue", "--html", page)
    assert "<svg" in page.read_text()
    assert 2 == run(file_of(tmp_path, "w(1,1,1,1)\n"), "--html", page)
    assert "--html is for operations on an object" in capsys.readouterr().err


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "name", "object"),
    [(TWICE, "h.jsonl", "queue"), (EDN, "h.edn", "register"), (LOG, "h.log", "register"),
     (KEYS, "k.edn", "kv")],
)  # fmt: skip
@pytest.mark.parametrize("to", ["jsonl", "edn"])
def test_operations_are_converted(
    text: str, name: str, object: str, to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = file_of(tmp_path, text, name), tmp_path / f"out.{to}"
    asked = ["--object", object]

    assert 0 == main(["history", "convert", str(before), str(after), "--to", to, *asked])
    said = capsys.readouterr().out
    assert ("nothing was dropped" in said) is (to == "jsonl")
    assert run(before, *asked) == run(after, *asked)
    one, other = (read_operations(file).all for file in (before, after))
    assert [(op.name, op.status) for op in one] == [(op.name, op.status) for op in other]


def test_a_client_of_several_operations_is_several_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """{"client": "ann", "op": "read", "answer": 1, "begin": 0, "end": 4}
{"client": "ann", "op": "write", "args": [1], "begin": 1, "status": "info"}
{"client": "ann", "op": "cas", "args": [1, 2], "answer": false, "begin": 5, "end": 6}
"""
    to = tmp_path / "a.edn"

    main(["history", "convert", str(file_of(tmp_path, text)), str(to), "--to", "edn",
          "--object", "register"])  # fmt: skip
    found = read_operations(to).all

    assert [0, 1, 2] == [op.client for op in found]
    assert "names of clients" in capsys.readouterr().out
    assert 1 == run(to, "--object", "register")
