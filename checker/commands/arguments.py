"""Options that are more than text, as the parsers of all commands read them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def argument(read: Callable[[str], T]) -> Callable[[str], T]:
    """A reader as argparse wants it: a ValueError's text becomes the message."""

    def reader(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reader
