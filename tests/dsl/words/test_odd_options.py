"""Arguments of a wrong type to the words of a spec are refused in place."""

from pathlib import Path

import pytest

from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """from statewalk import *
class C(Role{of}):
    n: int = 0
    @action{action}
    def up(self) -> Flow[None]:
        require(self.n < 2)
        yield
        self.n += 1
c = C()
{above}
@always
def p() -> bool:
    return c.n == 0
{below}
"""
NO_TEXT = ["3", "''", "['weak']", "object()", "True"]
NO_COUNT = ["None", "'x'", "-1", "2.5", "True", "float('nan')", "int"]
NO_TRUTH = ["None", "0", "'x'", "[]", "int"]
NO_FAIRNESS = ["'Weak'", "''", "False", "['weak']", "float('nan')"]
NO_FUNCTION = ["None", "3", "'p'", "[p]"]
WHERE = {
    "action=(fair=%s)": ["None", *NO_FAIRNESS],
    "action=(resume=%s)": NO_FAIRNESS,
    "action=(flow=%s)": ["None", *NO_FAIRNESS],
    "action=(name=%s)": NO_TEXT,
    "action=(concurrent=%s)": [*NO_COUNT, "0"],
    "action=(crash=%s)": NO_TRUTH,
    "action=(fault=%s)": NO_TRUTH,
    "action=(%s)": ["3", "'weak'"],
    "of=, symmetric=%s": NO_TRUTH,
    "above=@named(%s)": ["None", *NO_TEXT],
    "below=threads(%s)": [*NO_COUNT, "0"],
    "below=crashes(%s)": NO_TRUTH,
    "below=crashes(runs=%s)": NO_TRUTH[1:],
    "below=crashes(roles=%s)": NO_TRUTH[1:],
    "below=deadlock(%s)": NO_TRUTH,
    "below=V = symmetric_values(%s, 2)": ["None", *NO_TEXT],
    "below=V = symmetric_values('v', %s)": NO_COUNT,
    "below=L = leads_to(%s, p)": NO_FUNCTION,
    "below=L = leads_to(p, %s)": NO_FUNCTION,
    "below=L = until(%s, p)": NO_FUNCTION,
    "below=L = until(p, %s)": NO_FUNCTION,
    "below=R = refines(%s)": ["None", *NO_TEXT],
    "below=R = refines('kafka/init_pid', by=%s)": NO_FUNCTION[1:],
} | {
    f"above=@{word}(%s)": ["None", "3", "'x'", "len"]
    for word in ("always", "eventually", "exists", "on_step", "terminal", "constraint", "init")
}  # fmt: skip
CASES = [
    (where, odd) if at == 0 else slow(where, odd)
    for where, given in WHERE.items()
    for at, odd in enumerate(given)
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("where", "odd"), CASES)
def test_odd_options_are_refused_where_they_stand(tmp_path: Path, where: str, odd: str) -> None:
    part, _, text = where.partition("=")
    said = text.replace("%s", odd)
    parts = {"of": "", "action": "", "above": "", "below": "", part: said}
    path = tmp_path / "spec.py"
    path.write_text(SPEC.format(**parts))

    with pytest.raises(SpecError) as told:
        load(path)

    line = path.read_text()[: path.read_text().index(said)].count("\n") + 1
    assert told.value.at is not None
    assert ("SW119", line) == (told.value.code, told.value.at.line)


def test_resuming_is_as_fair_as_starting_where_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC.format(of="", action='(fair="weak", resume=None)', above="", below=""))

    assert ["weak", "weak"] == [action.fairness for action in load(path).actions]
