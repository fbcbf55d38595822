"""Signals: how sure a panel is of a verdict. Fitted here, applied by `jury_events.calibration`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jury_analysis.accuracy import decided
from jury_analysis.errors import NoConfidences, NoStepsNamed, TooFewLabels
from jury_analysis.faults import Numbers, named_in_round
from jury_analysis.scale import OURS, Scale
from jury_analysis.vote_matrix import STALE, Bools, Codes, Floats, VoteMatrix, by_round, panel_plurality
from jury_events.calibration import (
    DawidSkeneSignal,
    InputKind,
    IsotonicSignal,
    ProbabilitySignal,
    SeatConfusion,
    ShareSignal,
    SignalKind,
    SignalVote,
    VotesStepSignal,
    WeightedInput,
    WeightsSignal,
)

JURY, PLURALITY = "jury", "plurality"


@dataclass(frozen=True, eq=False)
class NamedSteps:
    """The decisive steps that the last votes name."""

    step: Literal["item", "message"]
    """What is numbered."""
    numbers: Numbers
    """[units, seats]: -1 where none is named."""


@dataclass(frozen=True, eq=False)
class LastVotes:
    """The last votes of every debate. `matrix` is of no single round: each unit has the votes of its own last one.

    A seat that failed later has its earlier vote. What stands in for a blocked answer is no vote.
    """

    matrix: VoteMatrix
    verdict: str
    """`jury` (the final verdicts) or `plurality` (the strict plurality of the last votes)."""
    verdicts: Codes
    """[units]: -1 where there is none, or where it counts as an abstention, as those that ask for a person."""
    steps: NamedSteps | None = None
    """None where the table has no such column with a value."""

    @property
    def labels(self) -> Codes:
        """[units]: -1 without one."""
        return self.matrix.labels

    def votes_of(self, unit: int) -> list[SignalVote]:
        """The votes of a unit, one a seat."""
        matrix = self.matrix
        names = matrix.scale.categories
        steps = [-1] * len(matrix.seats) if self.steps is None else self.steps.numbers[unit].tolist()
        return [
            SignalVote(
                seat,
                None if code < 0 else names[code],
                _number(matrix.confidences[unit, place]),
                _number(matrix.scores[unit, place]),
                None if steps[place] < 0 else steps[place],
            )
            for place, (seat, code) in enumerate(zip(matrix.seats, matrix.votes[unit].tolist(), strict=True))
        ]


def last_votes(table: pa.Table, scale: Scale) -> LastVotes:
    """The last votes.

    The verdict is the jury's where the ballots have final verdicts, otherwise the strict plurality. Decisive items are
    read where the table has them, otherwise decisive messages; a vote that repeats an earlier one names the same.
    """
    (first, matrix), *later = by_round(table, scale, stale=True).items()
    column = _step_column(table)
    steps = named_in_round(table, column, matrix, first)
    for number, one in later:
        spoke: Bools = np.asarray(one.kinds.max(axis=1, keepdims=True) >= 0)
        named = named_in_round(table, column, one, number)
        named = np.where((one.kinds == STALE) & (named < 0), steps, named)
        steps = np.where(spoke, named, steps)
        matrix = replace(
            matrix,
            votes=np.where(spoke, one.votes, matrix.votes),
            scores=np.where(spoke, one.scores, matrix.scores),
            confidences=np.where(spoke, one.confidences, matrix.confidences),
            kinds=np.where(spoke, one.kinds, matrix.kinds),
        )
    known = {scale.categories[code] for code in np.unique(matrix.labels) if code >= 0}
    # Our middle verdict asks for a person, so that there is nothing to accept, whatever the labels are.
    counted = (
        replace(scale, abstaining=OURS.categories[1]) if scale.categories == OURS.categories else scale.against(known)
    )
    matrix = replace(matrix, scale=counted)
    found = NamedSteps("message" if column == _MESSAGE else "item", steps) if (steps >= 0).any() else None
    jury = bool((matrix.finals >= 0).any())
    verdicts = decided(matrix.finals if jury else panel_plurality(matrix)[0], counted)
    asks = np.isin(verdicts, [scale.categories.index(name) for name in scale.for_people])
    return LastVotes(matrix, JURY if jury else PLURALITY, np.where(asks, np.int8(-1), verdicts), found)


STEP_COLUMNS = ("decisive_item", "decisive_message")
"""Columns with decisive steps; the first that has a value is read."""

_ITEM, _MESSAGE = STEP_COLUMNS


def _step_column(table: pa.Table) -> str:
    """Of recorded debates both may be known: what their judgments compare are items."""
    has_items = _ITEM in table.column_names and table[_ITEM].null_count < len(table)
    return _ITEM if has_items else _MESSAGE


def _number(value: npt.NDArray[np.float64] | float) -> float | None:
    return None if np.isnan(value) else float(value)


def distinct_units(votes: LastVotes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Units with the same verdict and votes: a representative of each kind, and the kind of each unit."""
    matrix = votes.matrix
    columns: list[Floats] = [
        votes.verdicts[:, None].astype(np.float64),
        matrix.votes.astype(np.float64),
        np.nan_to_num(matrix.confidences, nan=-1.0),
        np.nan_to_num(matrix.scores, nan=-1.0),
    ]
    if votes.steps is not None:
        columns.append(votes.steps.numbers.astype(np.float64))
    _, first, kinds = np.unique(np.hstack(columns), axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), kinds.reshape(-1).astype(np.int64)


