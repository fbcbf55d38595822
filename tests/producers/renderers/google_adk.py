"""Sessions of Google's ADK: events with authors."""

from typing import Any

from producers.renderers.conversation import Conversation, Shape
from producers.renderers.gemini import result_parts, step_parts
from producers.renderers.pictures import in_base64


def _adk(conversation: Conversation) -> dict[str, Any]:
    """A session: its events have authors."""
    events: list[tuple[str, dict[str, Any]]] = []
    for exchange in conversation.exchanges:
        parts: list[dict[str, Any]] = [{"text": exchange.user}]
        if exchange.picture is not None:
            data = in_base64(exchange.picture).replace("+", "-").replace("/", "_")
            parts.append({"inlineData": {"mimeType": "image/png", "data": data}})
        events.append(("user", {"role": "user", "parts": parts}))
        for step in exchange.steps:
            events.append(("clerk", {"role": "model", "parts": step_parts(step)}))
            if step.results:
                events.append(("clerk", {"role": "user", "parts": result_parts(step)}))
    actions: dict[str, Any] = {"stateDelta": {}, "artifactDelta": {}, "requestedAuthConfigs": {}}
    return {
        "id": "session-1",
        "appName": "shop",
        "userId": "user",
        "state": {},
        "events": [
            {"id": f"e{number}", "invocationId": "i", "author": author, "timestamp": 1_764_000_000.0 + number}
            | {"content": content, "actions": actions}
            for number, (author, content) in enumerate(events)
        ],
        "lastUpdateTime": 1_764_000_100.0,
    }


SHAPES = (Shape("adk session", _adk, system=False, speaker="clerk"),)
