"""Agreement by round. After the first evaluation the seats have read each other: agreement is convergence then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from jury_analysis.agreement import coefficients_of
from jury_analysis.coefficients import tallies
from jury_analysis.estimate import Estimate
from jury_analysis.intervals import RESAMPLES, SEED
from jury_analysis.vote_matrix import Bools, VoteMatrix, patterns


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
        resamples: of the cluster bootstrap.
        seed: of the cluster bootstrap.
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