STEPS = 200
_TOLERANCE = 1e-9
_FLOOR = 1e-10


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The estimates. The seats' errors are taken for independent: where they are not, posteriors are too extreme."""

    posterior: Floats
    """[units, categories]; a unit without a vote has the prior."""
    prior: Floats
    """[categories]: the mean of the posteriors."""
    confusions: Floats
    """[seats, true category, given category]: rows sum to 1."""


def dawid_skene(votes: Codes, categories: int) -> DawidSkene:
    """Estimate by EM: start from the vote shares, no smoothing (chances have the floor 1e-10), at most 200 steps.

    Args:
        votes: [units, seats], -1 where there is none. Every category is counted, used or not.
    """
    given: Bools = votes[:, :, None] == np.arange(categories)
    counts = given.sum(axis=1).astype(np.float64)
    voted = counts.sum(axis=1) > 0
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    posterior = np.where(voted[:, None], shares, 1.0 / categories)
    before = -np.inf
    prior, confusions = _chances(posterior, given, voted)
    for _ in range(STEPS):
        joint = np.log(np.maximum(prior, _FLOOR)) + np.einsum("usg,stg->ut", given, np.log(confusions))
        highest = joint.max(axis=1, keepdims=True)
        grown = np.exp(joint - highest)
        whole = grown.sum(axis=1, keepdims=True)
        posterior = grown / whole
        likelihood = float((np.log(whole) + highest)[voted].sum())
        prior, confusions = _chances(posterior, given, voted)
        if likelihood - before < _TOLERANCE:
            break
        before = likelihood
    return DawidSkene(posterior, prior, confusions)


def _chances(posterior: Floats, given: Bools, voted: Bools) -> tuple[Floats, Floats]:
    prior: Floats = posterior[voted].mean(axis=0) if voted.any() else np.full(posterior.shape[1], np.nan)
    confusions = np.maximum(np.einsum("ut,usg->stg", posterior, given.astype(np.float64)), _FLOOR)
    return prior, confusions / confusions.sum(axis=2, keepdims=True)


FEWEST_OF_A_CLASS = 10
"""Labels of each class that a model needs."""

MOST_LEVELS = 100
_DIGITS = 9

AnySignal = ShareSignal | IsotonicSignal | WeightsSignal | DawidSkeneSignal | VotesStepSignal | ProbabilitySignal

FITTED: frozenset[SignalKind] = frozenset({"isotonic", "weights", "dawid_skene"})
"""The kinds that need a part of the cases to be fitted on."""


def fit_signal(kind: SignalKind, votes: LastVotes, units: Bools) -> AnySignal:
    """The signal, fitted on these units; those that are not in `FITTED` need none.

    Dawid and Skene's model is fitted on votes and uses no label. The weights have an L2 penalty (C = 1), so that inputs
    that say the same share their weight; inputs without any variation have none.

    Args:
        units: [units] bool: the fit part.
    """
    match kind:
        case "share":
            return ShareSignal()
        case "votes+step":
            return _votes_step(votes)
        case "probability":
            return _probability(votes)
        case "isotonic":
            return _isotonic(votes, units)
        case "weights":
            return _weights(votes, units)
        case "dawid_skene":
            return _dawid_skene(votes, units)


def signal_values(signal: AnySignal, votes: LastVotes) -> Floats:
    """[units]: the signal of each unit's verdict; nan without a decided verdict."""
    first, kinds = distinct_units(votes)
    names = votes.matrix.scale.categories
    values = np.array(
        [
            np.nan if (code := int(votes.verdicts[unit])) < 0 else signal.probability(names[code], votes.votes_of(unit))
            for unit in first.tolist()
        ]
    )
    return values[kinds] if len(values) else np.zeros(0)


def levels(signal: AnySignal, values: Floats, seats: int) -> Floats:
    """Thresholds to try, descending. They are fixed before the certification: by the panel, or by the fit part.

    Args:
        values: [fit units]: its values there; of no use for those that are not fitted.
    """
    if isinstance(signal, VotesStepSignal):
        return np.array(signal.levels(seats))
    if isinstance(signal, ProbabilitySignal):
        return np.array(signal.levels())
    if isinstance(signal, ShareSignal):
        return np.round(np.arange(seats, 0, -1) / seats, _DIGITS)
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if len(distinct) > MOST_LEVELS:
        distinct = np.unique(np.quantile(known, np.linspace(0, 1, MOST_LEVELS), method="lower"))
    return distinct[::-1]


