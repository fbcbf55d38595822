"""The facts in a stream `batches/{id}`: how far a batch is, and which of its items did not answer."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jury_events.batch_events import (
    BatchAbandoned,
    BatchCancelRequested,
    BatchCancelSent,
    BatchChanged,
    BatchClosed,
    BatchedExchange,
    BatchItemsListed,
    BatchItemsUnanswered,
    BatchMissed,
    BatchMistaken,
    BatchPrepared,
    BatchSubmitted,
    BatchTextsErased,
    BatchUploaded,
    UnansweredEnd,
)
from jury_events.batch_order import opening_fault, order_fault
from jury_events.codec import BatchEvent, decode_batch
from jury_events.envelope import StoredEvent
from jury_events.errors import MalformedBody
from jury_events.ids import stream_debate
from jury_events.parts import Digest, decode_digest

_UNANSWERED: str = BatchItemsUnanswered.model_fields["type"].default
LISTED: str = BatchItemsListed.model_fields["type"].default
CLOSED: str = BatchClosed.model_fields["type"].default


class BatchFacts(NamedTuple):
    """How far a batch is. Times are those of the events, in microseconds since 1970-01-01 UTC.

    `listed`: how many of its items are, on so many `listed_pages`.
    `mistaken`: the provider's ids of batches that were taken for this one. `missed`: what the provider did not have,
    of the batch that is submitted now. `unanswered`: numbers of items.
    `unused_cost`: what answers cost that are no exchanges, in US dollars.
    """

    prepared: BatchPrepared
    prepared_at: int
    version: int
    listed: int = 0
    listed_pages: int = 0
    file_id: str | None = None
    submitted: BatchSubmitted | None = None
    submitted_at: int = 0
    submissions: int = 0
    mistaken: tuple[str, ...] = ()
    changed: BatchChanged | None = None
    changes: int = 0
    cancel_requested: BatchCancelRequested | None = None
    cancel_sent: BatchCancelSent | None = None
    cancel_sent_at: int = 0
    missed: BatchMissed | None = None
    missed_at: int = 0
    misses: int = 0
    abandoned: bool = False
    unanswered: frozenset[int] = frozenset()
    unanswered_pages: int = 0
    unused_cost: float = 0.0
    closed: BatchClosed | None = None
    erasures: int = 0

    @property
    def open(self) -> bool:
        """Whether its items may be answered still, so that they must not be asked otherwise."""
        return self.closed is None and not self.abandoned

    @property
    def uncertain(self) -> bool:
        """Whether the batch at the provider may be another's, since it was found by time and count alone."""
        return self.submitted is not None and not self.submitted.certain

    @property
    def free(self) -> bool:
        """Whether nothing of it was computed, so that its calls have not been tried."""
        return self.closed is not None and self.closed.cause in {"not_submitted", "refused"}

    @property
    def stage(self) -> str:
        """In one word: prepared, uploaded, waiting, running, cancelling, ended, abandoned or closed."""
        if self.closed is not None:
            return "closed"
        if self.abandoned:
            return "abandoned"
        if self.submitted is None:
            return "prepared" if self.file_id is None else "uploaded"
        return "waiting" if self.changed is None else self.changed.stage


def batch_facts(events: Iterable[StoredEvent], facts: BatchFacts | None = None) -> BatchFacts:
    """Fold a stream `batches/{id}`, or what comes after `facts`; its items are in `batched_calls`.

    Raises:
        EventError: an event does not decode, or is not in its place (`jury_events.batch_order`).
    """
    for stored in events:
        facts = next_facts(facts, stored)
    if facts is None:
        raise MalformedBody("a batch has no events")
    if facts.listed != facts.prepared.items:
        raise MalformedBody(
            f"{facts.listed} of the {facts.prepared.items} items of {facts.prepared.batch_id} are listed"
        )
    return facts


def next_facts(facts: BatchFacts | None, stored: StoredEvent) -> BatchFacts:
    """Fold one event; `facts` are those of all before, None at the first. Raises as `batch_facts`."""
    return _opened(stored) if facts is None else _folded(facts, stored)


