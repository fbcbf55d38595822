"""A list of messages, whoever wrote it: which form it has is told by its first element."""

from typing import Any

from jury_events.transcript import Message, Refusal, Transcript
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.chat import is_langchain, read_chat
from jury_judge.cases.transcripts.gemini import read_contents
from jury_judge.cases.transcripts.json_values import as_text
from jury_judge.cases.transcripts.otel import read_parts_messages
from jury_judge.cases.transcripts.responses import is_item, read_responses
from jury_judge.cases.transcripts.sharegpt import read_sharegpt

_OF_MESSAGES = frozenset({"content", "tool_calls", "function_call", "parts", "thought", "reasoning_content", "refusal"})
_OF_CASES = frozenset({"case_id", "question", "messages", "prompt", "response", "scenarios"})
_OTEL_PARTS = frozenset({"text", "tool_call", "tool_call_response", "reasoning", "blob", "uri", "file"})


def read_messages(value: Any, builder: TranscriptBuilder, place: str = "messages") -> None:
    """The messages, by the form that they have: chat messages unless they look otherwise.

    Raises:
        CaseFileError: they are no list of messages.
    """
    elements = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    first = elements[0] if elements else {}
    if {"from", "value"} <= first.keys():
        read_sharegpt(value, builder, place)
    elif isinstance(first.get("parts"), list):
        kinds = {as_text(part.get("type")) for part in first["parts"] if isinstance(part, dict)}
        read = read_parts_messages if kinds & _OTEL_PARTS else read_contents
        read(value, builder, place)
    elif any(map(is_item, elements)):
        read_responses(value, builder, place)
    else:
        read_chat(value, builder, place)


def is_message(value: Any) -> bool:
    """Whether a row looks like one message of a list, and not like a case."""
    if not isinstance(value, dict) or not _OF_CASES.isdisjoint(value):
        return False
    has_role = (isinstance(value.get("role"), str) and not _OF_MESSAGES.isdisjoint(value)) or is_langchain(value)
    return has_role or is_item(value) or {"from", "value"} <= value.keys()


def first_prompt(transcript: Transcript) -> str | None:
    """What the user asked first, up to the first word of anybody else.

    "" where the user sent a file only, None where the user said nothing.
    """
    texts: list[str] = []
    by_user = False
    for item in transcript.items:
        if item.origin == "user" and item.kind in {"user", "attachment", "not_shown"}:
            by_user = True
            texts += [item.text] if isinstance(item, Message) and item.text.strip() else []
        elif texts:
            break
    return "\n".join(texts) if by_user else None


def last_answer(transcript: Transcript) -> str:
    """What the agent said last, be it that it declines; "" when it only called tools.

    Texts that only a file or a refusal parts are one answer.
    """
    texts: list[str] = []
    parted = False
    for item in reversed(transcript.items):
        said = isinstance(item, Message | Refusal) and item.kind in {"assistant", "refusal"}
        if isinstance(item, Message | Refusal) and said and item.text.strip():
            if texts and not (parted or isinstance(item, Refusal)):
                break
            texts.append(item.text)
            parted = isinstance(item, Refusal)
        elif texts and not (item.kind in {"attachment", "not_shown"} and item.origin == "model"):
            break
        elif texts:
            parted = True
    return "\n".join(reversed(texts))


def split_system(transcript: Transcript) -> tuple[str | None, Transcript]:
    """The text of the system messages that open a transcript, and the rest of it."""
    items = transcript.items
    # A system message with a name is an example of a dialogue.
    count = next((i for i, m in enumerate(items) if m.kind != "system" or m.name is not None), len(items))
    policy = "\n\n".join(m.text for m in items[:count] if m.kind == "system" and m.text.strip())
    return (policy, Transcript(items=items[count:])) if policy else (None, transcript)
