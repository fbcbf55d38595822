"""The event that records the outcome of a step, and the text of it that peers are shown."""

from jury_debate.assignment import scenario_numbers
from jury_debate.decision_questions import question_texts
from jury_debate.marking import mark
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_1.texts import fill
from jury_debate.prompts_registry import load_prompts
from jury_debate.rules_1.checks import position_changed
from jury_debate.rules_1.steps import letter
from jury_debate.state import DebateState
from jury_debate.step_outcome import Answered, Blocked, Decided, Outcome, ParsedAnswer, Unanswered
from jury_events.debate_events import JurorAbstained, JurorEvaluated, StatementMade
from jury_events.evaluation import Evaluation, LabelProbability, ScenarioVerdict, SeatPosition, Statement
from jury_events.evidence import quotes_part
from jury_events.ids import Step
from jury_events.parts import PartMaker
from jury_events.rubric import DimensionScore, Scores
from jury_events.value import trusted
from jury_events.verdict import REVIEW
from jury_events.verdict_scale import OUTCOME_WORDS

PROVIDER_NAMES = {"openai": "OpenAI", "anthropic": "Anthropic", "google": "Gemini"}
"""How a blocked answer's rationale names the provider (document 004 §8)."""


def event_of(
    state: DebateState, step: Step, outcome: Outcome, marker: str, parts: PartMaker
) -> JurorEvaluated | StatementMade | JurorAbstained:
    """The event of a seat's step that is due.

    Args:
        state: of the debate now; the seat is the first of those waiting.
        step: of phase 1 or of the current round.
        outcome: of that step, in words.
        marker: of the debate.
        parts: makes the references of the texts.
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
        return _decided(state, juror_id, outcome, parts)
    answer, synthetic = _answer(state, outcome)
    evaluation = evaluation_of(state, answer, outcome, parts, synthetic=synthetic)
    changed = bool(step.round) and position_changed(state, juror_id, answer.position)
    peer_text = parts.make(_peer_text(state, step, answer, evaluation.overall, marker, changed=changed))
    if not step.round:
        return trusted(JurorEvaluated)(
            juror_id=juror_id, evaluation=evaluation, peer_text=peer_text, exchanges=outcome.exchanges
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
    """A heading by the rules, then the juror's texts, marked as data. Ends with an empty line."""
    assert step.juror_id is not None
    prompts = _prompts(state)
    turns = prompts.texts.turns
    seat = letter(state, step.juror_id)
    if not step.round:
        heading = prompts.peer_block_initial(
            letter=seat, verdict=_word(state, answer.position), score=score, confidence=answer.confidence
        )
        statement = []
    else:
        heading = prompts.peer_block_round(
            letter=seat,
            round_number=step.round,
            verdict=_word(state, answer.position),
            score=score,
            confidence=answer.confidence,
            changed=changed,
        )
        statement = [turns.statement_label, mark(answer.statement or answer.rationale, marker)]
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


def _decided(state: DebateState, juror_id: str, outcome: Decided, parts: PartMaker) -> JurorEvaluated:
    """The event of a decision model's answer."""
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
    peer_text = parts.make(_decided_text(state, juror_id, outcome))
    return trusted(JurorEvaluated)(
        juror_id=juror_id, evaluation=evaluation, peer_text=peer_text, exchanges=outcome.exchanges
    )


def _decided_text(state: DebateState, juror_id: str, outcome: Decided) -> str:
    """What other jurors are shown: nothing of it is judged text."""
    answer, panel = outcome.decision, state.panel
    version = panel.seat(juror_id).questions
    assert version is not None
    prompts, texts = _prompts(state), question_texts(version, panel.language)
    heading = prompts.peer_block_initial(
        letter=letter(state, juror_id),
        verdict=answer.position.word,
        score=answer.score,
        confidence=answer.confidence,
    )
    scenarios = [
        prompts.scenario_line(number=row.scenario_id, verdict=row.position.word, score=row.score)
        for row in answer.scenarios
    ]
    lines = [heading, *scenarios, fill(texts.probabilities, probabilities=_listed(answer.probabilities))]
    return "\n".join([*lines, texts.no_reasons, "", ""])


def _listed(probabilities: tuple[LabelProbability, ...]) -> str:
    return ", ".join(f"{one.label} {one.probability:g}" for one in probabilities)
