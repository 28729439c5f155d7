"""The progress display of a search: a block of lines that is refreshed on a terminal, else a
line now and then.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from statewalk.checker.contract.search import parted
from statewalk.checker.machine.supervisor import memory_there
from statewalk.checker.report.page import Page, Segment, bars, number, plural, to_come, trend
from statewalk.checker.states.shortening import cut
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Progress
    from statewalk.checker.verdict.run import PropertyResult, Result


_REFRESH = 0.2
_QUIET = 10.0
_FIRST = 1.0
_UNITS = ((1e9, " G"), (1e6, " M"), (1e3, " k"))
_RECENTLY = 5.0  # seconds that the rate is of
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
        self.heard: deque[tuple[float, int]] = deque()  # (seconds, generated), of late

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
        """Return the text of the block."""
        result = [f"{clock(seconds)}  checking {self.title}"]
        p = self.last
        if p is None:
            return result
        rate = self._rate(p)
        parts = [
            f" depth {p.level}",
            f"{short(p.generated)} generated ({short(p.distinct)} distinct)",
            " ".join(filter(None, ("queue", short(p.queue), bars(p.levels), trend(p.levels)))),
            f"{short(rate)}/s",
        ]
        if p.memory:
            parts.append(f"mem {p.memory / (1 << 30):.1f}{_of_all()} GB")
        if p.disk:
            parts.append(f"on disk since depth {p.disk[0]}, {p.disk[1] / (1 << 30):.1f} GB")
        if not self.live:
            return [*result, " · ".join(parts)]
        result += self._packed("", parts) + self._packed(" hot: ", self._hot(p))
        if broken := dict.fromkeys(f.property for f in parted(p.findings)[0]):
            result += self._packed(" violated so far: ", [*broken])
        if said := outlook(p.levels, rate, p):
            result.append(f" {said}")
        if p.saved:
            result.append(f" saved: {p.saved}")
        return result

    def _rate(self, progress: Progress) -> float:
        """Return what was generated each second of late."""
        self.heard.append((progress.seconds, progress.generated))
        while len(self.heard) > 2 and progress.seconds - self.heard[1][0] > _RECENTLY:
            self.heard.popleft()
        (since, before), (now, generated) = self.heard[0], self.heard[-1]
        if now > since:
            return (generated - before) / (now - since)
        return generated / now if now > 0 else 0.0

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
        """Return the actions that make most of the new states, and the variable with most
        values.
        """
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


class Line:
    """Called with how far something is: says so every ten seconds."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file
        self.started = self.shown_at = time.monotonic()

    def __call__(self, said: str) -> None:
        """Say it when it is time to."""
        now = time.monotonic()
        if now - self.shown_at >= _QUIET:
            self.shown_at = now
            self.file.write(printable(f"{clock(now - self.started)} {said}\n"))
            self.file.flush()


def _of_all() -> str:
    """Return the memory of the machine, where it is known."""
    there = memory_there()
    return f" of {there / (1 << 30):.0f}" if math.isfinite(there) else ""


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


def outlook(levels: tuple[int, ...], rate: float, progress: Progress) -> str:
    """Return what the sizes of the levels say about the end: a guess, and called one; or
    nothing.
    """
    found = to_come(levels)
    if found is None or rate <= 0:
        return ""
    factor = progress.generated / max(1, progress.distinct - progress.queue)
    now = min(progress.queue, levels[-1])
    least, most = (span(int((now + states) * factor / rate)) for states in found)
    return (
        f"past the largest level: {least if least == most else f'{least} to {most}'} more (a guess)"
    )


def span(whole: int) -> str:
    """``40 s``, ``3 min``, ``2 h``: seconds, roughly."""
    if whole < 100:
        return f"{max(1, whole)} s"
    return f"{round(whole / 60)} min" if whole < 6000 else f"{round(whole / 3600)} h"


_COLUMN = 12
_STYLES = {"holds": "good", "violated": "bad", "bounded": "warn", "error": "bad"}
_COUNTS = (("distinct", ""), ("generated", ""), ("depth", "depth "), ("initial", "initial "))


def since_page(
    before: Mapping[str, Result], now: Mapping[str, Result], when: str, *, width: int = 100
) -> Page:
    """Return what is new in results since ``when``, by what each is of: empty where there is but
    one.
    """
    page = Page(width)
    page.add((f"since the check at {when}", "head"))
    for name in [*before, *(n for n in now if n not in before)]:
        if name not in now:
            _row(page, "gone", [name])
        elif name not in before:
            _row(page, "new", [name, (now[name].verdict, _STYLES[now[name].verdict])])
        else:
            rows = [*_rows(before[name], now[name])]
            if rows and name:
                page.add(f"  {name}")
            for head, items in rows:
                _row(page, head, items)
    if len(page.lines) == 1:
        page.lines[0].append(("  the same verdicts and counts", ""))
    return page


def _row(page: Page, name: str, items: Sequence[Segment | str]) -> None:
    page.flow([(f"  {name:<{_COLUMN - 2}}", "dim")], items)


def _rows(before: Result, now: Result) -> Iterator[tuple[str, Sequence[Segment | str]]]:
    if before.verdict != now.verdict:
        yield "verdict", [(f"{before.verdict} → {now.verdict}", _STYLES[now.verdict])]
    if now.verdict == "error":
        return
    if constants := [*_constants(before.constants, now.constants)]:
        yield "constants", constants
    if counts := [*_counts(before, now)]:
        yield "states", counts
    old, new = _properties(before), _properties(now)
    for name in (n for n in new if n in old):
        was, is_ = _said(old[name]), _said(new[name])
        if was != is_:
            yield "property", [f"{name}: {was} → {is_}"]
    for head, of, other in (("new", new, old), ("gone", old, new)):
        for name in (n for n in of if n not in other):
            yield head, [f"property {name}: {_said(of[name])}"]
    yield from _actions(before, now)


def _counts(before: Result, now: Result) -> Iterator[str]:
    for name, head in _COUNTS:
        old, new = getattr(before.counts, name), getattr(now.counts, name)
        if old != new:
            yield f"{head}{number(old)} → {number(new)}{'' if head else f' {name}'}"


def _constants(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*before, *now]):
        if name not in now:
            yield f"{name} is gone"
        elif name not in before:
            yield f"{name}={now[name]} is new"
        elif before[name] != now[name]:
            yield f"{name} {before[name]} → {now[name]}"


def _properties(result: Result) -> dict[str, PropertyResult]:
    return {p.name: p for p in result.properties}


def _said(found: PropertyResult) -> str:
    """Return the verdict on a property, with the length of what shows it."""
    text = str(found.verdict) + (" vacuously" if found.vacuous else "")
    if found.length is None:
        return text
    return f"{text} in {plural(found.length, 'step')}"


def _actions(before: Result, now: Result) -> Iterator[tuple[str, Sequence[Segment | str]]]:
    """Actions that came, went, or began or ceased to happen; not how often they do."""
    old, new = ({a.name: a.fired for a in result.actions} for result in (before, now))
    for head, of, other in (("new", new, old), ("gone", old, new)):
        if names := [name for name in of if name not in other]:
            yield head, [f"action {name}" for name in names]
    for name in (n for n in new if n in old):
        if bool(old[name]) != bool(new[name]):
            yield "action", [f"{name} {'fires now' if new[name] else 'does not fire any more'}"]
