"""Whether confident verdicts are right more often: reliability, ECE, Brier score and AUROC.

Three confidences of a verdict are compared with whether the verdict is right:

- *vote share*, of the panel: the votes for its strict plurality / all seats. Missing votes stay in the denominator.
- *stated*, of each seat: the confidence that it states beside its verdict.
- *score*, of each seat, of the panel and of the jury: the score is read as the chance that a pass is right. So the
  confidence is score / 100 in a pass and 1 - score / 100 in a fail. A verdict that needs review has no such
  confidence; it is left out and counted. The panel's score is the mean of its seats' scores. What the scores of other
  verdicts than ours mean is not known, so they are compared with nothing.

Units without a label, without a decided verdict (see `accuracy`) or without the confidence are left out and counted.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jury_analysis.accuracy import decided
from jury_analysis.estimate import Estimate, missing, wilson
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import ALL_RIGHT_OR_WRONG, NO_CONFIDENCE, NO_DECIDED_CONFIDENCE
from jury_analysis.scale import OURS
from jury_analysis.vote_matrix import Bools, Codes, Floats, Ints, VoteMatrix, mean_scores, panel_plurality
from jury_events.verdict import FAIL, PASS

BINS = 10


@dataclass(frozen=True)
class ReliabilityBin:
    """Units whose confidence is above `low` and at most `high`; 0 belongs to the first bin."""

    low: float
    high: float
    n: int
    right: int
    mean_confidence: float | None
    """None in an empty bin."""
    rate: Estimate
    """right / n with Wilson's interval, which takes the units of a bin for independent; a note says where not."""


@dataclass(frozen=True)
class ConfidenceCurve:
    """One confidence of one rater's verdicts."""

    confidence: str
    """`vote share`, `stated` or `score`."""
    rater: str
    """`seat`, `panel` (the strict plurality of the seats) or `jury` (the final verdict of the debate)."""
    seat: str | None
    """The seat's name; None for panel and jury."""
    n: int
    """Units with a label, a decided verdict and this confidence. All figures are about these."""
    left_out: dict[str, int]
    """Why units were left out, and how many; each counts for the first reason that it has."""
    accuracy: Estimate
    mean_confidence: Estimate
    ece: Estimate
    """Expected calibration error: sum over the bins of share of units * |rate - mean confidence| (arXiv 1706.04599)."""
    brier: Estimate
    """Mean of (confidence - right)^2 (Brier 1950)."""
    auroc: Estimate
    """Chance that a right verdict has more confidence than a wrong one; ties count half (Hanley and McNeil 1982)."""
    bins: tuple[ReliabilityBin, ...]
    """Ten bins of equal width, closed on the right."""


@dataclass(frozen=True)
class ConfidenceReport:
    """All confidences of one round that the ballots have."""

    curves: tuple[ConfidenceCurve, ...]
    """Vote share first, then stated confidences by seat, then scores by seat, of the panel and of the jury."""


def confidence(matrix: VoteMatrix) -> ConfidenceReport:
    """Compare every confidence of one round with whether the verdicts are right.

    A confidence that occurs nowhere has no curve, and neither have scores beside other verdicts than ours.
    Intervals: of accuracy, `intervals.proportion`; of the others, the cluster-robust t. That of ECE takes the signs of
    the bins' gaps for fixed.
    """
    plurality, share = panel_plurality(matrix)

    def curve(kind: str, rater: str, seat: str | None, verdicts: Codes, stated: Floats) -> ConfidenceCurve:
        return _curve(matrix, (kind, rater, seat), verdicts, stated)

    curves = [curve("vote share", "panel", None, plurality, share)]
    seats = tuple(enumerate(matrix.seats))
    for index, seat in seats:
        if not np.isnan(matrix.confidences[:, index]).all():
            curves.append(curve("stated", "seat", seat, matrix.votes[:, index], matrix.confidences[:, index]))
    ours = matrix.scale.categories == OURS.categories
    if ours and not np.isnan(matrix.scores).all():
        for index, seat in seats:
            scores = score_confidence(matrix.votes[:, index], matrix.scores[:, index])
            curves.append(curve("score", "seat", seat, matrix.votes[:, index], scores))
        mean = score_confidence(plurality, mean_scores(matrix.scores))
        curves.append(curve("score", "panel", None, plurality, mean))
    if ours and not np.isnan(matrix.jury_scores).all():
        final = score_confidence(matrix.finals, matrix.jury_scores)
        curves.append(curve("score", "jury", None, matrix.finals, final))
    return ConfidenceReport(tuple(curves))


