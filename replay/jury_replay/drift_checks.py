"""Baselines of drift checks: the votes of their debates, and the decisions that follow from recorded votes."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from jury_events.codec import decode_drift
from jury_events.debate_events import (
    DebateCancelled,
    DebateCompleted,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
)
from jury_events.debate_history import DebateHistory
from jury_events.drift_events import CheckEnded, DrawsJudged, DriftDecision, DriftOpened, SeatAnswers
from jury_events.drift_facts import DriftFacts, next_drift_facts
from jury_events.envelope import StoredEvent
from jury_events.errors import DebateNotFound, EventError, MalformedBody
from jury_events.ids import Step, debate_stream, drift_stream
from jury_events.judgment import Decider
from jury_events.nearest import did_you_mean
from jury_events.outcome import ANSWERS
from jury_events.verdict import FAIL, PASS, REVIEW
from jury_replay.integrity import IntegrityFailure, at_event, stream_failure
from jury_store.errors import StoreDamaged
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_analysis.drift import DriftDecider

SILENT = "-"
_LETTERS = {PASS: "p", REVIEW: "r", FAIL: "f"}
_AT_ONCE = 200


@dataclass(frozen=True)
class CheckedDrift:
    """A baseline, as far as its stream can be read: how many sessions and checks ended. `events` counts its own."""

    drift_id: str
    events: int
    sessions: int = 0
    checks: int = 0


class DriftRecord(NamedTuple):
    """A baseline, and what decides its next check."""

    facts: DriftFacts
    decider: "DriftDecider"


def check_drift(store: EventStore, drift_id: str, *, deep: bool) -> tuple[CheckedDrift, list[IntegrityFailure]]:
    """The chain of `drift/{id}`, its events, and that each decision follows from the votes before it.

    Args:
        deep: also compare the votes with the debates, where the store has them.
    """
    stream = drift_stream(drift_id)
    events = store.read_stream(stream)
    failure = stream_failure(stream, events, store.heads([stream]).get(stream))
    if failure is not None:
        return CheckedDrift(drift_id, len(events)), [failure]
    failures: list[IntegrityFailure] = []
    found = (0, 0)
    for event, fault, record in _folded(events, store if deep else None):
        if fault is not None:
            failures.append(at_event(event, fault))
        if record is not None:
            found = record.facts.sessions, len(record.facts.ended)
    return CheckedDrift(drift_id, len(events), *found), failures


def intact_drift(store: EventStore, drift_id: str) -> DriftRecord:
    """A baseline whose chain is whole and whose decisions follow from its votes."""
    stream = drift_stream(drift_id)
    events = store.read_stream(stream)
    if not events:
        meant = did_you_mean(drift_id, store.drift_ids())
        raise DebateNotFound(f"there is no baseline {drift_id!r} in this store{meant}; jury drift list shows them")
    failure = stream_failure(stream, events, store.heads([stream]).get(stream))
    if failure is not None:
        raise MalformedBody(f"{failure}; see jury verify --all")
    return drift_record(events)


def drift_record(events: Sequence[StoredEvent]) -> DriftRecord:
    """The baseline of a stream whose chain is whole."""
    found: DriftRecord | None = None
    for event, fault, record in _folded(events):
        if fault is not None:
            raise MalformedBody(f"{at_event(event, fault)}; see jury verify --all")
        found = record
    assert found is not None, "the stream has an event"
    return found


def _folded(
    events: Sequence[StoredEvent], debates: EventStore | None = None
) -> Iterator[tuple[StoredEvent, str | None, DriftRecord | None]]:
    """Each event with what is wrong with it, and the record with it; stops where one cannot be folded.

    `debates`: the store with whose debates the votes are compared.
    """
    # numpy takes a tenth of a second to import, and most stores have no baseline.
    from jury_analysis.drift import DriftDecider  # noqa: PLC0415  (as said)

    record: DriftRecord | None = None
    for event in events:
        try:
            body = decode_drift(event)
            check = None if record is None else record.facts.open_check
            facts = next_drift_facts(None if record is None else record.facts, event)
        except EventError as error:
            yield event, str(error), record
            return
        record = DriftRecord(facts, DriftDecider(facts.opened) if record is None else record.decider)
        fault = None
        if isinstance(body, CheckEnded) and check is not None:
            made = record.decider.decide(facts.baseline, check, body.votes, body.stream_votes, body.answered)
            if not same_decision(made, body.decision):
                fault = f"its decision ({body.decision.verdict}) does not follow from the votes ({made.verdict})"
        if debates is not None and fault is None:
            fault = _votes_fault(debates, facts, body)
        yield event, fault, record


def same_decision(one: DriftDecision, other: DriftDecision) -> bool:
    """Whether two decisions are the same; e-values to a millionth, which machines compute alike."""
    values = [[(watched.e, *(coin.e for coin in watched.coins)) for watched in each.watched] for each in (one, other)]
    close = all(
        math.isclose(a, b, rel_tol=1e-6)
        for mine, theirs in zip(*values, strict=False)
        for a, b in zip(mine, theirs, strict=False)
    )
    return close and _without_values(one) == _without_values(other)


def _without_values(decision: DriftDecision) -> DriftDecision:
    watched = tuple(
        one.changed(e=0.0, coins=tuple(coin.changed(e=0.0) for coin in one.coins)) for one in decision.watched
    )
    return decision.changed(watched=watched)


def _votes_fault(store: EventStore, facts: DriftFacts, body: object) -> str | None:
    """Why recorded votes are not those of the debates; None: they are, or the debates are not here."""
    further: list[str] = []
    if isinstance(body, DrawsJudged):
        names, written, stated = facts.draws(body.number), list(body.votes), body.answered
    elif isinstance(body, CheckEnded):
        opened = facts.checks[-1].opened
        names, written, stated = facts.judgings(opened), [*body.votes, *body.further], body.answered
        further = [pair.debate for pair in opened.stream_pairs]
    else:
        return None
    try:
        if len(store.heads(list(map(debate_stream, [*names, *further])))) < len(names) + len(further):
            return None
        found, answered = judged(store, facts.opened, names, further)
    except (EventError, StoreDamaged) as error:
        return f"its debates cannot be read: {error.finding if isinstance(error, StoreDamaged) else error}"
    if written and [one or SILENT for one in found] != written:
        place = next(place for place, one in enumerate(found) if one != written[place])
        return f"the votes of debate {names[place]} are {found[place]}, and {written[place]} is recorded"
    return None if answered == stated else "other models answered in its debates"


def judged(
    store: EventStore, opened: DriftOpened, debate_ids: Sequence[str], further: Sequence[str] = ()
) -> tuple[list[str | None], tuple[SeatAnswers, ...]]:
    """The votes of debates, in their order, and which models answered the seats in them and in further ones."""
    models: dict[str | None, str | None] = {seat.juror_id: seat.model for seat in opened.seats}
    models[None] = opened.judge
    votes: list[str | None] = []
    versions, fingerprints = defaultdict[str | None, set[str]](set), defaultdict[str | None, set[str]](set)
    for history in _histories(store, [*debate_ids, *further]):
        votes.append(votes_of(opened, history))
        for call in history.exchanges:
            if call.outcome in ANSWERS and models.get(call.juror_id) == call.model:
                versions[call.juror_id].update(filter(None, [call.model_version]))
                fingerprints[call.juror_id].update(filter(None, [call.fingerprint]))
    answered = tuple(
        SeatAnswers(
            juror_id=juror, versions=tuple(sorted(versions[juror])), fingerprints=tuple(sorted(fingerprints[juror]))
        )
        for juror in models
        if juror in versions
    )
    return votes[: len(debate_ids)], answered


def _histories(store: EventStore, debate_ids: Sequence[str]) -> Iterator[DebateHistory]:
    for start in range(0, len(debate_ids), _AT_ONCE):
        names = debate_ids[start : start + _AT_ONCE]
        streams = store.read_streams([f"{prefix}/{one}" for one in names for prefix in ("debate", "calls")])
        for one in names:
            events = [*streams.get(f"debate/{one}", ()), *streams.get(f"calls/{one}", ())]
            yield DebateHistory.of_events(one, events)


def votes_of(opened: DriftOpened, history: DebateHistory) -> str | None:
    """The letters of a debate that is over: of the jury, and of each seat its independent vote, before any discussion.

    It is that with the agent's reasoning, where seats judge with it again. None: it was cancelled. A verdict is
    none of one's own (`-`) where there is none, where it replaces a blocked answer, where a fallback gave it, where
    too few seats evaluated, and where the final judge failed.
    """
    jury, seats = SILENT, dict.fromkeys((seat.juror_id for seat in opened.seats), SILENT)
    models = {seat.juror_id: seat.model for seat in opened.seats}
    own = True
    for event in history.events:
        match event:
            case JurorEvaluated(juror_id=juror, evaluation=found):
                own_vote = not found.synthetic and found.model == models.get(juror)
                seats[juror] = _LETTERS[found.verdict] if own_vote else SILENT
            case JurorAbstained(juror_id=juror, step=step) if not Step.parse(step).round:
                seats[juror] = SILENT
            case JudgmentRendered(judgment=judgment):
                judge = judgment.judge
                own = judgment.quorum_met and judgment.decided_by is not Decider.NO_EVALUATION
                own = own and judgment.judge_failure is None
                own = own and (judge is None or (not judge.synthetic and judge.model == opened.judge))
            case DebateCompleted(final_verdict=verdict):
                jury = _LETTERS[verdict] if own else SILENT
            case DebateCancelled():
                return None
    return jury + "".join(seats.values())
