"""Python habits and typing errors in .fizz text: reported with place and remedy."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.cli import main
from statewalk.dsl.errors import SpecError

INIT = "action Init:\n    n = 0\n"
UP = "atomic action Up:\n    require n < 3\n    n = n + 1\n"
IN = INIT + "atomic action A:\n    "
DONE = " Done:\n    return n == 3\n"
ROLE = "role Node:\n    action Init:\n        self.x = 0\naction Init:\n    nodes = []\n    "

# text, place, code, what is said, what helps
MISTAKES = [
    ("import os\n" + INIT, "1:1", "SW150", "imports nothing", "copied into this one"),
    ("from m import x\n" + INIT, "1:1", "SW150", "imports nothing", "copied into this one"),
    ("class Node:\n    x = 1\n" + INIT, "1:1", "SW150", "no classes", "role Node:"),
    (IN + "try:\n        n = 1\n", "4:5", "SW150", "no exceptions to catch", "if key in d"),
    (IN + "raise ValueError\n", "4:5", "SW150", "no exceptions to raise", "fail('...')"),
    (IN + "with atomic():\n        n = 1\n", "4:5", "SW150", "no 'with'", "atomic:"),
    (IN + "assert n < 3\n", "4:5", "SW150", "no 'assert'", "require x"),
    (IN + "del n\n", "4:5", "SW150", "no 'del'", "d.pop(key)"),
    (IN + "from = 1\n", "4:5", "SW150", "'from' is a reserved word", ""),
    (IN + "n = class\n", "4:9", "SW150", "'class' is a reserved word", ""),
    (IN + "global n\n", "4:5", "SW150", "no 'global'", "Init"),
    (IN + "yield\n", "4:5", "SW150", "ends by itself", "atomic"),
    (IN + "else:\n        n = 1\n", "4:5", "SW150", "There is no 'if' above", "Indent it"),
    (INIT + "eventualy always assertion" + DONE, "3:1", "SW150", "'eventualy'", "'eventually'?"),
    (INIT + "alway assertion" + DONE, "3:1", "SW150", "'alway'", "'always'?"),
    (INIT + "always asertion" + DONE, "3:8", "SW150", "'asertion'", "'assertion'?"),
    (INIT + "assertion" + DONE, "3:1", "SW150", "in which states it must hold", "always assertion"),
    (INIT + "invariant" + DONE, "3:1", "SW150", "'invariant'", "'always assertion'?"),
    (INIT + "atomic acton Up:\n    n = 1\n", "3:8", "SW150", "'acton'", "'action'?"),
    (INIT + "atomc action Up:\n    n = 1\n", "3:1", "SW150", "'atomc'", "'atomic'?"),
    (INIT + "funct f(x):\n    return x\n", "3:1", "SW150", "'funct'", "'func'?"),
    (INIT + "def action Up():\n    n = 1\n", "3:1", "SW150", "'def' before 'action'", "atomic"),
    (INIT + "fair atomic action A:\n    n = 1\n", "3:6", "SW150", "come before 'fair'", "fair"),
    (INIT + "action A():\n    n = 1\n", "3:9", "SW150", "no parameters", "without parentheses"),
    (INIT + "action A(x):\n    n = x\n", "3:9", "SW150", "no parameters", "x = oneof"),
    ("role R(x):\n    action Init:\n        pass\n", "1:7", "SW150", "no parameters", "self."),
    ("refine:\n    Abstract\n" + INIT, "1:1", "SW152", "'refine:' combines", ""),
    ("refine: abstract.fizz\n" + INIT, "1:1", "SW152", "'refine:' combines", ""),
    ("compose:\n    a: b: c\n" + INIT, "1:1", "SW152", "'compose:' combines", ""),
    (IN + "oneof x in [1]\n        n = x\n", "4:5", "SW150", "before its colon", "oneof x in S:"),
    (IN + "require n < 1 && n > 0\n", "4:19", "SW150", "operator '&&'", "and"),
    (IN + "require n < 1 || n > 0\n", "4:19", "SW150", "operator '||'", "or"),
    (IN + "require !n\n", "4:13", "SW150", "operator '!'", "not"),
    (IN + "n = n > 1 ? 1 : 2\n", "4:15", "SW150", "operator '?'", "if condition else"),
    (IN + "n++\n", "4:6", "SW150", "operator '++'", "n += 1"),
    (UP, "2:13", "SW153", "'n' is read before", "no action Init"),
    ("always assertion P:\n    return n < 3\n", "2:12", "SW153", "no name 'n'", "no action Init"),
    ("action init:\n    n = 0\n" + UP, "4:13", "SW153", "'n' is read before", "not 'init'"),
    (ROLE + "nodes.append(Nod())\n", "6:18", "SW153", "no name 'Nod'", "'Node'?"),
    ("action Init:\n    n = zero\n", "2:9", "SW153", "no name 'zero'", "There are: n"),
    ("action Init:\n    n = Flase\n", "2:9", "SW153", "no name 'Flase'", "'False'?"),
    ("action Init:\n    n = true\n", "2:9", "SW153", "no name 'true'", "'True'?"),
    ("action Init:\n    n = null\n", "2:9", "SW153", "no name 'null'", "None"),
    ("action Init:\n    n = lenn([])\n", "2:9", "SW153", "no name 'lenn'", "'len'?"),
    ("ZERO = 0\naction Init:\n    n = ZER\n", "3:9", "SW153", "no name 'ZER'", "'ZERO'?"),
    (IN + "require m < 3\n", "4:13", "SW153", "no name 'm'", ""),
    (IN + "k = k + 1\n", "4:9", "SW153", "'k' is read before it has a value", ""),
    (IN + "self.n = 1\n", "4:5", "SW153", "outside of roles", ""),
    (INIT + "def f():\n    return n\n", "4:12", "SW153", "'n' is shared state", "func"),
    (INIT + "def f():\n    n = n + 1\n", "4:9", "SW153", "'n' is shared state", "func"),
    (INIT + "K = n\n", "3:5", "SW153", "'n' is shared state", "Init"),
    (INIT + "load('lib.star', 'f')\n", "3:1", "SW153", "loads no modules", "Copy"),
    (IN + "require isinstance(n, int)\n", "4:13", "SW155", "function of Python's", "type(x)"),
    (IN + "n = round(1.5)\n", "4:9", "SW155", "function of Python's", "math.floor"),
    (IN + "n = record(up=1)\n    n = n.upp\n", "5:11", "SW101", "'upp'", "'up'?"),
    (ROLE + "nodes.apend(1)\n", "6:11", "SW101", "'apend'", "'append'?"),
    ("D = {1: 2}\nK = D[3]\n" + INIT, "2:5", "SW303", "KeyError", ""),
    ("def f(x):\n    return x\nK = f(1, 2)\n" + INIT, "3:5", "SW303", "TypeError", ""),
    ("K = 1 + 'a'\n" + INIT, "1:5", "SW303", "TypeError", ""),
    ("action Init:\n    n = [1][3]\n", "2:9", "SW303", "IndexError", ""),
    ("action Init:\n    n = 1 + 'a'\n", "2:9", "SW303", "TypeError", ""),
    ("action Init:\n    d = {}\n    n = d['a']\n", "3:9", "SW303", "KeyError", ""),
    ("func f(x):\n    return x\naction Init:\n    n = f(1, 2)\n", "4:9", "SW303", "TypeError", ""),
    ("action Init:\n    n = int('x')\n", "2:9", "SW303", "ValueError", ""),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "place", "code", "said", "help"), MISTAKES)
def test_a_mistake_is_told_with_its_place_and_a_way_out(
    text: str, place: str, code: str, said: str, help: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.fizz"
    path.write_text(text)

    with pytest.raises(SpecError) as caught:
        check(path)

    error = caught.value
    assert error.at is not None
    assert (code, place) == (error.code, f"{error.at.line}:{error.at.column}")
    assert said in error.message
    assert help in error.help + error.message
    assert "^" in str(error)


def test_a_mistake_in_init_is_not_a_bug_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.fizz"
    path.write_text("action Init:\n    n = [1][3]\naction A:\n    pass\n")

    assert 2 == main(["check", str(path)])
    assert "SW303 IndexError while computing the initial state" in capsys.readouterr().err


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "text",
    [
        "for i in [1, 2]:\n        if i > 1:\n            n = k\n        k = i\n",
        "if n > 0:\n        k = 1\n    else:\n        k = 2\n    n = k\n",
        "k = oneof [k for k in [1, 2]]\n    n = k\n",
        "n = max([1, 2], key=lambda v: -v)\n",
        "for _ in range(2):\n        n = 1\n",
        "def double(v):\n        return v * 2\n    n = double(1)\n",
        "n = len('{} {a}'.format(1, a=2))\n",
        "n = getattr(record(a=1), 'b', 2)\n",
        "n = record(**{'size': 1}).size\n",
        "n = int(math.floor(1.5))\n",
        "n = len(list(itertools.product([1], [2])))\n",
        "n = 1 if type(n) == 'int' else 2\n",
    ],
)
def test_what_is_right_is_not_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.fizz"
    path.write_text("---\ndeadlock_detection: false\n---\n" + IN + "require n == 0\n    " + text)

    assert "holds" == check(path).verdict
