"""What debates and batches say of each other: checked where a debate or a batch by itself is whole.

A deep verification compares batches with the exchanges that their answers became, and the other way round; the order of
a batch's own events is checked with its chain (`jury_replay.integrity`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from jury_events.batch_events import BatchedExchange
from jury_events.batch_facts import CLOSED, BatchFacts, batch_facts, batched_calls, unanswered_ends
from jury_events.codec import decode
from jury_events.debate_events import DebateCompleted, DebateOpened, JudgmentRendered
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import (
    Step,
    batch_id,
    batch_stream,
    calls_stream,
    debate_stream,
    first_of,
    first_stage_of,
    local_stream,
    stage_id,
    unescape,
)
from jury_events.ladder import StagePlace, aside
from jury_events.local_facts import local_facts
from jury_events.outcome import CallOutcome
from jury_replay.integrity import IntegrityFailure, at_event
from jury_replay.quarantine import is_set_aside
from jury_store.event_store import EventStore

_AT_ONCE = 100
"""Debates whose calls are read together."""

_KEPT = 16
"""Batches that are kept."""

_DIGEST = re.compile(rb"[0-9a-f]{64}")
_NUMBER = re.compile("[1-9][0-9]*")
_COMPLETED: str = DebateCompleted.model_fields["type"].default
_AGAIN = frozenset({"expired", "cancelled", "missing", "unreadable"})
"""Ends after which a call is made again."""

_DECIDED = frozenset({"ended", "refused", "results_gone"})
"""Causes after which every item is answered, or named as unanswered."""


class _Batch(NamedTuple):
    """A stored batch. `imported`: its positions are those of the import."""

    facts: BatchFacts
    events: Sequence[StoredEvent]
    calls: Mapping[tuple[str, str], int]
    ends: Mapping[int, str]
    imported: bool

    def position(self, *types: str) -> int | None:
        """The position of the first event of one of these types; None: there is none."""
        return next((event.position for event in self.events if event.type in types), None)


class _SentBatch(NamedTuple):
    """What the order of batches follows from. `free`: the position where its calls were free again; None: nowhere."""

    prepared: StoredEvent
    facts: BatchFacts
    free: int | None


class BatchChecks:
    """Checks batches and calls of one store; what it read of a batch is kept, as many debates have calls in it."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._batch = lru_cache(_KEPT)(self._read)

    def of_debate(self, history: DebateHistory) -> Iterator[IntegrityFailure]:
        """Calls that say `via` which batch they were answered, and are none of its items, or cannot be."""
        imported = history.local.imported is not None
        for stored, exchange in zip(history.stored_exchanges, history.exchanges, strict=True):
            if exchange.via is not None:
                fault = self._via_fault(history, stored, exchange, imported=imported)
                if fault is not None:
                    yield at_event(stored, fault)

    def of_batch(self, history: DebateHistory) -> Iterator[IntegrityFailure]:
        """Items that are said to be answered and are not, and the other way round; items that no debate can have."""
        batch = self._batch(history.debate_id)
        if batch is None:  # the check of its events reports it
            return
        digests = {part.ref.part: part.content for part in history.parts.values()}
        listed = [(stored, number, call) for stored in batch.events for number, call in batched_calls([stored])]
        if len(batch.calls) < len(listed):
            yield at_event(batch.events[0], "one call is listed as two of its items")
        answered = absent = 0
        for start in range(0, len(listed), _AT_ONCE):
            page = listed[start : start + _AT_ONCE]
            found = self._recorded(call.debate_id for _, _, call in page)
            for stored, number, call in page:
                if (text := digests.get(call.body.part)) is not None and not _DIGEST.fullmatch(text):
                    yield at_event(stored, f"what it names as the SHA-256 of item {number} is none")
                recorded = found.get(call.debate_id)
                if recorded is None:
                    absent += 1
                    if not batch.imported:
                        yield at_event(stored, f"item {number} is of the debate {call.debate_id}, which is not stored")
                    continue
                is_answered = recorded.via(call.exchange) == history.debate_id
                answered += is_answered
                fault = _item_fault(batch, number, call, recorded, answered=is_answered)
                if fault is not None:
                    yield at_event(stored, fault)
        closed = batch.facts.closed
        if closed is not None and not absent and closed.answered != answered:
            what = f"it says that {closed.answered} items were answered, and {answered} answers of it are recorded"
            yield at_event(batch.events[-1], what)

    def of_run(self, run_id: str) -> Iterator[IntegrityFailure]:
        """Batches of a run whose waves are not in their order, or that are one batch at the provider."""
        known = [
            _SentBatch(batch.events[0], batch.facts, batch.position(CLOSED))
            for name in self._store.batch_ids(run_id)
            if (batch := self._batch(name)) is not None and not batch.imported
        ]
        known.sort(key=lambda one: one.prepared.position)
        for before, after in pairwise(known):
            fault = _wave_fault(before, after)
            if fault is not None:
                yield at_event(after.prepared, fault)
        seen: set[tuple[str, str, str]] = set()
        for one in known:
            prepared, submitted = one.facts.prepared, one.facts.submitted
            if submitted is not None:
                name = prepared.provider, prepared.address, submitted.provider_id
                if name in seen:
                    yield at_event(one.prepared, f"{submitted.provider_id} was submitted as another batch, too")
                seen.add(name)

    def _read(self, batch: str) -> _Batch | None:
        events = self._store.read_stream(batch_stream(batch))
        try:
            imported = local_facts(self._store.read_stream(local_stream(batch))).imported is not None
            calls = {(call.debate_id, call.exchange): number for number, call in batched_calls(events)}
            return _Batch(batch_facts(events), events, calls, unanswered_ends(events), imported)
        except EventError:
            return None

    def _via_fault(
        self, history: DebateHistory, stored: StoredEvent, exchange: ExchangeRecorded, *, imported: bool
    ) -> str | None:
        assert exchange.via is not None, "it was answered in a batch"
        name, run_id = exchange.via.batch, history.opened.run_id
        if exchange.latency_ms or exchange.waited_ms:
            return "it has a latency, and was answered in a batch"
        if run_id is None or name != batch_id(run_id, name.rpartition("~")[2]):
            return f"the batch {name} that it names is not of run {run_id}"
        if not self._store.heads([batch_stream(name)]):
            return None if imported else f"the batch {name} that it names is not stored"
        batch = self._batch(name)
        if batch is None:
            return None
        number = batch.calls.get((history.debate_id, stored.event_id))
        if number is None:
            return f"the batch {name} that it names has no such call"
        return _answer_fault(batch, number, stored, exchange, ordered=not (imported or batch.imported))

    def _recorded(self, debates: Iterator[str]) -> dict[str, "_Recorded"]:
        wanted = sorted(set(debates))
        found = self._store.read_streams([stream(one) for one in wanted for stream in (debate_stream, calls_stream)])
        return {
            one: _Recorded(found[debate_stream(one)], found.get(calls_stream(one), []))
            for one in wanted
            if debate_stream(one) in found
        }


