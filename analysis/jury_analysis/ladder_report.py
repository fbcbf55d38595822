"""A ladder of stages, certified: from the votes of every stage to thresholds, and what they do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from jury_analysis.ballots import check
from jury_analysis.calibration import Parts, counts_by_cluster, digest_of, split_clusters
from jury_analysis.certificate import Tried, fewest_labels
from jury_analysis.errors import BadBallots, BadSplit, TooFewLabels
from jury_analysis.labels import label_ballots, resolve
from jury_analysis.ladder_promises import (
    MissedCount,
    Promises,
    StageCertificate,
    StageCounts,
    Table,
    early_levels,
    stage_certificate,
)
from jury_analysis.ladder_use import (
    FAILS,
    PASSES,
    LadderUse,
    LadderVotes,
    StageBallots,
    StageVotes,
    ladder_use,
    ladder_votes,
)
from jury_analysis.report_object import json_object
from jury_analysis.scale import OURS, Exclusion, Scale, without_simulated
from jury_analysis.vote_matrix import Bools, Ints
from jury_events.ladder import FEWEST_STAGES, MOST_STAGES


class CertifiedLadder(NamedTuple):
    """The certificates of all stages but the last, and where each unit ends.

    `ends` is [units]: the stage that decides, from 0; of units that were not certified on too.
    """

    stages: tuple[StageCertificate, ...]
    ends: Ints


def certify_ladder(votes: LadderVotes, used: Bools, promises: Promises) -> CertifiedLadder:
    """Find the lowest certified thresholds, stage by stage.

    Args:
        used: [units]: those to certify on; units without a label are none of them.
    """
    used = np.asarray(used & votes.labelled)
    clusters = votes.clusters
    number = len(np.unique(clusters[used]))
    ends = np.full(len(votes.labels), len(votes.stages) - 1, dtype=np.int64)
    passed = np.zeros(len(votes.labels), dtype=np.bool_)
    reached = np.ones(len(votes.labels), dtype=np.bool_)
    found = []
    for place, stage in enumerate(votes.stages[:-1]):
        counts = _Counting(votes, stage, used, reached, passed, clustered=number < int(used.sum()))
        one = stage_certificate(
            counts.of(promises),
            promises,
            units=int(used.sum()),
            clusters=number,
            stages=len(votes.stages),
            combinations=promises.combinations([len(before.seats) for before in votes.stages[:place]]),
        )
        passes, fails = (
            reached & reaching(stage, outcome, threshold)
            for outcome, threshold in ((PASSES, one.pass_threshold), (FAILS, one.fail_threshold))
        )
        ends[passes | fails] = place
        passed |= passes
        reached &= ~(passes | fails)
        found.append(one)
    return CertifiedLadder(tuple(found), ends)


class _Counting(NamedTuple):
    """Counts of a stage among the units that reach it."""

    votes: LadderVotes
    stage: StageVotes
    used: Bools
    reached: Bools
    passed: Bools
    """[units]: accepted as a pass by a stage before."""
    clustered: bool

    def of(self, promises: Promises) -> StageCounts:
        passes, pass_subject = self._tried(PASSES)
        fails, fail_subject = self._tried(FAILS)
        missed = () if promises.missed is None else tuple(self._missed(one.threshold) for one in passes)
        return StageCounts(passes, pass_subject, fails, fail_subject, missed)

    def _tried(self, outcome: int) -> tuple[list[Tried], int]:
        """Levels that accept no more than the one before are left out: nothing was seen of verdicts there."""
        within = self.used & self.reached & (self.stage.outcomes == outcome)
        wrong = within & (self.votes.labels != outcome)
        sequence: list[Tried] = []
        for level in early_levels(len(self.stage.seats)):
            accepted = within & reaching(self.stage, outcome, level)
            count = int(accepted.sum())
            if count == (sequence[-1].accepted if sequence else 0):
                continue
            sequence.append(Tried(level, count, int((accepted & wrong).sum()), self._table(accepted, wrong, self.used)))
        return sequence, int(within.sum())

    def _missed(self, threshold: float) -> MissedCount:
        failing = self.used & (self.votes.labels == FAILS)
        passed = self.passed | (self.reached & reaching(self.stage, PASSES, threshold))
        missed = failing & passed
        return MissedCount(threshold, int(failing.sum()), int(missed.sum()), self._table(failing, missed, self.used))

    def _table(self, counted: Bools, wrong: Bools, units: Bools) -> Table:
        if not self.clustered:
            return ()
        return counts_by_cluster(counted[units], wrong[units], self.votes.clusters[units])


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


SEED = 20260927


@dataclass(frozen=True)
class LadderOptions:
    """What is promised, and on which cases it is certified."""

    promises: Promises
    split: tuple[float, float] = (100.0, 0.0)
    """Percent of the clusters to certify and to report on; they sum to 100."""
    seed: int = SEED
    """Of the draw of the clusters."""
    scale: Scale = OURS
    simulated: bool = False


@dataclass(frozen=True)
class ReportedStage:
    """A stage and its certificate."""

    name: str
    seats: tuple[str, ...]
    verdict: str
    """Whose: the `jury`'s, or the `plurality` of the seats."""
    certificate: StageCertificate | None
    """None: the last stage, of which nothing is promised."""


