"""What may be given to the words of a spec, looked at where it is declared (SW119)."""

from __future__ import annotations

from statewalk.dsl.errors import SpecError


def is_count(value: object, least: int = 1) -> bool:
    """Whether a value is a number of things: 2.5 and True are none."""
    return type(value) is int and value >= least


def a_count(said: str, value: object, least: int = 1) -> None:
    """Raises SpecError[SW119] for what is no number of things."""
    if not is_count(value, least):
        raise _odd(said, f"a number from {least} on", value)


def a_truth(said: str, value: object) -> None:
    """Raises SpecError[SW119] for what is not True or False."""
    if type(value) is not bool:
        raise _odd(said, "True or False", value)


def a_name(said: str, value: object) -> None:
    """Raises SpecError[SW119] for what names nothing."""
    if not isinstance(value, str) or not value:
        raise _odd(said, "a text", value)


def a_function(said: str, value: object) -> None:
    """Raises SpecError[SW119] for what cannot be asked in a state."""
    if not callable(value):
        raise _odd(said, "a function of the spec", value)


def _odd(said: str, wanted: str, value: object) -> SpecError:
    return SpecError("SW119", f"{said} is {wanted}, not {value!r}.")
