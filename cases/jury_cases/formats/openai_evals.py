"""Logs of OpenAI's evals (`oaieval`): the events of each sample, of which one or more are calls of models.

Source: `evals.record` (`Event`, `RecorderBase`): a first line `spec`, a line `final_report`, and events with
`sample_id`, `type` and `data`. A call (`sampling`) has the whole prompt. Evals of several turns record one for each
turn, each with the prompt before it; evals that a model grades record the grader's call too.
"""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format, GatheredRows
from jury_cases.formats.format_files import RowsOfFile
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, text_or_none
from jury_cases.transcripts.reading import read_messages

_SCORES = frozenset({"match", "metrics", "raw_sample", "embedding", "cond_logp", "pick_option", "function_call"})
"""Events that say how a sample was scored, or repeat it."""

_OF_CALLS = frozenset({"prompt", "sampled", "model", "usage", "expected"})


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    spec = row.get("spec")
    is_event = {"event_id", "sample_id", "type", "data"} <= row.keys()
    return is_event or (isinstance(spec, dict) and {"eval_name", "completion_fns"} <= spec.keys())


def _sample_id(row: Any) -> str:
    return as_text(row.get("sample_id")) if isinstance(row, dict) else ""


def _read(row: Any) -> CaseDraft:
    rows = row["rows"] if isinstance(row, GatheredRows) else [row]
    events = [one for one in rows if isinstance(one, dict) and isinstance(one.get("data"), dict)]
    calls = [one for one in events if one.get("type") == "sampling"]
    if not calls:
        raise CaseFileError("sampling: no event says what a model was asked and answered; there is nothing to judge")
    builder, said = TranscriptBuilder(), calls[0]
    for one in calls[1:]:
        before, prompt = as_object(said["data"]).get("prompt"), one["data"].get("prompt")
        if isinstance(before, list) and isinstance(prompt, list) and prompt[: len(before)] == before != prompt:
            said = one
    place = f"event {as_text(said.get('event_id'))}"
    prompt, sampled = (said["data"].get(name) for name in ("prompt", "sampled"))
    if isinstance(prompt, str):
        builder.message("user", prompt, f"{place}.prompt")
    elif prompt is not None:
        read_messages(prompt, builder, f"{place}.prompt")
    first, *others = sampled if isinstance(sampled, list) and sampled else [sampled]
    builder.message("assistant", as_text(first), f"{place}.sampled")
    for number, other in enumerate(others, start=1):
        builder.not_shown("further sampled answer", "model", f"{place}.sampled.{number}", other)
    builder.unread(said["data"], _OF_CALLS, "environment", place)
    _name_others(events, said, builder)
    expected = next((found for one in events if (found := one["data"].get("expected")) is not None), None)
    errors = (text_or_none(one["data"].get("message")) for one in events if one.get("type") == "error")
    return CaseDraft(
        case_id=_sample_id(said),
        built=builder,
        answered=True,
        error=next(filter(None, errors), None),
        expected_behavior=None if expected is None else as_text(expected),
        metadata={"run": said.get("run_id"), "model": said["data"].get("model")},
    )


def _name_others(events: list[dict[str, Any]], said: dict[str, Any], builder: TranscriptBuilder) -> None:
    """Name what is not shown of the sample: calls beside its conversation, and events of other kinds."""
    talk = said["data"].get("prompt")
    for one in events:
        kind, place = as_text(one.get("type")), f"event {as_text(one.get('event_id'))}"
        prompt = one["data"].get("prompt")
        if kind == "sampling":
            of_talk = isinstance(prompt, list) and isinstance(talk, list) and talk[: len(prompt)] == prompt
            if one is not said and not of_talk:
                builder.not_shown("call beside the conversation, as of a grader", "environment", place, one["data"])
        elif kind not in _SCORES | {"error"}:
            builder.not_shown(f"event {kind}", "environment", place, one["data"])


OPENAI_EVALS = Format(
    "openai-evals",
    _recognises,
    _read,
    gather=lambda: RowsOfFile(
        _sample_id, lambda sample: any(map(_sample_id, sample["rows"])), lambda rows: GatheredRows(rows=rows)
    ),
    recognised_by="`spec` with `eval_name`, or `sample_id`, `event_id`, `type` and `data` (logs of OpenAI's evals)",
    shows="one case per sample: the prompt and the first answer of its last turn; a grader's call is named",
)
