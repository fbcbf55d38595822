"""The steps that can be asked now, and how each is asked."""

from jury_debate.assignment import (
    CASE_WITH_IMAGES,
    AnswerSpec,
    Assignment,
    CallMessage,
    Opinion,
    scenario_numbers,
    tools_offered,
)
from jury_debate.rules_v1.ballots import ballot_id, marker_of
from jury_debate.rules_v1.visibility import visible_evaluations
from jury_debate.seat_letters import seat_letter
from jury_debate.state import DebateState, Phase, SeatEvaluation
from jury_events.ids import FINAL, Step
from jury_events.panel import FinalJudge, Panel, Seat
from jury_events.parts import ImageRef, PartRef


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


def asked_first(panel: Panel) -> int:
    """See `Rules.asked_first`: every seat is asked."""
    return len(panel.seats)


def judge_is_due(state: DebateState) -> bool:
    """Whether the final judge has to be asked now."""
    return (
        state.phase is Phase.DELIBERATED
        and state.panel.final.judge is not None
        and bool(state.evaluations)
        and state.end_reason is not None
    )


def assign(state: DebateState, step: Step, secret: bytes) -> Assignment:
    """How to ask a step that is due.

    Args:
        state: of the debate now.
        step: one of `due_steps`.
        secret: the debate's random secret, from which the ballot and the marker derive.
    """
    panel = state.panel
    visible = visible_evaluations(state, step)
    place: Seat | FinalJudge
    if step.juror_id is None:
        assert panel.final.judge is not None
        place = panel.final.judge
        messages = _final_messages(state, visible, place)
    else:
        place = panel.seat(step.juror_id)
        messages = _seat_messages(state, step, visible, place)
    return assignment_of(state, step, secret, place=place, messages=messages)


def assignment_of(
    state: DebateState,
    step: Step,
    secret: bytes,
    *,
    place: Seat | FinalJudge,
    messages: tuple[CallMessage, ...],
    one_form: bool = False,
) -> Assignment:
    """The assignment of a step with the messages of its first call.

    Args:
        state: of the debate now.
        step: that is due.
        secret: of the debate.
        place: of the step: a seat or the final judge.
        messages: of the prompt.
        one_form: as in `AnswerSpec`.
    """
    panel, debate = state.panel, state.debate
    visible = visible_evaluations(state, step)
    records = debate.security_gate_records + debate.agent_card_records
    return Assignment(
        debate_id=debate.debate_id,
        rules=debate.rules,
        step=step,
        models=(place.model, *place.fallbacks),
        settings=place.settings,
        messages=messages,
        spec=AnswerSpec(
            ballot=ballot_id(secret, step.juror_id),
            rubric=panel.rubric,
            statement=bool(step.round),
            scenarios=scenario_numbers(debate.scenarios),
            one_form=one_form,
            scale=panel.scale,
        ),
        answers=panel.answers,
        artifacts=panel.artifacts,
        tools=step.juror_id is not None and tools_offered(panel, records),
        # By the records and not by the mode: in a fork with another mode, reused answers may have called the tool.
        opinions=_opinions(state, step, visible) if records and step.round else None,
        prompts=debate.prompts,
        language=panel.language,
        marker=marker_of(debate.prompts, secret, panel.marking),
    )


def case_shown(state: DebateState, place: Seat | FinalJudge) -> tuple[PartRef, tuple[ImageRef, ...]]:
    """The case as a seat or the final judge is shown it, and the pictures that are sent with it."""
    images = state.debate.images if place.images else ()
    return state.pieces[CASE_WITH_IMAGES if images else "case"], images


def _seat_messages(
    state: DebateState, step: Step, visible: tuple[SeatEvaluation, ...], seat: Seat
) -> tuple[CallMessage, ...]:
    pieces = state.pieces
    case, images = case_shown(state, seat)
    user = [case]
    if not step.round:
        user.append(pieces["instruction/initial"])
    else:
        assert state.instruction is not None
        own = [entry.peer_text for entry in visible if entry.juror_id == step.juror_id]
        peers = [entry.peer_text for entry in visible if entry.juror_id != step.juror_id]
        user.append(state.instruction)
        user += [pieces["heading/own"], *own] if own else []
        user += [pieces["heading/peers"], *peers] if peers else [pieces["heading/no-peers"]]
    system = CallMessage("system", (pieces[f"system/{step.juror_id}"],))
    return (system, CallMessage("user", tuple(user), images=images))


def _final_messages(
    state: DebateState, visible: tuple[SeatEvaluation, ...], judge: FinalJudge
) -> tuple[CallMessage, ...]:
    pieces = state.pieces
    case, images = case_shown(state, judge)
    user = (case, pieces["instruction/final"], *(entry.peer_text for entry in visible))
    return (CallMessage("system", (pieces["system/final"],)), CallMessage("user", user, images=images))


def _opinions(state: DebateState, step: Step, visible: tuple[SeatEvaluation, ...]) -> tuple[Opinion, ...]:
    letters = {juror_id: seat_letter(index) for index, juror_id in enumerate(state.panel.juror_ids)}
    return tuple(
        Opinion(
            letter=letters[entry.juror_id],
            round=entry.round,
            verdict=entry.evaluation.position.word,
            score=entry.evaluation.overall,
            confidence=entry.evaluation.confidence,
            peer_text=entry.peer_text,
        )
        for entry in visible
        if entry.juror_id != step.juror_id
    )
