"""Document 002's `discussion_workflow.py`: a discussion over existing evaluations.

A discussion is a debate with supplied phase 1 evaluations, under the rules of `adk-sequential`, and is recorded like
any other; its final judgment is a majority vote.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Unpack

from pydantic import ValidationError

from jury_debate.panel_spec import WRITTEN, DiscussionSpec, FinalSpec, PanelSpec
from jury_debate.presets import ADK_SEQUENTIAL
from jury_debate.resolved_panel import resolve
from jury_debate.rules_registry import newest_rules
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.ids import Step
from jury_events.judgment import ConsensusStatus
from jury_events.text import condensed
from jury_judge.documents.artifact_tools import NO_ARTIFACTS, ArtifactContext, judged_case, scenario_of
from jury_judge.documents.juror_agents import (
    LANGUAGE,
    BaseJurorAgent,
    JurorEvaluationOutput,
    check_round,
    create_juror_agents,
    not_asked,
    seat_of,
    statement_output,
)
from jury_judge.documents.seating import JuryOptions
from jury_judge.documents.supplied_answers import Opinions, SuppliedAnswer, SuppliedJury, read_opinions, verdict_of
from jury_judge.runs.callbacks import OnEvent
from jury_views.result_models import ConsensusResult, DebateResult, DiscussionRound, JurorStatement

THRESHOLD = 0.67
"""Two of three (document 002)."""

MAX_ROUNDS = 3

Agents = Mapping[str, BaseJurorAgent] | Sequence[BaseJurorAgent] | None
"""Jurors in speaking order; None: those of document 002."""


@dataclass
class DiscussionState:
    """The state of a discussion in document 002; `current_round` is the last executed round, 0 before the first."""

    artifact_context: ArtifactContext
    evaluation_summary: str
    question_prompt: str
    agent_response: str
    current_round: int = 0
    max_rounds: int = MAX_ROUNDS
    juror_opinions: dict[str, dict[str, Any]] = field(default_factory=dict)
    consensus_status: ConsensusStatus = ConsensusStatus.SPLIT
    should_terminate: bool = False

    def get_other_opinions(self, exclude_juror_id: str) -> list[dict[str, Any]]:
        """The others' latest opinions, each with its `juror_id`."""
        return [
            _opinion_fields(juror_id, opinion)
            for juror_id, opinion in self.juror_opinions.items()
            if juror_id != exclude_juror_id
        ]

    def update_juror_opinion(self, juror_id: str, opinion: Mapping[str, Any] | JurorEvaluationOutput) -> None:
        """Set the latest opinion of a juror."""
        self.juror_opinions[juror_id] = _opinion_fields(juror_id, opinion)


def _opinion_fields(juror_id: str, opinion: Mapping[str, Any] | JurorEvaluationOutput) -> dict[str, Any]:
    fields = asdict(opinion) if isinstance(opinion, JurorEvaluationOutput) else dict(opinion)
    return {**fields, "juror_id": juror_id}


@dataclass
class DiscussionRoundResult:
    """A round; `agreement_level` 0-1. `debate_id` is the debate that records it."""

    round_number: int
    statements: list[JurorStatement]
    consensus_status: ConsensusStatus
    consensus_reached: bool
    majority_position: str | None
    agreement_level: float
    speaker_order: list[str]
    debate_id: str


@dataclass
class DiscussionWorkflowResult:
    """A discussion and its end; `final_opinions` are the jurors' latest, by juror id."""

    rounds: list[DiscussionRoundResult]
    total_rounds: int
    consensus_status: ConsensusStatus
    consensus_reached: bool
    majority_position: str | None
    early_termination: bool
    final_opinions: dict[str, JurorEvaluationOutput]
    debate_id: str


