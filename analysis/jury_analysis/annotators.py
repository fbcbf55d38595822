"""Several human annotators: how far they agree, and whether a judge could stand in for one of them.

How far annotators agree among themselves is the ceiling of what a judge can reach: labels on which people differ cannot
all be met by one judge.

The alternative-annotator test (arXiv 2501.10970) leaves out one human at a time and asks who fits the remaining humans
of each case better, the human or the judge. Each wins a case if it agrees with at least as many of them as the other.
For each human, a one-sided t test asks whether the human wins less than `epsilon` more often than the judge; `epsilon`
is what a human's higher cost is worth. The judge passes if this holds for at least half of the humans.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.accuracy import decided
from jury_analysis.ballots import check
from jury_analysis.coefficients import tallies
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import clustered_mean
from jury_analysis.labels import check_labels
from jury_analysis.reasons import FEW_HUMANS, NO_OTHER_ANNOTATOR, NO_TWO_ANNOTATORS, TOO_FEW_ANNOTATORS
from jury_analysis.vote_matrix import Codes, Floats, VoteMatrix, panel_plurality, vote_matrix

FEWEST_CASES = 30
"""Cases that the test needs of each human."""
FEWEST_HUMANS = 3
"""Humans with so many cases that the test needs."""
EPSILON = 0.1
FALSE_DISCOVERY_RATE = 0.05
ENOUGH_WINS = 0.5


@dataclass(frozen=True)
class AnnotatorFit:
    """How well one annotator fits the others."""

    annotator: str
    cases: int
    """Cases with a label of this annotator and of another one."""
    agreement: Estimate
    """Mean share of the other annotators of a case who give the same label."""


@dataclass(frozen=True)
class LeftOutHuman:
    """The test against one human."""

    annotator: str
    cases: int
    """Cases with this human, another one and a verdict of the judge."""
    judge_wins: float
    """Share of cases in which the judge fits the other humans at least as well."""
    human_wins: float
    """Share of cases in which the human fits them at least as well as the judge."""
    p_value: float
    """One-sided t test of human_wins - judge_wins < epsilon."""
    p_adjusted: float
    """Corrected for the number of humans (Benjamini and Yekutieli 2001)."""
    beaten: bool
    """Whether p_adjusted is at most 0.05."""


@dataclass(frozen=True)
class AlternativeAnnotator:
    """The alternative-annotator test of one judge."""

    rater: str
    """`seat` or `panel` (the strict plurality of the seats)."""
    seat: str | None
    """The seat's name; None for the panel."""
    epsilon: float
    humans: tuple[LeftOutHuman, ...]
    too_few_cases: tuple[str, ...]
    """Humans with fewer than 30 such cases: they take no part."""
    winning_rate: Estimate
    """Omega: share of the humans that the judge beats."""
    advantage: Estimate
    """Rho: mean over the humans of judge_wins, the chance that the judge fits as well as a human."""
    passes: bool | None
    """Whether winning_rate is at least 0.5; None where the test cannot be had."""


@dataclass(frozen=True)
class AnnotatorReport:
    """The annotators of the cases that have ballots."""

    annotators: tuple[AnnotatorFit, ...]
    agreement: Estimate
    """Mean over cases of the share of pairs of annotators who give the same label: the ceiling."""
    cases: int
    """Cases with ballots and a label of at least one annotator."""
    cases_of_several: int
    """Of these, cases with two annotators or more."""
    tests: tuple[AlternativeAnnotator, ...]
    """Of each seat, and of the panel if it has two seats or more."""


