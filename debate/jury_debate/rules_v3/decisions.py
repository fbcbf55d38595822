"""Seats of decision models: they evaluate and vote, and never speak in a round.

Laws. Such a seat is asked in phase 1 alone, and its evaluation stands in every round: in the checks, for its peers, and
as its own vote. Its peers see its verdict and its probabilities, as a vote without reasons. It gives no points:
critical criteria count those of the other votes.
"""

from jury_debate.decision_questions import QUESTIONS, question_texts
from jury_debate.prompt_texts import fill
from jury_debate.prompts import load_prompts
from jury_debate.rules_v1.speaker_order import speaker_order
from jury_debate.rules_v1.visibility import letter
from jury_debate.state import DebateState
from jury_debate.step_outcome import Decided
from jury_events.debate_events import JurorEvaluated
from jury_events.evaluation import Evaluation, LabelProbability
from jury_events.ids import Step
from jury_events.judgment import Vote
from jury_events.panel import Panel
from jury_events.parts import PartMaker, PartRef


def speakers_of(panel: Panel, round_number: int) -> tuple[str, ...]:
    """The speaker order of a round: that of the panel, without the seats that never speak."""
    speaking = frozenset(panel.speaking)
    return tuple(one for one in speaker_order(panel.discussion.speakers, round_number) if one in speaking)


def standing(state: DebateState) -> DebateState:
    """The state in which evaluations that stand in every round are of the current one."""
    if not state.round or len(state.panel.speaking) == len(state.panel.seats):
        return state
    speaking = frozenset(state.panel.speaking)
    evaluations = tuple(
        entry if entry.juror_id in speaking else entry._replace(round=state.round) for entry in state.evaluations
    )
    return state._replace(evaluations=evaluations)


def own_vote(panel: Panel, vote: Vote) -> Vote:
    """The vote; that of a decision model is never stale."""
    if vote.kind != "stale" or panel.seat(vote.juror_id).questions is None:
        return vote
    return vote.changed(kind="own", stale=False)


def questions_of(state: DebateState, juror_id: str) -> PartRef:
    """The piece with the questions to a seat."""
    return state.pieces[QUESTIONS + juror_id]


def decided(state: DebateState, step: Step, outcome: Decided, parts: PartMaker) -> JurorEvaluated:
    """The event of a decision model's answer."""
    assert step.juror_id is not None
    answer, ids = outcome.decision, state.debate.scenarios
    evaluation = Evaluation(
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
    peer_text = parts.make(_peer_text(state, step.juror_id, outcome))
    return JurorEvaluated(
        juror_id=step.juror_id, evaluation=evaluation, peer_text=peer_text, exchanges=outcome.exchanges
    )


def _peer_text(state: DebateState, juror_id: str, outcome: Decided) -> str:
    """What other jurors are shown: nothing of it is judged text."""
    answer, panel = outcome.decision, state.panel
    version = panel.seat(juror_id).questions
    assert version is not None
    prompts, texts = load_prompts(state.debate.prompts, panel.language), question_texts(version, panel.language)
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
