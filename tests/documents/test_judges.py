"""The juries of the documents: settings, one scenario and several, concurrent calls."""

import asyncio
import warnings
from pathlib import Path
from typing import Any

import pytest

from jury_events import ExchangeRecorded
from jury_judge import (
    ADKCollaborativeJuryJudge,
    ArtifactContext,
    CollaborativeJuryJudge,
    QuestionSpec,
    Records,
    RetiredModelWarning,
    Scenario,
)
from jury_store import SqliteLock, StoreError

SIMULATED: dict[str, Any] = {
    "jurors": ["simulated/a", "simulated/b", "simulated/c"],
    "final_judge_model": "simulated/judge",
}
RETIRED = pytest.mark.filterwarnings("ignore::jury_judge.documents.seating.RetiredModelWarning")
QUESTION, ANSWER = "Refund order 17.", "Refunded to 4242."


def prompts(reading: Any, exchange: ExchangeRecorded) -> str:
    refs = [ref.part for message in exchange.request for ref in message.parts]
    return "".join(reading.texts[ref].decode() for ref in refs)


@RETIRED
def test_defaults_are_those_of_the_documents() -> None:
    for kind, rules in {
        CollaborativeJuryJudge: ("parallel", 2.0, False),
        ADKCollaborativeJuryJudge: ("sequential", 0.67, True),
    }.items():
        judge = kind(environ={})
        discussion = judge.panel.discussion

        assert rules == (discussion.order, judge.consensus_threshold, discussion.always_discuss)
        assert ["gpt-4o", "claude-3-haiku-20240307", "gemini-2.5-flash"] == judge.jurors
        assert (3, "final_judge", "google/gemini-2.5-pro") == (
            judge.max_discussion_rounds,
            judge.final_judgment_method,
            judge.final_judge_model,
        )


@RETIRED
def test_an_argument_overrides_a_variable_and_a_variable_the_default() -> None:
    environ = {
        "JURY_MAX_DISCUSSION_ROUNDS": "1",
        "JURY_CONSENSUS_THRESHOLD": "1.0",
        "JURY_FINAL_JUDGE_MODEL": "gpt-5.5",
    }
    said = ADKCollaborativeJuryJudge(max_discussion_rounds=2, environ=environ)
    voted = ADKCollaborativeJuryJudge(
        final_judge_model="gemini-2.5-pro", environ={"JURY_FINAL_JUDGMENT_METHOD": "majority_vote"}
    )

    assert (2, 1.0, "openai/gpt-5.5") == (said.max_discussion_rounds, said.consensus_threshold, said.final_judge_model)
    assert () == said.panel.final.judge.fallbacks, "a Claude stands in for a Gemini, not for this model"
    assert ("majority_vote", None) == (voted.final_judgment_method, voted.final_judge_model)


def test_the_variable_of_document_004_turns_its_discussion_off() -> None:
    off = {"JURY_USE_COLLABORATIVE": "false"}
    alone = CollaborativeJuryJudge(environ={**off, "JURY_FINAL_JUDGMENT_METHOD": "final_judge"}, **SIMULATED)
    explicit = CollaborativeJuryJudge(
        max_discussion_rounds=2, final_judgment_method="final_judge", environ=off, **SIMULATED
    )
    adk = ADKCollaborativeJuryJudge(environ=off, **SIMULATED)
    on = CollaborativeJuryJudge(environ={"JURY_USE_COLLABORATIVE": "true"}, **SIMULATED)

    assert [("majority_vote", 0), ("final_judge", 2), ("final_judge", 3), ("final_judge", 3)] == [
        (one.final_judgment_method, one.max_discussion_rounds) for one in (alone, explicit, adk, on)
    ]
    assert alone.final_judge_model is None


@RETIRED
def test_claude_is_the_fallback_for_every_gemini_seat() -> None:
    judge = CollaborativeJuryJudge(["gemini-3.8-flash", "gpt-5.5"], final_judge_model="gemini-3.8-flash", environ={})
    claude = ("anthropic/claude-haiku-5-5",)

    assert [claude, ()] == [seat.fallbacks for seat in judge.panel.seats]
    assert claude == judge.panel.final.judge.fallbacks


