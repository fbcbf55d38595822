"""Which events of the log say that a person is needed, or that a judge drifted, and the messages about them."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jury_events.codec import decode, decode_drift, decode_review
from jury_events.debate_events import DebateCompleted
from jury_events.debate_history import DebateHistory
from jury_events.drift_events import CheckEnded
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.ids import local_stream, stream_debate
from jury_events.review_events import HumanReviewed, ReviewAssigned, ReviewWithdrawn
from jury_events.review_facts import review_facts
from jury_events.text import moment
from jury_events.verdict import REVIEW
from jury_judge.reviews.review_queue import UNDECIDED, Why
from jury_judge.store_access.debates import verdict_reasons
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_views.drift_view import found_words
from jury_views.reasons import without_quotations

_ENDED = "debate_completed"
_TYPES = frozenset({_ENDED, "review_assigned", "human_reviewed", "review_withdrawn"})

_OF_THE_JURY: frozenset[Why] = frozenset({UNDECIDED, "not_accepted"})
_NOTHING_SAID: Mapping[str, Any] = {
    "finalVerdict": None,
    "finalLabel": None,
    "finalScore": None,
    "reason": None,
    "reasonBy": [],
    "decisive": None,
}

MESSAGE_TYPE = "review.needed"
_CHECKED, DRIFT_TYPE = "check_ended", "drift.found"


class ReviewNeed(NamedTuple):
    """A message: `body` is its JSON, `position` that of its event in the log."""

    message_id: str
    position: int
    body: str


def review_needs(store: EventStore, events: Iterable[StoredEvent]) -> Iterator[ReviewNeed]:
    """The messages about events of the log, in their order.

    A person is needed where a debate ended with `REVIEW` (also because a calibrated panel did not accept its
    verdict), where a person is asked, and where reviewers begin to differ. Left out are debates in quarantine, those of
    a ladder that do not count for their cases, and what no longer waits now: assignments that are withdrawn or
    answered, and disputes that are over. Foreign reviews and assignments count for nothing, as everywhere. A message
    has ids, and of a verdict that asks for a person what it is and why it came, without quoted words. Who is asked for
    a review may have to judge blind, so that the others have nulls there.

    Args:
        events: of any stream; those that do not decode are left out.
    """
    for stored in events:
        if stored.type == _CHECKED and (drift := _drift(stored)) is not None:
            yield ReviewNeed(_message_id(stored), stored.position, drift)
        if stored.type not in _TYPES:
            continue
        debate_id = stored.stream.partition("/")[2]
        row = store.debate(debate_id)
        if row is None or row.quarantined is not None or row.aside is not None:
            continue
        found = _why(store, stored, row)
        if found is not None:
            why, reviewer = found
            said = _verdict(store, row) if why in _OF_THE_JURY else _NOTHING_SAID
            yield ReviewNeed(_message_id(stored), stored.position, _body(stored, row, why, reviewer, said))


def _drift(stored: StoredEvent) -> str | None:
    """The message about a drift check that found something; None of others."""
    try:
        event = decode_drift(stored)
    except EventError:
        return None
    if not isinstance(event, CheckEnded) or not event.decision.found:
        return None
    decision = event.decision
    data = {
        "driftId": stream_debate(stored.stream),
        "check": event.number,
        "verdict": decision.verdict,
        "says": found_words(decision),
        "watched": [{"name": one.name, "e": one.e, "kinds": list(one.kinds)} for one in decision.watched],
        "anchors": len(decision.anchors),
    }
    message = {"type": DRIFT_TYPE, "timestamp": moment(stored.recorded_at, "microseconds"), "data": data}
    return json.dumps(message, ensure_ascii=False)


def _why(store: EventStore, stored: StoredEvent, row: DebateRow) -> tuple[Why, str | None] | None:
    now = row.review_facts
    try:
        match decode(stored) if stored.type == _ENDED else decode_review(stored):
            case DebateCompleted() as done if done.final_verdict is REVIEW:
                return ("not_accepted" if row.accepted is False else UNDECIDED), None
            case ReviewAssigned() as asked if any(one.number == asked.number for one in now.open_assignments):
                return ("assigned" if asked.sample is None else "sampled"), asked.reviewer
            case HumanReviewed() | ReviewWithdrawn() if now.disputed and _begins_dispute(store, stored, row.debate_id):
                return "disputed", None
    except EventError:
        pass
    return None


def _begins_dispute(store: EventStore, stored: StoredEvent, debate_id: str) -> bool:
    """Whether reviewers differed after an event of `review/` and not before it."""
    streams = store.read_streams([stored.stream, local_stream(debate_id)])
    history = DebateHistory(debate_id, streams)
    before, after = (
        review_facts(history.stored_reviews[:version], history.local.foreign_reviews).disputed
        for version in (stored.version - 1, stored.version)
    )
    return after and not before


def _message_id(stored: StoredEvent) -> str:
    """The same for an event in every attempt, also after a restart, so that a receiver can drop repetitions."""
    name = f"{stored.stream}\0{stored.event_id}".encode()
    return f"msg_{hashlib.sha256(name).hexdigest()[:32]}"


def _verdict(store: EventStore, row: DebateRow) -> dict[str, Any]:
    """The verdict and why it came; fields have the names of results over HTTP."""
    reason = verdict_reasons(store, [row.debate_id]).get(row.debate_id)
    decisive = None if reason is None else reason.decisive
    return {
        "finalVerdict": row.outcome and row.outcome.verdict,
        "finalLabel": row.outcome and row.outcome.label,
        "finalScore": row.outcome and row.outcome.score,
        "reason": None if reason is None else without_quotations(reason.text),
        "reasonBy": [] if reason is None else list(reason.by),
        "decisive": None
        if decisive is None
        else {"item": decisive.item, "words": None, "namedBy": decisive.named_by, "seats": decisive.seats},
    }


def _body(stored: StoredEvent, row: DebateRow, why: Why, reviewer: str | None, said: Mapping[str, Any]) -> str:
    data = {"debateId": row.debate_id, "caseId": row.case_id, "runId": row.run_id, "why": why, "reviewer": reviewer}
    data |= said
    message = {"type": MESSAGE_TYPE, "timestamp": moment(stored.recorded_at, "microseconds"), "data": data}
    return json.dumps(message, ensure_ascii=False)
