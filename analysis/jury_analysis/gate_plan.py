"""What a gate with a planned number of cases could find, before any of them is judged."""

from dataclasses import dataclass
from math import ceil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.gate import (
    FALSE_PASS,
    POWER,
    SCORE,
    GateOptions,
    PairedVariation,
    check_metric,
    default_margin,
    default_metric,
    design_effect,
    figure_of,
    variation_of,
)
from jury_analysis.paired import Paired
from jury_analysis.report_object import ReportObject

DISCORDANCE = 0.1
"""The share of pairs that differ, where nothing is known."""

POINTS = 20.0
"""The standard deviation of the change of a case's score, where nothing is known."""


@dataclass(frozen=True)
class GatePlan(ReportObject):
    """What so many cases can find."""

    metric: str
    margin: float
    cases: int
    """How many are planned."""
    counted_share: float
    """The share of the cases that the metric is about: of false passes, those labelled as failing."""
    mean_square: float
    """Mean squared difference of a pair; of all metrics but the score, the share of pairs that differ."""
    measured: bool
    """`mean_square` is of ballots; otherwise it is assumed."""
    design_effect: float
    power: float
    smallest_change: float | None
    """That the planned cases find with this power; None if they find none, or pairs do not vary."""
    cases_for_margin: int | None
    """How many cases find a change as large as the margin with this power; None if the margin is 0, no case
    counts, or pairs do not vary."""


def assumed_plan(
    cases: int,
    options: GateOptions,
    *,
    discordance: float | None = None,
    cluster_size: float | None = None,
    correlation: float = 0.0,
    pilot: Paired | None = None,
) -> GatePlan:
    """A plan for pairs of which nothing is known but what is assumed.

    Args:
        options: the metric (false passes if None) and the margin.
        discordance: the share of pairs that differ; of the score the variance of a pair's difference. The defaults of
            this module if None.
        cluster_size: mean number of pairs of a cluster that the metric is about; as in the pilot if None, else 1.
        correlation: of the differences of a cluster's pairs, see `power.design_effect`.
        pilot: which cases the metric is about, if they are known; every case if None.
    """
    metric = options.metric or (FALSE_PASS if pilot is None else default_metric(pilot))
    scale = options.paired.scale
    check_metric(metric, scale.categories, ordered=scale.ordered)
    proportions = metric != SCORE
    assumed = DISCORDANCE if proportions else POINTS**2
    square = assumed if discordance is None else discordance
    share, size = 1.0, cluster_size or 1.0
    if pilot is not None:
        share = _counted(pilot, metric)
        size = cluster_size or variation_of(figure_of(pilot, metric), metric).cluster_size
    effect = design_effect(size, correlation)
    variation = PairedVariation(square, proportions=proportions, design_effect=effect, cluster_size=size)
    return _plan(cases, metric, options, variation, share, measured=False)


def measured_plan(cases: int, options: GateOptions, pilot: Paired) -> GatePlan:
    """A plan for pairs that vary as those of a pilot: two runs, or two repeats of a run."""
    metric = options.metric or default_metric(pilot)
    variation = variation_of(figure_of(pilot, metric), metric)
    return _plan(cases, metric, options, variation, _counted(pilot, metric), measured=True)


def repeats_apart(ballots: pa.Table) -> tuple[pa.Table, pa.Table] | None:
    """The debates of the first and of the second repeat, as two sets that can be paired; None without a second one."""
    first, second = (ballots.filter(pc.equal(ballots["repeat"], number)) for number in (1, 2))
    if not first.num_rows or not second.num_rows:
        return None
    place = second.schema.get_field_index("repeat")
    ones = pa.array(np.ones(second.num_rows), second.schema.field(place).type)
    return first, second.set_column(place, second.schema.field(place), ones)


def _counted(pilot: Paired, metric: str) -> float:
    return figure_of(pilot, metric).change.n / pilot.pairs


def _plan(
    cases: int, metric: str, options: GateOptions, variation: PairedVariation, share: float, *, measured: bool
) -> GatePlan:
    margin = default_margin(metric) if options.margin is None else options.margin
    possible = margin > 0 and share > 0 and variation.varies
    return GatePlan(
        metric=metric,
        margin=margin,
        cases=cases,
        counted_share=share,
        mean_square=variation.mean_square,
        measured=measured,
        design_effect=variation.design_effect,
        power=POWER,
        smallest_change=variation.smallest(cases * share),
        cases_for_margin=ceil(variation.cases(margin) / share) if possible else None,
    )
