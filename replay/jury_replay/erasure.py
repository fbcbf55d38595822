"""Erasing texts for good: who, when and why is an event, with which the texts go; the chain stays as it is.

An event holds no text, so nothing of it changes: it refers to a text that is not there any more, and says so on record.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from jury_events.codec import encode
from jury_events.debate_events import DebateFailed, DebateForked, TextsErased
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import Digest, PartRef, decode_digest, encode_digest, refs_in
from jury_replay.errors import DebateMissing, ErasureRefused
from jury_store.debate_rows import DebateRow
from jury_store.errors import Fenced, StoreError, WrongVersion
from jury_store.event_store import Append, EventStore
from jury_store.inventory import DebateRecord

_ATTEMPTS = 5
_PAGE = 1000
_ENDINGS = frozenset({"debate_completed", "debate_failed", "debate_cancelled"})
_TEXTS_ERASED: str = TextsErased.model_fields["type"].default
_DEBATE_FORKED: str = DebateForked.model_fields["type"].default


class Order(NamedTuple):
    """Who asks for an erasure and why, one line each, kept for ever; `scope`: `debate`, `case` or an exchange's id."""

    by: str
    reason: str
    scope: str = "debate"


class Plan(NamedTuple):
    """What an erasure takes from a debate: stored texts by digest. `shared`: texts of the exchange that others need.

    `ends`: the debate is not over, and cannot go on without them.
    """

    debate_id: str
    parts: frozenset[Digest]
    shared: int
    ends: bool


class Erased(NamedTuple):
    """What went: `texts` of them now, recorded in `events` new events. See `Plan` for the rest."""

    debate_id: str
    texts: int
    events: int
    shared: int
    ended: bool


def debates_over(store: EventStore, case_id: str) -> list[str]:
    """The debates over a case, of all runs, as they opened.

    Raises:
        DebateMissing: there is none.
    """
    over = [row for row in _rows(store) if row.case_id == case_id]
    found = [row.debate_id for row in sorted(over, key=lambda row: row.position)]
    if not found:
        raise DebateMissing(f"there is no debate over a case {case_id!r} in this store; `jury list` shows the cases")
    return found


def holding_copies(store: EventStore, debate_id: str) -> list[str]:
    """Debates that hold copies of texts of this one: what it was branched off, and what was branched off it, and so on.

    In the order in which they opened; those whose texts are all gone are left out.
    """
    row = store.debate(debate_id)
    if row is None:
        return []
    # A branch is over its origin's case.
    ids = debates_over(store, row.case_id)
    origins = {}
    for one in ids:
        for event in store.read_stream(debate_stream(one))[:2]:
            if event.type == _DEBATE_FORKED:
                origins[one] = json.loads(event.body)["origin"]
    kin, found = {debate_id}, 0
    while found < len(kin):
        found = len(kin)
        for branch, origin in origins.items():
            if branch in kin or origin in kin:
                kin |= {branch, origin}
    return [one for one in ids if one in kin - {debate_id} and store.parts(one)]


def plan_erasure(record: DebateRecord, scope: str) -> Plan:
    """What an erasure of that scope takes.

    All texts of the debate; or of an exchange what it said and was given, and what was made of it: the rationale,
    statement and block for peers of the events that follow from it. Of its request only texts that nothing else names.

    Raises:
        DebateMissing: the debate was never opened.
        ErasureRefused: it has no such exchange.
    """
    debate_id = record.debate_id
    events = record.events.get(debate_stream(debate_id), [])
    if not events:
        raise DebateMissing.named(debate_id)
    ends = not any(event.type in _ENDINGS for event in events)
    if scope in {"debate", "case"}:
        return Plan(debate_id, frozenset(record.parts), 0, ends)
    own, others = _named(record, scope)
    exchange = json.loads(own[0].body)
    given = {*refs_in(exchange["request"]), *refs_in(exchange["sent"])}
    said = {ref for event in own for ref in refs_in(json.loads(event.body))} - given
    # What the model said may be in its own next request too: it goes all the same.
    said |= {ref for key in ("answer", "response", "error", "tool_calls") for ref in refs_in(exchange[key])}
    elsewhere = {ref for event in others for ref in refs_in(json.loads(event.body))}
    going = {decode_digest(ref) for ref in said | (given - elsewhere)}
    shared = {decode_digest(ref) for ref in (given & elsewhere) - said}
    return Plan(debate_id, frozenset(going & record.parts.keys()), len(shared & record.parts.keys()), ends)


