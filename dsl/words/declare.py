"""The words that a spec module imports: declarations, and calls for actions and properties."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any, Literal, NoReturn, TypeAlias, TypeVar, overload

from statewalk.dsl.binding import before_the_step, binding
from statewalk.dsl.declared import (
    FAIRNESSES,
    Fairness,
    Mark,
    Mutant,
    Refines,
    declaring,
    marks,
)
from statewalk.dsl.errors import SpecError, did_you_mean
from statewalk.dsl.state.detaching import forget
from statewalk.dsl.state.refs import current_view, forbid_change
from statewalk.dsl.state.roles import Role, no_value
from statewalk.dsl.values.records import check_options
from statewalk.dsl.values.stored import ABSENT, ordered
from statewalk.dsl.view import Disabled
from statewalk.dsl.words.lookahead import lasting, without_places


def is_count(value: object, least: int = 1) -> bool:
    """Return whether a value is a number of things: 2.5 and True are none."""
    return type(value) is int and value >= least


def a_count(said: str, value: object, least: int = 1) -> None:
    """Raise SpecError[SW119] unless the value is a count of at least ``least``."""
    if not is_count(value, least):
        raise _odd(said, f"a number from {least} on", value)


def a_truth(said: str, value: object) -> None:
    """Raise SpecError[SW119] unless the value is True or False."""
    if type(value) is not bool:
        raise _odd(said, "True or False", value)


def a_name(said: str, value: object) -> None:
    """Raise SpecError[SW119] unless the value is a nonempty string."""
    if not isinstance(value, str) or not value:
        raise _odd(said, "a nonempty string", value)


def a_function(said: str, value: object) -> None:
    """Raise SpecError[SW119] unless the value is callable."""
    if not callable(value):
        raise _odd(said, "a function of the spec", value)


def _odd(said: str, wanted: str, value: object) -> SpecError:
    return SpecError("SW119", f"{said} must be {wanted}, not {value!r}.")


T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])
P = TypeVar("P", bound=Callable[..., bool])

Constant: TypeAlias = Annotated[T, "statewalk.constant"]
"""``N: Constant[int] = 2`` declares a constant; ``--set N=3`` and configurations override it."""
Auxiliary: TypeAlias = Annotated[T, "statewalk.auxiliary"]
"""A history field; ``--view on`` leaves it out of state identity."""
Ephemeral: TypeAlias = Annotated[T, "statewalk.ephemeral"]
"""A field that a crash of its role resets to its initial value."""
Flow: TypeAlias = Generator[None, None, T]
"""The return type of a flow: an action or function that is suspended at each ``yield``."""


def _mark(function: F, kind: str, **options: Any) -> F:
    try:
        function._statewalk_marks = [Mark(kind, options), *marks(function)]  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        said = f"@{kind} must be above a function, but got {function!r}."
        help = f"Write @action(fair={function!r})." if str(function) in FAIRNESSES else ""
        raise SpecError("SW119", said, help=help) from None
    if declaring and all(known is not function for known in declaring[-1].marked):
        declaring[-1].marked.append(function)
    return function


# -- declaring -------------------------------------------------------------------------------
@overload
def action(function: F, /) -> F: ...
@overload
def action(
    *,
    fair: Fairness = "none",
    name: str | None = None,
    flow: Literal["atomic", "serial", "parallel", "oneof"] = "atomic",
    concurrent: int = 1,
    resume: Fairness | None = None,
    crash: bool = True,
    fault: bool = False,
) -> Callable[[F], F]: ...
def action(function: Any = None, /, **options: Any) -> Any:
    """Declare an action: of the role, or of nobody on module level.

    ``fair`` holds for each instance and argument. ``flow`` divides the body into steps: one step, a
    step for each statement ("serial"), statements in any order ("parallel"), or one of the
    statements ("oneof"); a ``yield`` divides it too. At most ``concurrent`` runs of an action of
    several steps are suspended at a time. ``resume`` is the fairness of continuing one (default:
    ``fair``). ``crash=False`` exempts runs from `crashes`. A ``fault`` does not prevent a deadlock.
    """
    if function is not None:
        return _mark(function, "action")
    return lambda f: _mark(f, "action", **options)


def init(function: F, /) -> F:
    """Declare a function that changes the initial state; its choices give several initial states.

    Several run in the order of the file.
    """
    return _mark(function, "init")


def always(function: P, /) -> P:
    """Declare an invariant. Above ``@eventually``: true infinitely often."""
    return _mark(function, "always")


def eventually(function: P, /) -> P:
    """Declare that a predicate is true at least once. Above ``@always``: from some state on."""
    return _mark(function, "eventually")


def exists(function: P, /) -> P:
    """Declare a witness: a predicate that some reachable state satisfies."""
    return _mark(function, "exists")


def on_step(function: P, /) -> P:
    """Declare a step invariant, for stuttering steps too. ``old(e)`` is ``e`` before the step.

    Below ``@always @eventually``: steps that change the state satisfy it infinitely often. Below
    ``@eventually @always``: from some state on, all of them do.
    """
    return _mark(function, "on_step")


def assume(function: P, /) -> P:
    """Declare an assumption about behaviors: liveness is checked on those that satisfy it.

    It stands above ``@always @eventually`` or ``@eventually @always``, each also of steps.
    """
    return _mark(function, "assume")


def terminal(function: P, /) -> P:
    """Declare where stopping is right. Any other state without a successor is a deadlock."""
    return _mark(function, "terminal")


def constraint(function: P, /) -> P:
    """Declare where the search expands states. Above ``@on_step``: which steps it takes."""
    return _mark(function, "constraint")


def picture(function: F, /) -> F:
    """Declare a picture of the state: a function that returns a part of `draw`.

    Pages, notebooks and ``export --format picture`` draw it for each state. It only reads.
    """
    return _mark(function, "picture")


def named(name: str, /) -> Callable[[F], F]:
    """Give a property a name that differs from its function's."""
    a_name("The name in @named(...)", name)
    return lambda f: _mark(f, "named", name=name)


