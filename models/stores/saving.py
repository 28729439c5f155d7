"""Differences on disk, and which of them may be added up after a crash.

What an epoch came to is determined by the log, so that it can be loaded instead of being computed
again; as long as it is what was written.
"""

from statewalk import Record, mutant
from statewalk.models.stores.resolution import Resolution


class Saved(Record):
    """The result of an epoch on disk; its checksum is right unless it was damaged."""

    epoch: int
    resolution: Resolution
    sound: bool = True


def usable(saved: list[Saved]) -> list[Saved]:
    """The saved differences from the first epoch up to one that is damaged or missing."""
    found: list[Saved] = []
    for one in saved:
        if one.epoch != len(found) or not one.sound:
            break
        found.append(one)
    return found


# -- mutants ---------------------------------------------------------------------------------------
@mutant(usable)
def no_checksum(saved: list[Saved]) -> list[Saved]:
    """Saved differences are taken as they are found, as long as none is missing."""
    there = [one.epoch for one in saved]
    return [one for at, one in enumerate(saved) if there[: at + 1] == list(range(at + 1))]


@mutant(usable)
def in_their_order(saved: list[Saved]) -> list[Saved]:
    """The sound ones are added up, whichever epochs they are of."""
    return [one for one in saved if one.sound]
