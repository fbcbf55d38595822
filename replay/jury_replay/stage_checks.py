"""Debates of ladders compared with the debates before them that they name: a deep verification alone."""

from collections.abc import Iterator
from functools import cache

from jury_events.debate_events import DebateCompleted, DebateOpened, JudgmentRendered
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.ids import first_of, first_stage_of, stage_id
from jury_events.stages import StagePlace, aside
from jury_replay.integrity import IntegrityFailure, at_event
from jury_store.event_store import EventStore


class StageChecks:
    """Checks the stages of one store."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._first_of_run = cache(self._first)

    def of_debate(self, history: DebateHistory) -> Iterator[IntegrityFailure]:
        """Why a debate cannot have the place in a ladder that it names."""
        opened = history.opened
        try:
            fault = self._fault(history, opened)
        except EventError:
            return  # the check of the debate before reports it
        if fault is not None:
            yield at_event(history.stored_events[0], fault)

    def _fault(self, history: DebateHistory, opened: DebateOpened) -> str | None:
        place = opened.stage
        if place is None:
            return None
        if stage_id(first_stage_of(opened.debate_id), place.number) != first_of(opened.debate_id):
            return f"it says that it is stage {place.number}, which its id is not"
        run = None if opened.run_id is None else self._first_of_run(opened.run_id)
        if run is not None and (said := _other_ladder(place, run)) is not None:
            return said
        return None if place.before is None else self._before_fault(history, opened, place)

    def _first(self, run_id: str) -> StagePlace | None:
        """The place of the first debate of a run."""
        for row in self._store.debates(run_id=run_id, waiting=None, limit=1):
            (history,) = self._store.event_histories([row.debate_id])
            return history.opened.stage
        return None

    def _before_fault(self, history: DebateHistory, opened: DebateOpened, place: StagePlace) -> str | None:
        assert place.before is not None, "it is not the first stage"
        (before,) = self._store.histories([place.before])
        if not before.stored_events:
            return None if history.local.imported is not None else f"the debate before, {place.before}, is not stored"
        earlier = before.opened
        if earlier.stage is None:
            return f"the debate before, {place.before}, is no stage of a ladder"
        if place.before != stage_id(first_stage_of(opened.debate_id), earlier.stage.number):
            return f"the debate before, {place.before}, is over another case"
        if (earlier.run_id, earlier.case_id) != (opened.run_id, opened.case_id):
            return f"the debate before, {place.before}, is of another run or case"
        if (said := _other_ladder(place, earlier.stage)) is not None:
            return said
        same = (history.texts.get(opened.case.part), before.texts.get(earlier.case.part))
        if None not in same and same[0] != same[1]:
            return f"the debate before, {place.before}, judged other content"
        return _follows_fault(before, earlier.stage, place)


def _other_ladder(place: StagePlace, other: StagePlace) -> str | None:
    """What two debates of one run cannot have otherwise."""
    for field in ("ladder", "of", "every_case"):
        if getattr(place, field) != getattr(other, field):
            return f"it is of another ladder than other debates of its run: {field}"
    return None


def _follows_fault(before: DebateHistory, earlier: StagePlace, place: StagePlace) -> str | None:
    """Why a stage cannot follow from how the debate before it ended."""
    judged = next((one for one in before.events if isinstance(one, JudgmentRendered)), None)
    acceptance = None if judged is None else judged.judgment.acceptance
    completed = any(isinstance(one, DebateCompleted) for one in before.events)
    accepted = None if acceptance is None else acceptance.accepted
    ended = aside(earlier.model_dump(), completed=completed, accepted=accepted)
    if place.audit:
        return None if ended is None and completed and earlier.number < place.of else "no early verdict was accepted"
    if ended != "escalated" or not before.finished:
        return f"the debate before, {place.before}, is followed by no further stage"
    return None if earlier.number == place.number - 1 else f"the debate before it is of stage {earlier.number}"
