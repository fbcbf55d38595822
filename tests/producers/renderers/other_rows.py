"""Rows of test harnesses and traces that hold chat messages: Inspect, Langfuse, promptfoo, τ-bench, AgentDojo."""

import json
from typing import Any

from producers.renderers.conversation import Conversation, Shape, Step
from producers.renderers.openai import chat_messages
from producers.renderers.pictures import data_url


def _inspect(conversation: Conversation) -> dict[str, Any]:
    """A log with one sample."""
    messages: list[dict[str, Any]] = []
    if conversation.system is not None:
        messages.append({"role": "system", "content": conversation.system})
    for exchange in conversation.exchanges:
        content: Any = exchange.user
        if exchange.picture is not None:
            content = [{"type": "text", "text": exchange.user}]
            content.append({"type": "image", "image": data_url(exchange.picture), "detail": "auto"})
        messages.append({"role": "user", "content": content, "source": "input"})
        for step in exchange.steps:
            messages.append(_inspect_answer(step))
            for one in step.results:
                error = {"error": {"type": "unknown", "message": one.text}} if one.error else {}
                content = "" if one.error else one.text
                named = {"tool_call_id": one.call.call_id, "function": one.call.name}
                messages.append({"role": "tool", "content": content, **named, **error})
    identified = [{"id": f"m{index}", **one} for index, one in enumerate(messages)]
    sample = {"id": 1, "epoch": 1, "input": conversation.exchanges[0].user, "target": "", "messages": identified}
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{**sample, "scores": {}}]}


def _inspect_answer(step: Step) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    if step.reasoning is not None:
        blocks.append({"type": "reasoning", "reasoning": step.reasoning, "signature": None, "redacted": False})
    if step.text is not None:
        blocks.append({"type": "text", "text": step.text})
    if step.refusal is not None:
        blocks.append({"type": "text", "text": step.refusal, "refusal": True})
    calls = [
        {"id": one.call_id, "function": one.name, "arguments": one.arguments, "type": "function"} for one in step.calls
    ]
    return {"role": "assistant", "content": blocks, "tool_calls": calls, "model": "m", "source": "generate"}


def _langfuse(conversation: Conversation) -> dict[str, Any]:
    """A trace whose output is the last answer."""
    messages = chat_messages(conversation)
    answered = messages[-1]["role"] == "assistant"
    inputs, output = (messages[:-1], messages[-1]) if answered else (messages, None)
    return {"id": "trace-1", "name": "agent", "sessionId": "s", "input": inputs, "output": output, "tags": []}


def _promptfoo(conversation: Conversation) -> dict[str, Any]:
    """A result whose prompt is the conversation so far and whose output is the last text."""
    *prompt, last = chat_messages(conversation)
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "prompt": {"raw": json.dumps(prompt), "label": "p"},
        "vars": {},
        "response": {"output": last["content"]},
        "success": True,
        "score": 1,
    }


def _tau_bench(conversation: Conversation) -> dict[str, Any]:
    return {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": chat_messages(conversation)}


def _agentdojo(conversation: Conversation) -> dict[str, Any]:
    run = {"suite_name": "banking", "pipeline_name": "p", "user_task_id": "user_task_0", "injection_task_id": None}
    return {**run, "messages": chat_messages(conversation), "utility": True, "security": False}


SHAPES = (
    Shape("inspect log", _inspect, failures=True, refusals="refusal"),
    Shape("langfuse trace", _langfuse, refusals="refusal"),
    Shape("promptfoo result", _promptfoo, refusals="refusal", answered=True),
    Shape("tau-bench trajectory", _tau_bench, refusals="refusal"),
    Shape("agentdojo run", _agentdojo, refusals="refusal"),
)
