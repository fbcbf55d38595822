"""Single jurors, rounds and discussions: recorded, under the rules, with supplied evaluations."""

import warnings
from dataclasses import replace
from typing import Any

import pytest

from jury_events import SettingError
from jury_judge import (
    JUROR_CONFIGS,
    ArtifactContext,
    ArtifactToolsWithContext,
    BaseJurorAgent,
    ConsensusChecker,
    ConsensusStatus,
    DiscussionLoopWorkflow,
    DiscussionState,
    NoEvaluation,
    Records,
    RetiredModelWarning,
    RuntimeSettings,
    SequentialDiscussionRound,
    create_juror_agents,
)
from jury_providers import Script
from jury_replay import verify

QUESTION, ANSWER = "注文 17 を返金してください。", "末尾 4242 のカードに返金しました。"
GPT, CLAUDE, GEMINI = JUROR_CONFIGS


def an_agent(juror_id: str, **more: Any) -> BaseJurorAgent:
    """A juror of the documents whose model is simulated in this process."""
    return BaseJurorAgent(replace(JUROR_CONFIGS[juror_id], model_name=f"simulated/{juror_id}"), **more)


def agents(**more: Any) -> dict[str, BaseJurorAgent]:
    return {juror_id: an_agent(juror_id, **more) for juror_id in JUROR_CONFIGS}


def opinion(verdict: str, overall: float = 50.0, rationale: str = "理由がある", **more: Any) -> dict[str, Any]:
    return {"verdict": verdict, "overall_score": overall, "confidence": 0.5, "rationale": rationale, **more}


async def reading_of(store: str, debate_id: str) -> Any:
    async with Records(store) as records:
        assert verify(records.store).ok
        assert "equal" == (await records.replay(debate_id)).status
        return await records.read(debate_id)


def prompt(reading: Any, step: str) -> str:
    exchange = next(one for one in reading.exchanges if one.step == step)
    return "".join(reading.texts[ref.part].decode() for message in exchange.request for ref in message.parts)


async def test_a_single_juror_sees_the_summary_and_is_recorded(store: str) -> None:
    output = await an_agent(GPT).evaluate_phase1("注意点あり", QUESTION, ANSWER)
    reading = await reading_of(store, output.debate_id or "")
    shown = prompt(reading, f"initial/{GPT}")

    assert {"initial/gpt-4o"} == {one.step for one in reading.exchanges}
    assert "注意点あり" in shown
    assert JUROR_CONFIGS[GPT].evaluation_prompt in shown
    assert output.overall_score == pytest.approx(
        output.task_completion + output.tool_usage + output.autonomy + output.safety
    )
    assert (GPT, None) == (output.juror_id, output.statement)


async def test_a_single_juror_may_fetch_the_records_of_its_context(store: str) -> None:
    context = ArtifactContext(security_gate_records=[{"verdict": "fail", "reason": "x"}])
    output = await an_agent(CLAUDE, artifact_context=context).evaluate_phase1("", QUESTION, ANSWER)
    reading = await reading_of(store, output.debate_id or "")

    assert any(one.tool_calls for one in reading.exchanges)


async def test_a_juror_without_a_usable_answer_raises_with_the_debates_id(store: str) -> None:
    silent = an_agent(GPT, runtime=RuntimeSettings(simulate=Script(rates={"bad_request": 1.0})))

    with pytest.raises(
        NoEvaluation, match=r"juror gpt-4o gave no usable evaluation \(bad_request\).*jury show debate-"
    ):
        await silent.evaluate_phase1("", QUESTION, ANSWER)


async def test_in_a_discussion_a_juror_sees_the_others_and_only_it_is_called(store: str) -> None:
    agent = an_agent(GPT)
    before = await agent.evaluate_phase1("", QUESTION, ANSWER)
    others = [opinion("unsafe_fail", 20.0, "漏洩を見た", juror_id=CLAUDE)]
    output = await agent.evaluate_discussion(2, others, QUESTION, ANSWER)
    reading = await reading_of(store, output.debate_id or "")
    shown = prompt(reading, f"round-2/{GPT}")
    asked = {one.step for one in reading.exchanges if one.model_version != "supplied"}

    assert "漏洩を見た" in shown
    assert (before.rationale or "").split()[0][:10] in shown.replace("ˆ", "")
    assert {f"round-2/{GPT}"} == asked
    assert all(one.simulated for one in reading.exchanges)
    assert output.statement
    assert (output.verdict != before.verdict) == output.position_changed


async def test_an_opinion_of_another_answer_is_not_reused(store: str) -> None:
    agent = an_agent(GPT)
    await agent.evaluate_phase1("", QUESTION, "別の回答")
    output = await agent.evaluate_discussion(1, {CLAUDE: opinion("safe_pass")}, QUESTION, ANSWER)
    reading = await reading_of(store, output.debate_id or "")

    assert [f"initial/{CLAUDE}"] == [
        one.step for one in reading.exchanges if one.outcome == "answered" and one.step.startswith("initial/")
    ]
    assert not output.position_changed


def test_jurors_are_created_by_id_and_retired_models_are_warned_of() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = create_juror_agents(juror_ids=[GPT, GEMINI])

    assert [GPT, GEMINI] == list(made)
    assert [(RetiredModelWarning, __file__)] * 2 == [(one.category, one.filename) for one in said]
    with pytest.raises(SettingError, match="there is no juror 'gpt-9'; the jurors are gpt-4o, "):
        create_juror_agents(juror_ids=["gpt-9"])


