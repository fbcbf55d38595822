"""Coefficients of agreement, from counts of equal units.

Every function takes `counts` [resamples, patterns], how often each pattern occurs, and mostly `tally` [patterns,
categories], how many raters gave a unit of that pattern each category. It returns [resamples] figures, nan where the
data do not define one. Categories count as declared, used or not.

N[u,c] is the tally of unit u, m_u = Σ_c N[u,c], and q the number of categories.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def tallies(votes: npt.NDArray[np.integer], categories: int) -> Floats:
    """[units, categories]: how many of a unit's votes [units, raters] are each category; -1 is no vote."""
    columns = [np.count_nonzero(votes == code, axis=1) for code in range(categories)]
    return np.column_stack(columns).astype(np.float64)


def alpha(counts: Floats, tally: Floats, *, ordinal: bool) -> Floats:
    """Krippendorff's α over units with two votes or more; ordinal or nominal distances.

    α = 1 - (n-1) · Σ o·δ / Σ n_c n_k δ, with coincidences o = Σ_u (N_u N_uᵀ - diag N_u)/(m_u-1), their row sums n_c,
    and n = Σ n_c; δ is 1[c≠k], or (r_c - r_k)² of the mid-ranks r = cumulated n_c - n_c/2 (Krippendorff, "Computing
    Krippendorff's Alpha-Reliability", 2011). Undefined where only one category occurs.
    """
    kept, m = _pairable(tally)
    q = tally.shape[1]
    pairs = kept[:, :, None] * kept[:, None, :]
    pairs[:, np.arange(q), np.arange(q)] -= kept
    pairs = np.divide(pairs, (m - 1)[:, None, None], out=np.zeros_like(pairs), where=(m > 1)[:, None, None])
    coincidences = (counts @ pairs.reshape(len(tally), q * q)).reshape(len(counts), q, q)
    marginals = counts @ kept
    ranks = np.cumsum(marginals, axis=1) - marginals / 2
    distances = np.square(ranks[:, :, None] - ranks[:, None, :]) if ordinal else 1 - np.eye(q)
    observed = (coincidences * distances).sum(axis=(1, 2))
    expected = (marginals[:, :, None] * marginals[:, None, :] * distances).sum(axis=(1, 2))
    return _or_nan(1 - (marginals.sum(axis=1) - 1) * _ratio(observed, expected), expected > 0)


def score_sums(values: Floats) -> Floats:
    """What `interval_alpha` needs of numbers [units, raters]; nan is no value.

    Returns:
        [units, 4]: number, sum and sum of squares of a unit's values, and their squared distances within the unit; zero
        for units with fewer than two values. They can be added up over units.
    """
    present = ~np.isnan(values)
    m = present.sum(axis=1).astype(np.float64)
    pairable = m > 1
    centre = float(values[present].mean()) if present.any() else 0.0  # against loss of digits
    centred = np.where(present & pairable[:, None], values - centre, 0.0)
    total, squares = centred.sum(axis=1), np.square(centred).sum(axis=1)
    within = np.divide(m * squares - np.square(total), m - 1, out=np.zeros_like(m), where=pairable)
    return np.column_stack((np.where(pairable, m, 0.0), total, squares, within))


def interval_alpha(sums: Floats) -> Floats:
    """Krippendorff's α of numbers with squared differences, from sums [resamples, 4] of `score_sums`.

    Σ (x-y)² over all pairs of n values is n Σx² - (Σx)², so that no pair is looked at.
    """
    n, total, squares, within = sums.T
    expected = n * squares - np.square(total)
    enough = expected > _ROUNDING * np.maximum(1.0, n * squares)
    return _or_nan(1 - (n - 1) * _ratio(within, expected), enough)


