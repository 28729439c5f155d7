"""The specs shown in docs/reference/fizz.md give what they say."""

import re
from pathlib import Path

import pytest

from statewalk import check
from tests.conformance.fizzbee_counts import unique_states
from tests.places import ROOT

PAGE = (ROOT / "docs" / "reference" / "fizz.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"^```fizz\n# check -> (\w+)([^\n]*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
)


def test_every_block_says_what_it_gives() -> None:
    assert PAGE.count("```fizz") == len(BLOCKS) > 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("verdict", "rest", "text"), BLOCKS)
def test_shown_specs_give_what_they_say(verdict: str, rest: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "shown.fizz"
    path.write_text(text, encoding="utf-8")
    words = rest.split()
    names = [w for w in words if "=" not in w]
    numbers = dict(w.split("=") for w in words if "=" in w)

    result = check(path, engine="reference")

    lengths = {p.name: p.length for p in result.properties if p.verdict == "violated"}
    assert (verdict, set(names)) == (result.verdict, set(lengths))
    found = {"distinct": result.counts.distinct, "unique": unique_states(path)}
    found["length"] = lengths[names[0]] if names else None
    assert {name: int(value) for name, value in numbers.items()} == {n: found[n] for n in numbers}
