"""Prints the structure of the sources in one line: ``python -m tests.architecture.report``."""

from functools import cache
from pathlib import Path

from tests.architecture.sources import circles, folder_graph, module_graph
from tests.places import ROOT


def structure(root: Path) -> str:
    """Return the numbers of files, folders, floors, arrows between folders, and circles.

    A folder's floor is one above the highest that it imports; files beside folders count as one.
    """
    files, folders = module_graph(root), folder_graph(root)
    round_files, round_folders = circles(files), circles(folders)
    inside = {name for circle in round_folders for name in circle}

    @cache
    def floor(folder: str) -> int:
        return 1 + max((floor(below) for below in folders[folder] - inside), default=0)

    floors = max((floor(folder) for folder in folders), default=0)
    arrows = sum(map(len, folders.values()))
    return (
        f"structure: {len(files)} files, {len(folders)} folders on {floors} floors, "
        f"{arrows} arrows, {len(round_files) + len(round_folders)} circles"
    )


if __name__ == "__main__":
    print(structure(ROOT))
