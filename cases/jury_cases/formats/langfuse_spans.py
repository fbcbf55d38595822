"""Langfuse's observations as spans of a trace.

Source: `ObservationsView` and `ObservationV2` of Langfuse's published API. Input and output depend on the traced
program, and are texts in v2. `@observe` records the arguments of a function as `{"args": […], "kwargs": {…}}`.
"""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, NamedTuple

from jury_cases.traces.all_tables import TABLES
from jury_cases.traces.span import PlainSpan, Span, SpanKind, SpanTool
from jury_cases.traces.span_tables import declared
from jury_cases.traces.values import read_instructions, returned_text, said_in, with_typed_blocks
from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import KINDS, read_choices, read_end, read_message
from jury_cases.transcripts.gemini import read_candidates, read_content, read_contents
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, is_blank, text_or_none
from jury_cases.transcripts.reading import is_message, last_answer, read_messages
from jury_cases.transcripts.responses import is_item, read_responses
from jury_events.transcript import Item, Message, ToolCall

_Kind = Literal["user", "assistant"]

CUT = "<truncated due to size exceeding limit>"
_LANGCHAIN = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_ROLES = frozenset({*_LANGCHAIN, *_LANGCHAIN.values()})
_KEPT = ("tool_calls", "function_call", "refusal", "reasoning_content")
"""Message fields in LangChain's `additional_kwargs`; `tool_calls` there are in the provider's format."""

_COMMAND = frozenset({"graph", "update", "goto"})
_MADE = frozenset({"id", "response_metadata", "usage_metadata", "additional_kwargs", "example"})
_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")
_SETTINGS = frozenset(
    {
        *("id", "object", "type", "role", "model", "created", "created_at", "status", "usage", "usageMetadata"),
        *("usage_metadata", "modelVersion", "model_version", "responseId", "response_id", "system_fingerprint"),
        *("service_tier", "tools", "tool_choice", "parallel_tool_calls", "temperature", "top_p", "max_tokens"),
        *("max_completion_tokens", "max_output_tokens", "stream", "stop", "stop_sequence", "seed"),
        *("billing", "store", "text", "truncation", "top_logprobs", "background", "max_tool_calls", "prompt_cache_key"),
        *(
            "safety_identifier",
            "completed_at",
            "frequency_penalty",
            "presence_penalty",
            "reasoning",
            *("sdk_http_response", "index", "event.name", "gen_ai.system"),
        ),
    }
)
"""Fields beside messages with settings and metadata, without content."""

_ANSWERS = ("answer", "final_answer", "response", "final_response", "output")
"""Fields beside the messages of a state: the answer as text."""

_ENDS = ("stop_reason", "incomplete_details", "finish_reason", "finishReason")
_BLOCKS = frozenset({"text", "output_text", "input_text", "tool_use", "tool_result", "thinking", "image_url"})


def plain_value(value: Any) -> Any:
    """The value with LangChain's messages (also in a nested list) converted to messages with a role."""
    value = with_typed_blocks(_without_wrapper(value))
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            return {**value, "messages": _plain_list(value["messages"], pairs=True)}
        message = _plain_message(value)
        return message if is_message(message) or _is_exchange(message) else _unwrapped(value)
    return _plain_list(value) if isinstance(value, list) else value


def _without_wrapper(value: Any) -> Any:
    """The only argument of a function that `@observe` recorded; messages of LangGraph's commands; else the value."""
    if isinstance(value, dict) and "args" in value and value.keys() <= {"args", "kwargs"}:
        args, kwargs = value["args"], value.get("kwargs", {})
        if isinstance(args, list) and isinstance(kwargs, dict) and len(args) + len(kwargs) == 1:
            return decoded_json([*args, *kwargs.values()][0])
    if isinstance(value, list) and value and all(isinstance(one, dict) and one.keys() >= _COMMAND for one in value):
        updates = [one["update"].get("messages") if isinstance(one["update"], dict) else None for one in value]
        lists = [one for one in updates if isinstance(one, list)]
        if len(lists) == len(updates):
            return {"messages": [message for one in lists for message in one]}
    return value


