"""Inductive invariants of public specs have the states and steps of TLC, begun in all states of the
types that satisfy the invariant: `TypeOK` and `Inv` of EWD840, and MCBakery.
"""

import pytest

from statewalk import load
from statewalk.checker.induction.prove import prove
from tests.places import ROOT

EWD840 = "specs/examples/networks/ewd840.py"
BAKERY = "specs/examples/exclusion/bakery.py"


def test_ewd840() -> None:
    model = load(str(ROOT / EWD840))
    proof = prove(model, ["why_it_is_true"], domains=["Token.at=range(3)"])

    assert (proof.verdict, proof.states, proof.steps) == ("inductive", 352, 2056)
    assert proof.implied == ("detected_is_true",)


@pytest.mark.slow
def test_bakery() -> None:
    """Of two numbers; TLC's 655,200 states of three are the initial ones of the spec."""
    model = load(str(ROOT / BAKERY), {"MOST": 1})
    proof = prove(model, ["is_possible_alone", "fits_again"])

    assert (proof.verdict, proof.states, proof.steps) == ("inductive", 112160, 408112)
    assert "one_inside" in proof.implied
