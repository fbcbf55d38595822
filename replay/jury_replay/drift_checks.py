"""The checks of a baseline: its stream, the decisions that follow from its votes, and the votes of its debates."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from jury_events.codec import decode_drift
from jury_events.drift_events import CheckEnded, DrawsJudged, DriftDecision, DriftOpened, SeatAnswers
from jury_events.drift_facts import DriftFacts, next_drift_facts
from jury_events.envelope import StoredEvent
from jury_events.errors import DebateNotFound, EventError, MalformedBody
from jury_events.ids import debate_stream, drift_stream
from jury_replay.drift_votes import SILENT, joined, judged
from jury_replay.integrity import IntegrityFailure, at_event, stream_failure
from jury_store.errors import StoreDamaged
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_analysis.drift_decision import DriftDecider


@dataclass(frozen=True)
class CheckedDrift:
    """A baseline, as far as its stream can be read: how many sessions and checks ended. `events` counts its own."""

    drift_id: str
    events: int
    sessions: int = 0
    checks: int = 0


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
    for event, fault, record in _folded(store, events, deep=deep):
        if fault is not None:
            failures.append(at_event(event, fault))
        if record is not None:
            found = record.facts.sessions, len(record.facts.ended)
    return CheckedDrift(drift_id, len(events), *found), failures


class DriftRecord(NamedTuple):
    """A baseline, and what decides its next check."""

    facts: DriftFacts
    decider: "DriftDecider"


def intact_drift(store: EventStore, drift_id: str) -> DriftRecord:
    """A baseline whose chain is whole and whose decisions follow from its votes."""
    stream = drift_stream(drift_id)
    events = store.read_stream(stream)
    if not events:
        raise DebateNotFound(f"there is no baseline {drift_id!r} in this store; `jury drift list` lists the baselines")
    failure = stream_failure(stream, events, store.heads([stream]).get(stream))
    if failure is not None:
        raise MalformedBody(f"{failure}; see jury verify --all")
    found: DriftRecord | None = None
    for event, fault, record in _folded(store, events, deep=False):
        if fault is not None:
            raise MalformedBody(f"{at_event(event, fault)}; see jury verify --all")
        found = record
    assert found is not None, "the stream has an event"
    return found


def _folded(
    store: EventStore, events: Sequence[StoredEvent], *, deep: bool
) -> Iterator[tuple[StoredEvent, str | None, DriftRecord | None]]:
    """Each event with what is wrong with it, and the record with it; stops where one cannot be folded."""
    facts: DriftFacts | None = None
    decider: DriftDecider | None = None
    for event in events:
        try:
            body = decode_drift(event)
            check = None if facts is None else facts.open_check
            facts = next_drift_facts(facts, event)
        except EventError as error:
            yield event, str(error), None if facts is None or decider is None else DriftRecord(facts, decider)
            return
        decider = decider or _decider(facts.opened)
        fault = None
        if isinstance(body, CheckEnded) and check is not None:
            made = decider.decide(facts.baseline, check, body.votes, body.stream_votes, body.answered)
            if not same_decision(made, body.decision):
                fault = f"its decision ({body.decision.verdict}) does not follow from the votes ({made.verdict})"
        if deep and fault is None:
            fault = _votes_fault(store, facts, body)
        yield event, fault, DriftRecord(facts, decider)


def _decider(opened: DriftOpened) -> "DriftDecider":
    # numpy takes a tenth of a second to import, and most stores have no baseline.
    from jury_analysis.drift_decision import DriftDecider  # noqa: PLC0415  (as said)

    return DriftDecider(opened)


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
    if isinstance(body, DrawsJudged):
        names = [facts.of_draw(anchor, body.number) for anchor in range(len(facts.opened.anchors))]
        written, stated = list(body.votes), body.answered
    elif isinstance(body, CheckEnded):
        check = facts.checks[-1]
        names = check_debates(facts, check.opened.number)
        written, stated = [*body.votes, *body.further], body.answered
    else:
        return None
    try:
        heads = store.heads(list(map(debate_stream, names)))
        if len(heads) < len(names):
            return None
        found, answered = answers_of(store, facts, names, stream=isinstance(body, CheckEnded))
    except (EventError, StoreDamaged) as error:
        return f"its debates cannot be read: {error}"
    if written and [one or SILENT for one in found] != written:
        place = next(place for place, one in enumerate(found) if one != written[place])
        return f"the votes of debate {names[place]} are {found[place]}, and {written[place]} is recorded"
    return None if answered == stated else "other models answered in its debates"


def check_debates(facts: DriftFacts, number: int) -> list[str]:
    """The debates of a check: the first judging of each pair, then the further ones, of each pair by repeat."""
    opened = facts.checks[number - 1].opened
    first = [facts.of_check(opened, pair.anchor) for pair in opened.pairs]
    repeats = range(2, opened.repeats + 1)
    return first + [facts.of_check(opened, pair.anchor, repeat) for pair in opened.pairs for repeat in repeats]


def answers_of(
    store: EventStore, facts: DriftFacts, names: Sequence[str], *, stream: bool
) -> tuple[list[str | None], tuple[SeatAnswers, ...]]:
    """The votes of debates, and who answered in them; with `stream` also in the debates of the last check's stream."""
    votes, answered = judged(store, facts.opened, names)
    if not stream or not facts.checks[-1].opened.stream_pairs:
        return votes, answered
    of_stream = [pair.debate for pair in facts.checks[-1].opened.stream_pairs]
    return votes, joined([answered, judged(store, facts.opened, of_stream)[1]])
