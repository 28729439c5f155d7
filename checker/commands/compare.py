"""``statewalk compare``: variants of a spec, or two specs, beside each other."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import (
    CheckOptions,
    read_count,
    read_seconds,
    read_size,
    read_threads,
)
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, MISTAKE
from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.words.constants import GivenText

if TYPE_CHECKING:
    from statewalk.checker.compare.known import Configured
    from statewalk.checker.refinement.sights import Map
    from statewalk.dsl.model import Model


_MAP = "Write --map FILE:FUNCTION; the file is a spec that imports the second one."


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "compare",
        help="compare variants of a spec, or two specs",
        description="Show what a variant makes possible, what it forbids, and why: verdicts, "
        "counterexamples of one tried on the other, behaviors and states that only one "
        "has.",
        epilog="Exit codes: 0 compared, 2 mistake in a spec or the command, or a variant that "
        "the spec does not allow, 3 a bound limited an answer.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py or .fizz file, or a model by name")
    parser.add_argument("other", metavar="OTHER", nargs="?", help="what to compare it with")
    parser.add_argument(
        "--vary", metavar="NAME=A,B", help="compare the spec with itself; the base has A"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="give a constant a value, on all sides that have it",
    )  # fmt: skip
    parser.add_argument(
        "--config", metavar="NAME", help="begin with the constants of a configuration, on all sides"
    )
    parser.add_argument(
        "--view",
        metavar="NAMES",
        help="fields (Client.state) and roles to compare, with commas (all fields of "
        "equal names that are not Auxiliary)",
    )
    parser.add_argument(
        "--map",
        metavar="FILE:FUNCTION",
        help="a function of a spec that imports OTHER: maps its state to values by field of SPEC",
    )
    parser.add_argument("--no-liveness", action="store_true", help="leave liveness out")
    number, seconds = argument(read_count), argument(read_seconds)
    parser.add_argument("--max-depth", type=number, metavar="N", help="stop after N levels")
    parser.add_argument("--max-states", type=number, metavar="N", help="stop at N states")
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="S",
        help="for each search, and for comparing",
    )
    parser.add_argument(
        "--max-memory", type=argument(read_size), metavar="SIZE", help="stop at this much memory"
    )
    parser.add_argument(
        "--threads",
        type=argument(read_threads),
        metavar="N",
        help="threads to search with (all processors)",
    )
    parser.add_argument("--json", metavar="FILE", help="also as JSON (- is standard output)")
    parser.add_argument(
        "--html", metavar="FILE", help="also as a page to look at: one file, for any browser"
    )
    parser.add_argument("--markdown", metavar="FILE", help="also as a block of Markdown")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print; the exit code."""
    from statewalk.checker.commands.checking import STDOUT, write_json
    from statewalk.checker.compare.as_json import to_dict
    from statewalk.checker.compare.compare import compare
    from statewalk.checker.compare.known import with_known
    from statewalk.checker.compare.telling import markdown_of, page_of
    from statewalk.checker.machine.files import write_text
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.report.progress import ProgressBlock

    a = arguments
    options = CheckOptions(
        liveness=not a.no_liveness, max_depth=a.max_depth, max_states=a.max_states,
        timeout=a.timeout, threads=a.threads, max_memory=a.max_memory, config=a.config,
    )  # fmt: skip
    models, seen, known, left = _models(a, options)
    chosen = tuple(name.strip() for name in a.view.split(",")) if a.view else ()
    block = ProgressBlock(sys.stderr, " and ".join(name for name, _ in models))
    with Interruptions() as asked:

        def interrupted() -> bool:
            block.tick()
            return asked()

        found = compare(
            models, options, chosen=chosen, seen=seen, on_progress=block, interrupted=interrupted
        )
    block.close()
    found = with_known(found, known, left)
    again = shlex.join(["statewalk", "compare", *_again(a)])
    if a.json != STDOUT:
        page_of(found, again, width=streams.width()).show(streams.out())
    if a.json is not None:
        write_json(to_dict(found, again), a.json)
    if a.html is not None:
        from statewalk.checker.page.html import of_comparison, to_html

        help = "Give another place with --html FILE."
        write_text(Path(a.html), to_html(of_comparison(found, again)), help=help, named=True)
    if a.markdown is not None:
        help = "Give another place with --markdown FILE."
        write_text(Path(a.markdown), markdown_of(found, again), help=help, named=True)
    if found.left:
        return MISTAKE
    return HOLDS if found.whole else INCONCLUSIVE


