"""A scorer for `mlflow.genai.evaluate`."""

import json
import logging
from typing import Any

from mlflow.entities import AssessmentSource, AssessmentSourceType, Feedback
from mlflow.genai.scorers import Scorer, scorer

from jury_events.errors import JuryError
from jury_integrations.hosted_jury import HostedJury, asked_row, expected_text, hosted_jury

HOST = "mlflow"
_log = logging.getLogger(__name__)
_NO_LIMIT = 0
"""A debate may take longer than the 300 seconds that MLflow gives a scorer; its calls have limits of their own."""


def jury_scorer(
    panel: str | None = None,
    store: str | None = None,
    policy: str | None = None,
    run: str | None = None,
    name: str = "jury",
) -> Scorer:
    """A scorer whose value is whether the verdict is a pass; arguments as of `hosted_jury`.

    So MLflow has its mean, and passes or fails an evaluation by it. The rationale begins with the verdict, which is in
    the metadata too. A trace with more than one span is judged as it is, with its calls of tools; else the inputs and
    outputs. A debate that could not go on is an error of the feedback, without a value, and a warning of the log.
    """
    hosted = hosted_jury(HOST, panel, store, policy, run)

    def judge(inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Any = None) -> Feedback:
        source = AssessmentSource(source_type=AssessmentSourceType.LLM_JUDGE, source_id=f"jury-judge/{hosted.run}")
        try:
            outcome = hosted.judge(_case(hosted, inputs, outputs, expectations, trace))
        except JuryError as error:
            # MLflow counts the errors of a scorer, and prints none of them.
            _log.warning("%s: no value: %s", name, error)
            return Feedback(name=name, error=error, source=source)
        facts = {key: _text(value) for key, value in outcome.metadata.items()}
        return Feedback(name=name, value=outcome.passed, rationale=outcome.explanation, source=source, metadata=facts)

    made: Scorer = scorer(judge, name=name, timeout=_NO_LIMIT)
    return made


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _case(hosted: HostedJury, inputs: Any, outputs: Any, expectations: Any, trace: Any) -> Any:
    expected = expected_text(expectations)
    if trace is not None and len(trace.data.spans) > 1:
        return hosted.case(trace.to_dict(), form="mlflow", expected=expected)
    return hosted.case({"id": "row", **asked_row(inputs, outputs)}, expected=expected)
