"""An evaluator for `langsmith.evaluate`."""

from collections.abc import Callable
from typing import Any

from langsmith.evaluation import EvaluationResult

from jury_integrations.hosted_jury import asked_row, expected_text, hosted_jury

HOST = "langsmith"


def jury_evaluator(
    panel: str | None = None, store: str | None = None, policy: str | None = None, run: str | None = None
) -> Callable[..., EvaluationResult]:
    """An evaluator whose feedback `jury` has the score from 0 to 1, the verdict as value, and the reasons as comment.

    Arguments as of `hosted_jury`. The score is None without an evaluation of any juror. A debate that could not go on
    raises its error, which LangSmith keeps as the evaluator's; the example has no score then.
    """
    hosted = hosted_jury(HOST, panel, store, policy, run)

    def jury(inputs: dict[str, Any], outputs: dict[str, Any], reference_outputs: Any = None) -> EvaluationResult:
        row = {"id": "example", **asked_row(inputs, outputs)}
        outcome = hosted.judge(hosted.case(row, expected=expected_text(reference_outputs)))
        return EvaluationResult(
            key="jury",
            score=outcome.score,
            value=outcome.verdict,
            comment=outcome.explanation,
            metadata=outcome.metadata,
        )

    return jury
