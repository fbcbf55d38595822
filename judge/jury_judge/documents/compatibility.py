"""The warning for a call of which a part has no meaning here, or another one."""

import warnings
from collections.abc import Iterable


class CompatibilityWarning(UserWarning):
    """A call of the documents' classes was accepted, but not all of it as it stands; the message says what was done."""


def warn_of(messages: Iterable[str], *, stacklevel: int) -> None:
    """Warn of each of `messages`, one sentence each; `stacklevel` counts from the caller of this."""
    for message in messages:
        warnings.warn(message, CompatibilityWarning, stacklevel=stacklevel + 1)
