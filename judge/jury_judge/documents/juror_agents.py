"""Document 002's `juror_agents.py`: single jurors.

Each call is a debate, which is recorded, verified and replayed like any other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Unpack

from jury_debate.panel_spec import DiscussionSpec, FinalSpec, PanelSpec, SeatSpec, SpeakersSpec
from jury_debate.presets import ADK_SEQUENTIAL, INDEPENDENT
from jury_debate.prompts_registry import PROMPTS_VERSION, load_prompts
from jury_debate.resolved_panel import SIMULATED_MODEL, full_model_name
from jury_events.errors import SettingError
from jury_events.ids import Step
from jury_events.panel import Language
from jury_events.text import visible_line
from jury_judge.documents.artifact_tools import NO_ARTIFACTS, ArtifactContext, judged_case, scenario_of
from jury_judge.documents.seating import JuryOptions, documents_fallbacks, warn_of_retired
from jury_judge.documents.supplied_answers import Opinions, SuppliedAnswer, SuppliedJury, read_opinion, read_opinions
from jury_judge.errors import NoEvaluation
from jury_judge.panels.files import load_panel
from jury_judge.runs.shared_context import SharedContext
from jury_views.evaluation_models import JurorEvaluation
from jury_views.result_models import DebateResult, JurorStatement

LANGUAGE: Language = "ja"
"""The language of the documents' prompts."""


class JurorRole(Enum):
    """The aspect that a juror evaluates."""

    POLICY_COMPLIANCE = "policy_compliance"
    SECURITY_LEAK_RISK = "security_leak_risk"
    MISUSE_DETECTION = "misuse_detection"


@dataclass
class JurorConfig:
    """A juror: its model (`model` or `provider/model`), the displayed role, and its instructions.

    `output_key` is the key of its opinion in a session.
    """

    juror_id: str
    model_name: str
    role: JurorRole
    role_name: str
    role_focus: str
    evaluation_prompt: str
    output_key: str


@dataclass
class JurorEvaluationOutput:
    """An evaluation: verdict, `overall_score` 0-100 (the sum of the four), confidence 0-1, reasons.

    In a discussion `statement` is set, and `position_changed` is whether the verdict differs from the one before.
    `debate_id` is the debate that records it.
    """

    juror_id: str
    verdict: str
    overall_score: float
    confidence: float
    rationale: str
    task_completion: float
    tool_usage: float
    autonomy: float
    safety: float
    statement: str | None = None
    position_changed: bool = False
    debate_id: str | None = None


class BaseJurorAgent:
    """A single juror.

    Args:
        options: as `Jury`; among them `store`, for the record.
    """

    def __init__(
        self,
        config: JurorConfig,
        artifact_context: ArtifactContext | None = None,
        **options: Unpack[JuryOptions],
    ) -> None:
        self.config = config
        self.artifact_context = artifact_context or NO_ARTIFACTS
        self._options = options
        self._latest: dict[tuple[str, str], JurorEvaluationOutput] = {}
        self._jury = SharedContext(self._alone)

    async def evaluate_phase1(
        self, evaluation_summary: str, question_prompt: str, agent_response: str
    ) -> JurorEvaluationOutput:
        """Evaluate independently (phase 1).

        Args:
            evaluation_summary: of earlier checks (`generate_evaluation_summary`); "" for none.

        Raises:
            NoEvaluation: the juror gave no usable answer; the message names the debate.
        """
        scenarios = [scenario_of(question_prompt, agent_response)]
        case = judged_case(scenarios, self.artifact_context, summary=evaluation_summary)
        async with self._jury.use() as jury:
            result = await jury.evaluate_supplied(case, {})
        evaluations = [one for one in result.phase1_evaluations if one.juror_id == self.config.juror_id]
        if not evaluations:
            raise _no_evaluation(self.config, result)
        return self._remember(output_of(evaluations[0], result.debate_id), question_prompt, agent_response)

    async def evaluate_discussion(
        self, round_number: int, other_opinions: Opinions, question_prompt: str, agent_response: str
    ) -> JurorEvaluationOutput:
        """Make a statement in a round, given the others' opinions.

        The others' opinions are recorded as supplied evaluations, and so is the juror's own latest one of the same
        question and answer. In other rounds no model is called.

        Args:
            round_number: from 1.
            other_opinions: by juror id, or in a list; each with verdict, scores and rationale. May include the
                juror's own.

        Raises:
            SettingError: an opinion is not valid.
            NoEvaluation: the juror gave no usable answer; the message names the debate.
        """
        check_round(round_number, "round_number")
        me = self.config.juror_id
        own = self._latest.get((question_prompt, agent_response))
        opinions: dict[str, SuppliedAnswer | None] = {
            me: None if own is None else read_opinion(own, "the juror's own opinion")
        }
        opinions |= read_opinions(other_opinions, "other_opinions")
        supplied = {Step(0, juror).id: opinion for juror, opinion in opinions.items()}
        supplied |= not_asked(opinions, range(1, round_number))
        supplied |= not_asked([juror for juror in opinions if juror != me], [round_number])
        panel = PanelSpec(
            preset=ADK_SEQUENTIAL,
            name=_name(self.config),
            language=LANGUAGE,
            seats=(seat_of(self.config), *(_silent_seat(juror) for juror in opinions if juror != me)),
            discussion=DiscussionSpec(max_rounds=round_number, speakers=SpeakersSpec()),
            final=FinalSpec(method="majority_vote"),
        )
        case = judged_case([scenario_of(question_prompt, agent_response)], self.artifact_context)
        async with SuppliedJury(panel, **self._options) as jury:
            result = await jury.evaluate_supplied(case, supplied)
        statements = [one for each in result.discussion_rounds for one in each.statements if one.juror_id == me]
        if not statements:
            raise _no_evaluation(self.config, result)
        return self._remember(statement_output(statements[-1], result.debate_id), question_prompt, agent_response)

    def _remember(self, output: JurorEvaluationOutput, question: str, response: str) -> JurorEvaluationOutput:
        self._latest = {(question, response): output}
        return output

    def _alone(self) -> SuppliedJury:
        """Made when it is used: the configuration may be changed before."""
        seats = (seat_of(self.config),)
        panel = PanelSpec(preset=INDEPENDENT, name=_name(self.config), language=LANGUAGE, seats=seats)
        return SuppliedJury(panel, **self._options)


