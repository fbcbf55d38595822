"""smolagents: an agent that calls tools, traced by OpenInference, in OTLP and as the SDK's console has spans."""

from pathlib import Path
from typing import Any, ClassVar

from model_server import ModelServer
from otlp_file import Telemetry
from story import (
    LOOK_UP,
    STORY,
    SYSTEM,
    Answer,
    Produced,
    ToolUse,
    target_folder,
)

FINAL = ToolUse(
    name="final_answer",
    call_id="call_M09id",
    call="M09answer",
    arguments={"answer": "M09answer It is paid."},
    result="M10result",
    output="M10result It is paid.",
)
ANSWERS = (Answer(text="M04text I look it up.", calls=(LOOK_UP,)), Answer(calls=(FINAL,)))


def run(url: str) -> None:
    """One task."""
    from smolagents import OpenAIServerModel, Tool, ToolCallingAgent

    def tool_of(use: ToolUse, argument: str) -> Tool:
        class Used(Tool):  # type: ignore[misc]
            name = use.name
            description = "A tool of the shop."
            inputs: ClassVar[Any] = {argument: {"type": "string", "description": "the text"}}
            output_type = "string"
            skip_forward_signature_validation = True

            def forward(self, **_: str) -> str:
                return use.output

        return Used()

    tools = [tool_of(LOOK_UP, "order"), tool_of(FINAL, "answer")]  # the framework's own gives its argument back
    model = OpenAIServerModel(model_id="gpt-5-mini", api_base=f"{url}/v1", api_key="none")
    ToolCallingAgent(tools=tools, model=model, instructions=SYSTEM, verbosity_level=0).run(STORY[0].user)


def main() -> None:
    """Write the files."""
    from openinference.instrumentation.smolagents import SmolagentsInstrumentor

    packages = ("smolagents", "openinference-instrumentation-smolagents")
    produced = Produced(folder=target_folder(__file__), tool="smolagents", packages=packages)
    telemetry = Telemetry()
    SmolagentsInstrumentor().instrument(tracer_provider=telemetry.tracers)
    with ModelServer(ANSWERS) as server:
        run(server.url)
    spans = "\n".join(one.to_json() for one in telemetry.spans.get_finished_spans())
    (Path(produced.folder) / "console.json").write_text(f"{spans}\n", encoding="utf-8")
    telemetry.write(produced.folder / "spans.jsonl")
    produced.add("spans.jsonl", "OpenInference, OTLP as JSON")
    produced.add("console.json", "OpenInference, what the SDK's exporter prints")
    produced.write()


main()
