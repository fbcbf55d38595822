"""Reports as JSON values."""

from dataclasses import asdict
from typing import Any

import numpy as np

from jury_analysis.wording import Reason

_DIGITS = 12  # of figures: the last bits of a sum differ from processor to processor


def json_object(report: Any) -> dict[str, Any]:
    """A report, which is a dataclass, as JSON values; figures have 12 decimal places."""
    values: dict[str, Any] = _plain(asdict(report))
    return values


def _plain(value: Any) -> Any:
    """JSON values of tuples, NumPy scalars and floats."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Reason):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    return round(value, _DIGITS) if isinstance(value, float) else value