def has_messages(value: Any) -> bool:
    """Whether the value has a form of messages, so that it says itself whose words it is."""
    blocks = isinstance(value, list) and bool(value) and all(map(_is_block, value))
    return bool(_listed(value)) or is_message(value) or _is_exchange(value) or blocks


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """An object with messages in one field (such as a function's `kwargs`), with the messages moved to its top."""
    holders = [name for name, one in value.items() if _contains_messages(one)]
    if len(holders) != 1:
        return value
    rest = {name: one for name, one in value.items() if name != holders[0]}
    inner = plain_value(value[holders[0]])
    if _is_exchange(inner):
        return {**rest, **inner}
    return {**rest, "messages": _listed(inner)} if _listed(inner) else value


def _plain_list(value: list[Any], *, pairs: bool = False) -> list[Any]:
    inner = value[0] if len(value) == 1 and isinstance(value[0], list) else value
    if inner is not value and not any(isinstance(one, dict) for one in inner):
        inner = value
    messages = [_pair(one) if pairs and isinstance(one, list) else _plain_message(one) for one in inner]
    return _by_their_tools([one for one in messages if not _is_definition(one)])


def _by_their_tools(messages: list[Any]) -> list[Any]:
    """The messages, those whose role is the name of a tool called before as its results (the platform's SDK for JS)."""
    called: set[str] = set()
    found = []
    for one in messages:
        if isinstance(one, dict):
            for call in one.get("tool_calls") or () if isinstance(one.get("tool_calls"), list | None) else ():
                called.add(as_text(as_object(as_object(call).get("function") or call).get("name")))
            if isinstance(role := one.get("role"), str) and role in called and role.lower() not in KINDS:
                one = {**one, "role": "tool", "name": role}  # noqa: PLW2901
        found.append(one)
    return found


def _is_definition(message: Any) -> bool:
    content = message.get("content") if has_role(message, "tool") and "tool_call_id" not in message else None
    function = content.get("function") if isinstance(content, dict) and content.get("type") == "function" else None
    return isinstance(function, dict) and "name" in function and "arguments" not in function


def _pair(value: list[Any]) -> Any:
    if len(value) == 2 and isinstance(value[0], str) and value[0] in _ROLES:  # noqa: PLR2004  (a pair)
        return {"role": _LANGCHAIN.get(value[0], value[0]), "content": value[1]}
    return value


def _plain_message(value: Any) -> Any:
    """Convert a LangChain message, dumped (`type`) or serialised (`kwargs`), to one with a role; else the value."""
    if not isinstance(value, dict):
        return value
    inner, kind = value, value.get("type")
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list) and value["id"]:
        inner, kind = value["kwargs"], as_text(value["id"][-1])
    role = _LANGCHAIN.get(as_text(kind).removesuffix("Chunk").removesuffix("Message").lower())
    if role is None or "content" not in inner or isinstance(inner.get("role"), str):
        return _with_kept(inner) if is_message(inner) else value
    message = {name: one for name, one in inner.items() if name not in {"type", "example", "id", "status"}}
    if inner.get("status") == "error":
        message["is_error"] = True
    return _with_kept({**message, "role": role})


