"""The strict plurality of votes: the category with more votes than any other, if there is one."""

import numpy as np

from jury_analysis.coefficients import tallies
from jury_analysis.vote_matrix import Codes, Floats, VoteMatrix


def strict_plurality(tally: Floats) -> tuple[Codes, Floats]:
    """The category of each unit with more votes than any other, and the votes of the first place.

    `tally` is [units, categories], see `coefficients.tallies`. Without votes or with a tie for the first place the
    category is -1.
    """
    top = tally.max(axis=1)
    single = np.count_nonzero(tally == top[:, None], axis=1) == 1
    return np.where(single & (top > 0), tally.argmax(axis=1), -1).astype(np.int8), top


def panel_plurality(matrix: VoteMatrix) -> tuple[Codes, Floats]:
    """What the panel's votes say of each unit: the strict plurality (-1: undecided) and its share of all seats.

    Missing votes stay in the denominator of the share.
    """
    codes, votes = strict_plurality(tallies(matrix.votes, len(matrix.scale.categories)))
    return codes, votes / max(1, matrix.votes.shape[1])
