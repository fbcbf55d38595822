"""Two sets of ballots on the same cases: what changes from the first to the second, and whether more than by chance.

A *pair* is a debate of each set over the same case, variant and repeat. The verdict of a debate is the jury's final
verdict, or the strict plurality of the seats' first evaluations if the set has no final verdict at all. A debate that
no seat evaluated has neither verdict nor score: it could have any. Changes are second minus first. All tests and
intervals are over clusters (those of the first set): pairs of one cluster are not taken for independent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jury_analysis.accuracy import decided, decided_cases
from jury_analysis.ballots import STATISTICS_COLUMNS, check
from jury_analysis.errors import BadBallots
from jury_analysis.estimate import DecidedCases, Estimate, missing
from jury_analysis.intervals import PossibleChange, bounded_change, holm, possible_change, proportion
from jury_analysis.labels import label_ballots, resolve
from jury_analysis.pairing import (
    SETS,
    PairedOptions,
    PairedTest,
    Pairing,
    Pairs,
    Verdicts,
    bowker,
    mcnemar,
    stuart_maxwell,
)
from jury_analysis.reasons import (
    NO_PAIR_COUNTS,
    NO_PASS_OR_FAIL,
    OF_FIRST_SET,
    OF_SECOND_SET,
    UNEVALUATED_LEFT_OUT,
)
from jury_analysis.report_object import ReportObject
from jury_analysis.scale import Exclusion, Scale, one_panel, without_simulated
from jury_analysis.vote_matrix import Bools, Floats, Ints
from jury_analysis.wording import Reason

HIGHEST_SCORE = 100.0
"""The lowest is 0."""

Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class VerdictFlip:
    """Pairs whose verdict changes from one to the other."""

    before: str
    after: str
    pairs: int


@dataclass(frozen=True)
class PairedChange:
    """One figure in both sets, over the same pairs, and its change; see `intervals.bounded_change`."""

    figure: str
    """`share`, `score`, `accuracy`, `false pass rate` or `false fail rate`."""
    verdict: str | None
    """The verdict of a `share`; otherwise None."""
    first: float | None
    second: float | None
    change: Estimate
    """second - first; `n` counts the pairs."""
    standard_error: float | None
    p_value: float | None
    """Two-sided, of a change of zero; where values are missing, a bound that no value of them exceeds."""
    p_holm: float | None
    """Corrected for all tests of the report (Holm 1979)."""
    changed: int = 0
    """Pairs whose figure differs."""
    mean_square: float | None = None
    """Mean squared difference of a pair; of all figures but the score, the share of pairs that differ."""
    design_effect: float | None = None
    """Squared standard error ÷ that of independent pairs: how many times more pairs it takes because pairs of a
    cluster resemble each other. None without a standard error."""
    clusters: int = 0
    """Of the pairs that the figure is about."""
    without_evaluation: int = 0
    """Pairs in which one side or both have no evaluation; a share counts none there, the score leaves them out."""
    possible: PossibleChange | None = None
    """What the change could be over all pairs with every value that the missing ones could have; None where nothing is
    missing, or there are too few clusters."""


@dataclass(frozen=True)
class PairedLabels:
    """Both sets against labels, over the pairs with a label.

    A verdict that is missing, or counts as an abstention, is not right. A false pass is the first verdict of the order
    on a case with the last label, a false fail the reverse.
    """

    pairs: int
    right_to_right: int
    right_to_wrong: int
    wrong_to_right: int
    wrong_to_wrong: int
    decided: tuple[DecidedCases, DecidedCases]
    """What each set decided, and how often that was right."""
    accuracy: PairedChange
    false_passes: PairedChange
    false_fails: PairedChange
    mcnemar_p: float | None
    """Exact McNemar test of right_to_wrong against wrong_to_right; it takes pairs for independent, so it is None
    where a cluster has several. With missing evaluations, the largest that they could give."""


@dataclass(frozen=True)
class Paired(ReportObject):
    """The report."""

    categories: tuple[str, ...]
    ordered: bool
    warnings: tuple[Reason, ...]
    """To be shown first."""
    panels: tuple[str | None, str | None]
    """The fingerprint of each set's panel; None where it is unknown."""
    verdicts: tuple[Verdicts, Verdicts]
    """What the verdicts of each set are."""
    pairs: int
    clusters: int
    only_in: tuple[int, int]
    """Debates of each set without a partner in the other."""
    excluded: tuple[Exclusion, ...]
    """Left out of both sets."""
    without_verdict: int
    """Pairs in which a verdict is missing, or a panel has no strict plurality; they are not in the table."""
    without_evaluation: int
    """Those of them in which one side or both have no evaluation."""
    labels_differ: int
    """Pairs that the two sets label differently; they have no label."""
    table: Table
    """Pairs by verdict: a row for each category of the first set, a column for each of the second."""
    unchanged: int
    flipped: Estimate
    """The share of the pairs of the table whose verdict changes."""
    flips: tuple[VerdictFlip, ...]
    """By direction, without those of no pair."""
    towards_last: int | None
    """Flips to a later category of the order (ours: stricter); None without an order."""
    towards_first: int | None
    """Flips to an earlier category of the order (ours: more lenient); None without an order."""
    marginal_homogeneity: PairedTest
    """Stuart-Maxwell: all verdicts have the same shares in both sets."""
    symmetry: PairedTest
    """Bowker: flips are as frequent in one direction as in the other, for each two verdicts."""
    shares: tuple[PairedChange, ...]
    """Of each verdict, over all pairs, those without a verdict included."""
    score: PairedChange
    """Over pairs with a score in both."""
    against_labels: PairedLabels | None
    """None without a label."""
    tests: int
    """The family of tests whose p values are Holm-corrected together: all with a p value but McNemar's."""


