"""LangGraph: an agent's thread as its state, its snapshots and checkpoint, and what it streams."""

import base64
import warnings
from typing import Any

from langchain_core.load import dumpd
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool, ToolException
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent

from model_server import ModelServer
from story import STORY, TOOLS, Produced, ToolUse, Turn, case, standard_pieces, target_folder

KEY: Any = "none"
THREAD: Any = {"configurable": {"thread_id": "thread-1"}}


def tool_of(tool: ToolUse) -> StructuredTool:
    """A tool of the story; a failure is given back to the model."""

    def returned(order: str) -> str:
        if tool.error:
            raise ToolException(tool.output)
        return tool.output

    return StructuredTool.from_function(returned, name=tool.name, description="A tool.", handle_tool_error=True)


def asked(turn: Turn) -> HumanMessage:
    """A text, or a text and a picture."""
    if turn.picture is None:
        return HumanMessage(turn.user)
    image = {"type": "image", "base64": base64.b64encode(turn.picture).decode(), "mime_type": "image/png"}
    return HumanMessage(content=[{"type": "text", "text": turn.user}, image])


def thread(*, stream: bool) -> tuple[Any, Any, list[Any]]:
    """The graph and its checkpoints after the story, and the parts of the first turn's stream."""
    saver = InMemorySaver()
    parts: list[Any] = []
    with ModelServer() as server:
        model = ChatOpenAI(model="gpt-5-mini", base_url=f"{server.url}/v1", api_key=KEY, use_responses_api=True)
        tools = [tool_of(tool) for tool in TOOLS]
        graph = create_react_agent(model, tools, checkpointer=saver, name="shop")
        for turn in STORY[:1] if stream else STORY:
            given: Any = {"messages": [asked(turn)]}
            if stream:
                parts += graph.stream(given, THREAD, stream_mode="messages")
            else:
                graph.invoke(given, THREAD)
    return graph, saver, parts


def main() -> None:
    """Write the files."""
    warnings.simplefilter("ignore")  # the prebuilt agent has moved to another package
    produced = Produced(
        folder=target_folder(__file__),
        tool="langgraph",
        packages=("langgraph", "langgraph-prebuilt", "langchain-openai"),
    )
    truth = case(standard_pieces(without={"system"}, cut="max_output_tokens", speaker="shop"))
    graph, saver, _ = thread(stream=False)
    snapshot = graph.get_state(THREAD)
    produced.write_lines("state.jsonl", [dumpd(snapshot.values)])
    produced.add("state.jsonl", "state of a graph", [truth])
    snapshots = [dumpd(one._asdict()) for one in graph.get_state_history(THREAD)]
    for result in (part for one in snapshots for task in one["tasks"] for part in task if isinstance(part, dict)):
        for message in result.get("messages", []):
            message["kwargs"].pop("id", None)  # a task's copy of a message has its id or not, by chance
    produced.write_lines("snapshots.jsonl", snapshots)
    produced.add("snapshots.jsonl", "history of snapshots, newest first", [truth])
    produced.write_json("checkpoint.json", dumpd(saver.get_tuple(THREAD)._asdict()))
    produced.add("checkpoint.json", "checkpoint tuple", [truth])
    _, _, parts = thread(stream=True)
    produced.write_lines("stream.jsonl", [dumpd(list(part)) for part in parts])
    # The stream has no name of the agent, and not what the user wrote.
    first = standard_pieces(without={"system", "M02user"})
    last = next(number for number, one in enumerate(first) if one["marker"] == "M09answer")
    produced.add("stream.jsonl", 'stream_mode="messages"', [case(first[: last + 1])])
    produced.write()


main()
