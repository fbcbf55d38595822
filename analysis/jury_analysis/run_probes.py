"""The report of `jury probe`: twins beside their cases, and what recorded votes say alone.

Whether seats favour agents of their own model family, or long answers, is read from recorded votes. Agents of one
family may be better than others, and good answers may be longer: cases are compared only with cases of the same
label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jury_analysis.discussion import Conformity
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import AnyInts, ClusteredMean, clustered_mean, holm
from jury_analysis.probe_effects import ProbeReport
from jury_analysis.reasons import CONSTANT_PREDICTOR, EMPTY_GROUP, NO_LENGTH, NO_PASS
from jury_analysis.report_object import ReportObject
from jury_analysis.vote_matrix import Bools, Floats, VoteMatrix
from jury_analysis.wording import Reason
from jury_events.models import model_family


@dataclass(frozen=True)
class OwnFamily:
    """How much more one seat passes agents of its own family than the seats of other families do."""

    seat: str
    family: str
    label: str
    """The cases have this label: the last of the order (failing), then the first (passing)."""
    own: int
    """Cases of agents of the seat's family."""
    other: int
    """Cases of agents of other known families."""
    difference: Estimate
    """Mean over `own` - mean over `other` of: the seat passes (1 or 0) - share of passes of the seats of other
    families."""
    p_value: float | None
    """Two-sided, of no difference."""
    p_holm: float | None
    """Corrected for all tests of leniency of the report (Holm 1979)."""


@dataclass(frozen=True)
class LengthEffect:
    """How one seat's passes go with the length of the agent's answer."""

    seat: str
    cases: int
    """Labelled cases with a vote of the seat and a known length."""
    passes_a_doubling: Estimate
    """Change of the share of passes from one case to another of the same label that is twice as long."""
    p_value: float | None
    p_holm: float | None
    """Corrected for all seats (Holm 1979)."""


def own_family(
    matrix: VoteMatrix, agents: Sequence[str | None], models: Mapping[str, str | None]
) -> tuple[OwnFamily, ...]:
    """Self-preference of each seat, given the label (definition after Panickssery et al., arXiv 2404.13076).

    Args:
        matrix: of round 0.
        agents: [units], the model of the judged agent; None where it is unknown.
        models: the model of each seat; a seat without one is known by its name. Seats and agents whose family is not
            known are left out.

    Returns:
        For each label at an end of the order, a figure for each seat whose family has agents.
    """
    if not matrix.scale.ordered:
        return ()
    of_agents = np.array([None if agent is None else model_family(agent) for agent in agents], dtype=object)
    families = [model_family(models.get(seat) or seat) for seat in matrix.seats]
    passes = np.where(matrix.votes < 0, np.nan, matrix.votes == 0)
    found, tests = [], []
    for label in (len(matrix.scale.categories) - 1, 0):
        for place, (seat, family) in enumerate(zip(matrix.seats, families, strict=True)):
            if family is None:
                continue
            others = [index for index, other in enumerate(families) if other not in (None, family)]
            mean, present = _mean_of_columns(passes[:, others])
            counted = (matrix.labels == label) & ~np.isnan(passes[:, place]) & present & (of_agents != None)  # noqa: E711  (elementwise)
            own = of_agents[counted] == family
            if not own.any():
                continue
            values = passes[counted, place] - mean[counted]
            difference = difference_of_means(values, own, matrix.clusters[counted])
            tests.append(difference.p_value)
            found.append(
                OwnFamily(
                    seat=seat,
                    family=family,
                    label=matrix.scale.categories[label],
                    own=int(np.count_nonzero(own)),
                    other=int(np.count_nonzero(~own)),
                    difference=difference.mean,
                    p_value=difference.p_value,
                    p_holm=None,
                )
            )
    return tuple(replace(one, p_holm=p) for one, p in zip(found, holm(tests), strict=True))


def length_effects(matrix: VoteMatrix, lengths: Sequence[int | None]) -> tuple[LengthEffect, ...]:
    """For each seat the slope of its passes on the binary logarithm of the length, within labels.

    Args:
        matrix: of round 0.
        lengths: [units], characters of the agent's answer; None where unknown. Empty answers are left out.
    """
    known = np.array([length is not None and length > 0 for length in lengths], dtype=np.bool_)
    doublings = np.log2([length or 1 for length in lengths])
    effects = [
        _length_effect(matrix, place, known & (matrix.labels >= 0), doublings) for place in range(len(matrix.seats))
    ]
    adjusted = holm([effect.p_value for effect in effects])
    return tuple(replace(effect, p_holm=p) for effect, p in zip(effects, adjusted, strict=True))


