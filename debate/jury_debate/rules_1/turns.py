"""Whose turn it is: the order of speakers in a round, and the steps that can be asked now."""

import hashlib

from jury_debate.state import DebateState, Phase
from jury_events.ids import FINAL, Step
from jury_events.panel import Panel, SpeakerOrder


def speaker_order(order: SpeakerOrder, round_number: int) -> tuple[str, ...]:
    """The juror ids in the order of round `round_number` (from 1).

    A seeded order sorts by a hash, so that it is the same on every machine and Python version.
    """
    base = order.base
    if order.kind == "rotating":
        shift = (round_number - 1) % len(base)
        return base[shift:] + base[:shift]
    if order.kind == "seeded":
        return tuple(sorted(base, key=lambda juror: (_draw(order.seed, round_number, juror), juror)))
    return base


def _draw(seed: int, round_number: int, juror_id: str) -> bytes:
    return hashlib.sha256(f"{seed}/{round_number}/{juror_id}".encode()).digest()


def speakers_of(panel: Panel, round_number: int) -> tuple[str, ...]:
    """The speaker order of a round of a panel, without the seats of decision models, which never speak."""
    speaking = frozenset(panel.speaking)
    return tuple(one for one in speaker_order(panel.discussion.speakers, round_number) if one in speaking)


def due_steps(state: DebateState) -> tuple[Step, ...]:
    """The steps that can be asked now: every waiting seat in parallel, the next speaker in a sequential round."""
    if state.phase is Phase.EVALUATING:
        return tuple(Step(0, juror) for juror in state.waiting)
    if state.phase is Phase.DISCUSSING:
        waiting = state.waiting if state.panel.discussion.order == "parallel" else state.waiting[:1]
        return tuple(Step(state.round, juror) for juror in waiting)
    if judge_is_due(state):
        return (FINAL,)
    return ()


def judge_is_due(state: DebateState) -> bool:
    """Whether the final judge has to be asked now."""
    return (
        state.phase is Phase.DELIBERATED
        and state.panel.final.judge is not None
        and bool(state.evaluations)
        and state.end_reason is not None
    )