class _Recorded:
    """What is recorded of a debate: its opening and its exchanges, as far as they can be read."""

    def __init__(self, events: Sequence[StoredEvent], calls: Sequence[StoredEvent]) -> None:
        opening = events[0]
        self.position = opening.position
        self._completed = events[-1].type == _COMPLETED
        self._calls = {event.event_id: event for event in calls}
        try:
            opened = decode(opening)
        except EventError:
            opened = None
        self._opened = opened if isinstance(opened, DebateOpened) else None

    @property
    def asks_all(self) -> bool:
        """Whether each call that a seat makes is answered before the debate completes: none ends while some wait."""
        return self._completed and self._opened is not None and self._opened.asking is None

    def has(self, exchange: str) -> bool:
        """Whether a call was answered, or failed, in whatever way it was made."""
        return exchange in self._calls

    def via(self, exchange: str) -> str | None:
        """The batch that an exchange was answered in; None: there is none."""
        stored = self._calls.get(exchange)
        try:
            found = None if stored is None else decode(stored)
        except EventError:
            return None
        return found.via.batch if isinstance(found, ExchangeRecorded) and found.via is not None else None

    def may_call(self, exchange: str) -> bool:
        """Whether a seat of the debate, or its final judge, asks the model that an exchange names, after its tries."""
        if self._opened is None:
            return True
        *step_id, name, turn, attempt = exchange.split("/")
        try:
            step = Step.parse("/".join(step_id))
        except ValueError:
            return False
        if not (_NUMBER.fullmatch(turn.rpartition(":")[2]) and _NUMBER.fullmatch(attempt)):
            return False
        if attempt != "1" and not self.has("/".join((*step_id, name, turn, str(int(attempt) - 1)))):
            return False
        panel = self._opened.panel
        places = (
            [panel.final.judge]
            if step.juror_id is None
            else [one for one in panel.seats if one.juror_id == step.juror_id]
        )
        return any(one is not None and unescape(name) in {one.model, *one.fallbacks} for one in places)


