"""Document 002's `discussion_workflow.py`: the discussion by itself, over evaluations that are there already.

A discussion is a debate with a supplied first phase, by the rules of `adk-sequential`, and is recorded like any
other; its final judgment is a majority vote.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Unpack

from pydantic import ValidationError

from jury_debate.panel_spec import WRITTEN, DiscussionSpec, FinalSpec, PanelSpec, resolve
from jury_debate.presets import ADK_SEQUENTIAL
from jury_debate.rules_v1.consensus import check_consensus
from jury_events.case import Case
from jury_events.consensus import ConsensusStatus
from jury_events.ids import Step
from jury_judge.app.callbacks import OnEvent
from jury_judge.documents.artifact_tools import ArtifactContext
from jury_judge.documents.juror_agents import (
    LANGUAGE,
    BaseJurorAgent,
    JurorEvaluationOutput,
    check_round,
    create_juror_agents,
    not_asked,
    seat_of,
    spoken,
)
from jury_judge.documents.opinions import Opinions, read_opinions, verdict_of
from jury_judge.documents.shared_jury import JuryOptions
from jury_judge.documents.supplied_answers import SuppliedAnswer
from jury_judge.documents.supplied_jury import NO_ARTIFACTS, SuppliedJury, judged_case, one_scenario
from jury_judge.errors import SettingError, condensed
from jury_judge.present.result_models import CollaborativeJuryResult, ConsensusResult, DiscussionRound, JurorStatement

THRESHOLD = 0.67
"""Two of three (document 002)."""

MAX_ROUNDS = 3

Agents = Mapping[str, BaseJurorAgent] | Sequence[BaseJurorAgent] | None
"""Jurors in the order in which they speak; None: those of document 002."""


@dataclass
class DiscussionState:
    """The state of a discussion as in document 002; `current_round` is the last finished one, 0 before the first."""

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
        """The latest statements of the others, each with its `juror_id`."""
        return [
            _table(juror_id, opinion)
            for juror_id, opinion in self.juror_opinions.items()
            if juror_id != exclude_juror_id
        ]

    def update_juror_opinion(self, juror_id: str, opinion: Mapping[str, Any] | JurorEvaluationOutput) -> None:
        """Keep what a juror said last."""
        self.juror_opinions[juror_id] = _table(juror_id, opinion)


def _table(juror_id: str, opinion: Mapping[str, Any] | JurorEvaluationOutput) -> dict[str, Any]:
    kept = asdict(opinion) if isinstance(opinion, JurorEvaluationOutput) else dict(opinion)
    return {**kept, "juror_id": juror_id}


@dataclass
class DiscussionRoundResult:
    """A round; `agreement_level` 0-1. `debate_id` is where it is recorded."""

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
    """A discussion, and where it ended; `final_opinions` are each juror's latest, by juror id."""

    rounds: list[DiscussionRoundResult]
    total_rounds: int
    consensus_status: ConsensusStatus
    consensus_reached: bool
    majority_position: str | None
    early_termination: bool
    final_opinions: dict[str, JurorEvaluationOutput]
    debate_id: str


