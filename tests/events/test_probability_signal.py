"""The mean probability of a verdict: what each vote for it holds, over all seats."""

from jury_events import ProbabilitySignal, ShareSignal, SignalVote
from support.each_row import each_row

VOTES = [SignalVote("a", "good", 0.9), SignalVote("b", "good", 0.6), SignalVote("c", "bad", 0.8), SignalVote("d", None)]


@each_row(("verdict", "mean"), [("good", 0.375), ("bad", 0.2), ("unclear", 0.0)])
def test_votes_for_another_verdict_and_no_votes_count_nothing(verdict: str, mean: float) -> None:
    assert mean == ProbabilitySignal().probability(verdict, VOTES)


def test_it_is_at_most_the_share_of_the_votes() -> None:
    certain = [vote._replace(confidence=1.0) for vote in VOTES]

    assert ShareSignal().probability("good", VOTES) == ProbabilitySignal().probability("good", certain)


def test_a_vote_without_a_confidence_counts_nothing() -> None:
    assert 0.0 == ProbabilitySignal().probability("good", [SignalVote("a", "good"), SignalVote("b", "good")])


def test_thresholds_are_hundredths() -> None:
    assert (1.0, 0.99, 0.01, 100) == (*ProbabilitySignal.levels()[:2], ProbabilitySignal.levels()[-1], 100)