class ConsensusChecker:
    """Checks consensus (unanimous, majority, split) by the rules of debates.

    Args:
        consensus_threshold: the required share of jurors with one position; 0.67 accepts 2 of 3.
    """

    def __init__(self, consensus_threshold: float = THRESHOLD) -> None:
        self.consensus_threshold = consensus_threshold
        try:
            discussion = DiscussionSpec.model_validate({"threshold": consensus_threshold}, context=WRITTEN)
        except ValidationError as error:
            raise SettingError(f"consensus_{condensed(error)}") from error
        self._rules = resolve(PanelSpec(preset=ADK_SEQUENTIAL, discussion=discussion)).panel.discussion

    def check_consensus(
        self, evaluations: Mapping[str, Any] | Sequence[Any], round_number: int
    ) -> tuple[ConsensusStatus, bool, str | None]:
        """Status, whether consensus is reached, and the majority position (None when split).

        Args:
            evaluations: one for each juror, by juror id or in a list; None for an abstention.
            round_number: 0 for phase 1, for which unanimity alone is not consensus.
        """
        listed = list(evaluations.values() if isinstance(evaluations, Mapping) else evaluations)
        if not listed:
            raise SettingError("evaluations: empty; give one for each juror")
        positions = [
            verdict_of(one, f"evaluations: the one at {index}") for index, one in enumerate(listed) if one is not None
        ]
        rules = newest_rules()
        check = rules.check_consensus(positions, len(listed), self._rules, round_number=round_number)
        return check.status, check.reached, check.majority_position.value if check.majority_position else None


class SequentialDiscussionRound:
    """One round: each juror speaks in turn and sees the statements before it (ADK's SequentialAgent).

    Args:
        consensus_checker: decides `should_terminate` of the state.
    """

    def __init__(
        self,
        juror_agents: Agents = None,
        consensus_checker: ConsensusChecker | None = None,
        **options: Unpack[JuryOptions],
    ) -> None:
        self.juror_agents = _listed(juror_agents, options)
        self.consensus_checker = consensus_checker or ConsensusChecker()
        self._options = options

    async def execute(self, state: DiscussionState) -> DiscussionRoundResult:
        """Run the next round over the opinions in `state`, and update it.

        Earlier rounds are not repeated: their opinions are in the state.
        """
        number = check_round(state.current_round + 1, "current_round + 1")
        opinions = read_opinions(state.juror_opinions, "juror_opinions")
        case = judged_case(
            [scenario_of(state.question_prompt, state.agent_response)],
            state.artifact_context,
            summary=state.evaluation_summary,
        )
        jurors = [agent.config.juror_id for agent in self.juror_agents]
        rules = DiscussionSpec(max_rounds=number, threshold=self.consensus_checker.consensus_threshold)
        supplied = {**_phase_1(jurors, opinions), **not_asked(jurors, range(1, number))}
        result = await _discuss(self.juror_agents, rules, case, supplied, self._options)
        executed = round_result(result.discussion_rounds[-1], result.debate_id)
        for statement in executed.statements:
            state.update_juror_opinion(statement.juror_id, statement_output(statement, result.debate_id))
        state.current_round = number
        state.consensus_status = executed.consensus_status
        state.should_terminate = executed.consensus_reached
        return executed


