"""The Google Gen AI SDK: histories of chats, logged responses, automatic function calls, the provider's tools."""

import json
from pathlib import Path
from typing import Any

from google import genai
from google.genai import types

from model_server import ModelServer
from story import (
    DESCRIPTIONS,
    LOOK_UP,
    REFUND,
    STORY,
    SYSTEM,
    TOOLS,
    Answer,
    Produced,
    ToolFailed,
    ToolUse,
    Turn,
    case,
    run_tool,
    standard_pieces,
    target_folder,
)

MODEL = "gemini-3-flash"
PARAMETERS = {"type": "OBJECT", "properties": {"order": {"type": "STRING"}}}
DECLARED = [
    types.FunctionDeclaration.model_validate(
        {"name": tool.name, "description": DESCRIPTIONS[tool.name], "parameters": PARAMETERS}
    )
    for tool in TOOLS
]
CONFIG = types.GenerateContentConfig(
    system_instruction=SYSTEM,
    tools=[types.Tool(function_declarations=DECLARED)],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


def client_of(server: ModelServer) -> genai.Client:
    return genai.Client(api_key="none", http_options=types.HttpOptions(base_url=server.url))


def user_parts(turn: Turn) -> list[types.Part]:
    """A text, or a text and a picture."""
    parts = [types.Part(text=turn.user)]
    if turn.picture is not None:
        parts.append(types.Part.from_bytes(data=turn.picture, mime_type="image/png"))
    return parts


def response_part(call: ToolUse) -> types.Part:
    """A tool's result."""
    try:
        response = {"output": run_tool(call.name)}
    except ToolFailed as error:
        response = {"error": str(error)}
    return types.Part(function_response=types.FunctionResponse(id=call.call_id, name=call.name, response=response))


def dumped(value: Any, **options: Any) -> Any:
    return value.model_dump(mode="json", **options)


def chat(*, stream: bool) -> tuple[list[types.Content], list[types.Content], Any]:
    """The history of a chat, the contents of its last request, and the last response."""
    with ModelServer() as server:
        client = client_of(server)
        found = client.chats.create(model=MODEL, config=CONFIG)
        asked: list[types.Content] = []
        response: Any = None
        for turn in STORY:
            parts = user_parts(turn)
            for answer in turn.answers:
                asked = [*found.get_history(), types.Content(role="user", parts=parts)]
                if stream:
                    *_, response = found.send_message_stream(parts)
                else:
                    response = found.send_message(parts)
                parts = [response_part(call) for call in answer.calls]
        return found.get_history(), asked, response


def look_up(order: str) -> str:
    """A tool of the shop."""
    return run_tool(LOOK_UP.name)


def refund(order: str) -> dict[str, str]:
    """A tool of the shop. The SDK's own report of an exception would quote the arguments."""
    try:
        return {"output": run_tool(REFUND.name)}
    except ToolFailed as error:
        return {"error": str(error)}


def automatic() -> dict[str, Any]:
    """The first turn with functions that the SDK calls by itself."""
    look_up.__name__, refund.__name__ = LOOK_UP.name, REFUND.name
    config = types.GenerateContentConfig(system_instruction=SYSTEM, tools=[look_up, refund])
    (turn, *_) = STORY
    contents = [types.Content(role="user", parts=user_parts(turn))]
    with ModelServer(turn.answers) as server:
        client = client_of(server)
        response = client.models.generate_content(model=MODEL, contents=list(contents), config=config)
    asked = {"contents": [dumped(one) for one in contents], "config": {"system_instruction": SYSTEM}}
    return {"request": asked, "response": dumped(response)}


SCRIPTED: dict[str, Any] = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
"""An answer with the provider's tools and another candidate, and one that the provider blocked."""


def with_tools_of_the_provider() -> list[dict[str, Any]]:
    """A request with a file and the provider's tools, and one that the provider blocks."""
    rows = []
    video = types.Part.from_uri(file_uri="gs://shop/film.mp4", mime_type="video/mp4")
    contents = [types.Content(role="user", parts=[types.Part(text="M30user What does it cost?"), video])]
    with ModelServer([Answer(body=SCRIPTED["provided"]), Answer(body=SCRIPTED["blocked"])]) as server:
        client = client_of(server)
        for _ in range(2):
            response = client.models.generate_content(model=MODEL, contents=list(contents))
            asked = {"model": MODEL, "contents": [dumped(one, by_alias=True, exclude_none=True) for one in contents]}
            given = dumped(response, by_alias=True, exclude_none=True, exclude={"sdk_http_response"})
            rows.append({"request": asked, "response": given})
            contents = [types.Content(role="user", parts=[types.Part(text="M38user Attack them.")])]
    return rows


def main() -> None:
    """Write the files."""
    produced = Produced(folder=target_folder(__file__), tool="google-genai", packages=("google-genai",))
    # A history has neither the instructions nor why an answer ended.
    pieces = standard_pieces(cut=None, refusals="assistant")
    history, asked, response = chat(stream=False)
    produced.write_json("history.json", [dumped(one) for one in history])
    produced.add("history.json", "history of a chat", [case(pieces[1:])])
    config = {"system_instruction": SYSTEM}
    row = {"model": MODEL, "contents": [dumped(one) for one in asked], "config": config}
    produced.write_lines("logged.jsonl", [{"request": row, "response": dumped(response)}])
    produced.add("logged.jsonl", "logged request and response", [case(pieces)])
    history, _, _ = chat(stream=True)
    produced.write_json("streamed.json", [dumped(one, by_alias=True, exclude_none=True) for one in history])
    produced.add("streamed.json", "history of a streamed chat", [case(pieces[1:])])
    produced.write_lines("automatic.jsonl", [automatic()])
    # The SDK wraps what a function returns, so that its error is no error of the protocol.
    unmarked = standard_pieces(cut=None, refusals="assistant", failures_marked=False)
    first = unmarked[: [one["marker"] for one in unmarked].index("M10user")]
    produced.add("automatic.jsonl", "response with automatic function calls", [case(first)])
    produced.write_lines("provided.jsonl", with_tools_of_the_provider())
    produced.add("provided.jsonl", "tools of the provider")
    produced.write()


main()
