"""Warnings for accepted calls with arguments that are ignored or converted."""

import warnings
from collections.abc import Iterable


class CompatibilityWarning(UserWarning):
    """A call was accepted, but an argument was ignored or converted; the message describes it."""


def warn_of(messages: Iterable[str], *, stacklevel: int) -> None:
    """Issue a warning for each message; `stacklevel` counts from the caller of this function."""
    for message in messages:
        warnings.warn(message, CompatibilityWarning, stacklevel=stacklevel + 1)
