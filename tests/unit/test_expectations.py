"""What configurations say they expect."""

from dsl import holds, violates


def holding() -> bool:
    return True


def test_a_violation_may_state_its_length_and_how_many_states_there_are() -> None:
    expectation = violates(holding, "other", length=3, states=41)

    assert expectation.verdict == "violated"
    assert expectation.properties == ("holding", "other")
    assert (expectation.length, expectation.states) == (3, 41)
    assert expectation.distinct is None


def test_counts_of_a_run_that_holds_are_those_it_keeps() -> None:
    assert (holds(distinct=5).distinct, holds(distinct=5).states) == (5, None)