@dataclass(frozen=True)
class LadderReport:
    """A ladder with everything that is known about it."""

    promises: Promises
    stages: tuple[ReportedStage, ...]
    categories: tuple[str, ...]
    units: int
    """Labelled units that it was certified on."""
    clusters: int
    failing: int
    """Of the units, those whose label fails."""
    cases: str
    """SHA-256 of the sorted ids of their cases."""
    labels: str
    """SHA-256 of pairs of case and label, sorted."""
    split: tuple[float, float]
    seed: int
    use: LadderUse
    excluded: tuple[Exclusion, ...]
    warnings: tuple[str, ...]

    @property
    def accepts(self) -> bool:
        return any(one.certificate is not None and one.certificate.accepts for one in self.stages)

    def to_dict(self) -> dict[str, Any]:
        values = json_object(self)
        for stage in values["stages"]:
            for row in _rows(stage["certificate"]):
                if not row["by_cluster"]:
                    del row["by_cluster"]
        return values


def calibrate_ladder(stages: Sequence[StageBallots], labels: pa.Table | None, options: LadderOptions) -> LadderReport:
    """Certify a ladder.

    Args:
        stages: of each stage its ballots, rows of `ballots.SCHEMA`, over the same cases; from the cheapest on.
        labels: rows of `labels.LABELS`, which win over the labels of the ballots; None: those of the ballots.
    """
    if not FEWEST_STAGES <= len(stages) <= MOST_STAGES:
        raise BadBallots(f"a ladder has {FEWEST_STAGES} to {MOST_STAGES} stages, not {len(stages)}")
    tables, excluded, warnings = [], set(), []
    for name, ballots in stages:
        table = check(ballots)
        if not table.num_rows:
            raise BadBallots(f"stage {name:.60} has no ballots: no debate matches, or the file has no votes")
        if labels is not None:
            table = label_ballots(table, resolve(labels)).ballots
        sample = without_simulated(table, include=options.simulated)
        tables.append(StageBallots(name, sample.ballots))
        excluded |= set(sample.excluded)
        warnings += [str(one) for one in sample.warnings if str(one) not in warnings]
    votes = ladder_votes(tables, options.scale)
    parts = split_clusters(votes.matrix, (0.0, *options.split), options.seed)
    used = np.asarray(parts.certify & votes.labelled)
    _enough(int(used.sum()), options.promises)
    found = certify_ladder(votes, used, options.promises)
    counted, part = _reported(parts, votes)
    certificates = (*found.stages, None)
    return LadderReport(
        promises=options.promises,
        stages=tuple(
            ReportedStage(stage.name, stage.seats, stage.verdict, one)
            for stage, one in zip(votes.stages, certificates, strict=True)
        ),
        categories=votes.matrix.scale.categories,
        units=int(used.sum()),
        clusters=len(np.unique(votes.clusters[used])),
        failing=int((used & (votes.labels == FAILS)).sum()),
        cases=digest_of([case for case, _ in _labelled(votes, used)]),
        labels=digest_of(_labelled(votes, used)),
        split=options.split,
        seed=options.seed,
        use=ladder_use(votes, found.ends, counted, part),
        excluded=tuple(sorted(excluded, key=lambda one: str(one.reason))),
        warnings=(*warnings, *_warnings(found.stages), *_notes(votes, found.stages, part)),
    )


def _reported(parts: Parts, votes: LadderVotes) -> tuple[Bools, str]:
    test = np.asarray(parts.test & votes.labelled)
    return (test, "test") if test.any() else (np.asarray(parts.certify & votes.labelled), "certify")


def _enough(labelled: int, promises: Promises) -> None:
    if not labelled:
        raise BadSplit("there is no labelled case to certify on: label cases (--labels), or split as in 70/30")
    risks = [risk for risk in (promises.passes, promises.fails) if risk is not None]
    fewest = min(fewest_labels(risk, promises.confidence) for risk in risks)
    if labelled < fewest:
        raise TooFewLabels(
            f"{labelled} labels to certify on are too few: these risks with confidence {promises.confidence:g} take "
            f"{fewest} at least, and more if any verdict is wrong"
        )


def _labelled(votes: LadderVotes, used: Bools) -> list[list[str]]:
    names, matrix = votes.matrix.scale.categories, votes.matrix
    return sorted(
        [matrix.case_names[int(matrix.cases[unit])], names[int(matrix.labels[unit])]]
        for unit in np.flatnonzero(used).tolist()
    )


def _warnings(stages: Sequence[StageCertificate]) -> tuple[str, ...]:
    """Of the certificates, each once."""
    of = [one for stage in stages for one in (stage.passes, stage.fails) if one is not None]
    return tuple(dict.fromkeys(warning for one in of for warning in one.warnings))


def _notes(votes: LadderVotes, stages: Sequence[StageCertificate], part: str) -> list[str]:
    notes = []
    if part == "certify":
        notes.append("there is no test part: the coverage is of the cases that the thresholds were chosen on")
    if any(one.accepts for one in stages):
        notes += [
            f"stage {place} ({votes.stages[place - 1].name:.60}) accepts nothing and is only paid for: leave it out"
            for place, one in enumerate(stages, 1)
            if not one.accepts
        ]
    return notes


def _rows(certificate: dict[str, Any] | None) -> list[dict[str, Any]]:
    if certificate is None:
        return []
    of = [certificate[name]["candidates"] for name in ("passes", "fails") if certificate[name] is not None]
    return [row for rows in (*of, certificate["missed"]) for row in rows]
