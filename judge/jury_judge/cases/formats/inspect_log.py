"""Samples of Inspect's logs: messages, attachments put back, target, scores and metadata.

Source: inspect_ai, `EvalSample`. A sample's `events` are how its messages came about, and are not read again.
"""

from collections.abc import Mapping
from typing import Any

from jury_judge.cases.draft import Draft
from jury_judge.cases.formats.format import Format
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.chat import read_chat, read_choices
from jury_judge.cases.transcripts.json_values import as_text
from jury_judge.errors import CaseFileError

_ATTACHMENT = "attachment://"
HEADER = "_eval"
"""The key under which a sample from an archive brings the log's own description."""


def _read(row: Any) -> Draft:
    sample = row
    header = sample.get(HEADER) if isinstance(sample.get(HEADER), dict) else {}
    attachments = sample.get("attachments") if isinstance(sample.get("attachments"), dict) else {}
    messages = _resolved(sample.get("messages") or [], attachments)
    builder = TranscriptBuilder()
    read_chat(messages, builder)
    output = _resolved(sample.get("output") or {}, attachments)
    if not any(isinstance(one, dict) and one.get("role") == "assistant" for one in messages):
        read_choices(_choices(output), builder, "output.choices")
    error = sample.get("error")
    target = sample.get("target")
    targets = [as_text(one) for one in (target if isinstance(target, list) else [target]) if one not in (None, "")]
    given = sample.get("input")
    epoch = sample.get("epoch") or 1
    identity = as_text(sample.get("id")) or None
    return Draft(
        case_id=identity if epoch == 1 or identity is None else f"{identity} epoch {epoch}",
        question=_resolved(given, attachments) if isinstance(given, str) and given.strip() else None,
        expected_behavior="\n".join(targets) or None,
        built=builder,
        error=as_text(error.get("message")) if isinstance(error, dict) else as_text(error) or None,
        metadata={
            **(sample["metadata"] if isinstance(sample.get("metadata"), dict) else {}),
            **{f"score.{name}": _score(score) for name, score in (sample.get("scores") or {}).items()},
            **{name: header[name] for name in ("task", "model") if header.get(name) is not None},
            "epoch": epoch,
        },
        tags=header.get("tags"),
        cluster=identity,
    )


def _choices(output: Any) -> list[Any]:
    return [
        {"message": choice.get("message"), "finish_reason": choice.get("stop_reason")}
        for choice in (output.get("choices") or [] if isinstance(output, dict) else [])
        if isinstance(choice, dict)
    ]


def _score(score: Any) -> Any:
    return score.get("value") if isinstance(score, dict) and "value" in score else score


def _resolved(value: Any, attachments: dict[str, Any]) -> Any:
    """The value with every text that names an attachment replaced by it."""
    if isinstance(value, str):
        if not value.startswith(_ATTACHMENT):
            return value
        name = value.removeprefix(_ATTACHMENT)
        if name not in attachments:
            raise CaseFileError(f"attachments: the log lacks {name[:80]!r}, which a message names; export it again")
        return attachments[name]
    if isinstance(value, list):
        return [_resolved(one, attachments) for one in value]
    if isinstance(value, dict):
        return {name: _resolved(one, attachments) for name, one in value.items()}
    return value


def _recognises(row: Any) -> bool:
    return isinstance(row, dict) and (HEADER in row or {"id", "epoch", "input", "target", "messages"} <= row.keys())


def _rows_path(document: Mapping[str, Any]) -> str | None:
    return "samples" if {"eval", "samples"} <= document.keys() else None


INSPECT = Format("inspect", _recognises, _read, _rows_path)
