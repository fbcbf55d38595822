"""How each step is asked: what is the same for the panel, the case, the seat, the turn; and what it shows of others."""

from itertools import chain

from jury_debate.assignment import (
    CASE_WITH_IMAGES,
    OPERATOR_POLICY,
    AnswerSpec,
    Assignment,
    CallMessage,
    DebateSigns,
    DecisionSpec,
    EvidenceSpec,
    Opinion,
    ReadingSpec,
    SeatSaid,
    scenario_numbers,
    seat_letter,
    tools_offered,
)
from jury_debate.decision_seats import QUESTIONS
from jury_debate.reading.planning import CASE, GUIDE, READING_TOOLS, REASONING, part_name
from jury_debate.state import DebateState, SeatEvaluation
from jury_events.bundled_scales import scale_of
from jury_events.ids import Step
from jury_events.panel import FinalJudge, Seat
from jury_events.parts import ImageRef, PartRef

_HALVES = 2
"""Parts of a record that is read in halves."""

Visible = tuple[SeatEvaluation, ...]
"""The evaluations that a step's prompt shows."""


def assign(state: DebateState, step: Step, signs: DebateSigns) -> Assignment:
    """See `Rules.assign`."""
    panel = state.panel
    place: Seat | FinalJudge
    if step.juror_id is None:
        assert panel.final.judge is not None
        place = panel.final.judge
    else:
        place = panel.seat(step.juror_id)
    case, images = _case(state, place)
    reasoning = _reasoning(state) if state.reasoning_shown and (step.round != 0 or step.reasoning) else ()
    policy = () if (ref := state.pieces.get(OPERATOR_POLICY)) is None else (ref,)
    if isinstance(place, Seat) and place.questions is not None:
        # A decision model is shown the case, whole, and the questions, nothing else, and is offered no tools.
        shown = (*policy, *case, *reasoning)
        asked = CallMessage("user", (*shown, state.pieces[QUESTIONS + place.juror_id]), shared=len(shown))
        return _assignment_of(state, step, signs, place=place, visible=(), messages=(asked,))
    visible = _visible_evaluations(state, step)
    records = step.juror_id is not None and tools_offered(panel, _records(state))
    reading = _reading(state, step, visible, case, reasoning=reasoning, images=images, place=place, records=records)
    guide = () if reading.guide is None else (reading.guide,)
    blocks = list(filter(None, (policy, *((case, reasoning) if reading.mode == "whole" else (guide,)))))
    before = tuple(chain.from_iterable(blocks))
    user = CallMessage(
        "user",
        (*before, *_turn(state, step, visible)),
        images=images if reading.mode == "whole" else (),
        shared=len(before),
        blocks=tuple(map(len, blocks)) if len(before) > len(blocks) else (),
    )
    messages = (CallMessage("system", (state.pieces["system"],)), user)
    return _assignment_of(
        state,
        step,
        signs,
        place=place,
        visible=visible,
        messages=messages,
        evidence=_evidence(state, visible, (*case, *reasoning), signs.marker),
        reading=reading,
    )


def _records(state: DebateState) -> int:
    return state.debate.security_gate_records + state.debate.agent_card_records


def _case(state: DebateState, place: Seat | FinalJudge) -> tuple[tuple[PartRef, ...], tuple[ImageRef, ...]]:
    images = state.debate.images if place.images else ()
    name = CASE_WITH_IMAGES if images else CASE
    plan = state.debate.reading
    parts = 0 if plan is None else plan.image_parts if images else plan.parts
    if not parts:
        return (state.pieces[name],), images
    return tuple(state.pieces[part_name(name, number)] for number in range(1, parts + 1)), images


def _reasoning(state: DebateState) -> tuple[PartRef, ...]:
    """What the agent thought, in its parts."""
    plan = state.debate.reading
    if plan is None or plan.reasoning_parts is None:
        return (state.pieces[REASONING],)
    return tuple(state.pieces[part_name(REASONING, number)] for number in range(1, plan.reasoning_parts + 1))


