"""The rules of version 1. The state machine is the fold of events as one transition table, with invariants (laws).

Laws
 1. A debate opens once, begins once, ends once, and after its end only texts are erased; one that ended without an
    evaluation may be replaced, once.
 2. In phase 1 and in every round each seat that is asked has exactly one turn: an evaluation (phase 1), a statement
    (round) or an abstention, appended in speaker order. So the log does not depend on the order of answers.
 3. Seats have their turns only between the beginning (or the start of a round) and the consensus check. Under
    `reasoning: after` each has another one in phase 1: once, after all have judged without the agent's reasoning.
 4. The consensus check follows the last turn and has the result that the rules compute.
 5. Rounds are numbered from 1 without a gap, never exceed `max_rounds`, and start only until the discussion is over.
 6. The judgment follows the end of the discussion, is what the rules compute, and is followed by the completion.
 7. Cancelled and failed may happen at any time before the end, resumed once it has begun; they change no turn.
 8. A label is one of the panel's scale, and stands with its outcome; a panel that judges in the three verdicts has no
    labels.
 9. Where the opening has an asking plan, seats have their turns of phase 1 in its order, by whole groups; the seats
    after the group that settles what is decided are not asked (`early_stop`).
10. A seat of decision models, and no other, evaluates with probabilities; it has no turn in a round.
An event that breaks a law raises `IllegalEvent` and changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from jury_debate.assignment import Assignment
from jury_debate.conversation import Conversation
from jury_debate.errors import IllegalEvent
from jury_debate.rules import RecountResult
from jury_debate.rules_1 import answers
from jury_debate.rules_1.checks import (
    check_consensus,
    next_check,
    position_changed,
    quiet_rounds,
    reasoning_is_due,
    shows_reasoning,
)
from jury_debate.rules_1.conversation import EvaluationConversation, reply_from_record
from jury_debate.rules_1.decider import decide, judge_is_due, pending_steps, speakers_of
from jury_debate.rules_1.decision_models import DecisionConversation
from jury_debate.rules_1.early_stop import answers_so_far, asked_first, not_asked
from jury_debate.rules_1.findings import findings_schema
from jury_debate.rules_1.judgment import completion, render
from jury_debate.rules_1.opening import open_debate, signs_of
from jury_debate.rules_1.reading_conversation import ReadingConversation
from jury_debate.rules_1.settling import is_settled
from jury_debate.rules_1.steps import assign
from jury_debate.rules_1.tools import ToolReadingConversation, answer_tool
from jury_debate.rules_1.window_conversation import CitedConversation
from jury_debate.state import DebateState, Phase, SeatEvaluation
from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateBegun,
    DebateCompleted,
    DebateForked,
    DebateOpened,
    DebateReplaced,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    ReasoningShown,
    RoundStarted,
    SeatsNotAsked,
    StatementMade,
    TextsErased,
)
from jury_events.evaluation import Evaluation
from jury_events.ids import again_id
from jury_events.judgment import Decider
from jury_events.outcome import FailureReason
from jury_events.parts import PartRegistry
from jury_events.rubric import Rubric
from jury_events.verdict_scale import VerdictScale

Changes = dict[str, Any]
Handler = Callable[[DebateState, Any], Changes]
"""The changed fields of the state; raises `IllegalEvent` where the event breaks a law."""


def evolve(state: DebateState, event: DebateEvent) -> DebateState:
    """See `Rules.evolve`."""
    handler = TRANSITIONS[state.phase].get(event.type, _impossible)
    try:
        changes = handler(state, event)
    except IllegalEvent as error:
        debate = state.opened.debate_id if state.opened else getattr(event, "debate_id", "?")
        raise IllegalEvent(f"debate {debate}, version {state.version}: {error}") from None
    return state._replace(version=state.version + 1, **changes)


def _law(holds: bool, message: str, *facts: object) -> None:
    """Raise `message`, formatted with `facts`, if the law is broken; formats nothing otherwise."""
    if not holds:
        raise IllegalEvent(message.format(*facts))


_named_text = attrgetter("name", "text")


def _opened(_state: DebateState, event: DebateOpened) -> Changes:
    pieces = MappingProxyType(dict(map(_named_text, event.pieces)))
    order = event.panel.juror_ids if event.asking is None else event.asking.order
    return {"phase": Phase.WAITING, "opened": event, "pieces": pieces, "speaker_order": order}


def _begun(_state: DebateState, _event: DebateBegun) -> Changes:
    return {"phase": Phase.EVALUATING}


def _forked(state: DebateState, event: DebateForked) -> Changes:
    _law(state.version == 1, "a debate can become a fork only right after it opened")
    return {"forked": event}


def _evaluated(state: DebateState, event: JurorEvaluated) -> Changes:
    _check_labels(state, event.evaluation)
    _check_kind(state, event)
    _check_asked(state)
    expected = state.step_of(event.juror_id)
    _law(event.step == expected, "an evaluation of {} while {} is due", event.step.id, expected.id)
    again = event.step.reasoning
    return _took_turn(
        state, event.juror_id, SeatEvaluation(0, event.juror_id, event.evaluation, event.peer_text, again)
    )


def _reasoning_shown(state: DebateState, _event: ReasoningShown) -> Changes:
    _law(reasoning_is_due(state), "there is no reasoning to show now")
    return {"reasoning_shown": True, "done": (), "speaker_order": state.panel.juror_ids}


def _not_asked(state: DebateState, event: SeatsNotAsked) -> Changes:
    expected = not_asked(state)
    _law(event == expected, "the seats that are not asked must be {!r}", expected)
    return {"done": (*state.done, *event.juror_ids), "not_asked": event.juror_ids}


def _abstained_at_first(state: DebateState, event: JurorAbstained) -> Changes:
    _check_asked(state)
    return _abstained(state, event)


def _abstained(state: DebateState, event: JurorAbstained) -> Changes:
    step = state.step_of(event.juror_id)
    _law(event.step == step.id, "an abstention from {} while {} is due", event.step, step.id)
    stale = state.latest(event.juror_id) is not None
    _law(event.stale == stale, "stale of {}'s abstention must be {}", event.juror_id, stale)
    changes = _took_turn(state, event.juror_id)
    if event.partly_read is not None:
        changes["partly_read"] = {**state.partly_read, event.juror_id: event.partly_read}
    return changes


def _round_started(state: DebateState, event: RoundStarted) -> Changes:
    expected = speakers_of(state.panel, event.round)
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


def _spoke(state: DebateState, event: StatementMade) -> Changes:
    made = event.statement
    _check_labels(state, made.evaluation)
    _law(event.round == state.round, "a statement of round {} in round {}", event.round, state.round)
    _law(made.order == len(state.done), "statement order {}, not {}", made.order, len(state.done))
    expected = position_changed(state, event.juror_id, made.evaluation.position)
    _law(made.position_changed == expected, "position_changed of {} must be {}", event.juror_id, expected)
    entry = SeatEvaluation(event.round, event.juror_id, made.evaluation, event.peer_text)
    return _took_turn(state, event.juror_id, entry, changed=made.position_changed)


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


def _checked(state: DebateState, event: ConsensusChecked) -> Changes:
    _law(not state.waiting, "consensus checked before the turn of {}", ", ".join(state.waiting))
    _law(event.round == state.round, "a check of round {} in round {}", event.round, state.round)
    _law(not reasoning_is_due(state), "consensus checked before the agent's reasoning is shown")
    expected = next_check(state)
    _law(event == expected, "the check of round {} must be {!r}", event.round, expected)
    return {
        "phase": Phase.DELIBERATED,
        "checks": (*state.checks, event.check),
        "quiet_rounds": quiet_rounds(state),
        "end_reason": event.end_reason,
    }


def _judged(state: DebateState, event: JudgmentRendered) -> Changes:
    made = event.judgment
    if made.judge is not None:
        _check_labels(state, made.judge)
    _law(state.end_reason is not None, "a judgment before the discussion ended")
    answers = (made.judge is not None) + (made.judge_failure is not None)
    _law(answers == judge_is_due(state), "the final judge judges or fails exactly where one is due")
    expected = render(state, judge=made.judge, judge_failure=made.judge_failure)
    _law(made == expected, "the judgment must be {!r}", expected)
    return {"phase": Phase.JUDGED, "judgment": made}


def _completed(state: DebateState, event: DebateCompleted) -> Changes:
    expected = completion(state)
    _law(event == expected, "the completion must be {!r}", expected)
    return {"phase": Phase.COMPLETED, "completed": event}


def _resumed(state: DebateState, event: CoordinatorResumed) -> Changes:
    _law(event.number == state.resumed + 1, "resumption {} follows {}", event.number, state.resumed)
    return {"resumed": event.number}


def _erased(state: DebateState, event: TextsErased) -> Changes:
    _law(event.number == state.erased + 1, "erasure {} follows {}", event.number, state.erased)
    return {"erased": event.number}


def _replaced(state: DebateState, event: DebateReplaced) -> Changes:
    _law(not state.replaced, "a debate is replaced once")
    judgment = state.judgment
    unevaluated = judgment is None or judgment.decided_by is Decider.NO_EVALUATION
    _law(unevaluated, "only a debate that ended without an evaluation is replaced")
    expected = again_id(state.debate.debate_id)
    _law(event.successor == expected, "the successor must be {}, not {}", expected, event.successor)
    return {"replaced": True}


def _cancelled(_state: DebateState, _event: object) -> Changes:
    return {"phase": Phase.CANCELLED}


def _failed(_state: DebateState, _event: object) -> Changes:
    return {"phase": Phase.FAILED}


def _impossible(state: DebateState, event: DebateEvent) -> Changes:
    raise IllegalEvent(f"{event.type} cannot happen while {state.phase}")


def _check_labels(state: DebateState, evaluation: Evaluation) -> None:
    """Law 8; raises `IllegalEvent`."""
    scale = state.panel.scale
    for position in (evaluation.position, *(row.position for row in evaluation.scenarios)):
        known = scale is not None and position.label in scale.ids and scale.verdict(position.label) is position.verdict
        _law(
            position.label is None or known,
            "the label {} with {} is none of the panel's scale",
            position.label,
            position.verdict,
        )


def _check_asked(state: DebateState) -> None:
    """Law 9; raises `IllegalEvent`."""
    if (settled := not_asked(state)) is not None:
        raise IllegalEvent(f"what is decided is settled: {', '.join(settled.juror_ids)} must not be asked")


def _check_kind(state: DebateState, event: JurorEvaluated) -> None:
    """Law 10; raises `IllegalEvent`."""
    asked = event.juror_id in state.panel.juror_ids and state.panel.seat(event.juror_id).questions is not None
    if asked != (event.evaluation.probabilities is not None):
        raise IllegalEvent(f"{event.juror_id} evaluates {'with' if asked else 'without'} probabilities")


_BEFORE_ITS_END: Mapping[str, Handler] = {
    "debate_cancelled": _cancelled,
    "debate_failed": _failed,
    "texts_erased": _erased,
}
_ANY_TIME: Mapping[str, Handler] = {**_BEFORE_ITS_END, "coordinator_resumed": _resumed}
_AFTER_ITS_END: Mapping[str, Handler] = {"texts_erased": _erased, "debate_replaced": _replaced}

TRANSITIONS: Mapping[Phase, Mapping[str, Handler]] = {
    Phase.UNOPENED: {"debate_opened": _opened},
    Phase.WAITING: {**_BEFORE_ITS_END, "debate_forked": _forked, "debate_begun": _begun},
    Phase.EVALUATING: {
        **_ANY_TIME,
        "juror_evaluated": _evaluated,
        "juror_abstained": _abstained_at_first,
        "seats_not_asked": _not_asked,
        "reasoning_shown": _reasoning_shown,
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
    Phase.COMPLETED: _AFTER_ITS_END,
    Phase.FAILED: _AFTER_ITS_END,
    Phase.CANCELLED: _AFTER_ITS_END,
}


def recount(
    opened: DebateOpened,
    rounds: Sequence[Sequence[SeatEvaluation]],
    *,
    judge: Evaluation | None = None,
    judge_failure: FailureReason | None = None,
    not_asked: Sequence[str] = (),
) -> RecountResult:
    """See `Rules.recount`."""
    state = DebateState(phase=Phase.EVALUATING, opened=opened, not_asked=tuple(not_asked))
    first, *later = rounds
    if shows_reasoning(state) and first:
        state = state._replace(reasoning_shown=True)
    else:
        first = [entry for entry in first if not entry.reasoning]
    for number, made in enumerate((first, *later)):
        changed = any(position_changed(state, entry.juror_id, entry.evaluation.position) for entry in made)
        state = state._replace(round=number, evaluations=(*state.evaluations, *made), changed=changed)
        checked = next_check(state)
        state = state._replace(
            quiet_rounds=quiet_rounds(state), checks=(*state.checks, checked.check), end_reason=checked.end_reason
        )
        if checked.end_reason is not None:
            break
    if opened.panel.final.judge is None:
        judge = judge_failure = None
    judgment = render(state, judge=judge, judge_failure=judge_failure)
    asked = DebateState(opened=opened, evaluations=tuple(first))
    settled = not not_asked or is_settled(answers_so_far(asked, opened.panel.juror_ids, not_asked))
    return RecountResult(state.round, state.checks, state.end_reason, judgment, settled)


def conversation(assignment: Assignment, parts: PartRegistry) -> Conversation:
    """See `Rules.conversation`: which one asks a step depends on how the step reads the record."""
    if assignment.spec.decision is not None:
        return DecisionConversation(assignment, parts)
    reads_first = assignment.step.juror_id is not None and not assignment.step.round
    match assignment.reading:
        case None:
            return EvaluationConversation(assignment, parts)
        case reading if reading.mode == "cited" or (reading.mode == "whole" and not reads_first):
            return CitedConversation(assignment, parts)
        case reading if reading.mode == "tools":
            return ToolReadingConversation(assignment, parts)
        case _:
            return ReadingConversation(assignment, parts)


def answer_schema(
    rubric: Rubric, *, evidence: bool = False, scale: VerdictScale | None = None, findings: bool = False
) -> dict[str, Any]:
    """See `Rules.answer_schema`."""
    if findings:
        return findings_schema(rubric, evidence=evidence)
    return answers.answer_schema(rubric, evidence=evidence, scale=scale)


class Rules1:
    """The functions of this package, as one object."""

    open_debate = staticmethod(open_debate)
    evolve = staticmethod(evolve)
    decide = staticmethod(decide)
    pending_steps = staticmethod(pending_steps)
    signs_of = staticmethod(signs_of)
    assign = staticmethod(assign)
    conversation = staticmethod(conversation)
    reply_from_record = staticmethod(reply_from_record)
    recount = staticmethod(recount)
    asked_first = staticmethod(asked_first)
    answer_schema = staticmethod(answer_schema)
    answer_tool = staticmethod(answer_tool)
    check_consensus = staticmethod(check_consensus)
