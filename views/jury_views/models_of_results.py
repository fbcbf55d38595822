"""The result models of the documents, made of the one result of a debate (`result_lines`)."""

from collections.abc import Mapping
from typing import Any

from jury_debate.panel_spec import RESERVED_ID
from jury_events.consensus import ConsensusStatus
from jury_views.result_models import (
    DIMENSIONS,
    Abstention,
    CollaborativeJuryResult,
    ConsensusResult,
    DiscussionRound,
    EvaluationPhase,
    FinalJudgment,
    JurorEvaluation,
    JurorStatement,
    JurorVote,
    QuotationSpan,
    QuotedEvidence,
    ScenarioResult,
    ShortfallResult,
    VerdictAcceptance,
)


def result_model(result: Mapping[str, Any]) -> CollaborativeJuryResult:
    """The model of what `result_lines.collaborative_result` gives."""
    made = result["phase3_judgment"]
    evaluations = [_evaluation(one) for one in result["phase1_evaluations"]]
    rounds = [_round(one) for one in result["discussion_rounds"]]
    judgment = None if made is None else _judgment(made)
    return CollaborativeJuryResult(
        **{
            **result,
            "phase1_evaluations": evaluations,
            "phase1_consensus": _consensus(result["phase1_consensus"]),
            "discussion_rounds": rounds,
            "phase3_judgment": judgment,
            "abstentions": [Abstention(**one) for one in result["abstentions"]],
            "scenario_results": _scenarios(result["scenario_results"]),
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
            "evidence": None if (entries := one["evidence"]) is None else [_quoted(entry) for entry in entries],
        }
    )


def _quoted(entry: Mapping[str, Any]) -> QuotedEvidence:
    span = entry["span"]
    return QuotedEvidence(**{**entry, "span": None if span is None else QuotationSpan(**span)})


_NOT_POINTS = frozenset(JurorEvaluation.__dataclass_fields__) - set(DIMENSIONS)


def _scenarios(rows: list[dict[str, Any]]) -> list[ScenarioResult]:
    return [ScenarioResult(**row) for row in rows]


def _consensus(check: Mapping[str, Any] | None) -> ConsensusResult | None:
    if check is None:
        return None
    return ConsensusResult(**{**check, "consensus_status": ConsensusStatus(check["consensus_status"])})


def _round(fields: Mapping[str, Any]) -> DiscussionRound:
    return DiscussionRound(
        round_number=fields["round_number"],
        statements=[_statement(said) for said in fields["statements"]],
        consensus_check=_consensus(fields["consensus_check"]),
        speaker_order=fields["speaker_order"],
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
            "shortfalls": [ShortfallResult(**one) for one in judgment["shortfalls"]],
            "acceptance": None if (acceptance := judgment["acceptance"]) is None else VerdictAcceptance(**acceptance),
        }
    )


_THE_JUDGE = {"juror_id": RESERVED_ID, "phase": "final_judgment", "round_number": 0}
