"""The story through the OpenAI SDK's chat completions, for tools that trace the SDK. Needs nothing but a client."""

import base64
from collections.abc import Callable
from typing import Any

from story import DESCRIPTIONS, STORY, SYSTEM, TOOLS, Answer, ToolFailed, ToolUse, Turn, run_tool

MODEL = "gpt-5-mini"
PARAMETERS = {"type": "object", "properties": {"order": {"type": "string"}}}
TOOL_LIST: list[Any] = [
    {
        "type": "function",
        "function": {"name": tool.name, "description": DESCRIPTIONS[tool.name], "parameters": PARAMETERS},
    }
    for tool in TOOLS
]


def user_message(turn: Turn) -> dict[str, Any]:
    """A text, or a text and a picture."""
    if turn.picture is None:
        return {"role": "user", "content": turn.user}
    url = "data:image/png;base64," + base64.b64encode(turn.picture).decode()
    picture = {"type": "image_url", "image_url": {"url": url}}
    return {"role": "user", "content": [{"type": "text", "text": turn.user}, picture]}


def responses_message(turn: Turn) -> dict[str, Any]:
    """The same in the form of OpenAI's Responses."""
    if turn.picture is None:
        return {"role": "user", "content": turn.user}
    url = "data:image/png;base64," + base64.b64encode(turn.picture).decode()
    parts = [{"type": "input_text", "text": turn.user}, {"type": "input_image", "image_url": url, "detail": "auto"}]
    return {"role": "user", "content": parts}


def tool_messages(answer: Answer, run: Callable[[ToolUse], str] = lambda call: run_tool(call.name)) -> list[Any]:
    """The messages with the results of an answer's calls; a ToolFailed is the output of its call."""
    return [
        {"role": "tool", "tool_call_id": call.call_id, "content": output_of(lambda call=call: run(call))}
        for call in answer.calls
    ]


def output_of(run: Callable[[], str]) -> str:
    """What a tool returns, or why it failed."""
    try:
        return run()
    except ToolFailed as error:
        return str(error)


def converse(client: Any) -> None:
    """Have the whole conversation; tools are run without a span of their own."""
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    for turn in STORY:
        messages.append(user_message(turn))
        for answer in turn.answers:
            completion = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOL_LIST)
            messages.append(completion.choices[0].message.model_dump(exclude_none=True))
            messages += tool_messages(answer)
