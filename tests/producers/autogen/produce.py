"""AutoGen's AgentChat: the result of an agent with tools and its saved state, with a replayed model; and its spans."""

import asyncio
from pathlib import Path
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.models.replay import ReplayChatCompletionClient
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

from asked_twice import ANSWERS, REQUESTS, USES, output_of, pieces
from model_server import ModelServer
from otlp_file import Telemetry
from story import LOOK_UP, REFUND, SYSTEM, Produced, ToolFailed, ToolUse, case, target_folder

INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}


def tool(name: str) -> FunctionTool:
    def run(order: str) -> str:
        try:
            return output_of(order)
        except ToolFailed as error:
            raise ValueError(str(error)) from error

    return FunctionTool(run, name=name, description="A tool of the shop.")


def agent(model: ChatCompletionClient, system: str, **settings: Any) -> AssistantAgent:
    tools = [tool(name) for name in sorted({use.name for use in USES})]
    return AssistantAgent("shop", model, tools=tools, system_message=system, **settings)


def answer(content: Any, thought: str | None = None) -> CreateResult:
    usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
    reason = "stop" if isinstance(content, str) else "function_calls"
    return CreateResult(finish_reason=reason, content=content, usage=usage, cached=False, thought=thought)


def call(use: ToolUse) -> FunctionCall:
    return FunctionCall(id=use.call_id, name=use.name, arguments=f'{{"order": "{use.call}"}}')


async def replayed(produced: Produced) -> None:
    """One task: what it returns, and the state that is saved after it."""
    answers = [
        answer([call(LOOK_UP), call(REFUND)], "M03reasoning First the order."),
        answer("M09answer The refund failed."),
    ]
    model = ReplayChatCompletionClient(answers, model_info=INFO)
    shop = agent(model, "You serve the customers of a shop.", reflect_on_tool_use=True)
    result = await shop.run(task=REQUESTS[0])
    produced.write_json("result.json", result.model_dump(mode="json"))
    produced.add("result.json", "result of a task")
    produced.write_json("state.json", await shop.save_state())
    produced.add("state.json", "saved state of an agent")


async def traced(path: Path) -> None:
    """The whole story, by an agent that keeps the conversation."""
    telemetry = Telemetry()
    AutogenAgentChatInstrumentor().instrument(tracer_provider=telemetry.tracers)
    with ModelServer(answer for answers in ANSWERS for answer in answers) as server, telemetry.conversation():
        url = f"{server.url}/v1"
        model = OpenAIChatCompletionClient(model="gpt-5-mini", base_url=url, api_key="none", model_info=INFO)
        shop = agent(model, SYSTEM, max_tool_iterations=5)
        for request in REQUESTS:
            await shop.run(task=request)
    telemetry.write(path)


async def main() -> None:
    """Write the files."""
    packages = ("autogen-agentchat", "autogen-ext", "openinference-instrumentation-autogen-agentchat")
    produced = Produced(folder=target_folder(__file__), tool="AutoGen (AgentChat)", packages=packages)
    await replayed(produced)
    await traced(produced.folder / "spans.jsonl")
    happened = [{**one, "kind": "reasoning"} if one["marker"] == "M04text" else one for one in pieces(reasoning=False)]
    produced.add("spans.jsonl", "OpenInference spans, OTLP", [case(happened)])
    produced.write()


if __name__ == "__main__":
    asyncio.run(main())
