"""Counting votes: what was decided, and the weight that each vote has in the score.

Under a scale of the panel's own, votes are labels. Laws:

1. majority_vote: the label with more than half of the votes; without one, the outcome with more than half, and no
   label; without that, the outcome review, undecided. The score is the mean of the votes that decided; of all where
   none did.
2. weighted_average, median: the mean or the median rank of the labels, by the weights of the score. The label nearest
   to it; exactly between two labels there is no label, and the outcome is theirs if they share it, else review,
   undecided. Bands do not count.
3. Votes without a label (what stands in for blocked answers) count in the score and for outcomes, and for no label.
4. What stands in for silent seats has no label, and under weighted_average and median the middle rank, or where that
   passes, the place between the labels that pass and those that do not (`silence`).
5. Unanimous labels are decided by every method. A label that is decided lies between the worst and the best that were
   given, and the verdict is its outcome. Under weighted_average and median, no verdict gets worse by a better vote.
6. Without a scale of its own, a panel decides as under version 2.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from jury_debate.rules_v1.judgment import CountedVote, count
from jury_events.evaluation import SeatPosition
from jury_events.exact import exact
from jury_events.judgment import Agreement
from jury_events.panel import Bands, FinalMethod
from jury_events.verdict import PASS, REVIEW, Verdict
from jury_events.verdict_scale import VerdictScale

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
        method: one that counts.
        cast: the votes.
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
