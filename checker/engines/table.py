"""The table of engines: what each is called, where it lives, what it can do, which to take."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from statewalk.checker.contract.saved import begin_anew
from statewalk.checker.contract.stops import COUNTED, counted_bounds
from statewalk.checker.engines import reference
from statewalk.checker.machine.extras import is_there, missing
from statewalk.dsl.errors import EngineError, RunError, did_you_mean

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Engine, Exploration, Progress, SearchOptions
    from statewalk.checker.engines.reference import Steps
    from statewalk.dsl.model import Model


@dataclass(frozen=True)
class EngineEntry:
    """One engine. ``needs`` are packages without which it cannot run.

    ``compares_states`` tells that it keeps whole states, so that no fingerprint can hide one.
    """

    name: str
    module: str
    needs: tuple[str, ...] = ()
    memory: bool = False
    compares_states: bool = False


ENGINES: dict[str, EngineEntry] = {
    e.name: e
    for e in (
        EngineEntry(
            "native",
            "statewalk.checker.disk",
            ("numba",),
            memory=True,
        ),
        EngineEntry("reference", "statewalk.checker.engines.reference", compares_states=True),
        EngineEntry("replaying", "statewalk.checker.replaying", compares_states=True),
        EngineEntry("spark", "statewalk.checker.spark", ("pyspark",)),
    )
}
NAMES = ("auto", *ENGINES)


def choose(name: str, model: Model, options: SearchOptions) -> tuple[EngineEntry, Engine]:
    """Return the engine to search with; ``auto`` takes the native one, which begins in plain
    Python, and the one that replays where nothing can be compiled.

    Raises:  RunError[SW307] for an engine that is not known, not there, or not able.
    """
    if name == "auto":
        if not unable(ENGINES["native"], model, options):
            return ENGINES["native"], SmallFirst(load_engine(ENGINES["native"]))
        return ENGINES["replaying"], load_engine(ENGINES["replaying"])
    if name not in ENGINES:
        raise RunError("SW307", f"There is no engine {name}. {did_you_mean(name, NAMES)}")
    entry = ENGINES[name]
    if reason := unable(entry, model, options):
        raise RunError("SW307", f"The {name} engine cannot do this: {reason}.")
    return entry, load_engine(entry)


def unable(entry: EngineEntry, model: Model, options: SearchOptions) -> str:
    """Return why an engine cannot do a search, in words; empty where it can.

    An engine may offer ``unable(model, options) -> str`` for what only it knows.
    """
    for package in entry.needs:
        if not is_there(package):
            lack = missing(package, "it")
            return f"{lack.message.rstrip('.')}: {lack.help}"
    own = getattr(import_module(entry.module), "unable", None)
    return str(own(model, options) or "") if own is not None else ""


def load_engine(entry: EngineEntry) -> Engine:
    """Return the engine's module. Raises EngineError[SW902]."""
    try:
        return cast("Engine", import_module(entry.module))
    except ImportError as error:
        raise EngineError("SW902", f"The {entry.name} engine cannot be loaded: {error}.") from error


SECONDS = 0.6
"""Of a processor that a search may take in plain Python; loading the compiled code takes more."""
STATES = 20_000
"""That it may have met by then."""
_SOON = 0.05  # seconds after which the speed of a search is known


class Allowance:
    """The budget of work in plain Python. ``used_up`` once it is clear that more is needed,
    which may be before it was done.
    """

    def __init__(self) -> None:
        self.began = time.process_time()
        self.used_up = False

    def look(self, known: int, left: int) -> bool:
        """Return whether it is used up, with so many states known, ``left`` of them not
        expanded.
        """
        spent = time.process_time() - self.began
        whole = spent * known / max(1, known - left) if spent > _SOON else spent
        self.used_up = self.used_up or whole > SECONDS or known > STATES
        return self.used_up

    def limited(self, options: SearchOptions) -> SearchOptions:
        """Return options of a search that ends when this is used up."""

        def told(progress: Progress) -> None:
            self.look(progress.distinct, progress.queue)
            if options.on_progress is not None:
                options.on_progress(progress)

        def interrupted() -> bool:
            return self.look(1, 0) or options.interrupted()

        return replace(options, on_progress=told, interrupted=interrupted, checkpoint=None)


@dataclass(frozen=True)
class Kept:
    """The knowledge about a model's steps of a search that ended in plain Python. ``whole``: the
    graph is built of it, whatever that takes.
    """

    model: Model
    steps: Steps
    whole: bool = False

    def steps_of(self, model: Model) -> Steps:
        """Return the steps as far as they are those of a model, with all its states told apart."""
        layout = self.steps.layout
        same = model.actions is self.model.actions and not model.step_constraints
        if layout is None or layout.symmetry is not None or not same or layout.fingerprints.view:
            return reference.Steps()
        return self.steps


@dataclass(frozen=True)
class SmallFirst:
    """An engine: the reference engine, and ``large`` where there is more to do."""

    large: Engine

    def explore(self, model: Model, options: SearchOptions) -> Exploration:
        """See `checker.contract.search`."""
        if options.resume or options.max_memory is not None:  # the other one knows of these
            return self.large.explore(model, options)
        started = time.monotonic()

        def rest() -> SearchOptions:
            if options.timeout is None:
                return options
            left = options.timeout - (time.monotonic() - started)
            return replace(options, timeout=max(0.001, left))

        if options.checkpoint is None or begin_anew(options.checkpoint):
            allowance = Allowance()
            steps = reference.Steps()
            found = reference.explored(model, allowance.limited(options), steps)
            if not allowance.used_up and _is_enough(found, options):
                statistics = {**found.statistics, "small": True}
                kept = Kept(model, steps)
                return replace(found, engine="native", statistics=statistics, kept=kept)
            explore = getattr(self.large, "explore_uncompiled", None)
            quick = None
            if explore and not (options.checkpoint and any(counted_bounds(options).values())):
                quick = explore(model, replace(rest(), checkpoint=None))
            if quick is not None and _is_enough(quick, options):
                return cast("Exploration", quick)
        return self.large.explore(model, rest())


def _is_enough(found: Exploration, options: SearchOptions) -> bool:
    """Return whether nothing is left to do: what a bound has cut is saved, by who can. What a clock
    or a hand has ended is as soon begun anew.
    """
    return options.checkpoint is None or found.stopped not in COUNTED
