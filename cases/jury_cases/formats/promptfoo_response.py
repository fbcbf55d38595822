"""A response in a result of promptfoo: reasoning, tool use, output, its end, and what of it jurors are not shown.

Source: promptfoo's type `ProviderResponse`. What a provider puts into `metadata` is its own; known are the tool calls
of promptfoo's agent providers. `raw` is the provider's own copy of the response.
"""

from collections.abc import Collection
from typing import Any

from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, is_blank, text_or_none
from jury_cases.transcripts.reading import is_message
from jury_cases.transcripts.responses import read_responses
from jury_cases.transcripts.tool_calls import add_call, add_calls
from jury_events.transcript import Event, Message, Reasoning, Refusal, ToolCall

_THINKING, _REDACTED, _SIGNATURE = "Thinking: ", "Redacted Thinking: ", "\nSignature: "


# Source: promptfoo's providers. Most give text, or the calls or message of OpenAI's chat as they are. That of OpenAI's
# Responses writes all items into one text, and keeps them as they were in `raw`; that of Anthropic writes all blocks
# into one text: `Thinking: …`, a line `Signature: …`, and other blocks as JSON in paragraphs of their own.
def read_output(output: Any, builder: TranscriptBuilder, place: str) -> None:
    """Add an output: text, a message, or calls as OpenAI's providers return them; else its JSON as text."""
    if isinstance(output, list) and output and all(isinstance(one, dict) and "function" in one for one in output):
        add_calls(output, builder, place)
    elif isinstance(output, dict) and output.get("role") == "assistant" and is_message(output):
        read_message(output, builder, place)
    elif isinstance(output, dict) and output.keys() == {"name", "arguments"} and isinstance(output["arguments"], str):
        add_call(output, builder, place)
    elif output is not None:
        builder.message("assistant", as_text(output), place)


def read_items(answer: dict[str, Any], builder: TranscriptBuilder) -> bool:
    """Add the items of OpenAI's response in `raw`, if the output is made of them; False if not."""
    raw, output = as_object(decoded_json(answer.get("raw"))), answer.get("output")
    if raw.get("object") != "response" or not isinstance(raw.get("output"), list) or not isinstance(output, str):
        return False
    items = TranscriptBuilder()
    end = as_object(raw.get("incomplete_details")).get("reason")
    read_responses(raw["output"], items, "response.raw.output", end_is_known=end is not None)
    said = [one.text for one in items.transcript().items if isinstance(one, Message | Refusal)]
    if not len(items) or not all(text.strip() in output for text in said):
        return False  # the user's own transformation made the output
    builder.extend(items)
    read_end(end, builder, "response.raw.incomplete_details")
    return True


def blocks_of(output: str) -> list[dict[str, Any]] | None:
    """The blocks of Anthropic's message that promptfoo wrote into one text; None if it is text alone."""
    found: list[dict[str, Any]] = []
    thought: list[str] = []
    for paragraph in output.split("\n\n"):
        if thought or paragraph.startswith(_THINKING):
            thought.append(paragraph)
            if _SIGNATURE in paragraph:
                text, _, signature = "\n\n".join(thought).rpartition(_SIGNATURE)
                found.append({"type": "thinking", "thinking": text[len(_THINKING) :], "signature": signature})
                thought = []
        elif paragraph.startswith(_REDACTED):
            found.append({"type": "redacted_thinking", "data": paragraph[len(_REDACTED) :]})
        elif isinstance(block := decoded_json(paragraph), dict) and isinstance(block.get("type"), str):
            found.append(block)
        elif found and found[-1]["type"] == "text":
            found[-1]["text"] += f"\n\n{paragraph}"
        else:
            found.append({"type": "text", "text": paragraph})
    return None if thought or all(one["type"] == "text" for one in found) else found


_ARGUMENTS = ("input", "arguments", "args", "parameters")
_PARENT = "parentToolUseId"
_KNOWN_CALLS = frozenset(
    {*_ARGUMENTS, _PARENT, "id", "name", "type", "function", "output", "is_error", "status", "turnId", "index"}
)


