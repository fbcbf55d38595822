"""The OpenAI agents SDK's traces: what its exporter sends to a server, and what a processor of one's own writes."""

import asyncio
from typing import Any

from agents import Span, Trace, set_trace_processors
from agents.tracing import TracingProcessor
from agents.tracing.processors import BackendSpanExporter, BatchTraceProcessor

from agents_story import run_story
from model_server import ModelServer
from story import Produced, target_folder


class Writer(TracingProcessor):
    """Keeps what a processor sees: spans as they are exported, with the responses that the exporter leaves out."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def on_trace_start(self, trace: Trace) -> None:
        self.rows.append(trace.export())

    def on_span_end(self, span: Span[Any]) -> None:
        row: Any = span.export()
        if span.span_data.type == "response":
            response = span.span_data.response
            row["span_data"]["input"] = span.span_data.input
            row["span_data"]["response"] = None if response is None else response.model_dump(mode="json")
        self.rows.append(row)

    def on_trace_end(self, trace: Trace) -> None:
        """The trace is written at its start."""

    def on_span_start(self, span: Span[Any]) -> None:
        """A span is written at its end."""

    def shutdown(self) -> None:
        """Nothing is open."""

    def force_flush(self) -> None:
        """Nothing waits."""


def exported(*, responses: bool) -> list[Any]:
    """The payloads that the SDK's exporter sends."""
    with ModelServer([]) as server:
        exporter = BackendSpanExporter(api_key="none", endpoint=f"{server.url}/v1/traces/ingest")
        processor = BatchTraceProcessor(exporter)
        set_trace_processors([processor])
        asyncio.run(run_story(responses=responses))
        processor.shutdown()
        return [without_addresses(one.body) for one in server.received("/traces/ingest")]


def without_addresses(value: Any) -> Any:
    """The value without the address of the local server."""
    if isinstance(value, dict):
        return {key: without_addresses(one) for key, one in value.items() if key != "base_url"}
    return [without_addresses(one) for one in value] if isinstance(value, list) else value


def main() -> None:
    """Write the files."""
    folder = target_folder(__file__)
    produced = Produced(folder=folder, tool="openai-agents (traces)", packages=("openai-agents", "openai"))
    (payload,) = exported(responses=False)
    produced.write_json("exported_chat.json", payload)
    produced.add("exported_chat.json", "exporter's payload, chat completions")
    (payload,) = exported(responses=True)
    produced.write_json("exported_responses.json", payload)
    shape = "exporter's payload, responses by their ids (refused: it has no request)"
    produced.add("exported_responses.json", shape, refused="6 × input of a response by its id")

    writer = Writer()
    set_trace_processors([writer])
    asyncio.run(run_story(responses=True))
    produced.write_lines("processor.jsonl", map(without_addresses, writer.rows))
    produced.add("processor.jsonl", "a processor's lines, with responses")
    produced.write()


main()
