"""Which verdicts are right: verdicts compared with labels."""

import numpy as np

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