def score_confidence(verdicts: Codes, scores: Floats) -> Floats:
    """The score read as confidence in a verdict of `OURS`; nan for one that needs review. All arrays are [units]."""
    passes, fails = verdicts == OURS.code(PASS), verdicts == OURS.code(FAIL)
    return np.where(passes, scores / 100.0, np.where(fails, 1.0 - scores / 100.0, np.nan))


def bin_of(confidences: Floats) -> Ints:
    """Positions 0-9 of ten bins of equal width, closed on the right.

    A multiple of 0.1 is often not exact in binary, so a confidence within 1e-9 of an edge counts as that edge.
    """
    return np.clip(np.ceil(confidences * BINS - 1e-9).astype(np.int64) - 1, 0, BINS - 1)


def _curve(
    matrix: VoteMatrix,
    names: tuple[str, str, str | None],
    verdicts: Codes,
    stated: Floats,
) -> ConfidenceCurve:
    given = decided(verdicts, matrix.scale)
    reasons = {
        "no label": matrix.labels < 0,
        "no verdict": verdicts < 0,
        "the verdict is an abstention": given < 0,
        "no such confidence": np.isnan(stated),
    }
    used, left_out = np.ones(matrix.units, dtype=np.bool_), {}
    for reason, condition in reasons.items():
        count = int(np.count_nonzero(used & condition))
        if count:
            left_out[reason] = count
        used &= ~condition
    right, values, clusters = (given == matrix.labels)[used], stated[used], matrix.clusters[used]
    kind, rater, seat = names
    if not len(values):
        nothing = missing(NO_DECIDED_CONFIDENCE)
        accuracy = mean = ece = brier = auroc = nothing
    else:
        every = np.ones(len(values), dtype=np.bool_)
        accuracy = proportion(right, every, clusters)
        mean = clustered_mean(values, every, clusters).mean
        brier = clustered_mean((values - right) ** 2, every, clusters).mean
        ece, auroc = _calibration_error(values, right, clusters), _auroc(values, right, clusters)
    return ConfidenceCurve(
        confidence=kind,
        rater=rater,
        seat=seat,
        n=len(values),
        left_out=left_out,
        accuracy=accuracy,
        mean_confidence=mean,
        ece=ece,
        brier=brier,
        auroc=auroc,
        bins=_bins(values, right, clusters),
    )


def _bins(values: Floats, right: Bools, clusters: npt.NDArray[np.int32]) -> tuple[ReliabilityBin, ...]:
    place = bin_of(values)
    sampled = np.bincount(np.unique(np.stack([place, clusters]), axis=1)[0], minlength=BINS)
    sizes = np.bincount(place, minlength=BINS)
    rights = np.bincount(place, weights=right, minlength=BINS).astype(np.int64)
    sums = np.bincount(place, weights=values, minlength=BINS)
    return tuple(
        ReliabilityBin(
            low=index / BINS,
            high=(index + 1) / BINS,
            n=int(n),
            right=int(rights[index]),
            mean_confidence=float(sums[index] / n) if n else None,
            rate=wilson(int(rights[index]), int(n), int(sampled[index])) if n else missing(NO_CONFIDENCE),
        )
        for index, n in enumerate(sizes)
    )


def _calibration_error(values: Floats, right: Bools, clusters: npt.NDArray[np.int32]) -> Estimate:
    """ECE as the mean over units of (right - confidence) times the sign of its bin's sum, which is the same number."""
    place, gap = bin_of(values), right - values
    signs = np.sign(np.bincount(place, weights=gap, minlength=BINS))
    return clustered_mean(gap * signs[place], np.ones(len(values)), clusters).mean.within()


def _auroc(values: Floats, right: Bools, clusters: npt.NDArray[np.int32]) -> Estimate:
    """AUROC with the variance of clustered data of Obuchowski (1997).

    The placement of a right unit is the share of wrong units with less confidence, that of a wrong unit the share of
    right units with more (ties count half). AUROC is the mean of either, and its error is the sum of the errors of both
    means. The mean below, in which right and wrong units weigh the same in all, has this value and this error.
    """
    rights, wrongs = int(right.sum()), int((~right).sum())
    if not rights or not wrongs:
        return missing(ALL_RIGHT_OR_WRONG, len(values))
    levels, code = np.unique(values, return_inverse=True)
    of_right = np.bincount(code[right], minlength=len(levels))
    of_wrong = np.bincount(code[~right], minlength=len(levels))
    below = (np.cumsum(of_wrong) - of_wrong / 2) / wrongs
    above = (rights - np.cumsum(of_right) + of_right / 2) / rights
    area = float(below @ of_right / rights)
    placement = np.where(right, below[code], above[code])
    weights = np.where(right, 1 / rights, 1 / wrongs)
    return clustered_mean(2 * placement - area, weights, clusters).mean.within()
