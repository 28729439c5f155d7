"""The parser of .fizz text: what it reads, and how it speaks of what it cannot read."""

import ast

import pytest

from statewalk.dsl.blocks import tree
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.read import read_fizz
from statewalk.dsl.fizz.text.parse import parse, split_front_matter


def statements(text: str) -> list[ast.stmt]:
    """The body of an action that holds the text."""
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    (action,) = parse("atomic action A:\n" + indented, "a.fizz").body
    assert isinstance(action, tree.Act)
    return action.body


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("require x", tree.Require),
        ("require (x) and y", tree.Require),
        ("require not x", tree.Require),
        ("require -x < 0", tree.Require),
        ("require = 3", ast.Assign),
        ("require.x = 3", ast.Assign),
        ("require[0] = 3", ast.Assign),
        ("require += 1", ast.AugAssign),
        ("x = any S", tree.Choice),
        ("x = any range(3)", tree.Choice),
        ("x = fair<strong> oneof S if x > 1", tree.Choice),
        ("x = fair any S : x > 1", tree.Choice),
        ("x = oneof [1, 2] if a else [3]", tree.Choice),
        ("x = any", ast.Assign),
        ("x = oneof + 1", tree.Choice),
        ("x = fair < oneof", ast.Assign),
        ("x = fair", ast.Assign),
        ("f(any=oneof, transition=exists)", ast.Expr),
        ("any(x)", ast.Expr),
        ("any x in S:\n    pass", tree.ChoiceBlock),
        ("fair oneof x in S:\n    pass", tree.ChoiceBlock),
        ("any in S", ast.Expr),
        ("atomic:\n    pass", tree.FlowBlock),
        ("oneof:\n    x = 1\n    x = 2", tree.FlowBlock),
        ("atomic = 1", ast.Assign),
        ("serial for x in S:\n    pass", tree.For),
        ("parallel for x in S: pass", tree.For),
        ("atomic while x:\n    pass", tree.While),
        ("`label` x = 1", tree.Labelled),
        ("`label`\nx = 1", tree.Labelled),
        ("always.x = role.exists", ast.Assign),
        ("action = func", ast.Assign),
        ("init = invariants[symmetric]", ast.Assign),
    ],
)
def test_words_are_keywords_only_where_a_statement_of_theirs_begins(text: str, kind: type) -> None:
    (node,) = statements(text)

    assert kind is type(node)


@pytest.mark.parametrize(
    ("text", "flow", "fair"),
    [
        ("action A:\n  pass", None, "none"),
        ("atomic action A:\n  pass", "atomic", "none"),
        ("atomic fair action A:\n  pass", "atomic", "weak"),
        ("fair<strong> action A: pass", None, "strong"),
        ("oneof fair<weak> action A:\n  pass", "oneof", "weak"),
    ],
)
def test_actions_have_a_flow_and_a_fairness(text: str, flow: str | None, fair: str) -> None:
    (node,) = parse(text, "a.fizz").body

    assert isinstance(node, tree.Act)
    assert (flow, fair) == (node.flow, node.fair)


def test_declarations_of_every_kind_are_read() -> None:
    text = """
@state(durable=["a"])
symmetric role R:
    K = 1
    action Init:
        self.a = 0
    func f(x, y=2): return x + y
    def g(self): return 1
always eventually assertion Live:
    return True
transition assertion T(before, after):
    return True
exists assertion E:
    return False
init:
    a = 1
invariants:
    always a == 1
    eventually always a > 0
    a < 2
compose:
    part: "x.fizz"
action Last:
    pass"""
    kinds = [type(node) for node in parse(text, "a.fizz").body]

    declared = [
        tree.Role,
        *3 * [tree.Assertion],
        tree.InitStanza,
        tree.Invariants,
        tree.Compose,
        tree.Act,
    ]
    assert declared == kinds


