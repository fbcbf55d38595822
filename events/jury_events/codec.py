"""Encodes events as canonical body bytes, once, and decodes them; old schemas are upcast on reading.

Stored bytes never change. There is no upcaster yet: every schema is 1. A field that is new and optional needs none, as
canonical JSON leaves out what is None; a field that is renamed or required does. An upcaster turns a body of one schema
into the next one, and writes out every new field, so that an upcast body is complete exactly if the stored one is.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from jury_events.batch_events import (
    BatchCancelRequested,
    BatchCancelSent,
    BatchChanged,
    BatchClosed,
    BatchItemsListed,
    BatchItemsUnanswered,
    BatchMissed,
    BatchMistaken,
    BatchPrepared,
    BatchSubmitted,
    BatchTextsErased,
    BatchUploaded,
)
from jury_events.canonical import MAX_WHOLE, canonical_json, encoded_quickly, has_long_number, numbers_in
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateForked,
    DebateOpened,
    DebateReplaced,
    EventRole,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    ReasoningShown,
    RoundStarted,
    SeatsNotAsked,
    StatementMade,
    TextsErased,
)
from jury_events.drift_events import (
    CheckAbandoned,
    CheckEnded,
    CheckOpened,
    DrawsJudged,
    DrawsPlanned,
    DriftImported,
    DriftOpened,
)
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.errors import EventError, MalformedBody, UnknownEventType
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import (
    BATCHES_PREFIX,
    CALLS_PREFIX,
    DEBATE_PREFIX,
    DRIFT_PREFIX,
    LOCAL_PREFIX,
    REVIEW_PREFIX,
    RUN_PREFIX,
)
from jury_events.local_events import (
    DebateImported,
    DebateQuarantined,
    DebateReleased,
    ScoresExportBegun,
    ScoresExported,
)
from jury_events.parts import Part
from jury_events.review_events import CaseLabelled, HumanReviewed, ReviewAssigned, ReviewWithdrawn
from jury_events.run_events import (
    BudgetChanged,
    CancelRequested,
    CasesListed,
    ListCompleted,
    RunEnded,
    RunImported,
    RunOpened,
    RunReopened,
)

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""By (type, schema): the upcaster to schema + 1."""


def upcast(event_type: str, schema: int, target: int, body: dict[str, Any]) -> dict[str, Any]:
    """`body`, upcast from `schema` to `target`.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: it is not a body of its schema.
    """
    for number in range(schema, target):
        body = UPCASTERS[event_type, number](body)
    return body


DebateEvent = (
    DebateOpened
    | DebateBegun
    | JurorEvaluated
    | JurorAbstained
    | SeatsNotAsked
    | ReasoningShown
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
    | DebateReplaced
)
LocalEvent = DebateImported | DebateQuarantined | DebateReleased | ScoresExportBegun | ScoresExported
ReviewEvent = HumanReviewed | ReviewAssigned | ReviewWithdrawn | CaseLabelled
BatchEvent = (
    BatchPrepared
    | BatchItemsListed
    | BatchUploaded
    | BatchSubmitted
    | BatchMistaken
    | BatchMissed
    | BatchChanged
    | BatchCancelRequested
    | BatchCancelSent
    | BatchItemsUnanswered
    | BatchClosed
    | BatchTextsErased
)
RunEvent = (
    RunOpened | CasesListed | ListCompleted | BudgetChanged | CancelRequested | RunReopened | RunImported | RunEnded
)
DriftEvent = DriftOpened | DrawsPlanned | DrawsJudged | CheckOpened | CheckEnded | CheckAbandoned | DriftImported
AnyEvent = DebateEvent | ExchangeRecorded | LocalEvent | ReviewEvent | BatchEvent | RunEvent | DriftEvent

_adapter: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="type")])


SCHEMAS: dict[str, int] = {}
"""The current schema number of each event type."""

STREAMS: dict[str, str] = {}
"""The prefix of the streams that an event type belongs to."""

for _kinds, _prefix in (
    (DebateEvent.__args__, DEBATE_PREFIX),
    ((ExchangeRecorded,), CALLS_PREFIX),
    (LocalEvent.__args__, LOCAL_PREFIX),
    (ReviewEvent.__args__, REVIEW_PREFIX),
    (BatchEvent.__args__, BATCHES_PREFIX),
    (RunEvent.__args__, RUN_PREFIX),
    (DriftEvent.__args__, DRIFT_PREFIX),
):
    for _kind in _kinds:
        _name = _kind.model_fields["type"].default
        SCHEMAS[_name], STREAMS[_name] = _kind.schema_version, _prefix

_BY_ROLE: defaultdict[EventRole, set[str]] = defaultdict(set)
for _kind in DebateEvent.__args__:
    _BY_ROLE[_kind.role].add(_kind.model_fields["type"].default)


def types_of(*roles: EventRole) -> frozenset[str]:
    """The types of events of `debate/` that have one of these roles."""
    return frozenset().union(*map(_BY_ROLE.__getitem__, roles))


INPUTS = types_of("input", "stop", "addendum")
"""Types whose events do not follow from the rest of the record."""


