"""The example of docs/explanation/liveness.md does what the page says."""

import re
from pathlib import Path

from statewalk import check
from tests.places import ROOT

PAGE = (ROOT / "docs/explanation/liveness.md").read_text(encoding="utf-8")


def test_the_example_holds_for_each_client(tmp_path: Path) -> None:
    found = re.search(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    file = tmp_path / "lock.py"
    file.write_text(found[1])
    result = check(file)

    assert {"served(Client#0)": "holds", "served(Client#1)": "holds", "free": "holds"} == {
        p.name: p.verdict for p in result.properties if p.kind != "deadlock"
    }


def test_weaker_fairness_lets_a_client_starve(tmp_path: Path) -> None:
    found = re.search(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    file = tmp_path / "lock.py"
    file.write_text(found[1].replace('fair="strong"', 'fair="weak"'))
    result = check(file, properties=("served",))

    assert ["violated", "violated"] == [p.verdict for p in result.properties]