def test_expressions_mean_what_they_mean_in_python() -> None:
    for text in (
        "a + b * -c ** 2 // d % e - f",
        "not a and b or c in d and e not in f",
        "x if a < b else [y, z][0]",
        "[(k, v) for k in a for v in b[k] if v if k > 1]",
        "{k: v for k in a}",
        "{1, 2} | set([3]) & ~x ^ y << 2 >> 1",
        "f(1, *a, k=2, **b)(3).c['x'][1:2][::-1]",
        "lambda x, y=1: x + y",
        "()",
        "(1,)",
        '"a" "b" % (1, 2)',
        "0x1f + 0b11 + 0o17 + 1.5 + 1e3",
        "a < b",
        "sorted(x for x in y)",
    ):
        (node,) = statements(f"x = {text}")

        assert isinstance(node, ast.Assign)
        expected = ast.parse(f"x = {text}").body[0]
        assert ast.unparse(expected) == ast.unparse(node)


def test_tabs_reach_to_multiples_of_four() -> None:
    (action,) = parse("action A:\n\tif x:\n\t  \ty = 1\n\t\tz = 2\n    w = 3\n", "a.fizz").body

    assert isinstance(action, tree.Act)
    assert [ast.If, ast.Assign] == [type(s) for s in action.body]


def test_lines_are_joined_in_brackets_and_by_a_backslash() -> None:
    assert 2 == len(statements("x = f(1,\n   # why\n 2)\ny = 1 + \\\n  2"))


def test_front_matter_keeps_the_line_numbers() -> None:
    text = "# about\n---\noptions:\n  max_actions: 3\n---\naction A:\n    pass\n"

    body, front, line = split_front_matter(text)

    assert ("\noptions:\n  max_actions: 3\n", 2) == (front, line)
    assert 6 == parse(body, "a.fizz").body[0].lineno


MISTAKES = [
    ("action A\n    pass\n", 1, "The line ends before its colon."),
    ("action A:\n    x = (1,\n", 2, "'(' is never closed."),
    ("action A:\n    x = 1; y = 2\n", 2, "A line can hold only one statement."),
    ("action A:\n    if x = 1:\n        pass\n", 2, "A single '=' assigns; it does not compare."),
    ("action A:\npass\n", 2, "A block is missing here."),
    (
        "action A:\n    pass\n  x = 1\n",
        3,
        "The indentation of this line matches no enclosing block.",
    ),
    ("action A:\n    x = 'abc\n", 2, "This string does not end on its line."),
    ("action A:\n    x = $y\n", 2, "The character '$' is unexpected here."),
    ("action A:\n    class = 1\n", 2, "'class' is a reserved word and cannot be a name."),
    ('action A:\n    x = f"{y}"\n', 2, "There are no f-strings."),
    ("action A:\n    1 + x = 2\n", 2, "This cannot be assigned to."),
    ("<<<<<<< HEAD\naction A:\n    pass\n", 1, "This line is a mark of an unresolved merge."),
    ("fair<maybe> action A:\n    pass\n", 1, "'maybe' is not a fairness."),
    ("action A:\n    x = [1, 2\n", 2, "'[' is never closed."),
    ("action A:\n        pass\n    pass\n      pass\n", 3, "indentation"),
    ("\x00", 1, "This file is not text: it holds a zero byte."),
    ("x = " + "(" * 200 + ")" * 200, 1, "brackets are open"),
]


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES)
def test_mistakes_are_named_with_their_place(text: str, line: int, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_fizz("a.fizz", text)

    error = caught.value
    assert "SW150" == error.code
    assert error.at is not None
    assert line == error.at.line
    assert message in error.message


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "text",
    [
        r'"a\"b"', r"'a\'b'", r'"\\"', r"'\\'", r'"a\\\"b"', r'["a\"", "b", "\\", "c"]',
        r'"\n\t\r\a\x41\101\u0041"', '"a\'b"', "'a\"b'", r'r"a\d"', r"r'a\d\'b'", r'R"\\"',
'"""a "b" \'c\' """', r'"""a\"""b"""', '"a" "b"',
        '"""a\n    b"""', '"a\\\n    b"', '""', '"#"', r'"\"#"  # "',
    ],
)  # fmt: skip
def test_a_string_is_what_it_says(text: str) -> None:
    (node,) = statements("x = " + text)

    assert isinstance(node, ast.Assign)
    value = "(" + text.partition("  # ")[0].replace("\n    ", "\n        ") + ")"
    assert ast.literal_eval(value) == ast.literal_eval(ast.unparse(node.value))
