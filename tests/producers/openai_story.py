"""The story as a program around the OpenAI SDK's chat completions, for every tool that traces the SDK."""

from collections.abc import Callable
from typing import Any

from openai import OpenAI

from chat_story import MODEL, TOOL_LIST, tool_messages, user_message
from story import STORY, SYSTEM


def run_story(base_url: str, run: Callable[[str, str], str]) -> list[Any]:
    """Run all turns.

    Args:
        base_url: of OpenAI's interface.
        run: runs a tool by its name with its order, and returns its output; a ToolFailed is the output of its call.

    Returns:
        all messages.
    """
    client = OpenAI(base_url=base_url, api_key="none")
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    for turn in STORY:
        messages.append(user_message(turn))
        for answer in turn.answers:
            completion = client.chat.completions.create(model=MODEL, messages=list(messages), tools=TOOL_LIST)
            messages.append(completion.choices[0].message.model_dump(mode="json", exclude_none=True))
            messages += tool_messages(answer, lambda call: run(call.name, str(call.arguments["order"])))
    return messages
