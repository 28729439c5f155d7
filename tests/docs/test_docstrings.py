"""Examples in docstrings of the product give what the docstrings show."""

from __future__ import annotations

import doctest
import importlib
import re

import pytest

from tests.places import ROOT

SHOWN = re.compile(r"^\s*>>> ", re.MULTILINE)
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("dsl", "checker", "models")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if SHOWN.search(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_give_what_is_shown(name: str) -> None:
    said: list[str] = []
    module = importlib.import_module(f"statewalk.{name}")
    examples = [e for e in doctest.DocTestFinder().find(module, name) if e.examples]
    for example in examples:
        doctest.DocTestRunner(verbose=False).run(example, out=said.append)

    assert examples
    assert "" == "".join(said)
