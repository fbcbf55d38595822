"""Do the seats agree? Reliability of the first evaluation, before any discussion."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from jury_analysis import coefficients
from jury_analysis.coefficients import tallies
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import RESAMPLES, SEED, bootstrap, proportion
from jury_analysis.reasons import (
    EQUAL_SCORES,
    GROUPED_CLUSTERS,
    NO_COMPLETE_CASE,
    NO_PAIR,
    NO_PAIR_OF_THESE,
    NO_REPEATS,
    NO_REPEATS_OF_SEAT,
    NO_SCORES,
    NOT_ORDERED,
    ONE_CATEGORY,
)
from jury_analysis.vote_matrix import (
    ABSTAINED,
    STALE,
    Bools,
    Codes,
    Floats,
    Ints,
    VoteMatrix,
    distinct_codes,
    panel_plurality,
    patterns,
)

_GROUPS = 5000
"""More clusters than these are drawn in groups: the width of the interval is the same but for 1 or 2 %."""


@dataclass(frozen=True)
class PairAgreement:
    """Two seats, over the debates in which both vote."""

    seats: tuple[str, str]
    raw: Estimate
    """The share of debates in which they agree."""
    kappa: Estimate
    """Cohen's κ."""
    weighted_kappa: Estimate
    """Cohen's κ with linear weights; only of ordered verdicts."""


@dataclass(frozen=True)
class SeatAbstentions:
    """How often a seat gives no vote of its own."""

    seat: str
    rate: Estimate
    """Of the debates in which the seat was asked."""
    abstained: int


@dataclass(frozen=True)
class Agreement:
    """Agreement of the seats in one round. Abstentions are missing; `n` counts debates with two votes or more."""

    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    alpha_scores: Estimate
    """Of the scores, with squared differences."""
    ac1: Estimate
    ac2: Estimate
    """With ordinal weights."""
    fleiss: Estimate
    """Over debates in which every seat votes; `n` counts these."""
    raw: Estimate
    """The share of agreeing pairs of votes, as a mean over debates."""
    pairs: tuple[PairAgreement, ...]
    abstentions: tuple[SeatAbstentions, ...]
    constant_seats: tuple[tuple[str, str], ...]
    """Seats that always give the same verdict, two votes or more, and that verdict."""


def agreement(matrix: VoteMatrix, *, resamples: int = RESAMPLES, seed: int = SEED) -> Agreement:
    """Coefficients of agreement with intervals over clusters.

    Krippendorff's α, Gwet's AC1 and AC2, Fleiss' κ and Cohen's κ of each pair: formulas and sources in `coefficients`.

    Args:
        matrix: of round 0; of later rounds agreement is convergence, no reliability.
    """
    codes, rows = patterns(matrix.votes)
    overall = coefficients_of(
        coefficients.tallies(rows, len(matrix.scale.categories)),
        codes,
        matrix.clusters.astype(np.int64),
        ordered=matrix.scale.ordered,
        raters=len(matrix.seats),
        resamples=resamples,
        seed=seed,
    )
    return Agreement(
        **overall,
        alpha_scores=_alpha_of_scores(matrix, resamples, seed),
        pairs=tuple(_pairs(matrix, codes, rows, resamples, seed)),
        abstentions=tuple(_abstentions(matrix, place) for place in range(len(matrix.seats))),
        constant_seats=tuple(_constant_seats(matrix)),
    )


def coefficients_of(
    tally: Floats, codes: Ints, clusters: Ints, *, ordered: bool, raters: int, resamples: int, seed: int
) -> dict[str, Estimate]:
    """All coefficients of one table of tallies.

    Args:
        tally: [patterns, categories], how many raters gave each category.
        codes: [units], the pattern of each unit.
        clusters: [units].
        ordered: whether the categories have an order.

    Returns:
        By name: alpha_nominal, alpha_ordinal, ac1, ac2, fleiss, raw.
    """
    used = np.flatnonzero(tally.sum(axis=1)[codes] > 0)  # a cluster without any vote is none of the sample
    kept = distinct_codes(codes[used])
    codes, tally, clusters = np.searchsorted(kept, codes[used]), tally[kept], clusters[used]
    votes = tally.sum(axis=1)[codes]
    names = ("alpha_nominal", "ac1", "fleiss", "raw", "alpha_ordinal", "ac2")
    if not (votes > 1).any():
        return dict.fromkeys(names, missing(NO_PAIR))
    same = coefficients.identity_weights(tally.shape[1])
    near = coefficients.ordinal_weights(tally.shape[1])

    def figures(counts: Floats) -> Floats:
        columns = [
            coefficients.alpha(counts, tally, ordinal=False),
            coefficients.gwet(counts, tally, same),
            coefficients.fleiss(counts, tally, raters),
            coefficients.agreement(counts, tally, same),
        ]
        if ordered:
            columns += [
                coefficients.alpha(counts, tally, ordinal=True),
                coefficients.gwet(counts, tally, near),
            ]
        return np.column_stack(columns)

    paired, complete = votes > 1, votes == raters
    incomplete = ONE_CATEGORY if complete.any() else NO_COMPLETE_CASE
    width = 6 if ordered else 4
    estimates = bootstrap(
        figures,
        codes,
        clusters,
        bases=(paired, paired, complete, paired, paired, paired)[:width],
        undefined=(ONE_CATEGORY, ONE_CATEGORY, incomplete, NO_PAIR, ONE_CATEGORY, ONE_CATEGORY)[:width],
        resamples=resamples,
        seed=seed,
    )
    return dict.fromkeys(names, missing(NOT_ORDERED)) | dict(zip(names, estimates, strict=False))


