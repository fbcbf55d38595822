"""Do the quotations of each seat stand where it says? Of all rounds, and of the final judge."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import EVIDENCE
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import NO_FAILING_VERDICT, NO_PASS_OR_FAIL, NO_QUOTATION
from jury_analysis.scale import Scale
from jury_analysis.vote_matrix import Bools, Floats

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

    Args:
        table: checked ballots (`ballots.check`).
        scale: the declared verdicts.
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
    found = clustered_mean(parts, totals, clusters).mean
    interval = found.interval
    within = None if interval is None else replace(interval, low=max(0.0, interval.low), high=min(1.0, interval.high))
    return replace(found, interval=within, n=int(totals.sum()))
