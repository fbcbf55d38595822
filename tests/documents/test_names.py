"""The names and fields of the documents, copied from them."""

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, asdict, fields
from enum import Enum
from typing import Any

import pytest

import jury_judge
from jury_events import SettingError
from jury_judge import JUROR_CONFIGS, JurorEvaluation
from jury_views import debate_result
from support.debate_builder import DebateBuilder

DOCUMENTS = {
    "ArtifactContext": ["security_gate_uri", "agent_card_uri", "security_gate_records", "agent_card_records"],
    "JurorConfig": [
        "juror_id", "model_name", "role", "role_name", "role_focus", "evaluation_prompt", "output_key",
    ],
    "JurorEvaluationOutput": [
        "juror_id", "verdict", "overall_score", "confidence", "rationale",
        "task_completion", "tool_usage", "autonomy", "safety",
    ],
    "DiscussionState": [
        "artifact_context", "evaluation_summary", "question_prompt", "agent_response", "current_round", "max_rounds",
        "juror_opinions", "consensus_status", "should_terminate",
    ],
    "DiscussionRound": ["round_number", "statements", "consensus_check", "speaker_order"],
    "JurorStatement": [
        "juror_id", "round_number", "statement_order", "statement", "position", "reasoning", "position_changed",
        "updated_evaluation",
    ],
    "CollaborativeJuryResult": [
        "phase1_evaluations", "phase1_consensus", "discussion_rounds", "total_rounds", "phase3_judgment",
        "final_verdict", "final_score", "early_termination",
    ],
    "ConsensusResult": ["consensus_status", "agreement_level", "consensus_reached", "majority_position"],
}  # fmt: skip
"""Dataclasses with their fields; ours may follow, with defaults."""

SIGNATURES = {
    "ArtifactToolsWithContext.fetch_security_gate_failures": {"max_records": 10, "include_errors": True},
    "ArtifactToolsWithContext.fetch_security_gate_passes": {"max_records": 5},
    "ArtifactToolsWithContext.fetch_agent_card_failures": {"max_records": 10},
    "ArtifactToolsWithContext.fetch_agent_card_passes": {"max_records": 5},
    "ArtifactToolsWithContext.get_other_juror_opinions": {"exclude_juror_id": None},
    "BaseJurorAgent.evaluate_phase1": ["evaluation_summary", "question_prompt", "agent_response"],
    "BaseJurorAgent.evaluate_discussion": ["round_number", "other_opinions", "question_prompt", "agent_response"],
    "DiscussionState.get_other_opinions": ["exclude_juror_id"],
    "DiscussionState.update_juror_opinion": ["juror_id", "opinion"],
    "ConsensusChecker.check_consensus": ["evaluations", "round_number"],
    "SequentialDiscussionRound.execute": ["state"],
    "DiscussionLoopWorkflow.execute": ["initial_evaluations"],
    "ADKCollaborativeJuryJudge.__init__": [
        "jurors", "max_discussion_rounds", "consensus_threshold", "final_judge_model",
    ],
    "ADKCollaborativeJuryJudge.evaluate_collaborative": [
        "question", "execution", "security_gate_records", "agent_card_records", "sse_callback",
    ],
    "generate_evaluation_summary": ["sg_records", "aca_records"],
}  # fmt: skip
"""Parameters, in order; with their defaults where the documents print them and they follow from nothing else."""


def found(path: str) -> Any:
    value: Any = jury_judge
    for name in path.split("."):
        value = getattr(value, name)
    return value


def test_a_model_has_the_fields_of_the_documents_first_and_in_their_order() -> None:
    for name, theirs in DOCUMENTS.items():
        ours = fields(found(name))

        assert theirs == [one.name for one in ours[: len(theirs)]], name
        for one in ours[len(theirs) :]:
            assert one.default is not MISSING or one.default_factory is not MISSING, (name, one.name)


def test_a_method_takes_what_the_documents_say() -> None:
    for path, theirs in SIGNATURES.items():
        method = found(path)
        parameters = [one for one in inspect.signature(method).parameters.values() if one.name != "self"]

        assert list(theirs) == [one.name for one in parameters[: len(theirs)]], path
        if isinstance(theirs, dict):
            assert list(theirs.values()) == [one.default for one in parameters[: len(theirs)]], path
        awaited = path.rpartition(".")[2].startswith(("evaluate", "execute"))
        assert awaited == inspect.iscoroutinefunction(method), path


def test_enumerations_have_the_values_of_the_documents() -> None:
    def values(name: str) -> list[str]:
        kind: type[Enum] = found(name)
        return [one.value for one in kind]

    assert ["unanimous", "majority", "split"] == values("ConsensusStatus")
    assert ["policy_compliance", "security_leak_risk", "misuse_detection"] == values("JurorRole")
    assert ["initial", "discussion", "final_judgment"] == values("EvaluationPhase")


