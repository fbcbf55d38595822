"""What a seat is asked in a step: the prompt as an ordered list of parts, and what its answer must hold."""

from typing import Literal, NamedTuple

from jury_debate.rules_v1.answer_parser import AnswerSpec
from jury_debate.rules_v1.ballots import ballot_id, datamark
from jury_debate.rules_v1.visibility import letter, visible_views
from jury_debate.state import DebateState, Phase, SeatEvaluation
from jury_events.ids import FINAL, Step
from jury_events.panel import AnswerRules, ArtifactRules, CallSettings, FinalJudge, Language, Panel, Seat
from jury_events.parts import ImageRef, PartRef

CASE_WITH_IMAGES = "case/images"
"""The piece of prompts that the case's pictures go with."""


class Message(NamedTuple):
    """One message of a request; its text is the concatenation of `parts`, and `images` follow it."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[PartRef, ...]
    call_id: str | None = None
    images: tuple[ImageRef, ...] = ()

    @property
    def texts(self) -> tuple[PartRef, ...]:
        """All that it refers to, its pictures last."""
        return (*self.parts, *(image.content for image in self.images))


class Opinion(NamedTuple):
    """A peer's evaluation that this step may show, as the other-opinions tool returns it."""

    letter: str
    round: int
    verdict: str
    score: float
    confidence: float
    shown: PartRef


class Assignment(NamedTuple):
    """Everything that decides how a step is asked and how its answer is read; texts are references."""

    debate_id: str
    rules: int
    step: Step
    models: tuple[str, ...]
    settings: CallSettings
    messages: tuple[Message, ...]
    spec: AnswerSpec
    answers: AnswerRules
    artifacts: ArtifactRules
    tools: bool
    opinions: tuple[Opinion, ...] | None
    prompts: int
    language: Language
    marker: str


def due_steps(state: DebateState) -> tuple[Step, ...]:
    """The steps that owe an answer now: every waiting seat in parallel, the next speaker in a sequential round."""
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
        and bool(state.views)
        and state.end_reason is not None
    )


def assign(state: DebateState, step: Step, secret: bytes) -> Assignment:
    """How to ask a step that is due.

    Args:
        state: where the debate stands.
        step: one of `due_steps`.
        secret: the debate's random secret, from which the ballot and the marker derive.
    """
    panel = state.panel
    views = visible_views(state, step)
    place: Seat | FinalJudge
    if step.juror_id is None:
        assert panel.final.judge is not None
        place = panel.final.judge
        messages = _final_messages(state, views, place)
    else:
        place = panel.seat(step.juror_id)
        messages = _seat_messages(state, step, views, place)
    debate = state.debate
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
        ),
        answers=panel.answers,
        artifacts=panel.artifacts,
        tools=step.juror_id is not None
        and tools_offered(panel, debate.security_gate_records + debate.agent_card_records),
        opinions=_opinions(state, step, views),
        prompts=debate.prompts,
        language=panel.language,
        marker=datamark(secret),
    )


def scenario_numbers(scenarios: tuple[str, ...]) -> tuple[str, ...]:
    """How prompts and answers name the scenarios of a case: 1, 2 …; none where there is only one."""
    return tuple(str(number) for number in range(1, len(scenarios) + 1)) if len(scenarios) > 1 else ()


def tools_offered(panel: Panel, records: int) -> bool:
    """The artifact tools are offered in `tools` mode where the case has records to fetch."""
    return panel.artifacts.mode == "tools" and records > 0


def _case(state: DebateState, place: Seat | FinalJudge) -> tuple[PartRef, tuple[ImageRef, ...]]:
    """The case as a place is shown it, and the pictures that go with it."""
    images = state.debate.images if place.images else ()
    return state.pieces[CASE_WITH_IMAGES if images else "case"], images


def _seat_messages(
    state: DebateState, step: Step, views: tuple[SeatEvaluation, ...], seat: Seat
) -> tuple[Message, ...]:
    pieces = state.pieces
    case, images = _case(state, seat)
    user = [case]
    if not step.round:
        user.append(pieces["instruction/initial"])
    else:
        assert state.instruction is not None
        own = [view.shown for view in views if view.juror_id == step.juror_id]
        peers = [view.shown for view in views if view.juror_id != step.juror_id]
        user.append(state.instruction)
        user += [pieces["heading/own"], *own] if own else []
        user += [pieces["heading/peers"], *peers] if peers else [pieces["heading/no-peers"]]
    system = Message("system", (pieces[f"system/{step.juror_id}"],))
    return (system, Message("user", tuple(user), images=images))


def _final_messages(state: DebateState, views: tuple[SeatEvaluation, ...], judge: FinalJudge) -> tuple[Message, ...]:
    pieces = state.pieces
    case, images = _case(state, judge)
    user = (case, pieces["instruction/final"], *(view.shown for view in views))
    return (Message("system", (pieces["system/final"],)), Message("user", user, images=images))


def _opinions(state: DebateState, step: Step, views: tuple[SeatEvaluation, ...]) -> tuple[Opinion, ...] | None:
    if not step.round:
        return None
    return tuple(
        Opinion(
            letter=letter(state, view.juror_id),
            round=view.round,
            verdict=view.evaluation.verdict.value,
            score=view.evaluation.overall,
            confidence=view.evaluation.confidence,
            shown=view.shown,
        )
        for view in views
        if view.juror_id != step.juror_id
    )