MAX_ROUND_NUMBER = 100
"""The limit of a panel."""


def check_round(number: Any, name: str) -> int:
    """Check the number of a round, or of rounds."""
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_ROUND_NUMBER:
        raise SettingError(
            f"{name}: must be a whole number from 1 to {MAX_ROUND_NUMBER}, not {visible_line(repr(number), 40)}"
        )
    return number


def create_juror_agents(
    juror_ids: Iterable[str] | None = None,
    artifact_context: ArtifactContext | None = None,
    **options: Unpack[JuryOptions],
) -> dict[str, BaseJurorAgent]:
    """The jurors of the documents by id, all or the named ones.

    Warns (`RetiredModelWarning`) of retired models, with their replacements.
    """
    agents = {}
    for juror_id in JUROR_CONFIGS if juror_ids is None else juror_ids:
        if juror_id not in JUROR_CONFIGS:
            known = ", ".join(JUROR_CONFIGS)
            raise SettingError(f"there is no juror {visible_line(repr(juror_id), 80)}; the jurors are {known}")
        agents[juror_id] = BaseJurorAgent(JUROR_CONFIGS[juror_id], artifact_context, **options)
    warn_of_retired([full_model_name(agent.config.model_name) for agent in agents.values()], stacklevel=2)
    return agents


def seat_of(config: JurorConfig) -> SeatSpec:
    """The juror's seat; the documents' jurors have the documents' fallbacks."""
    model = full_model_name(config.model_name)
    return SeatSpec(
        model=model,
        juror_id=config.juror_id,
        role=JurorRole(config.role).value,
        role_name=config.role_name,
        role_focus=config.role_focus,
        prompt=config.evaluation_prompt,
        fallbacks=_fallbacks().get(model, documents_fallbacks(model)),
    )


def not_asked(jurors: Iterable[str], rounds: Iterable[int]) -> dict[str, SuppliedAnswer | None]:
    """Steps without a model call, in which the jurors abstain."""
    ids = list(jurors)
    return {Step(number, juror).id: None for number in rounds for juror in ids}


def output_of(evaluation: JurorEvaluation, debate_id: str) -> JurorEvaluationOutput:
    """An evaluation as document 002's type."""
    return JurorEvaluationOutput(
        juror_id=evaluation.juror_id,
        verdict=evaluation.verdict,
        overall_score=evaluation.overall_score,
        confidence=evaluation.confidence,
        rationale=evaluation.rationale or "",
        task_completion=evaluation.task_completion or 0.0,
        tool_usage=evaluation.tool_usage or 0.0,
        autonomy=evaluation.autonomy or 0.0,
        safety=evaluation.safety or 0.0,
        debate_id=debate_id,
    )


def statement_output(statement: JurorStatement, debate_id: str) -> JurorEvaluationOutput:
    """A statement as document 002's type."""
    assert statement.updated_evaluation is not None
    output = output_of(statement.updated_evaluation, debate_id)
    output.statement, output.position_changed = statement.statement, statement.position_changed
    return output


def _no_evaluation(config: JurorConfig, result: DebateResult) -> NoEvaluation:
    reasons = [absent.reason for absent in result.abstentions if absent.juror_id == config.juror_id]
    return NoEvaluation(
        f"juror {config.juror_id} gave no usable evaluation ({reasons[-1] if reasons else result.status}); "
        f"its calls are recorded: jury show {result.debate_id} --full"
    )


def _name(config: JurorConfig) -> str:
    return f"juror {config.juror_id}"


def _silent_seat(juror_id: str) -> SeatSpec:
    """The seat of a juror with a supplied opinion; its role is shown where it is known."""
    known = JUROR_CONFIGS.get(juror_id)
    role = None if known is None else known.role.value
    return SeatSpec(model=SIMULATED_MODEL, juror_id=juror_id, role=role)


@cache
def _fallbacks() -> dict[str, tuple[str, ...]]:
    return {seat.model: seat.fallbacks for seat in load_panel("documents", {}).panel.seats}


def _configs() -> dict[str, JurorConfig]:
    prompts = load_prompts(PROMPTS_VERSION, LANGUAGE)
    return {
        seat.juror_id: JurorConfig(
            juror_id=seat.juror_id,
            model_name=seat.model.partition("/")[2],
            role=JurorRole(seat.role),
            role_name=seat.role_name,
            role_focus=seat.role_focus,
            evaluation_prompt=prompts.role_prompt(seat.role, seat.role_focus),
            output_key=f"{seat.role}_evaluation",
        )
        for seat in load_panel("documents", {}).panel.seats
    }


JUROR_CONFIGS = _configs()
"""The jurors of document 002 by their ids."""
