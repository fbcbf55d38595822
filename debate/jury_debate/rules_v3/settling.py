"""Early stop: whether the answers so far decide, whatever the seats answer that were not asked yet.

Laws. A seat that is not asked counts as one that abstains. What is settled is equal for every answer that the others
may give: any label, points and confidence, a blocked answer, an abstention. It is compared with what is decided of the
case: verdict, label, critical criteria that fall short, acceptance; and with the verdict and label of each scenario.
The score may differ. Where that cannot be shown, the seats are asked.

Let r of n seats be missing, W the votes cast, s those of a label or an outcome, p those that pass; an unsupported
verdict may count half.

1. majority_vote: it wins for certain if 2s > W + r; it cannot win if 2s + r <= W. Of what passes more is needed
   (`silence`): it wins for certain if 2p > n too, and cannot win if 2(p + r) <= n.
2. weighted_average, median: no verdict gets worse by a better vote (see `tally`), with the silent seats counted or
   without, so the worst and the best answers of all missing seats bound the others.
3. A critical criterion: the mean of its points lies between the means with none and with all points from the missing
   seats, at their whole weights. A pass must keep its points with silent seats counted and none from the missing ones.
4. Quorum: a verdict that passes needs it without the missing seats.
5. Acceptance: see `settled_acceptance`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from jury_debate.rules_v1.judgment import CountedVote, deciding_method
from jury_debate.rules_v3.settled_acceptance import settles_acceptance
from jury_debate.rules_v3.shortfalls import capped, shortfalls
from jury_debate.rules_v3.silence import half_of_points, silent_share, stands
from jury_debate.rules_v3.tally import LabelledVote, VoteTally, tally
from jury_events.calibration import SignalVote
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
    ) and settles_acceptance(
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
    """The best or the worst vote that a seat can give, at its whole weight."""
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
    """The votes as signals read them, of every seat of the panel."""
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