def encode(event: AnyEvent, *, recorded_at: int, parts: tuple[Part, ...] = ()) -> NewEvent:
    """The event ready to append, with its new parts.

    Args:
        recorded_at: microseconds since 1970-01-01 UTC, from the caller's clock.
        parts: texts that are not in the log yet.
    """
    body = encoded_quickly(event)
    if body is None:
        body = canonical_json(event)
        _check_numbers(body)
    return NewEvent(
        event_id=event.event_id,
        type=event.type,
        schema=event.schema_version,
        recorded_at=recorded_at,
        body=body,
        parts=parts,
    )


def decode(stored: StoredEvent) -> DebateEvent | ExchangeRecorded:
    """The event of a stored row of `debate/` or `calls/`, upcast to the current schema."""
    event, _ = _decoded(stored)
    if isinstance(event, LocalEvent | ReviewEvent | BatchEvent | RunEvent | DriftEvent):
        raise MalformedBody(f"{_where(stored)} is {stored.type!r}, which belongs to {STREAMS[stored.type]}ID")
    return event


def decode_local(stored: StoredEvent) -> LocalEvent:
    """The event of a stored row of `local/`; raises as `decode`."""
    event: LocalEvent = _decoded_of(stored, LocalEvent, LOCAL_PREFIX)
    return event


def decode_batch(stored: StoredEvent) -> BatchEvent:
    """The event of a stored row of `batches/`; raises as `decode`."""
    event: BatchEvent = _decoded_of(stored, BatchEvent, BATCHES_PREFIX)
    return event


def decode_run(stored: StoredEvent) -> RunEvent:
    """The event of a stored row of `run/`; raises as `decode`."""
    event: RunEvent = _decoded_of(stored, RunEvent, RUN_PREFIX)
    return event


def decode_drift(stored: StoredEvent) -> DriftEvent:
    """The event of a stored row of `drift/`; raises as `decode`."""
    event: DriftEvent = _decoded_of(stored, DriftEvent, DRIFT_PREFIX)
    return event


def decode_review(stored: StoredEvent) -> ReviewEvent:
    """The event of a stored row of `review/`; raises as `decode`."""
    event: ReviewEvent = _decoded_of(stored, ReviewEvent, REVIEW_PREFIX)
    if event.number != stored.version:
        raise MalformedBody(f"{_where(stored)} ({stored.type}): its number is {event.number}")
    return event


def _decoded_of(stored: StoredEvent, kinds: Any, prefix: str) -> Any:
    """The event of a stored row, of one of the kinds that belong to streams of the prefix."""
    event, _ = _decoded(stored)
    if not isinstance(event, kinds):
        raise MalformedBody(f"{_where(stored)} is {stored.type!r}, which does not belong to {prefix}ID")
    return event


def _decoded(stored: StoredEvent) -> tuple[AnyEvent, bytes]:
    current = SCHEMAS.get(stored.type)
    if type(stored.schema) is not int:  # a SQLite column may contain any type
        raise MalformedBody(f"{_where(stored)}: the column schema contains {type(stored.schema).__name__}, not int")
    if current is None or not 1 <= stored.schema <= current:
        raise UnknownEventType(
            f"{_where(stored)} is {stored.type!r}, schema {stored.schema}, which this version does not know; "
            "upgrade jury-judge"
        )
    if not stored.stream.startswith(STREAMS[stored.type]):
        raise MalformedBody(f"{_where(stored)} is {stored.type!r}, which belongs to a stream {STREAMS[stored.type]}ID")
    try:
        body = stored.body if stored.schema == current else _upcast_body(stored)
        event = _adapter.validate_json(body)
    except _UNREADABLE as error:
        raise MalformedBody(f"{_where(stored)} ({stored.type}) does not decode: {_first_line(error)}") from error
    if event.type != stored.type or event.event_id != stored.event_id:
        raise MalformedBody(
            f"{_where(stored)}: the body is {event.type} {event.event_id!r}, the envelope says {stored.type} "
            f"{stored.event_id!r}"
        )
    return event, body


def decode_exactly(stored: StoredEvent) -> AnyEvent:
    """The event of a stored row whose bytes equal its encoding, in its own schema.

    `decode` also accepts omitted defaults, other white space and numbers that no database stores. Other readers may
    read such bytes differently, so imports refuse them.
    """
    event, body = _decoded(stored)
    # An older body is upcast before it is compared, which hides its original spelling.
    is_not_canonical = body is not stored.body and canonical_json(json.loads(stored.body)) != stored.body
    if is_not_canonical or canonical_json(event) != body:
        raise MalformedBody(
            f"{_where(stored)} ({stored.type}): its body is not canonical JSON, or fields are missing: Jury Judge "
            "writes it differently"
        )
    _check_numbers(stored.body, _where(stored))
    return event


_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, EventError)
"""Raised by bodies that are not events; ValidationError is a ValueError, EventError means not canonical JSON."""


def _where(stored: StoredEvent) -> str:
    return f"event {stored.version} of {stored.stream}"


def _check_numbers(body: bytes, where: str = "an event") -> None:
    """Refuse integers that do not fit a database column."""
    # Strings contain long digits too, so only the few bodies that match are decoded.
    if has_long_number(body):
        for number in numbers_in(json.loads(body)):
            if not -MAX_WHOLE <= number <= MAX_WHOLE:
                raise MalformedBody(f"{where} contains the number {number:.6g}, which no database stores")


def _upcast_body(stored: StoredEvent) -> bytes:
    return canonical_json(upcast(stored.type, stored.schema, SCHEMAS[stored.type], json.loads(stored.body)))


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error) or type(error).__name__
