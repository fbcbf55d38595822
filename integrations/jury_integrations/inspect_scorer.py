"""Inspect's scorer `jury_integrations/jury` reads the transcript of a sample with its tool calls; its metrics.

Inspect and Scout find what they use by the entry points of the group `inspect_ai`, which name this module.
"""

import logging
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from inspect_ai.event import ModelEvent, SampleLimitEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, accuracy, metric, scorer, stderr
from inspect_ai.solver import TaskState

from jury_events.errors import JuryError
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_integrations.hosted_jury import hosted_jury

HOST = "inspect"
_log = logging.getLogger(__name__)
_VALUES = {PASS: "C", FAIL: "I", REVIEW: "N"}
"""Inspect's letters: correct, incorrect, and no answer, by the jury."""


CLUSTER = "cluster"
"""The name in the metadata of a score; samples that share its value are not independent."""


@metric
def clustered_stderr() -> Metric:
    """The standard error of the accuracy; scores of one cluster are not independent.

    A cluster is what the scorer's `cluster` names in the metadata of the samples; without it, each sample is one.
    """
    error = stderr(cluster=CLUSTER)

    def measure(scores: list[SampleScore]) -> float:
        named = [
            one.model_copy(
                update={"sample_metadata": {CLUSTER: (one.score.metadata or {}).get(CLUSTER, str(one.sample_id))}}
            )
            for one in scores
        ]
        return error(named)  # type: ignore[arg-type,return-value]  # Inspect's protocols name the older one first

    return measure


@metric
def agreement() -> Metric:
    """How often two jurors gave a sample the same first verdict: the mean over samples, 0 to 1."""

    def measure(scores: list[SampleScore]) -> float:
        facts = [one.score.metadata or {} for one in scores]
        known = [float(one["agreement"]) for one in facts if "agreement" in one]
        return sum(known) / len(known) if known else 0.0

    return measure


@scorer(metrics=[accuracy(), clustered_stderr(), agreement()])
def jury(
    panel: str | None = None,
    store: str | None = None,
    policy: str | None = None,
    run: str | None = None,
    cluster: str | None = None,
) -> Scorer:
    """A jury's verdict on a sample: C is a pass, I a fail, N is for a person to look at.

    A sample whose debate could not go on is unscored, with the reason; scoring the log again goes on with it.

    Args:
        panel: a preset, a bundled jury or a panel file; None: simulated jurors.
        store: `sqlite:///PATH` or `postgresql://…`; None: `JURY_STORE_URL`, else `sqlite:///jury.db`.
        policy: a text file with the agent's instructions, for samples whose messages have none.
        run: the run in the store; None: one for each panel.
        cluster: a field of the samples' metadata; samples that share its value are not independent.
    """
    hosted = hosted_jury(HOST, panel, store, policy, run)

    async def score(state: TaskState, target: Target) -> Score:
        group = None if cluster is None else state.metadata.get(cluster)
        try:
            outcome = await hosted.judged(hosted.case(_sample(state, target), form="inspect"))
        except JuryError as error:
            _log.warning("sample %s: the jury gave no verdict: %s", state.sample_id, error)
            return Score.unscored(reason="scoring_failed", explanation=f"the jury gave no verdict: {error}")
        metadata = outcome.metadata | ({} if group is None else {CLUSTER: str(group)})
        return Score(
            value=_VALUES[Verdict(outcome.verdict)],
            answer=outcome.judgment.label or outcome.verdict,
            explanation=outcome.explanation,
            metadata=metadata,
        )

    return score


def _sample(state: TaskState, target: Target) -> dict[str, Any]:
    """The sample in the shape of a log, as `jury run` reads it."""
    given = state.input
    return {
        "id": state.sample_id,
        "epoch": state.epoch,
        "input": given if isinstance(given, str) else [_json(one) for one in given],
        "choices": [one.value for one in state.choices],
        "target": target.target,
        "messages": [_json(one) for one in state.messages],
        "output": _json(state.output),
        "metadata": state.metadata,
        "events": list(_ends(transcript().events)),
        "limit": next(filter(None, map(_limit, reversed(transcript().events))), None),
    }


def _json(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True)


def _ends(events: Iterable[Any]) -> Iterable[dict[str, Any]]:
    """Why answers ended: all that is read of the events of models."""
    for event in events:
        if isinstance(event, ModelEvent) and event.output.choices:
            first = event.output.choices[0]
            choice = {"message": {"id": first.message.id}, "stop_reason": first.stop_reason}
            yield {"event": "model", "output": {"choices": [choice]}}


def _limit(event: Any) -> dict[str, Any] | None:
    return {"type": event.type, "limit": event.limit} if isinstance(event, SampleLimitEvent) else None


if find_spec("inspect_scout") is not None:
    import jury_integrations.scout_scanner  # noqa: F401  (importing it registers the scanner)
