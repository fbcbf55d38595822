"""Values of the filters of lists: what is read, refused and written is the same on the pages and over HTTP."""

import math
import re

from jury_events.conditions import Condition

MOST_CONDITIONS = 20
MOST_CONDITION = 1000
"""Conditions of a list, and characters of each."""

MOST_TEXT = 200
"""Characters of a text that is searched for."""

MOST_DOLLARS = 1e12
_DOLLARS = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?")


def searched(text: str) -> str:
    """A text that is searched for, without the blanks around it; ValueError for one that no record can have."""
    found = text.strip()
    if len(found) > MOST_TEXT:
        raise ValueError(f"at most {MOST_TEXT} characters; search for words or part of an id")
    if not found.isprintable():
        raise ValueError("a character is not printable; search for words or part of an id")
    return found


def dollars(text: str) -> float:
    """An amount of US dollars; ValueError for what is none."""
    found = float(text) if _DOLLARS.fullmatch(text.strip()) else math.nan
    if not found <= MOST_DOLLARS:
        raise ValueError("must be an amount of dollars, such as 0.25")
    return found


def written_dollars(amount: float) -> str:
    """An amount as an address has it: every digit that it has."""
    return repr(amount).removesuffix(".0")


def conditions_equal(**values: str | None) -> tuple[Condition, ...]:
    """The conditions that these fields have these values; None is no condition."""
    return tuple(Condition(field, "=", value) for field, value in values.items() if value is not None)
