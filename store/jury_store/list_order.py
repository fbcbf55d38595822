"""In which order a list of debates is read, page by page, and where the page before ended.

The order is total: debates with the same value come in the order in which they opened. What is not known is less than
anything that is, on every database.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

SORT_COLUMNS: Mapping[str, str] = {
    "opened": "position",
    "updated": "updated_at",
    "ended": "ended_at",
    "case": "case_id",
    "debate": "debate_id",
    "run": "run_id",
    "status": "status",
    "verdict": "final_verdict",
    "score": "final_score",
    "label": "label",
    "cluster": "cluster",
    "method": "method",
    "rounds": "rounds",
    "quorum": "quorum_met",
    "calls": "calls",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    "agent_cost": "agent_cost",
    "not_shown": "not_shown",
}
"""By what debates can be sorted, and the column that holds it."""

_TEXTS = frozenset({"case", "debate", "run", "status", "verdict", "label", "cluster", "method"})
_FLAGS = frozenset({"quorum"})


class BadCursor(ValueError):
    """This is no place in the list."""


class PageCursor(NamedTuple):
    """Where a page of a list ended: the last debate's position, and the value by which the list is sorted."""

    position: int
    value: str | float | bool | None = None


class SortOrder(NamedTuple):
    """`by`: a name of `SORT_COLUMNS`."""

    by: str = "opened"
    descending: bool = True

    @property
    def column(self) -> str:
        """The column that holds it."""
        return SORT_COLUMNS[self.by]

    def place(self, row: Mapping[str, Any]) -> PageCursor:
        """Where a row is, by the names of its columns."""
        return PageCursor(row["position"], None if self.by == "opened" else row[self.column])

    def key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """By what rows are sorted in memory, ascending."""
        return _key(self.place(row))

    def is_beyond(self, row: Mapping[str, Any], after: PageCursor | None) -> bool:
        """Whether a row comes after a place."""
        if after is None:
            return True
        mine, theirs = self.key(row), _key(after)
        return mine < theirs if self.descending else mine > theirs

    def written(self, place: PageCursor) -> str:
        """A place as an address has it: `17`, or `17:"needs_review"`, the value as JSON."""
        return str(place.position) if self.by == "opened" else f"{place.position}:{json.dumps(place.value)}"

    def read(self, text: str) -> PageCursor:
        """The place that `text` writes.

        Raises:
            BadCursor: it writes none.
        """
        number, colon, value = text.partition(":")
        if not (
            number.isascii() and number.isdigit() and len(number) <= _DIGITS and (self.by != "opened") == bool(colon)
        ):
            raise BadCursor("this is no place in this list; take the addresses that its pages give")
        try:
            found = json.loads(value) if colon else None
        except (ValueError, RecursionError):
            raise BadCursor("this is no place in this list; take the addresses that its pages give") from None
        if found is not None and not self._fits(found):
            raise BadCursor(f"this is no place in a list sorted by {self.by}; take the addresses that its pages give")
        return PageCursor(int(number), found)

    def _fits(self, value: object) -> bool:
        """Whether the column can hold it."""
        if self.by in _FLAGS:
            return isinstance(value, bool)
        if self.by not in _TEXTS:
            return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
        return isinstance(value, str) and "\0" not in value and not any("\ud800" <= one <= "\udfff" for one in value)


NEWEST = SortOrder()
OLDEST = SortOrder(descending=False)

_DIGITS = 15
_MOST = 2**53


def _key(place: PageCursor) -> tuple[Any, ...]:
    value = place.value
    if value is None:
        return (0, place.position)
    return (1, value.encode() if isinstance(value, str) else value, place.position)