def annotators(matrix: VoteMatrix, labels: pa.Table, *, epsilon: float = EPSILON) -> AnnotatorReport:
    """Compare annotators with each other, and the votes of one round with them.

    Args:
        labels: rows of `label_schema.LABELS`; cases without ballots are ignored.
        epsilon: what a human's higher cost is worth, as a share of cases (0.1-0.2 in the paper).
    """
    humans = annotations(matrix, labels)
    counts = tallies(humans.votes, len(humans.scale.categories)).astype(np.int64)
    size = counts.sum(axis=1)
    several = size > 1
    pairs = (counts * (counts - 1)).sum(axis=1)
    agreement = np.divide(pairs, size * (size - 1), out=np.zeros(humans.units), where=several)
    test = _LeaveOneOut(matrix, humans, counts, epsilon)
    judges: list[tuple[str, str | None, Codes]] = [
        ("seat", seat, matrix.votes[:, index]) for index, seat in enumerate(matrix.seats)
    ]
    if len(matrix.seats) > 1:
        judges.append(("panel", None, panel_plurality(matrix)[0]))
    return AnnotatorReport(
        annotators=tuple(_fit(humans, counts, index) for index in range(len(humans.seats))),
        agreement=clustered_mean(agreement, several, humans.clusters).mean
        if several.any()
        else missing(NO_TWO_ANNOTATORS),
        cases=int(np.count_nonzero(size)),
        cases_of_several=int(several.sum()),
        tests=tuple(test.against(rater, seat, decided(verdicts, matrix.scale)) for rater, seat, verdicts in judges),
    )


def annotations(matrix: VoteMatrix, labels: pa.Table) -> VoteMatrix:
    """The labels of the cases of `matrix` as votes: a unit is a case, a seat an annotator.

    `agreement.agreement` of these votes is the annotators' own agreement.
    """
    checked = check_labels(labels)
    case_clusters = np.zeros(len(matrix.case_names), dtype=np.int64)
    case_clusters[matrix.cases] = matrix.clusters
    place = pc.index_in(checked["case_id"], value_set=pa.array(matrix.case_names, pa.string()))
    known = pc.is_valid(place)
    kept = checked.filter(known)
    clusters = pa.array(matrix.cluster_names, pa.string()).take(pa.array(case_clusters[place.filter(known).to_numpy()]))
    rows = kept.num_rows
    table = pa.table(
        {
            "debate_id": kept["case_id"],
            "case_id": kept["case_id"],
            "cluster": clusters,
            "repeat": np.ones(rows, dtype=np.int32),
            "round": np.zeros(rows, dtype=np.int32),
            "role": pa.array(["juror"] * rows, pa.string()),
            "seat": kept["annotator"],
            "kind": pa.array(["own"] * rows, pa.string()),
            "verdict": kept["label"],
            "simulated": np.zeros(rows, dtype=np.bool_),
        }
    )
    return vote_matrix(check(table), matrix.scale)


def _fit(humans: VoteMatrix, counts: npt.NDArray[np.int64], index: int) -> AnnotatorFit:
    own = humans.votes[:, index]
    others = counts.sum(axis=1) - 1
    compared = (own >= 0) & (others > 0)
    same = counts[np.arange(humans.units), own] - 1
    share = np.divide(same, others, out=np.zeros(humans.units), where=compared)
    cases = int(compared.sum())
    return AnnotatorFit(
        annotator=humans.seats[index],
        cases=cases,
        agreement=clustered_mean(share, compared, humans.clusters).mean if cases else missing(NO_OTHER_ANNOTATOR),
    )


