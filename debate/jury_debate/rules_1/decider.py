"""What a debate does next: turns, the commands of steps, and the events that end them."""

import hashlib
from collections.abc import Mapping

from jury_debate.assignment import DebateSigns, scenario_numbers
from jury_debate.decision_seats import question_texts
from jury_debate.marking import mark
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_1.texts import fill
from jury_debate.prompts_registry import load_prompts
from jury_debate.rules_1.checks import next_check, position_changed, reasoning_is_due
from jury_debate.rules_1.early_stop import group, not_asked
from jury_debate.rules_1.judgment import completion, render
from jury_debate.rules_1.steps import letter
from jury_debate.state import DebateState, Phase
from jury_debate.step_outcome import Answered, Blocked, Decided, Outcome, ParsedAnswer, Unanswered
from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    ReasoningShown,
    RoundStarted,
    StatementMade,
)
from jury_events.evaluation import Evaluation, LabelProbability, ScenarioVerdict, SeatPosition, Statement
from jury_events.evidence import quotes_part
from jury_events.ids import FINAL, Step
from jury_events.outcome import FailureReason
from jury_events.panel import Panel, SpeakerOrder
from jury_events.parts import PartMaker
from jury_events.rubric import DimensionScore, Scores
from jury_events.value import trusted
from jury_events.verdict import REVIEW
from jury_events.verdict_scale import OUTCOME_WORDS


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
    return tuple([one for one in speaker_order(panel.discussion.speakers, round_number) if one in speaking])


def judge_is_due(state: DebateState) -> bool:
    """Whether the final judge has to be asked now."""
    return (
        state.phase is Phase.DELIBERATED
        and state.panel.final.judge is not None
        and bool(state.evaluations)
        and state.end_reason is not None
    )


PROVIDER_NAMES = {"openai": "OpenAI", "anthropic": "Anthropic", "google": "Gemini"}
"""How a blocked answer's rationale names the provider (document 004 §8)."""


def event_of(
    state: DebateState, step: Step, outcome: Outcome, marker: str, parts: PartMaker
) -> JurorEvaluated | StatementMade | JurorAbstained:
    """The event of a seat's step that is due.

    Args:
        state: of the debate now; the seat is the first of those waiting.
        step: of phase 1 or of the current round.
    """
    juror_id = step.juror_id
    assert juror_id is not None
    if isinstance(outcome, Unanswered):
        return trusted(JurorAbstained)(
            step=step.id,
            juror_id=juror_id,
            reason=outcome.reason,
            refusal=outcome.refusal,
            stale=state.latest(juror_id) is not None,
            exchanges=outcome.exchanges,
            partly_read=outcome.partly_read,
        )
    if isinstance(outcome, Decided):
        return _decided(state, step, outcome, parts)
    answer, synthetic = _answer(state, outcome)
    evaluation = evaluation_of(state, answer, outcome, parts, synthetic=synthetic)
    changed = position_changed(state, juror_id, answer.position)
    peer_text = parts.make(_peer_text(state, step, answer, evaluation.overall, marker, changed=changed))
    if not step.round:
        return trusted(JurorEvaluated)(
            juror_id=juror_id,
            evaluation=evaluation,
            peer_text=peer_text,
            exchanges=outcome.exchanges,
            reasoning=step.reasoning or None,
        )
    statement = trusted(Statement)(
        order=len(state.done),
        statement=parts.make(answer.statement or answer.rationale),
        evaluation=evaluation,
        position_changed=changed,
    )
    return trusted(StatementMade)(
        round=step.round, juror_id=juror_id, statement=statement, peer_text=peer_text, exchanges=outcome.exchanges
    )


