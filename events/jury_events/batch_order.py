"""In which order the events of a batch may stand, and which of their fields contradict each other."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jury_events.batch_events import (
    BatchAbandoned,
    BatchCancelRequested,
    BatchChanged,
    BatchClosed,
    BatchItemsListed,
    BatchItemsUnanswered,
    BatchMistaken,
    BatchPrepared,
    BatchSubmitted,
    BatchTextsErased,
    BatchUploaded,
)
from jury_events.codec import BatchEvent
from jury_events.ids import batch_id, unescape

if TYPE_CHECKING:
    from jury_events.batch_facts import BatchFacts

_WITH_AN_ANSWER = frozenset({"late", "superseded"})
"""Ends of items that were answered."""


def opening_fault(prepared: BatchPrepared, batch: str) -> str | None:
    """Why a batch of this id cannot begin so; None: it can."""
    named = batch_id(prepared.run_id, prepared.nonce)
    if prepared.batch_id != batch or named != batch:
        return f"it prepares another batch, {prepared.batch_id} of run {prepared.run_id} with nonce {prepared.nonce}"
    return None


def order_fault(facts: "BatchFacts", event: BatchEvent) -> str | None:
    """Why an event cannot follow what is recorded of its batch; None: it can.

    Args:
        facts: of all events before.
        event: the next one.
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


def _listing_fault(facts: "BatchFacts", event: BatchItemsListed) -> str | None:
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


def _upload_fault(facts: "BatchFacts", _event: BatchUploaded) -> str | None:
    return None if facts.submissions == 0 else "it was submitted before"


def _submission_fault(facts: "BatchFacts", event: BatchSubmitted) -> str | None:
    if facts.submitted is not None:
        return f"it is submitted already, as {facts.submitted.provider_id}"
    if event.provider_id in facts.mistaken:
        return f"{event.provider_id} is another batch, as is recorded before"
    if not event.found and (facts.submissions or not event.certain):
        return "what was not looked up is certain, and submitted once"
    return _numbered("submission", event.number, facts.submissions)


def _mistake_fault(facts: "BatchFacts", event: BatchMistaken) -> str | None:
    submitted = facts.submitted
    if submitted is None or submitted.certain or submitted.provider_id != event.provider_id:
        return f"{event.provider_id} was not found by time and count before"
    return _numbered("mistake", event.number, len(facts.mistaken))


def _change_fault(facts: "BatchFacts", event: BatchChanged) -> str | None:
    if facts.submitted is None:
        return "it is not submitted"
    if facts.changed is not None and facts.changed.stage == "ended":
        return "it has ended before"
    if (event.answered or 0) + (event.failed or 0) > facts.prepared.items:
        return f"the batch has {facts.prepared.items} items, and more are said to be done"
    return _numbered("change", event.number, facts.changes)


def _cancel_fault(_facts: "BatchFacts", event: BatchCancelRequested) -> str | None:
    return (
        None if (event.cause == "person") == (event.by is not None) else "a person has a name, and a deadline has none"
    )


def _unanswered_fault(facts: "BatchFacts", event: BatchItemsUnanswered) -> str | None:
    named = [one.item for one in event.unanswered]
    if not named or max(named) > facts.prepared.items:
        return f"it names {named[:5]}, and the batch has {facts.prepared.items} items"
    if len(set(named)) < len(named) or not facts.unanswered.isdisjoint(named):
        return "an item is named twice"
    if any(one.text is not None and one.end not in _WITH_AN_ANSWER for one in event.unanswered):
        return "an item that was not answered has no answer"
    return _numbered("page", event.number, facts.unanswered_pages)


def _abandoning_fault(facts: "BatchFacts", _event: BatchAbandoned) -> str | None:
    asked = facts.submitted is not None and facts.cancel_requested is not None
    return None if asked else "its provider has not been asked to end it"


def _closing_fault(facts: "BatchFacts", event: BatchClosed) -> str | None:
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
        case "results_gone" if not event.unanswered:
            return "every item is answered, and nothing of its results is gone"
        case "ended" | "refused" if event.unanswered != unanswered:
            return f"{event.unanswered} items are said to be unanswered, and {unanswered} are named"
    return None


_CHECKS: dict[type, Callable[["BatchFacts", Any], str | None]] = {
    BatchPrepared: lambda _facts, _event: "the batch was prepared before",
    BatchItemsListed: _listing_fault,
    BatchUploaded: _upload_fault,
    BatchSubmitted: _submission_fault,
    BatchMistaken: _mistake_fault,
    BatchChanged: _change_fault,
    BatchCancelRequested: _cancel_fault,
    BatchItemsUnanswered: _unanswered_fault,
    BatchAbandoned: _abandoning_fault,
    BatchClosed: _closing_fault,
}