def _reading(
    state: DebateState,
    step: Step,
    visible: Visible,
    case: tuple[PartRef, ...],
    *,
    reasoning: tuple[PartRef, ...],
    images: tuple[ImageRef, ...],
    place: Seat | FinalJudge,
    records: bool,
) -> ReadingSpec:
    """How a step reads the record: as planned, else all of it, which may turn out to be too long."""
    plan = state.debate.reading
    planned = None if plan is None else plan.of(step.juror_id)
    earlier, read_before = None, False
    for entry in state.evaluations:
        if entry.juror_id == step.juror_id:
            earlier = entry.evaluation.reading or earlier
            # What stands in for a blocked answer was not made by one who has read.
            read_before = read_before or not entry.evaluation.synthetic
    if isinstance(place, FinalJudge):
        least_read = 0.0  # it reads what jurors cite, and is not bound by the share that counts
    else:
        least_read = state.panel.least_read if place.least_read is None else place.least_read
    whole = ReadingSpec(
        "whole",
        (*case, *reasoning),
        None,
        cited=_cited(visible) if visible else (),
        images=images,
        least_read=least_read,
        records=records,
        read_before=read_before,
    )
    reading = whole
    if planned is not None:
        reading = whole._replace(
            guide=state.pieces[GUIDE + (step.juror_id or "final")],
            room=planned.room,
            pictures=() if plan is None else plan.pictures,
        )
    elif earlier is None:
        return whole
    # Else its request was too long when it was asked for all of the case, which it has read in halves.
    if step.reasoning:
        windows = tuple((len(case) + part, len(case) + part + 1) for part in range(len(reasoning)))
        parts = ((0, len(case)),) if planned is None else planned.windows or ((0, len(case)),)
        reading = reading._replace(mode="windows", windows=(*parts, *windows), cited=())
        if not read_before:
            return reading
        # It has read the case, and reads the parts with the reasoning.
        before = _HALVES if planned is None else len(planned.windows)
        return reading._replace(windows=windows, earlier=earlier, parts_before=before)
    if planned is None:
        return reading._replace(mode="cited", earlier=earlier)
    if planned.mode != "cited" and not step.round:
        return reading._replace(mode=planned.mode, windows=planned.windows, cited=())
    return reading._replace(mode="cited", earlier=earlier)


def _cited(visible: Visible) -> tuple[int, ...]:
    """The items that the visible evaluations cite: those that most of them cite first, then in the order of items."""
    counted: dict[int, int] = {}
    for entry in visible:
        evaluation = entry.evaluation
        numbers = set() if evaluation.decisive_item is None else {evaluation.decisive_item}
        for one in evaluation.evidence or ():
            if one.seat is None:
                numbers.add(one.item)
            if one.span is not None and one.span.item is not None:
                numbers.add(one.span.item)
        for number in numbers:
            counted[number] = counted.get(number, 0) + 1
    return tuple(sorted(counted, key=lambda number: (-counted[number], number)))


def _evidence(state: DebateState, visible: Visible, case: tuple[PartRef, ...], marker: str) -> EvidenceSpec | None:
    rule = state.panel.answers.evidence
    if rule == "off":
        return None
    said: dict[str, list[PartRef]] = {}
    for entry in visible:
        said.setdefault(entry.juror_id, []).append(entry.peer_text)
    seats = enumerate(state.panel.juror_ids)
    return EvidenceSpec(
        case=case,
        policy=state.pieces.get(OPERATOR_POLICY),
        seats=tuple([SeatSaid(seat_letter(index), name, tuple(said.get(name, ()))) for index, name in seats]),
        marker=marker,
        required=rule == "required",
    )