def test_retired_models_are_warned_of_with_their_replacements() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        CollaborativeJuryJudge(environ={})

    assert {(RetiredModelWarning, __file__)} == {(one.category, one.filename) for one in said}
    assert any("claude-3-haiku-20240307 was retired" in str(one.message) for one in said)
    assert all("; ask " in str(one.message) for one in said)


@RETIRED
def test_other_jurors_have_their_order_and_their_quorum() -> None:
    judge = CollaborativeJuryJudge(
        jurors=["gemini-2.5-flash", "gpt-5.5", "gpt-5.5", "gpt-4o", "simulated/x"], environ={}
    )

    assert ["gemini-2.5-flash", "gpt-5.5", "gpt-5.5-2", "gpt-4o", "x"] == judge.jurors
    assert 3 == judge.panel.final.quorum
    assert "misuse_detection" == judge.panel.seats[0].role
    assert judge.panel.discussion.speakers.base == judge.panel.juror_ids


async def test_several_scenarios_are_judged_in_one_debate_that_lists_them_all(store: str) -> None:
    judge = CollaborativeJuryJudge(**SIMULATED)
    words = ("alpha", "beta", "gamma")
    named = Scenario.model_validate(
        {"scenario_id": "third", "question": {"prompt": "gamma"}, "execution": {"response": "Yes."}}
    )
    pairs = [("Question alpha.", "Answer alpha."), (QuestionSpec(prompt="beta"), "Answer beta.")]
    result = await judge.evaluate_collaborative_batch([*pairs, named], submission_id="abc123")
    async with judge.jury() as jury:
        reading = await jury.read(result.debate_id)

        assert 1 == len(jury.store.debates())
    assert ["scenario-1", "scenario-2", "third"] == [row.scenario_id for row in result.scenario_results]
    assert 0 <= result.final_score <= 100
    for exchange in reading.exchanges:
        assert all(word in prompts(reading, exchange) for word in words)


async def test_the_callback_may_be_async_and_gets_the_submission_id(store: str) -> None:
    received: list[dict[str, Any]] = []

    async def hear(event: dict[str, Any]) -> None:
        received.append(event)

    judge = ADKCollaborativeJuryJudge(**SIMULATED)
    result = await judge.evaluate_collaborative(QUESTION, ANSWER, sse_callback=hear, submission_id="abc123")

    assert {"abc123"} == {event["submissionId"] for event in received if event["type"] == "juror_statement"}
    assert result.final_score == received[-1]["score"]
    assert ("abc123", "abc123") == (result.submission_id, result.case_id)


async def test_records_may_be_files(store: str, tmp_path: Path) -> None:
    path = tmp_path / "gate.jsonl"
    path.write_text('{"verdict": "fail"}\n{"verdict": "pass"}\n')
    judge = CollaborativeJuryJudge(**SIMULATED)
    result = await judge.evaluate_collaborative(
        QUESTION, ANSWER, artifact_context=ArtifactContext(security_gate_uri=path)
    )
    async with Records(store) as records:
        opened = (await records.read(result.debate_id)).opened

    assert 2 == opened.security_gate_records


async def test_concurrent_calls_share_a_jury_and_the_last_closes_the_store(store: str, tmp_path: Path) -> None:
    judges = (CollaborativeJuryJudge(**SIMULATED), ADKCollaborativeJuryJudge(**SIMULATED))
    tasks = [
        asyncio.create_task(judge.evaluate_collaborative(f"{QUESTION} {number}", ANSWER))
        for judge in judges
        for number in range(3)
    ]
    tasks[0].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(results[0], asyncio.CancelledError)
    assert ["completed"] * 5 == [result.status for result in results[1:]]  # type: ignore[union-attr]
    assert 5 == len({result.debate_id for result in results[1:]})  # type: ignore[union-attr]
    SqliteLock.acquire(tmp_path / "jury.db", run="", wait=0).release()


def test_a_judge_works_in_one_event_loop_after_another(store: str) -> None:
    judge = CollaborativeJuryJudge(**SIMULATED)
    results = [asyncio.run(judge.evaluate_collaborative(QUESTION, ANSWER)) for _ in range(2)]

    assert results[0].debate_id != results[1].debate_id


async def test_a_store_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "jury.db").mkdir()
    judge = CollaborativeJuryJudge(**SIMULATED, store=f"sqlite:///{tmp_path / 'jury.db'}")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"jury\.db"):
            await judge.evaluate_collaborative(QUESTION, ANSWER)