class _LeaveOneOut:
    """Each human against a judge, by the fit to the remaining humans of the case."""

    def __init__(self, matrix: VoteMatrix, humans: VoteMatrix, counts: npt.NDArray[np.int64], epsilon: float) -> None:
        self.names, self.epsilon = humans.seats, epsilon
        names = {name: position for position, name in enumerate(humans.case_names)}
        rows = np.array([names.get(name, -1) for name in matrix.case_names], dtype=np.int64)[matrix.cases]
        self.units = np.flatnonzero(rows >= 0)  # debates whose case has a label
        self.cases, self.clusters = rows[self.units], matrix.clusters[self.units]
        self.labels = humans.votes[self.cases]
        self.counts = counts[self.cases]

    def against(self, rater: str, seat: str | None, verdicts: Codes) -> AlternativeAnnotator:
        said = verdicts[self.units]
        each = [self._wins(index, said) for index in range(len(self.names))]
        enough = [index for index, wins in enumerate(each) if len(wins.cases) >= FEWEST_CASES]
        few = tuple(name for index, name in enumerate(self.names) if index not in enough)
        if len(enough) < FEWEST_HUMANS:
            reason = TOO_FEW_ANNOTATORS(annotators=FEWEST_HUMANS, cases=FEWEST_CASES, found=len(enough))
            return AlternativeAnnotator(rater, seat, self.epsilon, (), few, missing(reason), missing(reason), None)
        humans = self._tested([self.names[index] for index in enough], [each[index] for index in enough])
        rate = sum(human.beaten for human in humans) / len(humans)
        note = FEW_HUMANS
        return AlternativeAnnotator(
            rater=rater,
            seat=seat,
            epsilon=self.epsilon,
            humans=humans,
            too_few_cases=few,
            winning_rate=Estimate(value=rate, n=len(humans), notes=(note,)),
            advantage=_advantage([each[index] for index in enough]),
            passes=rate >= ENOUGH_WINS,
        )

    def _wins(self, index: int, verdicts: Codes) -> "_Wins":
        """Who fits the other humans at least as well, by case: means over the debates of the case."""
        own = self.labels[:, index]
        compared = (own >= 0) & (self.counts.sum(axis=1) > 1) & (verdicts >= 0)
        counts, human, judge = self.counts[compared], own[compared], verdicts[compared]
        rows = np.arange(len(counts))
        fit_of_human = counts[rows, human] - 1
        fit_of_judge = counts[rows, judge] - (human == judge)
        cases, first, place, debates = np.unique(
            self.cases[compared], return_index=True, return_inverse=True, return_counts=True
        )
        return _Wins(
            cases=cases,
            clusters=self.clusters[compared][first],
            judge=np.bincount(place, weights=fit_of_judge >= fit_of_human, minlength=len(cases)) / debates,
            human=np.bincount(place, weights=fit_of_human >= fit_of_judge, minlength=len(cases)) / debates,
        )

    def _tested(self, names: list[str], each: list["_Wins"]) -> tuple[LeftOutHuman, ...]:
        from scipy.stats import false_discovery_control  # noqa: PLC0415  (part of an extra, and slow to import)

        p_values = [_p_below(wins.human - wins.judge, self.epsilon) for wins in each]
        adjusted = false_discovery_control(p_values, method="by")
        return tuple(
            LeftOutHuman(
                annotator=name,
                cases=len(wins.cases),
                judge_wins=float(wins.judge.mean()),
                human_wins=float(wins.human.mean()),
                p_value=p_value,
                p_adjusted=float(corrected),
                beaten=bool(corrected <= FALSE_DISCOVERY_RATE),
            )
            for name, wins, p_value, corrected in zip(names, each, p_values, adjusted, strict=True)
        )


@dataclass(frozen=True, eq=False)
class _Wins:
    """One human against one judge; all arrays are [cases]."""

    cases: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int32]
    judge: Floats
    human: Floats


def _p_below(differences: Floats, bound: float) -> float:
    """One-sided one-sample t test: the chance of so low a mean if the true mean is `bound`."""
    from scipy.special import stdtr  # noqa: PLC0415  (part of an extra, and slow to import)

    n = len(differences)
    distance, spread = float(differences.mean()) - bound, float(differences.std(ddof=1))
    if spread == 0.0:
        return 0.0 if distance < 0 else 1.0
    return float(stdtr(n - 1, distance / (spread / np.sqrt(n))))


def _advantage(each: list[_Wins]) -> Estimate:
    """The mean over the humans, each with the same weight; the interval is over clusters of cases."""
    weights = [np.full(len(wins.cases), 1.0 / (len(each) * len(wins.cases))) for wins in each]
    return clustered_mean(
        np.concatenate([wins.judge for wins in each]),
        np.concatenate(weights),
        np.concatenate([wins.clusters for wins in each]),
    ).mean