def _turn(state: DebateState, step: Step, visible: Visible) -> tuple[PartRef, ...]:
    """The seat's block, what it may see of evaluations, and its instruction.

    What others said only grows from round to round, so it stands before what changes: a provider that keeps the
    beginnings of prompts by itself reads it again.
    """
    pieces = state.pieces
    if step.juror_id is None:
        return (pieces["seat/final"], *(entry.peer_text for entry in visible), pieces["instruction/final"])
    seat = pieces[f"seat/{step.juror_id}"]
    if not step.round and not step.reasoning:
        plan = state.debate.reading
        planned = None if plan is None else plan.of(step.juror_id)
        by_tools = planned is not None and planned.mode == "tools"
        return (seat, pieces["instruction/initial"], *([pieces[READING_TOOLS]] if by_tools else []))
    own = [entry.peer_text for entry in visible if entry.juror_id == step.juror_id]
    if step.reasoning:
        return (seat, *([pieces["heading/own"], *own] if own else []), pieces["instruction/reasoning"])
    assert state.instruction is not None
    peers = [entry.peer_text for entry in visible if entry.juror_id != step.juror_id]
    shown = [pieces["heading/peers"], *peers] if peers else [pieces["heading/no-peers"]]
    shown += [pieces["heading/own"], *own] if own else []
    return (seat, *shown, state.instruction)


def _assignment_of(
    state: DebateState,
    step: Step,
    signs: DebateSigns,
    *,
    place: Seat | FinalJudge,
    visible: Visible,
    messages: tuple[CallMessage, ...],
    evidence: EvidenceSpec | None = None,
    reading: ReadingSpec | None = None,
) -> Assignment:
    """The assignment of a step with the messages of its first call.

    Args:
        place: of the step: a seat or the final judge.
        evidence: what may be quoted.
        reading: how the record is read; None: by a decision model.
    """
    panel, debate = state.panel, state.debate
    own = panel.scale is not None
    return Assignment(
        debate_id=debate.debate_id,
        rules=debate.rules,
        step=step,
        models=(place.model, *place.fallbacks),
        settings=place.settings,
        messages=messages,
        spec=AnswerSpec(
            ballot=signs.ballots[step.juror_id],
            rubric=panel.rubric,
            statement=bool(step.round),
            scenarios=scenario_numbers(debate.scenarios),
            evidence=evidence,
            scale=panel.scale,
            decision=DecisionSpec(scale_of(panel), own) if reading is None else None,
        ),
        answers=panel.answers,
        artifacts=panel.artifacts,
        tools=reading is not None and (reading.records or reading.mode == "tools"),
        # By the records and not by the mode: in a fork with another mode, reused answers may have called the tool.
        opinions=_opinions(state, step, visible) if step.round and _records(state) else None,
        prompts=debate.prompts,
        language=panel.language,
        marker=signs.marker,
        reading=reading,
    )


def _opinions(state: DebateState, step: Step, visible: Visible) -> tuple[Opinion, ...]:
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


def _visible_evaluations(state: DebateState, step: Step) -> Visible:
    """The evaluations that a step's prompt shows, in the order in which they were made.

    Phase 1: none, but the seat's own once it is shown the agent's reasoning. A parallel round: everything up to the
    previous round. A sequential round: this round's earlier speakers too. `history: latest` keeps the latest of each
    peer, `none` keeps none; of itself a seat always sees its latest only. The final judge sees everything.
    """
    if step.juror_id is None:
        return state.evaluations
    if step.reasoning:
        return tuple([one for one in state.evaluations if one.juror_id == step.juror_id and not one.reasoning])
    if not step.round:
        return ()
    rules = state.panel.discussion
    parallel = rules.order == "parallel"
    past = [
        entry for entry in state.evaluations if entry.round < step.round or (not parallel and entry.round == step.round)
    ]
    latest = {entry.juror_id: entry for entry in past}
    if rules.history == "none":
        return (latest[step.juror_id],) if step.juror_id in latest else ()
    if rules.history == "latest":
        return tuple([entry for entry in past if latest[entry.juror_id] is entry])
    return tuple([entry for entry in past if entry.juror_id != step.juror_id or latest[entry.juror_id] is entry])


def letter(state: DebateState, juror_id: str) -> str:
    """The anonymous name of a seat in prompts: A, B … Z, AA, AB …"""
    return seat_letter(state.panel.juror_ids.index(juror_id))
