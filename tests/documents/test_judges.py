"""The juries of the documents: settings, one scenario and several, concurrent calls."""

import asyncio
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jury_events import Case, ExchangeRecorded, SettingError
from jury_judge import (
    ADKCollaborativeJuryJudge,
    ArtifactContext,
    CollaborativeJuryJudge,
    Records,
    RetiredModelWarning,
    Scenario,
)
from jury_store import SqliteLock, StoreError

SIMULATED: dict[str, Any] = {
    "jurors": ["simulated/a", "simulated/b", "simulated/c"],
    "final_judge_model": "simulated/judge",
}
RETIRED = pytest.mark.filterwarnings("ignore::jury_judge.documents.retired.RetiredModelWarning")
QUESTION, ANSWER = "Refund order 17.", "Refunded to 4242."


def prompts(reading: Any, exchange: ExchangeRecorded) -> str:
    refs = [ref.part for message in exchange.request for ref in message.parts]
    return "".join(reading.texts[ref].decode() for ref in refs)


@RETIRED
def test_defaults_are_those_of_the_documents() -> None:
    old, adk = CollaborativeJuryJudge(environ={}), ADKCollaborativeJuryJudge(environ={})

    assert ["gpt-4o", "claude-3-haiku-20240307", "gemini-2.5-flash"] == old.jurors == adk.jurors
    assert ("parallel", 2.0, False) == (
        old.panel.discussion.order,
        old.consensus_threshold,
        old.panel.discussion.always_discuss,
    )
    assert ("sequential", 0.67, True) == (
        adk.panel.discussion.order,
        adk.consensus_threshold,
        adk.panel.discussion.always_discuss,
    )
    for judge in (old, adk):
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

    assert (2, 1.0, "openai/gpt-5.5") == (said.max_discussion_rounds, said.consensus_threshold, said.final_judge_model)
    assert () == said.panel.final.judge.fallbacks, "a Claude stands in for a Gemini, not for this model"


@RETIRED
def test_claude_is_the_fallback_for_every_gemini_seat() -> None:
    judge = CollaborativeJuryJudge(["gemini-3.8-flash", "gpt-5.5"], final_judge_model="gemini-3.8-flash", environ={})
    claude = ("anthropic/claude-haiku-5-5",)

    assert [claude, ()] == [seat.fallbacks for seat in judge.panel.seats]
    assert claude == judge.panel.final.judge.fallbacks


@RETIRED
def test_a_judge_model_is_ignored_by_a_method_without_a_judge() -> None:
    environ = {"JURY_FINAL_JUDGMENT_METHOD": "majority_vote"}
    judge = ADKCollaborativeJuryJudge(final_judge_model="gemini-2.5-pro", environ=environ)

    assert ("majority_vote", None) == (judge.final_judgment_method, judge.final_judge_model)


def test_retired_models_are_warned_of_with_their_replacements() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        CollaborativeJuryJudge(environ={})

    assert {RetiredModelWarning} == {one.category for one in said}
    assert {__file__} == {one.filename for one in said}
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
    pairs = [(f"Question {word}.", f"Answer {word}.") for word in ("alpha", "beta", "gamma")]
    result = await judge.evaluate_collaborative_batch(pairs, submission_id="abc123")
    async with Records(store) as records:
        reading = await records.read(result.debate_id)

        assert 1 == len(records.store.debates())
    assert ["scenario-1", "scenario-2", "scenario-3"] == [row.scenario_id for row in result.scenarios]
    assert 0 <= result.final_score <= 100
    for exchange in reading.exchanges:
        assert {"alpha", "beta", "gamma"} <= {
            word for word in ("alpha", "beta", "gamma") if word in prompts(reading, exchange)
        }


async def test_scenarios_may_have_ids(store: str) -> None:
    scenarios = [
        Scenario.model_validate({"scenario_id": name, "question": {"prompt": name}, "execution": {"response": "Yes."}})
        for name in ("first", "second")
    ]
    result = await CollaborativeJuryJudge(**SIMULATED).evaluate_collaborative_batch(scenarios)

    assert ["first", "second"] == [row.scenario_id for row in result.scenarios]


async def test_concurrent_calls_share_a_jury_and_the_last_closes_the_store(store: str, tmp_path: Path) -> None:
    one, other = CollaborativeJuryJudge(**SIMULATED), ADKCollaborativeJuryJudge(**SIMULATED)
    results = await asyncio.gather(
        *(judge.evaluate_collaborative(f"{QUESTION} {number}", ANSWER) for judge in (one, other) for number in range(5))
    )

    assert 10 == len({result.debate_id for result in results})
    SqliteLock.acquire(tmp_path / "jury.db", run="", wait=0).release()


async def test_a_store_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "jury.db").mkdir()
    judge = CollaborativeJuryJudge(**SIMULATED, store=f"sqlite:///{tmp_path / 'jury.db'}")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"jury\.db"):
            await judge.evaluate_collaborative(QUESTION, ANSWER)


async def test_a_cancelled_call_does_not_affect_others(store: str) -> None:
    judge = CollaborativeJuryJudge(**SIMULATED)
    tasks = [asyncio.create_task(judge.evaluate_collaborative(QUESTION, ANSWER)) for _ in range(3)]
    tasks[0].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(results[0], asyncio.CancelledError)
    assert ["completed"] * 2 == [result.status for result in results[1:]]  # type: ignore[union-attr]


def test_a_judge_works_in_one_event_loop_after_another(store: str) -> None:
    judge = CollaborativeJuryJudge(**SIMULATED)
    results = [asyncio.run(judge.evaluate_collaborative(QUESTION, ANSWER)) for _ in range(2)]

    assert results[0].debate_id != results[1].debate_id


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
    context = ArtifactContext(security_gate_uri=path)
    judge = CollaborativeJuryJudge(**SIMULATED)
    result = await judge.evaluate_collaborative(QUESTION, ANSWER, artifact_context=context)
    async with judge.jury() as jury:
        opened = (await jury.read(result.debate_id)).opened

    assert 2 == opened.security_gate_records
    with pytest.raises(SettingError, match="artifact_context"):
        await judge.evaluate_collaborative(QUESTION, ANSWER, [], artifact_context=context)


@dataclass
class OwnQuestion:
    prompt: str
    question_id: str = "q-17"


@dataclass
class OwnExecution:
    response: str
    messages: list[dict[str, str]] = field(default_factory=list)


@pytest.mark.parametrize(
    ("question", "execution"),
    [
        (OwnQuestion(QUESTION), OwnExecution(ANSWER, [{"role": "user", "content": QUESTION}])),
        ({"prompt": QUESTION}, {"response": ANSWER, "messages": [{"role": "user", "content": QUESTION}]}),
    ],
    ids=["objects", "tables"],
)
async def test_questions_and_executions_may_be_other_objects_or_mappings(
    store: str, question: Any, execution: Any
) -> None:
    judge = CollaborativeJuryJudge(**SIMULATED)
    result = await judge.evaluate_collaborative(question, execution)
    async with judge.jury() as jury:
        reading = await jury.read(result.debate_id)
    case = Case.from_part(reading.texts[reading.opened.case.part])

    assert (QUESTION, ANSWER) == (case.scenarios[0].question.prompt, case.scenarios[0].execution.response)
    items = case.scenarios[0].execution.transcript.items
    assert [("user", QUESTION)] == [(item.kind, getattr(item, "text", None)) for item in items]
