"""What jurors quote, and why verdicts came, as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa

from jury_debate.prompts_1.case_items import ItemMessages
from jury_events.codec import decode
from jury_events.debate_events import StatementMade
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.exchange import ExchangeRecorded
from jury_store.event_store import EventStore
from jury_views.debate_fold import EVALUATING, StepEvaluation, evaluation_of, quotations, text_in
from jury_views.reasons import VerdictReason, said_by, without_quotations

EVIDENCE = pa.schema(
    [
        pa.field("debate_id", pa.string(), nullable=False),
        pa.field("step", pa.string(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("seat", pa.string(), nullable=False),
        pa.field("entry", pa.int32(), nullable=False),
        pa.field("item", pa.int32(), nullable=False),
        pa.field("says", pa.string(), nullable=False),
        pa.field("result", pa.string(), nullable=False),
        pa.field("decisive", pa.bool_(), nullable=False),
        pa.field("unsupported", pa.bool_(), nullable=False),
        pa.field("round", pa.int32()),
        pa.field("criterion", pa.string()),
        pa.field("cited_seat", pa.string()),
        pa.field("found_in", pa.int32()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("decisive_item", pa.int32()),
        pa.field("decisive_message", pa.int32()),
    ]
)
"""One row an entry of evidence, in the order of the record."""

EVIDENCE_TEXTS = {"quote": pa.string()}
"""A further column with `--texts`; null where the quotations were erased."""


def evidence_rows(
    debate_id: str, stream: Iterable[StoredEvent], texts: Mapping[str, bytes] | None, messages: ItemMessages | None
) -> Iterator[dict[str, Any]]:
    """The rows of one debate.

    Args:
        debate_id: its id.
        stream: its events, of which those that cannot be decoded have no rows: `jury verify` reports them.
        texts: its parts, by the 43 characters of their digest; None: rows without quotations.
        messages: of its items; None: they are not known.
    """
    for stored in stream:
        # Most evaluations of a store were not asked for evidence: their bodies are not decoded.
        if not may_quote(stored):
            continue
        try:
            event = decode(stored)
        except EventError:
            continue
        if not isinstance(event, ExchangeRecorded) and (made := evaluation_of(event)) is not None:
            yield from _rows(debate_id, made, texts, messages)


def may_quote(stored: StoredEvent) -> bool:
    """Whether an event may have an evaluation that was asked for evidence."""
    return stored.type in EVALUATING and b'"evidence"' in stored.body


def _rows(
    debate_id: str, made: StepEvaluation, texts: Mapping[str, bytes] | None, messages: ItemMessages | None
) -> Iterator[dict[str, Any]]:
    step, evaluation = made.step, made.evaluation
    item = evaluation.decisive_item
    for number, one in enumerate(quotations(evaluation, texts or {}), 1):
        entry, span = one.entry, one.entry.span
        row = {
            "debate_id": debate_id,
            "step": step.id,
            "role": "judge" if step.juror_id is None else "juror",
            "seat": "judge" if step.juror_id is None else step.juror_id,
            "entry": number,
            "item": entry.item,
            "says": entry.says,
            "result": entry.result,
            "decisive": entry.seat is None and entry.item == evaluation.decisive_item,
            "unsupported": evaluation.unsupported,
            "round": step.round,
            "criterion": entry.criterion,
            "cited_seat": entry.seat,
            "found_in": None if span is None else span.item,
            "start": None if span is None else span.start,
            "end": None if span is None else span.end,
            "decisive_item": item,
            "decisive_message": None if messages is None or item is None else messages.named(item),
        }
        yield row if texts is None else row | {"quote": one.text}


REASONS = pa.schema(
    [
        pa.field("debate_id", pa.string(), nullable=False),
        pa.field("step", pa.string(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("seat", pa.string(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("round", pa.int32()),
        pa.field("label", pa.string()),
    ]
)
"""One row an evaluation, in the order of the record. `reason`: its first two sentences, or why there are none; without
what they quote unless texts are asked for."""

REASON_TEXTS = {"rationale": pa.string(), "statement": pa.string()}
"""Further columns with `--texts`; null where the text was erased, or there is none."""

DECISIVE_WORDS = {"decisive_words": pa.string()}
"""A further column of debates with `--texts`."""


def reason_of_debate(found: VerdictReason | None, *, texts: bool) -> dict[str, Any]:
    """The columns of a debate that say why its verdict came; `texts`: with what is quoted of the case."""
    decisive = None if found is None else found.decisive
    columns = {
        "reason": None if found is None else _shown(found.text, texts=texts),
        "reason_by": [] if found is None else list(found.by),
        "decisive_item": None if decisive is None else decisive.item,
        "decisive_named_by": None if decisive is None else decisive.named_by,
    }
    return columns | ({"decisive_words": None if found is None else found.words} if texts else {})


def reason_rows(store: EventStore, debate_ids: Sequence[str], *, texts: bool) -> Iterator[dict[str, Any]]:
    """The rows of debates. Events that cannot be decoded have none: `jury verify` reports them.

    Args:
        store: open for reading.
        debate_ids: whose evaluations.
        texts: with whole texts, and what reasons quote.
    """
    histories = store.event_histories(debate_ids)
    made = {history.debate_id: list(_evaluating(history)) for history in histories}
    refs = {name: [ref for event in events for ref in _refs(event)] for name, events in made.items()}
    wanted = {name: [ref.digest for ref in found] for name, found in refs.items() if found}
    parts = store.named_parts(wanted) if wanted else {}
    for history in histories:
        read = replace(history, parts=parts.get(history.debate_id, {}))
        for event in made[history.debate_id]:
            yield _row(read, event, texts=texts)


def _shown(reason: str, *, texts: bool) -> str:
    return reason if texts else without_quotations(reason)


def _evaluating(history: DebateHistory) -> Iterator[Any]:
    for index, stored in enumerate(history.stored_events):
        if stored.type in EVALUATING:
            with suppress(EventError):
                if evaluation_of(history.events[index]) is not None:
                    yield history.events[index]


def _refs(event: Any) -> Iterator[Any]:
    found = evaluation_of(event)
    said = event.statement.statement if isinstance(event, StatementMade) else None
    for ref in (None if found is None else found.evaluation.rationale, said):
        if ref is not None:
            yield ref


def _row(history: DebateHistory, event: Any, *, texts: bool) -> dict[str, Any]:
    found = evaluation_of(event)
    assert found is not None
    step, evaluation = found.step, found.evaluation
    said = event.statement.statement if isinstance(event, StatementMade) else None
    row = {
        "debate_id": history.debate_id,
        "step": step.id,
        "role": "judge" if step.juror_id is None else "juror",
        "seat": "judge" if step.juror_id is None else step.juror_id,
        "verdict": evaluation.verdict.value,
        "score": evaluation.overall,
        "reason": _shown(said_by(evaluation, history.texts, history.erased), texts=texts),
        "round": step.round,
        "label": evaluation.label,
    }
    whole = {"rationale": text_in(history.texts, evaluation.rationale), "statement": text_in(history.texts, said)}
    return row | (whole if texts else {})
