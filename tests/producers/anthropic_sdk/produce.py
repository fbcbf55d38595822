"""The Anthropic SDK: what a program that logs each request with its response keeps; server tools, MCP, compaction."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from anthropic import Anthropic

from model_server import ModelServer
from story import (
    DESCRIPTIONS,
    STORY,
    SYSTEM,
    TOOLS,
    Answer,
    Produced,
    ToolFailed,
    Turn,
    case,
    piece,
    run_tool,
    standard_pieces,
    target_folder,
)

MODEL = "claude-sonnet-5-5"
BUDGET = 1000
SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}}
TOOL_LIST: list[Any] = [
    {"name": tool.name, "description": DESCRIPTIONS[tool.name], "input_schema": SCHEMA} for tool in TOOLS
]


def user_message(turn: Turn) -> dict[str, Any]:
    """A text, or a picture and a text."""
    content: list[dict[str, Any]] = [{"type": "text", "text": turn.user}]
    if turn.picture is not None:
        data = base64.b64encode(turn.picture).decode()
        content.append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
    return {"role": "user", "content": content if turn.picture is not None else turn.user}


def answered(client: Anthropic, asked: dict[str, Any], *, stream: bool) -> dict[str, Any]:
    """The next message, as the SDK dumps it."""
    if not stream:
        return client.messages.create(**asked).model_dump(mode="json")
    with client.messages.stream(**asked) as events:
        return events.get_final_message().model_dump(mode="json")


def results(answer: Answer) -> dict[str, Any]:
    """The message with the results of an answer's calls."""
    blocks = []
    for call in answer.calls:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.call_id}
        try:
            block["content"] = run_tool(call.name)
        except ToolFailed as error:
            block |= {"content": [{"type": "text", "text": str(error)}], "is_error": True}
        blocks.append(block)
    return {"role": "user", "content": blocks}


def conversation(*, stream: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The last request and its response."""
    asked: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": BUDGET,
        "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
        "tools": TOOL_LIST,
        "messages": [],
    }
    message: dict[str, Any] = {}
    with ModelServer() as server:
        client = Anthropic(base_url=server.url, api_key="none")
        for turn in STORY:
            asked = {**asked, "messages": [*asked["messages"], user_message(turn)]}
            for answer in turn.answers:
                last = {**asked, "messages": list(asked["messages"])}
                message = answered(client, asked, stream=stream)
                asked["messages"].append({"role": "assistant", "content": message["content"]})
                if answer.calls:
                    asked["messages"].append(results(answer))
    return last, message


def happened(*, logged: bool) -> list[dict[str, Any]]:
    """Only a response says why it ended; earlier ones are kept without. A refusal is a text."""
    pieces = standard_pieces(cut=None, refusals="assistant", without=() if logged else ("system",))
    return [*pieces, piece("refusal", "event")] if logged else pieces


def usage() -> dict[str, Any]:
    return {"input_tokens": 11, "output_tokens": 7}


def message_of(content: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The body of a response."""
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": content}
    return {**whole, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage(), **more}


SCRIPTED: dict[str, Any] = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
"""Blocks of an answer with tools that the provider runs, and of a later one, with why it was refused."""


def with_server_tools() -> tuple[dict[str, Any], dict[str, Any]]:
    """A request with search results of the application, and further requests of the beta interface."""
    found = {
        "type": "search_result",
        "source": "https://shop.example/terms",
        "title": "Terms",
        "content": [{"type": "text", "text": "M43attachment Prices include tax."}],
        "citations": {"enabled": True},
    }
    text = {"type": "text", "text": "M30user What does it cost?"}
    messages: list[Any] = [{"role": "user", "content": [found, text]}]
    bodies: Iterable[Any] = (message_of(SCRIPTED["server_tools"]), message_of(SCRIPTED["later"], **SCRIPTED["refused"]))
    with ModelServer(Answer(body=body) for body in bodies) as server:
        client = Anthropic(base_url=server.url, api_key="none")
        first = client.beta.messages.create(model=MODEL, max_tokens=BUDGET, messages=messages)
        content = [block.model_dump(mode="json", by_alias=True) for block in first.content]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": "M39user Attack them."}]
        second = client.beta.messages.create(model=MODEL, max_tokens=BUDGET, messages=messages)
    return {"model": MODEL, "messages": messages}, second.model_dump(mode="json", by_alias=True)


def main() -> None:
    """Write the files."""
    produced = Produced(folder=target_folder(__file__), tool="anthropic", packages=("anthropic",))
    asked, message = conversation(stream=False)
    answer = {"role": "assistant", "content": message["content"]}
    produced.write_json("messages.json", [*asked["messages"], answer])
    produced.add("messages.json", "list of messages", [case(happened(logged=False))])
    produced.write_lines("logged.jsonl", [{"request": asked, "response": message}])
    produced.add("logged.jsonl", "logged request and response", [case(happened(logged=True))])
    asked, message = conversation(stream=True)
    produced.write_lines("streamed.jsonl", [{**asked, **message}])
    produced.add("streamed.jsonl", "request and accumulated stream", [case(happened(logged=True))])
    asked, message = with_server_tools()
    produced.write_lines("server_tools.jsonl", [{"request": asked, "response": message}])
    produced.add("server_tools.jsonl", "logged request and response with server tools")
    produced.write()


main()
