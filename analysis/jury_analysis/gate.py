"""Is the second of two sets of verdicts worse than the first? A decision with a margin, three ways."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.agreement import self_agreement
from jury_analysis.ballots import check
from jury_analysis.errors import UnknownMetric
from jury_analysis.estimate import FEWEST, Estimate, missing
from jury_analysis.intervals import RESAMPLES, SEED, PossibleChange
from jury_analysis.paired import HIGHEST_SCORE, Paired, PairedChange, paired
from jury_analysis.pairing import PairedOptions, Verdicts
from jury_analysis.reasons import NO_REPEATS
from jury_analysis.report_object import ReportObject
from jury_analysis.scale import without_simulated
from jury_analysis.vote_matrix import vote_matrix

POWER = 0.8
"""The chance of finding a change of the size that was planned for."""

_ALPHA = 0.05  # two-sided, as the 95 % intervals
_POWER_ROUNDING = 1e-9  # an error of this size must not cost a case
_HALVINGS = 200  # of the search for the smallest change: more than a float has digits


@dataclass(frozen=True)
class PairedVariation:
    """How much the differences of pairs vary: what the power of a paired comparison depends on.

    The formula, for a mean difference d of pairs of which a share ψ differs (Connor 1987, for paired proportions; the
    simulated power for ψ = 0.1 and d = 0.05 with its 312 pairs is 0.82 for the interval, 0.75 for an exact McNemar
    test): n = (z[1-α/2]·√ψ + z[power]·√(ψ - d²))² / d², times the design effect.
    """

    mean_square: float
    """Mean squared difference of a pair. Where differences are -1, 0 and 1, this is the share ψ of pairs that differ;
    otherwise it must be the variance."""
    proportions: bool = True
    """Differences are -1, 0 and 1: a mean difference of d then needs at least a share d of pairs that differ."""
    design_effect: float = 1.0
    """How many times more pairs are needed because pairs of a cluster resemble each other; see `design_effect`."""
    cluster_size: float = 1.0
    """Mean number of pairs of a cluster. Pairs of fewer than `score_interval.FEWEST` clusters have no interval, and so
    find nothing."""

    @property
    def varies(self) -> bool:
        """Whether the differences vary. Without that, as of scores that all change alike, power has no meaning."""
        return self.proportions or self.mean_square > 0

    def cases(self, difference: float, *, power: float = POWER) -> int:
        """How many pairs find a difference of this size with this probability."""
        needed = max(self._exact(difference, power), FEWEST * self.cluster_size)
        return ceil(needed - _POWER_ROUNDING)

    def smallest(self, cases: float, *, power: float = POWER) -> float | None:
        """The smallest difference that so many pairs find with this probability; None where they find none, or
        do not vary."""
        if not self.varies or cases < FEWEST * self.cluster_size - _POWER_ROUNDING:
            return None
        if not self.proportions:
            return sqrt(_factor(power) ** 2 * self.mean_square * self.design_effect / cases)
        if self._exact(1.0, power) > cases:
            return None
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if self._exact(middle, power) > cases:
                low = middle
            else:
                high = middle
        return high

    def _exact(self, difference: float, power: float) -> float:
        if self.proportions and difference > 1:
            raise ValueError(f"a difference of shares is at most 1, not {difference}")
        if difference < 0:
            raise ValueError(f"a difference to be found must be above zero, not {difference}")
        if not difference:
            return inf
        square = difference**2
        if not self.proportions:
            return _factor(power) ** 2 * self.mean_square * self.design_effect / square
        changing = max(self.mean_square, difference)
        deviations = _quantile(1 - _ALPHA / 2) * sqrt(changing) + _quantile(power) * sqrt(changing - square)
        return deviations**2 / square * self.design_effect


def design_effect(cluster_size: float, correlation: float) -> float:
    """1 + (m - 1)·ICC for clusters of m pairs on average (Kish 1965)."""
    return 1 + (cluster_size - 1) * correlation


def _factor(power: float) -> float:
    return _quantile(1 - _ALPHA / 2) + _quantile(power)


def _quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


Worse = Literal["more", "less", "either"]
"""Which change does harm: a rise, a fall, or both."""

ACCURACY, FALSE_PASS, FALSE_FAIL, SCORE = "accuracy", "false_pass", "false_fail", "score"
METRICS = (FALSE_PASS, FALSE_FAIL, ACCURACY, SCORE)
"""Besides these, every verdict is a metric: its share."""

MARGIN = 0.02
"""Of shares and rates. The scores' margin is as much of their scale: 2 points."""

