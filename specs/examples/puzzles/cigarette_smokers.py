"""Three smokers have one ingredient each; a dealer offers the other two of one of them."""

from typing import Literal

from statewalk import Role, State, action, always, any_of, config, holds, init, require

INGREDIENTS = ("matches", "paper", "tobacco")


class Dealer(State):
    withholds: Literal["matches", "paper", "tobacco"] | None = None  # None: nothing is offered


class Smoker(Role):
    has: str = ""
    smoking: bool = False


dealer = Dealer()
smokers = [Smoker(has=ingredient) for ingredient in INGREDIENTS]


@init
def first_offer() -> None:
    dealer.withholds = any_of(INGREDIENTS)


@action
def begin_to_smoke() -> None:
    require(dealer.withholds is not None)
    for smoker in smokers:
        smoker.smoking = smoker.has == dealer.withholds
    dealer.withholds = None


@action
def stop_and_offer() -> None:
    require(dealer.withholds is None)
    for smoker in smokers:
        smoker.smoking = False
    dealer.withholds = any_of(INGREDIENTS)


@always
def one_smokes_at_most() -> bool:
    return sum(smoker.smoking for smoker in smokers) <= 1


config("three", expect=holds(distinct=6, generated=15, depth=2))