class ConsensusChecker:
    """Whether jurors agree (unanimous, majority, split), by the rules of every debate.

    Args:
        consensus_threshold: the share of the jurors that must agree; 0.67 accepts 2 of 3.
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
        """Status, whether consensus is reached, and the position of the majority (None when split).

        Args:
            evaluations: one a juror, by juror id or in a list; None for a juror that abstained.
            round_number: 0 for phase 1, which unanimity alone does not end.

        Raises:
            SettingError: there is none, or one has no verdict.
        """
        listed = list(evaluations.values() if isinstance(evaluations, Mapping) else evaluations)
        if not listed:
            raise SettingError("evaluations: there is none; give one for each juror")
        positions = [
            verdict_of(one, f"evaluations: the one at {index}") for index, one in enumerate(listed) if one is not None
        ]
        check = check_consensus(positions, len(listed), self._rules, round_number=round_number)
        return check.status, check.reached, check.majority_position.value if check.majority_position else None


class SequentialDiscussionRound:
    """One round: each juror speaks in turn and sees what was said before it (ADK's SequentialAgent).

    Args:
        juror_agents: who speaks, in this order.
        consensus_checker: decides when the discussion ends.
        options: as `Jury`.
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
        """Hold the next round over the opinions in `state`, and bring it forward.

        Earlier rounds are not repeated: their opinions are in the state.

        Raises:
            SettingError: an opinion is not understood.
        """
        number = check_round(state.current_round + 1, "current_round + 1")
        opinions = read_opinions(state.juror_opinions, "juror_opinions")
        case = judged_case(
            one_scenario(state.question_prompt, state.agent_response),
            state.artifact_context,
            summary=state.evaluation_summary,
        )
        jurors = [agent.config.juror_id for agent in self.juror_agents]
        rules = DiscussionSpec(max_rounds=number, threshold=self.consensus_checker.consensus_threshold)
        given = {**_phase_1(jurors, opinions), **not_asked(jurors, range(1, number))}
        result = await _discussed(self.juror_agents, rules, case, given, self._options)
        finished = round_result(result.discussion_rounds[-1], result.debate_id)
        for said in finished.statements:
            state.update_juror_opinion(said.juror_id, spoken(said, result.debate_id))
        state.current_round = number
        state.consensus_status = finished.consensus_status
        state.should_terminate = finished.consensus_reached
        return finished


class DiscussionLoopWorkflow:
    """Rounds until the jurors agree (ADK's LoopAgent).

    Args:
        juror_agents: who speaks, in this order.
        max_rounds: at most so many, 1 to 100.
        consensus_threshold: what ends it early; 0.67 accepts 2 of 3.
        options: as `Jury`.
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
        """Hold the discussion, in one debate.

        Args:
            initial_evaluations: of phase 1, by juror id or in a list; a juror without one has no opinion yet.
            question_prompt: what the agent was asked.
            agent_response: what it answered.
            evaluation_summary: of what earlier checks found; "" for none.
            artifact_context: records that jurors may fetch with their tools.
            sse_callback: called with each live event; may be async.

        Raises:
            SettingError: an evaluation is not understood.
        """
        opinions = read_opinions(initial_evaluations, "initial_evaluations")
        case = judged_case(
            one_scenario(question_prompt, agent_response), artifact_context or NO_ARTIFACTS, summary=evaluation_summary
        )
        rules = DiscussionSpec(max_rounds=self.max_rounds, threshold=self.consensus_threshold)
        given = _phase_1([agent.config.juror_id for agent in self.juror_agents], opinions)
        result = await _discussed(self.juror_agents, rules, case, given, self._options, on_event=sse_callback)
        rounds = [round_result(one, result.debate_id) for one in result.discussion_rounds]
        latest = {said.juror_id: spoken(said, result.debate_id) for one in rounds for said in one.statements}
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


def round_result(discussed: DiscussionRound, debate_id: str) -> DiscussionRoundResult:
    """A round in document 002's form."""
    check = discussed.consensus_check or ConsensusResult(
        ConsensusStatus.SPLIT, 0.0, consensus_reached=False, majority_position=None
    )
    return DiscussionRoundResult(
        round_number=discussed.round_number,
        statements=discussed.statements,
        consensus_status=check.consensus_status,
        consensus_reached=check.consensus_reached,
        majority_position=check.majority_position,
        agreement_level=check.agreement_level,
        speaker_order=discussed.speaker_order,
        debate_id=debate_id,
    )


def _listed(agents: Agents, options: JuryOptions) -> list[BaseJurorAgent]:
    if agents is None:
        agents = create_juror_agents(**options)
    listed = list(agents.values() if isinstance(agents, Mapping) else agents)
    ids = [agent.config.juror_id for agent in listed]
    if not ids or len(set(ids)) < len(ids):
        raise SettingError(
            f"juror_agents: give one juror at least, each of them once; given are {', '.join(ids) or 'none'}"
        )
    return listed


def _phase_1(jurors: Sequence[str], opinions: Mapping[str, SuppliedAnswer]) -> dict[str, SuppliedAnswer | None]:
    unknown = [juror for juror in opinions if juror not in jurors]
    if unknown:
        raise SettingError(f"there is an opinion of {unknown[0]!r}, who does not take part; {', '.join(jurors)} do")
    return {Step(0, juror).id: opinions.get(juror) for juror in jurors}


async def _discussed(
    agents: Sequence[BaseJurorAgent],
    rules: DiscussionSpec,
    case: Case,
    given: Mapping[str, SuppliedAnswer | None],
    options: JuryOptions,
    *,
    on_event: OnEvent | None = None,
) -> CollaborativeJuryResult:
    panel = PanelSpec(
        preset=ADK_SEQUENTIAL,
        name="discussion",
        language=LANGUAGE,
        seats=tuple(seat_of(agent.config) for agent in agents),
        discussion=rules,
        final=FinalSpec(method="majority_vote"),
    )
    async with SuppliedJury(panel, **options) as jury:
        return await jury.evaluate_supplied(case, given, on_event=on_event)