class DiscussionLoopWorkflow:
    """Rounds until the jurors agree (ADK's LoopAgent).

    Args:
        max_rounds: the most rounds, 1 to 100.
        consensus_threshold: the share that ends it early; 0.67 accepts 2 of 3.
    """

    def __init__(
        self,
        juror_agents: Agents = None,
        max_rounds: int = MAX_ROUNDS,
        consensus_threshold: float = THRESHOLD,
        **options: Unpack[JuryOptions],
    ) -> None:
        self.juror_agents = _listed(juror_agents, options)
        self.max_rounds = check_round(max_rounds, "max_rounds")
        self.consensus_threshold = ConsensusChecker(consensus_threshold).consensus_threshold
        self._options = options

    async def execute(
        self,
        initial_evaluations: Opinions,
        question_prompt: str,
        agent_response: str,
        evaluation_summary: str = "",
        *,
        artifact_context: ArtifactContext | None = None,
        sse_callback: OnEvent | None = None,
    ) -> DiscussionWorkflowResult:
        """Run the discussion, in one debate.

        Args:
            initial_evaluations: of phase 1, by juror id or in a list; a juror without one has no opinion yet.
            evaluation_summary: of earlier checks; "" for none.
            artifact_context: records for the jurors' tools.
            sse_callback: called with each live event; may be async.
        """
        opinions = read_opinions(initial_evaluations, "initial_evaluations")
        case = judged_case(
            [scenario_of(question_prompt, agent_response)],
            artifact_context or NO_ARTIFACTS,
            summary=evaluation_summary,
        )
        rules = DiscussionSpec(max_rounds=self.max_rounds, threshold=self.consensus_threshold)
        supplied = _phase_1([agent.config.juror_id for agent in self.juror_agents], opinions)
        result = await _discuss(self.juror_agents, rules, case, supplied, self._options, on_event=sse_callback)
        rounds = [round_result(one, result.debate_id) for one in result.discussion_rounds]
        latest = {
            statement.juror_id: statement_output(statement, result.debate_id)
            for one in rounds
            for statement in one.statements
        }
        last = rounds[-1]
        return DiscussionWorkflowResult(
            rounds=rounds,
            total_rounds=result.total_rounds,
            consensus_status=last.consensus_status,
            consensus_reached=last.consensus_reached,
            majority_position=last.majority_position,
            early_termination=bool(result.early_termination),
            final_opinions=latest,
            debate_id=result.debate_id,
        )


def round_result(discussion: DiscussionRound, debate_id: str) -> DiscussionRoundResult:
    """A round as document 002's type."""
    check = discussion.consensus_check or ConsensusResult(
        ConsensusStatus.SPLIT, 0.0, consensus_reached=False, majority_position=None
    )
    return DiscussionRoundResult(
        round_number=discussion.round_number,
        statements=discussion.statements,
        consensus_status=check.consensus_status,
        consensus_reached=check.consensus_reached,
        majority_position=check.majority_position,
        agreement_level=check.agreement_level,
        speaker_order=discussion.speaker_order,
        debate_id=debate_id,
    )


def _listed(agents: Agents, options: JuryOptions) -> list[BaseJurorAgent]:
    if agents is None:
        agents = create_juror_agents(**options)
    listed = list(agents.values() if isinstance(agents, Mapping) else agents)
    ids = [agent.config.juror_id for agent in listed]
    if not ids or len(set(ids)) < len(ids):
        raise SettingError(
            f"juror_agents: give at least one juror, each of them once; given are {', '.join(ids) or 'none'}"
        )
    return listed


def _phase_1(jurors: Sequence[str], opinions: Mapping[str, SuppliedAnswer]) -> dict[str, SuppliedAnswer | None]:
    unknown = [juror for juror in opinions if juror not in jurors]
    if unknown:
        raise SettingError(
            f"there is an opinion of {unknown[0]!r}, who is not a juror; the jurors are {', '.join(jurors)}"
        )
    return {Step(0, juror).id: opinions.get(juror) for juror in jurors}


async def _discuss(
    agents: Sequence[BaseJurorAgent],
    rules: DiscussionSpec,
    case: Case,
    supplied: Mapping[str, SuppliedAnswer | None],
    options: JuryOptions,
    *,
    on_event: OnEvent | None = None,
) -> DebateResult:
    panel = PanelSpec(
        preset=ADK_SEQUENTIAL,
        name="discussion",
        language=LANGUAGE,
        seats=tuple(seat_of(agent.config) for agent in agents),
        discussion=rules,
        final=FinalSpec(method="majority_vote"),
    )
    async with SuppliedJury(panel, **options) as jury:
        return await jury.evaluate_supplied(case, supplied, on_event=on_event)