def _probability(votes: LastVotes) -> ProbabilitySignal:
    if np.isnan(votes.matrix.confidences).all():
        raise NoConfidences(
            "the mean probability needs votes with one: a decision model's, or a confidence; votes of files have it in "
            "the column confidence (jury votes --field confidence=COLUMN)"
        )
    return ProbabilitySignal()


def _votes_step(votes: LastVotes) -> VotesStepSignal:
    scale = votes.matrix.scale
    if not scale.ordered:
        raise NoStepsNamed("votes+step must know which verdict passes, and names no step: declare it with --order")
    if votes.steps is None:
        raise NoStepsNamed(
            "votes+step compares the decisive messages that votes name, and no vote names one: votes of files need a "
            "column decisive_message (jury votes --field decisive_message=COLUMN), debates must be of a panel that is "
            "asked for evidence"
        )
    if len(scale.passing) != 1:
        raise NoStepsNamed("votes+step needs one verdict that passes; of these labels several do, or none")
    return VotesStepSignal(passing=scale.passing[0], step=votes.steps.step)


def _isotonic(votes: LastVotes, units: Bools) -> IsotonicSignal:
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  (part of an extra, and slow to import)

    used = units & (votes.labels >= 0) & (votes.verdicts >= 0)
    right = (votes.verdicts == votes.labels)[used]
    _enough({"right verdicts": int(right.sum()), "wrong verdicts": int((~right).sum())}, "an isotonic regression")
    shares = signal_values(ShareSignal(), votes)[used]
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit(shares, right.astype(np.float64))
    return IsotonicSignal(shares=_listed(fitted.X_thresholds_), chances=_listed(fitted.y_thresholds_))


def _weights(votes: LastVotes, units: Bools) -> WeightsSignal:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (part of an extra, and slow to import)

    matrix = votes.matrix
    names = matrix.scale.categories
    used = np.flatnonzero(units & (votes.labels >= 0))
    counts = Counter(matrix.labels[used].tolist())
    _enough({f"labels {names[code]}": count for code, count in sorted(counts.items())}, "learned weights", classes=2)
    labels = tuple(names[code] for code in sorted(counts))
    wanted = [
        WeightedInput(input=kind, seat=seat, verdict=verdict, weights=(0.0,) * len(labels))
        for seat in matrix.seats
        for kind, verdict in _inputs(names)
    ]
    blank = WeightsSignal(labels=labels, verdicts=len(names), intercepts=(0.0,) * len(labels), inputs=())
    cases = [votes.votes_of(unit) for unit in used.tolist()]
    table = np.array([[blank.values(one, case) for one in wanted] for case in cases]).reshape(len(cases), len(wanted))
    varied = np.flatnonzero(np.ptp(table, axis=0) > 0)
    if not len(varied):
        raise TooFewLabels("learned weights need votes that differ: no seat varies in the fit part")
    fitted = LogisticRegression(C=1.0, max_iter=10_000).fit(table[:, varied], matrix.labels[used])
    slopes, intercepts = fitted.coef_, fitted.intercept_
    if len(labels) == 2:  # noqa: PLR2004  (one row of weights for two classes)
        slopes, intercepts = np.vstack([np.zeros_like(slopes), slopes]), np.array([0.0, intercepts[0]])
    inputs = tuple(
        wanted[place].changed(weights=_listed(slopes[:, column])) for column, place in enumerate(varied.tolist())
    )
    return blank.changed(intercepts=_listed(intercepts), inputs=inputs)


def _inputs(names: tuple[str, ...]) -> Iterator[tuple[InputKind, str | None]]:
    """Each input of a seat. What scores beside other verdicts than ours mean is not known."""
    for verdict in names[1:]:
        yield "vote", verdict
    for verdict in names[1:]:
        yield "confidence", verdict
    if names == OURS.categories:
        yield "score", None


def _dawid_skene(votes: LastVotes, units: Bools) -> DawidSkeneSignal:
    matrix = votes.matrix
    found = dawid_skene(matrix.votes[units], len(matrix.scale.categories))
    return DawidSkeneSignal(
        verdicts=matrix.scale.categories,
        prior=_listed(found.prior),
        seats=tuple(
            SeatConfusion(seat=seat, chances=tuple(_listed(row) for row in confusion))
            for seat, confusion in zip(matrix.seats, found.confusions, strict=True)
        ),
    )


def _enough(counts: dict[str, int], model: str, classes: int = 1) -> None:
    too_few = f"too few for {model}: {FEWEST_OF_A_CLASS} of each class are the least"
    advice = "label more cases, or use the vote share (--signal share), which is not fitted"
    if len(counts) < classes:
        raise TooFewLabels(f"the fit part has only {', '.join(counts) or 'cases without labels'}, {too_few}; {advice}")
    for name, count in counts.items():
        if count < FEWEST_OF_A_CLASS:
            raise TooFewLabels(f"the fit part has {count} {name}, {too_few}; {advice}")


def _listed(numbers: Floats) -> tuple[float, ...]:
    return tuple(round(float(one), 12) for one in numbers)
