"""One page of the list of debates."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

from jury_events.conditions import Condition, parse_conditions
from jury_events.debate_status import DebateStatus
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.evidence_facts import EVIDENCE_VALUES
from jury_events.ids import is_run_id
from jury_events.ladder import MOST_STAGES
from jury_events.verdict import Verdict
from jury_judge import SORT_COLUMNS, BadCursor, DebateFilter, DebateRow, IntegrityState, PageCursor, SortOrder
from jury_judge.comparisons.comparison import Excerpt
from jury_judge.serving.store_reader import StoreReader, recorded_row
from jury_views.debate_fold import answered_in_stream, change_counts, position_changes
from jury_views.reasons import VerdictReason
from jury_web.list_values import MOST_CONDITION, MOST_CONDITIONS, conditions_equal, dollars, searched, written_dollars
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

_COSTS = ("min_cost", "max_cost")
_QUORUMS = {None: None, "met": True, "lost": False}
_YES_OR_NO = {None: None, "yes": True, "no": False}
_SIMULATED = {None: None, True: "yes", False: "no"}

T = TypeVar("T", bound=str)
V = TypeVar("V")


class ListQuery(NamedTuple):
    """Search, filters, order and columns; None, "" and () do not filter. `after` is the end of the page before."""

    text: str = ""
    verdict: str | None = None
    status: DebateStatus | None = None
    run_id: str | None = None
    simulated: bool | None = None
    where: tuple[Condition, ...] = ()
    label: str | None = None
    evidence: str | None = None
    decisive: str | None = None
    unsupported: str | None = None
    model: str = ""
    quorum: str | None = None
    partly_read: str | None = None
    split: str | None = None
    min_cost: float | None = None
    max_cost: float | None = None
    stage: int | None = None
    order: SortOrder = NEWEST
    columns: tuple[str, ...] = DEFAULT_COLUMNS
    after: PageCursor | None = None
    check: bool = False
    totals: bool = False

    @property
    def wanted(self) -> DebateFilter:
        """The filter of the store."""
        return DebateFilter(
            self.run_id,
            self.status,
            self.verdict,
            self.simulated,
            self.text or None,
            self.where
            + conditions_equal(
                label=self.label, evidence=self.evidence, decisive=self.decisive, unsupported=self.unsupported
            ),
            model=self.model or None,
            quorum=_QUORUMS[self.quorum],
            partly_read=_YES_OR_NO[self.partly_read],
            split=_YES_OR_NO[self.split],
            min_cost=self.min_cost,
            max_cost=self.max_cost,
            stage=self.stage,
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns without the reason."""
        return tuple(one for one in self.columns if one != REASON)

    @property
    def filtered(self) -> bool:
        """Whether a filter is set."""
        return self.wanted != DebateFilter()

    @property
    def newest_first(self) -> bool:
        """Whether the list has its default order."""
        return self.order == NEWEST

    @property
    def more(self) -> bool:
        """Whether a parameter of the folded part of the form is set."""
        quoted = (self.evidence, self.decisive, self.unsupported)
        decided = (self.label, self.quorum, self.partly_read, self.split)
        rare = (*decided, *quoted, self.model or None, self.min_cost, self.max_cost, self.stage)
        return any(one is not None for one in rare) or not self.newest_first or self.columns != DEFAULT_COLUMNS

    def address(self, **changes: Any) -> str:
        """The URL of the list with these fields changed."""
        fields = self._replace(**changes)
        parameters = {
            "search": fields.text,
            "verdict": fields.verdict,
            "status": fields.status,
            "run": fields.run_id,
            "simulated": _SIMULATED[fields.simulated],
            "where": fields.where,
            "label": fields.label,
            **{name: getattr(fields, name) for name in EVIDENCE_VALUES},
            "model": fields.model,
            "quorum": fields.quorum,
            "partly_read": fields.partly_read,
            "split": fields.split,
            **{name: None if (cost := getattr(fields, name)) is None else written_dollars(cost) for name in _COSTS},
            "stage": fields.stage,
            "sort": fields.order.by if fields.order.by != NEWEST.by else None,
            "order": None if fields.order.descending else "asc",
            "columns": () if fields.columns == DEFAULT_COLUMNS else fields.columns,
            "after": None if fields.after is None else fields.order.encode_cursor(fields.after),
            "check": "1" if fields.check else None,
            "totals": "1" if fields.totals else None,
        }
        query = urlencode({name: value for name, value in parameters.items() if value}, doseq=True)
        return f"/?{query}" if query else "/"

    def sorted_by(self, column: str) -> str:
        """The URL of the list sorted by a column: descending, or ascending where it is sorted descending now."""
        descending = not (self.order.by == column and self.order.descending)
        return self.address(order=SortOrder(column, descending), after=None, check=False)


