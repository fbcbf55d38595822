"""OpenAI's Chat Completions API, also offered by llama.cpp, vLLM, Ollama and proxies.

Source: the API reference, and the types of the SDK `openai`.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from jury_events.canonical import canonical_json
from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.dialects import CHAT_WAYS, REASONING_FIELD, THINKING_BLOCKS, finish_outcomes
from jury_providers.provider import ModelPicture, ModelRequest, RequestedTool
from jury_providers.sdk.conversation import ConversationTurn, data_url, marked_blocks, turns
from jury_providers.sdk.json_fields import (
    as_json,
    count_at,
    json_object,
    label_at,
    object_at,
    objects,
    text_at,
    without_unset,
)
from jury_providers.sdk.openai_sdk import (
    OPENAI_MARK,
    OPENAI_TIERS,
    OpenAISdk,
    openai_cache_options,
    openai_cache_writes,
)
from jury_providers.sdk.replies import ParsedReply, opened, outcome_of, owed_output

_OUTCOMES = {"length": CallOutcome.TRUNCATED, "content_filter": CallOutcome.BLOCKED, **finish_outcomes()}
_GOOD_ENDS = frozenset({"stop", "tool_calls", "function_call"})

ANSWER = "answer"
"""The name of the schema, or of the tool that takes the answer."""

_THOUGHTS = ("reasoning_content", "reasoning")
"""Where servers put a model's thoughts; some put the answer there."""

_PLAIN = ("role", "content", "tool_calls", "refusal")
"""Of a model's turn that is sent back plainly."""

_BOUNDS = frozenset(
    ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "exclusiveMinimum"]
)


