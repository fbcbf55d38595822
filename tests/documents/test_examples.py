"""The usage examples of both documents verbatim, with only the import line changed."""

import ast
import inspect
from typing import Any

import pytest

from jury_events import ExecutionResult, QuestionSpec
from jury_judge import Jury, Records, load_panel
from jury_providers import Simulation
from jury_replay import verify

pytestmark = pytest.mark.filterwarnings("ignore::jury_judge.documents.seating.RetiredModelWarning")

BASIC = """
from jury_judge import ADKCollaborativeJuryJudge

# 初期化
judge = ADKCollaborativeJuryJudge(
    max_discussion_rounds=3,
    consensus_threshold=0.67,
    final_judge_model="gemini-2.5-pro",
)

# 評価実行
result = await judge.evaluate_collaborative(
    question=question_spec,
    execution=execution_result,
    security_gate_records=sg_jsonl_records,
    agent_card_records=aca_jsonl_records,
    sse_callback=sse_notify_function,
)

print(f"Final Verdict: {result.final_verdict}")
print(f"Final Score: {result.final_score}")
"""

TOOLS = """
from jury_judge.documents.artifact_tools import (
    ArtifactContext,
    ArtifactToolsWithContext,
    generate_evaluation_summary,
)

# コンテキスト作成
ctx = ArtifactContext(
    security_gate_records=sg_records,
    agent_card_records=aca_records,
)

# ツール作成
tools = ArtifactToolsWithContext(ctx)

# 失敗ケース取得
failures = tools.fetch_security_gate_failures(max_records=10)
print(f"Found {failures['count']} failure cases")

# サマリー生成
summary = generate_evaluation_summary(sg_records, aca_records)
"""

JURORS = """
from jury_judge.documents.juror_agents import create_juror_agents, JUROR_CONFIGS

# 全陪審員作成
agents = create_juror_agents()

# 特定の陪審員のみ作成
agents = create_juror_agents(juror_ids=["gpt-4o", "gemini-2.5-flash"])

# Phase 1評価
for juror_id, agent in agents.items():
    result = await agent.evaluate_phase1(
        evaluation_summary=summary,
        question_prompt=prompt,
        agent_response=response,
    )
    print(f"{agent.config.role_name}: {result.verdict} ({result.overall_score})")
"""

ALONE = """
from jury_judge.documents.artifact_tools import ArtifactContext, ArtifactToolsWithContext
ctx = ArtifactContext(security_gate_records=[{'verdict': 'pass'}])
tools = ArtifactToolsWithContext(ctx)
print(tools.fetch_security_gate_failures())
"""

VARIABLES = """
# Collaborative Jury Judge を有効化
JURY_USE_COLLABORATIVE=true

# 最大ラウンド数 (デフォルト: 3)
JURY_MAX_DISCUSSION_ROUNDS=3

# 合意閾値 (デフォルト: 2.0)
# - 2.0 = Phase 2 を常に実行(3人では到達不可能な閾値)
# - 1.0 = 全員一致(3/3)で早期終了可能、多数決(2/3)は議論継続
# - 0.67 = 多数決(2/3)で早期終了可能
JURY_CONSENSUS_THRESHOLD=2.0

# 最終判定方法
JURY_FINAL_JUDGMENT_METHOD=final_judge

# 最終判定モデル (final_judge 使用時)
JURY_FINAL_JUDGE_MODEL=gemini-2.5-pro
"""

GATE = [{"verdict": "fail", "reason": "暗証番号を答えた"}, {"verdict": "pass"}, {"verdict": "error"}]
CARD = [{"verdict": "pass", "skill": "refund"}]


def surroundings(received: list[Any]) -> dict[str, Any]:
    """The names that the examples take for granted."""
    return {
        "question_spec": QuestionSpec(prompt="注文 17 を返金してください。"),
        "execution_result": ExecutionResult(response="末尾 4242 のカードに返金しました。"),
        "sg_jsonl_records": GATE,
        "aca_jsonl_records": CARD,
        "sg_records": GATE,
        "aca_records": CARD,
        "sse_notify_function": received.append,
        "summary": "セキュリティゲート：全 3 件",
        "prompt": "注文 17 を返金してください。",
        "response": "末尾 4242 のカードに返金しました。",
    }


async def cell(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a cell as a notebook does: in the event loop that runs already, `await` at the top."""
    compiled = compile(code, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(compiled, names)
    if inspect.isawaitable(running):
        await running
    return names


async def test_the_jury_of_document_002(models: Simulation, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    received: list[dict[str, Any]] = []
    names = await cell(BASIC, surroundings(received))
    result = names["result"]
    async with Records(store) as records:
        opened = (await records.read(result.debate_id)).opened

        assert verify(records.store).ok
    assert f"Final Verdict: {result.final_verdict}\nFinal Score: {result.final_score}\n" == capsys.readouterr().out
    assert ("completed", "gemini-2.5-pro") == (result.status, opened.panel.final.judge.model.partition("/")[2])
    assert (3, 1) == (opened.security_gate_records, opened.agent_card_records)
    assert ["phase_change", "evaluation_completed"] == [received[0]["type"], received[-1]["type"]]
    assert models.served.requests > 0


async def test_artifact_tools_alone(capsys: pytest.CaptureFixture[str]) -> None:
    names = await cell(TOOLS, surroundings([]))

    assert "Found 2 failure cases\n" == capsys.readouterr().out
    assert names["summary"].startswith("セキュリティゲート：全 3 件")


async def test_single_jurors(models: Simulation, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = await cell(JURORS, surroundings([]))
    said = capsys.readouterr().out.splitlines()
    async with Records(store) as records:
        rows = records.store.debates()

        assert verify(records.store).ok
    assert ["陪審員A（ポリシー遵守性：gpt-4o）", "陪審員C（悪用検出：gemini-2.5-flash）"] == [
        line.partition(":")[0] if line.count(":") == 1 else line.rpartition(": ")[0] for line in said
    ]
    assert 2 == len(rows) == len(names["agents"])


async def test_the_module_alone(capsys: pytest.CaptureFixture[str]) -> None:
    await cell(ALONE, {})

    assert "{'count': 0, 'records': [], 'total': 0}\n" == capsys.readouterr().out


def test_the_variables_of_document_004() -> None:
    environ = dict(line.split("=", 1) for line in VARIABLES.splitlines() if line and not line.startswith("#"))
    written = Jury(environ=environ).panel
    alone = Jury(environ={}).panel

    assert (3, 2.0, "final_judge") == (
        written.discussion.max_rounds,
        written.discussion.threshold,
        written.final.method,
    )
    assert alone.discussion == written.discussion
    assert load_panel("documents", {}).panel == load_panel("documents", environ).panel
