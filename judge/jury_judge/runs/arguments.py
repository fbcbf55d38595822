"""Checks of what callers in Python give."""

import math
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jury_events.errors import SettingError
from jury_events.ids import MOST_REPEATS
from jury_events.text import condensed, visible_line
from jury_events.value import Label, NewDebateId, NewRunId

_RUN_ID = TypeAdapter(NewRunId)
_DEBATE_ID = TypeAdapter(NewDebateId)
_NAME = TypeAdapter(Label)


def check_ids(run_id: str | None, debate_id: str | None = None, submission_id: str | None = None) -> None:
    """Refuse ids that no event can have.

    Raises:
        SettingError: names the argument.
    """
    named = {
        "debate_id": (_DEBATE_ID, debate_id),
        "run_id": (_RUN_ID, run_id),
        "submission_id": (_NAME, submission_id),
    }
    for name, (form, value) in named.items():
        try:
            form.validate_python(value) if value is not None else None
        except ValidationError as error:
            shown = visible_line(repr(value), 80)
            raise SettingError(f"{name}: {shown} is invalid ({condensed(error)})") from error


def check_bounds(**bounds: tuple[Any, int]) -> None:
    """Refuse numbers below their minimum, NaN, infinity, and values of other types.

    Raises:
        SettingError: names the argument.
    """
    for name, (value, least) in bounds.items():
        if value is not None and not (isinstance(value, int | float) and least <= value < math.inf):
            raise SettingError(f"{name}: must be a number from {least}, not {visible_line(repr(value), 40)}")


def check_repeat(repeat: Any) -> None:
    """Refuse a number of debates that a case cannot have.

    Raises:
        SettingError: it is not a whole number from 1 to `MOST_REPEATS`.
    """
    if isinstance(repeat, bool) or not isinstance(repeat, int) or not 1 <= repeat <= MOST_REPEATS:
        shown = visible_line(repr(repeat), 40)
        raise SettingError(f"repeat: must be a whole number from 1 to {MOST_REPEATS}, not {shown}")
