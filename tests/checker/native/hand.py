"""Models built by hand, as functions over a View: what a front end would make of a spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.model import Action, Element, Model, Property
from statewalk.dsl.view import Disabled, Path, View


def view() -> View:
    """The view that is bound."""
    assert binding.view is not None
    return binding.view


def require(condition: bool) -> None:
    if not condition:
        raise Disabled


def make_model(
    name: str,
    initial: Mapping[Path, Any] | list[Mapping[Path, Any]],
    actions: list[tuple[str, Callable[[], object]]],
    properties: list[Property] | None = None,
    **more: Any,
) -> Model:
    states = initial if isinstance(initial, list) else [initial]
    return Model(
        name=name,
        path="",
        dialect="python",
        constants={},
        initial_states=tuple(states),
        actions=tuple(Action(i, n, None, (), run) for i, (n, run) in enumerate(actions)),
        properties=tuple(properties or ()),
        **more,
    )


def always(name: str, *elements: Callable[[], bool]) -> Property:
    parts = tuple(Element(f"{name}[{i}]", (), e) for i, e in enumerate(elements))
    return Property(name, "always", parts, lambda: all(e() for e in elements))


def two_phase_commit(n: int, *, broken: bool = False, split: bool = True) -> Model:
    """Two-phase commit with a slot per message, as optimised lowering would lay it out."""
    managers = range(n)
    rm = [("RM", i, "state") for i in managers]
    prepared = [("TM", 0, "prepared", "in", i) for i in managers]
    sent = [("Net", 0, "messages", "in", i) for i in managers]
    commit, abort = ("Net", 0, "messages", "in", "commit"), ("Net", 0, "messages", "in", "abort")
    tm = ("TM", 0, "state")
    initial = {tm: "init", **dict.fromkeys(rm, "working")}
    actions: list[tuple[str, Callable[[], object]]] = []

    def tm_commit() -> None:
        require(view().get(tm) == "init")
        require(broken or all(view().get(p) is True for p in prepared))
        view().set(tm, "committed")
        view().set(commit, True)

    def tm_abort() -> None:
        require(view().get(tm) == "init")
        view().set(tm, "aborted")
        view().set(abort, True)

    actions += [("tm_commit", tm_commit), ("tm_abort", tm_abort)]
    for i in managers:

        def tm_receive(i: int = i) -> None:
            require(view().get(tm) == "init")
            require(view().get(sent[i]) is True)
            view().set(prepared[i], True)

        def prepare(i: int = i) -> None:
            require(view().get(rm[i]) == "working")
            view().set(rm[i], "prepared")
            view().set(sent[i], True)

        def choose_abort(i: int = i) -> None:
            require(view().get(rm[i]) == "working")
            view().set(rm[i], "aborted")

        def receive_commit(i: int = i) -> None:
            require(view().get(commit) is True)
            view().set(rm[i], "committed")

        def receive_abort(i: int = i) -> None:
            require(view().get(abort) is True)
            view().set(rm[i], "aborted")

        for run in (tm_receive, prepare, choose_abort, receive_commit, receive_abort):
            actions.append((f"{run.__name__}({i})", run))

    def differ(i: int, j: int) -> Callable[[], bool]:
        return lambda: {view().get(rm[i]), view().get(rm[j])} != {"aborted", "committed"}

    pairs = [differ(i, j) for i in managers for j in managers if i < j]
    whole = always("consistent", *pairs)
    if not split:
        whole = Property("consistent", "always", (), whole.whole)
    return make_model("two_phase_commit", initial, actions, [whole], check_deadlock=False)
