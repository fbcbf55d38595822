"""Erasure of texts: an event records who, when and why, and the texts are deleted with it; the chain is not changed.

Events contain no text, only references to it, so no event changes.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from jury_events.batch_events import BatchTextsErased
from jury_events.batch_facts import texts_of_debate
from jury_events.codec import encode
from jury_events.debate_events import DebateFailed, DebateForked, TextsErased
from jury_events.debate_history import DebateHistory
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.errors import DebateNotFound
from jury_events.ids import batch_stream, debate_stream
from jury_events.parts import Digest, PartRef, decode_digest, encode_digest, refs_in
from jury_replay.errors import ErasureRefused
from jury_store.debate_rows import DebateRow
from jury_store.errors import Fenced, StoreError, WrongVersion
from jury_store.event_store import Append, EventStore

_ATTEMPTS = 5
_PAGE = 1000
_REVIEW = re.compile(r"review/([1-9][0-9]{0,9})")
_TEXTS_ERASED: str = TextsErased.model_fields["type"].default
_BATCH_ERASED: str = BatchTextsErased.model_fields["type"].default
_DEBATE_FORKED: str = DebateForked.model_fields["type"].default


class ErasureOrder(NamedTuple):
    """Who orders an erasure and why, one line each, kept for ever.

    `scope`: `debate`, `case`, an exchange's id, or `review/N`: the reason of the event N of the debate's reviews.
    """

    by: str
    reason: str
    scope: str = "debate"


class ErasurePlan(NamedTuple):
    """The texts that an erasure deletes from a debate, by digest. `shared`: texts of the exchange that others need.

    `ends`: the debate is unfinished, and cannot go on without them.
    """

    debate_id: str
    parts: frozenset[Digest]
    shared: int
    ends: bool


class Erased(NamedTuple):
    """`texts` deleted now, recorded in `events` new events. See `ErasurePlan` for the rest."""

    debate_id: str
    texts: int
    events: int
    shared: int
    ended: bool


def debates_over(store: EventStore, case_id: str) -> list[str]:
    """The debates over a case, of all runs, as they opened."""
    over = [row for row in _rows(store) if row.case_id == case_id]
    found = [row.debate_id for row in sorted(over, key=lambda row: row.position)]
    if not found:
        raise DebateNotFound(f"there is no debate over a case {case_id!r} in this store; `jury list` shows the cases")
    return found


def debates_with_copies(store: EventStore, debate_id: str) -> list[str]:
    """Debates with copies of texts of this one: its origin, its branches, their branches, and so on.

    In the order in which they opened; those whose texts are all gone are left out.
    """
    row = store.debate(debate_id)
    if row is None:
        return []
    # A branch is over its origin's case.
    ids = debates_over(store, row.case_id)
    pairs: set[tuple[str, str]] = set()
    for one in ids:
        for event in store.read_stream(debate_stream(one))[:2]:
            body = json.loads(event.body)
            if event.type == _DEBATE_FORKED:
                pairs.add((one, body["origin"]))
    kin, found = {debate_id}, 0
    while found < len(kin):
        found = len(kin)
        for branch, origin in pairs:
            if branch in kin or origin in kin:
                kin |= {branch, origin}
    return [one for one in ids if one in kin - {debate_id} and store.parts(one)]


def plan_erasure(history: DebateHistory, scope: str) -> ErasurePlan:
    """The texts that an erasure of that scope deletes.

    All texts of the debate; or of an exchange its answer and its request, and the texts computed from the answer: the
    rationale, statement and block for peers of the events that follow from it. Of its request only texts that nothing
    else names. Or the reason of a review or of a withdrawal.
    """
    debate_id = history.debate_id
    if not history.stored_events:
        raise DebateNotFound.named(debate_id)
    ends = not history.finished
    if scope in {"debate", "case"}:
        return ErasurePlan(debate_id, frozenset(history.parts), 0, ends)
    if (found := _REVIEW.fullmatch(scope)) is not None:
        # No debate needs what people said of it, so an unfinished one goes on.
        return ErasurePlan(debate_id, _reason(history, int(found[1])) & history.parts.keys(), 0, ends=False)
    own, others = _named(history, scope)
    exchange = json.loads(own[0].body)
    given = {*refs_in(exchange["request"]), *refs_in(exchange.get("sent"))}
    said = {ref for event in own for ref in refs_in(json.loads(event.body))} - given
    # An answer is repeated in the model's next request: it is deleted all the same.
    said |= {ref for key in ("answer", "response", "error", "tool_calls") for ref in refs_in(exchange.get(key))}
    elsewhere = {ref for event in others for ref in refs_in(json.loads(event.body))}
    going = {decode_digest(ref) for ref in said | (given - elsewhere)}
    shared = {decode_digest(ref) for ref in (given & elsewhere) - said}
    return ErasurePlan(debate_id, frozenset(going & history.parts.keys()), len(shared & history.parts.keys()), ends)


def erase(store: EventStore, debate_id: str, order: ErasureOrder, now: int) -> Erased:
    """Record the erasure and delete, in one transaction; a second call takes what came since.

    An unfinished debate fails first, in the same append. Afterwards `EventStore.scrub` sees to the files.

    Args:
        now: microseconds since 1970-01-01 UTC.
    """
    store.require_eraser()
    gone = written = shared = 0
    ended = False
    for _ in range(_ATTEMPTS):
        (history,) = store.histories([debate_id])
        plan = plan_erasure(history, order.scope)
        shared = max(shared, plan.shared)
        if not plan.parts:
            break
        events = _events(history, plan, order, now)
        if events:
            append = Append(debate_stream(debate_id), events, len(history.stored_events), store.next_epoch())
            (answer,) = store.append([append], atomic=True, erase=plan.parts)
            if isinstance(answer, WrongVersion | Fenced):
                continue  # another process wrote in between
            if isinstance(answer, StoreError):
                raise answer
            written += len(events)
            ended = ended or plan.ends
            gone += len(plan.parts)
        else:
            # Recorded already: texts that were added again since.
            gone += store.delete_parts(debate_id, plan.parts)
        # A call in flight may have been answered since: read again.
    else:
        raise ErasureRefused(f"debate {debate_id} keeps being written to; stop its run, then repeat the command")
    if _REVIEW.fullmatch(order.scope) is None:
        _erase_in_batches(store, history, order, now)
    return Erased(debate_id, gone, written, shared, ended)


def _erase_in_batches(store: EventStore, history: DebateHistory, order: ErasureOrder, now: int) -> None:
    """Delete what batches have of a debate, in the same way: the salts of what was sent, and late answers.

    All of it, whatever the scope: a request shows the case, and what others said of it.
    """
    run_id = history.opened.run_id
    for batch_id in [] if run_id is None else store.batch_ids(run_id):
        for _ in range(_ATTEMPTS):
            (batch,) = store.histories([batch_id])
            going = texts_of_debate(batch.stored_batch, history.debate_id) & batch.parts.keys()
            if not going:
                break
            erased = BatchTextsErased(
                debate_id=history.debate_id,
                by=order.by,
                number=1 + sum(event.type == _BATCH_ERASED for event in batch.stored_batch),
                parts=tuple(PartRef(part=encode_digest(digest)) for digest in sorted(going)),
            )
            new = (encode(erased, recorded_at=now),)
            append = Append(batch_stream(batch_id), new, expected_version=len(batch.stored_batch))
            (answer,) = store.append([append], atomic=True, erase=going)
            if isinstance(answer, StoreError) and not isinstance(answer, WrongVersion):
                raise answer


def _events(history: DebateHistory, plan: ErasurePlan, order: ErasureOrder, now: int) -> tuple[NewEvent, ...]:
    """The events to append with the deletion: none, where an earlier call recorded all of it."""
    before = sum(event.type == _TEXTS_ERASED for event in history.stored_events)
    parts = sorted(plan.parts - history.erased_digests)
    if not parts:
        return ()
    try:
        erased = TextsErased(
            by=order.by,
            reason=order.reason,
            scope=order.scope,
            number=before + 1,
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


def _reason(history: DebateHistory, number: int) -> frozenset[Digest]:
    """The text that an event of the debate's reviews names."""
    event = next((one for one in history.stored_reviews if one.version == number), None)
    refs = () if event is None else tuple(refs_in(json.loads(event.body)))
    if not refs:
        raise ErasureRefused(
            f"debate {history.debate_id} has no review {number} with a reason; `jury show {history.debate_id}` lists "
            "its reviews"
        )
    return frozenset(map(decode_digest, refs))


def _named(history: DebateHistory, exchange_id: str) -> tuple[list[StoredEvent], list[StoredEvent]]:
    """The exchange and the events that follow from it, the exchange first; and all other events but erasures."""
    calls = history.stored_exchanges
    own = [event for event in calls if event.event_id == exchange_id]
    if not own:
        raise ErasureRefused(
            f"debate {history.debate_id} has no exchange {exchange_id!r}; "
            f"`jury show {history.debate_id} --events` lists them"
        )
    others = [event for event in calls if event.event_id != exchange_id]
    for event in history.stored_events:
        body: dict[str, Any] = json.loads(event.body)
        if exchange_id in body.get("exchanges", ()):
            own.append(event)
        elif event.type != _TEXTS_ERASED:
            others.append(event)
    return own, others


def _rows(store: EventStore) -> Iterator[DebateRow]:
    """All debates, those in quarantine too: their texts can be erased like any other."""
    for quarantined in (False, True):
        after = 0
        while rows := store.debates(quarantined=quarantined, waiting=None, limit=_PAGE, after=after):
            yield from rows
            after = rows[-1].position
