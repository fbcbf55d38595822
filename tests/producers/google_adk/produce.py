"""Google ADK: sessions, events, rows of its database services, sets and results of evaluations.

An agent `desk` with a sub-agent `billing`, run against a local Gemini. Beside the story: a handover, a tool that
answers later, a change of the session's state, an answer that the provider blocked.
"""

import asyncio
import csv
import json
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.cli.utils.evals import convert_session_to_eval_invocations
from google.adk.evaluation.eval_case import EvalCase
from google.adk.evaluation.eval_metrics import EvalMetricResult, EvalMetricResultPerInvocation, EvalStatus
from google.adk.evaluation.eval_result import EvalCaseResult, EvalSetResult
from google.adk.evaluation.eval_set import EvalSet
from google.adk.events.event import Event
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.genai import types

from model_server import ModelServer
from story import (
    LOOK_UP,
    REFUND,
    SHIP,
    STORY,
    SYSTEM,
    Answer,
    Produced,
    ToolFailed,
    ToolUse,
    Turn,
    run_tool,
    target_folder,
)

APP, USER = "shop", "user"
TRANSFER = ToolUse(
    name="transfer_to_agent",
    call_id="call_M21id",
    call="M21call",
    arguments={"agent_name": "billing", "transfer_reason": "M21call"},
    result="null",
    output="null",
)
APPROVE = ToolUse(
    name="approve_M24tool",
    call_id="call_M24id",
    call="M24call",
    arguments={"order": "M24call"},
    result="M25result",
    output="M25result waits for a person",
)
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "M29blocked Not this."}}
MORE = (
    Turn(
        user="M20user Ask the others.",
        answers=(
            Answer(calls=(TRANSFER,)),
            Answer(text="M22text I am billing.", calls=(APPROVE,)),
            Answer(text="M27text Wait for a person, please."),
        ),
    ),
    Turn(user="M28user And now?", answers=(Answer(body=BLOCKED),)),
)


def look_up(order: str, tool_context: ToolContext) -> dict[str, str]:
    """A tool of the shop."""
    tool_context.state["looked_up"] = "M17state"
    return {"result": run_tool(LOOK_UP.name)}


def refund(order: str) -> dict[str, str]:
    """A tool of the shop."""
    try:
        return {"result": run_tool(REFUND.name)}
    except ToolFailed as error:
        return {"error": str(error)}


def ship(order: str) -> dict[str, str]:
    """A tool of the shop."""
    return {"result": run_tool(SHIP.name)}


def approve(order: str) -> dict[str, str]:
    """A tool that answers later."""
    return {"result": APPROVE.output}


def named(function: Any, tool: ToolUse) -> Any:
    function.__name__ = tool.name
    return function


def agent(url: str) -> LlmAgent:
    """The desk, with billing below it."""
    model = Gemini(model="gemini-3-flash", base_url=url)
    waiting = LongRunningFunctionTool(named(approve, APPROVE))
    billing = LlmAgent(name="billing", description="Bills.", instruction=SYSTEM, model=model, tools=[waiting])
    tools = [named(look_up, LOOK_UP), named(refund, REFUND), named(ship, SHIP)]
    return LlmAgent(name="desk", instruction=SYSTEM, model=model, tools=tools, sub_agents=[billing])


def message(turn: Turn) -> types.Content:
    """What the user sends."""
    parts = [types.Part(text=turn.user)]
    if turn.picture is not None:
        parts.append(types.Part(inline_data=types.Blob(data=turn.picture, mime_type="image/png")))
    return types.Content(role="user", parts=parts)


@dataclass(frozen=True)
class Run:
    """A session as its service keeps it, and the events that the run gave while it was running."""

    session: Session
    events: list[Event]


async def run(
    service: BaseSessionService, turns: Iterable[Turn], *, session_id: str = "session", stream: bool = False
) -> Run:
    """A session of some turns."""
    listed = list(turns)
    events = []
    with ModelServer(answer for turn in listed for answer in turn.answers) as server:
        runner = Runner(app_name=APP, agent=agent(server.url), session_service=service)
        await service.create_session(app_name=APP, user_id=USER, session_id=session_id)
        config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
        for turn in listed:
            given: AsyncIterator[Event] = runner.run_async(
                user_id=USER,
                session_id=session_id,
                new_message=message(turn),
                run_config=config,
                yield_user_message=True,
            )
            events += [event async for event in given]
    session = await service.get_session(app_name=APP, user_id=USER, session_id=session_id)
    assert session is not None
    return Run(session, events)


