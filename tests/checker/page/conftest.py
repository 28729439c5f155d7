"""What tests in a browser share: the browser, its console, and a run to show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from statewalk import Run, check
from tests.checker.page.browser import Browser
from tests.places import ROOT


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def quiet(browser: Browser) -> Iterator[None]:
    """Whatever is done, the console of the browser stays empty."""
    browser.said.clear()
    yield
    assert [] == browser.said


@pytest.fixture(scope="module")
def run() -> Run:
    """A run of InitPid that finds the epoch that is not raised."""
    spec = str(ROOT / "models/kafka/init_pid.py")
    return check(spec, {"BROKERS": 1, "MUTANT": "no_epoch_bump"}, engine="reference")