_OF_ENDS = (FALSE_PASS, FALSE_FAIL)
_OF_LABELS: dict[str, Worse] = {ACCURACY: "less", FALSE_PASS: "more", FALSE_FAIL: "more"}


def default_metric(report: Paired) -> str:
    """False passes, or accuracy, where there are labels for it; otherwise the share of the last verdict."""
    against = report.against_labels
    if against is not None and against.false_passes.change.n:
        return FALSE_PASS
    if report.ordered:
        return report.categories[-1]
    if against is not None:
        return ACCURACY
    raise UnknownMetric(
        "the verdicts have no order and the cases no labels, so no change is worse by itself: "
        f"name a verdict, as --metric {report.categories[0]}"
    )


def check_metric(metric: str, categories: Sequence[str], *, ordered: bool) -> None:
    """Check that verdicts of these categories have the metric."""
    if metric in categories:
        return
    if metric not in METRICS:
        known = ", ".join((*METRICS, *categories))
        raise UnknownMetric(f"there is no metric {metric!r:.60}; the metrics are {known}")
    if metric in _OF_ENDS and not ordered:
        raise UnknownMetric(
            f"the metric {metric} needs an order of the verdicts, to know which is a pass and which a fail: "
            "declare it with --order, or give another --metric"
        )


def figure_of(report: Paired, metric: str) -> PairedChange:
    check_metric(metric, report.categories, ordered=report.ordered)
    for share in report.shares:
        if share.verdict == metric:
            return share
    if metric == SCORE:
        return report.score
    against = report.against_labels
    if against is None:
        raise UnknownMetric(
            f"the metric {metric} needs labels, and no case has one: give --labels FILE, or another --metric"
        )
    return {ACCURACY: against.accuracy, FALSE_PASS: against.false_passes, FALSE_FAIL: against.false_fails}[metric]


def default_margin(metric: str) -> float:
    return MARGIN * HIGHEST_SCORE if metric == SCORE else MARGIN


def worse_direction(report: Paired, metric: str, wanted: Worse | None) -> Worse:
    """Which change of the metric does harm.

    With labels: lower accuracy, more false passes, more false fails. Without labels nothing says which of two panels
    is right, so that a change in either direction counts; where both sets have the same panel, or the direction is
    `wanted`, it is one: more of the last verdict of the order, less of the first, a lower score.
    """
    if metric in _OF_LABELS:
        if wanted not in (None, _OF_LABELS[metric]):
            raise UnknownMetric(f"of {metric}, {_OF_LABELS[metric]} is worse: leave --worse out")
        return _OF_LABELS[metric]
    if wanted is not None:
        return wanted
    first, second = report.panels
    if first is None or first != second:
        return "either"
    if metric == SCORE:
        return "less"
    if not report.ordered:
        return "either"
    return "less" if metric == report.categories[0] else "more"


Decision = Literal["pass", "fail", "inconclusive"]

_ROUNDING = 1e-12  # relative: what is left of the variance of equal differences

SCHEMA_NUMBER = 1
"""Of `Gate.to_dict`; `report_schema("gate")` describes it."""


@dataclass(frozen=True)
class GateOptions:
    """What a gate decides by."""

    metric: str | None = None
    """`accuracy`, `false_pass`, `false_fail`, `score`, or a verdict: its share. None: see `default_metric`."""
    margin: float | None = None
    """Harm that is accepted, as a share; of `score` in points. None: 0.02, or 2 points."""
    worse: Worse | None = None
    """Which change of a share or the score does harm; None: see `worse_direction`."""
    paired: PairedOptions = field(default_factory=PairedOptions)
    resamples: int = RESAMPLES
    """Of the bootstrap of flips between repeats."""
    seed: int = SEED
    """Of the bootstrap of flips between repeats."""


