"""One page of the list of debates."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, NamedTuple, get_args
from urllib.parse import urlencode

from pydantic import BeforeValidator, ValidationError

from jury_events.conditions import parse_conditions
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.evaluation import EVIDENCE_VALUES
from jury_events.ladder import MOST_STAGES
from jury_events.outcome import DebateStatus
from jury_judge import BadCursor, DebateFilter, DebateRow, IntegrityState, PageCursor, SortOrder
from jury_judge.comparisons.comparison import Excerpt
from jury_judge.serving.store_reader import StoreReader, recorded_row
from jury_views.debate_fold import answered_in_stream, change_counts, position_changes
from jury_views.reasons import VerdictReason
from jury_web.list_parameters import MOST_CONDITION, MOST_CONDITIONS, DebateParameters, written_parameter
from jury_web.pages.page_request import PageNotFound

NEWEST = SortOrder()
STATUSES: tuple[DebateStatus, ...] = get_args(DebateStatus)

STAGES = tuple(map(str, range(1, MOST_STAGES + 1)))
"""Of a ladder."""

REASON = "reason"
"""The column that is a line of its own, below the others."""

DEFAULT_COLUMNS = ("verdict", "score", "agreement", "rounds", "quorum", "integrity", "run", "opened", REASON)
PAGE_COLUMNS = (
    *("status", "verdict", "score", "label", "agreement", "rounds", "quorum", "integrity", "method", "models", "calls"),
    *("input_tokens", "output_tokens", "cost", "agent_cost", "not_shown", "run", "opened", "begun", "updated", "ended"),
    REASON,
)
"""Columns after the case, in this order. Integrity is computed for each row, and cannot be sorted by."""


def _columns(values: Sequence[str]) -> tuple[str, ...]:
    names = [one.strip() for value in values for one in value.split(",") if one.strip()]
    if any(name not in PAGE_COLUMNS for name in names):
        raise ValueError(f"choose among {', '.join(PAGE_COLUMNS)}")
    return tuple(name for name in PAGE_COLUMNS if name in names) or DEFAULT_COLUMNS


class ListQuery(DebateParameters):
    """The query of a page of the list, with its columns; `check`: whether the records of its debates are checked."""

    columns: Annotated[tuple[str, ...], BeforeValidator(_columns)] = DEFAULT_COLUMNS
    check: bool = False

    @property
    def place(self) -> PageCursor | None:
        """Where the page before ended; None: this is the first one."""
        try:
            return None if self.after is None else self.sorting.decode_cursor(self.after)
        except BadCursor as error:
            raise PageNotFound(f"after: {error}") from None

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(one for one in self.columns if one != REASON)

    @property
    def filtered(self) -> bool:
        return self.chosen != DebateFilter()

    @property
    def newest_first(self) -> bool:
        return self.sorting == NEWEST

    @property
    def more(self) -> bool:
        """Whether a parameter of the folded part of the form is set."""
        rare = (*EVIDENCE_VALUES, "label", "quorum", "partly_read", "split", "model", "min_cost", "max_cost", "stage")
        set_ = any(getattr(self, name) is not None for name in rare)
        return set_ or not self.newest_first or self.columns != DEFAULT_COLUMNS

    def page(self, **changes: Any) -> str:
        """The URL of the list with these parameters changed."""
        wanted = self.model_copy(update=changes)
        query = urlencode({name: _in_address(value) for name, value in wanted.given().items()}, doseq=True)
        return f"/?{query}" if query else "/"

    def sorted_by(self, column: str) -> str:
        """The URL of the list sorted by a column: descending, or ascending where it is sorted descending now."""
        ascending = self.sort == column and self.order == "desc"
        return self.page(sort=column, order="asc" if ascending else "desc", after=None, check=False)


def _in_address(value: Any) -> Any:
    return ("no", "yes")[value] if isinstance(value, bool) else written_parameter(value)


def list_query(query: Mapping[str, str], where: Sequence[str] = (), columns: Sequence[str] = ()) -> ListQuery:
    """The query of a URL; empty parameters are ignored.

    Args:
        columns: the columns; the default ones where it is empty.
    """
    given = {name: text.strip() for name, text in query.items() if name in ListQuery.model_fields and text.strip()}
    try:
        read = ListQuery.model_validate({**given, "where": [one for one in where if one.strip()], "columns": columns})
    except ValidationError as error:
        raise PageNotFound(_refusal(error)) from None
    parse_conditions(read.where, recorded=True)
    return read


def _refusal(error: ValidationError) -> str:
    """The first parameter that is refused, and why."""
    first = error.errors()[0]
    name, said = str(first["loc"][0]), first["msg"].removeprefix("Value error, ")
    if name == "run":
        said = "invalid run id; the page of runs lists the runs"
    elif name == "where":
        said = f"at most {MOST_CONDITIONS} conditions of {MOST_CONDITION:,} characters each"
    elif expected := first.get("ctx", {}).get("expected"):
        said = f"choose one of {expected}"
    return f"{name}: {said}"


PAGE = 50
"""Debates on one page."""

_AT_ONCE = 5


class AgreementCell(NamedTuple):
    """Beside the votes: positions that jurors changed themselves, `synthetic` (blocked answers) and `stale` votes."""

    changes: int
    synthetic: int
    stale: int


class ListRow(NamedTuple):
    """A debate of the list, with `agreement` once there are votes, and `integrity` where it was checked.

    `excerpt` is the match of a search, None where it matched an id. `why`: the reason of the verdict; None where there
    is no verdict, the column is not wanted, or the record was altered.
    """

    debate: DebateRow
    agreement: AgreementCell | None
    integrity: IntegrityState | None
    excerpt: Excerpt | None
    why: VerdictReason | None


class ListPage(NamedTuple):
    """One page; `after` is where the next page begins, None on the last page."""

    rows: tuple[ListRow, ...]
    after: str | None
    checked: bool


def list_page(reader: StoreReader, found: Sequence[DebateRow], query: ListQuery) -> ListPage:
    """The page of `found`, which has one debate more than a page where a next page exists.

    Args:
        found: in the order of the query.
        query: the parameters; checking records takes about a millisecond each.
    """
    shown = found[:PAGE]
    order = query.sorting
    after = order.encode_cursor(order.cursor(asdict(shown[-1]))) if len(found) > len(shown) else None
    ids = [row.debate_id for row in shown]
    histories = reader.events_of(ids if "agreement" in query.columns else [])
    streams = {history.debate_id: history.stored_events for history in histories}
    matches = reader.excerpts(ids, query.search) if query.search else {}
    reasons = reader.reasons(ids if REASON in query.columns else [])
    states: dict[str, IntegrityState] = {}
    # A few at a time: their texts are in memory, and may be long.
    for start in range(0, len(ids) if query.check else 0, _AT_ONCE):
        records = reader.histories(ids[start : start + _AT_ONCE])
        states |= zip(ids[start:], reader.integrity(records), strict=False)
        checked = {record.debate_id: record for record in records}
        # The row of a checked debate is made of its events, so that it shows what was checked.
        shown = [recorded_row(row, checked[row.debate_id]) if row.debate_id in checked else row for row in shown]
    rows = (
        ListRow(
            row,
            agreement(streams.get(row.debate_id, ())),
            states.get(row.debate_id),
            matches.get(row.debate_id),
            reasons.get(row.debate_id) if (state := states.get(row.debate_id)) is None or state.intact else None,
        )
        for row in shown
    )
    return ListPage(tuple(rows), after, checked=query.check)


def agreement(stream: Sequence[StoredEvent]) -> AgreementCell | None:
    """The agreement of the votes of a debate; None without votes, and where its record cannot be decoded."""
    try:
        votes = next(
            (json.loads(one.body)["judgment"]["votes"] for one in stream if one.type == "judgment_rendered"), None
        )
        if not votes:
            return None
        kinds = Counter(vote["kind"] for vote in votes)
        changes = change_counts(position_changes(answered_in_stream(stream)))
        return AgreementCell(changes.own, kinds["synthetic"], kinds["stale"])
    except (EventError, ValueError, KeyError, TypeError, RecursionError):
        return None
