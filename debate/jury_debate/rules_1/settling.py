"""Early stop: whether the answers so far decide, whatever the seats answer that were not asked yet.

Laws. A seat that is not asked counts as one that abstains. What is settled is equal for every answer that the others
may give: any label, points and confidence, a blocked answer, an abstention. It is compared with what is decided of the
case: verdict, label, critical criteria that fall short, acceptance; and with the verdict and label of each scenario.
The score may differ. Where that cannot be shown, the seats are asked.

Let r of n seats be missing, W the votes cast, s those of a label or an outcome, p those that pass; an unsupported
verdict may count half.

1. majority_vote: it wins for certain if 2s > W + r; it cannot win if 2s + r <= W. Of what passes more is needed
   (`stands`): it wins for certain if 2p > n too, and cannot win if 2(p + r) <= n.
2. weighted_average, median: no verdict gets worse by a better vote (see `votes`), with the silent seats counted or
   without, so the worst and the best answers of all missing seats bound the others.
3. A critical criterion: the mean of its points lies between the means with none and with all points from the missing
   seats, at their whole weights. A pass must keep its points with silent seats counted and none from the missing ones.
4. Quorum: a verdict that passes needs it without the missing seats.
5. Acceptance: bounds of each signal. share, isotonic, probability: they ascend with the votes for the verdict; missing
   seats vote for it, with a probability of 1, or not. votes+step: at most all missing seats name the step that leads,
   at least all of them name the one that follows. weights, dawid_skene: the chance of a label follows from the
   differences of its sum to those of the others, to which each missing seat adds at least and at most what one of its
   possible votes adds. Sums are linear in confidences and scores, so the least and the greatest are enough."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from jury_debate.rules_1.votes import (
    CountedVote,
    LabelledVote,
    VoteTally,
    capped,
    deciding_method,
    half_of_points,
    shortfalls,
    silent_share,
    stands,
    tally,
)
from jury_events.calibration import (
    Calibration,
    DawidSkeneSignal,
    SignalVote,
    VotesStepSignal,
    WeightsSignal,
)
from jury_events.evaluation import SeatPosition
from jury_events.exact import exact
from jury_events.panel import Panel, Seat
from jury_events.rubric import Scores
from jury_events.verdict import PASS, REVIEW, Verdict
from jury_events.verdict_scale import VERDICTS

_WHOLE = Fraction(1)


_BEST_SCORE = 100.0


class KnownAnswer(NamedTuple):
    """What counts of a seat's answer.

    Attributes:
        seat: that answered.
        vote: on the case.
        scores: its points; None: it gives none, as a decision model.
        rows: its votes on scenarios, by id, where the case has several.
        of_a_model: whether it counts for the quorum; what stands in for a blocked answer does not.
        step: the item that it names as decisive.
    """

    seat: Seat
    vote: LabelledVote
    scores: Scores | None
    rows: Mapping[str, LabelledVote]
    of_a_model: bool = True
    step: int | None = None


class AskedSeats(NamedTuple):
    """A debate in phase 1: the answers so far and the seats that were not asked yet, in their order."""

    panel: Panel
    scenarios: tuple[str, ...]
    answers: tuple[KnownAnswer, ...]
    missing: tuple[Seat, ...]


def is_settled(asked: AskedSeats) -> bool:
    """Whether no answer of a missing seat could change what is decided."""
    if not asked.answers:
        return False
    cast = {one.seat.juror_id: one.vote for one in asked.answers}
    counted = _tally(asked.panel, cast)
    if not _holds(asked, cast, counted) or not _criteria_hold(asked, counted):
        return False
    found = shortfalls(asked.panel.rubric, [one.scores for one in asked.answers], counted.weights)
    position = capped(_decided(asked, cast, counted), found)
    has_quorum = sum(one.of_a_model for one in asked.answers) >= asked.panel.final.quorum
    if position.verdict is PASS and not (has_quorum and _pass_keeps_its_points(asked)):
        return False
    return all(
        _row_holds(asked, scenario, has_quorum=has_quorum) for scenario in asked.scenarios
    ) and _settles_acceptance(
        asked.panel.final.calibration, position.verdict, _signal_votes(asked), frozenset(_ids(asked.missing))
    )


def _tally(panel: Panel, cast: Mapping[str, LabelledVote]) -> VoteTally:
    return tally(deciding_method(panel.final.method), list(cast.values()), panel.final.bands, panel.scale)


def _decided(asked: AskedSeats, cast: Mapping[str, LabelledVote], counted: VoteTally) -> SeatPosition:
    """What the votes decide where all other seats are silent."""
    if counted.verdict is PASS and not stands(asked.panel, _own(asked, cast)):
        return SeatPosition(REVIEW)
    return SeatPosition(counted.verdict, counted.label)


def _own(asked: AskedSeats, cast: Mapping[str, LabelledVote]) -> dict[str, LabelledVote]:
    """The votes without those that stand in for blocked answers."""
    synthetic = {one.seat.juror_id for one in asked.answers if not one.of_a_model}
    return {juror_id: vote for juror_id, vote in cast.items() if juror_id not in synthetic}


def _holds(asked: AskedSeats, cast: Mapping[str, LabelledVote], counted: VoteTally) -> bool:
    """Whether the votes decide the same whatever the missing seats vote."""
    position = _decided(asked, cast, counted)
    if asked.panel.final.method == "majority_vote":
        return _majority_holds(asked, cast, position)
    ends = []
    for best in (False, True):
        every = {**cast, **{seat.juror_id: _vote(asked.panel, seat, best=best) for seat in asked.missing}}
        ends.append(_decided(asked, every, _tally(asked.panel, every)))
    # Between two ends without a label a label may lie.
    return {*ends} == {position} and (asked.panel.scale is None or position.label is not None)


def _majority_holds(asked: AskedSeats, cast: Mapping[str, LabelledVote], position: SeatPosition) -> bool:
    missing, seats, scale = len(asked.missing), len(asked.panel.seats), asked.panel.scale
    whole = sum((one.vote.share for one in cast.values()), Fraction())
    labels: dict[str, Fraction] = {} if scale is None else dict.fromkeys(scale.ids, Fraction())
    outcomes = dict.fromkeys(VERDICTS.values(), Fraction())
    for one in cast.values():
        outcomes[one.vote.position] += one.vote.share
        if one.label is not None:
            labels[one.label] += one.vote.share
    passes = outcomes[PASS]

    def wins(verdict: Verdict, votes: Fraction) -> bool:
        return 2 * votes > whole + missing and (verdict is not PASS or 2 * passes > seats)

    def cannot_win(verdict: Verdict, votes: Fraction) -> bool:
        return 2 * votes + missing <= whole or (verdict is PASS and 2 * (passes + missing) <= seats)

    if position.label is not None:
        return wins(position.verdict, labels[position.label])
    if scale is not None and not all(cannot_win(scale.verdict(label), votes) for label, votes in labels.items()):
        return False
    return any(wins(*one) for one in outcomes.items()) or all(cannot_win(*one) for one in outcomes.items())


def _vote(panel: Panel, seat: Seat, *, best: bool) -> LabelledVote:
    verdict = list(VERDICTS.values())[-1 if best else 0]
    label = None if panel.scale is None else panel.scale.labels[-1 if best else 0].id
    verdict = verdict if panel.scale is None or label is None else panel.scale.verdict(label)
    return LabelledVote(CountedVote(verdict, _BEST_SCORE if best else 0.0, seat.weight, 1.0), label)


def _row_holds(asked: AskedSeats, scenario: str, *, has_quorum: bool) -> bool:
    cast = {one.seat.juror_id: one.rows[scenario] for one in asked.answers if scenario in one.rows}
    if not cast:
        return False
    counted = _tally(asked.panel, cast)
    return _holds(asked, cast, counted) and (has_quorum or _decided(asked, cast, counted).verdict is not PASS)


def _criteria_hold(asked: AskedSeats, counted: VoteTally) -> bool:
    """Whether each critical criterion falls short, or does not, whatever points the missing seats give."""
    critical = [one for one in asked.panel.rubric.dimensions if one.critical is not None]
    if not critical:
        return True
    method = asked.panel.final.method
    if method == "median":
        # Which votes are in the middle, and with them whose points count, is known at the end only.
        return False
    weights, more = _points_weights(asked, counted)
    total = sum(weights, Fraction())
    if not total:
        return False
    for criterion in critical:
        points = sum(
            (
                weight * exact(one.scores.points(criterion.name))
                for weight, one in zip(weights, asked.answers, strict=True)
                if one.scores is not None
            ),
            Fraction(),
        )
        low = points / (total + more)
        high = (points + exact(criterion.maximum) * more) / (total + more)
        if low < criterion.least <= high:
            return False
    return True


def _pass_keeps_its_points(asked: AskedSeats) -> bool:
    """Whether a pass has enough critical points with the silent seats counted, whatever the missing seats give.

    It has where the majority decides: the points of silent seats are not counted then.
    """
    critical = [one for one in asked.panel.rubric.dimensions if one.critical is not None]
    if not critical or asked.panel.final.method == "majority_vote":
        return True
    own = _own(asked, {one.seat.juror_id: one.vote for one in asked.answers})
    missing = frozenset(_ids(asked.missing))
    scores = {one.seat.juror_id: one.scores for one in asked.answers}
    given: list[tuple[Fraction, Scores]] = []
    total = Fraction()
    for seat in asked.panel.seats:
        weight, vote, silent = exact(seat.weight), own.get(seat.juror_id), half_of_points(asked.panel.rubric, seat)
        if seat.juror_id in missing:
            total += weight if silent is not None else 0
            continue
        if vote is not None and (points := scores[seat.juror_id]) is not None:
            given.append((vote.vote.share * weight * exact(vote.vote.confidence), points))
        if silent is not None:
            given.append((silent_share(vote) * weight, silent))
    total += sum((weight for weight, _ in given), Fraction())
    return all(
        sum((weight * exact(points.points(one.name)) for weight, points in given), Fraction()) >= one.least * total
        for one in critical
    )


def _points_weights(asked: AskedSeats, counted: VoteTally) -> tuple[list[Fraction], Fraction]:
    """The weights of the answers' points before they are divided by their sum, and the most that missing seats add."""
    missing = [seat for seat in asked.missing if seat.questions is None]
    if asked.panel.final.method == "majority_vote":
        weights = [
            one.vote.vote.share if weight and one.scores is not None else Fraction()
            for weight, one in zip(counted.weights, asked.answers, strict=True)
        ]
        return weights, Fraction(len(missing))
    weights = [
        Fraction()
        if one.scores is None
        else one.vote.vote.share * exact(one.vote.vote.weight) * exact(one.vote.vote.confidence)
        for one in asked.answers
    ]
    return weights, sum((exact(seat.weight) for seat in missing), Fraction())


