"""Which verdicts are right: verdicts compared with labels."""

import numpy as np
import numpy.typing as npt

from jury_analysis.decided_cases import DecidedCases
from jury_analysis.estimate import missing
from jury_analysis.intervals import proportion
from jury_analysis.reasons import NO_DECIDED
from jury_analysis.scale import Scale
from jury_analysis.vote_matrix import Codes


def decided(verdicts: Codes, scale: Scale) -> Codes:
    """The verdicts, with -1 in place of the category that counts as an abstention against labels."""
    abstaining = scale.abstaining_code
    return verdicts if abstaining is None else np.where(verdicts == abstaining, np.int8(-1), verdicts)


def errors(verdicts: Codes, labels: Codes, scale: Scale) -> Codes:
    """Error indicators: 1 wrong, 0 right, -1 where the label or a decided verdict is missing.

    `verdicts` is [units] or [units, seats], `labels` is [units]; the result has the shape of `verdicts`.
    """
    given = decided(verdicts, scale)
    truth = labels if given.ndim == 1 else labels[:, None]
    return np.where((given < 0) | (truth < 0), np.int8(-1), (given != truth).astype(np.int8))


def decided_cases(verdicts: Codes, labels: Codes, clusters: npt.NDArray[np.int32], scale: Scale) -> DecidedCases:
    """What was decided of units, each with the codes of its verdict and its label (-1: none)."""
    labelled = labels >= 0
    alone = labelled & (verdicts >= 0) & ~scale.asks(verdicts)
    right = alone & (verdicts == labels)
    passes = labelled & scale.passes(verdicts) & ~scale.passes(labels)
    fails = labelled & scale.fails(verdicts) & ~scale.fails(labels)
    return DecidedCases(
        labelled=int(np.count_nonzero(labelled)),
        right=proportion(right, alone, clusters) if alone.any() else missing(NO_DECIDED),
        false_passes=int(np.count_nonzero(passes)) if scale.ordered else None,
        false_fails=int(np.count_nonzero(fails)) if scale.ordered else None,
    )
