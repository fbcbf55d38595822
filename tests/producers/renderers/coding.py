"""Coding agents: sessions of Claude Code and Codex, trajectories of ATIF."""

from collections.abc import Iterator
from typing import Any

from producers.renderers.anthropic import user_blocks
from producers.renderers.conversation import Conversation, Shape, Step
from producers.renderers.openai import response_items

SESSION = "0a4c8a2e-77a1-4a5e-9a0e-000000000001"


def _time(number: int) -> str:
    return f"2026-11-23T10:{number // 60 % 60:02}:{number % 60:02}.000Z"


def _claude_messages(conversation: Conversation) -> Iterator[tuple[str, dict[str, Any]]]:
    """Pairs of the line's type and its message. Each block of an answer is a line, with the answer's id."""
    answers = 0
    for exchange in conversation.exchanges:
        content: Any = user_blocks(exchange) if exchange.picture is not None else exchange.user
        yield "user", {"role": "user", "content": content}
        for step in exchange.steps:
            answers += 1
            for block in _claude_blocks(step):
                message: dict[str, Any] = {"id": f"msg_{answers}", "type": "message", "role": "assistant", "model": "m"}
                message["content"] = [block]
                yield "assistant", {**message, "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
            for one in step.results:
                result = {"type": "tool_result", "tool_use_id": one.call.call_id, "content": one.text}
                failed = {"is_error": True} if one.error else {}
                yield "user", {"role": "user", "content": [{**result, **failed}]}


def _claude_blocks(step: Step) -> Iterator[dict[str, Any]]:
    if step.reasoning is not None:
        yield {"type": "thinking", "thinking": step.reasoning, "signature": "c2ln"}
    for text in (step.text, step.refusal):
        if text is not None:
            yield {"type": "text", "text": text}
    for one in step.calls:
        yield {"type": "tool_use", "id": one.call_id, "name": one.name, "input": one.arguments}


def _uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def _claude_line(number: int, kind: str, message: dict[str, Any], parent: int | None) -> dict[str, Any]:
    return {
        "parentUuid": None if parent is None else _uuid(parent),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/user/project",
        "sessionId": SESSION,
        "version": "2.0.50",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": _uuid(number),
        "timestamp": _time(number),
    }


def _claude_code(conversation: Conversation) -> list[dict[str, Any]]:
    """The lines of a session, each below the one before it."""
    return [
        _claude_line(number, kind, message, number - 1 if number else None)
        for number, (kind, message) in enumerate(_claude_messages(conversation))
    ]


def _claude_code_tree(conversation: Conversation) -> list[dict[str, Any]]:
    """The lines of a session in which each result is below the line of its call, with lines of Claude Code's own."""
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": "A title", "leafUuid": _uuid(0)}]
    calls: dict[str, int] = {}
    for number, (kind, message) in enumerate(_claude_messages(conversation)):
        first = message["content"][0] if isinstance(message["content"], list) else {}
        if first.get("type") == "tool_use":
            calls[first["id"]] = number
        parent = calls.get(first.get("tool_use_id", ""), number - 1 if number else None)
        lines.append(_claude_line(number, kind, message, parent))
        snapshot = {"messageId": _uuid(number), "trackedFileBackups": {}, "timestamp": _time(number)}
        if kind == "user":
            lines.append({"type": "file-history-snapshot", "messageId": _uuid(number), "snapshot": snapshot})
    return lines


def _codex(conversation: Conversation) -> list[dict[str, Any]]:
    """The lines of a rollout: items of the Responses interface, and events that repeat their texts."""
    meta = {"id": SESSION, "cwd": "/home/user/project", "originator": "codex_cli_rs", "cli_version": "0.63.0"}
    lines = [("session_meta", {**meta, "timestamp": _time(0), "instructions": conversation.system})]
    without_system = Conversation(system=None, exchanges=conversation.exchanges)
    for item in response_items(without_system):
        kept = {"type": "message", **{key: value for key, value in item.items() if key != "status"}}
        if kept.get("role") == "user":
            lines.append(("turn_context", {"cwd": "/home/user/project", "approval_policy": "never", "model": "m"}))
        lines.append(("response_item", kept))
        lines += [("event_msg", event) for event in _codex_events(kept)]
    return [
        {"timestamp": _time(number), "type": kind, "payload": payload} for number, (kind, payload) in enumerate(lines)
    ]


def _codex_events(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What Codex shows to the user of an item."""
    if item["type"] == "reasoning":
        yield {"type": "agent_reasoning", "text": item["summary"][0]["text"]}
    elif item["type"] == "message":
        texts = [part["text"] for part in item["content"] if "text" in part]
        if item["role"] == "user":
            yield {"type": "user_message", "message": texts[0], "kind": "plain"}
        elif texts:
            yield {"type": "agent_message", "message": texts[0]}
        if item["role"] == "assistant":
            yield {"type": "token_count", "info": None, "rate_limits": None}


def _atif(conversation: Conversation) -> dict[str, Any]:
    """A trajectory: the results of a step are its observation."""
    steps: list[dict[str, Any]] = []
    if conversation.system is not None:
        steps.append({"source": "system", "message": conversation.system})
    for exchange in conversation.exchanges:
        steps.append({"source": "user", "message": exchange.user})
        steps += [_atif_step(step) for step in exchange.steps]
    return {
        "schema_version": "ATIF-v1.4",
        "session_id": SESSION,
        "agent": {"name": "agent", "version": "1.0", "model_name": "m"},
        "steps": [
            {"step_id": number, "timestamp": _time(number), **step} for number, step in enumerate(steps, start=1)
        ],
        "final_metrics": {"total_prompt_tokens": 1, "total_completion_tokens": 1},
    }


def _atif_step(step: Step) -> dict[str, Any]:
    text = step.text if step.text is not None else step.refusal
    found: dict[str, Any] = {"source": "agent", "message": text or ""}
    if step.reasoning is not None:
        found["reasoning_content"] = step.reasoning
    if step.calls:
        found["tool_calls"] = [
            {"tool_call_id": one.call_id, "function_name": one.name, "arguments": one.arguments} for one in step.calls
        ]
    if step.results:
        results = [{"source_call_id": one.call.call_id, "content": one.text} for one in step.results]
        found["observation"] = {"results": results}
    return found


SHAPES = (
    Shape("claude code session", _claude_code, lines=True, system=False, failures=True),
    Shape("claude code session, a tree", _claude_code_tree, lines=True, system=False, failures=True),
    Shape("codex session", _codex, lines=True, system=False, refusals="refusal"),
    Shape("atif trajectory", _atif, pictures=False),
)