def paired(
    first: pa.Table, second: pa.Table, labels: pa.Table | None = None, options: PairedOptions | None = None
) -> Paired:
    """Pair two sets of ballots, and test what changes.

    Args:
        second: the same; its panel may be another.
        labels: rows of `label_schema.LABELS`, which win over the labels of the ballots.
    """
    options = options or PairedOptions()
    tables: list[pa.Table] = []
    warnings: list[Reason] = []
    excluded: list[Exclusion] = []
    panels: list[str | None] = []
    for name, ballots, of_set in zip(SETS, (first, second), (OF_FIRST_SET, OF_SECOND_SET), strict=True):
        table = check(ballots, STATISTICS_COLUMNS)
        if not table.num_rows:
            raise BadBallots(f"the {name} set has no ballots")
        if labels is not None:
            table = label_ballots(table, resolve(labels)).ballots
        sample = without_simulated(table, include=options.simulated)
        warnings += [of_set(reason=warning) for warning in sample.warnings]
        excluded += [replace(one, reason=of_set(reason=one.reason)) for one in sample.excluded]
        panels.append(one_panel(sample.ballots))
        tables.append(sample.ballots)
    joined = Pairing(tables, options)
    return replace(
        _corrected(_report(joined.pairs())),
        warnings=tuple(warnings),
        panels=(panels[0], panels[1]),
        only_in=joined.alone,
        excluded=(*excluded, *joined.excluded),
    )