def _ids(seats: Sequence[Seat]) -> tuple[str, ...]:
    return tuple(seat.juror_id for seat in seats)


def _signal_votes(asked: AskedSeats) -> list[SignalVote]:
    known = {one.seat.juror_id: one for one in asked.answers}
    votes = []
    for juror_id in asked.panel.juror_ids:
        one = known.get(juror_id)
        if one is None or not one.of_a_model:
            votes.append(SignalVote(juror_id, None))
        else:
            cast = one.vote.vote
            votes.append(SignalVote(juror_id, cast.position, cast.confidence, cast.score, one.step))
    return votes


_SLACK = 1e-8
"""More than a signal is rounded by; the sums of bounds are made in another order than those of a signal."""


_LEAST = 1e-10
"""In place of the chance 0, as in `jury_events.calibration`."""


_OTHER = "another verdict"
"""Stands for every verdict that a signal does not name; no label has a space."""


Bounds = tuple[float, float]


Sums = Mapping[str, float]
"""What is added up for each label."""


def _settles_acceptance(
    calibration: Calibration | None, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> bool:
    """Whether the verdict is accepted, or is not, whatever the missing seats answer.

    Args:
        calibration: of the panel; None: every verdict stands.
        verdict: that no answer of them changes.
        votes: of every seat of the panel; those of the missing ones are not read.
        missing: the juror ids of the seats that were not asked.
    """
    if calibration is None or verdict is REVIEW or (threshold := calibration.threshold_for(verdict)) is None:
        return True
    if calibration.on == "false_pass" and verdict is not PASS:
        return True
    low, high = _bounds(calibration, verdict, votes, missing)
    return low >= threshold or high < threshold


def _bounds(
    calibration: Calibration, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> Bounds:
    signal = calibration.signal
    if isinstance(signal, WeightsSignal):
        return _weights_bounds(signal, verdict, votes, missing)
    if isinstance(signal, DawidSkeneSignal):
        return _posterior_bounds(signal, verdict, votes, missing)
    least: list[SignalVote] = [SignalVote(one.seat, None) if one.seat in missing else one for one in votes]
    leading = following = None
    if isinstance(signal, VotesStepSignal) and verdict != signal.passing:
        leading, following = _steps(verdict, least)
        least = [SignalVote(one.seat, verdict, step=following) if one.seat in missing else one for one in votes]
    most = [
        SignalVote(one.seat, verdict, confidence=1.0, step=leading) if one.seat in missing else one for one in votes
    ]
    return signal.probability(verdict, least), signal.probability(verdict, most)


def _steps(verdict: Verdict, votes: Sequence[SignalVote]) -> tuple[int, int]:
    """The step that most of the votes for the verdict name, and the one that follows; others where there is none."""
    named = Counter(one.step for one in votes if one.verdict == verdict and one.step is not None)
    unnamed = max(named, default=0) + 1
    (leading, _), (following, _) = (*named.most_common(2), (unnamed, 0), (unnamed + 1, 0))[:2]
    return leading, following


def _weights_bounds(
    signal: WeightsSignal, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> Bounds:
    def added(seat: str, vote: SignalVote) -> Sums:
        sums = dict.fromkeys(signal.labels, 0.0)
        for one in signal.inputs:
            if one.seat == seat:
                value = signal.values(one, [vote])
                sums = {label: sums[label] + weight * value for label, weight in zip(sums, one.weights, strict=False)}
        return sums

    start = dict(zip(signal.labels, signal.intercepts, strict=False))
    named = {one.verdict for one in signal.inputs if one.verdict is not None}
    words = [*sorted(named | set(signal.labels)), _OTHER]
    ends = list(product(words, (0.0, 1.0), (0.0, _BEST_SCORE)))
    known = [added(one.seat, one) for one in votes if one.seat not in missing]
    open_seats = [
        [added(seat, SignalVote(seat, None)), *(added(seat, SignalVote(seat, *end)) for end in ends)]
        for seat in sorted(missing)
    ]
    return _chance_bounds([start, *known], open_seats, verdict)


def _posterior_bounds(
    signal: DawidSkeneSignal, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> Bounds:
    rows = {one.seat: one.chances for one in signal.seats}

    def added(seat: str, given: str | None) -> Sums:
        if seat not in rows or given not in signal.verdicts:
            return dict.fromkeys(signal.verdicts, 0.0)
        column = signal.verdicts.index(given)
        return {
            label: math.log(max(row[column] if column < len(row) else 0.0, _LEAST))
            for label, row in zip(signal.verdicts, rows[seat], strict=False)
        }

    start = {label: math.log(max(one, _LEAST)) for label, one in zip(signal.verdicts, signal.prior, strict=False)}
    known = [added(one.seat, one.verdict) for one in votes if one.seat not in missing]
    open_seats = [[added(seat, given) for given in (None, *signal.verdicts)] for seat in sorted(missing)]
    return _chance_bounds([start, *known], open_seats, verdict)


def _chance_bounds(known: Sequence[Sums], open_seats: Sequence[Sequence[Sums]], verdict: Verdict) -> Bounds:
    """The least and the greatest chance of the verdict, where each open seat adds one of its sums."""
    if verdict not in known[0]:
        return 0.0, 0.0
    least, most = [0.0], [0.0]
    for label in known[0]:
        if label == verdict:
            continue
        before = math.fsum(_ahead(one, label, verdict) for one in known)
        options = [[_ahead(one, label, verdict) for one in seat] for seat in open_seats]
        least.append(before + math.fsum(map(max, options)))
        most.append(before + math.fsum(map(min, options)))
    return _first_of(least) - _SLACK, _first_of(most) + _SLACK


def _ahead(sums: Sums, label: str, verdict: str) -> float:
    return sums.get(label, 0.0) - sums.get(verdict, 0.0)


def _first_of(sums: Sequence[float]) -> float:
    """The first of the chances that belong to these sums."""
    top = max(sums)
    return math.exp(sums[0] - top) / math.fsum(math.exp(one - top) for one in sums)
