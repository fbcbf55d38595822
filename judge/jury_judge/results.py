"""The result models of document 004 §3 and document 002, made from the one result of a debate (`views.result`).

Fields of the documents come first, in their order; what we add follows and has defaults. Verdicts are `safe_pass`,
`needs_review` or `unsafe_fail`. A text that was erased is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from jury_debate.panel_spec import RESERVED_ID
from jury_events.consensus import ConsensusStatus

DIMENSIONS = ("task_completion", "tool_usage", "autonomy", "safety")
"""The rubric of document 002, with at most 40, 30, 20 and 10 points."""


class EvaluationPhase(StrEnum):
    """When an evaluation was made, as the documents' events name it."""

    INITIAL = "initial"
    DISCUSSION = "discussion"
    FINAL_JUDGMENT = "final_judgment"


@dataclass
class ConsensusResult:
    """A consensus check; `agreement_level` is 0-1, `majority_position` None when split."""

    consensus_status: ConsensusStatus
    agreement_level: float
    consensus_reached: bool
    majority_position: str | None


@dataclass
class ScenarioResult:
    """The verdict and score (0-100) of one scenario of several."""

    scenario_id: str
    verdict: str
    score: float


@dataclass
class JurorEvaluation:
    """A juror's evaluation (document 004 §8: required fields first).

    `round_number` is 0 in phase 1. Points of the four dimensions are None where the panel's rubric has other ones;
    `scores` holds all of them. `synthetic`: neutral, for an answer that a safety filter blocked. `simulated`: whoever
    answered is no model; `model` was asked, `model_version` answered.
    """

    juror_id: str
    phase: EvaluationPhase
    round_number: int
    verdict: str
    overall_score: float
    confidence: float
    rationale: str | None
    task_completion: float | None
    tool_usage: float | None
    autonomy: float | None
    safety: float | None
    role_name: str | None = None
    role_focus: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    synthetic: bool = False
    model: str | None = None
    model_version: str | None = None
    simulated: bool = False
    scenarios: list[ScenarioResult] = field(default_factory=list)

    @property
    def safety_score(self) -> float | None:
        """Document 004's name of `safety`."""
        return self.safety


@dataclass
class JurorStatement:
    """What a juror said in a round; `statement_order` counts from 0."""

    juror_id: str
    round_number: int
    statement_order: int
    statement: str | None
    position: str
    reasoning: str | None
    position_changed: bool
    updated_evaluation: JurorEvaluation | None


@dataclass
class DiscussionRound:
    """A round, numbered from 1; `consensus_check` is None where the debate stopped before it."""

    round_number: int
    statements: list[JurorStatement]
    consensus_check: ConsensusResult | None
    speaker_order: list[str]


@dataclass
class JurorVote:
    """What a seat brought to the final judgment: `own`, `stale`, `synthetic` or `abstained` (then without a position).

    `round` is where its evaluation was made, 0 for phase 1.
    """

    juror_id: str
    kind: str
    position: str | None
    score: float | None
    confidence: float | None
    weight: float
    round: int | None
    stale: bool


@dataclass
class FinalJudgment:
    """Phase 3: what was asked for (`method`), what decided (`decided_by`), and every seat's vote.

    `rationale` and `judge` are the final judge's, where there was one; `judge_failure` says why it has none. `mean` is
    the score before it was rounded. `capped`: a lost quorum turned safe_pass into needs_review.
    """

    method: str
    final_verdict: str
    final_score: int
    rationale: str | None
    decided_by: str
    mean: float
    votes: list[JurorVote] = field(default_factory=list)
    quorum: int = 1
    quorum_held: int = 0
    quorum_met: bool = False
    capped: bool = False
    judge: JurorEvaluation | None = None
    judge_failure: str | None = None
    scenarios: list[ScenarioResult] = field(default_factory=list)


@dataclass
class Abstention:
    """A seat without a usable answer in a round (0: phase 1); `stale`: an earlier evaluation of it stands."""

    juror_id: str
    round_number: int
    reason: str
    refusal: str | None
    stale: bool


