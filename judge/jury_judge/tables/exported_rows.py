"""The columns and the rows of the exported tables (docs/reference/tables.md)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, get_args, get_type_hints

import pyarrow as pa

from jury_analysis.ballots import DECISIVE_MESSAGE, OWN_WORDS, READING, REASONING, SCHEMA
from jury_analysis.ballots import LABELS as LABEL_SCHEMA
from jury_debate.prompts_1.case_items import ItemMessages
from jury_events.codec import decode
from jury_events.debate_events import StatementMade
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step, repeat_of
from jury_events.parts import encode_digest
from jury_events.review_facts import Review
from jury_store.debate_ballots import VARIANT
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_views.debate_fold import EVALUATING, StepEvaluation, evaluation_of, quotations, text_in
from jury_views.evaluation_models import parts_by_seat
from jury_views.reasons import VerdictReason, said_by, without_quotations
from jury_views.result_models import OUTCOME, DebateResult, FinalJudgment

_TIME = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())


_OF_TYPES = {str: pa.string(), int: pa.int32(), bool: pa.bool_(), float: pa.float64(), list[str]: _TEXTS}


def _columns(model: type, *names: str) -> dict[str, pa.DataType]:
    """The columns of these fields of a result."""
    hints = get_type_hints(model)
    kinds = {name: {hints[name], *get_args(hints[name])} if hints[name] != list[str] else {list[str]} for name in names}
    return {name: next(_OF_TYPES[one] for one in found if one in _OF_TYPES) for name, found in kinds.items()}


def _schema(*required: tuple[str, pa.DataType], **optional: pa.DataType) -> pa.Schema:
    return pa.schema(
        [
            *(pa.field(name, kind, nullable=False) for name, kind in required),
            *(pa.field(name, kind) for name, kind in optional.items()),
        ]
    )


BALLOTS = pa.schema([*SCHEMA, *READING, *REASONING, *OWN_WORDS])
"""One row a vote, as `--ballots` reads them."""

DEBATES = _schema(
    ("debate_id", pa.string()),
    ("case_id", pa.string()),
    ("cluster", pa.string()),
    ("repeat", pa.int32()),
    ("status", pa.string()),
    ("simulated", pa.bool_()),
    ("rounds", pa.int32()),
    ("method", pa.string()),
    ("calls", pa.int32()),
    ("input_tokens", pa.int64()),
    ("output_tokens", pa.int64()),
    ("asked_again", pa.int32()),
    ("not_shown", pa.int32()),
    ("tags", _TEXTS),
    ("models", _TEXTS),
    ("metadata", pa.string()),
    ("opened_at", _TIME),
    ("updated_at", _TIME),
    begun_at=_TIME,
    ended_at=_TIME,
    **_columns(DebateResult, "run_id"),
    variant=pa.string(),
    **_columns(DebateResult, "panel", "label", *OUTCOME, "total_rounds"),
    **_columns(DebateResult, "early_termination", "end_reason"),
    **_columns(FinalJudgment, "decided_by", "quorum_met"),
    partly_read=pa.string(),
    sides=pa.string(),
    agreement=pa.float64(),
    accepted=pa.bool_(),
    human_verdict=pa.string(),
    **_columns(DebateResult, "disposition"),
    cost=pa.float64(),
    **_columns(DebateResult, "agent_cost", "reason", "reason_by"),
    decisive_item=pa.int32(),
    decisive_named_by=pa.int32(),
    imported=pa.string(),
    imported_from=pa.string(),
    quarantined=pa.string(),
    problem=pa.string(),
)
"""One row a debate, as `jury list` has it. `metadata` is JSON."""

EXCHANGES = _schema(
    ("debate_id", pa.string()),
    ("exchange_id", pa.string()),
    ("role", pa.string()),
    ("model_asked", pa.string()),
    ("turn", pa.int32()),
    ("attempt", pa.int32()),
    ("outcome", pa.string()),
    ("tools", pa.bool_()),
    ("tool_calls", pa.int32()),
    ("latency_ms", pa.float64()),
    ("waited_ms", pa.float64()),
    ("simulated", pa.bool_()),
    ("recorded_at", _TIME),
    round=pa.int32(),
    seat=pa.string(),
    model_answered=pa.string(),
    finish_reason=pa.string(),
    input_tokens=pa.int64(),
    output_tokens=pa.int64(),
    cached_input_tokens=pa.int64(),
    cache_write_tokens=pa.int64(),
    reasoning_tokens=pa.int64(),
    service_tier=pa.string(),
    region=pa.string(),
    speed=pa.string(),
    cost=pa.float64(),
    request_id=pa.string(),
)
"""One row a model call that was recorded."""

LABELS = pa.schema(
    [
        *LABEL_SCHEMA,
        pa.field("debate_id", pa.string()),
        pa.field("blind", pa.bool_()),
        pa.field("sampled", pa.bool_()),
        pa.field("minutes", pa.float64()),
        pa.field("reviewed_at", _TIME),
        pa.field("sample_label", pa.string()),
        pa.field("decisive_item", pa.int32()),
        pa.field("scale_label", pa.string()),
        DECISIVE_MESSAGE,
    ]
)
"""Human labels, as `--labels` reads them: first those of cases, then a row a case and reviewer."""

CASE_TEXTS = {"case": pa.string()}
EXCHANGE_TEXTS = {"request": pa.string(), "answer": pa.string(), "error": pa.string()}
"""Further columns with `--texts`; null where a text was erased, or there is none."""

ANNOTATOR = "case"
"""The annotator of labels that are part of cases. Debates of one case can have different labels (the case was labelled
anew between runs); the second label's annotator is `case 2`, so that `--labels` reads them as labels that differ."""