def _with_kept(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its fields in LangChain's `additional_kwargs` moved to the top level."""
    extra = message.get("additional_kwargs")
    if not isinstance(extra, dict):
        return message
    kept = {name: extra[name] for name in _KEPT if extra.get(name) and not message.get(name)}
    if message.get("tool_calls"):
        kept.pop("function_call", None)
    rest = {name: one for name, one in extra.items() if name not in _KEPT}
    return {**message, **kept, "additional_kwargs": rest}


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if is_message(value):
        return [value]
    return value if isinstance(value, list) and any(map(is_message, value)) else []


def in_order(given: Any, answer: Any) -> tuple[Any, Any]:
    """Input and output without common messages: a LangGraph state repeats its initial messages.

    If the output contains the whole conversation, with turns before those of the input, it replaces the input.
    """
    answered = _listed(answer)
    asked = [{"role": "user", "content": given}] if isinstance(given, str) and answered else _listed(given)
    lead = next((i for i, one in enumerate(asked) if not has_role(one, "system", "developer")), len(asked))
    wanted, found = [_key(one) for one in asked[lead:]], [_key(one) for one in answered]
    start = next((i for i in reversed(range(len(found))) if wanted and found[i : i + len(wanted)] == wanted), None)
    by_user = any(has_role(one, "user", "human") for one in asked)
    if start is not None and by_user:
        repeated = 0 if found[:lead] != [_key(one) for one in asked[:lead]] else lead
        end = start + len(wanted)
        return _with_messages(given, asked[:lead] + answered[repeated:end]), _with_messages(answer, answered[end:])
    same = [_key(one) for one in asked]
    common = next((i for i, pair in enumerate(zip(same, found, strict=False)) if pair[0] != pair[1]), None)
    common = min(len(same), len(found)) if common is None else common
    if any(has_role(one, "user", "human") for one in answered[:common]):
        return given, _with_messages(answer, answered[common:])
    return given, answer


def has_role(message: Any, *roles: str) -> bool:
    role = message.get("role") if isinstance(message, dict) else None
    return isinstance(role, str) and role.lower() in roles


def _key(message: Any) -> str:
    if not isinstance(message, dict):
        return as_text(message)
    kept = {name: one for name, one in message.items() if name not in _MADE and one not in (None, "", [], {}, False)}
    return json.dumps(kept, sort_keys=True, default=as_text)


def _with_messages(value: Any, messages: list[Any]) -> Any:
    return {**value, "messages": messages} if isinstance(value, dict) and "messages" in value else messages


def read_value(value: Any, kind: _Kind, builder: TranscriptBuilder, place: str) -> None:
    """Read an input (`kind` user) or output that `has_messages`."""
    if isinstance(value, list) and any(map(is_message, value)):
        read_messages(value, builder, place)
    elif _is_exchange(value):
        _exchange(value, kind, builder, place)
    elif is_message(value):
        _message(value, builder, place)
    else:
        read_message({"role": kind, "content": value}, builder, place)


def _message(message: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    read_messages([{name: one for name, one in message.items() if name != "stop_reason"}], builder, place)
    read_end(message.get("stop_reason"), builder, f"{place}.stop_reason")


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in _BLOCKS


def _is_filled(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _is_items(value: Any) -> bool:
    return _is_filled(value) and any(is_item(one) or is_message(one) for one in value)


def _is_candidates(value: Any) -> bool:
    return _is_filled(value) and all(isinstance(one.get("content"), dict | None) for one in value)


def _is_chat(value: Any) -> bool:
    return isinstance(value, list) and (not value or any(map(is_message, value)))


class _Part(NamedTuple):
    """A field of a provider's request or response.

    Attributes:
        name: of the field.
        matches: whether its value is of the provider's form.
        read: its reader.
    """

    name: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, TranscriptBuilder, str], None]


_PARTS = (
    _Part("messages", _is_chat, read_messages),
    _Part("contents", _is_filled, read_contents),
    _Part("input", _is_items, read_responses),
    _Part("choices", _is_filled, read_choices),
    _Part("candidates", _is_candidates, read_candidates),
    _Part("output", _is_items, read_responses),
)


def _message_parts(value: dict[str, Any]) -> list[_Part]:
    """The fields with messages; `input` may be text beside instructions or output items, `contents` beside a model."""
    found = [part for part in _PARTS if part.matches(value.get(part.name))]
    beside = any(part.name == "output" for part in found) or value.get("instructions")
    if beside and isinstance(value.get("input"), str):
        found.insert(0, _Part("input", bool, read_responses))
    if "model" in value and isinstance(value.get("contents"), str):
        found.insert(0, _Part("contents", bool, read_contents))
    return found


def _is_exchange(value: Any) -> bool:
    """Whether it is a request, response or state with messages, not a single message."""
    return isinstance(value, dict) and not is_message(value) and (bool(_message_parts(value)) or _is_content(value))


def _is_content(value: dict[str, Any]) -> bool:
    """Whether it is an Anthropic response without a role."""
    content = value.get("content")
    return isinstance(content, list) and bool(content) and all(map(_is_block, content))


def _exchange(value: dict[str, Any], kind: _Kind, builder: TranscriptBuilder, place: str) -> None:
    """Read messages with the provider's reader; unknown fields are reported as not shown."""
    parts = _message_parts(value)
    for name in () if value.get("object") == "response" else _SYSTEMS:  # a response repeats what the request has
        _system(value.get(name), builder, f"{place}.{name}")
    known = {*_SETTINGS, *_SYSTEMS, *_ENDS, *(part.name for part in parts)}
    if isinstance(config := value.get("config"), dict) and "contents" in known:  # as Google's SDK is called
        for name in _SYSTEMS:
            _system(config.get(name), builder, f"{place}.config.{name}")
        known.add("config")
    for part in parts:
        part.read(value[part.name], builder, f"{place}.{part.name}")
    if _is_content(value):
        read_message({"role": kind, "content": value["content"]}, builder, place)
        known.add("content")
    for name in _ANSWERS if kind == "assistant" else ():
        answer = value.get(name)
        if isinstance(answer, str) and name not in known:
            known.add(name)
            if answer.strip() not in {"", last_answer(builder.transcript()).strip()}:
                builder.message(kind, answer, f"{place}.{name}")
    for name in _ENDS:
        reason = value.get(name)
        read_end(reason.get("reason") if isinstance(reason, dict) else reason, builder, f"{place}.{name}")
    builder.unread(value, known, "environment", place)


def _system(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Read a request's system instructions: text, blocks, or Gemini's content."""
    if isinstance(value, dict) and "parts" in value:
        read_content(value, builder, place, system=True)
    elif _is_items(value):
        read_responses(value, builder, place)
    elif value not in (None, "", [], {}):
        BlockReader(Speaker("system", "developer"), builder).read(value, place)


def _contains_messages(value: Any) -> bool:
    if is_message(_plain_message(value)):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_contains_messages, inner))


_KINDS: dict[str, SpanKind] = {"GENERATION": "model", "AGENT": "agent", "TOOL": "tool", "RETRIEVER": "tool"}


_OF_ONE = ("type", "name", "startTime", "input", "output")


def once(observations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The observations, those of one id as one: what a later one says counts, unless it contradicts the earlier one."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number, row in enumerate(observations):
        known = found.setdefault(as_text(row.get("id")) or f"\0{number}", [])
        said = {name: value for name, value in row.items() if value is not None}
        if known and all(known[-1][name] == said[name] for name in _OF_ONE if known[-1].get(name) and name in said):
            known[-1] = {**known[-1], **said}
        else:
            known.append(row)
    return [one for same in found.values() for one in same]


def observed_spans(
    observations: Iterable[tuple[str, dict[str, Any]]], trace: dict[str, Any] | None = None
) -> list[Span]:
    """The spans of observations, in the order of their start.

    Args:
        observations: each with its place.
        trace: the trace, as a span above those that have no parent; None: the observations are all that there is.
    """
    placed = _in_order(observations)
    ids = {as_text(one.get("id")) for _, one, _ in placed}
    spans: list[Span] = []
    if trace is not None:
        times = [start for _, _, start in placed] + [moment(one.get("endTime")) for _, one, _ in placed]
        start, end = min(times[: len(placed)], default=0), max(times, default=0) + 1
        spans.append(_span(trace, "trace", "agent", span_id="", start=start, end=end))
    for place, one, start in placed:
        parent = text_or_none(one.get("parentObservationId"))
        is_root = parent not in ids or parent == as_text(one.get("id")) or one.get("isRootObservation") is True
        kind = _kind_of(one)
        span = _span(
            one,
            place,
            kind,
            span_id=as_text(one.get("id")) or place,
            start=start,
            end=moment(one.get("endTime")) or None,
            parent_id="" if is_root and trace is not None else parent,
            agent=text_or_none(one.get("name")) if kind == "agent" else None,
        )
        spans.append(span)
    called = {item.call_id for span in spans for item in (*span.inputs, *span.outputs) if isinstance(item, ToolCall)}
    return [_with_own_id(span, called) for span in spans]


def _with_own_id(span: Span, called: Collection[str | None]) -> Span:
    if span.tool is None or span.tool.call_id is not None or span.span_id not in called:
        return span
    return replace(span, tool=replace(span.tool, call_id=span.span_id))


def _span(row: dict[str, Any], place: str, kind: SpanKind, **fields: Any) -> Span:
    tool = _tool_of(row) if kind == "tool" else None
    named: dict[str, Any] = {
        "place": place,
        "kind": kind,
        "name": as_text(row.get("name")),
        "failure": _failure_of(row, tool),
    }
    if tool is not None:
        return Span(tool=tool, **named, **fields)
    rest: dict[str, Any] = {}
    built: list[TranscriptBuilder] = []
    for part, value in zip(("input", "output"), in_order(*map(partial(_value, row), ("input", "output"))), strict=True):
        builder = TranscriptBuilder()
        author: Literal["user", "assistant"] = "user" if part == "input" else "assistant"
        if has_messages(value):
            read_value(value, author, builder, f"{place}.{part}")
        elif kind == "model" and (text := said_in(value, part)) is not None:
            builder.message(author, text, f"{place}.{part}")
        elif not is_blank(value):
            rest[part] = value
        if CUT in as_text(value):
            builder.not_shown("rest of a text that the export cut", "environment", f"{place}.{part}")
        built.append(builder)
    asked, said = built
    if kind == "model" and not any(item.kind == "system" for item in asked.transcript().items):
        asked = TranscriptBuilder()
        read_instructions(row.get("output"), asked, f"{place}.output")
        asked.extend(built[0])
    return Span(
        inputs=_said(asked),
        outputs=_said(said),
        given=rest.get("input"),
        answer=rest.get("output"),
        images=(*asked.images, *said.images),
        **named,
        **fields,
    )


def _said(builder: TranscriptBuilder) -> tuple[Item, ...]:
    """The items without empty messages, as models return them where an answer has no text."""
    return tuple(one for one in builder.transcript().items if not (isinstance(one, Message) and not one.text.strip()))


def _value(row: dict[str, Any], name: str) -> Any:
    written = row.get(name)
    return None if written == "null" else plain_value(decoded_json(written, texts=True))


def _attributed(observation: dict[str, Any]) -> tuple[SpanKind | None, SpanTool]:
    metadata = decoded_json(observation.get("metadata"), texts=True)
    attributes = as_object(decoded_json(as_object(metadata).get("attributes")))
    return declared(PlainSpan(span_id="", place="", name="", start=0, attributes=attributes), TABLES)


def _kind_of(observation: dict[str, Any]) -> SpanKind:
    kind = (text_or_none(observation.get("type")) or "").upper()
    return _KINDS[kind] if kind in _KINDS else _attributed(observation)[0] or "other"


def _tool_of(observation: dict[str, Any]) -> SpanTool:
    given = decoded_json(observation.get("input"), texts=True)
    output = _value(observation, "output")
    returned = output if has_role(output, "tool", "function") else {}
    _, own = _attributed(observation)
    metadata = decoded_json(observation.get("metadata"), texts=True)
    ids = (one.get("tool_call_id") for one in (returned, metadata, given) if isinstance(one, dict))
    result = returned.get("content", output)
    if isinstance(given, dict) and given.keys() == {"args", "kwargs"} and given["args"] == []:
        given = given["kwargs"]
    return SpanTool(
        name=own.name or text_or_none(returned.get("name")) or as_text(observation.get("name")) or "unnamed",
        call_id=own.call_id or next((found for one in ids if (found := text_or_none(one)) is not None), None),
        arguments=None if given is None else as_text(given),
        result=None if result is None else returned_text(result),
        failed=True in (as_object(output).get("is_error"), as_object(output).get("isError")),
    )


def _failure_of(observation: dict[str, Any], tool: SpanTool | None) -> str | None:
    if as_text(observation.get("level")).upper() != "ERROR" and not (tool and tool.failed):
        return None
    return as_text(observation.get("statusMessage")) or (tool.result if tool else None) or "failed"


def _in_order(observations: Iterable[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any], int]]:
    """The observations with their start, by it; those of one millisecond in the order of the file.

    The API lists the latest first: such a file is read from its end.
    """
    placed = [(place, one, moment(one.get("startTime"))) for place, one in observations]
    starts = [start for _, _, start in placed]
    if starts == sorted(starts, reverse=True) and (starts[0:1] != starts[-1:] or _begins_with_children(placed)):
        placed.reverse()
    return sorted(placed, key=lambda one: one[2])


def _begins_with_children(placed: list[tuple[str, dict[str, Any], int]]) -> bool:
    """Whether observations stand before their parents."""
    numbers = {as_text(one.get("id")): number for number, (_, one, _) in enumerate(placed)}
    parents = (
        (number, numbers.get(as_text(one.get("parentObservationId")))) for number, (_, one, _) in enumerate(placed)
    )
    return any(parent is not None and number < parent for number, parent in parents)


def moment(value: Any) -> int:
    """A time in microseconds since 1970; 0 if it is none."""
    try:
        found = datetime.fromisoformat(value)
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return round(found.timestamp() * 1_000_000)
    except (TypeError, ValueError, OverflowError):
        return 0
