"""Static rules: mistakes that can be seen in the text, all of a file in one pass."""

from __future__ import annotations

from dsl.errors import Mistakes
from dsl.tree import SpecTree


def check_tree(tree: SpecTree, mistakes: Mistakes) -> None:
    """Add every mistake of a spec."""