def batched_calls(events: Iterable[StoredEvent]) -> Iterator[tuple[int, BatchedExchange]]:
    """The items of a batch with their numbers, in order."""
    for stored in events:
        if stored.type == LISTED:
            listed = decode_batch(stored)
            assert isinstance(listed, BatchItemsListed)
            yield from enumerate(listed.calls, listed.first)


def unanswered_ends(events: Iterable[StoredEvent]) -> dict[int, UnansweredEnd]:
    """How the items ended that are no exchange, by number."""
    pages = (decode_batch(stored) for stored in events if stored.type == _UNANSWERED)
    return {one.item: one.end for page in pages if isinstance(page, BatchItemsUnanswered) for one in page.unanswered}


def texts_of_debate(events: Iterable[StoredEvent], debate_id: str) -> frozenset[Digest]:
    """The texts of a batch that are about a debate: digests of what was sent, and late answers."""
    stored = list(events)
    numbers: set[int] = set()
    found: set[str] = set()
    for number, call in batched_calls(stored):
        if call.debate_id == debate_id:
            numbers.add(number)
            found.add(call.body.part)
    for event in stored:
        if event.type == _UNANSWERED:
            page = decode_batch(event)
            assert isinstance(page, BatchItemsUnanswered)
            found.update(one.text.part for one in page.unanswered if one.text is not None and one.item in numbers)
    return frozenset(map(decode_digest, found))


def _opened(stored: StoredEvent) -> BatchFacts:
    event = decode_batch(stored)
    if not isinstance(event, BatchPrepared):
        raise MalformedBody(f"{stored.stream} does not begin with batch_prepared")
    if (fault := opening_fault(event, stream_debate(stored.stream))) is not None:
        raise MalformedBody(f"event {stored.version} of {stored.stream}: {fault}")
    return BatchFacts(event, stored.recorded_at, stored.version)


def _folded(facts: BatchFacts, stored: StoredEvent) -> BatchFacts:
    event = decode_batch(stored)
    if (fault := order_fault(facts, event)) is not None:
        raise MalformedBody(f"event {stored.version} of {stored.stream} ({stored.type}) is not in its place: {fault}")
    return _with(facts, event, stored)._replace(version=stored.version)


def _with(facts: BatchFacts, event: BatchEvent, stored: StoredEvent) -> BatchFacts:
    match event:
        case BatchItemsListed():
            return facts._replace(listed=facts.listed + len(event.calls), listed_pages=facts.listed_pages + 1)
        case BatchUploaded() | BatchSubmitted() | BatchMistaken():
            return _sent(facts, event, stored.recorded_at)
        case BatchChanged() as changed:
            return facts._replace(changed=changed, changes=changed.number)
        case BatchCancelRequested() | BatchCancelSent() | BatchMissed():
            return _waited_for(facts, event, stored.recorded_at)
        case BatchItemsUnanswered() as page:
            known = facts.unanswered | {one.item for one in page.unanswered}
            cost = facts.unused_cost + sum(one.cost or 0.0 for one in page.unanswered)
            return facts._replace(unanswered=known, unanswered_pages=page.number, unused_cost=cost)
        case BatchAbandoned():
            return facts._replace(abandoned=True)
        case BatchClosed() as closed:
            return facts._replace(closed=closed)
        case BatchTextsErased() as erased:
            return facts._replace(erasures=erased.number)
        case _:
            return facts


def _sent(facts: BatchFacts, event: BatchUploaded | BatchSubmitted | BatchMistaken, at: int) -> BatchFacts:
    match event:
        case BatchUploaded():
            return facts._replace(file_id=event.file_id)
        case BatchSubmitted():
            return facts._replace(submitted=event, submitted_at=at, submissions=event.number, changed=None, missed=None)
        case BatchMistaken():
            return facts._replace(
                submitted=None, changed=None, missed=None, mistaken=(*facts.mistaken, event.provider_id)
            )


def _waited_for(facts: BatchFacts, event: BatchCancelRequested | BatchCancelSent | BatchMissed, at: int) -> BatchFacts:
    match event:
        case BatchCancelRequested():
            return facts._replace(cancel_requested=event)
        case BatchCancelSent():
            return facts._replace(cancel_sent=event, cancel_sent_at=at)
        case BatchMissed():
            return facts._replace(missed=event, missed_at=at, misses=event.number)
