"""The table of engines: what each is called, where it lives, what it can do, which to take."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from statewalk.checker.engines.small import SmallFirst
from statewalk.checker.machine.extras import is_there, missing
from statewalk.dsl.errors import EngineError, RunError, did_you_mean

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Engine, SearchOptions
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
        EngineEntry("spark", "statewalk.checker.spark", ("pyspark",)),
    )
}
NAMES = ("auto", *ENGINES)


def choose(name: str, model: Model, options: SearchOptions) -> tuple[EngineEntry, Engine]:
    """The engine to search with; ``auto`` takes the first of the table's that is able, which begins
    in plain Python.

    Raises:  RunError[SW307] for an engine that is not known, not there, or not able.
    """
    if name == "auto":
        if not unable(ENGINES["native"], model, options):
            return ENGINES["native"], SmallFirst(load_engine(ENGINES["native"]))
        if not unable(ENGINES["reference"], model, options):
            return ENGINES["reference"], load_engine(ENGINES["reference"])
        reason = unable(ENGINES["reference"], model, options)
        raise RunError("SW307", f"No engine can do this: {reason}.")
    if name not in ENGINES:
        raise RunError("SW307", f"There is no engine {name}. {did_you_mean(name, NAMES)}")
    entry = ENGINES[name]
    if reason := unable(entry, model, options):
        raise RunError("SW307", f"The {name} engine cannot do this: {reason}.")
    return entry, load_engine(entry)


def unable(entry: EngineEntry, model: Model, options: SearchOptions) -> str:
    """Why an engine cannot do a search, in words; empty where it can.

    An engine may offer ``unable(model, options) -> str`` for what only it knows.
    """
    for package in entry.needs:
        if not is_there(package):
            lack = missing(package, "it")
            return f"{lack.message.rstrip('.')}: {lack.help}"
    own = getattr(import_module(entry.module), "unable", None)
    return str(own(model, options) or "") if own is not None else ""


def load_engine(entry: EngineEntry) -> Engine:
    """The engine's module. Raises EngineError[SW902]."""
    try:
        return cast("Engine", import_module(entry.module))
    except ImportError as error:
        raise EngineError("SW902", f"The {entry.name} engine cannot be loaded: {error}.") from error
