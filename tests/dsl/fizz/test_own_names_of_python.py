"""A name of the file's own that is also one of Python's: what the translation brings along keeps
its meaning.
"""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.fizz.convert import convert
from statewalk.dsl.fizz.rules.allowed import OWN, VALUES
from tests.cases import some

SPEC = """---
options:
  crash_on_yield: false
  max_concurrent_actions: 1
action_options:
  A:
    max_actions: 2
  R.Turn:
    max_actions: 1
---
TOP
role R:
    action Init:
        self.x = 0
    atomic action Turn:
        ONE
        self.x = 1 - self.x
        return self.x
action Init:
    n = 0
    d = {1: "a", 2: "b"}
    s = genericset([1])
    f = MADE
    r = R()
action A:
    require n < 2
    oneof:
        n = 1
        n = n + 2
    parallel:
        n = n + 1
        n = n * 2
atomic action B:
    LOCAL
    for k in d.keys():
        n = k
    oneof v in d.values():
        for w in [k for k in d.keys()]:
            n = w
atomic action C:
    parallel for k in [1, 2]:
        oneof v in [k, n]:
            n = v % 2
always assertion Small:
    return n < 3
always assertion Told:
    return n + 1
exists assertion Given:
    return __returns__ != {}
"""
KINDS = {
    "function": {"TOP": "func OWN(x):\n    return [7]", "ONE": "y = OWN(3)"},
    "def": {"TOP": "def OWN(x):\n    return 7", "MADE": "OWN([])"},
    "constant": {"TOP": "OWN = 3"},
    "lambda": {"TOP": "OWN = lambda x: 5", "LOCAL": "for k in [1]:\n        n = OWN(3)"},
    "local": {"LOCAL": "OWN = [5, 6]"},
    "state": {"MADE": "2\n    OWN = 1", "LOCAL": "OWN = 3 - OWN"},
    "parameter": {"TOP": "func f_(OWN):\n    return [OWN]", "ONE": "y = f_(3)"},
    "field": {"ONE": "self.OWN = 2\n        self.x = self.OWN - 2"},
    "role": {"TOP": "role OWN:\n    action Init:\n        self.z = 0", "MADE": "OWN(z=4)"},
}
CHOICES = [(kind, "any") for kind in ("function", "def", "lambda", "role")]  # n = any(...)
ALL = ((kind, own) for own in sorted(VALUES) for kind in KINDS)
PAIRS = some((pair for pair in ALL if pair not in CHOICES), every=400)
OF_VARIABLES = ("local", "state", "parameter", "field")
OWNS = some(((kind, own) for own in sorted(OWN) for kind in OF_VARIABLES), every=80)


def found(folder: Path, kind: str, own: str) -> tuple[object, ...]:
    """Verdicts and counts of the spec with a name of its own."""
    text = SPEC
    for word in ("TOP", "ONE", "LOCAL", "MADE"):
        text = text.replace(word, KINDS[kind].get(word, {"TOP": "", "MADE": "0"}.get(word, "pass")))
    path = folder / "spec.fizz"
    path.write_text(text.replace("OWN", own))
    try:
        run = check(path, engine="reference", keep_going=True)
    except StatewalkError as error:
        return (error.code,)
    again = folder / "converted.py"
    again.write_text(convert(str(path)))
    converted = check(again, engine="reference", keep_going=True)
    assert run.counts == converted.counts
    return (run.counts, [(p.name, p.verdict) for p in run.result.properties])


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "own"), PAIRS)
def test_a_name_of_pythons_is_as_good_as_any(kind: str, own: str, tmp_path: Path) -> None:
    assert found(tmp_path, kind, "own") == found(tmp_path, kind, own)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "own"), OWNS)
def test_a_variable_may_be_called_like_what_the_language_has_not(
    kind: str, own: str, tmp_path: Path
) -> None:
    assert found(tmp_path, kind, "own") == found(tmp_path, kind, own)


@pytest.mark.parametrize(
    ("kind", "own"),
    [("function", "open"), ("constant", "open"), ("lambda", "eval"), ("role", "vars")],
)
def test_a_name_of_the_module_is_not(kind: str, own: str, tmp_path: Path) -> None:
    assert ("SW155",) == found(tmp_path, kind, own)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "body",
    [
        "open = 1\n    n = open('MARK')",
        "if n > 3:\n        open = 1\n    n = open('MARK')",
        "if n > 3:\n        open = 1\n    f = open\n    n = f('MARK')",
        "for open in []:\n        pass\n    n = list(sorted(['MARK'], key=open))[0]",
        "n = [open for open in []] + [open('MARK')]",
        "n = [open for open in []] + [open]",
    ],
)
def test_a_name_of_a_variable_without_a_value_leads_nowhere(body: str, tmp_path: Path) -> None:
    path, mark = tmp_path / "spec.fizz", tmp_path / "mark"
    text = f"action Init:\n    n = 0\naction A:\n    {body}\n"
    path.write_text(text.replace("MARK", str(mark)))
    again = tmp_path / "converted.py"

    codes = [""]
    try:
        again.write_text(convert(str(path)))
        codes += [check(spec, engine="reference").verdict for spec in (path, again)]
    except StatewalkError as error:
        codes = [error.code]

    assert codes in (["", "error", "error"], ["SW155"], ["SW153"])
    assert not mark.exists()
