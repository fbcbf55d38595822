"""Converts a stored case of schema 1 to schema 2: messages become transcript items.

Schema 1 had neither call ids nor authors, so the author follows from the role.
"""

from typing import Any

_ORIGINS = {"user": "user", "assistant": "model", "system": "developer"}


def case_2(body: dict[str, Any]) -> dict[str, Any]:
    """The decoded case with its messages as items.

    Raises:
        AttributeError, KeyError, TypeError: it is not a case of schema 1.
    """
    return {**body, "scenarios": [_scenario(scenario) for scenario in body["scenarios"]]}


def _scenario(scenario: dict[str, Any]) -> dict[str, Any]:
    execution = dict(scenario["execution"])
    messages = execution.pop("messages", [])
    if messages:
        execution["transcript"] = {"items": [item for message in messages for item in _items(message)]}
    return {**scenario, "execution": execution}


def _items(message: dict[str, Any]) -> list[dict[str, Any]]:
    role, text, tool = message["role"], message.get("content", ""), message.get("tool")
    items: list[dict[str, Any]] = []
    if message.get("thought") is not None:
        items.append({"kind": "reasoning", "text": message["thought"]})
    if role == "tool":
        items.append({"kind": "tool_result", "name": tool, "text": text})
    elif role in _ORIGINS:
        if text:
            items.append({"kind": role, "origin": _ORIGINS[role], "text": text, "name": tool})
    else:
        items.append({"kind": "event", "origin": "environment", "name": role, "text": text})
    calls = message.get("tool_calls", [])
    return [
        *items,
        *({"kind": "tool_call", "name": call["name"], "arguments": call.get("arguments", "")} for call in calls),
    ]
