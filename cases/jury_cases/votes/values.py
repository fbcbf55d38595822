"""Numbers, flags and names in cells of votes: JSON values, or their text in a table of texts."""

import math
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.facts import as_label
from jury_cases.transcripts.json_values import json_kind
from jury_events.text.visible_text import visible_line

_SHORT = 100
_UNLIMITED = 2**31 - 1
_FLAGS = {"true": True, "false": False}


def name_of(written: Any, part: str) -> str | None:
    """An id or name as one line of at most 300 characters; None for blank text."""
    if isinstance(written, str) and written.isprintable() and 0 < len(written) <= _SHORT and " " not in written:
        return written  # as nearly all are
    if isinstance(written, float) and written.is_integer():
        written = int(written)
    if isinstance(written, bool) or not isinstance(written, str | int):
        raise CaseFileError(f"{part}: must be text or a whole number, not {json_kind(written)}")
    return as_label(written if isinstance(written, str) else str(written)) or None


def whole_number(written: Any, part: str, least: int, most: int = _UNLIMITED) -> int:
    """A whole number from `least` to `most`."""
    number = _number(written)
    if not (number.is_integer() and least <= number <= most):
        upper = f"to {most}" if most < _UNLIMITED else "up"
        raise CaseFileError(f"{part}: must be a whole number from {least} {upper}, not {_shown(written)}")
    return int(number)


def number_within(written: Any, part: str, least: float, most: float) -> float:
    """A number from `least` to `most`."""
    number = _number(written)
    if not least <= number <= most:
        upper = "up" if math.isinf(most) else f"to {most:g}"
        remedy = "" if math.isinf(most) else f"; rescale the column, or leave it out with --field {part}="
        raise CaseFileError(f"{part}: must be a number from {least:g} {upper}, not {_shown(written)}{remedy}")
    return number


def flag_of(written: Any, part: str) -> bool:
    """True or false."""
    found = written if isinstance(written, bool) else _FLAGS.get(str(written).strip().lower())
    if found is None:
        raise CaseFileError(f"{part}: must be true or false, not {_shown(written)}")
    return found


def _number(written: Any) -> float:
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return math.nan
    try:
        found = float(written)
    except (ValueError, OverflowError):
        return math.nan
    return found if math.isfinite(found) else math.nan


def _shown(written: Any) -> str:
    return visible_line(repr(written), 60) if isinstance(written, str | int | float) else json_kind(written)
