"""Testing specs: which configurations they have, what came out, which need not be checked again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from statewalk.checker import api
from statewalk.checker.commands.everyday.outcomes import Outcomes
from statewalk.checker.commands.everyday.rows import WARNING, How, Job, Row, checked, line
from statewalk.checker.commands.release import VERSION
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import write_text
from statewalk.checker.machine.limits import Interruptions
from statewalk.checker.verdict import exits
from statewalk.dsl import caches
from statewalk.dsl.declared import AS_IT_IS, Configuration
from statewalk.dsl.errors import RunError, StatewalkError, one_line
from statewalk.dsl.files import read_text
from statewalk.dsl.inputs import opened_last
from statewalk.dsl.origins import UNSURE

SCHEMA = 1
_HELP = "Run the command without --config to test and list all configurations."


@dataclass
class Green:
    """The results that met expectations last time, and their inputs: spec → origins, and
    configuration → result.

    It is kept in the user's folder for caches, by the absolute path of the current folder: a file
    that lies in a checkout is not believed. What is damaged, or was found by other sources of this
    program or with other options, was never there.
    """

    by: str
    file: Path | None = None
    specs: dict[str, tuple[dict[str, str], dict[str, str]]] = field(default_factory=dict)

    @staticmethod
    def read(how: How) -> Green:
        """Return what checks like these found before in the current folder."""
        here, folder = os.path.abspath("."), caches.folder("green")
        by = json.dumps(
            {
                "folder": here,
                "statewalk": [VERSION, caches.stamp()],
                "python": sys.version,
                "--engine": how.engine,
                "--timeout": how.timeout,
            }
        )
        if folder is None:
            return Green(by)
        name = blake2b(os.fsencode(here), digest_size=16).hexdigest()
        file = folder / f"{name}.json"
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            data = json.loads(read_text(file))
            if data["schema"] == SCHEMA and data["by"] == by:
                specs = {
                    str(name): (_texts(spec["origins"]), _texts(spec["passed"]))
                    for name, spec in data["specs"].items()
                }
                return Green(by, file, specs)
        return Green(by, file)

    def passed(self, spec: str, origins: dict[str, str]) -> dict[str, str]:
        """Return what came out of the configurations that need not be checked again."""
        before, passed = self.specs.get(spec, ({}, {}))
        return passed if before == origins else {}

    def write(self) -> None:
        """Keep it; where that cannot be done, the next run checks all."""
        specs = {n: {"origins": o, "passed": p} for n, (o, p) in sorted(self.specs.items())}
        data = {"schema": SCHEMA, "by": self.by, "specs": specs}
        if self.file is not None:
            with suppress(RunError, OSError):
                write_text(self.file, json.dumps(data, indent=1) + "\n")


def _texts(data: dict[str, str]) -> dict[str, str]:
    return {str(k): str(v) for k, v in data.items()}


@dataclass
class _Spec:
    """A spec that is tested; ``passed`` are configurations that did and are not checked again."""

    path: str
    origins: dict[str, str] = field(default_factory=dict)
    configurations: tuple[Configuration, ...] = ()
    passed: dict[str, str] = field(default_factory=dict)
    mistake: StatewalkError | None = None
    declared: int = 0  # how many configurations there are, tested or not

    @property
    def job(self) -> Job:
        todo = tuple(c for c in self.configurations if c.name not in self.passed)
        return Job(self.path, todo)


def run_tests(
    specs: Sequence[str],
    how: How,
    green: Green | None = None,
    *,
    wanted: Callable[[Configuration], bool] = lambda configuration: True,
    shown: Callable[[str], str] = str,
    outcomes: Outcomes | None = None,
    update: Callable[[str, Sequence[Row]], None] = lambda spec, rows: None,
    needed: Sequence[str] = (),
    untested: Sequence[str] = (),
    verbose: bool = False,
) -> int:
    """Check the ``wanted`` configurations of specs and print what came out; the exit code. Of
    files that are ``untested``, those that no spec loads are named.

    Those that ``green`` remembers are not checked again, and it remembers what passes now.
    Texts of warnings are printed if ``verbose``, or ``how`` is strict, or there is one spec.
    ``outcomes`` are told all of it; ``update`` may bring a spec up to date with its rows.

    Raises RunError[SW382] where a configuration that is ``needed`` is in no spec, [SW403].
    """
    say = streams.say
    outcomes = outcomes or Outcomes()
    codes: list[int] = []
    unchanged = 0
    with Interruptions() as asked:
        loaded = [_loaded(path, green, wanted, asked, strict=how.strict) for path in specs]
        verbose = verbose or how.strict or len(loaded) == 1
        _look_for(needed, loaded)
        for spec, rows in zip(loaded, checked([s.job for s in loaded], how, asked), strict=True):
            if needed and not spec.configurations and not spec.mistake:
                continue
            outcomes.loaded(spec.path, spec.origins)
            say(f"{shown(spec.path)}\n")
            if spec.mistake:
                say("".join(f"  {text}\n" for text in str(spec.mistake).splitlines()))
                outcomes.mistake(spec.path, spec.mistake)
                codes.append(exits.MISTAKE)
            by_name = {row.configuration.name: row for row in rows}
            new = _first_said(rows) if verbose else {}
            for configuration in spec.configurations:
                row = by_name.get(configuration.name)
                if row is None:
                    unchanged += 1
                    before = spec.passed[configuration.name]
                    say(f"  ==   {one_line(configuration.name):<28} {before}\n")
                    outcomes.unchanged(spec.path, configuration.name, before)
                    continue
                codes.append(row.code)
                say(line(row, shown(spec.path), new.get(configuration.name, ())))
            streams.out().flush()
            outcomes.rows(spec.path, rows, all_there=len(rows) == spec.declared)
            update(spec.path, rows)
            if green is not None:
                _remember(green, spec, rows)
    say(_not_tested(untested, loaded) + _summary(codes, unchanged))
    outcomes.write()
    return exits.of_sweep(codes)


def _first_said(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the warnings of each configuration that no earlier one has."""
    said: set[str] = set()
    new: dict[str, list[str]] = {}
    for row in rows:
        new[row.configuration.name] = [text for text in row.warnings if text not in said]
        said.update(row.warnings)
    return new


