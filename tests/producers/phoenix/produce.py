"""Phoenix: a local server that got OpenInference spans of the OpenAI SDK; its tables of spans and its REST answers."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from openinference.instrumentation import OITracer, TraceConfig
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from phoenix.client import Client

from model_server import ModelServer
from openai_story import run_story
from scrubbed import scrubbed
from story import Produced, case, not_shown, run_tool, standard_pieces, target_folder

_CONFIG = TraceConfig(hide_llm_invocation_parameters=True)  # the tools' schemas; files are kept small


@contextmanager
def phoenix() -> Iterator[str]:
    """A server; gives its URL."""
    with socket.socket() as one, socket.socket() as two, tempfile.TemporaryDirectory() as folder:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        ports = {"PHOENIX_PORT": str(one.getsockname()[1]), "PHOENIX_GRPC_PORT": str(two.getsockname()[1])}
        one.close()
        two.close()
        settings = {"PHOENIX_HOST": "127.0.0.1", "PHOENIX_WORKING_DIR": folder, "PHOENIX_TELEMETRY_ENABLED": "false"}
        url = f"http://127.0.0.1:{ports['PHOENIX_PORT']}"
        command = [sys.executable, "-m", "phoenix.server.main", "serve"]
        server = subprocess.Popen(command, env={**os.environ, **settings, **ports}, stdout=subprocess.DEVNULL, stderr=2)
        try:
            waited_for(lambda: bool(get(f"{url}/openapi.json")))
            yield url
        finally:
            server.terminate()
            server.wait()


def waited_for(check: Callable[[], bool]) -> None:
    """Wait until a check is true; an error of the connection is false."""
    for _ in range(240):
        try:
            if check():
                return
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError("Phoenix does not answer")


def get(url: str) -> Any:
    """A JSON document."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def traced(url: str) -> None:
    """Run the story with its spans sent to Phoenix."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=f"{url}/v1/traces")))
    tracer = OITracer(provider.get_tracer("shop"), _CONFIG)
    OpenAIInstrumentor().instrument(tracer_provider=provider, config=_CONFIG)
    tools: dict[str, Callable[[str], str]] = {}

    def tool(name: str, order: str) -> str:
        if name not in tools:
            tools[name] = tracer.tool(name=name)(lambda order: run_tool(name))
        return tools[name](order)

    with ModelServer() as models, tracer.start_as_current_span("support", openinference_span_kind="agent"):
        run_story(f"{models.url}/v1", tool)
    provider.force_flush()


def main() -> None:
    """Write the files."""
    packages = ("arize-phoenix", "arize-phoenix-client", "openinference-instrumentation-openai", "openai")
    produced = Produced(folder=target_folder(__file__), tool="Phoenix", packages=packages)
    happened = case(standard_pieces())
    scored = case(
        standard_pieces(),
        [
            not_shown("M32score", "metadata", "A score is for statistics."),
            not_shown("M33why", "metadata", "The reason of a score is kept beside it."),
        ],
    )
    with phoenix() as url:
        traced(url)
        client = Client(base_url=url)
        count = 9
        waited_for(lambda: len(client.spans.get_spans(project_identifier="default")) == count)
        frame = client.spans.get_spans_dataframe(project_identifier="default")
        lines = frame.to_json(orient="records", lines=True, date_format="iso").splitlines()
        produced.write_lines("dataframe.jsonl", [scrubbed(json.loads(line)) for line in lines])
        produced.add("dataframe.jsonl", "lines of the span table", [happened])
        frame["events"] = [scrubbed(json.loads(json.dumps(list(one), default=str))) for one in frame["events"]]
        # Parquet has no empty objects, which the schema of a tool contains.
        frame = frame.drop(columns=["attributes.tool.parameters"])
        frame.to_parquet(produced.folder / "dataframe.parquet", compression=None)
        produced.add("dataframe.parquet", "the span table, Parquet", [happened])
        frame.to_csv(produced.folder / "dataframe.csv", index=False)
        produced.add("dataframe.csv", "the span table, CSV", [happened])
        rest = get(f"{url}/v1/projects/default/spans?limit=100")
        produced.write_json("rest.json", scrubbed(rest))
        produced.add("rest.json", "REST: /v1/projects/NAME/spans", [happened])
        root = next(one for one in rest["data"] if not one.get("parent_id"))
        result = {"label": "good", "score": 0.5, "explanation": "M33why"}
        client.spans.add_span_annotation(
            span_id=root["context"]["span_id"], annotation_name="M32score", annotator_kind="HUMAN", sync=True, **result
        )
        annotations = client.spans.get_span_annotations(spans=rest["data"], project_identifier="default")
        rows = [
            {**one, "annotations": [note for note in annotations if note["span_id"] == one["context"]["span_id"]]}
            for one in rest["data"]
        ]
        produced.write_lines("annotated.jsonl", scrubbed(rows))
        produced.add("annotated.jsonl", "spans with the annotations that the client lists", [scored])
    produced.write()


main()
