"""Debates read from the store: one whole, or those of a run row by row."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

from jury_debate.assignment import ROLE_PROMPT
from jury_debate.recorded_panel import PanelDifference, panel_differences, recorded_panel
from jury_debate.resolved_panel import ResolvedPanel, without_seats
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound, EventError
from jury_events.ids import debate_stream, streams_of
from jury_events.parts import Digest, Part
from jury_events.text import visible_line
from jury_replay.selection import DebateSelection
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor, SortOrder
from jury_views.debate_fold import OpeningMissing
from jury_views.reasons import VerdictReason
from jury_views.result_lines import StoredResult

_PAGE = 1000


def events_gone(debate_id: str) -> EventError:
    """The error for a debate that is in the lists but no longer in the log."""
    return EventError(f"the events of debate {debate_id} are gone from the store; see jury verify {debate_id}")


def panel_of(store: EventStore, debate_id: str) -> ResolvedPanel:
    """The panel of a debate; erased prompts are left out."""
    return _panel(store, debate_id, opening_of(store, debate_id))


class ComparedPanel(NamedTuple):
    """The panel of a recorded debate, and the differences between it and another one."""

    panel: ResolvedPanel
    differences: tuple[PanelDifference, ...]


def compared_panel(store: EventStore, debate_id: str, now: ResolvedPanel) -> ComparedPanel:
    """The panel of a debate which is to be resumed with `now`, and how they differ."""
    (history,) = store.event_histories([debate_id])
    before = _panel(store, debate_id, _opened(history))
    left_out = {one.juror_id for one in before.panel.left_out or ()} & {*now.panel.juror_ids}
    return ComparedPanel(before, panel_differences(before, without_seats(now, left_out)))


def _panel(store: EventStore, debate_id: str, opened: DebateOpened) -> ResolvedPanel:
    refs = [piece.text for piece in opened.pieces if piece.name.startswith(ROLE_PROMPT)]
    parts = store.parts(debate_id, [ref.digest for ref in refs]) if refs else {}
    return recorded_panel(opened, {ref.part: parts[ref.digest].content for ref in refs if ref.digest in parts})


def same_case(store: EventStore, one: str, other: str) -> bool | None:
    """Whether two debates judge the same, by the texts of their cases; None where one was erased."""
    texts = []
    for debate_id in (one, other):
        ref = opening_of(store, debate_id).case
        part = store.parts(debate_id, [ref.digest]).get(ref.digest)
        if part is None:
            return None
        texts.append(part.content)
    return texts[0] == texts[1]


def rows_of_run(store: EventStore, run_id: str, *, counted: bool | None = None) -> Iterator[DebateRow]:
    """The debates of a run in the order in which they opened; read page by page. `counted`: as in `DebateFilter`."""
    after = 0
    while rows := store.debates(run_id=run_id, counted=counted, limit=_PAGE, after=after):
        yield from rows
        after = rows[-1].position


def listed_rows(store: EventStore, wanted: DebateFilter, order: SortOrder = OLDEST) -> Iterator[DebateRow]:
    """The debates of a list in its order; read page by page."""
    after: PageCursor | None = None
    while rows := store.list_debates(wanted, order, limit=_PAGE, after=after):
        yield from rows
        after = order.cursor(asdict(rows[-1]))


def opening_of(store: EventStore, debate_id: str) -> DebateOpened:
    """The opening event of a debate."""
    (history,) = store.event_histories([debate_id])
    return _opened(history)


def _opened(history: DebateHistory) -> DebateOpened:
    if not history.stored_events:
        raise events_gone(history.debate_id)
    return history.opened


def must_exist(store: "EventStore", selection: "DebateSelection") -> None:
    """Refuse a selection without debates: a mistyped name must not pass for debates without a finding."""
    of_run = selection._replace(where=())
    if selection.run_id is not None and not next(of_run.chunks(store, 1), ()):
        raise DebateNotFound(
            f"there is no debate of a run {selection.run_id!r} in this store; `jury list --runs` shows the runs"
        )
    if selection.where and not next(selection.chunks(store, 1), ()):
        conditions = visible_line(" and ".join(map(str, selection.where)), 300)
        raise DebateNotFound(
            f"no debate that is selected has {conditions}; `jury list --group-by FIELD` shows the values that there are"
        )
    heads = store.heads([debate_stream(one) for one in selection.debate_ids or ()])
    for one in selection.debate_ids or ():
        if debate_stream(one) not in heads:
            raise DebateNotFound.named(one)


def must_be_known(store: "EventStore", debate_ids: Collection[str]) -> None:
    """As `must_exist`, for verification: a debate of which any trace is left exists."""
    heads = store.heads([stream for one in debate_ids for stream in streams_of(one)])
    for one in debate_ids:
        if heads.keys().isdisjoint(streams_of(one)) and not (
            store.debate(one) or store.read_streams(streams_of(one)) or store.parts(one) or store.origin(one)
        ):
            raise DebateNotFound(f"{DebateNotFound.named(one)}; jury verify --all finds what was deleted whole")


def result_lines(store: EventStore, histories: Sequence[DebateHistory]) -> list[dict[str, Any]]:
    """The result lines of debates, of which only the texts that say why are read."""
    found = [StoredResult(history) for history in histories]
    parts = _parts_of(store, found)
    return [one.line(parts.get(one.debate_id, {})) for one in found]


def verdict_reasons(store: EventStore, debate_ids: Sequence[str]) -> dict[str, VerdictReason]:
    """Why the verdicts of debates came, by id; those without a verdict, and those that do not decode, are left out."""
    found = []
    for history in store.event_histories(debate_ids):
        with suppress(EventError, OpeningMissing):  # jury verify reports it
            found.append(StoredResult(history))
    parts = _parts_of(store, found)
    reasons = ((one.debate_id, one.reason(parts.get(one.debate_id, {}))) for one in found)
    return {debate_id: reason for debate_id, reason in reasons if reason is not None}


def _parts_of(store: EventStore, found: Sequence[StoredResult]) -> dict[str, dict[Digest, Part]]:
    wanted = {one.debate_id: one.digests for one in found if one.digests}
    return store.named_parts(wanted) if wanted else {}
