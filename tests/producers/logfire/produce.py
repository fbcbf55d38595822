"""Pydantic Logfire: its instrumentations of the OpenAI SDK, the OpenAI Agents SDK, and Pydantic AI."""

import asyncio
import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import logfire
from agents import Agent as SdkAgent
from agents import OpenAIResponsesModel, Runner, Tool, function_tool
from agents.exceptions import ModelRefusalError
from openai import AsyncOpenAI, OpenAI
from pydantic_ai import Agent, BinaryContent, ModelRetry
from pydantic_ai import Tool as PydanticTool
from pydantic_ai.exceptions import ContentFilterError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from chat_story import converse
from model_server import ModelServer
from otlp_file import Telemetry
from story import (
    ANSWERS,
    DESCRIPTIONS,
    STORY,
    SYSTEM,
    TOOLS,
    Answer,
    Produced,
    ToolFailed,
    ToolUse,
    case,
    not_shown,
    piece,
    run_tool,
    standard_pieces,
    target_folder,
)

Run = Callable[[str], None]
HAND_OVER = ToolUse(
    name="transfer_to_refunds",
    call_id="call_M21id",
    call="M21call",
    arguments={"reason": "M21call"},
    result="M22result",
    output="M22result",
)
HANDOVER = (
    Answer(text="M20text I pass you on.", calls=(HAND_OVER,)),
    Answer(text="M23answer The refund is on its way."),
)


def with_openai(url: str) -> None:
    """The story through the OpenAI SDK."""
    client = OpenAI(base_url=f"{url}/v1", api_key="none")
    with logfire.instrument_openai(client):
        converse(client)


def sdk_model(url: str) -> OpenAIResponsesModel:
    """A model of the Agents SDK."""
    return OpenAIResponsesModel("gpt-5-mini", AsyncOpenAI(base_url=f"{url}/v1", api_key="none"))


def sdk_tool(tool: ToolUse) -> Tool:
    """A tool whose failure is its result."""

    def function(order: str) -> str:
        return run_tool(tool.name)

    return function_tool(
        function,
        name_override=tool.name,
        description_override=DESCRIPTIONS[tool.name],
        failure_error_function=lambda _context, error: str(error),
    )


def with_agents(url: str) -> None:
    """The story through the Agents SDK. A refusal is an exception there."""
    agent = SdkAgent(name="Shop", instructions=SYSTEM, model=sdk_model(url), tools=[sdk_tool(one) for one in TOOLS])

    async def talk() -> None:
        items: list[Any] = []
        for turn in STORY:
            content: list[Any] = [{"type": "input_text", "text": turn.user}]
            if turn.picture is not None:
                data = "data:image/png;base64," + base64.b64encode(turn.picture).decode()
                content.append({"type": "input_image", "image_url": data, "detail": "auto"})
            items.append({"role": "user", "content": content})
            try:
                items = (await Runner.run(agent, items)).to_input_list()
            except ModelRefusalError:
                continue

    asyncio.run(talk())


def with_handoff(url: str) -> None:
    """An agent of the Agents SDK that hands over to another."""
    refunds = SdkAgent(name="refunds", instructions="M24system You refund.", model=sdk_model(url))
    front = SdkAgent(name="front", instructions="M18system You pass on.", model=sdk_model(url), handoffs=[refunds])
    asyncio.run(Runner.run(front, "M19user Refund my order."))


def with_pydantic_ai(url: str) -> None:
    """The story through Pydantic AI. A refusal is an exception there."""

    def tool(one: ToolUse) -> PydanticTool[None]:
        def function(order: str) -> str:
            try:
                return run_tool(one.name)
            except ToolFailed as error:
                raise ModelRetry(str(error)) from error

        return PydanticTool(function, name=one.name, description=DESCRIPTIONS[one.name])

    model = OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))
    agent = Agent(model, system_prompt=SYSTEM, name="shop_agent", tools=[tool(one) for one in TOOLS])
    history: Any = None
    for turn in STORY:
        asked: list[Any] = [turn.user]
        if turn.picture is not None:
            asked.append(BinaryContent(turn.picture, media_type="image/png"))
        try:
            history = agent.run_sync(asked, message_history=history).all_messages()
        except ContentFilterError:
            continue


NO_REFUSAL = not_shown(None, "message without content", "The messages of the span lack the refusal.")
FILES: dict[str, tuple[Run, tuple[Answer, ...], dict[str, Any] | None]] = {
    "openai.jsonl": (
        with_openai,
        ANSWERS,
        case(standard_pieces(without=("reasoning", "refusal"), failures_marked=False), [NO_REFUSAL]),
    ),
    # The Agents SDK ends a run by an exception if an answer is cut.
    "agents.jsonl": (
        with_agents,
        tuple(replace(one, end="stop") for one in ANSWERS),
        case(standard_pieces(cut=None), error="M16refusal"),
    ),
    "handoff.jsonl": (with_handoff, HANDOVER, None),
    "pydantic_ai.jsonl": (
        with_pydantic_ai,
        ANSWERS,
        case(
            [*standard_pieces(without=("refusal",)), piece("content_filter", "event")],
            [NO_REFUSAL],
            error="M16refusal",
        ),
    ),
}


def main() -> None:
    """Write the files."""
    packages = ("logfire", "openai", "openai-agents", "pydantic-ai-slim")
    produced = Produced(folder=target_folder(__file__), tool="logfire", packages=packages)
    telemetry = Telemetry()
    logfire.configure(
        send_to_logfire=False, console=False, service_name="shop", additional_span_processors=[telemetry.processor]
    )
    logfire.instrument_openai_agents()
    logfire.instrument_pydantic_ai()
    for file, (run, answers, happened) in FILES.items():
        with ModelServer(answers) as server, logfire.span("conversation"):
            run(server.url)
        logfire.force_flush()
        telemetry.write(produced.folder / file)
        produced.add(file, "OTLP as JSON", happened and [happened])
    produced.write()


main()