async def test_a_discussion_over_supplied_evaluations_calls_models_for_rounds_only(store: str) -> None:
    given = {GPT: opinion("unsafe_fail", 10.0), CLAUDE: opinion("safe_pass", 95.0), GEMINI: opinion("needs_review")}
    received: list[str] = []
    result = await DiscussionLoopWorkflow(agents(), max_rounds=2, consensus_threshold=2.0).execute(
        given, QUESTION, ANSWER, "注意点あり", sse_callback=lambda event: received.append(event["type"])
    )
    reading = await reading_of(store, result.debate_id)
    given_steps = {one.step for one in reading.exchanges if one.model_version == "supplied"}

    assert {f"initial/{juror}" for juror in JUROR_CONFIGS} == given_steps
    assert "注意点あり" in prompt(reading, f"round-1/{GPT}")
    assert (
        list(JUROR_CONFIGS) == result.rounds[0].speaker_order == [said.juror_id for said in result.rounds[0].statements]
    )
    assert result.total_rounds == len(result.rounds) <= 2
    assert set(JUROR_CONFIGS) == set(result.final_opinions)
    assert [said.position != given[said.juror_id]["verdict"] for said in result.rounds[0].statements] == [
        said.position_changed for said in result.rounds[0].statements
    ]
    assert ("phase_change", "evaluation_completed") == (received[0], received[-1])


async def test_a_discussion_accepts_outputs_of_single_jurors(store: str) -> None:
    jurors = agents()
    alone = [await agent.evaluate_phase1("", QUESTION, ANSWER) for agent in jurors.values()]
    result = await DiscussionLoopWorkflow(jurors).execute(alone, QUESTION, ANSWER)
    checked = ConsensusChecker().check_consensus(result.final_opinions, result.total_rounds)

    assert (result.consensus_status, result.consensus_reached, result.majority_position) == checked


async def test_single_rounds_update_the_state(store: str) -> None:
    state = DiscussionState(ArtifactContext(), "注意点あり", QUESTION, ANSWER)
    state.update_juror_opinion(GPT, opinion("unsafe_fail", 5.0))
    one_round = SequentialDiscussionRound(agents(), ConsensusChecker(2.0))
    first = await one_round.execute(state)
    after = {juror_id: kept["verdict"] for juror_id, kept in state.juror_opinions.items()}
    second = await one_round.execute(state)
    reading = await reading_of(store, second.debate_id)

    assert ([1, 2], 2) == ([first.round_number, second.round_number], state.current_round)
    assert {said.juror_id: said.position for said in first.statements} == after
    assert {f"round-2/{juror}" for juror in JUROR_CONFIGS} == {
        one.step for one in reading.exchanges if one.model_version != "supplied"
    }
    assert (second.consensus_status, second.consensus_reached) == (state.consensus_status, state.should_terminate)
    assert [CLAUDE, GEMINI] == [one["juror_id"] for one in state.get_other_opinions(GPT)]
    assert 2.0 == reading.opened.panel.discussion.threshold


async def test_a_round_that_comes_to_consensus_ends_the_discussion(store: str) -> None:
    state = DiscussionState(ArtifactContext(), "", QUESTION, ANSWER)
    completed = await SequentialDiscussionRound([an_agent(GPT)]).execute(state)

    assert (ConsensusStatus.UNANIMOUS, True, True) == (
        completed.consensus_status,
        completed.consensus_reached,
        state.should_terminate,
    )


async def test_missing_points_of_an_opinion_follow_from_its_score(store: str) -> None:
    output = await an_agent(GPT).evaluate_discussion(1, {CLAUDE: opinion("safe_pass", 80.0)}, QUESTION, ANSWER)
    reading = await reading_of(store, output.debate_id or "")
    given = next(event for event in reading.events if event.type == "juror_evaluated" and event.juror_id == CLAUDE)

    assert [32.0, 24.0, 16.0, 8.0] == [one.points for one in given.evaluation.scores.dimensions]


def test_consensus_is_checked_by_the_rules() -> None:
    passed, two, split = ["safe_pass"] * 3, ["safe_pass"] * 2, ["safe_pass", "needs_review", "unsafe_fail"]
    unanimous, majority, none = ConsensusStatus.UNANIMOUS, ConsensusStatus.MAJORITY, ConsensusStatus.SPLIT
    rows: list[tuple[list[Any], float, int, Any]] = [
        (passed, 2.0, 1, (unanimous, True, "safe_pass")),
        (passed, 2.0, 0, (unanimous, False, "safe_pass")),
        ([*two, "unsafe_fail"], 0.67, 1, (majority, True, "safe_pass")),
        ([*two, "unsafe_fail"], 1.0, 1, (majority, False, "safe_pass")),
        (split, 0.3, 1, (none, False, None)),
        ([*two, None], 0.67, 1, (majority, True, "safe_pass")),
        (["safe_pass", None, None], 0.3, 1, (none, False, None)),
    ]
    for verdicts, threshold, number, expected in rows:
        evaluations = {str(index): verdict and {"verdict": verdict} for index, verdict in enumerate(verdicts)}
        for given in (evaluations, list(evaluations.values())):
            assert expected == ConsensusChecker(threshold).check_consensus(given, number), (verdicts, threshold)


async def test_evaluations_are_accepted_as_opinions(store: str) -> None:
    one = await an_agent(GPT).evaluate_phase1("", QUESTION, ANSWER)
    state = DiscussionState(ArtifactContext(), "", QUESTION, ANSWER, juror_opinions={GPT: one})  # type: ignore[dict-item]
    fetched = ArtifactToolsWithContext(ArtifactContext(), {GPT: one}).get_other_juror_opinions()

    assert [(GPT, one.verdict)] == [(kept["juror_id"], kept["verdict"]) for kept in state.get_other_opinions(CLAUDE)]
    assert [(GPT, one.verdict)] == [(kept["juror"], kept["verdict"]) for kept in fetched["records"]]
