"""The result lines of a run in the order of its cases, read behind the jobs."""

import asyncio
from functools import partial
from typing import Any, TypeGuard

from jury_actors.store_retry import StoreRetry
from jury_events.ids import first_stage_of
from jury_judge.runs.case_jobs import CaseJobs
from jury_judge.runs.case_stages import latest_stage
from jury_judge.runs.progress import RunProgress
from jury_judge.runs.run import Run
from jury_judge.stores.debates import events_gone, result_lines
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore

Line = dict[str, Any]

_LINES_AT_ONCE = 200
_FIRST_LINES = 16


class OrderedLines:
    """Gives the line of each debate at its place, once it is over.

    By a ladder it is the line of the debate that counts for the case.
    """

    def __init__(
        self, run: Run, jobs: CaseJobs, store: EventStore, *, patience: StoreRetry, state: RunProgress
    ) -> None:
        self._run = run
        self._jobs = jobs
        self._store = store
        self._patience = patience
        self._state = state
        self._before = jobs.checked.ended
        self._ready: list[str] = []
        self._most = _FIRST_LINES
        self.done = False

    async def take(self) -> list[Line]:
        """The next lines that are ready; none where a debate before them is not over, or at the end (`done`)."""
        if self.done or self._waits():
            return []
        lines, _ = await self._patience.run(partial(asyncio.to_thread, self._lines), reads=True)
        self._most = _LINES_AT_ONCE
        return lines

    def _waits(self) -> bool:
        """Whether the next debate has not ended, or is not known yet; of debates that are over, none delays a call."""
        if self._state.over:
            return False
        if not self._state.begun and self._jobs.checked.expected != 0:
            return True
        first = self._jobs.checked.order.first()
        return first is None or first.debate_id in self._state.running

    def _lines(self) -> list[Line]:
        state, order = self._state, self._jobs.checked.order
        while len(self._ready) < self._most and not self.done and not self._waits():
            first = order.first()
            if first is None:
                # A long file is not read to its end for debates that did not begin.
                behind = self._jobs.checked.total is None and self._before <= 0
                self.done = behind or state.unreadable is not None or not self._jobs.pass_case()
                continue
            order.remove()
            self._before -= first.over
            if first.debate_id not in state.failed and first.debate_id not in state.running:
                self._ready.append(first.debate_id)
        ready = [self._run.counts(one) for one in self._ready]
        if self._run.ladder is not None:
            ready = [row.debate_id for one in ready if _counts(row := latest_stage(self._store, first_stage_of(one)))]
        lines = _read_lines(self._store, ready) if ready else []
        # Only now: where the store is away, the same debates are read again.
        self._ready = []
        return lines


def _counts(row: DebateRow | None) -> TypeGuard[DebateRow]:
    return row is not None and row.has_ended and row.aside is None


def _read_lines(store: EventStore, debates: list[str]) -> list[Line]:
    histories = store.event_histories(debates)
    gone = next((history.debate_id for history in histories if not history.stored_events), None)
    if gone is not None:
        raise events_gone(gone)
    return result_lines(store, histories)
