"""Scores as feedback at MLflow. Needs the package `mlflow`, which is no dependency of this one."""

from collections.abc import Mapping, Sequence

import mlflow
from mlflow.entities import AssessmentSource, AssessmentSourceType

from jury_events.local_events import ExportedScore, ScoreTargetName
from jury_events.scrubbing import known_scrubber
from jury_events.text import visible_line
from jury_judge.scores.debate_scores import DebateScore, JudgedTrace
from jury_judge.scores.score_target import ScoresRefused, place_of

_SHOWN = 300
"""Characters of a refusal."""


class MlflowScores:
    """Writes feedback onto traces of the tracking server; a correction overrides the feedback that it corrects."""

    name: ScoreTargetName = "mlflow"
    repeats = True

    def __init__(self) -> None:
        self.place = place_of(mlflow.get_tracking_uri())

    def refusal(self, trace: JudgedTrace) -> None:
        """Its traces have ids of any form."""

    def write(
        self, trace: JudgedTrace, scores: Sequence[DebateScore], before: Mapping[str, ExportedScore]
    ) -> Mapping[str, str | None]:
        """See `ScoreTarget`."""
        ids: dict[str, str | None] = {}
        for one in scores:
            source = AssessmentSource(AssessmentSourceType.LLM_JUDGE, one.seat or trace.debate_id)
            if trace.reviewed and one.seat is None:
                source = AssessmentSource(AssessmentSourceType.HUMAN, trace.debate_id)
            rationale, facts = one.explanation or None, {name: str(value) for name, value in trace.facts.items()}
            old = before.get(one.name)
            try:
                if old is not None and old.id is not None:
                    written = mlflow.override_feedback(
                        trace_id=trace.trace_id,
                        assessment_id=old.id,
                        value=one.value,
                        rationale=rationale,
                        source=source,
                        metadata=facts,
                    )
                else:
                    written = mlflow.log_feedback(
                        trace_id=trace.trace_id,
                        name=one.name,
                        value=one.value,
                        source=source,
                        rationale=rationale,
                        metadata=facts,
                    )
            except Exception as error:  # an answer that is none of MLflow's has the errors of its parser
                said = visible_line(known_scrubber().text(f"{type(error).__name__}: {error}"), _SHOWN)
                raise ScoresRefused(f"debate {trace.debate_id}: MLflow at {self.place} refused it: {said}") from error
            if not written.assessment_id:
                raise ScoresRefused(f"debate {trace.debate_id}: MLflow at {self.place} named no id of its feedback")
            ids[one.name] = written.assessment_id
        return ids

    def close(self) -> None:
        """MLflow keeps its connections itself, for the whole process."""