# Source: promptfoo's providers of the Claude agent SDK (entries name the call that a sub-agent's call belongs to), of
# OpenAI and Anthropic with MCP, and of OpenAI's agents (entries without output).
def add_tool_uses(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Add calls and their results; those of a sub-agent stand between the call that started it and its result.

    A value of another form is reported as not shown.
    """
    if is_blank(value):
        return
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        builder.not_shown("field toolCalls", "environment", place, value)
        return
    by_id: dict[str, dict[str, Any]] = {}
    for one in value:
        by_id.setdefault(as_text(one.get("id")), one)
    below: dict[str, list[int]] = {}
    for index, one in enumerate(value):
        below.setdefault(_parent(one, by_id), []).append(index)
    waiting = [(index, False) for index in [*below.pop("", []), *range(len(value))]][::-1]
    begun: set[int] = set()
    while waiting:
        index, is_end = waiting.pop()
        one = value[index]
        if is_end:
            _result(one, builder, f"{place}.{index}")
        elif index not in begun:
            begun.add(index)
            _call(one, _sub_agent(one, by_id), builder, f"{place}.{index}")
            waiting.append((index, True))
            waiting += [(child, False) for child in below.pop(as_text(one.get("id")), [])][::-1]


def tool_ids(value: Any) -> set[str | None]:
    """The ids of the calls."""
    return {text_or_none(as_object(one).get("id")) for one in value} if isinstance(value, list) else set()


def output_of_tools(value: Any) -> str | None:
    """What promptfoo writes as output if all that a model did was to call MCP tools: it is not the model's text."""
    lines = [as_object(one) for one in value] if isinstance(value, list) else []
    if not lines or not all("name" in one and isinstance(one.get("output"), str) for one in lines):
        return None
    kinds = {True: "Error", False: "Result"}
    return "\n".join(f"MCP Tool {kinds[_failed(one)]} ({as_text(one['name'])}): {one['output']}" for one in lines)


def _parent(one: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> str:
    """The id of the call that it belongs to; "" if there is none of that id, or it is its own."""
    parent = as_text(one.get(_PARENT))
    return parent if parent in by_id and by_id[parent] is not one else ""


def _sub_agent(one: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> str | None:
    """The kind of the sub-agent that made a call, by the call that started it; None: the agent itself, or unknown."""
    parent = by_id.get(_parent(one, by_id), {})
    return text_or_none(as_object(parent.get("input")).get("subagent_type"))


def _call(one: dict[str, Any], speaker: str | None, builder: TranscriptBuilder, place: str) -> None:
    inner = as_object(one.get("function")) or one
    given = next((inner[name] for name in _ARGUMENTS if inner.get(name) is not None), None)
    builder.add(
        ToolCall,
        place,
        speaker=speaker,
        call_id=text_or_none(one.get("id")),
        name=_name(one),
        arguments=as_text(given),
    )
    builder.unread(one, _KNOWN_CALLS, "environment", place)


def _result(one: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    if one.get("output") is None and not _failed(one):
        return
    speaker = Speaker(None, "tool", call_id=text_or_none(one.get("id")), tool=_name(one), error=_failed(one))
    BlockReader(speaker, builder).read(one.get("output"), f"{place}.output")


def _name(one: dict[str, Any]) -> str:
    names = (one.get("name"), as_object(one.get("function")).get("name"), one.get("type"))
    return next((name for name in names if isinstance(name, str) and name.strip()), "unnamed")


def _failed(one: dict[str, Any]) -> bool:
    return one.get("is_error") is True


_FILTERED = "Content filtered by provider"
"""What promptfoo's providers write as output where the provider gave no text."""

_KNOWN = frozenset(
    {
        *(
            "output",
            "error",
            "cost",
            "incurredCost",
            "cached",
            "tokenUsage",
            "latencyMs",
            "logProbs",
            "metadata",
            "raw",
        ),
        *("reasoning", "finishReason", "guardrails", "isRefusal", "sessionId", "conversationEnded", "prompt", "format"),
        *("conversationEndReason", "isBase64", "images", "audio", "video", "providerTransformedOutput"),
        *("materializedVars", "materializationHandled", "inputMaterialization"),
    }
)
_KNOWN_METADATA = frozenset(
    {
        *("toolCalls", "skillCalls", "reasoning", "http", "modelUsage", "permissionDenials", "structuredOutput"),
        *("redteamFinalPrompt", "storedGraderResult", "sessionId", "sessionIds", "inputVars", "transformDisplayVars"),
    }
)
"""Read elsewhere, or bookkeeping. `skillCalls` repeats tool calls, `structuredOutput` the output."""

_SHORT = 300
"""Characters of a text of the provider's metadata that is kept as metadata of the case."""

_THOUGHTS = ("thinking", "reasoning", "thought", "text", "content", "summary")
_BOOKKEEPING = frozenset(
    {
        *(
            "id",
            "uuid",
            "type",
            "subtype",
            "object",
            "role",
            "status",
            "model",
            "model_version",
            "modelVersion",
            "name",
        ),
        *("session_id", "request_id", "call_id", "item_id", "tool_call_id", "previous_response_id", "responseId"),
        *("finish_reason", "finishReason", "stop_reason", "terminal_reason", "service_tier", "system_fingerprint"),
        *("usage", "usageMetadata", "modelUsage", "tools", "tool_choice", "text", "reasoning", "truncation"),
        *("fast_mode_state", "created_at", "completed_at", "prompt_cache_key", "prompt_cache_retention", "signature"),
    }
)
_SETTINGS = frozenset({"text", "reasoning"})
"""Settings in OpenAI's responses, where they are objects; elsewhere they are content."""

_OF_CLAUDE = ("result", "structured_output", "errors")
"""What the last message of the Claude agent SDK says; denied calls are in the metadata too."""

_MOST_TEXTS = 1000


def read_response(
    answer: dict[str, Any],
    builder: TranscriptBuilder,
    *,
    output_is_shown: bool,
    provider: str = "",
    known: Collection[str] = (),
) -> dict[str, Any]:
    """Add what the response says, in the order in which it happened.

    Args:
        answer: `response` of the result.
        known: fields of its metadata that are read elsewhere.

    Returns:
        Metadata of the case: short values of the provider's metadata.
    """
    metadata = as_object(answer.get("metadata"))
    for place, one in (("response", answer), ("response.metadata", metadata)):
        _reasoning(one.get("reasoning"), builder, f"{place}.reasoning")
    add_tool_uses(metadata.get("toolCalls"), builder, "response.metadata.toolCalls")
    if not output_is_shown and answer.get("output") != output_of_tools(metadata.get("toolCalls")):
        _output(answer, builder, is_anthropic=provider.startswith("anthropic:"))
    _files(answer, builder)
    read_end(answer.get("finishReason"), builder, "response.finishReason")
    _guardrails(answer.get("guardrails"), builder)
    if answer.get("conversationEnded") is True and answer.get("conversationEndReason"):
        text = as_text(answer["conversationEndReason"])
        builder.add(Event, "response", origin="environment", name="end of the conversation", text=text)
    builder.unread(answer, _KNOWN, "environment", "response")
    kept = _metadata(metadata, builder, _KNOWN_METADATA | set(known))
    _raw(decoded_json(answer.get("raw")), builder)
    guarded = as_object(answer.get("guardrails")).get("flagged")
    return {**kept, "session_id": text_or_none(answer.get("sessionId")), "flagged": guarded or None}


def _reasoning(value: Any, builder: TranscriptBuilder, place: str) -> None:
    for index, one in enumerate(value if isinstance(value, list) else [value]):
        at = f"{place}.{index}" if isinstance(value, list) else place
        if is_blank(one):
            continue
        if isinstance(one, str):
            builder.add(Reasoning, at, text=one)
        elif isinstance(one, dict) and one.get("type") in ("thinking", "redacted_thinking"):
            BlockReader(Speaker("assistant", "model"), builder).read([one], at)
        else:
            texts = (one.get(name) for name in _THOUGHTS) if isinstance(one, dict) else ()
            text = next((found for found in texts if isinstance(found, str) and found.strip()), None)
            if text is None:
                builder.not_shown("reasoning", "model", at, one)
            else:
                builder.add(Reasoning, at, text=text)


def _output(answer: dict[str, Any], builder: TranscriptBuilder, *, is_anthropic: bool) -> None:
    output, place = answer.get("output"), "response.output"
    filtered = answer.get("finishReason") == "content_filter"
    if output is None or (filtered and output == _FILTERED):
        return
    if answer.get("isBase64") is True:
        builder.not_shown("output in base64", "model", place, output)
    elif read_items(answer, builder):
        return
    elif isinstance(output, str) and answer.get("isRefusal") is True and not filtered:
        builder.add(Refusal, place, text=output)
    elif is_anthropic and isinstance(output, str) and (blocks := blocks_of(output)) is not None:
        read_message({"role": "assistant", "content": blocks}, builder, place)
    else:
        read_output(output, builder, place)


def _files(answer: dict[str, Any], builder: TranscriptBuilder) -> None:
    """Generated pictures are shown; audio and video are not."""
    images = answer.get("images")
    for index, one in enumerate(images if isinstance(images, list) else []):
        place, data = f"response.images.{index}", as_object(one).get("data")
        if isinstance(data, str) and data.startswith(("data:", "http:", "https:")):
            builder.url(data, "image", "model", place)
        elif isinstance(data, str):
            builder.base64_file(data, as_object(one).get("mimeType"), "model", place)
        else:
            builder.not_shown("image by its id", "model", place)
    for kind in ("audio", "video"):
        if not is_blank(answer.get(kind)):
            builder.not_shown(kind, "model", f"response.{kind}", as_object(answer[kind]).get("data"))


def _guardrails(value: Any, builder: TranscriptBuilder) -> None:
    found = as_object(value)
    sides = [side for side in ("input", "output") if found.get(f"flagged{side.title()}") is True]
    reason = as_text(found.get("reason"))
    if sides or (reason and found.get("flagged") is True):
        text = ": ".join(part for part in (" and ".join(sides), reason) if part)
        builder.add(Event, "response.guardrails", origin="environment", name="flagged by a guardrail", text=text)


def _metadata(metadata: dict[str, Any], builder: TranscriptBuilder, known: Collection[str]) -> dict[str, Any]:
    """The provider's own metadata: short values are kept as metadata of the case, others are reported."""
    short = {
        name: value
        for name, value in metadata.items()
        if name not in known
        and (isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _SHORT))
    }
    builder.unread(metadata, {*known, *short}, "environment", "response.metadata")
    denials = metadata.get("permissionDenials")
    known_ids = tool_ids(metadata.get("toolCalls"))
    for index, one in enumerate(denials if isinstance(denials, list) else []):
        if text_or_none(as_object(one).get("tool_use_id")) not in known_ids:
            place = f"response.metadata.permissionDenials.{index}"
            builder.not_shown("call that was not permitted", "environment", place, one)
    return {f"response.{name}": value for name, value in short.items()}


def _raw(raw: Any, builder: TranscriptBuilder) -> None:
    if is_blank(raw):
        return
    shown = "\n".join(
        f"{item.name} {item.arguments}" if isinstance(item, ToolCall) else getattr(item, "text", None) or ""
        for item in builder.transcript().items
    )
    if isinstance(raw, dict) and raw.get("type") == "result" and "subtype" in raw:
        raw = {name: raw.get(name) for name in _OF_CLAUDE}  # the rest of its last message are figures of the run
    texts = _texts_of(raw)
    if texts is None or not all(text.strip() in shown for text in texts):
        builder.not_shown("raw response of the provider", "environment", "response.raw", raw)


def _texts_of(raw: Any) -> list[str] | None:
    """The texts of a response without bookkeeping; None if they are too many to compare."""
    found: list[str] = []
    waiting = [raw]
    while waiting:
        value = decoded_json(waiting.pop())
        if isinstance(value, dict):
            waiting += [
                one
                for name, one in value.items()
                if name not in _BOOKKEEPING or (name in _SETTINGS and not isinstance(one, dict))
            ]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            found.append(value)
        if len(found) + len(waiting) > _MOST_TEXTS:
            return None
    return found
