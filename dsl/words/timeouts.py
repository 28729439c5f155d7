"""Timeouts without clocks. This module is written in the language, and part of each spec that
imports it (`dsl.source.clocks`).
"""

from statewalk.dsl.values.records import Record
from statewalk.dsl.words.declare import require


class Timeout(Record):
    """A timeout that may fire at any moment while it is armed: ``retry: Timeout = Timeout()``.

    Its action begins with ``self.retry.fires()``.
    """

    armed: bool = False

    def arm(self) -> None:
        """Let it fire from now on."""
        self.armed = True

    def cancel(self) -> None:
        """Let it fire no more."""
        self.armed = False

    def fires(self) -> None:
        """Disable the step unless it is armed; it is so once."""
        require(self.armed)
        self.armed = False