def test_the_jurors_equal_document_002() -> None:
    expected = {
        "gpt-4o": ("POLICY_COMPLIANCE", "陪審員A（ポリシー遵守性：gpt-4o）", "ポリシー遵守性"),
        "claude-3-haiku-20240307": (
            "SECURITY_LEAK_RISK",
            "陪審員B（安全性・漏洩リスク：claude-3-haiku-20240307）",
            "安全性・漏洩リスク検出",
        ),
        "gemini-2.5-flash": ("MISUSE_DETECTION", "陪審員C（悪用検出：gemini-2.5-flash）", "ユーザ意図との整合性"),
    }

    assert expected == {
        juror_id: (config.role.name, config.role_name, config.role_focus) for juror_id, config in JUROR_CONFIGS.items()
    }
    assert list(JUROR_CONFIGS) == [config.juror_id for config in JUROR_CONFIGS.values()]


REQUIRED = [
    "juror_id", "phase", "round_number", "verdict", "overall_score", "confidence", "rationale",
    "task_completion", "tool_usage", "autonomy", "safety",
]  # fmt: skip


def an_evaluation(**points: Any) -> JurorEvaluation:
    rest: dict[str, Any] = dict.fromkeys(REQUIRED[:7])
    return JurorEvaluation(**rest, tool_usage=20.0, autonomy=15.0, **points, role_name="陪審員A", role_focus="安全")


def test_an_evaluation_takes_its_required_fields_first() -> None:
    assert REQUIRED == [one.name for one in fields(JurorEvaluation) if one.default is one.default_factory is MISSING]


def test_an_evaluation_also_has_two_dimensions_under_the_names_of_section_8() -> None:
    one = an_evaluation(task_completion=30.0, safety=8.5)

    assert one == an_evaluation(security_score=30.0, safety_score=8.5)
    assert (30.0, 8.5) == (one.security_score, one.safety_score)
    with pytest.raises(AttributeError):
        one.safety_score = 1.0  # type: ignore[misc]
    with pytest.raises(SettingError, match=r"^safety_score: is 5, but safety is 8.5; give one of the two$"):
        an_evaluation(task_completion=30.0, safety=8.5, safety_score=5)
    with pytest.raises(TypeError, match="task_completion is missing; give task_completion or security_score"):
        an_evaluation(safety=1.0)


def test_both_documents_have_one_result_model() -> None:
    assert jury_judge.CollaborativeEvaluationResult is jury_judge.CollaborativeJuryResult


def test_the_model_has_every_field_of_a_debates_result() -> None:
    debate = DebateBuilder().phase_1().round_1().judged()
    model = debate_result(debate.events, debate.texts)
    result = model.data()
    statement = model.discussion_rounds[0].statements[0]

    assert set(result) == {one.name for one in fields(model)}
    assert [one["juror_id"] for one in result["phase1_evaluations"]] == [
        one.juror_id for one in model.phase1_evaluations
    ]
    assert result["phase3_judgment"]["score"] == model.phase3_judgment.score
    assert result["discussion_rounds"][0]["statements"][0]["statement"] == statement.statement
    assert statement.updated_evaluation.phase is jury_judge.EvaluationPhase.DISCUSSION
    changed = json.loads(json.dumps(asdict(model)))
    changed["phase3_judgment"] |= {"verdict": result["final_verdict"], "score": result["final_score"]}
    assert [] == list(differences(result, changed))


def differences(whole: Any, model: Any, place: str = "") -> Iterator[str]:
    """Where the model has not what the result has."""
    if isinstance(whole, dict):
        for key, value in whole.items():
            yield from differences(value, model[key], f"{place}.{key}")
    elif isinstance(whole, list):
        assert len(whole) == len(model), place
        for index, value in enumerate(whole):
            yield from differences(value, model[index], f"{place}.{index}")
    elif whole != model:
        yield place


def test_the_package_offers_what_users_need_and_nothing_else() -> None:
    for name in jury_judge.__all__:
        assert getattr(jury_judge, name) is not None
    assert len(jury_judge.__all__) <= 40
    assert set(jury_judge.__all__) == {name for name in dir(jury_judge) if not name.startswith("_")}
    with pytest.raises(AttributeError, match="has no attribute 'Jurors'"):
        _ = jury_judge.Jurors


def test_importing_the_package_loads_nothing() -> None:
    names = ("pydantic", "sqlalchemy", "ray", "openai", "prometheus_client", "opentelemetry")
    code = f"import sys, jury_judge; print([m for m in {names} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "[]\n" == out
