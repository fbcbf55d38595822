"""The OpenAI SDK, Responses: items that a program keeps, logged requests with their responses, the provider's tools."""

import base64
from typing import Any

from openai import OpenAI

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
    not_shown,
    picture,
    piece,
    run_tool,
    standard_pieces,
    target_folder,
)

MODEL = "gpt-6-sol"
PARAMETERS = {"type": "object", "properties": {"order": {"type": "string"}}}
TOOL_LIST: list[Any] = [
    {"type": "function", "name": tool.name, "description": DESCRIPTIONS[tool.name], "parameters": PARAMETERS}
    for tool in TOOLS
]


def user_message(turn: Turn) -> dict[str, Any]:
    """A text, or a text and a picture."""
    if turn.picture is None:
        return {"role": "user", "content": turn.user}
    url = "data:image/png;base64," + base64.b64encode(turn.picture).decode()
    parts = [{"type": "input_text", "text": turn.user}, {"type": "input_image", "image_url": url, "detail": "auto"}]
    return {"role": "user", "content": parts}


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
            asked["input"].append(user_message(turn))
            for answer in turn.answers:
                last = {**asked, "input": list(asked["input"])}
                response = answered(client, asked, stream=stream)
                asked["input"] += response["output"]
                for call in answer.calls:
                    try:
                        output = run_tool(call.name)
                    except ToolFailed as error:
                        output = str(error)
                    item = {"type": "function_call_output", "call_id": call.call_id, "output": output}
                    asked["input"].append(item)
    return last, response


def provided() -> list[dict[str, Any]]:
    """Items of tools that the provider runs, as a response has them."""
    pixel = base64.b64encode(picture("M48picture")).decode()
    cited = {
        "type": "url_citation",
        "url": "https://shop.example",
        "title": "M46cited",
        "start_index": 0,
        "end_index": 3,
    }
    text = {"type": "output_text", "text": "M47text It costs 5 EUR.", "annotations": [cited], "logprobs": []}
    failed = {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "M42failure"}]}
    return [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "M31reasoning Search it."}],
            "encrypted_content": "eA==",
        },
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "M32call"},
        },
        {
            "type": "file_search_call",
            "id": "fs_1",
            "status": "completed",
            "queries": ["M33call"],
            "results": [
                {"file_id": "file_1", "filename": "terms", "score": 0.5, "text": "M34result", "attributes": {}}
            ],
        },
        {
            "type": "code_interpreter_call",
            "id": "ci_1",
            "status": "completed",
            "code": "print('M35call')",
            "container_id": "cntr_1",
            "outputs": [{"type": "logs", "logs": "M36result"}],
        },
        {"type": "program", "id": "pr_1", "call_id": "program_1", "code": "await pay('M37call')", "fingerprint": "f"},
        {"type": "program_output", "id": "po_1", "call_id": "program_1", "result": "M38result", "status": "completed"},
        {
            "type": "mcp_list_tools",
            "id": "ml_1",
            "server_label": "bank",
            "tools": [{"name": "pay", "description": "M39listed", "input_schema": {}, "annotations": None}],
        },
        {"type": "mcp_list_tools", "id": "ml_2", "server_label": "post", "tools": [], "error": "M40unreachable"},
        {
            "type": "mcp_call",
            "id": "mc_1",
            "name": "pay",
            "server_label": "bank",
            "arguments": '{"order": "M41call"}',
            "status": "failed",
            "approval_request_id": "ma_1",
            "error": failed,
        },
        {
            "type": "mcp_approval_request",
            "id": "ma_2",
            "name": "pay",
            "server_label": "bank",
            "arguments": '{"order": "M43asked"}',
        },
        {
            "type": "image_generation_call",
            "id": "ig_1",
            "status": "completed",
            "revised_prompt": "M44call",
            "output_format": "png",
            "result": pixel,
        },
        {"type": "compaction", "id": "cp_1", "encrypted_content": "eA=="},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]},
    ]


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
        "output": provided(),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    with ModelServer([Answer(body=body)]) as server:
        response = OpenAI(base_url=f"{server.url}/v1", api_key="none").responses.create(**asked)
    return {"request": asked, "response": response.model_dump(mode="json")}


def happened_with_tools_of_the_provider() -> dict[str, Any]:
    """What happens in it."""
    return case(
        [
            piece("M30user", "user"),
            piece("M31reasoning", "reasoning"),
            piece("M32call", "call", name="web_search_call"),
            piece("M33call", "call", name="file_search_call"),
            piece("M34result", "result", name="file_search_call", call="M33call"),
            piece("M35call", "call", name="code_interpreter_call"),
            piece("M36result", "result", name="code_interpreter_call", call="M35call"),
            piece("M37call", "call", name="program"),
            piece("M38result", "result", name="program", call="M37call"),
            piece("M39listed", "event"),
            piece("M40unreachable", "event"),
            piece("M41call", "call", name="bank.pay"),
            piece("M42failure", "result", name="bank.pay", call="M41call", error=True),
            piece("M43asked", "event"),
            piece("M44call", "call", name="image_generation_call"),
            piece("M48picture", "attachment", call="M44call"),
            piece("M47text", "assistant"),
        ],
        [
            not_shown(None, "reasoning that the provider encrypted", "The provider encrypted it."),
            not_shown(None, "compaction that the provider encrypted", "The provider encrypted it."),
            not_shown("M46cited", "field annotations", "The places of sources in a text have no item of their own."),
        ],
    )


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
    produced.add("provided.jsonl", "tools of the provider", [happened_with_tools_of_the_provider()])
    produced.write()


main()
