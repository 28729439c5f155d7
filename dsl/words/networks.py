"""The words for messages between roles: `Network` and `on_message`.

A class of networks becomes ordinary fields and actions when its text is read
(`dsl.source.networks`); what is here declares options, and speaks for type checkers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args, overload

from statewalk.dsl.declared import FAIRNESSES, Fairness
from statewalk.dsl.errors import SpecError, did_you_mean
from statewalk.dsl.state.roles import Role, State
from statewalk.dsl.values.records import Record

Kind = Literal["bag", "set", "queue", "fifo", "kept"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FAULTS = ("loss", "duplicates", "reorder", "partitions")

M = TypeVar("M")
R = TypeVar("R", bound=Role)
H = TypeVar("H", bound=Callable[..., object])


if TYPE_CHECKING:

    class _Of(State, Generic[M, R]): ...

else:

    class _Of(State):
        __class_getitem__ = classmethod(GenericAlias)


class Network(_Of[M, R]):
    """Messages in transit: ``class Wire(Network[Request | Reply, Client | Server], loss=True)``.

    The first type in brackets is what travels, the second who receives. A field of each receiver,
    named as the class in lower case, holds what is in transit to it. ``kind`` says how:
    "bag" in no order, "set" with equal messages merged, "fifo" in order from each sender, "queue"
    in order from whoever sends, "kept" in no order and never removed.

    Faults are True, for any number of times, or a number, for at most so many: ``loss``,
    ``duplicates`` (a message is received and stays), ``reorder`` (of neighbours in a line),
    ``partitions`` (into two sides, which ``heal`` joins with that fairness). One that is off adds
    nothing.
    """

    def __init_subclass__(
        cls,
        *,
        kind: Kind = "bag",
        loss: bool | int = False,
        duplicates: bool | int = False,
        reorder: bool | int = False,
        partitions: bool | int = False,
        heal: Fairness = "none",
        **options: Any,
    ) -> None:
        for name in options.keys() - {"symmetric", "at_most"}:
            close = did_you_mean(name, ("kind", *FAULTS, "heal"))
            raise SpecError("SW130", f"A network has no option {name}=. {close}")
        super().__init_subclass__(**options)
        faults: dict[str, Any] = dict(
            zip(FAULTS, (loss, duplicates, reorder, partitions), strict=True)
        )
        _check_options(cls.__name__, kind, faults, heal)
        _check_types(cls)

    def send(self, to: R, message: M, /) -> None:
        """Put a message in transit to a receiver."""
        raise not_read()

    def broadcast(self, to: Iterable[R], message: M, /) -> None:
        """Send a message to each of some receivers."""
        raise not_read()

    def receive(self, by: R, /) -> M:
        """Choose a message that can be received, and take it out; disabled without one."""
        raise not_read()

    def to(self, role: R, /) -> Collection[M]:
        """Return the messages in transit to a receiver."""
        raise not_read()

    def drop(self, role: R, /) -> None:
        """Lose what is in transit to a role and, where messages have a source, from it."""
        raise not_read()

    def connects(self, one: Role, other: Role, /) -> bool:
        """Return whether no partition is between two roles."""
        raise not_read()


@overload
def on_message(function: H, /) -> H: ...
@overload
def on_message(*, fair: Fairness = "none", each: Fairness = "none") -> Callable[[H], H]: ...
def on_message(function: Any = None, /, **options: Any) -> Any:
    """Declare the action of receiving: ``def reply(self, reply: Reply)`` is called with a message.

    The type of the parameter says which messages. ``fair`` is the fairness of the action, ``each``
    that of each message, as of an option of `any_of`.
    """
    if function is not None:
        return function
    return lambda handler: handler


def not_read() -> SpecError:
    """Return the error of a method that only the checker has."""
    said = "A network or clock works only in a spec that the checker runs."
    return SpecError("SW130", said, help="Check the spec: statewalk check SPEC")


def _check_options(name: str, kind: object, faults: dict[str, Any], heal: object) -> None:
    """Raise SpecError[SW130] for options of a network that mean nothing."""
    for option, value, known in (("kind", kind, KINDS), ("heal", heal, FAIRNESSES)):
        if value not in known:
            shown = ", ".join(f'"{one}"' for one in known)
            raise SpecError("SW130", f"{option}= of {name} is one of {shown}, not {value!r}.")
    for option, value in faults.items():
        if type(value) not in (bool, int) or value < 0:
            said = f"{option}= of {name} must be True, False or a number from 0 on, not {value!r}."
            help = f"Write {option}=True for any number of times, {option}=1 for at most one."
            raise SpecError("SW130", said, help=help)
    for option, why in _EMPTY.get(str(kind), {}).items():
        if faults[option]:
            said = f'{option}= of {name} adds nothing: its kind is "{kind}".'
            raise SpecError(
                "SW130", said, why=why, help=f"Leave out {option}=, or choose another kind."
            )


_UNORDERED = {"reorder": "Messages are received in any order."}
_EMPTY: dict[str, dict[str, str]] = {
    "bag": _UNORDERED,
    "set": _UNORDERED,
    "kept": {
        "loss": "A message need not be received, so it may be lost.",
        "duplicates": "Messages stay, and are received again.",
        **_UNORDERED,
    },
}


def _check_types(cls: type) -> None:
    """Raise SpecError[SW130] for a network of values that are no messages, or to no roles."""
    for base in vars(cls).get("__orig_bases__", ()):
        given = get_args(base)
        for kind, types in zip((Record, Role), given, strict=False):
            for one in get_args(types) or (types,):
                if isinstance(one, type) and not issubclass(one, kind):
                    said = f"{cls.__name__} is a network of {one.__name__}, which is no message."
                    help = "Write a class of messages: class Ping(Message): number: int"
                    if kind is Role:
                        said = f"{cls.__name__} is a network to {one.__name__}, which is no role."
                        help = "Name the roles that receive: Network[Ping, Client | Server]"
                    raise SpecError("SW130", said, help=help)
