"""The notebook of the documentation runs, and shows what comes out."""

from __future__ import annotations

from tests.docs.notebook import code_cells, outputs, read


def test_the_tutorial_shows_what_its_cells_give() -> None:
    notebook = read()

    for cell, found in zip(code_cells(notebook), outputs(notebook), strict=True):
        page = "explore()" in "".join(cell["source"])
        assert cell["outputs"] == ([] if page else found), "python -m tests.docs.notebook"
        assert not page or "<iframe" in found[0]["data"]["text/html"][0]