class OpenAIChat(OpenAISdk):
    """`POST chat/completions`."""

    api = "openai"
    path = "/chat/completions"
    reply_key = "choices"
    prompt_keys = frozenset({"messages"})
    dialect_ways = CHAT_WAYS

    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        settings, dialect = request.settings, self.connection.dialect
        body: dict[str, Any] = {
            "model": request.model,
            "messages": self._conversation(request),
            dialect.output_limit: settings.max_output_tokens,
        }
        body |= without_unset(
            temperature=settings.temperature,
            top_p=settings.top_p,
            seed=settings.seed,
            reasoning_effort=settings.effort,
            verbosity=settings.verbosity,
            service_tier=OPENAI_TIERS.get(self._tier(settings) or ""),
        )
        body |= openai_cache_options(request)
        # Not strict: strict functions have no optional parameters, and all of these have defaults.
        tools = [{"type": "function", "function": tool._asdict()} for tool in request.tools]
        schema = request.schema if dialect.schema_bounds else _without_bounds(canonical_json(request.schema))
        match dialect.structured:
            case "json_schema":
                body["response_format"] = {
                    "type": "json_schema",
                    "json_schema": {"name": ANSWER, "strict": True, "schema": schema},
                }
            case "json_object":
                body["response_format"] = {"type": "json_object"}
            case "tool":
                answer = {"name": ANSWER, "description": "Takes the answer.", "parameters": schema}
                body["tool_choice"] = "required" if tools else {"type": "function", "function": {"name": ANSWER}}
                tools.append({"type": "function", "function": answer})
            case "words":
                pass  # the prompt has the form of the answer
        if tools:
            body["tools"] = tools
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def _conversation(self, request: ModelRequest) -> list[dict[str, Any]]:
        """The messages; no two of a user follow each other, which templates of open models refuse."""
        role = self.connection.dialect.system_role
        messages: list[dict[str, Any]] = []
        for turn, marked in zip(turns(request.messages), marked_blocks(request, self.api), strict=True):
            for message in self._messages(turn, marked):
                if message["role"] == "system":
                    message["role"] = role
                if messages and messages[-1]["role"] == message["role"] == "user":
                    messages[-1]["content"] = _joined(messages[-1]["content"], message["content"])
                else:
                    messages.append(message)
        return messages

    def _messages(self, turn: ConversationTurn, marked: frozenset[int]) -> list[dict[str, Any]]:
        if turn.role != "assistant":
            return [{"role": turn.role, "content": _shown(turn, marked, whole=self.leads_home)}]
        document = self.stored_reply(turn.text)
        if document is None:
            return [{"role": "assistant", "content": turn.text}]
        message = dict(_choice(document)[0])
        if self.connection.dialect.earlier_turns == "plain":
            message = {name: message[name] for name in _PLAIN if message.get(name) is not None}
        calls = objects(message.get("tool_calls"))
        # Servers refuse calls without a result: those of a truncated turn are dropped.
        message["tool_calls"] = answered = calls[: len(turn.results)]
        if not answered:
            del message["tool_calls"]
            if given := _given(calls):
                message["content"] = given
        if not (answered or message.get("content") or message.get("refusal")):
            return []
        results = [
            {"role": "tool", "tool_call_id": call.get("id"), "content": result}
            for call, result in zip(answered, turn.results, strict=False)
        ]
        return [message, *results]

    def reports_of(self, document: dict[str, Any]) -> Iterable[dict[str, Any]]:
        """An error stands in the reply or in its choice."""
        return (document, _first(document))

    def parse(self, document: dict[str, Any]) -> ParsedReply:
        message, finish = _choice(document)
        text, refusal = _content(message), text_at(message, "refusal")
        calls, stripped = objects(message.get("tool_calls")), _beside(message)
        thoughts = next((found for name in _THOUGHTS if (found := text_at(message, name))), None)
        if self.connection.dialect.structured == "tool" and (given := _given(calls)):
            text, calls = given, []
        elif not text and not calls and thoughts and REASONING_FIELD in self.connection.dialect.around:
            answer = opened(thoughts, self.connection.dialect.around)
            if answer.text.lstrip()[:1] == "{" and _word(finish) != "length":
                text, stripped = answer.text.strip(), (REASONING_FIELD, *answer.taken)
        tools = tuple(map(_tool, calls))
        outcome = outcome_of(_word(finish), _OUTCOMES, _GOOD_ENDS, has_content=bool(text or tools))
        if outcome is CallOutcome.TRUNCATED and not (text or calls) and thoughts:
            outcome = CallOutcome.ONLY_REASONING
        return ParsedReply(
            CallOutcome.BLOCKED if refusal else outcome,
            text,
            tools,
            model_version=text_at(document, "model"),
            fingerprint=text_at(document, "system_fingerprint"),
            finish_reason=finish,
            usage=_usage(document),
            response_id=text_at(document, "id"),
            error=f"refused: {refusal}" if refusal else None,
            stripped=stripped,
        )

    def text_delta(self, event: dict[str, Any]) -> str:
        return text_at(_delta(_first(event)), "content") or ""

    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """One completion from its chunks: texts concatenated, tool calls merged by index."""
        document: dict[str, Any] = {}
        message: dict[str, Any] = {"role": "assistant", "content": None}
        calls: list[dict[str, Any]] = []
        finish = None
        first = _first_index(events)
        for event in events:
            document |= {key: value for key, value in event.items() if value not in (None, "")}
            choice = _streamed(event, first)
            finish = text_at(choice, "finish_reason") or finish
            delta = _delta(choice)
            message |= object_at(choice, "message")  # a whole one takes the place of its pieces
            _append(message, {key: value for key, value in delta.items() if key != "tool_calls"})
            for call in objects(delta.get("tool_calls")):
                _append_call(calls, call)
        if finish is None:
            return None
        if calls:
            message["tool_calls"] = [{key: value for key, value in call.items() if key != "index"} for call in calls]
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return document | {"object": "chat.completion", "choices": [choice]}


def _shown(turn: ConversationTurn, marked: frozenset[int], *, whole: bool) -> str | list[dict[str, Any]]:
    """A message's content: one text where nothing needs blocks; some servers take no list of them.

    `whole`: blocks are kept apart in any case.
    """
    if len(turn.blocks) == 1:
        return turn.text
    if not (whole or marked or turn.pictures):
        return "".join((*turn.shared, turn.text))
    return [_part(block) | (OPENAI_MARK if index in marked else {}) for index, block in enumerate(turn.blocks)]


def _part(block: str | ModelPicture) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    return {"type": "image_url", "image_url": {"url": data_url(block)}}


