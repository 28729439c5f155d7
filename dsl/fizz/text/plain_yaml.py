"""YAML as options are written in it: names, plain values, lists and groups, and nothing else.

What YAML can say besides is refused with its place: anchors, tags, merges, keys that are no text.
"""

from __future__ import annotations

from typing import Any

import yaml

MAX_DEPTH = 10
_MAX_DIGITS = 30
_TAG = "tag:yaml.org,2002:"
_MAKE = yaml.constructor.SafeConstructor()
_PLAIN = {
    f"{_TAG}null": _MAKE.construct_yaml_null,
    f"{_TAG}bool": _MAKE.construct_yaml_bool,
    f"{_TAG}int": _MAKE.construct_yaml_int,
    f"{_TAG}float": _MAKE.construct_yaml_float,
}  # what is left, dates among it, is text

Places = dict[tuple[str | int, ...], yaml.Mark]


def read_yaml(text: str) -> tuple[Any, Places]:
    """What a document holds, and by path, of keys and positions, where it says so.

    Raises:  MarkedYAMLError with the place of the first thing that is not read here.
    """
    try:
        _hold_plain(yaml.SafeLoader(text))
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        column = len(before) - before.rfind("\n") - 1
        mark = yaml.Mark("", error.position, before.count("\n"), column, None, 0)
        raise _refused(f"U+{error.character:04X} is no character of a text", mark) from None
    places: Places = {}
    return None if node is None else _value(node, (), places), places


def _refused(problem: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _hold_plain(loader: yaml.SafeLoader) -> None:
    """Raises MarkedYAMLError where small text stands for something large, or is nested deeply, or
    says itself how it is to be read.
    """
    depth = 0
    while (event := _next(loader)) is not None:
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        problem = ""
        if getattr(event, "anchor", None) is not None:
            problem = "anchors (&) and aliases (*) are not read here: write the part out"
        elif getattr(event, "tag", None) is not None:
            problem = "tags (!) are not read here: write the value alone"
        elif depth > MAX_DEPTH:
            problem = f"parts are nested more than {MAX_DEPTH} deep"
        if problem:
            raise _refused(problem, event.start_mark)


def _next(loader: yaml.SafeLoader) -> yaml.Event | None:
    try:
        return loader.get_event() if loader.check_event() else None
    except ValueError:
        problem = "this escape stands for no character"
        raise _refused(problem, loader.get_mark()) from None


def _value(node: yaml.Node, path: tuple[str | int, ...], places: Places) -> Any:
    places.setdefault(path, node.start_mark)
    if isinstance(node, yaml.MappingNode):
        return _group(node, path, places)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, i), places) for i, item in enumerate(node.value)]
    if any("\ud800" <= c <= "\udfff" for c in node.value):
        raise _refused("half a character (a surrogate) is no text", node.start_mark)
    make = _PLAIN.get(node.tag)
    if make is None:
        return node.value
    try:
        if len(node.value) <= _MAX_DIGITS:
            return make(node)
    except (ValueError, ArithmeticError):
        pass
    raise _refused("this number cannot be read", node.start_mark)


def _group(node: yaml.MappingNode, path: tuple[str | int, ...], places: Places) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        if key.tag == f"{_TAG}merge":
            raise _refused("merges (<<) are not read here: write the part out", key.start_mark)
        if not isinstance(key, yaml.ScalarNode) or key.tag in _PLAIN:
            raise _refused("a name is expected here, in quotes if need be", key.start_mark)
        name = _value(key, (*path, key.value), places)
        if name in found:
            raise _refused(f"{name[:40]} is said twice", key.start_mark)
        found[name] = _value(value, (*path, name), places)
    return found
