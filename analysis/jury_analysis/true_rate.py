"""The share of cases that people would give a label, bounded by the labels of a random draw: does it keep a limit?

Two questions. *Of a run*: how many of its cases have the label. Its cases are all there are, so draws are without
replacement and clusters do not matter. *Of an agent*: how often cases like these have it; the cases of a cluster count
as one observation.

A draw whose number was fixed once is tested exactly (hypergeometric; binomial). Draws that were enlarged, or drawn by
verdict, are tested by an e-value, which holds whenever one looks (Ville 1939; Waudby-Smith and Ramdas,
arXiv 2006.04347): what a mixture of rates gives the labels, divided by what the counts in question give them.
Cases that were drawn and have no answer count as the worse, so that it does not matter which are answered first.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, inf, log
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from jury_analysis.gate import Decision
from jury_analysis.report_object import ReportObject

S = TypeVar("S", bound="_Side")

Of = Literal["run", "agent"]
"""The cases of this run, or cases like these."""

Source = Literal["draw", "assertion"]
"""A random draw that is on record, or labels that are taken as one."""

CONFIDENCE = 0.95
"""Of each bound, one-sided."""

SCHEMA_NUMBER = 1
"""Of `TrueGate.to_dict`; `report_schema` describes it."""

_ALPHA = 1 - CONFIDENCE
_RATES = ((0.4, 0.0, 0.0), (0.2, 2.0, 200.0), (0.2, 2.0, 40.0), (0.2, 0.5, 0.5))
"""The mixture of the e-value: weight, and Beta(a, b) of the rate; (0, 0): the rate is zero."""
_UNKNOWN = (0.5, 0.5)
"""Of strata in which the label is expected."""
_BETS = ((0.5, 1.0), (0.1, 0.5), (0.1, 0.25), (0.1, 0.1), (0.1, 0.05), (0.1, 0.02))
"""Of bets on clusters: weight, and the share of the largest bet that cannot lose more than there is."""
_STEPS = 40
_LEAST = 1e-12
_MOST_LABELS = 1_000_000
"""That are thought of where the cases have no end."""


@dataclass(frozen=True)
class Stratum:
    """The cases that were drawn from together."""

    verdict: str | None
    """Their verdict by the jury; None: drawn from all cases."""
    population: int
    """Cases of the run."""
    drawn: int
    """Of these, cases that were drawn."""
    found: int
    """Drawn cases that have the label."""
    other: int
    """Drawn cases that have another; the rest has no answer, or an unsure one."""

    @property
    def unanswered(self) -> int:
        return self.drawn - self.found - self.other


@dataclass(frozen=True)
class DrawnLabels:
    """A draw and its answers."""

    strata: tuple[Stratum, ...]
    earlier: tuple[int, ...] = ()
    """Sizes of draws from all cases that were enlarged; (): the number was fixed once."""
    source: Source = "draw"
    by_cluster: tuple[tuple[int, int, int, int], ...] = ()
    """Drawn cases of a cluster, those with the label, those with another; and how many clusters have these counts."""


@dataclass(frozen=True)
class TrueRate:
    """How often cases have a label. Shares are 0-1, bounds one-sided, at `confidence` each."""

    label: str
    of: Of
    population: int
    """Cases of the run."""
    drawn: int
    labelled: int
    """Drawn cases with an answer that is not unsure."""
    found: int
    """Those with the label."""
    share: float | None
    """Of the answers, weighted by stratum; None: a stratum has none."""
    at_least: float
    at_most: float
    confidence: float
    source: Source
    method: Literal["exact", "e-value"]
    clusters: int | None
    """Of the drawn cases; None where they do not matter."""
    strata: tuple[Stratum, ...]


@dataclass(frozen=True)
class MoreLabels:
    """So many further labels decide it, if so many of them are the label."""

    decision: Decision
    labels: int
    found: int


@dataclass(frozen=True)
class TrueGate(ReportObject):
    """Whether a true rate keeps a limit."""

    schema: int
    decision: Decision
    """`pass`: it keeps it, at `confidence`. `fail`: it does not, at as much. `inconclusive`: the labels say neither."""
    claim: str
    rate: TrueRate
    needed: tuple[MoreLabels, ...]
    """Of an inconclusive gate: the fewest further labels that pass it; those that decide it if they are as the labels
    so far. A case that was drawn and has no answer is a further label too."""


class Claim(NamedTuple):
    """`label<=2%`: what the true rate is to be.

    `sign` is one of <=, <, >=, >; `bound` is a share of 0 to 1. `verdict`: of the jury, which the label comes to.
    """

    label: str
    sign: str
    bound: Fraction
    verdict: str

    @property
    def is_low(self) -> bool:
        """Whether the rate is to be low."""
        return self.sign.startswith("<")

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.label}{self.sign}{float(self.bound * 100):.15g}%"

    def highest_low(self, population: int) -> int:
        """The highest number of cases at which the rate is low."""
        exact = self.bound * population
        return floor(exact) if self.sign in ("<=", ">") else ceil(exact) - 1


def true_rate(labels: DrawnLabels, label: str, verdict: str, of: Of = "run") -> TrueRate:
    """The bounds of a true rate.

    Args:
        labels: at least one case was drawn; for `agent` drawn from all cases, with their clusters.
        verdict: of the jury, which the label comes to.
        of: the cases of the run, or cases like these.
    """
    high, low = _sides(_SideOfAgent if of == "agent" else _SideOfRun, labels, verdict)
    strata = labels.strata
    answered = [one.found + one.other for one in strata]
    share = None
    if all(answered):
        parts = zip(strata, answered, strict=True)
        share = sum(one.population * one.found / given for one, given in parts) / high.population
    return TrueRate(
        label=label,
        of=of,
        population=high.population,
        drawn=sum(one.drawn for one in strata),
        labelled=sum(answered),
        found=sum(one.found for one in strata),
        share=share,
        at_least=1 - low.bound,
        at_most=high.bound,
        confidence=CONFIDENCE,
        source=labels.source,
        method="exact" if high.exact else "e-value",
        clusters=sum(number for *_, number in labels.by_cluster) if of == "agent" else None,
        strata=strata,
    )


def true_gate(labels: DrawnLabels, claim: Claim, of: Of = "run") -> TrueGate:
    """Decide whether a true rate keeps a limit; arguments as of `true_rate`."""
    rate = true_rate(labels, claim.label, claim.verdict, of)
    decision = true_decision(labels, claim, of)
    needed = []
    if decision == "inconclusive":
        favourable = 0.0 if claim.is_low else 1.0
        needed.append(_needed(labels, claim, of, favourable))
        if rate.share is not None:
            needed.append(_needed(labels, claim, of, rate.share))
    return TrueGate(
        SCHEMA_NUMBER, decision, str(claim), rate, tuple(dict.fromkeys(one for one in needed if one is not None))
    )


def true_decision(labels: DrawnLabels, claim: Claim, of: Of = "run") -> Decision:
    """The decision of `true_gate` alone."""
    if of == "agent":
        above, under = _sides(_SideOfAgent, labels, claim.verdict)
        is_low, is_high = above.excludes(float(claim.bound)), under.excludes(1 - float(claim.bound))
    else:
        high, low = _sides(_SideOfRun, labels, claim.verdict)
        highest = claim.highest_low(high.population)
        is_low, is_high = high.excludes(highest + 1), low.excludes(high.population - highest)
    kept, broken = (is_low, is_high) if claim.is_low else (is_high, is_low)
    return "pass" if kept else "fail" if broken else "inconclusive"


def _needed(labels: DrawnLabels, claim: Claim, of: Of, share: float) -> MoreLabels | None:
    """The fewest further labels that decide, if this share of them is the label; None: no number does."""
    rest = sum(one.population - one.found - one.other for one in labels.strata)
    most = rest if of == "run" else _MOST_LABELS

    def decision(number: int) -> Decision:
        return true_decision(_with_further(labels, number, share, of), claim, of)

    few, many = 0, sum(one.unanswered for one in labels.strata) or 1  # answers of the draw spend nothing
    while (found := decision(min(many, most))) == "inconclusive":
        if many >= most:
            return None
        few, many = many, many * 2
    many = min(many, most)
    while many - few > 1:
        middle = (few + many) // 2
        between = decision(middle)
        few, many, found = (middle, many, found) if between == "inconclusive" else (few, middle, between)
    drawn = _with_further(labels, many, share, of).strata
    return MoreLabels(found, many, sum(one.found for one in drawn) - sum(one.found for one in labels.strata))


def _with_further(labels: DrawnLabels, number: int, share: float, of: Of) -> DrawnLabels:
    """The answers with so many further ones, of which each stratum has its part, and each cluster one."""
    places = [one.population - (one.found + one.other if of == "run" else 0) for one in labels.strata]
    upto = [number * reached // sum(places) for reached in np.cumsum(places).tolist()]
    strata = []
    for one, before, after in zip(labels.strata, [0, *upto], upto, strict=False):
        found = round((after - before) * share)
        given = one.found + one.other + after - before
        strata.append(
            replace(one, drawn=max(one.drawn, given), found=one.found + found, other=given - one.found - found)
        )
    drawn, given = (sum(one.drawn for one in each) for each in (labels.strata, strata))
    unanswered = sum(one.unanswered for one in strata)
    from_all = len(strata) == 1 and strata[0].verdict is None
    answered = ((found + other, found, other, clusters) for _, found, other, clusters in labels.by_cluster)
    alone = round(number * share)
    return replace(
        labels,
        strata=tuple(strata),
        earlier=(*labels.earlier, drawn) if given > drawn and from_all else labels.earlier,
        by_cluster=(
            *(one for one in answered if one[0]),
            (1, 1, 0, alone),
            (1, 0, 1, number - alone),
            (1, 0, 0, unanswered),
        ),
    )


def _sides(kind: "type[S]", labels: DrawnLabels, verdict: str) -> "tuple[S, S]":
    """The test of rates that are too high, and the same of the cases without the label."""
    mirrored = DrawnLabels(
        tuple(replace(one, found=one.other, other=one.found) for one in labels.strata),
        labels.earlier,
        labels.source,
        tuple((drawn, other, found, clusters) for drawn, found, other, clusters in labels.by_cluster),
    )
    expected = tuple(one.verdict == verdict for one in labels.strata)
    unexpected = tuple(one.verdict not in (None, verdict) for one in labels.strata)
    return kind(labels, expected), kind(mirrored, unexpected)


class _Side(ABC):
    """Is the rate lower than this? Drawn cases without an answer count as found."""

    def __init__(self, labels: DrawnLabels, expected: tuple[bool, ...]) -> None:
        self._labels = labels
        self._expected = expected
        self.population = sum(one.population for one in labels.strata)
        self._drawn = sum(one.drawn for one in labels.strata)
        self._found = self._drawn - sum(one.other for one in labels.strata)

    @property
    @abstractmethod
    def bound(self) -> float:
        """The lowest share above which every share is excluded."""

    @cached_property
    def exact(self) -> bool:
        """Whether the number of labels was fixed once, for cases of all verdicts together."""
        (*others, one) = self._labels.strata
        return not others and one.verdict is None and not self._labels.earlier

    def _spent(self, chance: Callable[[int, int], float]) -> float:
        """How often exact tests of earlier draws err; `chance(found, drawn)` is that of so few found, or fewer."""
        spent = 0.0
        for drawn in self._labels.earlier:
            few, many = -1, drawn
            while many - few > 1:
                middle = (few + many) // 2
                few, many = (middle, many) if chance(middle, drawn) <= _ALPHA else (few, middle)
            spent = max(spent, chance(few, drawn) if few >= 0 else 0.0)
        return spent


class _SideOfRun(_Side):
    """Of how many cases of the run."""

    @property
    def bound(self) -> float:
        """The lowest share above which every share is excluded."""
        few, many = self._found - 1, self.population
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if self.excludes(middle + 1) else (middle, many)
        return many / self.population

    def excludes(self, number: int) -> bool:
        """Whether so many cases, and more, are excluded."""
        if number > self.population:
            return True
        if number <= self._found:
            return False

        def chance(found: int, drawn: int) -> float:
            from scipy.stats import hypergeom  # noqa: PLC0415  (slow to import)

            return float(hypergeom.cdf(found, self.population, number, drawn))

        if self.exact:
            return chance(self._found, self._drawn) <= _ALPHA
        first, logs = self._curve
        if number >= first + len(logs):
            return True
        return float(logs[max(0, number - first) :].min()) >= -log(max(_ALPHA - self._spent(chance), _LEAST))

    @cached_property
    def _curve(self) -> tuple[int, npt.NDArray[np.float64]]:
        """The least logarithm of the e-value over all ways in which the strata make a total, from the first total on.

        A stratum's part is convex in its count, so the least sums take the steps of all strata in ascending order.
        """
        from scipy.special import gammaln  # noqa: PLC0415  (slow to import)

        lowest, first, steps = self._log_mixture, 0, []
        for one in self._labels.strata:
            found, other = one.drawn - one.other, one.other
            counts = np.arange(found, one.population - other + 1, dtype=np.float64)
            rest = one.population - counts
            logs = gammaln(counts + 1) - gammaln(counts - found + 1) + gammaln(rest + 1) - gammaln(rest - other + 1)
            logs -= gammaln(one.population + 1) - gammaln(one.population - one.drawn + 1)
            first += found
            lowest -= float(logs[0])
            steps.append(-np.diff(logs))
        return first, lowest + np.concatenate([[0.0], np.cumsum(np.sort(np.concatenate(steps)))])

    @property
    def _log_mixture(self) -> float:
        """What the mixture of rates gives the labels, in the order in which they came."""
        from scipy.special import betaln  # noqa: PLC0415  (slow to import)

        chances = []
        for weight, *rates in _RATES:
            chance = log(weight)
            for one, expected in zip(self._labels.strata, self._expected, strict=True):
                a, b = _UNKNOWN if expected else rates
                found = one.drawn - one.other
                if a:
                    chance += float(betaln(a + found, b + one.other) - betaln(a, b))
                elif found:
                    chance = -inf
            chances.append(chance)
        return float(np.logaddexp.reduce(chances))


class _SideOfAgent(_Side):
    """Of the rate of cases like these."""

    @property
    def bound(self) -> float:
        """The lowest rate above which every rate is excluded."""
        few, many = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (few + many) / 2
            few, many = (few, middle) if self.excludes(middle) else (middle, many)
        return many

    @cached_property
    def exact(self) -> bool:
        """Whether the cases are independent too."""
        return super().exact and all(drawn <= 1 for drawn, *_ in self._labels.by_cluster)

    def excludes(self, rate: float) -> bool:
        """Whether this rate, and higher ones, are excluded."""
        if not 0 < rate < 1:
            return rate > 0 and self._found < self._drawn

        def chance(found: int, drawn: int) -> float:
            from scipy.stats import binom  # noqa: PLC0415  (slow to import)

            return float(binom.cdf(found, drawn, rate))

        if self.exact:
            return chance(self._found, self._drawn) <= _ALPHA
        counts = np.array([one for one in self._labels.by_cluster if one[-1]], dtype=np.float64)
        drawn, _, other, clusters = counts.T
        weights, bets = np.array(_BETS).T
        won = (rate * drawn - (drawn - other)) / (drawn.max() * (1 - rate))
        with np.errstate(divide="ignore"):
            logs = np.log1p(np.maximum(np.outer(bets, won), -1)) @ clusters
        value = float(np.logaddexp.reduce(logs + np.log(weights)))
        return value >= -log(max(_ALPHA - self._spent(chance), _LEAST))
