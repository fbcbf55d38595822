"""Consensus checks over all seats (document 004 §4.2, document 002 `ConsensusChecker`), in exact fractions.

After phase 1 and after every round; and whether the discussion ends with it. Under a scale of the panel's own,
positions are labels. Laws. Two seats agree exactly if they have the same label; two that have an outcome only (what
stands in for blocked answers), if the outcome is the same; a label never agrees with an outcome only. Where every label
has an outcome of its own, the check over labels has the numbers of the check over outcomes.
"""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import lru_cache
from operator import itemgetter

from jury_debate.reading.planning import REASONING, part_name
from jury_debate.rules_1.votes import state_to_check
from jury_debate.state import DebateState, Phase
from jury_events.debate_events import ConsensusChecked, EndReason
from jury_events.evaluation import SeatPosition
from jury_events.exact import exact
from jury_events.judgment import ConsensusCheck, ConsensusStatus
from jury_events.panel import DiscussionRules
from jury_events.value import trusted
from jury_events.verdict import REVIEW, Verdict

_VERDICTS = tuple(Verdict)
_NOBODY = SeatPosition(REVIEW)
_REASONING = frozenset({REASONING, part_name(REASONING, 1)})


def next_check(state: DebateState) -> ConsensusChecked:
    """The consensus check after the last turn, and whether the discussion ends with it."""
    counted = state_to_check(state)
    check = _check_of_state(_standing(counted))
    return trusted(ConsensusChecked)(
        round=state.round, check=check, end_reason=_end_reason_after(counted, check, quiet_rounds(counted))
    )


def _check_of_state(state: DebateState) -> ConsensusCheck:
    positions = [entry.evaluation.position for entry in state.evaluations if state.is_current(entry)]
    seats, rules = len(state.panel.seats), state.panel.discussion
    if state.panel.scale is None:
        return check_consensus([one.verdict for one in positions], seats, rules, round_number=state.round)
    return check_labels(positions, seats, rules, round_number=state.round)


def _standing(state: DebateState) -> DebateState:
    if not state.round or len(state.panel.speaking) == len(state.panel.seats):
        return state
    speaking = frozenset(state.panel.speaking)
    latest = {entry.juror_id: entry for entry in state.evaluations if entry.juror_id not in speaking}
    standing = tuple(entry._replace(round=state.round) for entry in latest.values())
    return state._replace(evaluations=(*state.evaluations, *standing))


def check_consensus(
    positions: Sequence[Verdict], seats: int, rules: DiscussionRules, *, round_number: int
) -> ConsensusCheck:
    """See `Rules.check_consensus`."""
    counts = [(positions.count(verdict), verdict) for verdict in _VERDICTS]
    largest, leading = max(counts, key=itemgetter(0))
    return _check_of(largest, leading, seats, rules, round_number=round_number)


def check_labels(
    positions: Sequence[SeatPosition], seats: int, rules: DiscussionRules, *, round_number: int
) -> ConsensusCheck:
    """The check of labels, as `Rules.check_consensus` of verdicts."""
    # The first of several with the most votes: none of them is a majority.
    (leading, largest), *_ = Counter(positions).most_common(1) or [(_NOBODY, 0)]
    return _check_of(largest, leading.verdict, seats, rules, round_number=round_number, label=leading.label)


def _check_of(
    largest: int, leading: Verdict, seats: int, rules: DiscussionRules, *, round_number: int, label: str | None = None
) -> ConsensusCheck:
    """The check where `largest` of the seats have the leading position, and no other has more.

    Args:
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
    return trusted(ConsensusCheck)(
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


def quiet_rounds(state: DebateState) -> int:
    """Consecutive rounds that changed no position, the current one included."""
    return 0 if state.changed or not state.round else state.quiet_rounds + 1


def position_changed(state: DebateState, juror_id: str, position: SeatPosition) -> bool:
    """Whether `position` differs from the seat's latest one, phase 1 included; False if it has none."""
    before = state.latest(juror_id)
    return before is not None and before.evaluation.position != position


def reasoning_is_due(state: DebateState) -> bool:
    """Whether the seats are to be shown the agent's reasoning now: once all have judged a case that has some.

    Where no seat has evaluated, or has answered on a part of the record, none is asked again.
    """
    return (
        state.phase is Phase.EVALUATING
        and not state.waiting
        and not state.reasoning_shown
        and shows_reasoning(state)
        and bool(_voting(state))
    )


def shows_reasoning(state: DebateState) -> bool:
    """Whether the case has reasoning of the agent that the seats are shown after they have judged."""
    return state.panel.reasoning == "after" and any(piece.name in _REASONING for piece in state.debate.pieces)


def _voting(state: DebateState) -> AbstractSet[str]:
    return {entry.juror_id for entry in state.evaluations} | state.partly_read.keys()


def _may_discuss(state: DebateState) -> bool:
    """Whether a seat that speaks has evaluated, or has answered on a part of the record, or the panel always discusses.

    The others have no vote, and nothing to discuss.
    """
    return state.panel.discussion.always_discuss or not _voting(state).isdisjoint(state.panel.speaking)


def _end_reason_after(state: DebateState, check: ConsensusCheck, quiet: int) -> EndReason | None:
    """Why the discussion is over after a consensus check; None when a round follows.

    Phase 1 reached skips phase 2 unless `always_discuss`, as it does where no seat may discuss. A round ends it when
    reached, unless `end_early` is off, or after `stagnation_rounds` rounds that changed no position, and at
    `max_rounds` in any case.
    """
    rules = state.panel.discussion
    if not rules.max_rounds or not _may_discuss(state):
        return "no_discussion"
    if state.round == 0:
        return "consensus" if check.reached and not rules.always_discuss else None
    if check.reached and (rules.end_early or state.round == rules.max_rounds):
        return "consensus"
    if rules.stagnation_rounds is not None and quiet >= rules.stagnation_rounds:
        return "deadlock"
    return "max_rounds" if state.round == rules.max_rounds else None
