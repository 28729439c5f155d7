"""Formulas on random fair graphs get the verdicts of SPIN, where it and a C compiler are installed.

A graph is a Promela process that moves from one number to another, or stays, and sets what is true
of the state and of the step to it. Fairness is a premise of each formula.
``STATEWALK_SPIN_GRAPHS=100`` checks at most 2,000 formulas.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from statewalk.dsl.declared import Fairness
from tests.checker.liveness.test_formulas import Term, any_formula, decided
from tests.checker.liveness.test_random_graphs import Case, Pair, random_case

GRAPHS = int(os.environ.get("STATEWALK_SPIN_GRAPHS", "4"))
FORMULAS = 20
SECONDS = 2
WORDS = {"and": "&&", "or": "||", "implies": "->", "until": "U"}
NEEDED = all(map(shutil.which, ("spin", "gcc")))


def said(term: Term) -> str:
    """The formula in SPIN's words."""
    op, *given = term
    if op == "true":
        return "true"
    if op == "part":
        return ("first", "second", "good")[given[0]]
    if op in ("not", "often"):
        return f"({'!' if op == 'not' else '[]<>'} {said(given[0])})"
    return f"({said(given[0])} {WORDS[op]} {said(given[1])})"


def claim(case: Case, term: Term) -> str:
    fair = ["true"]
    for n, (fairness, _) in enumerate(case.conditions):
        able = "true" if fairness == "weak" else f"[]<>able{n}"
        taken = f"taken{n}" if fairness == "strong" else f"(taken{n} || !able{n})"
        fair.append(f"({able} -> []<>{taken})")
    return f"({' && '.join(fair)}) -> {said(term)}"


def after(case: Case, step: Pair) -> str:
    """What is true in a state that a step leads to."""
    now = step[1]
    true = {"a": now, "first": now in case.first, "second": now in case.second}
    true["good"] = step in case.good
    for n, (_, pairs) in enumerate(case.conditions):
        true |= {f"able{n}": now in {s for s, _ in pairs}, f"taken{n}": step in pairs}
    return "; ".join(f"{name} = {int(value)}" for name, value in true.items())


def program(case: Case, terms: list[Term]) -> str:
    first = case.initial[0]
    start = f"byte {after(case, (first, first))};".replace("; ", "; byte ")
    steps = {*case.pairs, *((s, s) for s in range(case.n))}
    moves = [f":: a == {s[0]} -> d_step {{ {after(case, s)} }}" for s in sorted(steps)]
    claims = [f"ltl p{n} {{ {claim(case, term)} }}" for n, term in enumerate(terms)]
    return "\n".join([start, "init { do", *moves, "od }", *claims, ""])


@pytest.mark.slow
@pytest.mark.skipif(not NEEDED, reason="needs spin and gcc")
@pytest.mark.parametrize("number", range(GRAPHS))
def test_formulas_agree_with_spin(number: int, tmp_path: Path) -> None:
    random = Random(f"spin/{number}")
    case = random_case(random)
    unfair: list[Fairness] = ["none"] * len(case.steps)
    case = replace(case, initial=case.initial[:1], choices=unfair)
    if len(case.conditions) > 1:  # translations of SPIN grow with each
        case = replace(case, fairness=[case.fairness[0], *unfair[1:]])

    def run(*command: str, limit: int = 500) -> str:
        found = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=limit
        )
        return found.stdout

    def translate(terms: list[Term], limit: int = 500) -> None:
        (tmp_path / "walk.pml").write_text(program(case, terms), encoding="utf-8")
        run("spin", "-a", "walk.pml", limit=limit)

    terms: list[Term] = []
    for _ in range(FORMULAS):
        term = any_formula(random, random.randint(2, 4))
        with suppress(subprocess.TimeoutExpired):  # some translations of SPIN are very large
            translate([term], SECONDS)
            terms.append(term)
    translate(terms)
    run("gcc", "-w", "-o", "pan", "pan.c")
    for n, term in enumerate(terms):
        errors = re.search(r"errors: (\d+)", run("./pan", "-a", "-N", f"p{n}"))
        assert errors is not None, (number, n, term)
        verdict = "violated" if errors[1] != "0" else "holds"
        assert verdict == decided(case, term).verdict, (number, n, term)
