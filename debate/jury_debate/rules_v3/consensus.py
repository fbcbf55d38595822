"""Consensus under a scale of the panel's own: positions are labels.

Laws. Two seats agree exactly if they have the same label; two that have an outcome only (what stands in for blocked
answers), if the outcome is the same; a label never agrees with an outcome only. Where every label has an outcome of
its own, the check over labels has the numbers of the check over outcomes.
"""

from collections import Counter
from collections.abc import Sequence

from jury_debate.rules_v1 import consensus as before
from jury_events.consensus import ConsensusCheck
from jury_events.evaluation import SeatPosition
from jury_events.panel import DiscussionRules
from jury_events.verdict import REVIEW

_NOBODY = SeatPosition(REVIEW)


def check_positions(
    positions: Sequence[SeatPosition], seats: int, rules: DiscussionRules, *, round_number: int
) -> ConsensusCheck:
    """The check of labels, as `Rules.check_consensus` of verdicts."""
    # The first of several with the most votes: none of them is a majority.
    (leading, largest), *_ = Counter(positions).most_common(1) or [(_NOBODY, 0)]
    return before.check_of(largest, leading.verdict, seats, rules, round_number=round_number, label=leading.label)