def _item_fault(
    batch: _Batch, number: int, call: BatchedExchange, recorded: _Recorded, *, answered: bool
) -> str | None:
    facts = batch.facts
    if not recorded.may_call(call.exchange):
        return f"item {number} is the call {call.exchange}, and no seat of its debate makes it"
    if not batch.imported and recorded.position > batch.events[0].position:
        return f"item {number} is of the debate {call.debate_id}, which was opened later"
    if answered and number in facts.unanswered:
        return f"item {number} is named as unanswered, and its answer is recorded"
    end = batch.ends.get(number)
    if end in _AGAIN and recorded.asks_all and not recorded.has(call.exchange):
        return f"item {number} is named as {end}, and the call was not made again, though its debate completed"
    decided = facts.closed is not None and facts.closed.cause in _DECIDED
    if decided and not answered and number not in facts.unanswered:
        return f"item {number} is said to be answered, and no answer of it is recorded"
    return None


def _answer_fault(
    batch: _Batch, number: int, stored: StoredEvent, exchange: ExchangeRecorded, *, ordered: bool
) -> str | None:
    """Why an exchange cannot be the answer of an item; `ordered`: positions are those of the recording."""
    facts = batch.facts
    assert exchange.via is not None, "it was answered in a batch"
    if number in facts.unanswered:
        return f"its batch names it as unanswered, as item {number}"
    waited = round(max(0, stored.recorded_at - (facts.submitted_at or facts.prepared_at)) / 1000, 3)
    if exchange.via.waited_ms != waited:
        return f"it says that it was {exchange.via.waited_ms:g} ms in its batch, and by its time it was {waited:g}"
    refused = facts.closed is not None and facts.closed.cause == "refused"
    if (facts.submitted is None or refused) and exchange.outcome is not CallOutcome.BAD_REQUEST:
        return "its batch was refused, or never submitted"
    begun = batch.position("batch_submitted") or batch.events[0].position
    ended = batch.position(CLOSED) or stored.position + 1
    if ordered and not begun < stored.position < ended:
        return "it was recorded when its batch was not there, or closed"
    return None


def _wave_fault(before: _SentBatch, after: _SentBatch) -> str | None:
    """Why two batches of a run that follow each other cannot be of the waves that they name.

    A wave begins once no batch is open. One that was refused when it was submitted is followed by others of its wave.
    """
    first, second = before.facts.prepared.wave, after.facts.prepared.wave
    free = before.free
    said = f"it is of wave {second}, after a batch of wave {first}"
    if free is None or free > after.prepared.position:
        return None if first == second else f"{said} that was open"
    if before.facts.submitted is not None and second <= first:
        return f"{said} that had ended"
    return None if second >= first else said


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
        if first_of(place.before) != stage_id(first_stage_of(opened.debate_id), earlier.stage.number):
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


class Relations:
    """Of one store, whose batches are read once."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._batches = BatchChecks(store)
        self._stages = StageChecks(store)

    def failures(self, history: DebateHistory) -> Iterator[IntegrityFailure]:
        """Of one debate, or of one batch; the waves of a run are checked with its first batch."""
        if is_set_aside(history.stored_local):
            return
        try:
            if not history.is_batch:
                yield from self._batches.of_debate(history)
                yield from self._stages.of_debate(history)
                return
        except EventError:
            return  # replay reports it
        yield from self._batches.of_batch(history)
        run_id = history.debate_id.split("~")[0]
        if self._store.batch_ids(run_id)[:1] == [history.debate_id]:
            yield from self._batches.of_run(run_id)
