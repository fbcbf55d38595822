"""LangSmith: the runs that its client sends of a LangChain agent and of traced functions, and runs as it lists them."""

import email
import email.policy
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith import Client, traceable
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Run
from langsmith.wrappers import wrap_openai
from pyarrow import parquet

import openai_story
from langchain_story import agent_of, run_turns
from model_server import ModelServer
from scrubbed import scrubbed
from story import STORY, Produced, case, not_shown, run_tool, standard_pieces, target_folder

PROJECT = "00000000-0000-0000-0000-000000000001"
SERVER_SIDE = {"session_id": PROJECT, "app_path": "/o/r", "status": "success", "feedback_stats": None}
"""What LangSmith adds to a run."""
SCORES = {"M32score": {"n": 1, "avg": 0.5, "values": {}}}


def recorded(run: Callable[[str], Any], *, multipart: bool) -> list[dict[str, Any]]:
    """The runs that the client sends while `run` runs, with the URL of the server of models."""
    with ModelServer() as models, ModelServer([]) as platform:
        config = {
            "use_multipart_endpoint": multipart,
            "size_limit": 100,
            "size_limit_bytes": 1 << 24,
            "scale_up_qsize_trigger": 1000,
            "scale_up_nthreads_limit": 1,
            "scale_down_nempty_trigger": 4,
        }
        info = {"version": "0.13.0", "batch_ingest_config": config}
        client = Client(api_url=platform.url, api_key="none", info=info, auto_batch_tracing=True)
        with tracing_context(enabled=True, client=client, project_name="shop"):
            run(models.url)
        wait_for_all_tracers()
        client.flush()
        runs: dict[str, dict[str, Any]] = {}
        for request in platform.received("/runs/"):
            for one in _of_multipart(request) if "multipart" in request.path else _of_batch(request.body):
                runs.setdefault(one["id"], {}).update(one)
    for one in runs.values():
        one.get("extra", {}).pop("runtime", None)  # the machine and its packages
    return scrubbed(sorted(runs.values(), key=lambda one: one["dotted_order"]))


def _of_batch(body: Any) -> list[dict[str, Any]]:
    return [*body.get("post", ()), *body.get("patch", ())]


def _of_multipart(request: Any) -> list[dict[str, Any]]:
    """A part is a run (`post.ID`) or one of its fields (`post.ID.inputs`)."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    parts = email.message_from_bytes(head + request.content, policy=email.policy.HTTP)
    runs: dict[str, dict[str, Any]] = {}
    for part in parts.iter_parts():
        _, run_id, *field = str(part.get_param("name", header="content-disposition")).split(".")
        content = json.loads(part.get_payload(decode=True))
        runs.setdefault(run_id, {"id": run_id}).update({field[0]: content} if field else content)
    return list(runs.values())


def of_langchain(url: str) -> None:
    """A LangChain agent in a traced function."""
    traceable(lambda: run_turns(agent_of(url)) and None, name="session", run_type="chain")()


def of_openai(url: str) -> None:
    """Traced functions around the OpenAI SDK."""
    tools: dict[str, Callable[[str], str]] = {}

    def tool(name: str, order: str) -> str:
        if name not in tools:
            tools[name] = traceable(lambda order: run_tool(name), name=name, run_type="tool")
        return tools[name](order=order)

    def support(requests: list[str]) -> Any:
        openai_story.OpenAI = lambda **settings: wrap_openai(plain(**settings))
        try:
            return openai_story.run_story(f"{url}/v1", tool)[-1]["refusal"]
        finally:
            openai_story.OpenAI = plain

    plain = openai_story.OpenAI
    traceable(support, name="support", run_type="chain")(requests=[turn.user for turn in STORY])


def listed(run: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A run as `Client.list_runs` gives it."""
    return json.loads(Run.model_validate({**run, **SERVER_SIDE, **more}).model_dump_json(exclude_none=True))


def nested(runs: list[dict[str, Any]], root: dict[str, Any]) -> dict[str, Any]:
    """A run with its child runs, as `Client.read_run(load_child_runs=True)` gives it."""
    children = [nested(runs, one) for one in runs if one.get("parent_run_id") == root["id"]]
    return {**root, "child_runs": children}


def exported(run: dict[str, Any]) -> dict[str, Any]:
    """A row of a bulk export: objects are text."""
    texts = {name: json.dumps(run[name]) for name in ("inputs", "outputs", "extra", "events") if name in run}
    times = {name: datetime.fromisoformat(run[name]).replace(tzinfo=UTC) for name in ("start_time", "end_time")}
    row = {name: run.get(name) for name in ("id", "name", "run_type", "error", "trace_id", "dotted_order")}
    row |= {"parent_run_id": run.get("parent_run_id"), "is_root": not run.get("parent_run_id"), "status": "success"}
    scores = json.dumps(SCORES) if row["is_root"] else None
    return {**row, **texts, **times, "tags": run.get("tags"), "feedback_stats": scores, "session_id": PROJECT}


def main() -> None:
    """Write the files."""
    os.environ["LANGSMITH_TRACING"] = "true"
    produced = Produced(
        folder=target_folder(__file__),
        tool="LangSmith",
        packages=("langsmith", "langchain", "langchain-openai", "openai"),
    )
    scored = [not_shown("M32score", "metadata", "A score is for statistics.")]
    agent = case(standard_pieces(without={"reasoning"}))  # langchain-openai drops it
    program = case(standard_pieces(cut="length"))

    runs = recorded(of_langchain, multipart=True)
    produced.write_lines("runs.jsonl", runs)
    produced.add("runs.jsonl", "runs as the client sends them, langchain", [agent])
    produced.write_json("batch.json", {"post": recorded(of_openai, multipart=False)})
    produced.add("batch.json", "a batch that the client sends, wrap_openai", [program])

    runs = recorded(of_openai, multipart=False)
    lines = [listed(one, **({} if one.get("parent_run_id") else {"feedback_stats": SCORES})) for one in runs]
    produced.write_lines("list_runs.jsonl", lines)
    produced.add("list_runs.jsonl", "lines of Client.list_runs", [case(program["pieces"], scored)])
    produced.write_json("read_run.json", nested(lines, lines[0]))
    produced.add("read_run.json", "Client.read_run with child_runs", [case(program["pieces"], scored)])
    parquet.write_table(
        pa.Table.from_pylist([exported(one) for one in runs]),
        produced.folder / "bulk_export.parquet",
        compression="none",
    )
    produced.add("bulk_export.parquet", "rows of a bulk export", [case(program["pieces"], scored)])
    produced.write()


main()
