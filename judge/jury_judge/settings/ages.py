"""How old something may be: `7d`, `12h`, `30m`."""

import re
from typing import Annotated

from pydantic import AfterValidator

from jury_judge.settings.option import Option

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


def _checked(text: str) -> str:
    age_seconds(text)
    return text


Age = Annotated[str, AfterValidator(_checked)]
"""Days, hours or minutes."""

DRIFT_CHECK = Option(
    help="Refuse a panel whose last drift check is older, as 7d or 12h, or found something.",
    group="Decision",
    metavar="AGE",
    rare=True,
)
"""`--require-drift-check`."""