def _joined(one: str | list[dict[str, Any]], other: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """The contents of two messages as one."""
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [part for content in (one, other) for part in ([_part(content)] if isinstance(content, str) else content)]


def _first(document: dict[str, Any]) -> dict[str, Any]:
    """The choice that was asked for, whatever its place in the list."""
    choices = objects(document.get("choices"))
    return next((choice for choice in choices if choice.get("index") == 0), choices[0]) if choices else {}


def _streamed(event: dict[str, Any], first: int) -> dict[str, Any]:
    """What a chunk has of the choice `first`; a choice without an index, or with one that is no number, is that one."""
    choices = objects(event.get("choices"))
    return next((one for one in choices if one.get("index") == first or type(one.get("index")) is not int), {})


def _first_index(events: Iterable[dict[str, Any]]) -> int:
    """The index of the choice that a stream is read of: the lowest, whichever began first."""
    indices = (choice.get("index") for event in events for choice in objects(event.get("choices")))
    return min((one for one in indices if type(one) is int), default=0)


def _delta(choice: dict[str, Any]) -> dict[str, Any]:
    """What a chunk adds; of a `text_completion` a bare text."""
    text = text_at(choice, "text")
    return object_at(choice, "delta") or ({} if text is None else {"content": text})


def _word(finish: str | None) -> str | None:
    """The reason of an end as it is looked up: Google's are in capitals, or stand behind `content_filter: `."""
    return None if finish is None else finish.partition(":")[0].strip().lower()


def _choice(document: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The message of a reply and why it ended; a `text_completion` has a bare text, and some contents are an object."""
    choice = _first(document)
    message, text = object_at(choice, "message"), text_at(choice, "text")
    if not message and text is not None:
        message = {"role": "assistant", "content": text}
    if isinstance(content := message.get("content"), dict):
        message = {**message, "content": as_json(content)}
    return message, text_at(choice, "finish_reason")


def _content(message: dict[str, Any]) -> str:
    """A message's text, which some servers send as a list of blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text_at(piece, "text") or "" for piece in objects(content))


def _beside(message: dict[str, Any]) -> tuple[str, ...]:
    """What a list of contents has beside texts, by name."""
    content = objects(message.get("content"))
    return (THINKING_BLOCKS,) if any(piece.get("type") == "thinking" for piece in content) else ()


def _given(calls: list[dict[str, Any]]) -> str | None:
    """The arguments of the tool that takes the answer; None where it was not called."""
    for call in calls:
        function = object_at(call, "function")
        # Models of the Harmony format leave tokens behind the name.
        if (text_at(function, "name") or "").partition("<|")[0] == ANSWER:
            return text_at(function, "arguments")
    return None


@lru_cache(maxsize=256)
def _without_bounds(schema: bytes) -> dict[str, Any]:
    """The schema without the bounds of lengths and numbers."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {name: plain(inner) for name, inner in value.items() if name not in _BOUNDS or isinstance(inner, dict)}

    return dict(plain(json_object(schema) or {}))


def _tool(call: dict[str, Any]) -> RequestedTool:
    function = object_at(call, "function")
    return RequestedTool(
        text_at(call, "id") or "", text_at(function, "name") or "", text_at(function, "arguments") or ""
    )


def _usage(document: dict[str, Any]) -> Usage:
    """What is owed: where a total is given, all of it that is no prompt is output, reasoning counted apart included."""
    usage = object_at(document, "usage")
    details = object_at(usage, "prompt_tokens_details")
    cached = count_at(details, "cached_tokens")
    cached = count_at(usage, "prompt_cache_hit_tokens") if cached is None else cached  # DeepSeek's
    sent, written = count_at(usage, "prompt_tokens"), count_at(usage, "completion_tokens")
    if sent and cached and cached > sent:
        sent += cached  # the prompt is counted without what was read of it
    reasoning = count_at(object_at(usage, "completion_tokens_details"), "reasoning_tokens")
    return Usage(
        input_tokens=sent,
        output_tokens=owed_output(sent, written, reasoning, count_at(usage, "total_tokens")),
        cached_input_tokens=cached,
        cache_writes=openai_cache_writes(details),
        reasoning_tokens=reasoning,
        service_tier=label_at(document, "service_tier"),
    )


_WHOLE = frozenset({"id", "type", "role", "name"})
"""Strings that a stream repeats instead of continuing; every server sends `name` whole."""


def _append(target: dict[str, Any], delta: dict[str, Any]) -> None:
    """Merge a delta: strings are appended, objects merged, other values replaced."""
    for key, value in delta.items():
        known = target.get(key)
        if isinstance(value, str) and isinstance(known, str) and key not in _WHOLE:
            target[key] = known + value
        elif isinstance(value, dict) and isinstance(known, dict):
            _append(known, value)
        elif value is None or value == "":
            target.setdefault(key, value)
        else:
            target[key] = dict(value) if isinstance(value, dict) else value


def _append_call(calls: list[dict[str, Any]], delta: dict[str, Any]) -> None:
    """Merge a delta of a tool call; some servers number every call 0 and distinguish them by id."""
    index, name = delta.get("index"), delta.get("id")
    same = [call for call in calls if index is not None and call.get("index") == index]
    if same and (not name or same[-1].get("id") in {None, "", name}):
        _append(same[-1], delta)
    else:
        call: dict[str, Any] = {}
        _append(call, delta)
        calls.append(call)