def _report(pairs: Pairs) -> Paired:
    scale, size = pairs.scale, len(pairs.scale.categories)
    both: Bools = np.all(pairs.verdicts >= 0, axis=1)
    before, after = pairs.verdicts[both].astype(np.int64).T
    counts = np.bincount(before * size + after, minlength=size * size).reshape(size, size)
    clusters = pairs.clusters[both]
    scored: Bools = np.all(~np.isnan(pairs.scores), axis=1)
    everything = np.ones(len(both), dtype=np.bool_)
    unscored = np.isnan(pairs.scores) if scored.any() else pairs.unevaluated
    missing_pairs = int(np.count_nonzero(pairs.unevaluated.any(axis=1)))
    notes = (UNEVALUATED_LEFT_OUT(n=missing_pairs),) if missing_pairs else ()
    homogeneity, symmetry = (test(before, after, clusters, size) for test in (stuart_maxwell, bowker))
    return Paired(
        categories=scale.categories,
        ordered=scale.ordered,
        warnings=(),
        panels=(None, None),
        verdicts=pairs.kinds,
        pairs=len(both),
        clusters=len(np.unique(pairs.clusters)),
        only_in=(0, 0),
        excluded=(),
        without_verdict=int(np.count_nonzero(~both)),
        without_evaluation=missing_pairs,
        labels_differ=pairs.labels_differ,
        table=tuple(tuple(int(count) for count in row) for row in counts),
        unchanged=int(np.trace(counts)),
        flipped=proportion(pairs.verdicts[:, 0] != pairs.verdicts[:, 1], both, pairs.clusters),
        flips=tuple(_flips(counts, scale)),
        towards_last=int(np.triu(counts, 1).sum()) if scale.ordered else None,
        towards_first=int(np.tril(counts, -1).sum()) if scale.ordered else None,
        marginal_homogeneity=replace(homogeneity, notes=(*homogeneity.notes, *notes)),
        symmetry=replace(symmetry, notes=(*symmetry.notes, *notes)),
        shares=tuple(
            _of_verdicts("share", name, pairs.verdicts == code, everything, pairs)
            for code, name in enumerate(scale.categories)
        ),
        score=_possible(
            _change("score", None, pairs.scores, scored, pairs.clusters), pairs.scores, unscored, pairs.clusters
        ),
        against_labels=_against_labels(pairs) if (pairs.labels >= 0).any() else None,
        tests=0,
    )


def _flips(counts: Ints, scale: Scale) -> Iterator[VerdictFlip]:
    for i, j in np.argwhere(counts):
        if i != j:
            yield VerdictFlip(scale.categories[i], scale.categories[j], int(counts[i, j]))


def _change(
    figure: str,
    verdict: str | None,
    values: Floats | Bools,
    counted: Bools,
    clusters: npt.NDArray[np.int32],
) -> PairedChange:
    """`values` is [pairs, 2]; `counted` are the pairs that the figure is about."""
    if not counted.any():
        return PairedChange(figure, verdict, None, None, missing(NO_PAIR_COUNTS), None, None, None)
    numbers = values[counted].astype(np.float64)
    first, second = (float(mean) for mean in numbers.mean(axis=0))
    differences = numbers[:, 1] - numbers[:, 0]
    largest = _largest(values)
    found = bounded_change(differences, clusters[counted], largest=largest)
    independent = float(np.sqrt(differences.var(ddof=1) / len(differences))) if len(differences) > 1 else 0.0
    error = found.standard_error
    return PairedChange(
        figure,
        verdict,
        first,
        second,
        found.mean,
        error,
        found.p_value,
        None,
        changed=int(np.count_nonzero(differences)),
        mean_square=float(np.square(differences).mean()),
        design_effect=(error / independent) ** 2 if error and independent else None,
        clusters=len(np.unique(clusters[counted])),
    )


def _of_verdicts(figure: str, verdict: str | None, given: Bools, counted: Bools, pairs: Pairs) -> PairedChange:
    """A share of verdicts; one that is not known could be given or not."""
    found = _change(figure, verdict, given, counted, pairs.clusters)
    return _possible(found, given[counted], pairs.unevaluated[counted], pairs.clusters[counted])


def _possible(
    found: PairedChange, values: Floats | Bools, unknown: Bools, clusters: npt.NDArray[np.int32]
) -> PairedChange:
    """The figure with what it could be: each unknown value [pairs, 2] from 0 to the largest."""
    if not unknown.any():
        return found
    largest = _largest(values)
    lowest = np.where(unknown, 0.0, values)
    highest = np.where(unknown, largest, values)
    possible = possible_change(lowest[:, 1] - highest[:, 0], highest[:, 1] - lowest[:, 0], clusters, largest=largest)
    bound = None if possible is None or found.p_value is None else possible.p_value
    return replace(
        found, p_value=bound, possible=possible, without_evaluation=int(np.count_nonzero(unknown.any(axis=1)))
    )