def erase(store: EventStore, debate_id: str, order: Order, now: int) -> Erased:
    """Record the erasure and delete, in one transaction; a second call takes what came since.

    An unfinished debate fails first, in the same append. Afterwards `EventStore.scrub` sees to the files.

    Args:
        store: open for writing.
        debate_id: whose texts.
        order: who, why, and how much.
        now: microseconds since 1970-01-01 UTC.

    Raises:
        DebateMissing, ErasureRefused: see `plan_erasure`; or the order cannot be recorded.
        MayNotErase: the user may not delete texts; nothing is recorded.
        StoreError: the database cannot be written; call it again.
    """
    store.require_eraser()
    gone = written = shared = 0
    ended = False
    for _ in range(_ATTEMPTS):
        (record,) = store.records([debate_id])
        plan = plan_erasure(record, order.scope)
        shared = max(shared, plan.shared)
        if not plan.parts:
            break
        events = _events(record, plan, order, now)
        if events:
            append = Append(
                debate_stream(debate_id), events, len(record.events[debate_stream(debate_id)]), store.next_epoch()
            )
            (answer,) = store.append([append], atomic=True, erase=plan.parts)
            if isinstance(answer, WrongVersion | Fenced):
                continue  # somebody wrote in between
            if isinstance(answer, StoreError):
                raise answer
            written += len(events)
            ended = ended or plan.ends
            gone += len(plan.parts)
        else:
            # On record already: texts that were brought again since.
            gone += store.delete_parts(debate_id, plan.parts)
        # An answer that was under way may have come since: look again.
    else:
        raise ErasureRefused(
            f"debate {debate_id} is being written to again and again; stop its run, then call the same command again"
        )
    return Erased(debate_id, gone, written, shared, ended)


def _events(record: DebateRecord, plan: Plan, order: Order, now: int) -> tuple[NewEvent, ...]:
    """What is to be recorded with the texts' going: nothing, where an earlier call recorded all of it."""
    before = [event for event in record.events[debate_stream(record.debate_id)] if event.type == _TEXTS_ERASED]
    recorded = {decode_digest(ref) for event in before for ref in refs_in(json.loads(event.body))}
    parts = sorted(plan.parts - recorded)
    if not parts:
        return ()
    try:
        erased = TextsErased(
            by=order.by,
            reason=order.reason,
            scope=order.scope,
            nth=len(before) + 1,
            parts=tuple(PartRef(part=encode_digest(digest)) for digest in parts),
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise ErasureRefused(
            f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}; it is recorded in one "
            "line of at most 300 characters"
        ) from None
    ending = (encode(DebateFailed(reason="erased", detail=None), recorded_at=now),) if plan.ends else ()
    return (*ending, encode(erased, recorded_at=now))


def _named(record: DebateRecord, exchange_id: str) -> tuple[list[StoredEvent], list[StoredEvent]]:
    """The exchange and the events that follow from it, the exchange first; and all other events but erasures."""
    calls = record.events.get(calls_stream(record.debate_id), [])
    own = [event for event in calls if event.event_id == exchange_id]
    if not own:
        raise ErasureRefused(
            f"debate {record.debate_id} has no exchange {exchange_id!r}; "
            f"`jury show {record.debate_id} --events` lists them"
        )
    others = [event for event in calls if event.event_id != exchange_id]
    for event in record.events[debate_stream(record.debate_id)]:
        body: dict[str, Any] = json.loads(event.body)
        if exchange_id in body.get("exchanges", ()):
            own.append(event)
        elif event.type != _TEXTS_ERASED:
            others.append(event)
    return own, others


def _rows(store: EventStore) -> Iterator[DebateRow]:
    """Debates in quarantine too: setting one aside keeps no text from being erased."""
    for quarantined in (False, True):
        after = 0
        while rows := store.debates(quarantined=quarantined, limit=_PAGE, after=after):
            yield from rows
            after = rows[-1].position