def _length_effect(matrix: VoteMatrix, place: int, known: Bools, doublings: Floats) -> LengthEffect:
    counted = known & (matrix.votes[:, place] >= 0)
    if not matrix.scale.ordered or not counted.any():
        reason = NO_LENGTH if matrix.scale.ordered else NO_PASS
        slope = ClusteredMean(missing(reason), None, None)
    else:
        passes = (matrix.votes[counted, place] == 0).astype(np.float64)
        slope = slope_within(
            passes, doublings[counted], matrix.labels[counted].astype(np.int64), matrix.clusters[counted]
        )
    return LengthEffect(
        seat=matrix.seats[place],
        cases=int(np.count_nonzero(counted)),
        passes_a_doubling=slope.mean,
        p_value=slope.p_value,
        p_holm=None,
    )


def _mean_of_columns(values: Floats) -> tuple[Floats, Bools]:
    """The mean of each row without nan, and where there is one."""
    given = ~np.isnan(values)
    number = given.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.where(given, values, 0.0).sum(axis=1) / number
    return means, number > 0


@dataclass(frozen=True)
class Reflection:
    """What discussion changes, and what being asked again changes: from the first votes to the next ones."""

    changed_with_peers: Estimate
    """Share of positions."""
    changed_alone: Estimate
    with_peers: Conformity
    """Seats that take the position of their peers, which they are shown."""
    alone: Conformity
    """Seats that take it without being shown it: what conformity is to be compared with."""


@dataclass(frozen=True)
class RunProbes(ReportObject):
    """The report on a run."""

    run_id: str
    warnings: tuple[Reason, ...]
    """To be shown first: those of the twins' report, and of the cases alone; each once."""
    cases: int
    """Judged cases that are no twins; repeats are not counted."""
    twins: ProbeReport | None
    """None where the run has no twins."""
    absent: tuple[str, ...]
    """Probes of which no case has a twin, or no twin was judged."""
    own_family: tuple[OwnFamily, ...]
    """From the cases alone; () without labels, or without `metadata.agent_model`."""
    length: tuple[LengthEffect, ...]
    """From the cases alone; () without labels."""
    reflection: Reflection | None = None
    """None without the probe, and where nobody spoke in both runs."""

    @property
    def found(self) -> bool:
        return self.twins is not None and any(probe.found for probe in self.twins.probes)


def difference_of_means(values: Floats, group: Bools, clusters: AnyInts) -> ClusteredMean:
    """The mean of `values` [units] inside the group - the mean outside it.

    A unit changes the difference by ±(value - mean of its group) / size of its group; the sums of these over clusters
    give the CR1 standard error, as in a regression on the group (Liang and Zeger 1986).
    """
    inside, outside = int(np.count_nonzero(group)), int(np.count_nonzero(~group))
    if not inside or not outside:
        return ClusteredMean(missing(EMPTY_GROUP, inside + outside), None, None)
    means = float(values[group].mean()), float(values[~group].mean())
    influence = np.where(group, (values - means[0]) / inside, (means[1] - values) / outside)
    return _linearised(means[0] - means[1], influence, clusters)


def slope_within(values: Floats, predictor: Floats, strata: AnyInts, clusters: AnyInts) -> ClusteredMean:
    """The least-squares slope of `values` on `predictor` [units] within strata, each with an intercept of its own.

    The CR1 standard error is over clusters (Liang and Zeger 1986).
    """
    x, y = _centred(predictor, strata), _centred(values, strata)
    squares = float(x @ x)
    if squares <= 0:
        return ClusteredMean(missing(CONSTANT_PREDICTOR, len(values)), None, None)
    slope = float(x @ y) / squares
    return _linearised(slope, x * (y - slope * x) / squares, clusters)


def _centred(values: Floats, strata: AnyInts) -> Floats:
    _, codes = np.unique(strata, return_inverse=True)
    means = np.bincount(codes, weights=values) / np.bincount(codes)
    centred: Floats = values - means[codes]
    return centred


def _linearised(value: float, influence: Floats, clusters: AnyInts) -> ClusteredMean:
    """The mean of value + n · influence is the value, as influences add up to zero, and has its standard error."""
    n = len(influence)
    found = clustered_mean(value + n * influence, np.ones(n), clusters)
    return replace(found, mean=replace(found.mean, value=value))