def _alpha_of_scores(matrix: VoteMatrix, resamples: int, seed: int) -> Estimate:
    """Scores are too different for counts of equal rows, but their sums by cluster are all that α needs."""
    present = np.count_nonzero(~np.isnan(matrix.scores), axis=1)
    used = np.flatnonzero(present)
    paired = int(np.count_nonzero(present > 1))
    if not paired:
        return missing(NO_SCORES)
    names = distinct_codes(matrix.clusters[used])
    codes = np.searchsorted(names, matrix.clusters[used]) % _GROUPS
    units = coefficients.score_sums(matrix.scores[used])
    sums = np.column_stack([np.bincount(codes, weights=column) for column in units.T])
    drawn = np.arange(len(sums))
    (estimate,) = bootstrap(
        lambda counts: coefficients.interval_alpha(counts @ sums),
        drawn,
        drawn,
        n=paired,
        undefined=EQUAL_SCORES,
        resamples=resamples,
        seed=seed,
    )
    if len(names) > len(sums):
        note = GROUPED_CLUSTERS(clusters=len(names), groups=len(sums))
        estimate = replace(estimate, notes=(*estimate.notes, note))
    return estimate


def _pairs(matrix: VoteMatrix, codes: Ints, rows: Ints, resamples: int, seed: int) -> Iterator[PairAgreement]:
    """One bootstrap for all pairs: the tables of all pairs are sums over the same counts."""
    q, ordered = len(matrix.scale.categories), matrix.scale.ordered
    places = list(combinations(range(len(matrix.seats)), 2))
    if not places:
        return
    both = (rows >= 0)[:, [a for a, _ in places]] & (rows >= 0)[:, [b for _, b in places]]
    cells = np.zeros((len(rows), len(places), q * q), dtype=np.float64)
    for number, (a, b) in enumerate(places):
        at = np.flatnonzero(both[:, number])
        cells[at, number, rows[at, a] * q + rows[at, b]] = 1.0
    flat = cells.reshape(len(rows), -1)
    weightings = [coefficients.identity_weights(q), *([coefficients.linear_weights(q)] if ordered else [])]

    def figures(counts: Floats) -> Floats:
        tables = (counts @ flat).reshape(-1, q, q)
        raw = np.trace(tables, axis1=1, axis2=2) / tables.sum(axis=(1, 2))
        columns = [raw, *(coefficients.kappa(tables, weights) for weights in weightings)]
        return np.concatenate([column.reshape(len(counts), len(places)) for column in columns], axis=1)

    reason = [NO_PAIR_OF_THESE if not both[:, number].any() else ONE_CATEGORY for number in range(len(places))]
    estimates = bootstrap(
        figures,
        codes,
        matrix.clusters,
        bases=[both[codes, number] for number in range(len(places))] * (1 + len(weightings)),
        undefined=reason * (1 + len(weightings)),
        resamples=resamples,
        seed=seed,
    )
    for number, (a, b) in enumerate(places):
        raw, kappa, *weighted = estimates[number :: len(places)]
        yield PairAgreement(
            (matrix.seats[a], matrix.seats[b]), raw, kappa, weighted[0] if weighted else missing(NOT_ORDERED)
        )


def _abstentions(matrix: VoteMatrix, place: int) -> SeatAbstentions:
    kinds = matrix.kinds[:, place]
    without = (kinds == ABSTAINED) | (kinds == STALE)
    rate = proportion(without, kinds >= 0, matrix.clusters)
    return SeatAbstentions(matrix.seats[place], rate, int(np.count_nonzero(without)))


def _constant_seats(matrix: VoteMatrix) -> Iterator[tuple[str, str]]:
    for place, seat in enumerate(matrix.seats):
        votes = matrix.votes[:, place]
        votes = votes[votes >= 0]
        if len(votes) > 1 and (votes == votes[0]).all():
            yield seat, matrix.scale.categories[votes[0]]


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
