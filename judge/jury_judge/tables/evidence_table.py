"""The quotations of debates as rows of a table (docs/reference/tables.md)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from jury_debate.prompts_1.case_items import ItemMessages
from jury_events.codec import decode
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.exchange import ExchangeRecorded
from jury_views.debate_fold import EVALUATING, StepEvaluation, evaluation_of, quotations

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
