"""DeepEval: saved datasets, dumped test cases, and what a local test run leaves; single answers and conversations."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from story import LOOK_UP, REFUND, SHIP, Produced, ToolUse, target_folder

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
FOLDER = target_folder(__file__).resolve()
os.chdir(tempfile.mkdtemp())  # a test run writes into the working directory

from deepeval import evaluate  # noqa: E402
from deepeval.dataset import EvaluationDataset  # noqa: E402
from deepeval.evaluate import AsyncConfig, DisplayConfig  # noqa: E402
from deepeval.metrics import BaseConversationalMetric, BaseMetric  # noqa: E402
from deepeval.test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn  # noqa: E402

EXPECTED = "M21expected The refund is made."
EXPECTED_TOOL = ToolCall(name="refund_M06tool", input_parameters={"order": "M22expected"})
CONTEXT = ["M23expected Refunds take 30 days."]


def called(tool: ToolUse, *, reasoning: str | None = None, description: str | None = None) -> ToolCall:
    """A call of the story with its output."""
    return ToolCall(
        name=tool.name,
        input_parameters=dict(tool.arguments),
        output=tool.output,
        reasoning=reasoning,
        description=description,
    )


def single() -> LLMTestCase:
    """One answer with two calls."""
    return LLMTestCase(
        input="M02user Refund my order.",
        actual_output="M09answer The refund failed.",
        expected_output=EXPECTED,
        tools_called=[
            called(LOOK_UP, reasoning="M03reasoning First the order.", description="M24tooltext"),
            called(REFUND),
        ],
        expected_tools=[EXPECTED_TOOL],
        retrieval_context=["M25event The rules.", "Page 2."],
        context=CONTEXT,
        name="M26name",
        comments="M27comment",
        token_cost=0.01,
        tags=["shop"],
    )


def conversation() -> ConversationalTestCase:
    """Two requests with a call."""
    return ConversationalTestCase(
        scenario="M28scenario A customer is angry.",
        expected_outcome=EXPECTED,
        chatbot_role="M01system A clerk of a shop.",
        context=CONTEXT,
        turns=[
            Turn(role="user", content="M02user Refund my order."),
            Turn(
                role="assistant",
                content="M09answer The refund failed.",
                tools_called=[called(LOOK_UP), called(REFUND)],
                retrieval_context=["M25event The rules."],
            ),
            Turn(role="user", content="M10user Send me another one."),
            Turn(role="assistant", content="M14answer It is on its way.", tools_called=[called(SHIP)]),
        ],
    )


class Passes(BaseMetric):
    """A metric that asks no model."""

    threshold = 0.5
    async_mode = False

    def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
        self.score, self.success, self.reason = 1.0, True, "fine"
        return 1.0

    async def a_measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return True

    @property
    def __name__(self) -> str:
        return "Passes"


class ConversationPasses(BaseConversationalMetric):
    """The same for conversations."""

    threshold = 0.5
    async_mode = False
    measure = Passes.measure
    a_measure = Passes.a_measure
    is_successful = Passes.is_successful
    __name__ = Passes.__name__


def test_run(test_case: Any, metric: Any) -> Any:
    """The file that a test run leaves."""
    shown = DisplayConfig(print_results=False, show_indicator=False)
    evaluate([test_case], [metric], display_config=shown, async_config=AsyncConfig(run_async=False))
    return json.loads(Path(".deepeval/.latest_test_run.json").read_text(encoding="utf-8"))


def main() -> None:
    """Write the files."""
    produced = Produced(folder=FOLDER, tool="deepeval", packages=("deepeval",))
    # A saved dataset has no name and comment of a test case; neither it nor a test run has a role of the chatbot.
    for name, test_case in (("single", single()), ("conversation", conversation())):
        produced.write_lines(f"{name}_cases.jsonl", [test_case.model_dump(mode="json")])
        produced.add(f"{name}_cases.jsonl", "dumped test cases")
        dataset = EvaluationDataset()
        dataset.add_test_case(test_case)
        for ending in ("json", "jsonl", "csv"):
            dataset.save_as(ending, str(FOLDER), file_name=f"{name}_saved", include_test_cases=True)
            produced.add(f"{name}_saved.{ending}", f"EvaluationDataset.save_as ({ending})")
        produced.write_json(
            f"{name}_run.json", test_run(test_case, Passes() if name == "single" else ConversationPasses())
        )
        produced.add(f"{name}_run.json", "local test run")
    produced.write()


main()