def _largest(values: Floats | Bools) -> float:
    return 1.0 if values.dtype == np.bool_ else HIGHEST_SCORE


def _against_labels(pairs: Pairs) -> PairedLabels:
    labelled, scale = pairs.labels >= 0, pairs.scale
    right = (decided(pairs.verdicts, scale) == pairs.labels[:, None]) & labelled[:, None]
    tally = np.bincount(right[labelled, 0] * 2 + right[labelled, 1], minlength=4)
    return PairedLabels(
        pairs=int(np.count_nonzero(labelled)),
        right_to_right=int(tally[3]),
        right_to_wrong=int(tally[2]),
        wrong_to_right=int(tally[1]),
        wrong_to_wrong=int(tally[0]),
        decided=(_decided(pairs, 0), _decided(pairs, 1)),
        accuracy=_of_verdicts("accuracy", None, right, labelled, pairs),
        false_passes=_extreme("false pass rate", pairs, scale.passes(pairs.verdicts), scale.fails(pairs.labels)),
        false_fails=_extreme("false fail rate", pairs, scale.fails(pairs.verdicts), scale.passes(pairs.labels)),
        mcnemar_p=_mcnemar(right[labelled], pairs.unevaluated[labelled], pairs.clusters[labelled]),
    )


def _decided(pairs: Pairs, side: int) -> DecidedCases:
    return decided_cases(pairs.verdicts[:, side], pairs.labels, pairs.clusters, pairs.scale)


def _mcnemar(right: Bools, unknown: Bools, clusters: npt.NDArray[np.int32]) -> float | None:
    """The largest p value that unknown sides could give: the most balanced numbers of changes in both directions."""
    before, after = right.T
    open_before, open_after = unknown.T
    known = ~(open_before | open_after)
    worse, better = (int(np.count_nonzero(known & (one & ~other))) for one, other in ((before, after), (after, before)))
    both = open_before & open_after
    may_worsen = both | (open_after & before) | (open_before & ~after)
    may_improve = both | (open_after & ~before) | (open_before & after)
    most_worse = worse + int(np.count_nonzero(may_worsen & ~known))
    most_better = better + int(np.count_nonzero(may_improve & ~known))
    return mcnemar(max(worse, min(most_worse, better)), max(better, min(most_better, worse)), clusters)


def _extreme(figure: str, pairs: Pairs, given: Bools, counted: Bools) -> PairedChange:
    if not pairs.scale.ordered:
        reason = missing(NO_PASS_OR_FAIL)
        return PairedChange(figure, None, None, None, reason, None, None, None)
    return _of_verdicts(figure, None, given, counted, pairs)


def _corrected(report: Paired) -> Paired:
    """All p values of the report are one family, in the order of its fields."""
    against = report.against_labels
    changes = [*report.shares, report.score]
    if against is not None:
        changes += [against.accuracy, against.false_passes, against.false_fails]
    tables = (report.marginal_homogeneity, report.symmetry)
    adjusted = holm([*(one.p_value for one in tables), *(one.p_value for one in changes)])
    tests = sum(p is not None for p in adjusted)
    homogeneity, symmetry = (replace(test, p_holm=p) for test, p in zip(tables, adjusted[:2], strict=True))
    corrected = [replace(change, p_holm=p) for change, p in zip(changes, adjusted[2:], strict=True)]
    number = len(report.shares)
    if against is not None:
        accuracy, passes, fails = corrected[number + 1 :]
        against = replace(against, accuracy=accuracy, false_passes=passes, false_fails=fails)
    return replace(
        report,
        marginal_homogeneity=homogeneity,
        symmetry=symmetry,
        shares=tuple(corrected[:number]),
        score=corrected[number],
        against_labels=against,
        tests=tests,
    )