def _models(
    arguments: argparse.Namespace, options: CheckOptions
) -> tuple[list[tuple[str, Model]], Map | None, Configured | None, tuple[str, ...]]:
    """Return the models to compare by name, what the others are in the first, what configurations
    say of variants, and why some are not compared.
    """
    from statewalk.checker.api import load_within, types_within
    from statewalk.checker.compare.from_python import shared_out
    from statewalk.checker.compare.known import configured, variants
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.library import spec_path

    a = arguments
    if a.map is not None and a.view is not None:
        said = "--view does nothing here: what --map gives is looked at."
        raise RunError("SW326", said, help="Leave fields out of what the function gives.")
    if (a.other is None) == (a.vary is None):
        raise RunError(
            "SW361",
            "There is nothing to compare with." if a.vary is None else "Both OTHER and --vary.",
            help="Name a second spec, or values of a constant: --vary VARIANT=base,proposal.",
        )
    fixed = read_settings(a.settings).fixed
    if a.vary is not None:
        if a.map is not None:
            raise RunError("SW326", "--map does nothing here.", help="It goes with OTHER.")
        cases = varied(a.vary)
        if cases[0][0] in fixed:
            said = f"--set {cases[0][0]} does nothing here: --vary gives its values."
            raise RunError("SW326", said, help="Leave one of them out.")
        path = spec_path(a.spec)
        known = configured(path, cases[0][0], options)

        def loaded(name: str, value: str) -> Model:
            return load_within(path, {**fixed, name: GivenText(value)}, options)

        models, left = variants(cases, loaded, known)
        return models, None, known, left
    file, _, function = (a.map or "").rpartition(":")
    if a.map is not None and not (file and function):
        raise RunError("SW361", f"--map {a.map} does not name a file and a function.", help=_MAP)
    paths = [spec_path(path) for path in (a.spec, file or a.other)]
    types = [types_within(path, options) if fixed else {} for path in paths]
    sides = shared_out(fixed, types)
    models = [
        (name, load_within(path, constants, options))
        for name, path, constants in zip((a.spec, a.other), paths, sides, strict=True)
    ]
    if not a.map:
        return models, None, None, ()
    second, imported = models[1][1], spec_path(a.other)
    if Path(imported).resolve() not in {Path(one).resolve() for one in second.sources}:
        raise RunError("SW361", f"--map {a.map}: {file} does not import {imported}.", help=_MAP)
    return models, map_of(second, a.map, function), None, ()


def varied(text: str) -> list[tuple[str, str]]:
    """(constant, value) of each side. Raises RunError[SW361]."""
    name, _, values = text.partition("=")
    found = [value.strip() for value in values.split(",")]
    several = len(found) >= 2 and len(set(found)) == len(found)
    if not name.strip().isidentifier() or not several or not all(found):
        raise RunError(
            "SW361",
            f"--vary {text} does not name a constant and two values that differ.",
            help="The first value is the base: --vary VARIANT=base,proposal.",
        )
    return [(name.strip(), value) for value in found]


def map_of(model: Model, text: str, name: str) -> Map:
    """Return the function of a spec that says what its states are in another.

    Raises RunError[SW361].
    """
    found = model.functions.get(name)
    if found is None:
        raise RunError(
            "SW361",
            f"--map {text}: {model.path} has no function {name}. "
            f"{did_you_mean(name, [*model.functions])}".rstrip(),
            help=_MAP,
        )
    return found


def _again(arguments: argparse.Namespace) -> list[str]:
    """Return the words of the command that repeats a comparison."""
    a = arguments
    words = [a.spec, *([a.other] if a.other else [])]
    given = {"vary": a.vary, "config": a.config, "view": a.view, "map": a.map,
             "max-depth": a.max_depth, "max-states": a.max_states}  # fmt: skip
    for option, value in given.items():
        words += [f"--{option}", str(value)] if value is not None else []
    for text in a.settings:
        words += ["--set", text]
    return [*words, *(["--no-liveness"] if a.no_liveness else [])]
