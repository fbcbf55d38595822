"""What failing verdicts count whose quotations do not stand where they say: the panel's rule `unsupported`.

Laws. count: as any other. halve: half a vote, half a weight; quorum and checks count the seat as any other. abstain:
the seat abstains from the check of the round in which it said so, and from the judgment if that is its latest
evaluation; an earlier one does not stand in. A final judge decides as it does: only its fallback feels the rule.
"""

from fractions import Fraction

from jury_debate.state import DebateState, SeatEvaluation

_HALF = Fraction(1, 2)


def state_to_check(state: DebateState) -> DebateState:
    """The state whose positions the consensus check counts."""
    return _without(state, {entry.juror_id for entry in _latest(state) if entry.round == state.round})


def state_to_judge(state: DebateState) -> DebateState:
    """The state whose votes are counted."""
    return _without(state, {entry.juror_id for entry in _latest(state)})


def shares(state: DebateState) -> dict[str, Fraction]:
    """The share of a vote that seats have which do not have a whole one."""
    if state.panel.answers.unsupported != "halve":
        return {}
    return dict.fromkeys((entry.juror_id for entry in _latest(state)), _HALF)


def _latest(state: DebateState) -> list[SeatEvaluation]:
    """The latest evaluations of seats that are unsupported."""
    latest = {entry.juror_id: entry for entry in state.evaluations}
    return [entry for entry in latest.values() if entry.evaluation.unsupported]


def _without(state: DebateState, juror_ids: set[str]) -> DebateState:
    if state.panel.answers.unsupported != "abstain" or not juror_ids:
        return state
    kept = tuple(entry for entry in state.evaluations if entry.juror_id not in juror_ids)
    return state._replace(evaluations=kept)