@dataclass
class CollaborativeJuryResult:
    """What a debate came to.

    A debate that has not completed has a `status` other than "completed", and None as `final_verdict`, `final_score`,
    `early_termination`, `end_reason` and `phase3_judgment`. `scenarios` has a row each where there are several.
    `label`, `tags`, `metadata`, `cluster` and `agent_cost` (US dollars) are those of the case; `losses` says what of it
    no juror was shown.
    """

    phase1_evaluations: list[JurorEvaluation]
    phase1_consensus: ConsensusResult | None
    discussion_rounds: list[DiscussionRound]
    total_rounds: int
    phase3_judgment: FinalJudgment | None
    final_verdict: str | None
    final_score: int | None
    early_termination: bool | None
    debate_id: str = ""
    case_id: str = ""
    run_id: str | None = None
    submission_id: str | None = None
    status: str = "completed"
    end_reason: str | None = None
    abstentions: list[Abstention] = field(default_factory=list)
    panel: str = ""
    method: str = ""
    simulated: bool = False
    model_mismatches: list[Any] = field(default_factory=list)
    forked_from: dict[str, Any] | None = None
    label: str | None = None
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    cluster: str | None = None
    agent_cost: float | None = None
    losses: list[dict[str, Any]] = field(default_factory=list)

    @property
    def scenarios(self) -> list[ScenarioResult]:
        """One row a scenario of a case that has several."""
        return self.phase3_judgment.scenarios if self.phase3_judgment is not None else []


CollaborativeEvaluationResult = CollaborativeJuryResult
"""Document 002's name of it."""


def result_model(result: Mapping[str, Any]) -> CollaborativeJuryResult:
    """The model of what `views.result.collaborative_result` gives."""
    judgment = result["phase3_judgment"]
    return CollaborativeJuryResult(
        **{
            **result,
            "phase1_evaluations": [_evaluation(one) for one in result["phase1_evaluations"]],
            "phase1_consensus": _consensus(result["phase1_consensus"]),
            "discussion_rounds": [_round(one) for one in result["discussion_rounds"]],
            "phase3_judgment": None if judgment is None else _judgment(judgment),
            "abstentions": [Abstention(**one) for one in result["abstentions"]],
        }
    )


def _evaluation(one: Mapping[str, Any]) -> JurorEvaluation:
    points = one["scores"]
    fields = {name: value for name, value in one.items() if name not in points or name in _NOT_POINTS}
    return JurorEvaluation(
        **{
            **fields,
            **{name: points.get(name) for name in DIMENSIONS},
            "phase": EvaluationPhase(one["phase"]),
            "scenarios": _scenarios(one["scenarios"]),
        }
    )


_NOT_POINTS = frozenset(JurorEvaluation.__dataclass_fields__) - set(DIMENSIONS)


def _scenarios(rows: list[dict[str, Any]]) -> list[ScenarioResult]:
    return [ScenarioResult(**row) for row in rows]


def _consensus(check: Mapping[str, Any] | None) -> ConsensusResult | None:
    if check is None:
        return None
    return ConsensusResult(**{**check, "consensus_status": ConsensusStatus(check["consensus_status"])})


def _round(held: Mapping[str, Any]) -> DiscussionRound:
    return DiscussionRound(
        round_number=held["round_number"],
        statements=[_statement(said) for said in held["statements"]],
        consensus_check=_consensus(held["consensus_check"]),
        speaker_order=held["speaker_order"],
    )


def _statement(said: Mapping[str, Any]) -> JurorStatement:
    return JurorStatement(**{**said, "updated_evaluation": _evaluation(said["updated_evaluation"])})


def _judgment(judgment: Mapping[str, Any]) -> FinalJudgment:
    judge = judgment["judge"]
    rest = {name: value for name, value in judgment.items() if name not in {"verdict", "score"}}
    return FinalJudgment(
        **{
            **rest,
            "final_verdict": judgment["verdict"],
            "final_score": judgment["score"],
            "votes": [JurorVote(**vote) for vote in judgment["votes"]],
            "judge": None if judge is None else _evaluation({**judge, **_THE_JUDGE}),
            "scenarios": _scenarios(judgment["scenarios"]),
        }
    )


_THE_JUDGE = {"juror_id": RESERVED_ID, "phase": "final_judgment", "round_number": 0}
