"""Human labels that came later than the cases, one row a case and annotator; annotators beside a judge."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.accuracy import decided
from jury_analysis.ballots import LABEL_FACTS, LABELS, MESSAGES, check
from jury_analysis.coefficients import tallies
from jury_analysis.errors import BadLabels
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import clustered_mean
from jury_analysis.reasons import FEW_HUMANS, NO_OTHER_ANNOTATOR, NO_TWO_ANNOTATORS, TOO_FEW_ANNOTATORS
from jury_analysis.scale import plain_text
from jury_analysis.vote_matrix import Codes, Floats, VoteMatrix, panel_plurality, vote_matrix


@dataclass(frozen=True)
class ResolvedLabels:
    """One label a case: the strict plurality of its annotators."""

    labels: pa.Table
    """Columns `case_id` and `label`, sorted by case; cases with a tie are not in it."""
    annotators: tuple[str, ...]
    """Names, sorted."""
    cases: int
    """How many cases were labelled, ties included."""
    ties: tuple[str, ...]
    """Cases whose annotators have no strict plurality, sorted."""
    facts: pa.Table
    """Columns `case_id`, and those of `LABEL_FACTS` that the table has: of each case what more annotators say than
    anything else, null where none does."""


@dataclass(frozen=True)
class LabelledBallots:
    """Ballots whose labels are those of a table of labels; cases that it lacks keep the labels of their ballots."""

    ballots: pa.Table
    differing: tuple[str, ...]
    """Cases whose ballots had another label, sorted: the table of labels wins."""
    unmatched: int
    """Labelled cases of which there are no ballots."""
    ties: int
    """Cases of the ballots that have no label because their annotators tie."""


def check_labels(table: pa.Table) -> pa.Table:
    """The table with the columns and types of `LABELS`, and those of `LABEL_FACTS` that it has."""
    columns = {}
    for field in LABELS:
        if field.name not in table.column_names:
            raise BadLabels(f"the labels lack the column {field.name!r}; the columns are {', '.join(LABELS.names)}")
        column = table[field.name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            raise BadLabels(f"the column {field.name!r} of the labels must be string, not {column.type}")
        if column.null_count:
            row = pc.index(pc.is_null(column), value=True).as_py()
            raise BadLabels(f"the column {field.name!r} of the labels is empty in row {row + 1}")
        columns[field.name] = column.cast(pa.string())
    facts = [field for field in LABEL_FACTS if field.name in table.column_names]
    for field in facts:
        try:
            columns[field.name] = table[field.name].cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            kind = table[field.name].type
            raise BadLabels(f"the column {field.name!r} of the labels must be {field.type}, not {kind}") from None
    checked = pa.table(columns, schema=pa.schema([*LABELS, *facts]))
    counts = checked.group_by(["case_id", "annotator"]).aggregate([([], "count_all")])
    twice = counts.filter(pc.greater(counts["count_all"], 1)).sort_by([("case_id", "ascending")])
    if twice.num_rows:
        annotator, case = twice["annotator"][0].as_py(), twice["case_id"][0].as_py()
        raise BadLabels(f"annotator {annotator!r:.60} labels case {case!r:.60} more than once: keep one label")
    return checked


def resolve(labels: pa.Table) -> ResolvedLabels:
    """The strict plurality of each case: the label that more annotators give than any other."""
    checked = check_labels(labels)
    found = _pluralities(checked, "label")
    names = found["case_id"]
    tied = pc.is_null(found["label"])
    facts = pa.table({"case_id": names})
    for name in (one for one in LABEL_FACTS.names if one in checked.column_names):
        said = _pluralities(checked.filter(pc.is_valid(checked[name])), name)
        facts = facts.append_column(name, said[name].take(pc.index_in(names, value_set=said["case_id"])))
    return ResolvedLabels(
        labels=found.filter(pc.invert(tied)),
        annotators=tuple(sorted(pc.unique(checked["annotator"]).to_pylist())),
        cases=len(names),
        ties=tuple(names.filter(tied).to_pylist()),
        facts=facts,
    )


def _pluralities(checked: pa.Table, name: str) -> pa.Table:
    """Columns `case_id`, sorted, and `name`: the value that most rows of the case have; null at a tie."""
    counts = checked.group_by(["case_id", name]).aggregate([([], "count_all")])
    counts = counts.sort_by([("case_id", "ascending"), ("count_all", "descending"), (name, "ascending")])
    if not counts.num_rows:
        return counts.select(["case_id", name]).combine_chunks()
    cases = counts["case_id"].combine_chunks().dictionary_encode()
    codes = cases.indices.to_numpy(zero_copy_only=False)
    votes = counts["count_all"].to_numpy()
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    second = np.minimum(first + 1, len(codes) - 1)
    tied = (second > first) & (codes[second] == codes[first]) & (votes[second] == votes[first])
    values = counts[name].combine_chunks().take(pa.array(first, mask=tied))
    return pa.table({"case_id": cases.dictionary, name: values})


def label_ballots(ballots: pa.Table, resolved: ResolvedLabels) -> LabelledBallots:
    """Give ballots the resolved labels of their cases, and the message and the outcome that go with them.

    A case with a tie has no label, whatever its ballots say. Where no annotator names a message or an outcome, that of
    the ballots stays.
    """
    encoded = ballots["case_id"]
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    cases, rows = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
    place = pc.index_in(cases, value_set=resolved.labels["case_id"].combine_chunks())
    new = resolved.labels["label"].combine_chunks().take(place)
    tied = pc.is_in(cases, value_set=pa.array(resolved.ties, pa.string()))
    settled = pc.or_(tied, pc.is_valid(place)).to_numpy(zero_copy_only=False)
    old = ballots["label"]
    old = plain_text(old).combine_chunks()
    row_labels = new.take(pa.array(rows))
    labels = pc.if_else(pa.array(settled[rows]), row_labels, old)
    changed = pc.fill_null(pc.not_equal(old, row_labels), fill_value=False).to_numpy(zero_copy_only=False)
    differing = cases.take(pa.array(np.unique(rows[changed]))).to_pylist()
    position = ballots.schema.get_field_index("label")
    found = pc.is_in(resolved.labels["case_id"], value_set=cases)
    ties_found = pc.is_in(pa.array(resolved.ties, pa.string()), value_set=cases)
    labelled = ballots.set_column(position, "label", labels.dictionary_encode())
    of_cases = pc.index_in(cases, value_set=resolved.facts["case_id"].combine_chunks()).take(pa.array(rows))
    for name in resolved.facts.column_names[1:]:
        labelled = _with_fact(labelled, _OF_BALLOTS[name], resolved.facts[name].combine_chunks().take(of_cases))
    return LabelledBallots(
        ballots=labelled,
        differing=tuple(sorted(differing)),
        unmatched=resolved.cases - (pc.sum(found).as_py() or 0) - (pc.sum(ties_found).as_py() or 0),
        ties=pc.sum(ties_found).as_py() or 0,
    )


_OF_BALLOTS = {"decisive_message": "label_message", "outcome_correct": "outcome_correct"}
"""The column of `MESSAGES` for each of `LABEL_FACTS`."""


def _with_fact(ballots: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The ballots with these values of a column, and their own where there are none."""
    field = MESSAGES.field(name)
    if name not in ballots.column_names:
        return ballots.append_column(field, values.cast(field.type))
    place = ballots.schema.get_field_index(name)
    return ballots.set_column(place, field, pc.coalesce(values.cast(field.type), ballots[name].combine_chunks()))


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
    """Compare annotators with each other, and the votes of one round with them: could a judge stand in for one?

    How far annotators agree among themselves is the ceiling of what a judge can reach: labels on which people differ
    cannot all be met by one judge.

    The alternative-annotator test (arXiv 2501.10970) leaves out one human at a time and asks who fits the remaining
    humans of each case better, the human or the judge. Each wins a case if it agrees with at least as many of them as
    the other. For each human, a one-sided t test asks whether the human wins less than `epsilon` more often than the
    judge. The judge passes if this holds for at least half of the humans.

    Args:
        labels: rows of `LABELS`; cases without ballots are ignored.
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