def list_query(query: Mapping[str, str], where: Sequence[str] = (), columns: Sequence[str] = ()) -> ListQuery:
    """The query of a URL; empty parameters are ignored.

    Args:
        columns: the columns; the default ones where it is empty.
    """
    if len(where) > MOST_CONDITIONS or max(map(len, where), default=0) > MOST_CONDITION:
        raise PageNotFound(f"where: at most {MOST_CONDITIONS} conditions of {MOST_CONDITION:,} characters each")
    run_id = query.get("run", "").strip()
    if run_id and not is_run_id(run_id):
        raise PageNotFound("run: invalid run id; the page of runs lists the runs")
    order = SortOrder(
        _one_of("sort", query, tuple(SORT_COLUMNS)) or NEWEST.by,
        descending=_one_of("order", query, ("asc", "desc")) != "asc",
    )
    return ListQuery(
        text=_read("search", query, searched) or "",
        verdict=_one_of("verdict", query, tuple(Verdict)),
        status=_one_of("status", query, STATUSES),
        run_id=run_id or None,
        simulated=_YES_OR_NO[_one_of("simulated", query, ("yes", "no"))],
        where=parse_conditions(where, recorded=True),
        label=_one_of("label", query, tuple(Verdict)),
        **{name: _one_of(name, query, values) for name, values in EVIDENCE_VALUES.items()},
        model=_read("model", query, searched) or "",
        quorum=_one_of("quorum", query, ("met", "lost")),
        partly_read=_one_of("partly_read", query, ("yes", "no")),
        split=_one_of("split", query, ("yes", "no")),
        min_cost=_read("min_cost", query, dollars),
        max_cost=_read("max_cost", query, dollars),
        stage=None if (stage := _one_of("stage", query, STAGES)) is None else int(stage),
        order=order,
        columns=_columns(columns),
        after=_place(order, query),
        check=query.get("check") == "1",
        totals=query.get("totals") == "1",
    )


def _read(name: str, query: Mapping[str, str], read: Callable[[str], V]) -> V | None:
    text = query.get(name, "").strip()
    try:
        return read(text) if text else None
    except ValueError as error:
        raise PageNotFound(f"{name}: {error}") from None


def _columns(values: Sequence[str]) -> tuple[str, ...]:
    names = [one.strip() for value in values for one in value.split(",") if one.strip()]
    unknown = next((name for name in names if name not in PAGE_COLUMNS), None)
    if unknown is not None:
        raise PageNotFound(f"columns: choose among {', '.join(PAGE_COLUMNS)}")
    return tuple(name for name in PAGE_COLUMNS if name in names) or DEFAULT_COLUMNS


def _place(order: SortOrder, query: Mapping[str, str]) -> PageCursor | None:
    text = query.get("after", "")
    if not text:
        return None
    try:
        return order.decode_cursor(text)
    except BadCursor as error:
        raise PageNotFound(f"after: {error}") from None


def _one_of(name: str, query: Mapping[str, str], values: Sequence[T]) -> T | None:
    text = query.get(name, "")
    found = next((value for value in values if value == text), None)
    if text and found is None:
        raise PageNotFound(f"{name}: choose one of {', '.join(values)}")
    return found


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
    after: PageCursor | None
    checked: bool


def list_page(reader: StoreReader, found: Sequence[DebateRow], query: ListQuery) -> ListPage:
    """The page of `found`, which has one debate more than a page where a next page exists.

    Args:
        found: in the order of the query.
        query: the parameters; checking records takes about a millisecond each.
    """
    shown = found[:PAGE]
    after = query.order.cursor(asdict(shown[-1])) if len(found) > len(shown) else None
    ids = [row.debate_id for row in shown]
    histories = reader.events_of(ids if "agreement" in query.columns else [])
    streams = {history.debate_id: history.stored_events for history in histories}
    matches = reader.excerpts(ids, query.text) if query.text else {}
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
