"""`DebateFilter` and `SortOrder` in SQL."""

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, bindparam, func, literal, not_, or_, select, type_coerce

from jury_events.conditions import FINAL_LABEL, Condition
from jury_events.evaluation import EVIDENCE_VALUES
from jury_events.verdict import REVIEW
from jury_store import search_index
from jury_store.debate_ballots import DEBATE_COLUMNS
from jury_store.debate_rows import MODEL, DebateFilter
from jury_store.list_order import PageCursor, SortOrder
from jury_store.projection import matching_bits
from jury_store.schema import ballots, debates
from jury_store.schema import debate_fields as _fields
from jury_store.search_terms import query_terms
from jury_store.sql_dialects import Dialect

FIELDS_IN_COLUMNS = frozenset({"label", "case_id", FINAL_LABEL})
"""Fields that are columns of `debates` and not in `debate_fields`."""


def debates_query(
    dialect: Dialect,
    wanted: DebateFilter,
    order: SortOrder,
    *,
    limit: int,
    after: PageCursor | None,
    text_matches: Collection[int] = (),
) -> Select[Any]:
    """The first rows of a list of debates; `text_matches`: debates known to match the search, by opening position."""
    position, column = debates.c.position, debates.c[order.column]
    found = conditions(dialect, wanted, text_matches)
    if after is not None:
        found.append(_after(order, after))
    ordering = [_directed(one, order) for one in dict.fromkeys((column, position))]
    if order.by == "opened":
        return select(debates).where(*found).order_by(*ordering).limit(limit)
    # Without an index all matching rows are sorted: by the sort column alone, not with every column.
    first = select(position).where(*found).order_by(*ordering).limit(limit)
    return select(debates).where(position.in_(first)).order_by(*ordering)


def ballots_query(
    dialect: Dialect,
    wanted: DebateFilter,
    *,
    ended_only: bool,
    after: str,
    limit: int,
    text_matches: Collection[int],
) -> Select[Any]:
    """The ballots of the first debates after an id: what `DebateBallots.stored` takes, then `ended_at`."""
    found = [*conditions(dialect, wanted, text_matches), debates.c.debate_id > after]
    if ended_only:
        found.append(debates.c.ended_at.is_not(None))
    columns = [
        *(debates.c[name] for name in DEBATE_COLUMNS),
        type_coerce(debates.c.metadata, Text),
        ballots.c.panel,
        ballots.c.votes,
        debates.c.ended_at,
    ]
    joined = debates.outerjoin(ballots, ballots.c.debate_id == debates.c.debate_id)
    return select(*columns).select_from(joined).where(*found).order_by(debates.c.debate_id).limit(limit)


def conditions(dialect: Dialect, wanted: DebateFilter, text_matches: Collection[int]) -> list[ColumnElement[bool]]:
    """`DebateFilter.matches` in SQL."""
    columns = debates.c
    equal = (
        (columns.run_id, wanted.run_id),
        (columns.status, wanted.status),
        (columns.final_verdict, wanted.verdict),
        (columns.simulated, wanted.simulated),
        (columns.quorum_met, wanted.quorum),
    )
    there = (
        (columns.quarantined, wanted.quarantined),
        (columns.imported, wanted.imported),
        (columns.partly_read, wanted.partly_read),
    )
    found: list[ColumnElement[bool]] = [column == value for column, value in equal if value is not None]
    found += [column.is_not(None) if value else column.is_(None) for column, value in there if value is not None]
    if wanted.only_waiting is not None:
        found.append(columns.waiting if wanted.only_waiting else not_(columns.waiting))
    found += _of_amounts(wanted)
    if wanted.unfinished:
        found.append(columns.ended_at.is_(None))
    if wanted.status == "unreadable":
        found.append(columns.problem.is_not(None))  # follows from the status, and has an index
    found += _of_stages(wanted)
    found += _of_reviews(wanted)
    if wanted.model is not None:
        found.append(_condition(Condition(MODEL, "=", wanted.model)))
    if wanted.search is not None:
        ways = [column.icontains(wanted.search, autoescape=True) for column in (columns.debate_id, columns.case_id)]
        if terms := query_terms(wanted.search):
            ways.append(columns.position.in_(search_index.debates_matching(dialect, terms)))
        if text_matches:
            ways.append(columns.position.in_(bindparam("text_matches", sorted(text_matches), expanding=True)))
        found.append(or_(*ways))
    return found + [_condition(one) for one in wanted.where]


def _of_amounts(wanted: DebateFilter) -> Iterator[ColumnElement[bool]]:
    columns = debates.c
    if wanted.min_cost is not None:
        yield columns.cost >= wanted.min_cost
    if wanted.max_cost is not None:
        yield columns.cost <= wanted.max_cost
    if wanted.split is not None:
        yield columns.agreement < 1 if wanted.split else columns.agreement == 1


def _of_stages(wanted: DebateFilter) -> Iterator[ColumnElement[bool]]:
    columns = debates.c
    if wanted.stage is not None:
        yield columns.stage == wanted.stage
    if wanted.only_counted is not None:
        yield columns.aside.is_(None) if wanted.only_counted else columns.aside.is_not(None)


def _of_reviews(wanted: DebateFilter) -> Iterator[ColumnElement[bool]]:
    columns = debates.c
    if wanted.disposition is not None:
        yield func.coalesce(columns.human_verdict, columns.final_verdict) == wanted.disposition
    if wanted.reviewed is not None:
        yield columns.human_verdict.is_not(None) if wanted.reviewed else columns.human_verdict.is_(None)
    if wanted.may_need_review:
        of_people = (type_coerce(column, Text) != "[]" for column in (columns.reviews, columns.assignments))
        yield or_(columns.final_verdict == REVIEW.value, columns.accepted.is_(False), *of_people)
    if wanted.with_reviews:
        yield type_coerce(columns.reviews, Text) != "[]"


def _condition(condition: Condition) -> ColumnElement[bool]:
    """`Condition.admits` in SQL."""
    if condition.field in FIELDS_IN_COLUMNS:
        column = debates.c[condition.field]
        matches = _matches(column, condition)
        return or_(column.is_(None), not_(matches)) if condition.negative else matches
    if condition.field in EVIDENCE_VALUES:
        bits = func.coalesce(debates.c.evidence_values, 0).op("&")(matching_bits(condition))
        return bits == 0 if condition.negative else bits != 0
    fields = _fields.c
    matching = select(fields.position).where(fields.name == condition.field, _matches(fields.value, condition))
    if condition.negative:
        # Correlated: for a long NOT IN, PostgreSQL scans the whole list once per debate.
        return not_(matching.where(fields.position == debates.c.position).exists())
    return debates.c.position.in_(matching)


def _matches(column: ColumnElement[Any], condition: Condition) -> ColumnElement[bool]:
    if condition.operator in {"=", "!="}:
        return column == condition.value
    return column.icontains(condition.value, autoescape=True)


def _directed(column: Any, order: SortOrder) -> Any:
    """Null sorts after every value, which neither database does by default in both directions."""
    directed = column.desc() if order.descending else column.asc()
    return directed.nulls_last() if column.nullable else directed


def _after(order: SortOrder, after: PageCursor) -> ColumnElement[bool]:
    """`SortOrder.is_after` in SQL."""
    position, column = debates.c.position, debates.c[order.column]
    later: ColumnElement[bool] = position < after.position if order.descending else position > after.position
    if order.by == "opened":
        return later
    if after.value is None:
        return and_(column.is_(None), later)
    value = literal(after.value, column.type)
    same = and_(column == value, later)
    return or_(column < value if order.descending else column > value, same, column.is_(None))
