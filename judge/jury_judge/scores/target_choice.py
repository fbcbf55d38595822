"""Which tool takes scores, set up by its own variables."""

from collections.abc import Mapping
from typing import get_args

from jury_cases.containers.langfuse_traces import LangfuseApi
from jury_events.local_events import ScoreTargetName
from jury_judge.extras import check_mlflow, check_traces
from jury_judge.scores.score_target import ScoreTarget

TARGETS = get_args(ScoreTargetName)


def score_target(name: ScoreTargetName, environ: Mapping[str, str]) -> ScoreTarget:
    """The tool of that name.

    Args:
        name: of the tool.
        environ: the environment's variables: `LANGFUSE_…`, `MLFLOW_TRACKING_URI`, `OTEL_EXPORTER_OTLP_…`.

    Raises:
        ExtraMissing: its package is not installed.
        SettingError: a variable is missing, or has a value that it cannot have.
    """
    if name == "langfuse":
        from jury_judge.scores.langfuse_scores import LangfuseScores  # noqa: PLC0415  (one tool is loaded, no other)

        return LangfuseScores(LangfuseApi.of(environ))
    if name == "mlflow":
        check_mlflow("export --to mlflow")
        from jury_judge.scores.mlflow_scores import MlflowScores  # noqa: PLC0415  (the same)

        return MlflowScores()
    check_traces("export --to otel")
    from jury_judge.scores.otel_scores import OtelScores  # noqa: PLC0415  (the same)

    return OtelScores(environ)
