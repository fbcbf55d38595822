"""OpenInference: spans of the OpenAI SDK, of a LangChain agent and of the agents SDK, as OTLP in JSON."""

import asyncio
import base64
from collections.abc import Callable
from typing import Any

from google.protobuf.json_format import MessageToDict
from openinference.instrumentation import OITracer, TraceConfig
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents_story import run_story as run_agents
from langchain_story import agent_of, run_turns
from model_server import ModelServer
from openai_story import run_story as run_openai
from scrubbed import scrubbed
from story import STORY, Produced, case, run_tool, standard_pieces, target_folder

_CONFIG = TraceConfig(hide_llm_invocation_parameters=True)  # the tools' schemas; files are kept small


class Recorder:
    """Records the spans of one program."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self.provider = TracerProvider(resource=Resource({"service.name": "shop"}), shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.tracer = OITracer(self.provider.get_tracer("shop"), _CONFIG)

    def exports(self) -> list[dict[str, Any]]:
        """One export request a span, as OpenTelemetry's collector writes them to a file."""
        return [otlp_json([span]) for span in self._spans.get_finished_spans()]


def otlp_json(spans: list[ReadableSpan]) -> dict[str, Any]:
    """An export request in OTLP's JSON, where ids are hexadecimal."""
    request = MessageToDict(encode_spans(spans))
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64decode(span[name]).hex()
    return scrubbed(request)


def of_openai(recorder: Recorder, url: str) -> None:
    """A program around the OpenAI SDK whose agent and tools are traced."""
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=recorder.provider, config=_CONFIG)
    # Spans of tools are named by their functions.
    tools: dict[str, Callable[[str], str]] = {}

    def tool(name: str, order: str) -> str:
        if name not in tools:
            tools[name] = recorder.tracer.tool(name=name)(lambda order: run_tool(name))
        return tools[name](order)

    with recorder.tracer.start_as_current_span("support", openinference_span_kind="agent"):
        run_openai(f"{url}/v1", tool)
    instrumentor.uninstrument()


def of_langchain(recorder: Recorder, url: str) -> None:
    """An agent of LangChain."""
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=recorder.provider, config=_CONFIG)
    with recorder.tracer.start_as_current_span("session", openinference_span_kind="chain"):
        run_turns(agent_of(url), STORY[:2])  # files are kept small
    instrumentor.uninstrument()


def main() -> None:
    """Write the files."""
    packages = ("openinference-instrumentation-openai", "openinference-instrumentation-langchain")
    packages = (*packages, "openinference-instrumentation-openai-agents", "openai", "langchain", "openai-agents")
    produced = Produced(folder=target_folder(__file__), tool="OpenInference", packages=packages)

    recorder = Recorder()
    with ModelServer() as server:
        of_openai(recorder, server.url)
    produced.write_lines("openai.jsonl", recorder.exports())
    produced.add("openai.jsonl", "OpenInference spans of openai, OTLP", [case(standard_pieces())])

    recorder = Recorder()
    with ModelServer() as server:
        of_langchain(recorder, server.url)
    produced.write_lines("langchain.jsonl", recorder.exports())
    produced.add(
        "langchain.jsonl",
        "OpenInference spans of langchain, OTLP",
        [case(standard_pieces(without={"reasoning", "M15user", "refusal"}))],  # langchain-openai drops reasoning
    )

    recorder = Recorder()
    instrumentor = OpenAIAgentsInstrumentor()
    instrumentor.instrument(tracer_provider=recorder.provider, config=_CONFIG)
    asyncio.run(run_agents(responses=True))
    instrumentor.uninstrument()
    produced.write_lines("openai_agents.jsonl", recorder.exports())
    produced.add("openai_agents.jsonl", "OpenInference spans of openai-agents, OTLP")
    produced.write()


main()
