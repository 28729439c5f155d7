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
