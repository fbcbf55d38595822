"""Fields that several settings have: a store, ids, names, conditions, ages."""

import re
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from jury_events.conditions import Condition, parse_conditions
from jury_events.errors import BadCondition
from jury_events.ids import is_debate_id, is_run_id
from jury_events.text import visible_line
from jury_events.value import reachable
from jury_judge.settings.store import STORE_URL
from jury_judge.settings_model import Option, SettingsModel

STORE = Option(
    help="sqlite:///PATH or postgresql://USER@HOST/DB. [default: $JURY_STORE_URL, else sqlite:///jury.db]",
    name="--store",
    metavar="URL",
    variable=STORE_URL,
)
StoreUrl = Annotated[str | None, STORE]
"""None is `JURY_STORE_URL`, else `sqlite:///jury.db`."""


class Stored(SettingsModel):
    """What is done with a store."""

    store_url: StoreUrl = None


def checked_run_id(value: str) -> str:
    """The id of a run that may not be there yet."""
    if not is_run_id(value):
        shown = visible_line(repr(value), 120)
        raise ValueError(f"{shown} cannot name a run; use 1 to 100 letters, digits, dots, hyphens, underscores")
    return reachable(value)


def checked_debate_id(value: str) -> str:
    """The id of a debate that may not be there yet."""
    if not is_debate_id(value):
        raise ValueError(f"{visible_line(repr(value), 120)} cannot be the id of a debate")
    return reachable(value)


def parted(written: Any) -> tuple[str, ...]:
    """Names parted by commas, or a list of them."""
    if written is None:
        return ()
    names = tuple(one.strip() for one in written.split(",")) if isinstance(written, str) else tuple(written)
    if not all(names):
        raise ValueError("must be names parted by commas")
    return names


Names = Annotated[tuple[str, ...], BeforeValidator(parted)]


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


_AGE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([dhm])")
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0}


def age_seconds(text: str) -> float:
    """The seconds of an age.

    Raises:
        ValueError: it is none.
    """
    found = _AGE.fullmatch(text)
    if found is None or not float(found[1]):
        raise ValueError(f"{text[:40]!r} is no age, as 7d, 12h or 30m")
    return float(found[1]) * _SECONDS[found[2]]


def _checked_age(text: str) -> str:
    age_seconds(text)
    return text


Age = Annotated[str, AfterValidator(_checked_age)]
"""Days, hours or minutes."""

LABELS = Option(
    help="Human labels that came later: case_id, label, annotator (CSV, JSON, JSONL, Parquet); or reviews: what people "
    "said in this store. They win over labels in cases; of several annotators the strict plurality counts. Repeatable.",
    metavar="FILE|reviews",
)
"""`--labels`."""

DRIFT_CHECK = Option(
    help="Refuse a panel whose last drift check is older, as 7d or 12h, or found something.",
    group="Decision",
    metavar="AGE",
    rare=True,
)
"""`--require-drift-check`."""