def evaluation_of(
    state: DebateState, answer: ParsedAnswer, outcome: Answered | Blocked, parts: PartMaker, *, synthetic: bool = False
) -> Evaluation:
    """The evaluation in a parsed answer; scenario numbers become the case's ids again."""
    ids = state.debate.scenarios
    return trusted(Evaluation)(
        verdict=answer.verdict,
        label=answer.label,
        scores=answer.scores,
        overall=answer.scores.overall,
        confidence=answer.confidence,
        rationale=parts.make(answer.rationale),
        synthetic=synthetic,
        model=outcome.model,
        model_version=outcome.model_version if isinstance(outcome, Answered) else None,
        simulated=isinstance(outcome, Answered) and outcome.simulated,
        scenarios=tuple(
            trusted(ScenarioVerdict)(
                scenario_id=ids[int(row.scenario_id) - 1], verdict=row.verdict, score=row.score, label=row.label
            )
            for row in answer.scenarios
        ),
        evidence=None if answer.checked is None else answer.checked.entries,
        quotes=parts.make(quotes_part(answer.checked.quotes)) if answer.checked and answer.checked.quotes else None,
        decisive_item=answer.decisive_item,
        reading=answer.reading,
        answered=answer.answered,
    )


def _answer(state: DebateState, outcome: Answered | Blocked) -> tuple[ParsedAnswer, bool]:
    if isinstance(outcome, Answered):
        return outcome.answer, False
    return _neutral(state, outcome), True


def _neutral(state: DebateState, outcome: Blocked) -> ParsedAnswer:
    """Document 004 §8: review, half of each maximum, no confidence, a rationale that names the provider."""
    debate = state.debate
    provider = outcome.model.partition("/")[0]
    rationale = outcome.rationale or _prompts(state).neutral_rationale(PROVIDER_NAMES.get(provider, provider))
    scores = Scores(
        dimensions=tuple(
            DimensionScore(dimension=dimension.name, points=dimension.maximum / 2)
            for dimension in debate.panel.rubric.dimensions
        )
    )
    return ParsedAnswer(
        verdict=REVIEW,
        scores=scores,
        confidence=0.0,
        rationale=rationale,
        statement=rationale,
        scenarios=tuple(
            ScenarioVerdict(scenario_id=number, verdict=REVIEW, score=50.0)
            for number in scenario_numbers(debate.scenarios)
        ),
        reading=outcome.reading,
        answered=outcome.answered,
    )


def _peer_text(
    state: DebateState, step: Step, answer: ParsedAnswer, score: float, marker: str, *, changed: bool
) -> str:
    assert step.juror_id is not None
    prompts = _prompts(state)
    turns = prompts.texts.turns
    heading = prompts.peer_block(
        step,
        letter=letter(state, step.juror_id),
        verdict=_word(state, answer.position),
        score=score,
        confidence=answer.confidence,
        changed=changed,
    )
    statement = [turns.statement_label, mark(answer.statement or answer.rationale, marker)] if step.round else []
    scenarios = [
        prompts.scenario_line(
            number=row.scenario_id, verdict=_word(state, SeatPosition(row.verdict, row.label)), score=row.score
        )
        for row in answer.scenarios
    ]
    rationale = [turns.rationale_label, mark(answer.rationale, marker)]
    evidence = prompts.evidence_lines(answer, state.panel.juror_ids, lambda text: mark(text, marker))
    return "\n".join([heading, *scenarios, *statement, *rationale, *evidence, "", ""])


def _word(state: DebateState, position: SeatPosition) -> str:
    """The word of a position in prompts; under a scale of the panel's own, an outcome without a label is its word."""
    if position.label is None and state.panel.scale is not None:
        return OUTCOME_WORDS[position.verdict]
    return position.word


def _prompts(state: DebateState) -> Prompts:
    return load_prompts(state.debate.prompts, state.panel.language)


def _decided(state: DebateState, step: Step, outcome: Decided, parts: PartMaker) -> JurorEvaluated:
    assert step.juror_id is not None
    answer, ids = outcome.decision, state.debate.scenarios
    evaluation = trusted(Evaluation)(
        verdict=answer.verdict,
        label=answer.label,
        scores=None,
        overall=answer.score,
        confidence=answer.confidence,
        rationale=None,
        model=outcome.model,
        model_version=outcome.model_version,
        simulated=outcome.simulated,
        scenarios=tuple(row.changed(scenario_id=ids[int(row.scenario_id) - 1]) for row in answer.scenarios),
        probabilities=answer.probabilities,
    )
    peer_text = parts.make(_decided_text(state, step, outcome))
    return trusted(JurorEvaluated)(
        juror_id=step.juror_id,
        evaluation=evaluation,
        peer_text=peer_text,
        exchanges=outcome.exchanges,
        reasoning=step.reasoning or None,
    )


