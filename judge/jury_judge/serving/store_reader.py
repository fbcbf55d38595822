"""What a server shows of a store."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jury_events.debate_history import DebateHistory
from jury_events.drift_facts import DriftFacts
from jury_events.ids import debate_stream
from jury_events.review_facts import ReviewFacts
from jury_judge.comparisons.comparing import ComparedDebates, ComparedRuns, Kind, compared
from jury_judge.comparisons.comparison import Excerpt, excerpts
from jury_judge.reviews.review_queue import (
    QueueItem,
    one_a_case,
    partial_items,
    review_queue,
    reviewed_cases,
    reviewed_same_case,
)
from jury_judge.settings.statistics import Count
from jury_judge.store_access.debates import verdict_reasons
from jury_judge.store_access.integrity_state import IntegrityState, integrity_states
from jury_judge.store_access.panel_standing import baselines
from jury_replay.drift_checks import intact_drift
from jury_replay.intact import intact_history
from jury_replay.replay import Replayed, replay_history
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.selection import DebateSelection
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow, RunRow, Totals
from jury_store.event_store import EventStore
from jury_store.list_order import NEWEST, PageCursor, SortOrder
from jury_store.projection import row_of
from jury_store.schema import REVISION
from jury_views.reasons import VerdictReason
from jury_views.run_quotations import QuotationCount, RunQuotations

_AT_ONCE = 200
"""Debates whose events are in memory together."""


class Neighbours(NamedTuple):
    """The debates opened just `before` and just `after` one; None at the ends."""

    before: DebateRow | None
    after: DebateRow | None


class StoreReader:
    """An open store, read in the calling thread; any number of threads may read at once.

    A debate that is named must be recorded; `DebateNotFound` otherwise. Each call fails with a `StoreError` where the
    store cannot be read, and with an `EventError` where a stored body cannot be decoded.
    """

    schema = REVISION
    """The number of the schema that this version reads."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    def last_position(self) -> int:
        """The position of the newest event of the log."""
        return self._store.last_position()

    # Lists

    def debates(
        self,
        chosen: DebateFilter = EVERY_DEBATE,
        order: SortOrder = NEWEST,
        *,
        limit: int,
        after: PageCursor | None = None,
    ) -> list[DebateRow]:
        """A page of a list of debates; `after` is `order.cursor` of the last row of the page before."""
        return self._store.list_debates(chosen, order, limit=limit, after=after)

    def totals(self, chosen: DebateFilter) -> Totals:
        """What debates add up to; reads each of them."""
        return self._store.totals(chosen)

    def search_lag(self) -> int:
        """How many of the newest events are not searched yet."""
        return self._store.search_lag()

    def excerpts(self, debate_ids: Sequence[str], search: str) -> dict[str, Excerpt]:
        """Where a search found its words, by debate id; debates that match by an id alone have none."""
        return excerpts(self._store, debate_ids, search)

    def neighbours(self, run_id: str | None, position: int) -> Neighbours:
        """The debates of a run (None: of the store) that opened before and after the one at `position`."""
        before = self._store.list_debates(DebateFilter(run_id=run_id), limit=1, after=PageCursor(position))
        after = self._store.debates(run_id=run_id, limit=1, after=position)
        return Neighbours(before[0] if before else None, after[0] if after else None)

    def run_quotations(self, run_id: str, latest: int) -> tuple[int, RunQuotations | None]:
        """What the jurors of a run quote, of its `latest` debates at most, and how many debates that are.

        None where none of these debates was asked for evidence.
        """
        rows = self.debates(DebateFilter(run_id=run_id), limit=latest)
        counted = QuotationCount()
        for _ in counted.noted(self.events_of([row.debate_id for row in rows if row.evidence is not None])):
            pass
        return len(rows), counted.found(rows)

    def runs(self, before: int | None = None) -> list[RunRow]:
        """The runs, newest first; only those that began before this position."""
        return [row for row in reversed(self._store.runs()) if before is None or row.position < before]

    def run(self, run_id: str) -> RunRow | None:
        """The counts of a run; None: there is none."""
        return self._store.run(run_id)

    # Debates

    def has_debate(self, debate_id: str) -> bool:
        """Whether a debate is recorded."""
        return bool(self._store.heads([debate_stream(debate_id)]))

    def row(self, debate_id: str) -> DebateRow | None:
        """The row of a debate in lists; None: there is none."""
        return self._store.debate(debate_id)

    def history(self, debate_id: str) -> DebateHistory:
        """Everything that is recorded of a debate, unaltered; `RecordDamaged` where it is not."""
        return intact_history(self._store, debate_id)

    def found_history(self, debate_id: str) -> DebateHistory:
        """The same, also where it was altered: for pages that show its `integrity` with it."""
        return self._store.history(debate_id)

    def histories(self, debate_ids: Sequence[str]) -> list[DebateHistory]:
        """Several debates in this order; all their texts are in memory."""
        return self._store.histories(debate_ids)

    def events_of(self, debate_ids: Sequence[str]) -> Iterator[DebateHistory]:
        """The events of debates, without texts and model calls."""
        for start in range(0, len(debate_ids), _AT_ONCE):
            yield from self._store.event_histories(debate_ids[start : start + _AT_ONCE])

    def reasons(self, debate_ids: Sequence[str]) -> dict[str, VerdictReason]:
        """Why the verdicts of debates came, by id; as `verdict_reasons`."""
        return verdict_reasons(self._store, debate_ids)

    def integrity(self, histories: Sequence[DebateHistory]) -> list[IntegrityState]:
        """Whether debates that were read are intact, and sealed; in their order."""
        return integrity_states(self._store, histories)

    def replay(self, debate_id: str) -> Replayed:
        """Whether the record of a debate follows from the answers of its models."""
        return replay_history(self.history(debate_id))

    def rescore(self, debate_id: str, grid: Grid, mode: Mode) -> Iterator[RescoreRow | RescoreProblem]:
        """The results of a debate under other settings."""
        self.history(debate_id)  # so that no result is that of an altered record
        for found in rescore(self._store, DebateSelection((debate_id,)), grid, mode=mode):
            if isinstance(found, RescoreProblem):
                yield found
            else:
                yield from found

    # Comparisons and reviews

    def compare(
        self, a: str, b: str, kind: Kind | None = None, *, count: Count | None = None
    ) -> ComparedDebates | ComparedRuns:
        """Two debates, or two runs; `count` as in `compared`."""
        return compared(self._store, a, b, kind, count=count)

    def drifts(self) -> list[DriftFacts]:
        """The baselines of drift checks, by id; a `MalformedBody` where one was altered."""
        return list(baselines(self._store))

    def drift(self, drift_id: str) -> DriftFacts:
        """One of them, whose decisions follow from its votes."""
        return intact_drift(self._store, drift_id).facts

    def review_queue(self, reviewer: str | None, chosen: DebateFilter, *, reviews: int = 1) -> list[QueueItem]:
        """What a person is to review, one entry a case, in that order; as `review_queue` and `one_a_case`."""
        return one_a_case(review_queue(self._store, reviewer, chosen, reviews=reviews))

    def reviewed_cases(self, reviewer: str, chosen: DebateFilter) -> set[str]:
        """The cases of which a person has reviewed a debate; as `reviewed_cases`."""
        return reviewed_cases(self._store, reviewer, chosen)

    def partial_items(self, reviewer: str, items: Sequence[QueueItem]) -> list[QueueItem]:
        """Those of a person's queue, with the debate of each case that the person reviewed; as `partial_items`."""
        return partial_items(self._store, reviewer, items)

    def reviewed_same_case(self, debate_id: str, reviewer: str) -> str | None:
        """The debate of this case that a person reviewed; as `reviewed_same_case`."""
        return reviewed_same_case(self._store, debate_id, reviewer)

    def reviews(self, debate_id: str) -> ReviewFacts:
        """What people said of a debate."""
        return self.history(debate_id).reviews


def recorded_row(row: DebateRow, history: DebateHistory) -> DebateRow:
    """The row of a debate as its events make it, whatever the list says; the row of the list where they make none."""
    made = row_of([event for stream in history.streams.values() for event in stream])
    return row if made is None else DebateRow(**made)