def _loaded(
    path: str,
    green: Green | None,
    wanted: Callable[[Configuration], bool],
    asked: Callable[[], bool],
    *,
    strict: bool,
) -> _Spec:
    if asked():
        raise KeyboardInterrupt
    try:
        model = api.load_within(path, {})
    except StatewalkError as error:
        return _Spec(path, opened_last(), mistake=error)
    declared = model.configurations
    if path.endswith(".fizz"):
        declared = declared or (Configuration(AS_IT_IS, {}),)
    named = tuple(c for c in declared if wanted(c))
    before = {} if green is None else green.passed(path, model.origins)
    passed = {c.name: before[c.name] for c in named if c.name in before}
    if strict:
        passed = {name: found for name, found in passed.items() if WARNING not in found}
    return _Spec(path, model.origins, named, passed, declared=len(declared))


def _look_for(needed: Sequence[str], loaded: Sequence[_Spec]) -> None:
    known = sorted({c.name for spec in loaded for c in spec.configurations})
    for name in needed:
        if name not in known and not any(spec.mistake for spec in loaded):
            raise RunError("SW382", f"No spec here has a configuration '{name}'.", help=_HELP)


def _remember(green: Green, spec: _Spec, rows: Sequence[Row]) -> None:
    """Keep the passes of checks that loaded the same texts as the parent process did.

    A file may have changed between the two, and a configuration may read other files than the
    defaults do.
    """
    checked = {row.configuration.name for row in rows}
    kept = {**green.passed(spec.path, spec.origins), **spec.passed}
    kept = {name: found for name, found in kept.items() if name not in checked}
    same = [r for r in rows if r.origins == spec.origins and not set(UNSURE) & {*r.origins}]
    now = {row.configuration.name: row.found for row in same if row.passed}
    green.specs[spec.path] = (spec.origins, {**kept, **now})
    if rows:
        green.write()


def _not_tested(untested: Sequence[str], loaded: Sequence[_Spec]) -> str:
    used = {os.path.abspath(origin) for spec in loaded for origin in spec.origins}
    alone = (path for path in untested if os.path.abspath(path) not in used)
    return "".join(f"{path}\n  --   nothing of it is tested: no configuration\n" for path in alone)


def _summary(codes: Sequence[int], unchanged: int) -> str:
    good = codes.count(exits.HOLDS)
    text = f"{good + unchanged} as expected, {len(codes) - good} not"
    if unchanged:
        text += (
            f"; {unchanged} of them not checked again, unchanged since they were as expected "
            "(--all checks them too)"
        )
    return text + "\n"
