"""Events to canonical body bytes and back. Bytes are made once and stored; old schemas are upcast on reading."""

import json
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from jury_events.canonical import canonical_json
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateForked,
    DebateOpened,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    RoundStarted,
    StatementMade,
    TextsErased,
)
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.errors import MalformedBody, UnknownEventType
from jury_events.exchange import ExchangeRecorded
from jury_events.parts import Part
from jury_events.upcasters import upcast

DebateEvent = (
    DebateOpened
    | JurorEvaluated
    | JurorAbstained
    | RoundStarted
    | StatementMade
    | ConsensusChecked
    | JudgmentRendered
    | DebateCompleted
    | DebateFailed
    | DebateCancelled
    | CoordinatorResumed
    | DebateForked
    | TextsErased
)
AnyEvent = Annotated[DebateEvent | ExchangeRecorded, Field(discriminator="type")]

_adapter: TypeAdapter[DebateEvent | ExchangeRecorded] = TypeAdapter(AnyEvent)

SCHEMAS: dict[str, int] = {
    event.model_fields["type"].default: event.schema_version for event in (*DebateEvent.__args__, ExchangeRecorded)
}
"""The current schema number of each event type."""


def encode(event: DebateEvent | ExchangeRecorded, *, recorded_at: int, parts: tuple[Part, ...] = ()) -> NewEvent:
    """The event ready to append, with the parts that it brings.

    Args:
        event: what happened.
        recorded_at: microseconds since 1970-01-01 UTC, from the caller's clock.
        parts: texts that the log does not hold yet.
    """
    return NewEvent(
        event_id=event.event_id,
        type=event.type,
        schema=event.schema_version,
        recorded_at=recorded_at,
        body=canonical_json(event.model_dump(mode="json")),
        parts=parts,
    )


def decode(stored: StoredEvent) -> DebateEvent | ExchangeRecorded:
    """The event of a stored row, upcast to the current schema.

    Raises:
        UnknownEventType: its type or schema is newer than this version of Jury Judge.
        MalformedBody: its bytes are not the event that the envelope names.
    """
    current = SCHEMAS.get(stored.type)
    where = f"event {stored.version} of {stored.stream}"
    if current is None or stored.schema > current:
        raise UnknownEventType(
            f"{where} is {stored.type!r}, schema {stored.schema}, which this version does not know; upgrade jury-judge"
        )
    try:
        if stored.schema == current:
            event = _adapter.validate_json(stored.body)
        else:
            event = _adapter.validate_json(_upcast_bytes(stored))
    except (ValidationError, ValueError) as error:
        raise MalformedBody(f"{where} ({stored.type}) does not decode: {_first_line(error)}") from error
    if event.type != stored.type or event.event_id != stored.event_id:
        raise MalformedBody(
            f"{where}: the body is {event.type} {event.event_id!r}, the envelope says {stored.type} {stored.event_id!r}"
        )
    return event


def _upcast_bytes(stored: StoredEvent) -> bytes:
    body: dict[str, Any] = json.loads(stored.body)
    return canonical_json(upcast(stored.type, stored.schema, SCHEMAS[stored.type], body))


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
