"""The state machine of a debate: the fold of its events as one transition table, with its invariants (laws).

Laws
 1. A debate opens once, ends once, and after its end only texts are erased.
 2. In phase 1 and in every round each seat has exactly one turn: an evaluation (phase 1), a statement (round) or an
    abstention, appended in speaker order. So the log does not depend on the order in which answers arrive.
 3. Seats have their turns only between the opening (or the start of a round) and the consensus check.
 4. The consensus check follows the last turn and has the result that the rules compute.
 5. Rounds are numbered from 1 without a gap, never exceed `max_rounds`, and start only until the discussion is over.
 6. The judgment follows the end of the discussion, is what the rules compute, and is followed by the completion.
 7. Cancelled, failed and resumed may happen at any time before the end, and change no turn.
An event that breaks a law raises `IllegalEvent` and changes nothing.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from jury_debate.errors import IllegalEvent
from jury_debate.rules_v1 import discussion, judgment
from jury_debate.rules_v1.consensus import check_consensus
from jury_debate.rules_v1.speaker_order import speaker_order
from jury_debate.rules_v1.steps import judge_is_due
from jury_debate.state import DebateState, Phase, SeatEvaluation
from jury_events.codec import DebateEvent
from jury_events.consensus import ConsensusCheck
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateCompleted,
    DebateForked,
    DebateOpened,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    RoundStarted,
    StatementMade,
    TextsErased,
)
from jury_events.ids import Step
from jury_events.judgment import Judgment

Changes = dict[str, Any]
Render = Callable[..., Judgment]
"""`judgment.render`, or that of a later version."""

Check = Callable[[DebateState], ConsensusChecked]
"""`next_check`, or that of a later version."""

Handler = Callable[[DebateState, Any], Changes]
"""The changed fields of the state; raises `IllegalEvent` where the event breaks a law."""


def _law(holds: bool, message: str, *facts: object) -> None:
    """Raise `message`, formatted with `facts`, if the law is broken; formats nothing otherwise."""
    if not holds:
        raise IllegalEvent(message.format(*facts))


def _opened(_state: DebateState, event: DebateOpened) -> Changes:
    pieces = MappingProxyType({piece.name: piece.text for piece in event.pieces})
    return {"phase": Phase.EVALUATING, "opened": event, "pieces": pieces, "speaker_order": event.panel.juror_ids}


def _took_turn(
    state: DebateState, juror_id: str, entry: SeatEvaluation | None = None, *, changed: bool = False
) -> Changes:
    waiting = state.waiting
    _law(bool(waiting) and waiting[0] == juror_id, "it is not {}'s turn in round {}", juror_id, state.round)
    return {
        "done": (*state.done, juror_id),
        "evaluations": state.evaluations if entry is None else (*state.evaluations, entry),
        "changed": state.changed or changed,
    }


def _evaluated(state: DebateState, event: JurorEvaluated) -> Changes:
    return _took_turn(state, event.juror_id, SeatEvaluation(0, event.juror_id, event.evaluation, event.peer_text))


def _spoke(state: DebateState, event: StatementMade) -> Changes:
    _law(event.round == state.round, "a statement of round {} in round {}", event.round, state.round)
    _law(event.statement.order == len(state.done), "statement order {}, not {}", event.statement.order, len(state.done))
    expected = discussion.position_changed(state, event.juror_id, event.statement.evaluation.position)
    _law(event.statement.position_changed == expected, "position_changed of {} must be {}", event.juror_id, expected)
    entry = SeatEvaluation(event.round, event.juror_id, event.statement.evaluation, event.peer_text)
    return _took_turn(state, event.juror_id, entry, changed=event.statement.position_changed)


def _abstained(state: DebateState, event: JurorAbstained) -> Changes:
    step = Step(state.round, event.juror_id)
    _law(event.step == step.id, "an abstention from {} while {} is due", event.step, step.id)
    stale = state.latest(event.juror_id) is not None
    _law(event.stale == stale, "stale of {}'s abstention must be {}", event.juror_id, stale)
    return _took_turn(state, event.juror_id)


def checked(state: DebateState, event: ConsensusChecked, check: Check) -> Changes:
    """The changes by a consensus check, which must be what `check` gives; raises `IllegalEvent`."""
    _law(not state.waiting, "consensus checked before the turn of {}", ", ".join(state.waiting))
    _law(event.round == state.round, "a check of round {} in round {}", event.round, state.round)
    expected = check(state)
    _law(event == expected, "the check of round {} must be {!r}", event.round, expected)
    return {
        "phase": Phase.DELIBERATED,
        "checks": (*state.checks, event.check),
        "quiet_rounds": quiet_rounds(state),
        "end_reason": event.end_reason,
    }


def _checked(state: DebateState, event: ConsensusChecked) -> Changes:
    return checked(state, event, next_check)


def round_started(state: DebateState, event: RoundStarted, expected: tuple[str, ...]) -> Changes:
    """The changes by the start of a round, whose speakers must be the expected ones; raises `IllegalEvent`."""
    _law(state.end_reason is None, "a round starts after the discussion ended")
    _law(event.round == state.round + 1, "round {} follows round {}", event.round, state.round)
    _law(event.speaker_order == expected, "the speaker order of round {} must be {}", event.round, expected)
    return {
        "phase": Phase.DISCUSSING,
        "round": event.round,
        "speaker_order": event.speaker_order,
        "instruction": event.instruction,
        "done": (),
        "changed": False,
    }


def _round_started(state: DebateState, event: RoundStarted) -> Changes:
    return round_started(state, event, speaker_order(state.panel.discussion.speakers, event.round))


def judged(state: DebateState, event: JudgmentRendered, render: Render) -> Changes:
    """The changes by a judgment, which must be what `render` gives; raises `IllegalEvent`."""
    _law(state.end_reason is not None, "a judgment before the discussion ended")
    made = event.judgment
    answers = (made.judge is not None) + (made.judge_failure is not None)
    _law(answers == judge_is_due(state), "the final judge judges or fails exactly where one is due")
    expected = render(state, judge=made.judge, judge_failure=made.judge_failure)
    _law(made == expected, "the judgment must be {!r}", expected)
    return {"phase": Phase.JUDGED, "judgment": made}


def _judged(state: DebateState, event: JudgmentRendered) -> Changes:
    return judged(state, event, judgment.render)


def _completed(state: DebateState, event: DebateCompleted) -> Changes:
    expected = discussion.completion(state)
    _law(event == expected, "the completion must be {!r}", expected)
    return {"phase": Phase.COMPLETED, "completed": event}


def _resumed(state: DebateState, event: CoordinatorResumed) -> Changes:
    _law(event.number == state.resumed + 1, "resumption {} follows {}", event.number, state.resumed)
    return {"resumed": event.number}


def _erased(state: DebateState, event: TextsErased) -> Changes:
    _law(event.number == state.erased + 1, "erasure {} follows {}", event.number, state.erased)
    return {"erased": event.number}


def _forked(state: DebateState, event: DebateForked) -> Changes:
    _law(state.version == 1, "a debate can become a fork only right after it opened")
    return {"forked": event}


def _cancelled(_state: DebateState, _event: object) -> Changes:
    return {"phase": Phase.CANCELLED}


def _failed(_state: DebateState, _event: object) -> Changes:
    return {"phase": Phase.FAILED}


def _impossible(state: DebateState, event: DebateEvent) -> Changes:
    raise IllegalEvent(f"{event.type} cannot happen while {state.phase}")


_ANY_TIME: Mapping[str, Handler] = {
    "coordinator_resumed": _resumed,
    "debate_cancelled": _cancelled,
    "debate_failed": _failed,
    "texts_erased": _erased,
}
_ERASURE_ONLY: Mapping[str, Handler] = {"texts_erased": _erased}

TRANSITIONS: Mapping[Phase, Mapping[str, Handler]] = {
    Phase.UNOPENED: {"debate_opened": _opened},
    Phase.EVALUATING: {
        **_ANY_TIME,
        "debate_forked": _forked,
        "juror_evaluated": _evaluated,
        "juror_abstained": _abstained,
        "consensus_checked": _checked,
    },
    Phase.DELIBERATED: {**_ANY_TIME, "round_started": _round_started, "judgment_rendered": _judged},
    Phase.DISCUSSING: {
        **_ANY_TIME,
        "statement_made": _spoke,
        "juror_abstained": _abstained,
        "consensus_checked": _checked,
    },
    Phase.JUDGED: {**_ANY_TIME, "debate_completed": _completed},
    Phase.COMPLETED: _ERASURE_ONLY,
    Phase.FAILED: _ERASURE_ONLY,
    Phase.CANCELLED: _ERASURE_ONLY,
}


def evolve(
    state: DebateState, event: DebateEvent, transitions: Mapping[Phase, Mapping[str, Handler]] = TRANSITIONS
) -> DebateState:
    """The state after `event`; a later version gives its own transitions.

    Raises:
        IllegalEvent: the event breaks a law; `state` is unchanged.
    """
    handler = transitions[state.phase].get(event.type, _impossible)
    try:
        changes = handler(state, event)
    except IllegalEvent as error:
        debate = state.opened.debate_id if state.opened else getattr(event, "debate_id", "?")
        raise IllegalEvent(f"debate {debate}, version {state.version}: {error}") from None
    return state._replace(version=state.version + 1, **changes)


def check_of_state(state: DebateState) -> ConsensusCheck:
    """The check of the positions of this phase or round."""
    positions = [entry.evaluation.verdict for entry in state.evaluations if entry.round == state.round]
    return check_consensus(positions, len(state.panel.seats), state.panel.discussion, round_number=state.round)


def next_check(
    state: DebateState, check_of_state: Callable[[DebateState], ConsensusCheck] = check_of_state
) -> ConsensusChecked:
    """The consensus check after the last turn, and whether the discussion ends with it.

    A later version gives its own check of positions.
    """
    check = check_of_state(state)
    return ConsensusChecked(
        round=state.round, check=check, end_reason=discussion.end_reason_after(state, check, quiet_rounds(state))
    )


def quiet_rounds(state: DebateState) -> int:
    """Consecutive rounds that changed no position, the current one included."""
    return 0 if state.changed or not state.round else state.quiet_rounds + 1
