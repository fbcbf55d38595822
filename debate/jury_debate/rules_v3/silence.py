"""Silence never helps a pass: votes that pass must stand with the silent seats counted, else the verdict needs review.

A seat is silent if it has no evaluation of its own: it abstained, what stands in for its blocked answer counts, its
verdict without support is left out, or it was not asked. Of a seat whose vote counts half, the other half is silent.
Earlier evaluations (stale votes) count as any other, and a final judge decides for itself.

Laws. What is silent is counted as `REVIEW` with half of the points, at the whole weight of the seat, as if it were
certain (confidence 1).

1. majority_vote: so a pass needs more than half of all seats, and no vote of a silent seat could take it away.
2. weighted_average, median: a pass by the votes that were given is also one with any number of the silent seats
   answering `REVIEW` with half of the points, whatever their confidences.
3. Nothing else changes: no verdict gets better, and none that does not pass gets worse.
4. Where nothing is silent, nothing is capped. Under a scale of the panel's own, votes without a label are as silent
   where ranks decide.
"""

from collections.abc import Mapping
from fractions import Fraction

from jury_debate.rules_v1.judgment import CountedVote, deciding_method
from jury_debate.rules_v3.shortfalls import capped, shortfalls
from jury_debate.rules_v3.tally import LabelledVote, tally
from jury_events.evaluation import SeatPosition
from jury_events.panel import Panel, Seat
from jury_events.rubric import DimensionScore, Rubric, Scores
from jury_events.verdict import PASS, REVIEW

_WHOLE = Fraction(1)
_HALF_OF_POINTS = 50.0
_CERTAIN = 1.0


def stands(panel: Panel, own: Mapping[str, LabelledVote], points: Mapping[str, Scores | None] | None = None) -> bool:
    """Whether votes that pass do so with the silent seats counted.

    Args:
        panel: the method and all seats.
        own: the votes of the seats that have an evaluation of their own, by juror id.
        points: of these seats, where critical criteria count; None: they do not.
    """
    method = deciding_method(panel.final.method)
    cast: list[LabelledVote] = []
    scores: list[Scores | None] = []
    for seat in panel.seats:
        vote = own.get(seat.juror_id)
        if vote is not None:
            cast.append(vote)
            scores.append(None if points is None else points[seat.juror_id])
        if silent := silent_share(vote):
            cast.append(LabelledVote(CountedVote(REVIEW, _HALF_OF_POINTS, seat.weight, _CERTAIN, silent), None))
            scores.append(half_of_points(panel.rubric, seat))
    counted = tally(method, cast, panel.final.bands, panel.scale, rank_all=True)
    # Where the majority decides, the points that count are those of the votes for it: silence has none.
    criteria = points is not None and method != "majority_vote"
    found = shortfalls(panel.rubric, scores, counted.weights) if criteria else ()
    return capped(SeatPosition(counted.verdict), found).verdict is PASS


def silent_share(vote: LabelledVote | None) -> Fraction:
    """The part of a seat's vote that is silent; None: it has no evaluation of its own."""
    return _WHOLE if vote is None else _WHOLE - vote.vote.share


def half_of_points(rubric: Rubric, seat: Seat) -> Scores | None:
    """The points of a silent seat; None: a decision model gives none."""
    if seat.questions is not None:
        return None
    halves = (DimensionScore(dimension=one.name, points=one.maximum / 2) for one in rubric.dimensions)
    return Scores(dimensions=tuple(halves))
