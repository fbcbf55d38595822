"""A ladder of stages, certified: from the votes of every stage to thresholds, and what they do."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

from jury_analysis.ballots import check
from jury_analysis.calibration import Parts, split_clusters
from jury_analysis.certificate import fewest_labels
from jury_analysis.errors import BadBallots, BadSplit, TooFewLabels
from jury_analysis.labels import label_ballots, resolve
from jury_analysis.ladders.ladder_use import FAILS, LadderUse, LadderVotes, StageBallots, ladder_use, ladder_votes
from jury_analysis.ladders.promises import Promises, StageCertificate, certify_ladder
from jury_analysis.report_object import json_object
from jury_analysis.scale import OURS, Exclusion, Scale, without_simulated
from jury_analysis.vote_matrix import Bools
from jury_events.canonical import canonical_json
from jury_events.ladder import FEWEST_STAGES, MOST_STAGES

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
        """Whether any stage accepts anything."""
        return any(one.certificate is not None and one.certificate.accepts for one in self.stages)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; figures have 12 decimal places."""
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
        cases=_digest([case for case, _ in _labelled(votes, used)]),
        labels=_digest(_labelled(votes, used)),
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


def _digest(value: Any) -> str:
    return sha256(canonical_json(value)).hexdigest()
