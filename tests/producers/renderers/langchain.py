"""LangChain messages as `messages_to_dict` and as `model_dump` write them."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from producers.renderers.anthropic import answer_blocks
from producers.renderers.conversation import Conversation, Shape, Step
from producers.renderers.pictures import data_url


def plain_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """As `message.model_dump()`."""
    found: list[dict[str, Any]] = []
    if conversation.system is not None:
        found.append({"type": "system", "content": conversation.system})
    for exchange in conversation.exchanges:
        content: Any = exchange.user
        if exchange.picture is not None:
            url = {"type": "image_url", "image_url": {"url": data_url(exchange.picture)}}
            content = [{"type": "text", "text": exchange.user}, url]
        found.append({"type": "human", "content": content})
        for step in exchange.steps:
            found.append(_answer(step))
            found += [
                {
                    "type": "tool",
                    "content": one.text,
                    "name": one.call.name,
                    "tool_call_id": one.call.call_id,
                    "status": "error" if one.error else "success",
                    "artifact": None,
                }
                for one in step.results
            ]
    more = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}
    return [{**more, **one} for one in found]


def _answer(step: Step) -> dict[str, Any]:
    calls = [{"type": "tool_call", "id": one.call_id, "name": one.name, "args": one.arguments} for one in step.calls]
    more = {} if step.reasoning is None else {"additional_kwargs": {"reasoning_content": step.reasoning}}
    text = step.text if step.text is not None else step.refusal
    return {"type": "ai", "content": text or "", "tool_calls": calls, "invalid_tool_calls": [], **more}


def _with_blocks(conversation: Conversation, blocks: Callable[[Step], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Answers whose content is a list of blocks, as a provider's package writes it; `tool_calls` repeats the calls."""
    messages = plain_messages(conversation)
    answers = iter([step for exchange in conversation.exchanges for step in exchange.steps])
    for message in messages:
        if message["type"] == "ai":
            message["content"] = blocks(next(answers))
            message["additional_kwargs"] = {}
    return messages


def _v1_blocks(step: Step) -> list[dict[str, Any]]:
    """The standard blocks of LangChain 1."""
    blocks: list[dict[str, Any]] = []
    if step.reasoning is not None:
        blocks.append({"type": "reasoning", "reasoning": step.reasoning})
    blocks += [{"type": "text", "text": text} for text in (step.text, step.refusal) if text is not None]
    blocks += [{"type": "tool_call", "id": one.call_id, "name": one.name, "args": one.arguments} for one in step.calls]
    return blocks


def _openai_blocks(step: Step) -> list[dict[str, Any]]:
    """Blocks of the Responses interface."""
    blocks: list[dict[str, Any]] = []
    if step.reasoning is not None:
        summary = [{"type": "summary_text", "text": step.reasoning}]
        blocks.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    if step.text is not None:
        blocks.append({"type": "text", "text": step.text, "annotations": [], "id": "msg_1"})
    if step.refusal is not None:
        blocks.append({"type": "refusal", "refusal": step.refusal, "id": "msg_1"})
    for one in step.calls:
        call = {"type": "function_call", "id": f"fc_{one.call_id}", "call_id": one.call_id, "name": one.name}
        blocks.append({**call, "arguments": json.dumps(one.arguments), "status": "completed"})
    return blocks


def _state(conversation: Conversation) -> dict[str, Any]:
    """The state of a graph, with the messages of `model_dump`."""
    return {"messages": plain_messages(conversation)}


def _dumped(conversation: Conversation) -> list[dict[str, Any]]:
    """As `messages_to_dict`."""
    return [{"type": one["type"], "data": one} for one in plain_messages(conversation)]


def constructors(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Plain messages as `dumpd` writes them."""
    names = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}
    return [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", names[one["type"]]], "kwargs": one}
        for one in messages
    ]


def _constructed(conversation: Conversation) -> list[dict[str, Any]]:
    return constructors(plain_messages(conversation))


SHAPES = (
    *(
        Shape(name, render, failures=True)
        for name, render in (
            ("langchain model_dump", plain_messages),
            ("langchain messages_to_dict", _dumped),
            ("langchain dumpd", _constructed),
            ("langgraph state", _state),
            ("langchain v1 blocks", partial(_with_blocks, blocks=_v1_blocks)),
            ("langchain anthropic blocks", partial(_with_blocks, blocks=answer_blocks)),
        )
    ),
    Shape(
        "langchain responses blocks", partial(_with_blocks, blocks=_openai_blocks), failures=True, refusals="refusal"
    ),
)
