"""A history in another format says the same, or what it no longer says is told."""

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.objects.asking import object_of
from statewalk.checker.history.objects.deciding import Order, decide
from statewalk.checker.history.objects.operations import Operations
from statewalk.checker.history.objects.reading import from_records, parsed
from statewalk.checker.history.objects.spec import Object
from statewalk.checker.history.objects.writing import lines_of
from statewalk.dsl.errors import RunError

ANSWERS = """
from typing import Any

from statewalk import State, action, any_of


class Echo(State):
    n: int = 0

    @action
    def ask(self, what: int = any_of((0, 1))) -> Any:
        return (
            {1: (2, 3)}, {"a": [1]}, {(1, 2)}, [{1}, {2, 3}], (), [True, 1], None, {}, "é", "🦀\\n",
            {frozenset([1])},
        )[what]


echo = Echo()
"""
SAID = (
    "{1 [2 3]}", '{:a [1]}', "#{[1 2]}", "[#{1} #{3 2}]", "[]", "[true 1]", "nil", "{}", '"é"',
    '"🦀\\n"', "#{#{1}}",
)  # fmt: skip


def done(n: int, client: int | str, op: str, *args: Any, **more: Any) -> dict[str, Any]:
    return {"client": client, "op": op, "args": [*args], "begin": 2 * n, "end": 2 * n + 1, **more}


def converted(of: Object, history: Operations, to: str) -> Operations:
    return parsed(Path("new"), to, "\n".join(lines_of(of, history, to)[0]))


@pytest.mark.parametrize(
    ("name", "order", "records"),
    [
        ("lock", "real-time", [done(0, 1, "acquire"), done(1, "a", "release")]),
        ("lock", "real-time", [done(0, "a", "acquire"), done(1, 0, "release")]),
        ("lock", "real-time", [done(0, "a", "acquire"), done(1, "a", "release")]),
        ("register", "sessions", [done(0, "a", "write", 1), done(1, 0, "read", answer=None)]),
        ("register", "sessions", [done(0, -1, "write", 1), done(1, -1, "read", answer=None)]),
        ("register", "real-time", [done(0, 1, "write", 5), done(1, 1, "read")]),
        ("counter", "real-time", [done(0, 1, "add", 5), done(1, 1, "fetch_and_add", 1)]),
        ("set", "real-time", [done(0, 1, "add", 5), done(1, 1, "read", answer=[5])]),
        ("set", "real-time", [done(0, 1, "add", 5), done(1, 1, "contains", 5, answer=True)]),
        (
            "list",
            "real-time",
            [done(0, 1, "append", "\ud800"), done(1, 1, "read", answer=["\ud800"])],
        ),
    ],
)
def test_the_verdict_stays(name: str, order: Order, records: list[dict[str, Any]]) -> None:
    of = object_of(name, {}, nil_is_unknown=False)
    history = from_records(records)
    other = converted(of, history, "edn")
    "\n".join(lines_of(of, other, "edn")[0]).encode()

    expected = decide(of, history, order).holds
    assert expected is decide(of, other, order).holds
    assert expected is decide(of, converted(of, other, "jsonl"), order).holds


def test_an_answer_that_edn_cannot_leave_open_is_refused() -> None:
    of = object_of("register", {}, nil_is_unknown=False)

    with pytest.raises(HistoryError, match="edn cannot say cas"):
        lines_of(of, from_records([done(0, 1, "cas", 5, 1)]), "edn")


@pytest.fixture
def echo(tmp_path: Path) -> Object:
    spec = tmp_path / "echo.py"
    spec.write_text(ANSWERS)
    return object_of(str(spec), {}, nil_is_unknown=False)


def test_answers_of_each_kind_are_read_and_written(echo: Object) -> None:
    for asked, said in enumerate(SAID):
        for told in (said, "[:other]"):
            text = (
                f"{{:process 0, :type :invoke, :f :ask, :value {asked}}}\n"
                f"{{:process 0, :type :ok, :f :ask, :value {told}}}\n"
            )
            for to in ("edn", "jsonl"):
                history = parsed(Path("old"), "edn", text)
                other = converted(echo, converted(echo, history, to), "edn")

                assert (told == said) is decide(echo, history).holds, said
                assert (told == said) is decide(echo, other).holds, said


def test_an_argument_that_json_does_not_have_is_refused(tmp_path: Path) -> None:
    of = object_of("list", {}, nil_is_unknown=False)
    text = (
        "{:process 0, :type :invoke, :f :append, :value #{1}}\n"
        "{:process 0, :type :fail, :f :append, :value #{1}}\n"
    )

    with pytest.raises(HistoryError, match="jsonl cannot say append"):
        lines_of(of, parsed(tmp_path, "edn", text), "jsonl")


READS = """
from statewalk import State, action, any_of


class Register(State):
    value: int = 0

    @action
    def read(self){read}:
        return self.value

    @action
    def write(self, value: int = any_of((1, 2))):
        self.value = value

    @action
    def cas(self, old: int = any_of((1, 2)), new: int = any_of((1, 2))) -> "bool":
        if self.value != old:
            return False
        self.value = new
        return True


register = Register()
"""
EVENTS = """{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 0, :type :invoke, :f :cas, :value [1 2]}
{:process 0, :type :ok, :f :cas, :value [1 2]}
{:process 0, :type :invoke, :f :read}
{:process 0, :type :ok, :f :read, :value 2}
"""


def test_an_action_says_whether_a_completion_has_its_answer(tmp_path: Path) -> None:
    spec = tmp_path / "reads.py"
    history = parsed(tmp_path, "edn", EVENTS)
    spec.write_text(READS.format(read=" -> int"))

    assert decide(object_of(str(spec), {}, nil_is_unknown=False), history).holds

    spec.write_text(READS.format(read=""))
    of = object_of(str(spec), {}, nil_is_unknown=False)

    with pytest.raises(RunError, match="read does not say what it returns"):
        decide(of, history)
    assert decide(of, from_records([done(0, 1, "write", 2), done(1, 1, "read", answer=2)])).holds


def test_a_key_that_an_action_does_not_have_is_refused() -> None:
    of = object_of("register", {}, nil_is_unknown=False)
    text = "{:process 0, :type :invoke, :f :write, :key :x, :value 1}"

    for history in (
        from_records([done(0, 1, "write", 1, key="x")]), parsed(Path("a"), "edn", text),
    ):  # fmt: skip
        with pytest.raises(HistoryError, match="write has no parameter key"):
            decide(of, history)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0x10", "the value 0x10 is no integer"),
        ("1/2", "the value 1/2 is no integer"),
        ("[010]", "the value 010 is no integer"),
        ("1.5", "the value 1.5 is no integer"),
        ("#{{:a 1}}", "a map is in a set"),
        ("1}", r"\[ is never closed"),
        ("1})", r"\[ is never closed"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused(value: str, said: str) -> None:
    end = "" if "}" in value[1:] and "{" not in value else "}"
    text = f"[{{:process 0, :type :invoke, :f :write, :value {value}{end}"

    with pytest.raises(HistoryError, match=said):
        parsed(Path("a"), "edn", text)


def test_a_completion_is_of_the_key_of_its_invocation() -> None:
    text = '{:process 0, :type :invoke, :f :get, :key "x"}\n{:process 0, :type :ok, :key "y"}'

    with pytest.raises(HistoryError, match="key 'y' completes key 'x' of line 1"):
        parsed(Path("a"), "edn", text.replace(":ok", ":ok, :f :get"))
