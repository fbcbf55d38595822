"""The story as an agent of LangChain, of whose tools one fails; for every tool that traces LangChain.

Needs `langchain` and `langchain-openai` in the script's environment.
"""

import base64
from collections.abc import Callable, Iterable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import create_model

from story import DESCRIPTIONS, STORY, SYSTEM, TOOLS, ToolFailed, ToolUse, Turn, run_tool


def _tool(use: ToolUse) -> BaseTool:
    def run(order: str) -> str:
        assert order == use.arguments["order"]
        return run_tool(use.name)

    return StructuredTool.from_function(
        run, name=use.name, description=DESCRIPTIONS[use.name], args_schema=create_model("Arguments", order=(str, ...))
    )


@wrap_tool_call
def _failure_as_message(request: Any, handler: Callable[[Any], Any]) -> Any:
    """A tool that raises answers its call with a message of status `error`."""
    try:
        return handler(request)
    except ToolFailed as error:
        return ToolMessage(
            content=str(error),
            name=request.tool_call["name"],
            tool_call_id=request.tool_call["id"],
            status="error",
        )


def agent_of(url: str) -> Any:
    """An agent whose model answers at `url` (a `ModelServer`'s)."""
    model = ChatOpenAI(model="gpt-5-mini", base_url=f"{url}/v1", api_key="none", stream_usage=False)
    return create_agent(model, [_tool(use) for use in TOOLS], system_prompt=SYSTEM, middleware=[_failure_as_message])


def asked(turn: Turn) -> dict[str, Any]:
    """The user's message: a text, or a text and a picture."""
    if turn.picture is None:
        return {"role": "user", "content": turn.user}
    url = "data:image/png;base64," + base64.b64encode(turn.picture).decode()
    return {
        "role": "user",
        "content": [{"type": "text", "text": turn.user}, {"type": "image_url", "image_url": {"url": url}}],
    }


def run_turns(agent: Any, turns: Iterable[Turn] = STORY) -> list[Any]:
    """Run turns, each with the messages so far; returns all messages."""
    messages: list[Any] = []
    for turn in turns:
        messages = agent.invoke({"messages": [*messages, asked(turn)]})["messages"]
    return messages
