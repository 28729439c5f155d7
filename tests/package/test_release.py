"""The files that a release needs exist; `make release` tries the rest."""

from __future__ import annotations

from tests.package.release import found, unready


def test_this_tree_could_be_released_once_it_is_committed() -> None:
    assert {*unready()} <= {"there are changes that are not committed"}


def test_a_python_that_is_not_there_is_none() -> None:
    assert found("2.0") is None
