"""Long names and long texts leave room for what stands beside them, in a real browser."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from statewalk import check, page
from tests.checker.page.browser import FOUND, Browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(FOUND is None, reason="there is no chromium here"),
]

ROLE = "AWholeOwner" * 7
FIELD = "a_field_" * 12
SPEC = f"""
from statewalk import *


class {ROLE}(Role):
    text: str = ""
    {FIELD}: int = 0

    @action
    def grow(self) -> None:
        require(self.{FIELD} == 0)
        self.text = "w" * 20000
        self.{FIELD} = 1


roles = [{ROLE}() for _ in range(2)]


@always
def short() -> bool:
    return not all(role.text for role in roles)
"""


@pytest.mark.parametrize("width", [390, 1400])
def test_long_names_and_texts_leave_room(tmp_path: Path, width: int) -> None:
    spec = tmp_path / "long.py"
    spec.write_text(SPEC)
    page(check(spec, engine="reference")).save(tmp_path / "page.html")
    with Browser(tmp_path / "profile", (width, 900)) as browser:
        browser.open((tmp_path / "page.html").as_uri())
        least = browser.value(
            "Math.min(...[...document.querySelectorAll('#panel .holds')].map((e) => e.offsetWidth))"
        )
        tall = browser.value("document.querySelector('#panel').offsetHeight")
        browser.press("l")
        names = browser.value(
            "[...document.querySelectorAll('.lanenames text')]"
            ".map((e) => e.getBoundingClientRect()).map((r) => [r.left, r.right])"
        )

        assert least > 60
        assert tall < 3000
        assert all(one[1] <= other[0] for one, other in pairwise(names))
        assert [] == browser.said
