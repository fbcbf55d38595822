"""Reads lists of messages in any format; the first element determines the format."""

from typing import Any

from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_chat
from jury_cases.transcripts.dialects import dialect_of
from jury_cases.transcripts.gemini import read_contents
from jury_cases.transcripts.json_values import as_text
from jury_cases.transcripts.langchain import is_langchain, read_langchain_list
from jury_cases.transcripts.otel import read_parts_messages
from jury_cases.transcripts.responses import is_item, read_responses
from jury_cases.transcripts.sharegpt import read_sharegpt
from jury_cases.transcripts.spoken_text import spoken_turns
from jury_events.transcript import Item, Message, Refusal, Transcript

_OF_MESSAGES = frozenset({"content", "tool_calls", "function_call", "parts", "thought", "reasoning_content", "refusal"})
_OF_CASES = frozenset({"case_id", "question", "messages", "prompt", "response", "scenarios"})
_ENDS_OF_SIMULATED_USERS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
"""The marks of τ-bench and τ²-bench at the end of the user's last message."""

_OTEL_PARTS = frozenset({"text", "tool_call", "tool_call_response", "reasoning", "blob", "uri", "file"})


def read_messages(value: Any, builder: TranscriptBuilder, place: str = "messages") -> None:
    """Read messages in their detected format; the default is chat messages."""
    if isinstance(value, str) or (isinstance(value, list) and value and all(isinstance(one, str) for one in value)):
        value = spoken_turns(value, place)
    elements = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    first = elements[0] if elements else {}
    if (dialect := dialect_of(elements)) is not None:
        dialect.read(value, builder, place)
    elif {"from", "value"} <= first.keys():
        read_sharegpt(value, builder, place)
    elif isinstance(first.get("parts"), list):
        kinds = {as_text(part.get("type")) for part in first["parts"] if isinstance(part, dict)}
        read = read_parts_messages if kinds & _OTEL_PARTS else read_contents
        read(value, builder, place)
    elif any(map(is_langchain, elements)):
        read_langchain_list(value, builder, place)
    elif any(map(is_item, elements)):
        read_responses(value, builder, place)
    else:
        read_chat(value, builder, place)


def is_message(value: Any) -> bool:
    """Whether a value looks like a message rather than a case."""
    if not isinstance(value, dict) or not _OF_CASES.isdisjoint(value):
        return False
    has_role = (isinstance(value.get("role"), str) and not _OF_MESSAGES.isdisjoint(value)) or is_langchain(value)
    known = has_role or is_item(value) or {"from", "value"} <= value.keys()
    return known or dialect_of([value]) is not None


def first_prompt(transcript: Transcript) -> str | None:
    """The user's first messages, up to the first item of another author.

    "" if the user sent only a file, None if there is no item of the user.
    """
    texts: list[str] = []
    by_user = False
    for item in transcript.items:
        if _is_request(item):
            by_user = True
            texts += [item.text] if isinstance(item, Message) and item.text.strip() else []
        elif texts:
            break
    return "\n".join(texts) if by_user else None


def last_answer(transcript: Transcript) -> str:
    """What the agent said last after the user's last request; "" if it said nothing since, or only called tools.

    A message with which a simulated user of τ-bench ended the conversation is no request. The answer may be a refusal.
    Texts separated only by a file or a refusal are one answer. Of several agents it is the answer of the one that
    spoke last. An event, a tool's result or a file after it changes nothing.
    """
    texts: list[str] = []
    parted = False
    speaker: str | None = None
    for item in reversed(transcript.items):
        if _is_request(item) and not _is_farewell(item):
            break
        said = _said(item)
        if said is not None and said.text.strip():
            name = said.name if isinstance(said, Message) else said.speaker
            if texts and (name != speaker or not (parted or isinstance(said, Refusal))):
                break
            texts.append(said.text)
            speaker, parted = name, isinstance(said, Refusal)
        elif texts and not (item.kind in {"attachment", "not_shown"} and item.origin == "model"):
            break
        elif texts:
            parted = True
    return "\n".join(reversed(texts))


def _said(item: Item) -> Message | Refusal | None:
    if isinstance(item, Refusal):
        return item if item.origin != "unknown" else None
    return item if isinstance(item, Message) and item.kind == "assistant" else None


def _is_request(item: Item) -> bool:
    return item.origin == "user" and item.kind in {"user", "attachment", "not_shown"}


def _is_farewell(item: Item) -> bool:
    """Whether a simulated user ended the conversation with this message: the agent is not asked to answer it."""
    return isinstance(item, Message) and item.text.rstrip().endswith(_ENDS_OF_SIMULATED_USERS)


def split_system(transcript: Transcript) -> tuple[str | None, Transcript]:
    """The text of a transcript's leading system messages, and the rest."""
    items = transcript.items
    # A system message with a name is part of an example dialogue.
    count = next((i for i, m in enumerate(items) if m.kind != "system" or m.name is not None), len(items))
    policy = "\n\n".join(m.text for m in items[:count] if m.kind == "system" and m.text.strip())
    return (policy, transcript.since(count)) if policy else (None, transcript)