@dataclass(frozen=True)
class Gate(ReportObject):
    """The decision, and what it is based on. Shares and rates are 0-1, scores 0-100."""

    schema: int
    decision: Decision
    """`pass`: the interval of the harm is within the margin. `fail`: it is above zero, and not within the margin.
    `inconclusive`: neither, or there is no interval; or a missing evaluation could be such that it is decided
    otherwise."""
    metric: str
    worse: Worse
    """Which change of the metric does harm."""
    margin: float
    base: float | None
    """The metric of the first set, over the pairs."""
    candidate: float | None
    """The metric of the second set, over the pairs."""
    change: Estimate
    """candidate - base; `n` counts the pairs that the metric is about."""
    harm: Estimate
    """The change in the direction that does harm: above zero the candidate is worse. Where `worse` is `either`, the
    change itself: then it is within the margin if it is neither above it nor below its negative."""
    p_value: float | None
    """Two-sided, of no change; not corrected: a gate has one metric. Where evaluations are missing, a bound that no
    value of them exceeds."""
    pairs: int
    clusters: int
    """Of the pairs that the metric is about."""
    changed: int
    """Pairs whose metric differs."""
    without_evaluation: int
    """Pairs in which one side or both have no evaluation. A gate is decided only as it is for every value that these
    could have: any verdict, any score."""
    possible: PossibleChange | None
    """The bounds of the harm over all these values; None where none is missing, or there are too few clusters."""
    power: float
    smallest_change: float | None
    """The smallest change that as many pairs, which vary as these do, find with this power; None if they find none, or
    do not vary."""
    cases_needed: int | None
    """Only of an inconclusive gate: how many pairs that the metric is about decide it with this power, if the change is
    the observed one and the pairs vary as these do. None also if no number does, or if evaluations are missing without
    which it would be decided."""
    design_effect: float
    """How many times more pairs it takes because pairs of a cluster resemble each other; at least 1."""
    flips: Estimate
    """The share of pairs whose verdict changes between the two sets."""
    flips_between_repeats: Estimate
    """The share of pairs of repeats in the first set with different verdicts, as a mean over cases; no value without
    repeats."""
    resamples: int
    seed: int


@dataclass(frozen=True)
class GateReport(ReportObject):
    """A gate, and the paired table that it is based on."""

    gate: Gate
    paired: Paired
    scale: dict[str, str] | None = None
    """Name, digest and what is counted (labels or outcomes) of the panels' own scale; None without one."""


def gate(
    base: pa.Table, candidate: pa.Table, labels: pa.Table | None = None, options: GateOptions | None = None
) -> GateReport:
    """Decide whether the candidate's verdicts are worse than the base's.

    Args:
        candidate: the same; its panel may be another.
        labels: rows of `labels.LABELS`, which win over the labels of the ballots.
    """
    options = options or GateOptions()
    report = paired(base, candidate, labels, options.paired)
    metric = options.metric or default_metric(report)
    found = figure_of(report, metric)
    margin = default_margin(metric) if options.margin is None else options.margin
    worse = worse_direction(report, metric, options.worse)
    harm = _negative(found.change) if worse == "less" else found.change
    possible = found.possible if worse != "less" or found.possible is None else found.possible.negative
    observed = _decision(harm, margin, either=worse == "either")
    decision = observed
    if found.without_evaluation:
        decision = _decision_for_all(possible, margin, either=worse == "either")
    variation = variation_of(found, metric)
    between = _flips_between_repeats(base, report.verdicts[0], options)
    return GateReport(
        Gate(
            schema=SCHEMA_NUMBER,
            decision=decision,
            metric=metric,
            worse=worse,
            margin=margin,
            base=found.first,
            candidate=found.second,
            change=found.change,
            harm=harm,
            p_value=found.p_value,
            pairs=report.pairs,
            clusters=found.clusters,
            changed=found.changed,
            without_evaluation=found.without_evaluation,
            possible=possible,
            power=POWER,
            smallest_change=variation.smallest(found.change.n),
            cases_needed=_needed(harm, margin, variation, worse) if observed == "inconclusive" else None,
            design_effect=variation.design_effect,
            flips=report.flipped,
            flips_between_repeats=between,
            resamples=options.resamples,
            seed=options.seed,
        ),
        report,
    )


