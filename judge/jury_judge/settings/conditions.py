"""Conditions on cases and on recorded debates, as fields of settings."""

from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator

from jury_events.conditions import Condition, parse_conditions
from jury_events.errors import BadCondition
from jury_events.text import visible_line


def _conditions(value: Any, *, recorded: bool = False) -> Any:
    """Texts are parsed."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        try:
            return parse_conditions(value, recorded=recorded)
        except BadCondition as error:
            raise ValueError(visible_line(str(error), 1000)) from error
    return value


Conditions = Annotated[tuple[Condition, ...], BeforeValidator(_conditions)]
"""Conditions on cases; texts are parsed."""

RecordedConditions = Annotated[tuple[Condition, ...], BeforeValidator(partial(_conditions, recorded=True))]
"""Conditions on the cases of recorded debates, or on their quotations; texts are parsed."""
