"""The sort order of a list of debates, and cursors for reading it page by page.

The order is total: debates with equal values are sorted by their opening. Null sorts after every value, in both
directions and on every database: who looks for the lowest scores looks for no debates without one.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

SORT_COLUMNS: Mapping[str, str] = {
    "opened": "position",
    "begun": "begun_at",
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
    "agreement": "agreement",
    "calls": "calls",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    "agent_cost": "agent_cost",
    "not_shown": "not_shown",
}
"""Column by the name of the sort key."""

_TEXTS = frozenset({"case", "debate", "run", "status", "verdict", "label", "cluster", "method"})
_FLAGS = frozenset({"quorum"})
_MAX_DIGITS = 15
_MAX_NUMBER = 2**53
_REMEDY = "use the addresses that its pages link to"


class BadCursor(ValueError):
    """The text is not a cursor into the list."""


class PageCursor(NamedTuple):
    """The last debate of a page: its position, and its value of the sort column."""

    position: int
    value: str | float | bool | None = None


class SortOrder(NamedTuple):
    """`by`: a key of `SORT_COLUMNS`."""

    by: str = "opened"
    descending: bool = True

    @property
    def column(self) -> str:
        """The name of the sort column."""
        return SORT_COLUMNS[self.by]

    def cursor(self, row: Mapping[str, Any]) -> PageCursor:
        """The cursor after a row, given by column names."""
        return PageCursor(row["position"], None if self.by == "opened" else row[self.column])

    def key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The sort key of a row in memory: of a descending order, for sorting in reverse."""
        return self._key(self.cursor(row))

    def is_after(self, row: Mapping[str, Any], after: PageCursor | None) -> bool:
        """Whether a row comes after a cursor."""
        if after is None:
            return True
        mine, theirs = self.key(row), self._key(after)
        return mine < theirs if self.descending else mine > theirs

    def encode_cursor(self, cursor: PageCursor) -> str:
        """A cursor as text in a URL: `17`, or `17:"case-9"`, the value as JSON."""
        return str(cursor.position) if self.by == "opened" else f"{cursor.position}:{json.dumps(cursor.value)}"

    def decode_cursor(self, text: str) -> PageCursor:
        """The cursor of `encode_cursor`."""
        number, colon, value = text.partition(":")
        if not (
            number.isascii()
            and number.isdigit()
            and len(number) <= _MAX_DIGITS
            and (self.by != "opened") == bool(colon)
        ):
            raise BadCursor(f"this is not a cursor into this list; {_REMEDY}")
        try:
            found = json.loads(value) if colon else None
        except (ValueError, RecursionError):
            raise BadCursor(f"this is not a cursor into this list; {_REMEDY}") from None
        if found is not None and not self._is_column_value(found):
            raise BadCursor(f"this is not a cursor into a list sorted by {self.by}; {_REMEDY}")
        return PageCursor(int(number), found)

    def _key(self, cursor: PageCursor) -> tuple[Any, ...]:
        value = cursor.value
        if value is None:
            return (0 if self.descending else 2, cursor.position)
        return (1, value.encode() if isinstance(value, str) else value, cursor.position)

    def _is_column_value(self, value: object) -> bool:
        if self.by in _FLAGS:
            return isinstance(value, bool)
        if self.by not in _TEXTS:
            return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MAX_NUMBER
        return isinstance(value, str) and "\0" not in value and not any("\ud800" <= one <= "\udfff" for one in value)


NEWEST = SortOrder()
OLDEST = SortOrder(descending=False)
