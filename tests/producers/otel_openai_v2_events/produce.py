"""OpenTelemetry's instrumentation of the OpenAI SDK before the conventions of 1.37: each message is a log record."""

import os

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"

from openai import OpenAI
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from opentelemetry.sdk._events import EventLoggerProvider

from chat_story import converse
from model_server import ModelServer
from otlp_file import Telemetry
from story import Produced, case, not_shown, standard_pieces, target_folder

HAPPENED = case(
    standard_pieces(without=("reasoning", "M16refusal"), failures_marked=False),
    [not_shown(None, "message without content", "The instrumentation keeps nothing of a refusal.")],
)


def main() -> None:
    """Write the file."""
    produced = Produced(
        folder=target_folder(__file__),
        tool="opentelemetry-instrumentation-openai-v2 (events)",
        packages=("opentelemetry-instrumentation-openai-v2", "openai"),
    )
    telemetry = Telemetry()
    OpenAIInstrumentor().instrument(
        tracer_provider=telemetry.tracers, event_logger_provider=EventLoggerProvider(telemetry.loggers)
    )
    with ModelServer() as server, telemetry.conversation():
        converse(OpenAI(base_url=f"{server.url}/v1", api_key="none"))
    telemetry.write(produced.folder / "events.jsonl")
    produced.add("events.jsonl", "OTLP as JSON, a log record a message", [HAPPENED])
    produced.write()


main()
