"""An evaluator for `Langfuse.run_experiment`."""

from collections.abc import Awaitable, Callable
from typing import Any

from langfuse import Evaluation

from jury_integrations.hosted_jury import asked_row, expected_text, hosted_jury

HOST = "langfuse"


def jury_evaluator(
    panel: str | None = None, store: str | None = None, policy: str | None = None, run: str | None = None
) -> Callable[..., Awaitable[list[Evaluation]]]:
    """An evaluator that gives an item two scores: `jury`, the verdict, and `jury_score`, from 0 to 1.

    Arguments as of `hosted_jury`. Without an evaluation of any juror there is no `jury_score`. A debate that could not
    go on raises its error, which Langfuse logs; the item has no score then.
    """
    hosted = hosted_jury(HOST, panel, store, policy, run)

    async def jury(*, input: Any, output: Any, expected_output: Any = None, **_more: Any) -> list[Evaluation]:  # noqa: A002  (Langfuse's name)
        row = {"id": "item", **asked_row(input, output)}
        outcome = await hosted.judged(hosted.case(row, expected=expected_text(expected_output)))
        said = {"comment": outcome.explanation, "metadata": outcome.metadata}
        found = [Evaluation(name="jury", value=outcome.verdict, data_type="CATEGORICAL", **said)]
        if outcome.score is not None:
            found.append(Evaluation(name="jury_score", value=outcome.score, data_type="NUMERIC", **said))
        return found

    return jury
