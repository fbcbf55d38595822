"""The certificate of a stage: what the counts of a stage's accepted verdicts certify, by outcome.

It follows from counts alone and needs the standard library only, so that a reader of a ladder computes it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jury_analysis.certificate import Certificate, Tried, bound_by_cluster, certificate, clopper_pearson
from jury_analysis.ladders.promises import Promises

Table = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class MissedCandidate:
    """The promise on missed failures at one threshold of the passes."""

    threshold: float
    failing: int
    """Units whose label fails."""
    missed: int
    """Of these, accepted as a pass by this stage or one before."""
    upper_bound: float
    """One-sided, of missed / failing."""
    outcome: str
    """`certified`, `refused` (the sequence ends) or `not tested`."""
    by_cluster: Table = ()
    """Failing units, missed ones of these, and how many clusters have these counts; () where each unit is its own."""


@dataclass(frozen=True)
class StageCertificate:
    """What a stage may accept, among the cases that reach it."""

    combinations: int
    """Of thresholds of the stages before, by which the error of each test is divided."""
    passes: Certificate | None
    """None: no promise on passes."""
    fails: Certificate | None
    missed: tuple[MissedCandidate, ...]
    """At the thresholds of `passes` that are certified; () without a promise."""
    pass_threshold: float | None
    """The lowest that is certified on all promises about passes; None: the stage accepts no pass."""
    fail_threshold: float | None

    @property
    def accepts(self) -> bool:
        """Whether the stage accepts anything."""
        return self.pass_threshold is not None or self.fail_threshold is not None


class MissedCount(NamedTuple):
    """Failing units that are accepted as a pass at a threshold; `by_cluster` as of `MissedCandidate`."""

    threshold: float
    failing: int
    missed: int
    by_cluster: Table = ()


class StageCounts(NamedTuple):
    """The counts of a stage, each sequence by threshold, descending; subjects are verdicts of the outcome."""

    passes: Sequence[Tried]
    pass_subject: int
    fails: Sequence[Tried]
    fail_subject: int
    missed: Sequence[MissedCount]
    """One for each of `passes`, or () without a promise."""


def stage_certificate(
    counts: StageCounts, promises: Promises, *, units: int, clusters: int, stages: int, combinations: int
) -> StageCertificate:
    """The certificate that these counts give.

    Args:
        counts: among the cases that no stage before accepts.
        promises: of the ladder.
        units: labelled units of the ladder, those of the stages before included.
        clusters: of the units.
        stages: of the ladder, the last one included.
        combinations: of thresholds of the stages before.
    """
    confidence = promises.test_confidence(stages, combinations)

    def of(sequence: Sequence[Tried], subject: int, risk: float | None) -> Certificate | None:
        if risk is None:
            return None
        return certificate(sequence, units=units, clusters=clusters, subject=subject, risk=risk, confidence=confidence)

    passes = of(counts.passes, counts.pass_subject, promises.passes)
    fails = of(counts.fails, counts.fail_subject, promises.fails)
    missed: tuple[MissedCandidate, ...] = ()
    pass_threshold = None if passes is None else passes.threshold
    if passes is not None and promises.missed is not None:
        certified = {one.threshold for one in passes.candidates if one.outcome == "certified"}
        chosen = [one for one in counts.missed if one.threshold in certified]
        missed = _missed(chosen, promises.missed, confidence, clustered=clusters < units)
        pass_threshold = min((one.threshold for one in missed if one.outcome == "certified"), default=None)
    return StageCertificate(
        combinations=combinations,
        passes=passes,
        fails=fails,
        missed=missed,
        pass_threshold=pass_threshold,
        fail_threshold=None if fails is None else fails.threshold,
    )


def _missed(
    counts: Sequence[MissedCount], risk: float, confidence: float, *, clustered: bool
) -> tuple[MissedCandidate, ...]:
    found: list[MissedCandidate] = []
    ended = False
    for one in counts:
        upper = clopper_pearson(one.missed, one.failing, confidence)
        if clustered and one.failing:
            upper = max(upper, bound_by_cluster(one.by_cluster, confidence))
        outcome = "not tested" if ended else "certified" if upper <= risk else "refused"
        ended = ended or outcome == "refused"
        found.append(MissedCandidate(one.threshold, one.failing, one.missed, upper, outcome, one.by_cluster))
    return tuple(found)
