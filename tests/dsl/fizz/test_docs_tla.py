"""The spec shown in docs/how-to/tla.md gives the states that the page counts."""

import re
from pathlib import Path

from statewalk import check
from tests.places import ROOT

PAGE = (ROOT / "docs" / "how-to" / "tla.md").read_text(encoding="utf-8")


def test_the_python_action_of_the_page_has_nine_states(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "send.py"
    path.write_text(text, encoding="utf-8")

    result = check(path, engine="reference")

    assert ("holds", 9) == (result.verdict, result.counts.distinct)


def test_a_network_has_the_states_of_its_table(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```python net.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "net.py"
    path.write_text(text, encoding="utf-8")
    rows = re.findall(r"^ *(kept|bag|fifo) +(\w+) +(\d+) +(\d+) +(\d+)", PAGE, re.MULTILINE)

    for kind, verdict, *counts in rows:
        found = check(path, {"NETWORK": kind}, keep_going=True, engine="reference")
        said = [found.counts.distinct, found.counts.generated, found.counts.depth]
        assert (verdict, counts) == (found.verdict, [str(n) for n in said])
    assert ["kept", "bag", "fifo"] == [kind for kind, *_ in rows]
