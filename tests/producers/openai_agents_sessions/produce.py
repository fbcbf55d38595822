"""OpenAI's agents SDK: input lists, rows of a session in SQLite, the state of a run that waits for a person.

An agent `desk` that hands over to `billing`, run against a local server. Its traces are another producer's.
"""

import asyncio
import csv
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents import Agent, FunctionTool, Runner, RunResult, SQLiteSession, set_tracing_disabled
from agents.models.openai_responses import OpenAIResponsesModel
from agents.tool_context import ToolContext
from openai import AsyncOpenAI

from chat_story import output_of, responses_message
from model_server import ModelServer
from story import (
    DESCRIPTIONS,
    STORY,
    SYSTEM,
    TOOLS,
    Answer,
    Produced,
    ToolUse,
    Turn,
    run_tool,
    target_folder,
)

# The SDK raises for an answer that was cut, and for a refusal.
TURNS = tuple(replace(turn, answers=tuple(replace(one, end="stop") for one in turn.answers)) for turn in STORY[:-1])
PARAMETERS = {
    "type": "object",
    "properties": {"order": {"type": "string"}},
    "required": ["order"],
    "additionalProperties": False,
}
HANDOVER = ToolUse(
    name="transfer_to_billing",
    call_id="call_M21id",
    call="{}",
    arguments={},
    result="",
    output="",
)
APPROVE = ToolUse(
    name="approve_M24tool",
    call_id="call_M24id",
    call="M24call",
    arguments={"order": "M24call"},
    result="",
    output="",
)
MORE = (
    Turn(
        user="M20user Ask the others.",
        answers=(Answer(calls=(HANDOVER,)), Answer(text="M23text Approve?", calls=(APPROVE,))),
    ),
)


def tool(used: ToolUse, *, approved: bool = True) -> FunctionTool:
    """A tool of the story."""

    async def called(_context: ToolContext[Any], _arguments: str) -> str:
        return output_of(lambda: run_tool(used.name))

    return FunctionTool(
        name=used.name,
        description=DESCRIPTIONS.get(used.name, "A tool of the shop."),
        params_json_schema=PARAMETERS,
        on_invoke_tool=called,
        needs_approval=not approved,
    )


def agent(url: str) -> Agent[Any]:
    """The desk, which can hand over to billing."""
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none")
    model = OpenAIResponsesModel(model="gpt-6-sol", openai_client=client)
    billing = Agent(name="billing", instructions=SYSTEM, model=model, tools=[tool(APPROVE, approved=False)])
    return Agent(name="desk", instructions=SYSTEM, model=model, tools=[tool(one) for one in TOOLS], handoffs=[billing])


async def conversation(turns: tuple[Turn, ...], session: SQLiteSession | None) -> RunResult:
    """The result of the last turn."""
    result: RunResult | None = None
    with ModelServer(answer for turn in turns for answer in turn.answers) as server:
        desk = agent(server.url)
        for turn in turns:
            before = [] if session is not None or result is None else result.to_input_list()
            result = await Runner.run(desk, [*before, responses_message(turn)], session=session)
    assert result is not None
    return result


def rows(database: Path) -> list[dict[str, Any]]:
    """The table of messages."""
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    with connection:
        return [dict(one) for one in connection.execute("SELECT * FROM agent_messages")]


async def write(produced: Produced) -> None:
    """Write the files."""
    result = await conversation(TURNS, None)
    produced.write_json("input_list.json", result.to_input_list())
    produced.add("input_list.json", "input list")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        first, second = SQLiteSession("one", path), SQLiteSession("two", path)
        await conversation(TURNS, first)
        waiting = await conversation(MORE, second)
        first.close()
        second.close()
        found = rows(path)
    produced.write_lines("session.jsonl", found)
    with (produced.folder / "session.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(found[0]))
        table.writeheader()
        table.writerows(reversed(found))
    produced.add("session.jsonl", "rows of two sessions")
    produced.add("session.csv", "rows of two sessions, in another order")
    produced.write_json("state.json", waiting.to_state().to_json())
    produced.add("state.json", "state of a run that waits for a person")
    produced.write()


if __name__ == "__main__":
    set_tracing_disabled(disabled=True)
    asyncio.run(
        write(
            Produced(
                folder=target_folder(__file__), tool="openai-agents (sessions)", packages=("openai-agents", "openai")
            )
        )
    )
