"""What votes rest on: quotations that stand where the seats say, and how much of the record was read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.accuracy import errors
from jury_analysis.ballots import EVIDENCE, READING
from jury_analysis.estimate import Estimate, missing
from jury_analysis.faults import named_in_round
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import NO_FAILING_VERDICT, NO_LABELLED_VOTE, NO_PASS_OR_FAIL, NO_QUOTATION
from jury_analysis.scale import Scale
from jury_analysis.vote_matrix import OWN, Bools, Floats, VoteMatrix

RESULTS = EVIDENCE.names[:4]
"""What the check of a quotation finds, in the order of `EVIDENCE`."""

_SUPPORTING = 2  # the first of them: those that stand where the seat says


@dataclass(frozen=True)
class Quoted:
    """The quotations of one rater."""

    rater: str
    """`seat`, `judge` (the final judge) or `all`."""
    seat: str | None
    """The seat's name; None for the others."""
    evaluations: int
    """Evaluations that were asked for evidence."""
    quotations: int
    """The denominator of the next four shares, which are 1 together."""
    verified: Estimate
    """The item has exactly this."""
    normalised: Estimate
    """The item has it but for white space, case, quotation marks and dots at the ends."""
    elsewhere: Estimate
    """Another item has exactly this."""
    not_found: Estimate
    """None of these."""
    failing: int
    """Evaluations asked for evidence whose verdict fails."""
    unsupported: Estimate
    """Those without a verified or normalised quotation / failing evaluations."""


@dataclass(frozen=True)
class QuotationShares:
    """All raters that were asked for evidence."""

    seats: tuple[Quoted, ...]
    judge: Quoted | None
    """None where no final judge was asked."""
    all: Quoted


def quotation_shares(table: pa.Table, scale: Scale) -> QuotationShares | None:
    """The shares of the results by rater; None where no vote was asked for evidence.

    A unit is an evaluation. Votes that were made up for a blocked answer, or are repeated from an earlier round, quote
    nothing themselves and do not count.
    """
    if "verified" not in table.column_names:
        return None
    own = table.filter(pc.and_(pc.is_valid(table["verified"]), pc.equal(table["kind"].cast(pa.string()), "own")))
    if not own.num_rows:
        return None
    shares = _Shares(own, scale)
    jurors = own["role"].cast(pa.string()).to_numpy(zero_copy_only=False) == "juror"
    names = own["seat"].cast(pa.string()).to_numpy(zero_copy_only=False)
    return QuotationShares(
        seats=tuple(shares.of("seat", seat, jurors & (names == seat)) for seat in sorted(set(names[jurors]))),
        judge=None if jurors.all() else shares.of("judge", None, ~jurors),
        all=shares.of("all", None, np.ones(len(jurors), dtype=np.bool_)),
    )


class _Shares:
    def __init__(self, own: pa.Table, scale: Scale) -> None:
        self._counts: Floats = np.column_stack([own[name].to_numpy().astype(np.float64) for name in RESULTS])
        self._clusters: npt.NDArray[np.int64] = (
            pc.rank(own["cluster"].cast(pa.string()), tiebreaker="dense").to_numpy().astype(np.int64) - 1
        )
        verdicts = own["verdict"].cast(pa.string()).to_numpy(zero_copy_only=False)
        self._fails: Bools = np.isin(verdicts, scale.failing)
        self._ordered = scale.ordered

    def of(self, rater: str, seat: str | None, chosen: Bools) -> Quoted:
        counts, clusters = self._counts[chosen], self._clusters[chosen]
        totals = counts.sum(axis=1)
        found = [_share(counts[:, place], totals, clusters) for place in range(len(RESULTS))]
        failing = self._fails[chosen]
        bare = counts[:, :_SUPPORTING].sum(axis=1) == 0
        unsupported = missing(NO_FAILING_VERDICT) if self._ordered else missing(NO_PASS_OR_FAIL)
        return Quoted(
            rater=rater,
            seat=seat,
            evaluations=len(counts),
            quotations=int(totals.sum()),
            verified=found[0],
            normalised=found[1],
            elsewhere=found[2],
            not_found=found[3],
            failing=int(failing.sum()),
            unsupported=proportion(bare, failing, clusters) if failing.any() else unsupported,
        )


def _share(counts: Floats, totals: Floats, clusters: npt.NDArray[np.int64]) -> Estimate:
    """Quotations with a result / quotations, over clusters; `n` is the number of quotations."""
    if not totals.any():
        return missing(NO_QUOTATION)
    parts = np.divide(counts, totals, out=np.zeros(len(totals)), where=totals > 0)
    return replace(clustered_mean(parts, totals, clusters).mean.within(), n=int(totals.sum()))


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
            mean_share=clustered_mean(shares, own.astype(np.float64), clusters).mean.within(),
            labelled=int(np.count_nonzero(labelled)),
            accuracy_of_whole=accuracy(labelled & ~partly),
            accuracy_of_partly_read=accuracy(labelled & partly),
        )
