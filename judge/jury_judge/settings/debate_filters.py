"""Filters of debates as pairs of a name and a text: `status=failed`, `min-cost=0.5`."""

import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

from jury_events.conditions import Condition
from jury_events.debate_status import DebateStatus
from jury_events.ladder import MOST_STAGES
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_judge.errors import SettingsRefused, escaped
from jury_store.debate_rows import DebateFilter

_MOST_COST = 1e12
_MOST_SEARCHED = 200
"""Characters of a search."""


def _one_of(*values: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in values:
            raise ValueError(f"must be one of {', '.join(values)}")
        return text

    return read


def _dollars(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found <= _MOST_COST:
        raise ValueError(f"must be dollars, from 0 to {_MOST_COST:g}")
    return found


def _searched(text: str) -> str:
    sought = text.strip()
    if not sought or len(sought) > _MOST_SEARCHED or not sought.isprintable():
        raise ValueError(
            f"must be 1 to {_MOST_SEARCHED} printable characters: a word that jurors wrote, a piece of an id"
        )
    return sought


def _stage(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_STAGES:
        raise ValueError(f"must be the number of a stage, from 1 to {MOST_STAGES}")
    return int(text)


_VERDICT = _one_of(*(verdict.value for verdict in Verdict))

_READ: dict[str, Callable[[str], Any]] = {
    "search": _searched,
    "status": _one_of(*get_args(DebateStatus)),
    "verdict": _VERDICT,
    "disposition": _VERDICT,
    "reviewed": lambda text: _one_of("yes", "no")(text) == "yes",
    "model": str,
    "quorum": lambda text: _one_of("met", "lost")(text) == "met",
    "partly-read": lambda text: _one_of("yes", "no")(text) == "yes",
    "split": lambda text: _one_of("yes", "no")(text) == "yes",
    "min-cost": _dollars,
    "max-cost": _dollars,
    "stage": _stage,
}
FILTERS = tuple(_READ)
"""Their names: those of the options of `jury list`."""


def debate_filter(filters: Mapping[str, str], where: tuple[Condition, ...] = ()) -> DebateFilter:
    """The filter of these pairs and conditions.

    Raises:
        SettingsRefused: there is no such filter, or it cannot have that value.
    """
    chosen: dict[str, Any] = {}
    for name, text in filters.items():
        shown = escaped(f"{visible_line(name, 60)}={visible_line(text, 60)}")
        if name not in _READ:
            raise SettingsRefused(
                f"{{filters}} {shown}: there is no such filter{escaped(did_you_mean(name, FILTERS))}; the filters are "
                f"{', '.join(FILTERS)}"
            )
        try:
            chosen[name.replace("-", "_")] = _READ[name](text)
        except ValueError as error:
            raise SettingsRefused(f"{{filters}} {shown}: {error}") from error
    return DebateFilter(where=where, **chosen)
