"""The OpenAI SDK, Responses: items that a program keeps, logged requests with their responses, the provider's tools."""

import json
from pathlib import Path
from typing import Any

from openai import OpenAI

from chat_story import PARAMETERS, output_of, responses_message
from model_server import ModelServer
from story import (
    DESCRIPTIONS,
    STORY,
    SYSTEM,
    TOOLS,
    Answer,
    Produced,
    case,
    run_tool,
    standard_pieces,
    target_folder,
)

MODEL = "gpt-6-sol"
TOOL_LIST: list[Any] = [
    {"type": "function", "name": tool.name, "description": DESCRIPTIONS[tool.name], "parameters": PARAMETERS}
    for tool in TOOLS
]


def answered(client: OpenAI, asked: dict[str, Any], *, stream: bool) -> dict[str, Any]:
    """The next response, as the SDK dumps it."""
    if not stream:
        return client.responses.create(**asked).model_dump(mode="json")
    with client.responses.stream(**asked) as events:
        for event in events:
            if event.type in {"response.completed", "response.incomplete"}:
                return event.response.model_dump(mode="json")
    raise AssertionError("the stream has no end")


def conversation(*, stream: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The last request and its response."""
    asked: dict[str, Any] = {"model": MODEL, "instructions": SYSTEM, "tools": TOOL_LIST, "input": []}
    response: dict[str, Any] = {}
    with ModelServer() as server:
        client = OpenAI(base_url=f"{server.url}/v1", api_key="none")
        for turn in STORY:
            asked["input"].append(responses_message(turn))
            for answer in turn.answers:
                last = {**asked, "input": list(asked["input"])}
                response = answered(client, asked, stream=stream)
                asked["input"] += response["output"]
                for call in answer.calls:
                    output = output_of(lambda call=call: run_tool(call.name))
                    item = {"type": "function_call_output", "call_id": call.call_id, "output": output}
                    asked["input"].append(item)
    return last, response


PROVIDED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
"""Items of tools that the provider runs, as a response has them."""


def with_tools_of_the_provider() -> dict[str, Any]:
    """A request that the provider answers with its own tools."""
    asked: dict[str, Any] = {"model": MODEL, "input": "M30user What does it cost?"}
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_764_000_000,
        "status": "completed",
        "model": MODEL,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": PROVIDED,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    with ModelServer([Answer(body=body)]) as server:
        response = OpenAI(base_url=f"{server.url}/v1", api_key="none").responses.create(**asked)
    return {"request": asked, "response": response.model_dump(mode="json")}


def main() -> None:
    """Write the files."""
    produced = Produced(folder=target_folder(__file__), tool="openai (Responses)", packages=("openai",))
    # Outputs do not say that a tool failed; of the answer that was cut the items say that it is incomplete.
    pieces = standard_pieces(cut="incomplete", failures_marked=False)
    asked, response = conversation(stream=False)
    produced.write_json("items.json", [*asked["input"], *response["output"]])
    produced.add("items.json", "list of items", [case(pieces[1:])])
    produced.write_lines("logged.jsonl", [{"request": asked, "response": response}])
    produced.add("logged.jsonl", "logged request and response", [case(pieces)])
    asked, response = conversation(stream=True)
    produced.write_lines("streamed.jsonl", [{**response, "input": asked["input"]}])
    produced.add("streamed.jsonl", "input and accumulated stream", [case(pieces)])
    cut = standard_pieces(cut="max_output_tokens", failures_marked=False)
    last = [one["marker"] for one in cut].index("M15user")
    length = next(index for index, item in enumerate(asked["input"]) if item.get("content") == STORY[-1].user)
    items = asked["input"][:length]
    row = {"instructions": SYSTEM, "input": items[:-1], "output": items[-1:], "object": "response"}
    row |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    produced.write_lines("cut.jsonl", [row])
    produced.add("cut.jsonl", "response that was cut", [case(cut[:last])])
    produced.write_lines("provided.jsonl", [with_tools_of_the_provider()])
    produced.add("provided.jsonl", "tools of the provider")
    produced.write()


main()
