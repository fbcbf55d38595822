"""Results of promptfoo: each test's request (`prompt`, `vars`), response and grading.

Source: promptfoo's output files (JSON with `results.results` of version 3, JSON lines of results). A red team's
strategies change the prompt and may run a conversation: its `response.metadata` contains the prompts actually sent.
"""

from collections.abc import Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.promptfoo_response import read_response
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json
from jury_cases.transcripts.reading import is_message, last_answer, read_messages
from jury_events.transcript import Message

_ERROR = frozenset({"2", "error"})
"""`failureReason` of a failed run; 1 means a failed assertion, with the grader's reason in `error`."""

_ATTEMPTS = ("redteamHistory", "redteamTreeHistory")


def _read(row: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    response = row.get("response")
    answer: dict[str, Any] = response if isinstance(response, dict) else {"output": response}
    test, graded = as_object(row.get("testCase")), as_object(row.get("gradingResult"))
    provider = row.get("provider")
    provider_id = provider.get("id") if isinstance(provider, dict) else provider
    found = _exchange(row.get("prompt"), answer, builder, as_text(provider_id))
    facts = {
        **as_object(test.get("metadata")),
        "description": test.get("description"),
        "success": row.get("success"),
        "score": row.get("score"),
        "provider": provider_id,
        "reason": graded.get("reason"),
    }
    test_id = f"test-{as_text(row['testIdx'])}" if row.get("testIdx") is not None else None
    prompt_id = f"prompt-{as_text(row['promptIdx'])}" if row.get("promptIdx") is not None else None
    return CaseDraft(
        case_id=row.get("id") or "-".join(part for part in (test_id, prompt_id) if part) or None,
        built=builder,
        answered=True,
        error=_error(row, graded) or as_text(answer.get("error")) or None,
        metadata={
            **facts,
            **{f"score.{name}": value for name, value in as_object(row.get("namedScores")).items()},
            **{f"vars.{name}": value for name, value in as_object(row.get("vars")).items()},
            **found,
        },
        cluster=test_id,
        agent_cost=row.get("cost") or answer.get("cost"),
    )


def _exchange(prompt: Any, answer: dict[str, Any], builder: TranscriptBuilder, provider: str) -> dict[str, Any]:
    """The request and the response: a red team's conversation if there is one. Returns metadata of the response."""
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    red_team = as_object(answer.get("metadata"))
    listed = red_team.get("messages")
    conversation: list[Any] = listed if isinstance(listed, list) else []
    has_conversation = any(map(is_message, conversation))
    if has_conversation:
        read_messages(_without_answer(conversation, answer), builder, "response.metadata.messages")
        sent = None
    else:
        changed = (answer.get("prompt"), red_team.get("redteamFinalPrompt"))
        sent = next((one for one in changed if one and isinstance(one, str | list)), raw)
        read_prompt(sent, builder)
    if raw is not None and raw != sent and _words(raw) not in _texts(builder):
        builder.not_shown("prompt before the red team changed it", "user", "prompt.raw", raw)
    output_is_shown = has_conversation and as_text(answer.get("output")) == last_answer(builder.transcript())
    known = {"messages", *_ATTEMPTS}
    with builder.messages.one():
        found = read_response(answer, builder, output_is_shown=output_is_shown, provider=provider, known=known)
    for name in _ATTEMPTS:
        _attempts(red_team.get(name), builder, f"response.metadata.{name}")
    return found


def _without_answer(conversation: list[Any], answer: dict[str, Any]) -> list[Any]:
    """The conversation without its last message, if that is the output: what led to the output is read between."""
    last, output = conversation[-1], answer.get("output")
    same = isinstance(last, dict) and last == {"role": "assistant", "content": output} and isinstance(output, str)
    return conversation[:-1] if same else conversation


def read_prompt(sent: Any, builder: TranscriptBuilder) -> None:
    """Read text or a list of messages, also as JSON text."""
    messages = decoded_json(sent) if isinstance(sent, str) else sent
    if isinstance(messages, list) and any(map(is_message, messages)):
        read_messages(messages, builder, "prompt.raw")
    elif sent is not None:
        builder.message("user", as_text(sent), "prompt.raw")


def _attempts(attempts: Any, builder: TranscriptBuilder, place: str) -> None:
    """Report a red team's attempts (`prompt`, `output`, grading) as not shown, unless shown already."""
    shown = _texts(builder)
    for index, attempt in enumerate(attempts if isinstance(attempts, list) else []):
        texts = [as_text(attempt.get(name)) for name in ("prompt", "output")] if isinstance(attempt, dict) else [""]
        if not set(texts) <= shown:
            builder.not_shown("attempt of a red team", "environment", f"{place}.{index}", "".join(texts))


def _texts(builder: TranscriptBuilder) -> set[str]:
    return {item.text for item in builder.transcript().items if isinstance(item, Message)}


def _words(raw: Any) -> str:
    """A prompt's last text, to check whether a conversation contains it."""
    messages = decoded_json(raw) if isinstance(raw, str) else raw
    last = messages[-1] if isinstance(messages, list) and messages else raw
    return as_text(last.get("content") if isinstance(last, dict) else last)


def _error(row: dict[str, Any], graded: dict[str, Any]) -> str | None:
    """The reason of a failed run; None if `error` is, or may be, the reason of a failed assertion."""
    error, kind = as_text(row.get("error")), row.get("failureReason")
    if kind is not None:
        return error if as_text(kind).lower() in _ERROR else None
    of_grader = error == as_text(graded.get("reason")) or (row.get("success") is False and bool(graded))
    return None if of_grader else error


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict) or "vars" not in row:
        return False
    return bool(row.keys() & {"promptIdx", "testIdx", "testCase", "gradingResult"}) and "response" in row


def _rows_path(document: Mapping[str, Any]) -> str | None:
    results = document.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return "results.results"
    return "results" if isinstance(results, list) and any(map(_recognises, results)) else None


PROMPTFOO = Format(
    "promptfoo",
    _recognises,
    _read,
    _rows_path,
    marks=frozenset({"vars"}),
    lists=frozenset({"results"}),
    recognised_by="a result with `vars` and `response`",
    shows=(
        "the prompt as sent (or the conversation of a red team), reasoning, `metadata.toolCalls`, the output, "
        "refusals, its end, guardrails; grading as metadata, cost"
    ),
)
