"""OpenAI's Responses.

Source: the API reference, and the types of the SDK `openai`. That the provider stores a conversation is left at its
default: reasoning is found again by its id, and not every model gives it in an encrypted form instead.
"""

from typing import Any

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelRequest, RequestedTool
from jury_providers.sdk.openai_sdk import OpenAISdk
from jury_providers.sdk.reading import (
    Reading,
    Turn,
    count_at,
    data_url,
    object_at,
    objects,
    outcome_of,
    text_at,
    turns,
    without_unanswered,
)

_OUTCOMES = {"max_output_tokens": CallOutcome.TRUNCATED, "content_filter": CallOutcome.BLOCKED}
_GOOD_ENDS = frozenset({"completed"})
_LAST_WORDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class OpenAIResponses(OpenAISdk):
    """`POST responses`."""

    path = "/responses"
    reply_key = "output"
    prompt_keys = frozenset({"input"})

    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The JSON of a call; this interface has no seed."""
        settings = request.settings
        body: dict[str, Any] = {
            "model": request.model,
            "input": [item for turn in turns(request.messages) for item in self._items(turn)],
            "max_output_tokens": settings.max_output_tokens,
            "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": request.schema}},
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if request.tools:
            # Not strict: a strict function may leave no parameter out, and all of these have defaults.
            body["tools"] = [{"type": "function", "strict": False, **tool._asdict()} for tool in request.tools]
        if stream:
            body["stream"] = True
        return body

    def _items(self, turn: Turn) -> list[dict[str, Any]]:
        document = self.recall(turn.text) if turn.role == "assistant" else None
        if document is None:
            return [{"role": turn.role, "content": _with_pictures(turn) if turn.pictures else turn.text}]
        items = without_unanswered(objects(document["output"]), _is_call, len(turn.results))
        # Reasoning is refused without what it led to, which a turn that was cut off lacks.
        while items and items[-1].get("type") == "reasoning":
            items.pop()
        results = [
            {"type": "function_call_output", "call_id": call.get("call_id"), "output": result}
            for call, result in zip(filter(_is_call, items), turn.results, strict=False)
        ]
        return [*items, *results]

    def read(self, document: dict[str, Any]) -> Reading:
        """What a reply says."""
        items = objects(document.get("output"))
        contents = [
            content for item in items for content in objects(item.get("content")) if item.get("type") == "message"
        ]
        text = "".join(text_at(content, "text") or "" for content in contents)
        refusal = "".join(text_at(content, "refusal") or "" for content in contents)
        tools = tuple(_tool(item) for item in items if _is_call(item))
        finish = text_at(object_at(document, "incomplete_details"), "reason") or text_at(document, "status")
        said = bool(text or tools)
        outcome = CallOutcome.BLOCKED if refusal else outcome_of(finish, _OUTCOMES, _GOOD_ENDS, said=said)
        return Reading(
            outcome,
            text,
            tools,
            model_version=text_at(document, "model"),
            finish_reason=finish,
            usage=_usage(object_at(document, "usage")),
            response_id=text_at(document, "id"),
            error=f"refused: {refusal}" if refusal else None,
        )

    def piece(self, event: dict[str, Any]) -> str:
        """The text that an event adds."""
        return (text_at(event, "delta") or "") if event.get("type") == "response.output_text.delta" else ""

    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The response that the last event holds."""
        last = next((event for event in reversed(events) if event.get("type") in _LAST_WORDS), None)
        if last is None:
            return None
        response = object_at(last, "response")
        if not response.get("output"):
            done = (object_at(event, "item") for event in events if event.get("type") == "response.output_item.done")
            response = {**response, "output": list(done)}
        return response


def _with_pictures(turn: Turn) -> list[dict[str, Any]]:
    pictures = ({"type": "input_image", "image_url": data_url(picture)} for picture in turn.pictures)
    return [{"type": "input_text", "text": turn.text}, *pictures]


def _is_call(item: dict[str, Any]) -> bool:
    return item.get("type") == "function_call"


def _tool(item: dict[str, Any]) -> RequestedTool:
    return RequestedTool(text_at(item, "call_id") or "", text_at(item, "name") or "", text_at(item, "arguments") or "")


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=count_at(usage, "input_tokens"),
        output_tokens=count_at(usage, "output_tokens"),
        cached_input_tokens=count_at(object_at(usage, "input_tokens_details"), "cached_tokens"),
        reasoning_tokens=count_at(object_at(usage, "output_tokens_details"), "reasoning_tokens"),
    )
