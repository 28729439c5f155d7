"""What a running search shows: a block of lines that is refreshed on a terminal, else a line now
and then.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING

from statewalk.checker.report.page import number
from statewalk.checker.states.shortening import cut
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Progress

_BARS = "▁▂▃▄▅▆▇█"
_REFRESH = 0.2
_QUIET = 10.0
_FIRST = 1.0
_UNITS = ((1e9, " G"), (1e6, " M"), (1e3, " k"))
_TREND = 3
COMPILING = "compiling the engine, once: later checks start at once\n"


class ProgressBlock:
    """Called with each `Progress`; `tick` keeps the clock going in between, `close` cleans up."""

    def __init__(self, file: IO[str], title: str, actions: Mapping[int, str] | None = None) -> None:
        self.file = file
        self.title = title
        self.actions = actions or {}
        self.live = file.isatty() and os.environ.get("TERM") != "dumb"
        self.started = self.shown_at = time.monotonic()
        self.shown_lines = 0
        self.last: Progress | None = None
        self.told_compiling = False
        self.warned: set[str] = set()

    def __call__(self, progress: Progress) -> None:
        """Note where the search is, and show it when it is time to; warnings at once."""
        self.last = progress
        for text in progress.warnings:
            if text not in self.warned:
                self.warned.add(text)
                self.close()
                self.file.write(printable(f"warning: {text}\n"))
                self.file.flush()
        self.tick()

    def tick(self) -> None:
        """Show where the search is, when it is time to."""
        now = time.monotonic()
        wait = _REFRESH if self.live else _QUIET
        if now - self.shown_at < wait or now - self.started < _FIRST:
            return
        self.shown_at = now
        lines = [printable(line) for line in self.lines(now - self.started)]
        if not self.live:
            said = f"{clock(now - self.started)} {lines[1].strip()}" if self.last else lines[0]
            if self.last and self.last.saved:
                said += f" · saved {self.last.saved}"
            self.file.write(said + "\n")
        else:
            self._erase()
            self.file.write("\n".join(cut(line, self._width()) for line in lines) + "\n")
            self.shown_lines = len(lines)
        self.file.flush()

    def close(self) -> None:
        """Remove the block."""
        if self.live:
            self._erase()
            self.file.flush()

    def _erase(self) -> None:
        if self.shown_lines:
            self.file.write(f"\x1b[{self.shown_lines}A\x1b[J")
            self.shown_lines = 0

    def _width(self) -> int:
        import shutil

        return shutil.get_terminal_size().columns - 1

    def lines(self, seconds: float) -> list[str]:
        """The text of the block."""
        result = [f"{clock(seconds)}  checking {self.title}"]
        p = self.last
        if p is None:
            return result
        rate = p.generated / p.seconds if p.seconds > 0 else 0.0
        parts = [
            f" depth {p.level}",
            f"{short(p.generated)} generated ({short(p.distinct)} distinct)",
            f"queue {short(p.queue)} {bars(p.levels)} {trend(p.levels)}".rstrip(),
            f"{short(rate)}/s",
        ]
        if p.memory:
            parts.append(f"mem {p.memory / (1 << 30):.1f} GB")
        if not self.live:
            return [*result, " · ".join(parts)]
        result += self._packed("", parts) + self._packed(" hot: ", self._hot(p))
        result.append(f" {estimate(p.levels, rate, p)}")
        if p.saved:
            result.append(f" saved: {p.saved}")
        return result

    def _packed(self, head: str, parts: list[str]) -> list[str]:
        """Parts on as many lines as they need."""
        lines: list[str] = []
        for part in parts:
            longer = f"{lines[-1]} · {part}" if lines else head + part
            if lines and len(longer) > self._width():
                lines.append(" " * max(1, len(head)) + part)
            else:
                lines[-1:] = [longer]
        return [cut(line, self._width()) for line in lines]

    def compiling(self) -> None:
        """Say once that nothing moves because kernels are compiled."""
        if not self.told_compiling:
            self.told_compiling = True
            self._erase()
            self.file.write(COMPILING)
            self.file.flush()

    def _hot(self, progress: Progress) -> list[str]:
        """The actions that make most of the new states, and the variable with most values."""
        sums: dict[str, int] = {}
        for index, count in progress.fresh.items():
            if index in self.actions:
                sums[self.actions[index]] = sums.get(self.actions[index], 0) + count
        total = sum(sums.values())
        most = sorted(sums.items(), key=lambda item: -item[1])[:2]
        parts = [f"{name} {100 * n // total} %" for name, n in most if total]
        parts[:1] = [f"{part} of new states" for part in parts[:1]]
        if progress.widest is not None:
            name, values = progress.widest
            parts.append(f"widest variable: {name} ({short(values)} distinct values)")
        return parts


def clock(seconds: float) -> str:
    """``00:01:42``"""
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def short(n: float) -> str:
    """``12.9 M``"""
    for size, unit in _UNITS:
        if n >= size:
            return f"{n / size:.1f}{unit}"
    return number(int(n))


def bars(levels: tuple[int, ...]) -> str:
    """The sizes of the last levels as little bars."""
    last = levels[-len(_BARS) :]
    top = max(last, default=0) or 1
    return "".join(_BARS[min(7, n * 7 // top)] for n in last)


def trend(levels: tuple[int, ...]) -> str:
    """Whether the frontier grows."""
    if len(levels) < _TREND:
        return ""
    a, b, c = levels[-_TREND:]
    return "growing" if a < b < c else "falling" if a > b > c else ""


def estimate(levels: tuple[int, ...], rate: float, progress: Progress) -> str:
    """What the last levels say about the end: a guess, and called one."""
    if trend(levels) != "falling" or rate <= 0:
        return "frontier is not shrinking: no estimate"
    a, _, c = levels[-_TREND:]
    ratio = (c / a) ** 0.5
    left = c * ratio / (1 - ratio) if ratio < 1 else 0.0
    factor = progress.generated / max(1, progress.distinct)
    return (
        f"frontier is shrinking by {100 * (1 - ratio):.0f} % per level: "
        f"about {clock(left * factor / rate)} if that holds (a guess)"
    )
