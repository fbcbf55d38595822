"""The metrics of Inspect's scorer, over the metadata of its scores."""

from inspect_ai.scorer import Metric, SampleScore, metric, stderr

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
