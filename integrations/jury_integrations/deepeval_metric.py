"""A metric of DeepEval."""

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from jury_events.errors import JuryError
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_integrations.hosted_jury import HostedJury, hosted_jury
from jury_integrations.jury_outcome import JuryOutcome

HOST = "deepeval"
_TEXTS = ("input", "actual_output", "expected_output", "context", "retrieval_context", "name")
_SCORES = {PASS: 1.0, REVIEW: 0.5, FAIL: 0.0}
_CALLS = ("tools_called", "expected_tools")


class JuryMetric(BaseMetric):  # type: ignore[misc,unused-ignore]  # untyped where DeepEval is not installed
    """A jury judges a test case with its tool calls and contexts; it succeeds where the verdict is a pass.

    The verdict decides, as the panel's rules say: `score` is 1 for a pass, 0.5 for a case that a person should look at,
    0 for a fail, and the threshold is 1. `score_breakdown` has the jury's points and each juror's, from 0 to 1,
    `reason` the explanation, `outcome` the whole debate.

    Args:
        panel, store, policy, run: as of `hosted_jury`.
    """

    def __init__(
        self,
        panel: str | None = None,
        store: str | None = None,
        policy: str | None = None,
        run: str | None = None,
    ) -> None:
        # DeepEval copies a metric by the attributes that are named like its arguments.
        self.panel, self.store, self.policy, self.run = panel, store, policy, run
        self.outcome: JuryOutcome | None = None
        self.score: float | None = None
        self.error: str | None = None
        self.threshold = _SCORES[PASS]
        self.evaluation_model = panel or "simulated jurors"

    @property
    def hosted(self) -> HostedJury:
        """The jury of this process with these settings."""
        return hosted_jury(HOST, self.panel, self.store, self.policy, self.run)

    def measure(self, test_case: LLMTestCase, *_args: Any, **_options: Any) -> float:
        """Judge a test case."""
        try:
            return self._take(self.hosted.judge(self._case(test_case)))
        except JuryError as error:
            raise self._failed(error) from None

    async def a_measure(self, test_case: LLMTestCase, *_args: Any, **_options: Any) -> float:
        """`measure`, in an event loop."""
        try:
            return self._take(await self.hosted.judged(self._case(test_case)))
        except JuryError as error:
            raise self._failed(error) from None

    def is_successful(self) -> bool:
        """Whether the last verdict is a pass."""
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "Jury"

    def _case(self, test_case: LLMTestCase) -> Any:
        row: dict[str, Any] = {name: getattr(test_case, name, None) for name in _TEXTS}
        for name in _CALLS:
            row[name] = [one.model_dump(mode="json", exclude_none=True) for one in getattr(test_case, name, None) or ()]
        return self.hosted.case({"id": test_case.name or "test", **row}, form="deepeval")

    def _take(self, outcome: JuryOutcome) -> float:
        score = _SCORES[Verdict(outcome.verdict)]
        self.error, self.outcome = None, outcome
        self.score, self.success, self.reason = score, outcome.passed, outcome.explanation
        jurors = {one.juror_id: one.score / 100 for one in outcome.judgment.votes if one.score is not None}
        self.score_breakdown = jurors if outcome.score is None else {"jury": outcome.score, **jurors}
        return score

    def _failed(self, error: JuryError) -> JuryError:
        self.error, self.success, self.score, self.outcome = str(error), False, None, None
        return error
