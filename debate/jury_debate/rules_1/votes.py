"""Counting votes: what they decide, the weight that each has in the score, and what caps it.

Under a scale of the panel's own, votes are labels. Laws:

1. majority_vote: the label with more than half of the votes; without one, the outcome with more than half, and no
   label; without that, the outcome review, undecided. The score is the mean of the votes that decided; of all where
   none did.
2. weighted_average, median: the mean or the median rank of the labels, by the weights of the score. The label nearest
   to it; exactly between two labels there is no label, and the outcome is theirs if they share it, else review,
   undecided. Bands do not count.
3. Votes without a label (what stands in for blocked answers) count in the score and for outcomes, and for no label.
4. What stands in for silent seats has no label, and under weighted_average and median the middle rank, or where that
   passes, the place between the labels that pass and those that do not (law 8).
5. Unanimous labels are decided by every method. A label that is decided lies between the worst and the best that were
   given, and the verdict is its outcome. Under weighted_average and median, no verdict gets worse by a better vote.

Failing verdicts whose quotations do not stand where they say count what the panel's rule `unsupported` says:

6. count: as any other. halve: half a vote, half a weight; quorum and checks count the seat as any other. abstain: the
   seat abstains from the check of the round in which it said so, and from the judgment if that is its latest
   evaluation; an earlier one does not stand in. A final judge decides as it does: only its fallback feels the rule.

Critical criteria: with too few points for one, a verdict is its cap at best.

7. The points of a criterion are weighed as the score is: they are those of the votes that decided, or the final
   judge's. Fewer than the criterion's share of its maximum (half of it, unless the panel says otherwise) fall short;
   exactly the share does not. Votes without points (those of decision models) count in none; where no vote that
   decided has points, nothing falls short. The cap holds before quorum and acceptance, and never makes a verdict
   milder. A verdict that it changes has no label.

Silence never helps a pass: votes that pass must stand with the silent seats counted, else the verdict needs review. A
seat is silent if it has no evaluation of its own: it abstained, what stands in for its blocked answer counts, its
verdict without support is left out, or it was not asked. Of a seat whose vote counts half, the other half is silent.
Earlier evaluations (stale votes) count as any other, and a final judge decides for itself.

8. What is silent is counted as `REVIEW` with half of the points, at the whole weight of the seat, as if it were certain
   (confidence 1). majority_vote: so a pass needs more than half of all seats, and no vote of a silent seat could take
   it away. weighted_average, median: a pass by the votes that were given is also one with any number of the silent
   seats answering `REVIEW` with half of the points, whatever their confidences. Nothing else changes: no verdict gets
   better, and none that does not pass gets worse. Where nothing is silent, nothing is capped. Under a scale of the
   panel's own, votes without a label are as silent where ranks decide."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from statistics import median
from typing import NamedTuple

from jury_debate.state import DebateState, SeatEvaluation
from jury_events.evaluation import SeatPosition
from jury_events.exact import exact
from jury_events.judgment import Agreement, CriticalShortfall
from jury_events.panel import Bands, FinalMethod, Panel, Seat
from jury_events.rubric import DimensionScore, Rubric, Scores
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_events.verdict_scale import VERDICTS, VerdictScale

_WHOLE = Fraction(1)


class CountedVote(NamedTuple):
    """The fields of a vote that the methods count; `share`: of a whole vote."""

    position: Verdict
    score: float
    weight: float
    confidence: float
    share: Fraction = _WHOLE


def deciding_method(method: FinalMethod) -> FinalMethod:
    """The method that decides unless a final judge does."""
    return "majority_vote" if method == "final_judge" else method


def count(method: FinalMethod, cast: Sequence[CountedVote], bands: Bands) -> tuple[Verdict, Fraction]:
    """The verdict and the exact score (0-100) of at least one vote under a counting method.

    majority_vote: more than half of the votes cast, else review; the mean of the winners, else of all.
    weighted_average: weights are seat weight times confidence, seat weights alone when all of those are zero.
    median: the middle score, the mean of the middle two. The bands apply to both before rounding.
    """
    if method == "majority_vote":
        votes: dict[Verdict, Fraction] = {}
        for vote in cast:
            votes[vote.position] = votes.get(vote.position, Fraction()) + vote.share
        position, most = max(votes.items(), key=itemgetter(1))
        won = 2 * most > sum(votes.values())
        counted = [vote for vote in cast if not won or vote.position is position]
        total = sum((vote.share * exact(vote.score) for vote in counted), Fraction())
        return (position if won else REVIEW), total / sum(vote.share for vote in counted)
    if method == "weighted_average":
        weights = [vote.share * exact(vote.weight) * exact(vote.confidence) for vote in cast]
        if not any(weights):
            weights = [vote.share * exact(vote.weight) for vote in cast]
        score = sum((w * exact(vote.score) for w, vote in zip(weights, cast, strict=True)), Fraction()) / sum(weights)
    else:
        score = Fraction(median(exact(vote.score) for vote in cast))
    return banded(score, bands), score


def banded(score: Fraction, bands: Bands) -> Verdict:
    """The verdict that a score (0-100, unrounded) falls into."""
    if score >= exact(bands.safe_pass):
        return PASS
    return REVIEW if score >= exact(bands.needs_review) else FAIL


_HALF = Fraction(1, 2)


class LabelledVote(NamedTuple):
    """A vote that is counted, with its label (None: it has an outcome only)."""

    vote: CountedVote
    label: str | None

    @property
    def position(self) -> SeatPosition:
        """What it says."""
        return SeatPosition(self.vote.position, self.label)


class VoteTally(NamedTuple):
    """What the votes decide. `weights` are those of the votes in the score, in their order; they add up to 1.

    `agreed_on` is None without a scale of the panel's own.
    """

    verdict: Verdict
    label: str | None
    agreed_on: Agreement | None
    weights: tuple[Fraction, ...]
    mean: Fraction


def tally(
    method: FinalMethod,
    cast: Sequence[LabelledVote],
    bands: Bands,
    scale: VerdictScale | None,
    *,
    rank_all: bool = False,
) -> VoteTally:
    """The count of at least one vote.

    Args:
        bands: for panels without a scale.
        scale: of the panel; None: the three verdicts.
        rank_all: votes without a label have the rank of law 4.
    """
    weights = _weights(method, cast, scale)
    mean = sum((weight * exact(one.vote.score) for weight, one in zip(weights, cast, strict=True)), Fraction())
    if scale is None:
        verdict, mean = count(method, [one.vote for one in cast], bands)
        return VoteTally(verdict, None, None, weights, mean)
    if method == "majority_vote":
        position, agreed_on = _majority(cast)
    else:
        position, agreed_on = _by_rank(method, cast, scale, _middle_rank(scale) if rank_all else None)
    return VoteTally(position.verdict, position.label, agreed_on, weights, mean)


def _weights(method: FinalMethod, cast: Sequence[LabelledVote], scale: VerdictScale | None) -> tuple[Fraction, ...]:
    if method == "majority_vote":
        position, agreed_on = _majority(cast)
        decided = [agreed_on == "nothing" or _is_of(one, position, scale) for one in cast]
        weights = [one.vote.share if counts else Fraction() for one, counts in zip(cast, decided, strict=True)]
    elif method == "median":
        order = sorted(range(len(cast)), key=lambda place: exact(cast[place].vote.score))
        middle = {order[(len(cast) - 1) // 2], order[len(cast) // 2]}
        weights = [Fraction(place in middle) for place in range(len(cast))]
    else:
        weights = _by_confidence(cast)
    total = sum(weights, Fraction())
    return tuple(weight / total for weight in weights)


def _by_confidence(cast: Sequence[LabelledVote]) -> list[Fraction]:
    weights = [one.vote.share * exact(one.vote.weight) * exact(one.vote.confidence) for one in cast]
    return weights if any(weights) else [one.vote.share * exact(one.vote.weight) for one in cast]


def _is_of(one: LabelledVote, position: SeatPosition, scale: VerdictScale | None) -> bool:
    if scale is None or position.label is None:
        return one.vote.position is position.verdict
    return one.label == position.label


def _majority(cast: Sequence[LabelledVote]) -> tuple[SeatPosition, Agreement]:
    whole = sum((one.vote.share for one in cast), Fraction())
    labels: dict[SeatPosition, Fraction] = {}
    outcomes: dict[Verdict, Fraction] = {}
    for one in cast:
        outcomes[one.vote.position] = outcomes.get(one.vote.position, Fraction()) + one.vote.share
        if one.label is not None:
            labels[one.position] = labels.get(one.position, Fraction()) + one.vote.share
    for position, votes in labels.items():
        if 2 * votes > whole:
            return position, "label"
    for verdict, votes in outcomes.items():
        if 2 * votes > whole:
            return SeatPosition(verdict), "outcome"
    return SeatPosition(REVIEW), "nothing"


def _middle_rank(scale: VerdictScale) -> Fraction:
    """Law 4."""
    least_pass = next((rank for rank, label in enumerate(scale.labels) if label.verdict is PASS), len(scale.labels))
    return max(Fraction(), min(_HALF * scale.best_rank, least_pass - _HALF))


def _by_rank(
    method: FinalMethod, cast: Sequence[LabelledVote], scale: VerdictScale, unlabelled: Fraction | None
) -> tuple[SeatPosition, Agreement]:
    """`unlabelled`: the rank of votes without a label; None: they have none."""
    found = [(one, unlabelled if one.label is None else Fraction(scale.rank(one.label))) for one in cast]
    labelled = [one for one, rank in found if rank is not None]
    if not labelled:
        return _majority(cast)
    ranks = [rank for _, rank in found if rank is not None]
    if method == "median":
        ranks.sort()
        rank = (ranks[(len(ranks) - 1) // 2] + ranks[len(ranks) // 2]) / 2
    else:
        weights = _by_confidence(labelled)
        rank = sum((weight * one for weight, one in zip(weights, ranks, strict=True)), Fraction()) / sum(weights)
    below, rest = divmod(rank, 1)
    if rest != _HALF:
        label = scale.labels[int(below) + (rest > _HALF)]
        return SeatPosition(label.verdict, label.id), "label"
    worse, better = scale.labels[int(below)].verdict, scale.labels[int(below) + 1].verdict
    return (SeatPosition(worse), "outcome") if worse is better else (SeatPosition(REVIEW), "nothing")


_HALF = Fraction(1, 2)


def state_to_check(state: DebateState) -> DebateState:
    """The state whose positions the consensus check counts."""
    return _without(state, {entry.juror_id for entry in _latest(state) if state.is_current(entry)})


def state_to_judge(state: DebateState) -> DebateState:
    """The state whose votes are counted."""
    return _without(state, {entry.juror_id for entry in _latest(state)})


def shares(state: DebateState) -> dict[str, Fraction]:
    """The share of a vote that seats have which do not have a whole one."""
    if state.panel.answers.unsupported != "halve":
        return {}
    return dict.fromkeys((entry.juror_id for entry in _latest(state)), _HALF)


def _latest(state: DebateState) -> list[SeatEvaluation]:
    latest = {entry.juror_id: entry for entry in state.evaluations}
    return [entry for entry in latest.values() if entry.evaluation.unsupported]


def _without(state: DebateState, juror_ids: set[str]) -> DebateState:
    if state.panel.answers.unsupported != "abstain" or not juror_ids:
        return state
    kept = tuple(entry for entry in state.evaluations if entry.juror_id not in juror_ids)
    return state._replace(evaluations=kept)


_MILDNESS = {verdict: rank for rank, verdict in enumerate(VERDICTS.values())}


def shortfalls(
    rubric: Rubric, scores: Sequence[Scores | None], weights: Sequence[Fraction]
) -> tuple[CriticalShortfall, ...]:
    """The critical criteria that fall short, in the order of the rubric.

    Args:
        scores: of the votes; None: it gives no points.
        weights: of the votes in the score; they add up to 1.
    """
    given = [(weight, one) for weight, one in zip(weights, scores, strict=True) if one is not None]
    whole = sum((weight for weight, _ in given), Fraction())
    if not whole:
        return ()
    found = []
    for criterion in rubric.dimensions:
        if criterion.critical is None:
            continue
        points = sum((weight / whole * exact(one.points(criterion.name)) for weight, one in given), Fraction())
        least = criterion.least
        if points < least:
            found.append(
                CriticalShortfall(
                    criterion=criterion.name, points=float(points), least=float(least), cap=criterion.critical
                )
            )
    return tuple(found)


def capped(position: SeatPosition, found: Sequence[CriticalShortfall]) -> SeatPosition:
    """The position, or the worst cap of the shortfalls where that is worse."""
    caps: list[Verdict] = [VERDICTS[one.cap] for one in found]
    worst = min([position.verdict, *caps], key=_MILDNESS.__getitem__)
    return position if worst is position.verdict else SeatPosition(worst)


_HALF_OF_POINTS = 50.0


_CERTAIN = 1.0


def stands(panel: Panel, own: Mapping[str, LabelledVote], points: Mapping[str, Scores | None] | None = None) -> bool:
    """Whether votes that pass do so with the silent seats counted.

    Args:
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