def _decided_text(state: DebateState, step: Step, outcome: Decided) -> str:
    """What other jurors are shown: nothing of it is judged text."""
    assert step.juror_id is not None
    answer, panel = outcome.decision, state.panel
    version = panel.seat(step.juror_id).questions
    assert version is not None
    prompts, texts = _prompts(state), question_texts(version, panel.language)
    heading = prompts.peer_block(
        step,
        letter=letter(state, step.juror_id),
        verdict=answer.position.word,
        score=answer.score,
        confidence=answer.confidence,
        changed=position_changed(state, step.juror_id, answer.position),
    )
    scenarios = [
        prompts.scenario_line(number=row.scenario_id, verdict=row.position.word, score=row.score)
        for row in answer.scenarios
    ]
    lines = [heading, *scenarios, fill(texts.probabilities, probabilities=_listed(answer.probabilities))]
    return "\n".join([*lines, texts.no_reasons, "", ""])


def _listed(probabilities: tuple[LabelProbability, ...]) -> str:
    return ", ".join(f"{one.label} {one.probability:g}" for one in probabilities)


def decide(
    state: DebateState, outcomes: Mapping[str, Outcome], signs: DebateSigns, parts: PartMaker
) -> DebateEvent | None:
    """See `Rules.decide`."""
    match state.phase:
        case Phase.EVALUATING if (settled := not_asked(state)) is not None:
            return settled
        case Phase.EVALUATING | Phase.DISCUSSING:
            if not state.waiting:
                return trusted(ReasoningShown)() if reasoning_is_due(state) else next_check(state)
            step = state.step_of(state.waiting[0])
            outcome = outcomes.get(step.id)
            return None if outcome is None else event_of(state, step, outcome, signs.marker, parts)
        case Phase.DELIBERATED if state.end_reason is None:
            return _next_round(state, parts)
        case Phase.DELIBERATED if judge_is_due(state):
            outcome = outcomes.get(FINAL.id)
            return None if outcome is None else _judged(state, outcome, parts)
        case Phase.DELIBERATED:
            return trusted(JudgmentRendered)(judgment=render(state), exchanges=())
        case Phase.JUDGED:
            return completion(state)
        case _:
            return None


def pending_steps(state: DebateState, outcomes: Mapping[str, Outcome]) -> tuple[Step, ...]:
    """See `Rules.pending_steps`: every waiting seat in parallel, or in its group; else the next speaker."""
    waiting = state.waiting
    if state.phase is Phase.EVALUATING:
        if state.debate.asking is not None:
            asked = state.debate.asking.order[: group(state)]
            waiting = tuple(juror for juror in waiting if juror in asked)
        due = tuple(map(state.step_of, waiting))
    elif state.phase is Phase.DISCUSSING:
        due = tuple(map(state.step_of, waiting if state.panel.discussion.order == "parallel" else waiting[:1]))
    else:
        due = (FINAL,) if judge_is_due(state) else ()
    return tuple([step for step in due if step.id not in outcomes])


def _next_round(state: DebateState, parts: PartMaker) -> RoundStarted:
    number = state.round + 1
    prompts = load_prompts(state.debate.prompts, state.panel.language)
    text = prompts.discussion_instruction(number, alone=state.panel.discussion.history == "none") + "\n\n"
    return trusted(RoundStarted)(
        round=number, speaker_order=speakers_of(state.panel, number), instruction=parts.make(text)
    )


def _judged(state: DebateState, outcome: Outcome, parts: PartMaker) -> JudgmentRendered:
    match outcome:
        case Answered():
            judgment = render(state, judge=evaluation_of(state, outcome.answer, outcome, parts))
        case Unanswered():
            judgment = render(state, judge_failure=outcome.reason)
        case _:
            judgment = render(state, judge_failure=FailureReason.BLOCKED)
    return trusted(JudgmentRendered)(judgment=judgment, exchanges=outcome.exchanges)