Contents = Mapping[str, Mapping[str, bytes]]
"""Texts by reference, by debate."""


def debate_row(
    row: DebateRow, panel: str | None, reason: VerdictReason | None, contents: Contents | None
) -> dict[str, Any]:
    """A row of `DEBATES`; `contents`: with texts."""
    from_row = asdict(row)
    variant = row.metadata.get(VARIANT)
    found = {
        **{name: from_row[name] for name in DEBATES.names if name in from_row},
        "cluster": row.cluster or row.case_id,
        "repeat": repeat_of(row.debate_id, row.run_id, row.case_id),
        "variant": variant if isinstance(variant, str) else None,
        "panel": panel,
        "disposition": row.disposition,
        "models": list(row.models or ()),
        "partly_read": parts_by_seat(row.partly_read),
        **reason_of_debate(reason, texts=contents is not None),
        "metadata": json.dumps(row.metadata, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
    }
    if contents is not None:
        found["case"] = _text(contents.get(row.debate_id, {}), encode_digest(row.case_part))
    return found


def review_row(review: Review, row: DebateRow, in_sample: Review | None) -> dict[str, Any]:
    """A row of `LABELS` but for its message; `in_sample`: what the person said in the random sample."""
    return {
        "case_id": row.case_id,
        "annotator": review.reviewer,
        "label": review.verdict,
        "debate_id": row.debate_id,
        "blind": review.blind,
        "sampled": review in row.review_facts.random_sample,
        "minutes": review.minutes,
        "reviewed_at": review.reviewed_at,
        "sample_label": None if in_sample is None else in_sample.verdict,
        "decisive_item": review.decisive_item,
        "scale_label": review.label,
    }


def exchange_row(
    debate_id: str, recorded_at: int, body: ExchangeRecorded, texts: Mapping[str, bytes] | None
) -> dict[str, Any]:
    """A row of `EXCHANGES`; `texts`: by reference."""
    step = Step.parse(body.step)
    found: dict[str, Any] = {
        "debate_id": debate_id,
        "exchange_id": body.event_id,
        "round": step.round,
        "role": "judge" if step.round is None else "juror",
        "seat": "judge" if step.juror_id is None else step.juror_id,
        "model_asked": body.model,
        "model_answered": body.model_version,
        "turn": body.turn,
        "attempt": body.attempt,
        "outcome": body.outcome.value,
        "finish_reason": body.finish_reason,
        "tools": body.tools,
        "tool_calls": len(body.tool_calls),
        "input_tokens": body.usage.input_tokens,
        "output_tokens": body.usage.output_tokens,
        "cached_input_tokens": body.usage.cached_input_tokens,
        "cache_write_tokens": None if body.usage.input_tokens is None else body.usage.written_tokens,
        "reasoning_tokens": body.usage.reasoning_tokens,
        "service_tier": body.usage.service_tier,
        "region": body.usage.region,
        "speed": body.usage.speed,
        "cost": body.cost,
        "latency_ms": None if body.via is not None else body.latency_ms,
        "waited_ms": body.waited_ms,
        "request_id": body.request_id,
        "simulated": body.simulated,
        "recorded_at": recorded_at,
    }
    if texts is not None:
        found |= {
            "request": _request(body, texts),
            "answer": None if body.answer is None else _text(texts, body.answer.part),
            "error": None if body.error is None else _text(texts, body.error.part),
        }
    return found


def _request(body: ExchangeRecorded, texts: Mapping[str, bytes]) -> str | None:
    """The messages as JSON; None where one of their texts is gone."""
    messages = []
    for message in body.request:
        parts = [_text(texts, part.part) for part in message.parts]
        if None in parts:
            return None
        messages.append({"role": message.role, "content": "".join(part or "" for part in parts)})
    return json.dumps(messages, ensure_ascii=False, separators=(",", ":"))


def _text(texts: Mapping[str, bytes], reference: str) -> str | None:
    content = texts.get(reference)
    return None if content is None else content.decode("utf-8", "replace")


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