@overload
def mutant(target: property, /) -> Callable[[F], F]: ...
@overload
def mutant(target: F, /) -> Callable[[F], F]: ...
def mutant(target: Any, /) -> Any:
    """Declare a deliberate defect: ``@mutant(Broker.may_commit)``.

    The function replaces its target if ``MUTANT`` is its name, and has no effect otherwise.
    """
    made = Mutant(target)
    if declaring:
        declaring[-1].mutants.append(made)

    def declared(function: F) -> F:
        made.function = function
        return function

    return declared


def refines(
    spec: str, /, *, by: Callable[[], Mapping[str, Any]] | None = None, **constants: object
) -> Refines:
    """Declare a refinement of another spec: ``commit = refines("commit.py", by=seen)``.

    ``by`` is the refinement mapping: it returns values for the other's fields by name,
    ``{"Box.items": set(box.queue)}``. Fields that it leaves out are hidden; without it fields of
    equal names are compared. Steps that change none of them are stuttering. ``constants`` are the
    other's. The spec is a file beside this one or a library model.
    """
    a_name("The spec in refines(...)", spec)
    if by is not None:
        a_function("by= of refines(...)", by)
    return Refines(spec, by, constants)


# -- inside actions --------------------------------------------------------------------------
def require(condition: object, /) -> None:
    """Disable the step unless the condition is true; none of its effects happen."""
    if not condition:
        raise disabled()


def disabled() -> BaseException:
    """Return what ends a step that is not possible; an error in a property, which is no step."""
    if not binding.reading:
        return Disabled()
    said = f"A guard is false in the property '{binding.reading}'."
    why = "Properties only read: require(...) is for actions."
    help = "Return a value where the guard is false: if not condition: return True"
    return SpecError("SW103", said, why=why, help=help)


def any_of(options: Iterable[T], /, *, fair: Fairness = "none") -> T:
    """Choose nondeterministically: every option is tried; without options the step is disabled.

    A fair option that stays possible ("weak") or is possible infinitely often ("strong") is taken
    infinitely often, for each action instance and each fair choice of its step.
    """
    if fair not in FAIRNESSES:
        close = did_you_mean(str(fair).lower(), FAIRNESSES, quoted=True)
        raise SpecError("SW119", f"There is no fairness {fair!r} of a choice. {close}")
    found = listed(options)
    view = binding.view
    known = len(getattr(view, "choices", ())) < len(getattr(view, "script", ()))  # from another run
    if view is not None and type(found) is not range and not known:
        check_options(found)
    if view is None and declaring:
        said = "any_of(...) is called while the spec is loaded."
        why = "There is no step yet in which each option could be tried."
        raise SpecError("SW303", said, why=why, help="Choose in @init or in an action.")
    if not found:
        raise disabled()
    if view is None or (len(found) == 1 and fair == "none"):
        only: T = found[0]
        tell = getattr(view, "only", None)  # a view that shows a step names this choice too
        if tell is not None:
            tell(only)
        return only
    if binding.reading:
        raise SpecError(
            "SW103", f"The property '{binding.reading}' chooses.", why="Properties only read."
        )
    chosen: T = view.choose(found, fair)
    return chosen


def listed(options: Iterable[T]) -> Sequence[T]:
    """Return options in their order; what has one stays what it is, as it may be long."""
    if type(options) in (range, tuple, list):
        found: Any = options
        return found  # type: ignore[no-any-return]
    return ordered(options) if isinstance(options, set | frozenset) else list(options)


def maybe() -> bool:
    """Choose False or True."""
    return any_of([False, True])


def is_choice(found: object) -> bool:
    """Return whether this is a word that chooses: a function of the author's own is not."""
    return found is any_of or found is maybe


def interrupt(role: object, /) -> None:
    """End the suspended flows of a role instance."""
    flows = getattr(type(role), "_flows", None)
    if flows is not None and binding.view is not None:
        flows.interrupt(role)


def crash(role: object, /) -> None:
    """End the suspended flows of a role instance and reset its ``Ephemeral`` fields."""
    interrupt(role)
    lose = getattr(type(role), "_lose", None)
    if lose is not None and binding.view is not None:
        lose(role)


