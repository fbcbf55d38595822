"""OpenLIT's instrumentation of the OpenAI SDK."""

import openlit
from openai import OpenAI
from opentelemetry import trace

from chat_story import converse
from model_server import ModelServer
from otlp_file import Telemetry
from story import Produced, case, not_shown, standard_pieces, target_folder

HAPPENED = case(
    standard_pieces(without=("M11picture", "M16refusal"), failures_marked=False),
    [not_shown(None, "message without content", "OpenLIT keeps nothing of a refusal.")],
)


def main() -> None:
    """Write the file."""
    produced = Produced(folder=target_folder(__file__), tool="openlit", packages=("openlit", "openai"))
    telemetry = Telemetry()
    trace.set_tracer_provider(telemetry.tracers)
    openlit.init(disable_metrics=True, disable_events=True, disable_batch=True, service_name="shop")
    with ModelServer() as server, telemetry.conversation():
        converse(OpenAI(base_url=f"{server.url}/v1", api_key="none"))
    telemetry.write(produced.folder / "openai.jsonl")
    produced.add("openai.jsonl", "OTLP as JSON", [HAPPENED])
    produced.write()


main()
