"""Thresholds of a ladder applied to other votes than those that they were certified on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jury_analysis.ladders.certification import Promises, StageCertificate
from jury_analysis.ladders.ladder_votes import FAILS, PASSES, LadderVotes, StageVotes
from jury_analysis.vote_matrix import Bools, Ints


class StageRisk(NamedTuple):
    """What a stage accepts with an outcome, and how much of it is wrong."""

    stage: int
    """From 0."""
    outcome: int
    accepted: int
    wrong: int


class Applied(NamedTuple):
    """Where cases end.

    Attributes:
        ends: [units]: the stage that decides each, from 0.
        risks: of each stage before the last and each outcome that it accepts.
        failing: labelled units whose label fails.
        missed: of these, accepted as a pass before the last stage.
    """

    ends: Ints
    risks: tuple[StageRisk, ...]
    failing: int
    missed: int

    def breaks(self, promises: Promises) -> bool:
        """Whether any promise does not hold of these units."""
        kept = {PASSES: promises.passes, FAILS: promises.fails}
        for one in self.risks:
            risk = kept[one.outcome]
            if risk is not None and one.wrong > risk * one.accepted:
                return True
        return promises.missed is not None and self.missed > promises.missed * self.failing


def apply_ladder(votes: LadderVotes, stages: Sequence[StageCertificate]) -> Applied:
    """What the thresholds do.

    Args:
        votes: of all stages, the last one included.
        stages: the certificates of the others.
    """
    ends = np.full(len(votes.labels), len(votes.stages) - 1, dtype=np.int64)
    reached = np.ones(len(votes.labels), dtype=np.bool_)
    passed = np.zeros(len(votes.labels), dtype=np.bool_)
    risks = []
    for place, (stage, of) in enumerate(zip(votes.stages, stages, strict=False)):
        for outcome, threshold in ((PASSES, of.pass_threshold), (FAILS, of.fail_threshold)):
            accepted = reached & reaching(stage, outcome, threshold)
            ends[accepted] = place
            if outcome == PASSES:
                passed |= accepted
            labelled = accepted & votes.labelled
            if labelled.any():
                wrong = labelled & (votes.labels != outcome)
                risks.append(StageRisk(place, outcome, int(labelled.sum()), int(wrong.sum())))
        reached &= ends > place
    failing = votes.labels == FAILS
    return Applied(ends, tuple(risks), int(failing.sum()), int((failing & passed).sum()))


def reaching(stage: StageVotes, outcome: int, threshold: float | None) -> Bools:
    """[units]: whose verdict has this outcome and reaches the threshold; None: none."""
    if threshold is None:
        return np.zeros(len(stage.outcomes), dtype=np.bool_)
    return np.asarray((stage.outcomes == outcome) & (np.nan_to_num(stage.shares, nan=-1.0) >= threshold))
