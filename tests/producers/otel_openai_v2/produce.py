"""OpenTelemetry's instrumentation of the OpenAI SDK: messages as attributes of spans, in log records, and in both."""

import os

os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"

from openai import OpenAI
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

from chat_story import converse
from model_server import ModelServer
from otlp_file import Telemetry
from story import Produced, case, not_shown, standard_pieces, target_folder

FILES = {"span_only": "attributes.jsonl", "event_only": "records.jsonl", "span_and_event": "both.jsonl"}
"""By what `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` says."""

PIECES = standard_pieces(
    without=("reasoning", "M10user", "M11picture", "M16refusal"), failures_marked=False, refusals="assistant"
)
# A chat completion has no order of text and calls; the instrumentation writes the calls first.
TEXT = next(one for one in PIECES if one["marker"] == "M04text")
PIECES.remove(TEXT)
PIECES.insert(next(i for i, one in enumerate(PIECES) if one["marker"] == "M07result"), TEXT)
HAPPENED = case(
    PIECES,
    [
        not_shown(None, "message without content", "The instrumentation keeps nothing of a message with a picture."),
        not_shown(None, "message without content", "The instrumentation keeps nothing of a refusal."),
    ],
)


def main() -> None:
    """Write the files."""
    produced = Produced(
        folder=target_folder(__file__),
        tool="opentelemetry-instrumentation-openai-v2",
        packages=("opentelemetry-instrumentation-openai-v2", "opentelemetry-util-genai", "openai"),
    )
    for content, file in FILES.items():
        os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = content
        telemetry = Telemetry()
        instrumentor = OpenAIInstrumentor()
        instrumentor.instrument(tracer_provider=telemetry.tracers, logger_provider=telemetry.loggers)
        with ModelServer() as server, telemetry.conversation():
            converse(OpenAI(base_url=f"{server.url}/v1", api_key="none"))
        instrumentor.uninstrument()
        telemetry.write(produced.folder / file)
        produced.add(file, f"OTLP as JSON, {content}", [HAPPENED])
    produced.write()


main()
