"""Fizzbee's way of counting unique states, where it is not ours."""

from __future__ import annotations

from statewalk.dsl.binding import binding
from statewalk.dsl.files import read_text
from statewalk.dsl.fizz.names import collect
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.fizz.text.options import Options, read_options
from statewalk.dsl.fizz.text.parse import parse, split_front_matter
from statewalk.dsl.fizz.translate.caps import of_actions
from statewalk.dsl.model import Element, Model, Property
from statewalk.dsl.values.stored import same

BACK = "@back to the start"
STATEMENTS_LEFT = "statements_left_of_"  # a local of parallel blocks; a number and _ follow


def back_to_the_start(model: Model) -> Property | None:
    """A property that a step violates by leading back to the initial state.

    Where there is no action ``Init`` (none at all, or the older ``init:``), Fizzbee counts the
    initial state only if a step leads to it. None where the initial states always count.
    """
    text, _, _ = split_front_matter(read_text(model.path))
    module = parse(text, model.path)
    if any(isinstance(node, tree.Act) and node.name == "Init" for node in module.body):
        return None
    if len(model.initial_states) != 1:
        return None
    start = model.initial_states[0]

    def holds() -> bool:
        view = binding.view
        assert view is not None
        return any(not same(view.get(path), value) for path, value in start.items())

    element = Element(BACK, (), holds)
    return Property(BACK, "on_step", (element,), holds)


def counters_of(path: str) -> frozenset[str]:
    """The fields that count starts of single actions: Fizzbee's states do not hold these."""
    text, _, _ = split_front_matter(read_text(path))
    names = collect(parse(text, path))
    caps, _ = of_actions(names, options_of(path))
    made = [(cap, cap.counter(names)) for cap in caps.values()]
    return frozenset(counter for cap, counter in made if cap.starts > 0)


def options_of(path: str) -> Options:
    """The options that a specification carries."""
    return options_in(path, read_text(path))


def options_in(path: str, text: str) -> Options:
    """The options of a specification with this text."""
    _, front, line = split_front_matter(text)
    return read_options(path, front, line)
