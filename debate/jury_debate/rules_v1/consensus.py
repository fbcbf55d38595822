"""Consensus over all seats (document 004 §4.2, document 002 `ConsensusChecker`), in exact fractions."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from jury_events.consensus import ConsensusCheck, ConsensusStatus
from jury_events.exact import exact
from jury_events.panel import DiscussionRules
from jury_events.verdict import Verdict


def check_consensus(
    positions: Sequence[Verdict], seats: int, rules: DiscussionRules, *, round_number: int
) -> ConsensusCheck:
    """See `Rules.check_consensus`."""
    counts = Counter(positions)
    largest = max(counts.values(), default=0)
    if largest == seats:
        status = ConsensusStatus.UNANIMOUS
    elif 2 * largest > seats:
        status = ConsensusStatus.MAJORITY
    else:
        status = ConsensusStatus.SPLIT
    split = status is ConsensusStatus.SPLIT
    reached = not split and meets_threshold(Fraction(largest, seats), rules.threshold)
    if round_number and rules.unanimity_ends and status is ConsensusStatus.UNANIMOUS:
        reached = True
    return ConsensusCheck(
        status=status,
        largest=largest,
        seats=seats,
        majority_position=None if split else counts.most_common(1)[0][0],
        reached=reached,
    )


def meets_threshold(agreement: Fraction, threshold: float) -> bool:
    """Whether `agreement` (0-1) meets `threshold` (finite, > 0).

    Below 1 the agreement may be rounded to two decimals, so that 0.67 accepts 2 of 3; from 1 on it may not, so that
    199 of 200 is not 1.0; above 1 nothing meets it.
    """
    wanted = exact(threshold)
    if wanted >= 1:
        return agreement >= wanted
    return max(agreement, round(agreement, 2)) >= wanted
