"""The system under test for scenarios made by `statewalk cover spec.py --pytest test_scenarios.py`.

`BUG=counted pytest test_scenarios.py` tries one of the bugs.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from driven import System


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    """A coordinator and participants that have done nothing yet."""
    made = System(tmp_path, os.environ.get("BUG", ""), int(os.environ.get("TRANSACTIONS", "2")))
    yield made
    made.close()
