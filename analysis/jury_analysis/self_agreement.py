"""Agreement of seats with themselves: of repeats, and of rounds with those before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from jury_analysis.agreement import coefficients_of
from jury_analysis.coefficients import tallies
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import RESAMPLES, SEED
from jury_analysis.reasons import NO_REPEATS, NO_REPEATS_OF_SEAT
from jury_analysis.vote_matrix import Bools, Codes, VoteMatrix, panel_plurality, patterns

PANEL = "panel"


@dataclass(frozen=True)
class SelfAgreement:
    """How a seat, or the panel, agrees with itself over repeats. `n` counts cases with two repeats or more."""

    seat: str
    """A seat; `panel` is the jury: its final verdict where known, otherwise the strict plurality of its seats."""
    raw: Estimate
    """The share of pairs of repeats with the same verdict, as a mean over cases."""
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    ac1: Estimate


@dataclass(frozen=True)
class Repeats:
    """Self-agreement of all seats and of the panel."""

    cases: int
    """Cases (and variants of cases) that were judged more than once."""
    largest: int
    """The largest number of repeats of a case."""
    panel: SelfAgreement
    seats: tuple[SelfAgreement, ...]


def self_agreement(matrix: VoteMatrix, *, resamples: int = RESAMPLES, seed: int = SEED) -> Repeats:
    """Coefficients of agreement where the raters are repeats: debates of one case and variant.

    Args:
        matrix: of round 0, of one panel.
    """
    group, pairs = patterns(matrix.cases, matrix.variants)
    sizes = np.bincount(group)
    first = np.empty(len(pairs), dtype=np.int64)
    first[group] = np.arange(len(group))
    clusters = matrix.clusters[first].astype(np.int64)
    plurality, _ = panel_plurality(matrix)
    jury = np.where(matrix.finals >= 0, matrix.finals, plurality)

    def of(name: str, votes: Codes) -> SelfAgreement:
        if sizes.max(initial=0) < 2:  # noqa: PLR2004  (two repeats are the least)
            return SelfAgreement(name, *[missing(NO_REPEATS)] * 4)
        voting = votes >= 0
        size = len(matrix.scale.categories)
        cells = np.bincount(group[voting] * size + votes[voting], minlength=len(pairs) * size)
        tally = cells.reshape(len(pairs), size)
        codes, rows = patterns(tally.astype(np.int32))
        figures = coefficients_of(
            rows.astype(np.float64),
            codes,
            clusters,
            ordered=matrix.scale.ordered,
            raters=int(sizes.max()),
            resamples=resamples,
            seed=seed,
        )
        if not (tally.sum(axis=1) > 1).any():
            figures = dict.fromkeys(figures, missing(NO_REPEATS_OF_SEAT))
        return SelfAgreement(name, figures["raw"], figures["alpha_nominal"], figures["alpha_ordinal"], figures["ac1"])

    return Repeats(
        cases=int(np.count_nonzero(sizes > 1)),
        largest=int(sizes.max(initial=0)),
        panel=of(PANEL, jury),
        seats=tuple(of(seat, matrix.votes[:, place]) for place, seat in enumerate(matrix.seats)),
    )


@dataclass(frozen=True)
class RoundConvergence:
    """How far the seats agree in one round. Whether they are right is in `discussion.RoundVotes`.

    Agreement that rises while accuracy does not is no gain: show both side by side.
    """

    round: int
    """0 is the first evaluation: the only one whose agreement is reliability."""
    debates: int
    """Debates that had this round."""
    votes: int
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    ac1: Estimate
    raw: Estimate
    alpha_before: Estimate
    """Nominal α of round 0 of the debates that had this round: discussions that ended early are not among them."""


def convergence(
    rounds: Mapping[int, VoteMatrix], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[RoundConvergence, ...]:
    """Agreement round by round.

    Args:
        rounds: of `vote_matrix.by_round`.
    """
    computed: dict[tuple[int, bytes], dict[str, Estimate]] = {}  # most rounds are of the same debates

    def coefficients(number: int, chosen: Bools) -> dict[str, Estimate]:
        key = (number, chosen.tobytes())
        if key not in computed:
            computed[key] = _coefficients(rounds[number], chosen, resamples, seed)
        return computed[key]

    return tuple(_round(number, matrix, min(rounds), coefficients) for number, matrix in sorted(rounds.items()))


def _round(
    number: int, matrix: VoteMatrix, first: int, coefficients: Callable[[int, Bools], dict[str, Estimate]]
) -> RoundConvergence:
    reached: Bools = np.any(matrix.kinds >= 0, axis=1)
    now, before = coefficients(number, reached), coefficients(first, reached)
    return RoundConvergence(
        round=number,
        debates=int(np.count_nonzero(reached)),
        votes=int(np.count_nonzero(matrix.votes >= 0)),
        alpha_nominal=now["alpha_nominal"],
        alpha_ordinal=now["alpha_ordinal"],
        ac1=now["ac1"],
        raw=now["raw"],
        alpha_before=before["alpha_nominal"],
    )


def _coefficients(matrix: VoteMatrix, chosen: Bools, resamples: int, seed: int) -> dict[str, Estimate]:
    codes, rows = patterns(matrix.votes[chosen])
    return coefficients_of(
        tallies(rows, len(matrix.scale.categories)),
        codes,
        matrix.clusters[chosen].astype(np.int64),
        ordered=matrix.scale.ordered,
        raters=len(matrix.seats),
        resamples=resamples,
        seed=seed,
    )