def old(value: T, /) -> T:
    """Return the value of an expression before the step, in `on_step` properties.

    Raises:  SpecError[SW121] elsewhere.
    """
    if callable(value) and binding.before is not None:
        with without_places("old"), before_the_step():
            result: T = lasting(value(), "old")
            return result
    if binding.before is not None:
        said = "old(...) is called in a function whose source is not read."
        why = "The checker recomputes the value before the step from source: of functions at "
        why += "module level or in a class, not of lambdas or of functions under your decorators."
        help = "Call it in a function written with def, without such a decorator."
        raise SpecError("SW121", said, why=why, help=help)
    if binding.view is not None:
        help = "Call it in a property with @on_step, or of a formula with on_step=True. In an "
        help += "action, keep the value: before = self.x"
        raise SpecError("SW121", "old(...) is called outside a property of steps.", help=help)
    return value


class Unreachable(AssertionError):
    """The exception that `unreachable` raises."""


def unreachable(why: str = "", /) -> NoReturn:
    """Declare that reaching this statement is a violation."""
    raise Unreachable(why or "this was declared unreachable")


def atomic() -> AbstractContextManager[None]:
    """``with atomic():`` makes the block one step."""
    return nullcontext()


def serial() -> AbstractContextManager[None]:
    """``with serial():`` ends a step after each statement that has an effect."""
    return _steps("serial")


def parallel() -> AbstractContextManager[None]:
    """``with parallel():`` runs statements, and iterations of loops, in any order, interleaved."""
    return _steps("parallel")


def _steps(flow: str) -> AbstractContextManager[None]:
    """Return a block of several steps to Python; no such block is left in what the checker runs."""
    if binding.view is not None:
        said = f"with {flow}() runs in a function that cannot be suspended."
        why = "The function is not called by its name, as in self.f(), or the checker does not "
        why += "read it: it is under a decorator, in a table, behind a variable, getattr or map."
        help = "Call the function by its name, or remove the block."
        raise SpecError("SW116", said, why=why, help=help)
    return nullcontext()


class _OneOf(AbstractContextManager[None]):
    """A stand-in for `oneof`, since Python cannot skip statements."""

    def __enter__(self) -> None:
        said = "oneof() works only in a spec that the checker runs: Python would run every branch."
        help = "Choose with any_of(...), or let the checker run the spec."
        raise SpecError("SW118", said, help=help)

    def __exit__(self, *error: object) -> None:
        return None


def oneof() -> AbstractContextManager[None]:
    """``with oneof():`` runs one of the statements."""
    return _OneOf()


# -- helpers ---------------------------------------------------------------------------------
def pairs(items: Iterable[T], /) -> Iterator[tuple[T, T]]:
    """Return every unordered pair."""
    return itertools.combinations(list(items), 2)


def symmetric_values(name: str, count: int, /) -> tuple[str, ...]:
    """Return the interchangeable values ``name0``, ``name1``, ..."""
    a_name("The first of symmetric_values(...)", name)
    a_count("The second of symmetric_values(...)", count, 0)
    values = tuple(f"{name}{i}" for i in range(count))
    if declaring:
        declaring[-1].symmetric_values.append(values)
    return values


# -- configurations --------------------------------------------------------------------------
def threads(most: int, /) -> None:
    """Bound the suspended runs of actions: with that many, no action starts."""
    a_count("The argument of threads(...)", most)
    if declaring:
        declaring[-1].options["threads"] = most


def crashes(may: bool = False, /, *, runs: bool | None = None, roles: bool | None = None) -> None:
    """Allow crashes at any time: of suspended runs, and of roles with ``Ephemeral`` fields.

    ``crashes(True)`` allows both. See `crash`.
    """
    runs, roles = may if runs is None else runs, may if roles is None else roles
    for given in (may, runs, roles):
        a_truth("The argument of crashes(...)", given)
    if declaring:
        declaring[-1].options["crashes"] = runs
        declaring[-1].options["role_crashes"] = roles


def deadlock(check: bool, /) -> None:
    """``deadlock(False)`` allows states without a successor."""
    a_truth("What deadlock(...) takes", check)
    if declaring:
        declaring[-1].options["deadlock"] = check


R = TypeVar("R", bound=Role)


def instances(role: type[R], /) -> tuple[R, ...]:
    """Return the existing instances of a role class and its subclasses, in order."""
    return tuple(one for kind in role._kinds for one in kind._instances if one.there)


def end(role: Role, /) -> None:
    """End a role of a class with ``at_most``.

    Its fields lose their values, its suspended flows end. The state must not refer to it after the
    step.
    """
    cls = type(role)
    if cls._room is None:
        said = f"{role!r} cannot end: a {cls.__name__} exists from the beginning."
        help = "Declare how many there may be, so that they can end: "
        help += f"class {cls.__name__}(Role, at_most={len(cls._instances)})."
        raise SpecError("SW212", said, help=help)
    view = current_view()
    if not role.there:
        raise no_value(role, "there")
    interrupt(role)
    for name in cls._fields:
        path = (cls.__name__, role.index, name)
        forbid_change(path)
        forget(path)
        view.set(path, False if name == "there" else ABSENT)
    binding.gone = (*binding.gone, role)
