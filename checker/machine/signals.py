"""Requests to end a program: Ctrl-C, SIGTERM, and the end of its terminal."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from statewalk.checker.machine.streams import let_go_of_the_terminal

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers

HANG_UP = getattr(signal, "SIGHUP", None)  # of a terminal; not everywhere
ENDING = tuple(n for n in (signal.SIGINT, signal.SIGTERM, HANG_UP) if n is not None)
ONCE = 0.5  # seconds in which several are one: a terminal sends to parent and child
INCONCLUSIVE = 3  # the exit code, as `checker.verdict.exits` has it


def handle(handler: Handler) -> dict[int, Any]:
    """Handle those that are not ignored, as under nohup; what each of them did before."""
    before = {number: signal.getsignal(number) for number in ENDING}
    before = {number: was for number, was in before.items() if was is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    return before


def restore(before: dict[int, Any]) -> None:
    """Let signals do again what they did before."""
    for number, handler in before.items():
        signal.signal(number, handler)


class Stop:
    """Handles what asks the program to end: one KeyboardInterrupt, however many signals come at
    once.
    """

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if number == HANG_UP:
            let_go_of_the_terminal()
        now = time.monotonic()
        if now - self.at > ONCE:
            self.at = now
            raise KeyboardInterrupt
