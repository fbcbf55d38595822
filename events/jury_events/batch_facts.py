"""The facts in a stream `batches/{id}`: how far a batch is, and which of its items did not answer.

Its events stand in the order of its states, and no field contradicts an event before.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from jury_events.batch_events import (
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
from jury_events.codec import BatchEvent, decode_batch
from jury_events.envelope import StoredEvent
from jury_events.errors import MalformedBody
from jury_events.ids import batch_id, stream_debate, unescape
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
    unanswered: frozenset[int] = frozenset()
    unanswered_pages: int = 0
    unused_cost: float = 0.0
    closed: BatchClosed | None = None
    erasures: int = 0

    @property
    def open(self) -> bool:
        """Whether its items may be answered still, so that they must not be asked otherwise."""
        return self.closed is None

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
        """In one word: prepared, uploaded, waiting, running, cancelling, ended or closed."""
        if self.closed is not None:
            return "closed"
        if self.submitted is None:
            return "prepared" if self.file_id is None else "uploaded"
        return "waiting" if self.changed is None else self.changed.stage


def batch_facts(events: Iterable[StoredEvent], facts: BatchFacts | None = None) -> BatchFacts:
    """Fold a stream `batches/{id}`, or what comes after `facts`; its items are in `batched_calls`."""
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
    """The texts of a batch that are about a debate: digests of what was sent, and answers that are not used."""
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
    if (fault := _opening_fault(event, stream_debate(stored.stream))) is not None:
        raise MalformedBody(f"event {stored.version} of {stored.stream}: {fault}")
    return BatchFacts(event, stored.recorded_at, stored.version)


def _folded(facts: BatchFacts, stored: StoredEvent) -> BatchFacts:
    event = decode_batch(stored)
    if (fault := _order_fault(facts, event)) is not None:
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


def _opening_fault(prepared: BatchPrepared, batch: str) -> str | None:
    """Why a batch of this id cannot begin so; None: it can."""
    named = batch_id(prepared.run_id, prepared.nonce)
    if prepared.batch_id != batch or named != batch:
        return f"it prepares another batch, {prepared.batch_id} of run {prepared.run_id} with nonce {prepared.nonce}"
    return None


def _order_fault(facts: BatchFacts, event: BatchEvent) -> str | None:
    """Why an event cannot follow what is recorded of its batch; None: it can.

    Args:
        facts: of all events before.
    """
    if isinstance(event, BatchTextsErased):
        return _numbered("erasure", event.number, facts.erasures)
    if facts.closed is not None:
        return "the batch was closed before, and nothing follows but erasures of its texts"
    if facts.listed != facts.prepared.items and not isinstance(event, BatchItemsListed):
        return f"{facts.listed} of its {facts.prepared.items} items are listed before"
    check = _CHECKS.get(type(event))
    return None if check is None else check(facts, event)


def _numbered(what: str, number: int, before: int) -> str | None:
    return None if number == before + 1 else f"it says that it is {what} {number}, after {before} of them"


def _listing_fault(facts: BatchFacts, event: BatchItemsListed) -> str | None:
    prepared = facts.prepared
    if facts.version != 1 + facts.listed_pages:
        return "items are listed when the batch is prepared"
    if not event.calls or event.first != facts.listed + 1 or facts.listed + len(event.calls) > prepared.items:
        return (
            f"it lists {len(event.calls)} items from number {event.first} on, after {facts.listed} of the "
            f"{prepared.items} items of the batch"
        )
    for number, call in enumerate(event.calls, event.first):
        models = call.exchange.split("/")[-3:-2]
        provider, _, model = unescape(models[0]).partition("/") if models else ("", "", "")
        if not call.debate_id.startswith(f"{prepared.run_id}~"):
            return f"item {number} is of the debate {call.debate_id}, which is not of run {prepared.run_id}"
        if provider != prepared.provider or (number == 1 and model != prepared.model):
            return (
                f"item {number} is the call {call.exchange}, and the batch was prepared for {prepared.model} of "
                f"{prepared.provider}"
            )
    return None


def _upload_fault(facts: BatchFacts, _event: BatchUploaded) -> str | None:
    return None if facts.submissions == 0 else "it was submitted before"


def _submission_fault(facts: BatchFacts, event: BatchSubmitted) -> str | None:
    if facts.submitted is not None:
        return f"it is submitted already, as {facts.submitted.provider_id}"
    if event.provider_id in facts.mistaken:
        return f"{event.provider_id} is another batch, as is recorded before"
    if not event.found and (facts.submissions or not event.certain):
        return "what was not looked up is certain, and submitted once"
    return _numbered("submission", event.number, facts.submissions)


def _mistake_fault(facts: BatchFacts, event: BatchMistaken) -> str | None:
    submitted = facts.submitted
    if submitted is None or submitted.certain or submitted.provider_id != event.provider_id:
        return f"{event.provider_id} was not found by time and count before"
    return _numbered("mistake", event.number, len(facts.mistaken))


def _change_fault(facts: BatchFacts, event: BatchChanged) -> str | None:
    if facts.submitted is None:
        return "it is not submitted"
    if facts.changed is not None and (facts.changed.stage, facts.changed.word) == (event.stage, event.word):
        return "nothing changed"
    if (event.answered or 0) + (event.failed or 0) > facts.prepared.items:
        return f"the batch has {facts.prepared.items} items, and more are said to be done"
    return _numbered("change", event.number, facts.changes)


def _cancel_fault(_facts: BatchFacts, event: BatchCancelRequested) -> str | None:
    return (
        None if (event.cause == "person") == (event.by is not None) else "a person has a name, and a deadline has none"
    )


def _cancel_sent_fault(facts: BatchFacts, _event: BatchCancelSent) -> str | None:
    wanted = facts.submitted is not None and facts.cancel_requested is not None
    return None if wanted else "no end of it was asked for, or it was not submitted"


def _miss_fault(facts: BatchFacts, event: BatchMissed) -> str | None:
    return "it is not submitted" if facts.submitted is None else _numbered("miss", event.number, facts.misses)


def _unanswered_fault(facts: BatchFacts, event: BatchItemsUnanswered) -> str | None:
    named = [one.item for one in event.unanswered]
    if not named or max(named) > facts.prepared.items:
        return f"it names {named[:5]}, and the batch has {facts.prepared.items} items"
    if len(set(named)) < len(named) or not facts.unanswered.isdisjoint(named):
        return "an item is named twice"
    if any(one.text is not None and one.end != "superseded" for one in event.unanswered):
        return "an item that was not answered has no answer"
    return _numbered("page", event.number, facts.unanswered_pages)


def _closing_fault(facts: BatchFacts, event: BatchClosed) -> str | None:
    prepared, unanswered = facts.prepared, len(facts.unanswered)
    if event.answered + event.unanswered != prepared.items:
        return f"{event.answered} answered and {event.unanswered} unanswered items are not the {prepared.items} of it"
    match event.cause:
        case "ended" if facts.submitted is None or facts.changed is None or facts.changed.stage != "ended":
            return "its provider has not said that it has ended"
        case "not_submitted" if facts.submitted is not None or event.answered:
            return "it was submitted"
        case "results_gone" if facts.submitted is None:
            return "it was not submitted"
        case "ended" | "refused" | "results_gone" if event.unanswered != unanswered:
            return f"{event.unanswered} items are said to be unanswered, and {unanswered} are named"
    return None


_CHECKS: dict[type, Callable[[BatchFacts, Any], str | None]] = {
    BatchPrepared: lambda _facts, _event: "the batch was prepared before",
    BatchItemsListed: _listing_fault,
    BatchUploaded: _upload_fault,
    BatchSubmitted: _submission_fault,
    BatchMistaken: _mistake_fault,
    BatchMissed: _miss_fault,
    BatchChanged: _change_fault,
    BatchCancelSent: _cancel_sent_fault,
    BatchCancelRequested: _cancel_fault,
    BatchItemsUnanswered: _unanswered_fault,
    BatchClosed: _closing_fault,
}
