"""pydantic-ai: the messages of an agent's runs, with the models of OpenAI (chat, Responses) and Anthropic."""

import json
import sys
from pathlib import Path
from typing import Any

from model_server import ModelServer
from story import (
    STORY,
    SYSTEM,
    TOOLS,
    Answer,
    Produced,
    ToolUse,
    Turn,
    target_folder,
)

# A folder beside this one has the name of a library (logfire) that pydantic-ai would import from there.
sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parents[1]]

from anthropic import AsyncAnthropic  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402
from pydantic_ai import (  # noqa: E402
    Agent,
    BinaryContent,
    ModelMessagesTypeAdapter,
    ModelRetry,
    ToolReturn,
    capture_run_messages,
)
from pydantic_ai.capabilities import NativeTool  # noqa: E402
from pydantic_ai.exceptions import ContentFilterError  # noqa: E402
from pydantic_ai.models import Model  # noqa: E402
from pydantic_ai.models.anthropic import AnthropicModel  # noqa: E402
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel  # noqa: E402
from pydantic_ai.native_tools import WebSearchTool  # noqa: E402
from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: E402
from pydantic_ai.providers.openai import OpenAIProvider  # noqa: E402

INSTRUCTIONS = "M20instructions Be brief."
SEARCHED = "M22user What do others say?"
UNKNOWN = ToolUse(
    name="delete_M31tool",
    call_id="call_M31id",
    call="M31call",
    arguments={"order": "M31call"},
    result="delete_M31tool",
    output="",
    error=True,
)


def model_of(kind: str, url: str) -> Model:
    """A model that asks the local server."""
    if kind == "anthropic":
        asked = AsyncAnthropic(base_url=url, api_key="none", max_retries=0)
        return AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(anthropic_client=asked))
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    made = OpenAIChatModel if kind == "chat" else OpenAIResponsesModel
    return made("gpt-5-mini", provider=OpenAIProvider(openai_client=client))


def searched_by_anthropic() -> list[dict[str, Any]]:
    """A streamed message with a search that the provider ran, and one that failed."""
    found = {
        "type": "web_search_result",
        "url": "https://example.org",
        "title": "M24result",
        "encrypted_content": "eA==",
    }
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    blocks: list[tuple[dict[str, Any], dict[str, Any] | None]] = [
        *searched("srv_M23id", "M23call", [found]),
        *searched("srv_M25id", "M25call", failed),
        ({"type": "text", "text": ""}, {"type": "text_delta", "text": "M27answer They like it."}),
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_9", "type": "message", "role": "assistant", "model": "m", "usage": usage, "content": []}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}
    ]
    for index, (block, delta) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        if delta is not None:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]


def searched(call_id: str, query: str, content: Any) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """The blocks of a search, each with what is streamed of it."""
    used = {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {}}
    arguments = {"type": "input_json_delta", "partial_json": json.dumps({"query": query})}
    return [(used, arguments), ({"type": "web_search_tool_result", "tool_use_id": call_id, "content": content}, None)]


def searched_by_openai() -> dict[str, Any]:
    """A response with tools that the provider ran: a search, and code."""
    action = {"type": "search", "query": "M23call"}
    code = {"code": "print('M25call')", "container_id": "cntr_1", "outputs": [{"type": "logs", "logs": "M26result"}]}
    text = {"type": "output_text", "text": "M27answer They like it.", "annotations": []}
    output = [
        {"id": "ws_M23id", "type": "web_search_call", "status": "completed", "action": action},
        {"id": "ci_M25id", "type": "code_interpreter_call", "status": "completed", **code},
        {"id": "msg_9", "type": "message", "role": "assistant", "status": "completed", "content": [text]},
    ]
    more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}, "error": None}
    base = {"id": "resp_9", "object": "response", "created_at": 1, "status": "completed", "model": "m"}
    return {**base, "output": output, **more}


MORE: dict[str, tuple[Turn, ...]] = {
    "chat": (
        Turn(
            user="M30user Delete it.", answers=(Answer(calls=(UNKNOWN,)), Answer(text="M32answer I have no such tool."))
        ),
    ),
    "responses": (Turn(user=SEARCHED, answers=(Answer(body=searched_by_openai()),)),),
    "anthropic": (Turn(user=SEARCHED, answers=(Answer(body=searched_by_anthropic()),)),),
}
"""Before the last turn of the story, what only one model has, or a tool that does not exist."""


def run(kind: str) -> list[Any]:
    """The messages of the story, one run for each turn."""
    turns = (*STORY[:-1], *MORE[kind], STORY[-1])
    with ModelServer([answer for turn in turns for answer in turn.answers]) as server:
        agent = Agent(
            model_of(kind, server.url),
            system_prompt=SYSTEM,
            instructions=INSTRUCTIONS,
            name="shop",
            capabilities=[NativeTool(WebSearchTool())] if kind == "anthropic" else [],
        )
        for tool in TOOLS:

            def returned(order: str, tool: ToolUse = tool) -> Any:
                if tool.error:
                    raise ModelRetry(tool.output)
                kept = {"raw": "M21artifact"} if tool.name == "ship_M12tool" else None
                return ToolReturn(return_value=tool.output, metadata=kept)

            agent.tool_plain(name=tool.name)(returned)
        messages: list[Any] = []
        for turn in turns:
            prompt: Any = turn.user
            if turn.picture is not None:
                prompt = [turn.user, BinaryContent(turn.picture, media_type="image/png")]
            with capture_run_messages() as captured:
                try:
                    messages = agent.run_sync(prompt, message_history=messages).all_messages()
                except ContentFilterError:  # a refusal of OpenAI's; the messages have it
                    messages = list(captured)
    return messages


def main() -> None:
    """Write the files."""
    produced = Produced(folder=target_folder(__file__), tool="pydantic-ai", packages=("pydantic-ai-slim",))
    for kind in MORE:
        messages = json.loads(ModelMessagesTypeAdapter.dump_json(run(kind)))
        for message in messages:
            if "provider_url" in message:
                message["provider_url"] = "http://127.0.0.1/"  # the local server has another port each time
        produced.write_json(f"{kind}.json", messages)
        produced.add(f"{kind}.json", f"list of messages ({kind})")
        if kind == "chat":
            row = {"case_id": "order-1", "tags": ["shop"], "all_messages_json": json.dumps(messages)}
            produced.write_lines("rows.jsonl", [row])
            produced.add("rows.jsonl", "all_messages_json in a row")
    produced.write()


main()
