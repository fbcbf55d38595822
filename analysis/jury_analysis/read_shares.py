"""How much of the record do votes rest on, and are those that rest on all of it more often right?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from jury_analysis.accuracy import errors
from jury_analysis.ballots import READING
from jury_analysis.estimate import Estimate, missing
from jury_analysis.faults import named_in_round
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import NO_LABELLED_VOTE
from jury_analysis.vote_matrix import OWN, Bools, Floats, VoteMatrix

_ALL = 100  # per cent


@dataclass(frozen=True)
class ShareRead:
    """What the votes of one rater rest on."""

    rater: str
    """`seat` or `all`."""
    seat: str | None
    """The seat's name; None for all of them."""
    votes: int
    """The seat's own votes of the first evaluation."""
    partly_read: Estimate
    """Votes that rest on less than the whole record / votes."""
    mean_share: Estimate
    """Mean of the shares of the record that the votes rest on, 0-1."""
    labelled: int
    """Votes of debates with a label."""
    accuracy_of_whole: Estimate
    """Right votes / labelled votes, of those that rest on the whole record."""
    accuracy_of_partly_read: Estimate
    """The same, of those that rest on less."""


@dataclass(frozen=True)
class ReadShares:
    """All seats, and all of their votes together."""

    seats: tuple[ShareRead, ...]
    all: ShareRead


def read_shares(table: pa.Table, matrix: VoteMatrix) -> ReadShares | None:
    """Shares of the record by seat; None where every vote rests on all of it, read in one call.

    Votes that were made up for a blocked answer read nothing themselves and do not count. A vote that counts as an
    abstention against the labels is not right.

    Args:
        table: checked ballots (`ballots.check`).
        matrix: the votes of its round 0.
    """
    (column,) = READING.names
    own = (matrix.votes >= 0) & (matrix.kinds == OWN)
    percent = np.where(own, named_in_round(table, column, matrix), -1)
    if not (percent >= 0).any():
        return None
    votes = _Votes(matrix, own, np.where(percent < 0, _ALL, percent) / _ALL)
    places = range(len(matrix.seats))
    return ReadShares(
        seats=tuple(votes.of("seat", matrix.seats[place], [place]) for place in places),
        all=votes.of("all", None, places),
    )


class _Votes:
    def __init__(self, matrix: VoteMatrix, own: Bools, shares: Floats) -> None:
        self._own, self._shares = own, shares
        self._clusters = matrix.clusters
        self._labelled: Bools = own & (matrix.labels >= 0)[:, None]
        self._right: Bools = errors(matrix.votes, matrix.labels, matrix.scale) == 0

    def of(self, rater: str, seat: str | None, places: Sequence[int]) -> ShareRead:
        own, labelled, right = (part[:, places].ravel() for part in (self._own, self._labelled, self._right))
        shares = self._shares[:, places].ravel()
        clusters = np.repeat(self._clusters, len(places))
        partly = shares < 1

        def accuracy(counted: Bools) -> Estimate:
            return proportion(right, counted, clusters) if counted.any() else missing(NO_LABELLED_VOTE)

        return ShareRead(
            rater=rater,
            seat=seat,
            votes=int(np.count_nonzero(own)),
            partly_read=proportion(partly, own, clusters),
            mean_share=_within(clustered_mean(shares, own.astype(np.float64), clusters).mean),
            labelled=int(np.count_nonzero(labelled)),
            accuracy_of_whole=accuracy(labelled & ~partly),
            accuracy_of_partly_read=accuracy(labelled & partly),
        )


def _within(mean: Estimate) -> Estimate:
    """A mean of shares, with its interval cut to 0-1."""
    interval = mean.interval
    cut = None if interval is None else replace(interval, low=max(0.0, interval.low), high=min(1.0, interval.high))
    return replace(mean, interval=cut)
