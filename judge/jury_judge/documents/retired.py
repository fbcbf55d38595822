"""Warnings for retired models of the documents."""

import warnings
from collections.abc import Iterable
from datetime import UTC, datetime

from jury_providers.catalogue import retirement_warnings


class RetiredModelWarning(UserWarning):
    """A model is retired, or will be; the message names a replacement."""


def warn_of_retired(models: Iterable[str], *, stacklevel: int) -> None:
    """Warn of each model (`provider/model`) with an end date; `stacklevel` counts from the caller of this function."""
    for warning in retirement_warnings(models, datetime.now(UTC).date()):
        warnings.warn(warning, RetiredModelWarning, stacklevel=stacklevel + 1)