def gwet(counts: Floats, tally: Floats, weights: Floats) -> Floats:
    """Gwet's AC1 (weights: identity) or AC2 over declared categories.

    (pa - pe)/(1 - pe) with pa = mean over m_u ≥ 2 of Σ_c N_uc (Σ_k w_ck N_uk - 1)/(m_u(m_u-1)), π_c = mean over m_u ≥ 1
    of N_uc/m_u, and pe = Σw/(q(q-1)) · Σ π_c(1-π_c) (Gwet, "Computing inter-rater reliability and its variance in the
    presence of high agreement", 2008; "Handbook of Inter-Rater Reliability", 2014).
    """
    q = tally.shape[1]
    m = tally.sum(axis=1)
    shares = np.divide(tally, m[:, None], out=np.zeros_like(tally), where=(m > 0)[:, None])
    prevalence = (counts @ shares) / (counts @ (m > 0))[:, None]
    chance = weights.sum() / (q * (q - 1)) * (prevalence * (1 - prevalence)).sum(axis=1)
    observed = agreement(counts, tally, weights)
    return _or_nan(_ratio(observed - chance, 1 - chance), chance < 1)


def agreement(counts: Floats, tally: Floats, weights: Floats) -> Floats:
    """The mean over units with two votes or more of the share of agreeing pairs of votes, weighted by closeness."""
    _, m = _pairable(tally)
    agreeing = (tally * (tally @ weights - 1)).sum(axis=1)
    share = np.divide(agreeing, m * (m - 1), out=np.zeros_like(m), where=m > 1)
    units = counts @ (m > 1)
    return _or_nan(_ratio(counts @ share, units), units > 0)


def fleiss(counts: Floats, tally: Floats, raters: int) -> Floats:
    """Fleiss' κ over units with a vote of every rater (Fleiss 1971)."""
    complete = (tally.sum(axis=1) == raters).astype(np.float64)
    if raters < 2:  # noqa: PLR2004  (agreement needs two raters)
        return np.full(len(counts), np.nan)
    units = counts @ complete
    agreeing = (tally * (tally - 1)).sum(axis=1) * complete / (raters * (raters - 1))
    observed = _ratio(counts @ agreeing, units)
    prevalence = (counts @ (tally * complete[:, None])) / (units * raters)[:, None]
    chance = np.square(prevalence).sum(axis=1)
    # Where all votes are one category, chance is 1 but for rounding.
    return _or_nan(_ratio(observed - chance, 1 - chance), (units > 0) & (1 - chance > _ROUNDING))


def kappa(tables: Floats, weights: Floats) -> Floats:
    """Cohen's weighted κ of confusion tables [resamples, categories, categories] (Cohen 1968).

    `weights` are of agreement: 1 on the diagonal. Undefined where both raters use one and the same category.
    """
    total = tables.sum(axis=(1, 2))
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    disagreement = 1 - weights
    by_chance = _ratio((expected * disagreement).sum(axis=(1, 2)), total)
    return _or_nan(1 - _ratio((tables * disagreement).sum(axis=(1, 2)), by_chance), by_chance > 0)


def identity_weights(categories: int) -> Floats:
    """Agreement is equality."""
    return np.eye(categories)


def linear_weights(categories: int) -> Floats:
    """1 - |c-k|/(q-1)."""
    return 1 - _steps(categories) / (categories - 1)


def ordinal_weights(categories: int) -> Floats:
    """1 - C(|c-k|+1, 2)/C(q, 2): Gwet's ordinal weights."""
    steps = _steps(categories)
    return 1 - steps * (steps + 1) / (categories * (categories - 1))


_ROUNDING = 1e-12


def _steps(categories: int) -> Floats:
    codes = np.arange(categories, dtype=np.float64)
    return np.abs(codes[:, None] - codes[None, :])


def _pairable(tally: Floats) -> tuple[Floats, Floats]:
    """Tallies with those of units with fewer than two votes set to zero, and the number of votes."""
    m = tally.sum(axis=1)
    return np.where((m > 1)[:, None], tally, 0.0), m


def _ratio(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)
    return ratio


def _or_nan(figures: Floats, defined: npt.NDArray[np.bool_]) -> Floats:
    return np.where(defined, figures, np.nan)
