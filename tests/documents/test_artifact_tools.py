"""The documents' artifact tools over records and files, and their declarations for each provider."""

import json
from pathlib import Path

import pytest

from jury_cases import ArtifactSourceError
from jury_judge import (
    ArtifactContext,
    ArtifactToolsWithContext,
    generate_evaluation_summary,
    get_anthropic_tools,
    get_openai_tools,
)

GATE = [
    {"verdict": verdict, "n": number} for number, verdict in enumerate(["fail", "pass", "blocked", "error", "fail"])
]
CARD = [{"evaluation": {"verdict": "pass"}}, {"verdict": "fail"}, {"evaluation": {"verdict": "error"}}]
TOOLS = ArtifactToolsWithContext(ArtifactContext(security_gate_records=GATE, agent_card_records=CARD))
NAMES = [
    "fetch_security_gate_failures",
    "fetch_security_gate_passes",
    "fetch_agent_card_failures",
    "fetch_agent_card_passes",
    "get_other_juror_opinions",
]


def test_failures_and_passes_are_counted_separately() -> None:
    assert {"count": 3, "total": 3, "records": [GATE[0], GATE[3], GATE[4]]} == TOOLS.fetch_security_gate_failures()
    assert {"count": 1, "total": 2, "records": [GATE[0]]} == TOOLS.fetch_security_gate_failures(1, include_errors=False)
    assert {"count": 2, "total": 2, "records": [GATE[1], GATE[2]]} == TOOLS.fetch_security_gate_passes()
    assert {"count": 2, "total": 2, "records": CARD[1:]} == TOOLS.fetch_agent_card_failures()
    assert {"count": 1, "total": 1, "records": CARD[:1]} == TOOLS.fetch_agent_card_passes()


def test_the_other_jurors_opinions_leave_one_out() -> None:
    opinions = {"a": {"verdict": "safe_pass"}, "b": {"verdict": "unsafe_fail"}}
    tools = ArtifactToolsWithContext(ArtifactContext(), opinions)

    assert {"count": 1, "total": 2, "records": [{"juror": "b", "verdict": "unsafe_fail"}]} == (
        tools.get_other_juror_opinions(exclude_juror_id="a")
    )


def test_records_are_read_from_a_path_at_first_use_in_the_artifact_roots_alone(tmp_path: Path) -> None:
    path = tmp_path / "card.jsonl"
    context = ArtifactContext(agent_card_uri=path)
    tools = ArtifactToolsWithContext(context, artifact_roots=[tmp_path])
    with pytest.raises(ArtifactSourceError, match="there is no such file"):
        tools.fetch_agent_card_passes()
    path.write_text("".join(json.dumps(record) + "\n" for record in CARD))
    (tmp_path / "reports").mkdir()

    assert 1 == tools.fetch_agent_card_passes()["total"]
    with pytest.raises(ArtifactSourceError, match="is outside the folder"):
        ArtifactToolsWithContext(context, artifact_roots=[tmp_path / "reports"]).fetch_agent_card_passes()


def test_the_summary_equals_that_of_the_prompts_in_both_languages() -> None:
    japanese, english = (generate_evaluation_summary(GATE, CARD, language=one) for one in ("ja", "en"))

    assert "合格率：40.0 %（5 件中 2 件）" in japanese
    assert "合格率：33.3 %（3 件中 1 件）" in japanese
    assert "40.0 %" in english
    assert (
        generate_evaluation_summary([], None) == "セキュリティゲート：全 0 件\n\nエージェントカード正確性検査：全 0 件"
    )


def test_the_five_tools_have_each_providers_format() -> None:
    openai, anthropic = get_openai_tools(), get_anthropic_tools()

    assert NAMES == [tool["function"]["name"] for tool in openai if tool["type"] == "function"]
    assert NAMES == [tool["name"] for tool in anthropic]
    assert [tool["function"]["parameters"] for tool in openai] == [tool["input_schema"] for tool in anthropic]
    assert {"max_records", "include_errors"} == set(anthropic[0]["input_schema"]["properties"])
    json.dumps([openai, anthropic])
