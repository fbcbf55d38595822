"""OpenAI's Responses API.

Source: the API reference, and the types of the SDK `openai`. `store` keeps its default (on): earlier reasoning is
referenced by its id, since not every model returns it encrypted instead.
"""

from typing import Any

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelPicture, ModelRequest, RequestedTool
from jury_providers.sdk.conversation import ConversationTurn, data_url, marked_blocks, turns, without_unanswered
from jury_providers.sdk.json_fields import count_at, label_at, object_at, objects, text_at, without_unset
from jury_providers.sdk.openai_sdk import (
    OPENAI_MARK,
    OPENAI_TIERS,
    OpenAISdk,
    openai_cache_options,
    openai_cache_writes,
)
from jury_providers.sdk.replies import ParsedReply, outcome_of, owed_output, with_cache_miss

_OUTCOMES = {"max_output_tokens": CallOutcome.TRUNCATED, "content_filter": CallOutcome.BLOCKED}
_GOOD_ENDS = frozenset({"completed"})
_FINAL_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class OpenAIResponses(OpenAISdk):
    """`POST responses`."""

    api = "openai-responses"
    path = "/responses"
    reply_key = "output"
    prompt_keys = frozenset({"input"})

    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The JSON of a call; this API has no seed."""
        settings = request.settings
        body: dict[str, Any] = {
            "model": request.model,
            "input": [
                item
                for turn, marked in zip(turns(request.messages), marked_blocks(request, self.api), strict=True)
                for item in self._items(turn, marked)
            ],
            "max_output_tokens": settings.max_output_tokens,
            "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": request.schema}},
        }
        if settings.verbosity is not None:
            body["text"]["verbosity"] = settings.verbosity
        body |= without_unset(
            temperature=settings.temperature,
            top_p=settings.top_p,
            reasoning=None if settings.effort is None else {"effort": settings.effort},
            service_tier=OPENAI_TIERS.get(self._tier(settings) or ""),
        )
        body |= openai_cache_options(request)
        if self.asks_why(request) and (earlier := self.earlier_reply_id(request)):
            # The provider says why the prompt before was not read.
            body["prompt_cache_options"]["comparison_response_id"] = earlier
        if request.tools:
            # Not strict: strict functions have no optional parameters, and all of these have defaults.
            body["tools"] = [{"type": "function", "strict": False, **tool._asdict()} for tool in request.tools]
        if stream:
            body["stream"] = True
        return body

    def _items(self, turn: ConversationTurn, marked: frozenset[int]) -> list[dict[str, Any]]:
        document = self.stored_reply(turn.text) if turn.role == "assistant" else None
        if document is None:
            return [{"role": turn.role, "content": _shown(turn, marked)}]
        items = without_unanswered(objects(document["output"]), _is_call, len(turn.results))
        # The API refuses reasoning without the item that followed it, which a truncated turn lacks.
        while items and items[-1].get("type") == "reasoning":
            items.pop()
        results = [
            {"type": "function_call_output", "call_id": call.get("call_id"), "output": result}
            for call, result in zip(filter(_is_call, items), turn.results, strict=False)
        ]
        return [*items, *results]

    def spelled_out(self, document: dict[str, Any]) -> dict[str, Any]:
        """The SDK's own `output_text` may stand alone; a message's content may be a bare text."""
        items, text = objects(document.get("output")), text_at(document, "output_text")
        if text is not None and not any(map(_is_message, items)):
            items = [*items, {"type": "message", "role": "assistant", "content": text}]
        if not any(isinstance(item.get("content"), str) for item in items):
            return document
        return {**document, "output": [_with_list(item) for item in items]}

    def parse(self, document: dict[str, Any]) -> ParsedReply:
        document = self.spelled_out(document)
        items = objects(document.get("output"))
        contents = [content for item in filter(_is_message, items) for content in objects(item.get("content"))]
        text = "".join(text_at(content, "text") or "" for content in contents)
        refusal = "".join(text_at(content, "refusal") or "" for content in contents)
        tools = tuple(_tool(item) for item in items if _is_call(item))
        finish = text_at(object_at(document, "incomplete_details"), "reason") or text_at(document, "status")
        has_content = bool(text or tools)
        outcome = CallOutcome.BLOCKED if refusal else outcome_of(finish, _OUTCOMES, _GOOD_ENDS, has_content=has_content)
        return ParsedReply(
            outcome,
            text,
            tools,
            model_version=text_at(document, "model"),
            finish_reason=finish,
            usage=with_cache_miss(_usage(document), _cache_miss(document)),
            response_id=text_at(document, "id"),
            error=f"refused: {refusal}" if refusal else None,
        )

    def text_delta(self, event: dict[str, Any]) -> str:
        return (text_at(event, "delta") or "") if event.get("type") == "response.output_text.delta" else ""

    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The response in the final event."""
        last = next((event for event in reversed(events) if event.get("type") in _FINAL_EVENTS), None)
        if last is None:
            return None
        response = object_at(last, "response")
        if not response.get("output"):
            done = (object_at(event, "item") for event in events if event.get("type") == "response.output_item.done")
            response = {**response, "output": list(done)}
        return response


def _shown(turn: ConversationTurn, marked: frozenset[int]) -> str | list[dict[str, Any]]:
    if len(turn.blocks) == 1:
        return turn.text
    return [_part(block) | (OPENAI_MARK if index in marked else {}) for index, block in enumerate(turn.blocks)]


def _part(block: str | ModelPicture) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "input_text", "text": block}
    return {"type": "input_image", "image_url": data_url(block)}


def _is_message(item: dict[str, Any]) -> bool:
    return item.get("type") == "message"


def _with_list(item: dict[str, Any]) -> dict[str, Any]:
    text = text_at(item, "content")
    return item if text is None else {**item, "content": [{"type": "output_text", "text": text, "annotations": []}]}


def _is_call(item: dict[str, Any]) -> bool:
    return item.get("type") == "function_call"


def _tool(item: dict[str, Any]) -> RequestedTool:
    return RequestedTool(text_at(item, "call_id") or "", text_at(item, "name") or "", text_at(item, "arguments") or "")


def _usage(document: dict[str, Any]) -> Usage:
    usage = object_at(document, "usage")
    sent = object_at(usage, "input_tokens_details")
    reasoning = count_at(object_at(usage, "output_tokens_details"), "reasoning_tokens")
    asked, written = count_at(usage, "input_tokens"), count_at(usage, "output_tokens")
    return Usage(
        input_tokens=asked,
        output_tokens=owed_output(asked, written, reasoning, count_at(usage, "total_tokens")),
        cached_input_tokens=count_at(sent, "cached_tokens"),
        cache_writes=openai_cache_writes(sent),
        reasoning_tokens=reasoning,
        service_tier=label_at(document, "service_tier"),
    )


def _cache_miss(document: dict[str, Any]) -> str | None:
    """The reason of a miss; else why there is none, except where the cache was hit."""
    found = object_at(document, "prompt_cache_diagnostics")
    kind = label_at(found, "type")
    return label_at(found, "reason") if kind == "cache_miss" else None if kind == "cache_hit" else kind
