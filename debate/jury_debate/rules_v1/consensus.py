"""Consensus over all seats (document 004 §4.2, document 002 `ConsensusChecker`), in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from operator import itemgetter

from jury_events.consensus import ConsensusCheck, ConsensusStatus
from jury_events.exact import exact
from jury_events.panel import DiscussionRules
from jury_events.verdict import Verdict

_VERDICTS = tuple(Verdict)


def check_consensus(
    positions: Sequence[Verdict], seats: int, rules: DiscussionRules, *, round_number: int
) -> ConsensusCheck:
    """See `Rules.check_consensus`."""
    counts = [(positions.count(verdict), verdict) for verdict in _VERDICTS]
    largest, leading = max(counts, key=itemgetter(0))
    return check_of(largest, leading, seats, rules, round_number=round_number)


def check_of(
    largest: int, leading: Verdict, seats: int, rules: DiscussionRules, *, round_number: int, label: str | None = None
) -> ConsensusCheck:
    """The check where `largest` of the seats have the leading position, and no other has more.

    Args:
        largest: how many.
        leading: their verdict.
        seats: how many the panel has.
        rules: of the discussion.
        round_number: as in `Rules.check_consensus`.
        label: of the leading position, as in `SeatPosition`.
    """
    if largest == seats:
        status = ConsensusStatus.UNANIMOUS
    elif 2 * largest > seats:
        status = ConsensusStatus.MAJORITY
    else:
        status = ConsensusStatus.SPLIT
    split = status is ConsensusStatus.SPLIT
    reached = not split and _meets(largest, seats, rules.threshold)
    if round_number and rules.unanimity_ends and status is ConsensusStatus.UNANIMOUS:
        reached = True
    return ConsensusCheck(
        status=status,
        largest=largest,
        seats=seats,
        majority_position=None if split else leading,
        reached=reached,
        majority_label=None if split else label,
    )


@lru_cache(maxsize=4096)
def _meets(largest: int, seats: int, threshold: float) -> bool:
    return meets_threshold(Fraction(largest, seats), threshold)


def meets_threshold(agreement: Fraction, threshold: float) -> bool:
    """Whether `agreement` (0-1) meets `threshold` (finite, > 0).

    Below 1 the agreement may be rounded to two decimals, so that 0.67 accepts 2 of 3; from 1 on it may not, so that
    199 of 200 is not 1.0; above 1 nothing meets it.
    """
    wanted = exact(threshold)
    if wanted >= 1:
        return agreement >= wanted
    return max(agreement, round(agreement, 2)) >= wanted
