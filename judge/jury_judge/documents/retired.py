"""Models of the documents that are no more, said where they are asked for."""

import warnings
from collections.abc import Iterable
from datetime import UTC, datetime

from jury_providers.catalogue import retirement_warnings


class RetiredModelWarning(UserWarning):
    """A model is retired, or will be; the message names the one to ask instead."""


def warn_of_retired(models: Iterable[str], *, stacklevel: int) -> None:
    """Warn of each of `models` (`provider/model`) that has an end; `stacklevel` counts from the caller of this."""
    for warning in retirement_warnings(models, datetime.now(UTC).date()):
        warnings.warn(warning, RetiredModelWarning, stacklevel=stacklevel + 1)