def variation_of(found: PairedChange, metric: str) -> PairedVariation:
    """How much the pairs of a figure vary. A design effect below 1 counts as 1: it is mostly chance."""
    effect = max(1.0, found.design_effect or 1.0)
    size = found.change.n / found.clusters if found.clusters else 1.0
    square = found.mean_square or 0.0
    if metric == SCORE:
        variance = square - (found.change.value or 0.0) ** 2
        square = variance if variance > _ROUNDING * square else 0.0
    return PairedVariation(square, proportions=metric != SCORE, design_effect=effect, cluster_size=size)


def _decision(harm: Estimate, margin: float, *, either: bool) -> Decision:
    interval = harm.interval
    if interval is None:
        return "inconclusive"
    if interval.high <= margin and (not either or interval.low >= -margin):
        return "pass"
    if interval.low > 0 or (either and interval.high < 0):
        return "fail"
    return "inconclusive"


def _decision_for_all(possible: PossibleChange | None, margin: float, *, either: bool) -> Decision:
    """The decision, if it is the same for every value that the missing ones could have."""
    if possible is None:
        return "inconclusive"
    if possible.high <= margin and (not either or possible.low >= -margin):
        return "pass"
    rises = possible.low > 0 and possible.high_at_least > margin
    falls = either and possible.high < 0 and possible.low_at_most < -margin
    return "fail" if rises or falls else "inconclusive"


def _needed(harm: Estimate, margin: float, variation: PairedVariation, worse: Worse) -> int | None:
    """With more pairs the interval shrinks around the observed harm, until it lies within the margin or above zero:
    whichever it has less to shrink for."""
    if harm.value is None:
        return None
    value = abs(harm.value) if worse == "either" else harm.value
    distance = max(margin - value, value)
    if distance <= 0 or (harm.interval is None and not variation.varies):
        return None
    needed = max(variation.cases(min(1.0, distance) if variation.proportions else distance), harm.n + 1)
    if harm.interval is None:
        return needed
    half = max(harm.interval.high - harm.value, harm.value - harm.interval.low)
    return max(needed, ceil(harm.n * half / distance))


def _flips_between_repeats(base: pa.Table, kind: Verdicts, options: GateOptions) -> Estimate:
    chosen = options.paired
    table = without_simulated(check(base), include=chosen.simulated).ballots
    if pc.max(table["repeat"]).as_py() < 2:  # noqa: PLR2004  (two repeats are the least)
        return missing(NO_REPEATS)
    place = table.schema.get_field_index("label")  # a table of labels may replace words that the scale does not have
    table = table.set_column(place, "label", pa.nulls(table.num_rows, pa.string()))
    matrix = vote_matrix(table, chosen.scale, stale=chosen.stale, synthetic=chosen.synthetic)
    if kind == "plurality":
        matrix = replace(matrix, finals=np.full_like(matrix.finals, -1))
    agreement = self_agreement(matrix, resamples=options.resamples, seed=options.seed).panel.raw
    return _one_less(agreement)


def _negative(change: Estimate) -> Estimate:
    """The same change in the other direction."""
    return _mirrored(change, 0.0)


def _one_less(share: Estimate) -> Estimate:
    """The share of the others."""
    return _mirrored(share, 1.0)


def _mirrored(found: Estimate, total: float) -> Estimate:
    if found.value is None:
        return found
    interval = found.interval
    if interval is not None:
        interval = replace(interval, low=total - interval.high, high=total - interval.low)
    return replace(found, value=total - found.value, interval=interval)
