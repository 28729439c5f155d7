"""References behave as Python objects do: a differential test with random operations.

Each operation is one function, run on plain Python objects and on the state of a spec. After each,
both worlds must hold the same, under every name taken so far, and have raised the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dsl.state.worlds import World, plain, plain_world, spec_model, state_world

Operation = Callable[[World, int, int], Any]
OPERATIONS: dict[str, Operation] = {}


def operation(function: Operation) -> Operation:
    OPERATIONS[function.__name__] = function
    return function


def lists(w: World) -> list[Any]:
    """Every list of nodes there is a way to."""
    found = [w.box.nodes]
    if w.box.one is not None:
        found.append(w.box.one.kids)
    return found + [n.kids for n in w.names if not isinstance(n, list | set | dict)]


def nodes(w: World) -> list[Any]:
    """Every node there is a way to, and at least one."""
    found = list(w.box.nodes)
    if w.box.one is not None:
        found.append(w.box.one)
    found += [w.box.by[k] for k in sorted(w.box.by)]
    found += [n for n in w.names if not isinstance(n, list | set | dict)]
    if not found:
        w.box.nodes.append(w.node(7))
        found = [w.box.nodes[0]]
    return found


def pick(items: list[Any], at: int) -> Any:
    return items[at % len(items)]


# -- names ---------------------------------------------------------------------------------------
@operation
def name_a_node(w: World, a: int, b: int) -> None:
    w.names.append(pick(nodes(w), a))


@operation
def name_a_list(w: World, a: int, b: int) -> None:
    w.names.append(pick(lists(w), a))


@operation
def name_a_part(w: World, a: int, b: int) -> None:
    n = pick(nodes(w), a)
    w.names.append((n.tags, n.seen, n.kids)[b % 3])


@operation
def name_a_row(w: World, a: int, b: int) -> None:
    w.names.append(w.box.rows.setdefault("xyz"[a % 3], []))


@operation
def name_a_field(w: World, a: int, b: int) -> None:
    w.names.append((w.box.by, w.box.rows, w.box.words, w.box.nodes)[a % 4])


@operation
def change_a_named_dict(w: World, a: int, b: int) -> None:
    named = [n for n in w.names if isinstance(n, dict) and {int} == {type(k) for k in n}]
    for n in named:
        n[a % 4] = w.node(b)
        n[a % 4].v += 1
        n.pop(b % 4, None)
        n |= {a % 3: w.node(a)}


@operation
def name_an_entry(w: World, a: int, b: int) -> None:
    if a % 4 in w.box.by:
        w.names.append(w.box.by[a % 4])


# -- records -------------------------------------------------------------------------------------
@operation
def set_v(w: World, a: int, b: int) -> None:
    pick(nodes(w), a).v = b


@operation
def add_v(w: World, a: int, b: int) -> None:
    pick(nodes(w), a).v += b


@operation
def replace_one(w: World, a: int, b: int) -> None:
    w.box.one = w.kept(pick(nodes(w), a)) if b % 2 else w.node(b)


@operation
def clear_one(w: World, a: int, b: int) -> None:
    w.box.one = None


@operation
def set_next(w: World, a: int, b: int) -> None:
    pick(nodes(w), a).next = w.kept(pick(nodes(w), b))


@operation
def change_next(w: World, a: int, b: int) -> None:
    n = pick(nodes(w), a)
    if n.next is not None:
        n.next.v = b


@operation
def copy_kids(w: World, a: int, b: int) -> None:
    pick(nodes(w), a).kids = w.kept(pick(nodes(w), b).kids)


@operation
def set_tag(w: World, a: int, b: int) -> None:
    pick(nodes(w), a).tags["pqr"[b % 3]] = b


@operation
def pop_tag(w: World, a: int, b: int) -> Any:
    return pick(nodes(w), a).tags.pop("pqr"[b % 3])


@operation
def see(w: World, a: int, b: int) -> None:
    pick(nodes(w), a).seen.add(b)


@operation
def unsee(w: World, a: int, b: int) -> None:
    pick(nodes(w), a).seen.remove(b)


@operation
def equal(w: World, a: int, b: int) -> Any:
    return pick(nodes(w), a) == pick(nodes(w), b), pick(lists(w), a) == pick(lists(w), b)


# -- lists ---------------------------------------------------------------------------------------
@operation
def append(w: World, a: int, b: int) -> None:
    pick(lists(w), a).append(w.kept(pick(nodes(w), b)))


@operation
def append_new(w: World, a: int, b: int) -> None:
    pick(lists(w), a).append(w.node(b))


@operation
def insert(w: World, a: int, b: int) -> None:
    pick(lists(w), a).insert(b - 2, w.node(b))


@operation
def extend(w: World, a: int, b: int) -> None:
    pick(lists(w), a).extend([w.kept(n) for n in pick(lists(w), b)])


@operation
def set_item(w: World, a: int, b: int) -> None:
    pick(lists(w), a)[b - 3] = w.node(b)


@operation
def delete_item(w: World, a: int, b: int) -> None:
    del pick(lists(w), a)[b - 3]


@operation
def pop_item(w: World, a: int, b: int) -> Any:
    return plain(pick(lists(w), a).pop(b - 3))


@operation
def pop_last(w: World, a: int, b: int) -> Any:
    return plain(pick(lists(w), a).pop())


@operation
def remove_item(w: World, a: int, b: int) -> None:
    pick(lists(w), a).remove(pick(nodes(w), b))


@operation
def index_of(w: World, a: int, b: int) -> Any:
    return pick(lists(w), a).index(pick(nodes(w), b)), pick(lists(w), a).count(pick(nodes(w), b))


@operation
def reverse(w: World, a: int, b: int) -> None:
    pick(lists(w), a).reverse()


@operation
def sort(w: World, a: int, b: int) -> None:
    pick(lists(w), a).sort(key=lambda n: n.v, reverse=bool(b % 2))


@operation
def clear_list(w: World, a: int, b: int) -> None:
    pick(lists(w), a).clear()


@operation
def delete_slice(w: World, a: int, b: int) -> None:
    del pick(lists(w), a)[b % 3 : b % 5]


@operation
def set_slice(w: World, a: int, b: int) -> None:
    pick(lists(w), a)[b % 3 : b % 5] = [w.node(b), w.node(b + 1)]


@operation
def change_in_loop(w: World, a: int, b: int) -> None:
    for n in pick(lists(w), a):
        n.v += b


@operation
def change_in_reverse(w: World, a: int, b: int) -> None:
    for n in reversed(pick(lists(w), a)):
        n.v = n.v * 2 % 7


@operation
def change_sorted(w: World, a: int, b: int) -> None:
    for at, n in enumerate(sorted(pick(lists(w), a), key=lambda n: n.v)):
        n.v = at


@operation
def look_at_list(w: World, a: int, b: int) -> Any:
    seen = pick(lists(w), a)
    return len(seen), bool(seen), plain(seen[b % 3 : b]), plain(list(seen)), plain(seen + seen)


@operation
def numbers(w: World, a: int, b: int) -> Any:
    n = w.box.numbers
    n += [a, b]
    n.sort()
    w.box.numbers[0] -= b
    joined = [0] + n  # noqa: RUF005 (it is the operator that is tried)
    return n < [1, 2], n >= [b], n * 2, joined, b in n, n.count(a), n[-1], n[::2], max(n)


@operation
def repeat(w: World, a: int, b: int) -> Any:
    n = w.box.numbers
    n *= b % 3
    own = n.copy()
    own.append(a)
    return own, n * 2, 2 * n


@operation
def repeat_once_or_never(w: World, a: int, b: int) -> None:
    found = pick(lists(w), a)
    found *= b % 2


@operation
def change_joined(w: World, a: int, b: int) -> Any:
    own = [w.node(0)] + pick(lists(w), a) + pick(lists(w), b)  # noqa: RUF005
    for node in own + pick(lists(w), a)[:]:
        node.v += 1
    return plain(own)


# -- dicts ---------------------------------------------------------------------------------------
@operation
def set_by(w: World, a: int, b: int) -> None:
    w.box.by[a % 4] = w.kept(pick(nodes(w), b))


@operation
def change_by(w: World, a: int, b: int) -> None:
    w.box.by[a % 4].v = b


@operation
def pop_by(w: World, a: int, b: int) -> Any:
    return plain(w.box.by.pop(a % 4, None)), plain(w.box.by.get(b % 4))


@operation
def delete_by(w: World, a: int, b: int) -> None:
    del w.box.by[a % 4]


@operation
def assign_by(w: World, a: int, b: int) -> None:
    w.box.by = {a % 4: w.node(a), b % 4: w.node(b)}


@operation
def clear_by(w: World, a: int, b: int) -> None:
    w.box.by.clear()


@operation
def change_values(w: World, a: int, b: int) -> None:
    for n in w.box.by.values():
        n.v += 1
    for key, n in sorted(w.box.by.items(), key=lambda item: item[0]):
        n.seen.add(key)


@operation
def look_at_dict(w: World, a: int, b: int) -> Any:
    by = w.box.by
    return len(by), bool(by), a % 4 in by, sorted(by), sorted(by.keys()), by == w.box.by


@operation
def rows(w: World, a: int, b: int) -> None:
    w.box.rows.setdefault("xyz"[a % 3], []).append(b)


@operation
def rows_from_rows(w: World, a: int, b: int) -> None:
    w.box.rows["xyz"[a % 3]] = w.kept(w.box.rows["xyz"[b % 3]])


@operation
def update_rows(w: World, a: int, b: int) -> None:
    w.box.rows.update({"x": [a], "z": [b, b]})


@operation
def change_row(w: World, a: int, b: int) -> None:
    w.box.rows["xyz"[a % 3]][0] = b


@operation
def deep(w: World, a: int, b: int) -> None:
    w.box.deep.append({"k": [a]})
    w.names.append(w.box.deep[a % len(w.box.deep)])
    w.box.deep[b % len(w.box.deep)].setdefault("m", []).append(b)


@operation
def deep_pop(w: World, a: int, b: int) -> Any:
    return plain(w.box.deep[0].pop("k"))


@operation
def join_dicts(w: World, a: int, b: int) -> Any:
    by, tags = w.box.by, pick(nodes(w), a).tags
    one, other = by.copy(), tags.copy()
    one[a % 4], other["p"] = w.node(b), b
    return plain(by | {1: w.node(a)}), tags | {"p": a}, {"p": b} | tags, plain(one), other


@operation
def assign_rows(w: World, a: int, b: int) -> None:
    w.box.rows = {"xyz"[a % 3]: [a, b]}


@operation
def match_patterns(w: World, a: int, b: int) -> Any:
    n = pick(nodes(w), a)
    match n.kids:
        case [first, *rest]:
            first.v += b
            found = len(rest)
        case _:
            found = -1
    match w.box.by:
        case {1: entry}:
            entry.v += 1
            return found, entry.v
    return found, None


# -- sets and bags -------------------------------------------------------------------------------
@operation
def words(w: World, a: int, b: int) -> Any:
    s = w.box.words
    s.add("abcde"[a % 5])
    s.discard("abcde"[b % 5])
    s |= {"v"}
    s.update({"w"}, ["abcde"[b % 5]])
    return sorted(s), len(s), "a" in s, s <= {"a"}, s == {"a"}, s.isdisjoint({"a"}), {"a"} < s


@operation
def set_algebra(w: World, a: int, b: int) -> Any:
    s, t = w.box.words, {"abcde"[a % 5], "abcde"[b % 5]}
    made = (s | t, s & t, s - t, s ^ t, t | s, t - s, s.union(t), s.difference(t))
    return [sorted(m) for m in made], s.issubset(t), s.issuperset(t), s >= t, s != t


@operation
def remove_word(w: World, a: int, b: int) -> None:
    w.box.words.remove("abcde"[a % 5])


@operation
def shrink_words(w: World, a: int, b: int) -> None:
    w.box.words -= {"abcde"[a % 5]}
    w.box.words &= {"a", "b", "v", "abcde"[b % 5]}
    w.box.words.difference_update({"w"})
    w.box.words.symmetric_difference_update({"abcde"[b % 5]})


@operation
def assign_words(w: World, a: int, b: int) -> None:
    w.box.words = {"abcde"[a % 5]} | w.box.words


@operation
def clear_words(w: World, a: int, b: int) -> None:
    w.box.words.clear()


@operation
def fill_bag(w: World, a: int, b: int) -> Any:
    bag = w.box.bag
    bag.add("abc"[a % 3])
    bag.discard("abc"[b % 3])
    return bag.count("a"), len(bag), "b" in bag, sorted(bag)


@operation
def remove_from_bag(w: World, a: int, b: int) -> None:
    w.box.bag.remove("abc"[a % 3])


STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 7), st.integers(0, 7)),
    max_size=25,
)


def run(step: tuple[str, int, int], world: World) -> tuple[Any, str]:
    """Return what an operation gives, and the kind of exception it raises."""
    name, a, b = step
    try:
        return plain(OPERATIONS[name](world, a, b)), ""
    except (LookupError, ValueError, TypeError) as error:
        return None, type(error).__name__


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return spec_model(Path(tmp_path_factory.mktemp("box")))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_references_behave_like_python_objects(
    model: Any, steps: list[tuple[str, int, int]]
) -> None:
    ours_after = check(model, steps)

    assert ours_after


def check(model: Any, steps: list[tuple[str, int, int]]) -> bool:
    expected = plain_world()
    with state_world(model) as ours:
        for step in steps:
            assert run(step, expected) == run(step, ours), step
            assert expected.content() == ours.content(), step
            for one, other in zip(expected.names, ours.names, strict=True):
                assert plain(one) == plain(other), step
    assert expected.content() == ours.after  # type: ignore[attr-defined]
    return True
