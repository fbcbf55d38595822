"""Why jurors judged as they did, as rows of a table (docs/reference/tables.md)."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa

from jury_events.debate_events import StatementMade
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_store.event_store import EventStore
from jury_views.debate_fold import EVALUATING, evaluation_of, text_in
from jury_views.reasons import VerdictReason, said_by, without_quotations

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