def rows(database: Path) -> list[dict[str, Any]]:
    """The table of events."""
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    with connection:
        return [dict(one) for one in connection.execute("SELECT * FROM events ORDER BY timestamp")]


def dumped(value: Any, **options: Any) -> Any:
    return json.loads(value.model_dump_json(**options))


async def write_sessions(produced: Produced) -> Session:
    """Sessions as commands save them and as a program dumps them, lists of events, and a stream of events."""
    found = await run(InMemorySessionService(), (*STORY, *MORE))
    # As `adk run --save_session` and the page of `adk web` write it.
    saved = dumped(found.session, exclude_none=True, by_alias=True)
    produced.write_json("saved.session.json", saved)
    produced.add("saved.session.json", "saved session")
    produced.write_lines("sessions.jsonl", [dumped(found.session)])
    produced.add("sessions.jsonl", "dumped session, a line each")
    produced.write_json("events.json", [dumped(one) for one in found.session.events])
    produced.add("events.json", "list of events")
    streamed = await run(InMemorySessionService(), (*STORY, *MORE), stream=True)
    # As `adk run --jsonl` writes them: fragments of an answer, then the answer.
    produced.write_lines("streamed.jsonl", [dumped(one, exclude_none=True, by_alias=True) for one in streamed.events])
    produced.add("streamed.jsonl", "events of a streamed run, a line each")
    return found.session


async def write_databases(produced: Produced) -> None:
    """The table of events of both database services, each with two sessions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        database = DatabaseSessionService(f"sqlite+aiosqlite:///{path}")
        await run(database, STORY, session_id="one")
        await run(database, MORE, session_id="two")
        await database.close()
        found = rows(path)
        produced.write_lines("database.jsonl", found)
        path = Path(folder) / "own.db"
        await run(SqliteSessionService(str(path)), STORY, session_id="one")
        await run(SqliteSessionService(str(path)), MORE, session_id="two")
        found = rows(path)
    with (produced.folder / "sqlite.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(found[0]))
        table.writeheader()
        table.writerows(found)
    produced.add("database.jsonl", "table of events of DatabaseSessionService")
    produced.add("sqlite.csv", "table of events of SqliteSessionService")


def write_evaluations(produced: Produced, session: Session) -> None:
    """A set of cases made of a session, as `adk web` adds it, and a result with the session."""
    invocations = convert_session_to_eval_invocations(session)
    cases = [EvalCase(eval_id="case", conversation=invocations)]
    produced.write_json("shop.evalset.json", dumped(EvalSet(eval_set_id="shop", eval_cases=cases)))
    # Invocations keep neither changes of the state nor ends of answers, handovers and errors.
    produced.add("shop.evalset.json", "set of cases of an evaluation")
    result = EvalMetricResult(
        metric_name="response_match_score", threshold=0.8, score=0.5, eval_status=EvalStatus.FAILED
    )
    one = EvalCaseResult(
        eval_set_id="shop",
        eval_id="case",
        final_eval_status=EvalStatus.FAILED,
        overall_eval_metric_results=[result],
        eval_metric_result_per_invocation=[
            EvalMetricResultPerInvocation(actual_invocation=invocations[0], eval_metric_results=[result])
        ],
        session_id=session.id,
        session_details=session,
        user_id=USER,
    )
    results = EvalSetResult(eval_set_result_id="shop_1", eval_set_id="shop", eval_case_results=[one])
    produced.write_json("shop.evalset_result.json", dumped(results))
    produced.add("shop.evalset_result.json", "results of an evaluation")


async def write(produced: Produced) -> None:
    """Write the files."""
    session = await write_sessions(produced)
    await write_databases(produced)
    write_evaluations(produced, session)
    produced.write()


if __name__ == "__main__":
    import os

    os.environ["GOOGLE_API_KEY"] = "none"
    asyncio.run(
        write(Produced(folder=target_folder(__file__), tool="google-adk", packages=("google-adk", "google-genai")))
    )
