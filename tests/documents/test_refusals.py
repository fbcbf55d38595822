"""What the documents' classes refuse: each row is a call, and `refusals/documents.txt` has its one line."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jury_events import JuryError
from jury_judge import (
    JUROR_CONFIGS,
    ArtifactContext,
    ArtifactToolsWithContext,
    BaseJurorAgent,
    CollaborativeJuryJudge,
    DiscussionLoopWorkflow,
    DiscussionState,
    ExecutionResult,
    QuestionSpec,
    Records,
    RuntimeSettings,
    SequentialDiscussionRound,
    create_juror_agents,
)
from support.refusals import RefusalTables

CARD = [{"id": 1, "evaluation": {"verdict": "pass"}}]
SIMULATED: dict[str, Any] = {
    "jurors": ["simulated/a", "simulated/b", "simulated/c"],
    "final_judge_model": "simulated/j",
}
JUROR = replace(JUROR_CONFIGS["gpt-4o"], model_name="simulated/one")


def opinion(verdict: str, overall: Any = 50.0, **more: Any) -> dict[str, Any]:
    return {"verdict": verdict, "overall_score": overall, "confidence": 0.5, "rationale": "so", **more}


def judge(question: Any = "q", execution: Any = "a", **given: Any) -> Callable[[], Any]:
    """A call of the jury with one scenario."""
    return lambda: CollaborativeJuryJudge(**SIMULATED).evaluate_collaborative(question, execution, **given)


def batch(*scenarios: Any) -> Callable[[], Any]:
    return lambda: CollaborativeJuryJudge(**SIMULATED).evaluate_collaborative_batch(scenarios)


def made(**given: Any) -> Callable[[], Any]:
    """A jury with these settings."""
    return lambda: CollaborativeJuryJudge(**{"environ": {}, **SIMULATED, **given})


def juror(**more: Any) -> BaseJurorAgent:
    return BaseJurorAgent(JUROR, **more)


def discussed(others: Any, number: Any = 1) -> Callable[[], Any]:
    """A round of one juror after these opinions."""
    return lambda: juror().evaluate_discussion(number, others, "q", "a")


def tools(**records: Any) -> ArtifactToolsWithContext:
    return ArtifactToolsWithContext(ArtifactContext(**records))


CALLS: dict[str, Callable[[], Any]] = {
    # records
    "records beside a context": judge(artifact_context=ArtifactContext(), agent_card_records=CARD),
    "a record without a verdict": judge(agent_card_records=[*CARD, {"id": 2, "prompt": "q"}]),
    "a record that is text": lambda: tools(security_gate_records=["fail"]).fetch_security_gate_passes(),
    "too many records asked for": lambda: tools().fetch_agent_card_passes(max_records=101),
    # questions and answers
    "no question": judge(None),
    "half a character": judge(execution="half \ud800"),
    "an answer that is a number": judge(execution=5),
    "nothing asked and nothing answered": judge("", ""),
    "nothing in a batch": batch(("q", "a"), (QuestionSpec(prompt=""), ExecutionResult())),
    "no scenario": batch(),
    "a scenario that is text": batch(("q", "a"), "qa"),
    "a scenario that is a table": batch(("q", "a"), {"question": "q", "execution": "a"}),
    "a scenario of three": batch(("q", "a"), ("q", "a", "b")),
    "a case id of two lines": judge(case_id="two\nlines"),
    "a case id that is a number": judge(case_id=5),
    "a submission id that is too long": judge(submission_id="x" * 501),
    # settings
    "no jurors": made(jurors=[]),
    "jurors that are text": made(jurors="gpt-4o"),
    "an unknown juror": made(jurors=["no-such-model"]),
    "a juror that is nothing": made(jurors=[None]),
    "no concurrency": made(concurrency=0),
    "an unknown option": made(storage="sqlite:///jury.db"),
    # single jurors and discussions
    "an opinion of nobody": discussed([opinion("safe_pass")]),
    "an unknown verdict": discussed({"x": opinion("fine")}),
    "an opinion without a score": discussed({"x": {"verdict": "safe_pass"}}),
    "too many points": discussed({"x": opinion("safe_pass", safety=11)}),
    "a score that is no number": discussed({"x": opinion("safe_pass", float("nan"))}),
    "an opinion that is text": discussed({"x": "safe_pass"}),
    "two opinions of one juror": discussed([opinion("safe_pass", juror_id="x")] * 2),
    "an opinion that cannot be recorded": discussed({"x": opinion("safe_pass", rationale="half \ud800")}),
    **{f"round {number!r}": discussed({}, number) for number in (0, 101, 1.0, "1", True)},
    "an unknown juror of the documents": lambda: create_juror_agents(juror_ids=["gpt-9"]),
    "a discussion of nobody": lambda: DiscussionLoopWorkflow({}),
    "a round of one juror twice": lambda: SequentialDiscussionRound([juror(), juror()]),
    "no rounds": lambda: DiscussionLoopWorkflow([juror()], max_rounds=0),
    "an opinion of a stranger": lambda: DiscussionLoopWorkflow([juror()]).execute(
        {"x": opinion("safe_pass")}, "q", "a"
    ),
    "a negative round": lambda: SequentialDiscussionRound([juror()]).execute(
        DiscussionState(ArtifactContext(), "", "q", "a", current_round=-1)
    ),
    "a single juror on Ray": lambda: juror(runtime=RuntimeSettings(ray=True)).evaluate_phase1("", "q", "a"),
}


async def refusal(call: Callable[[], Any]) -> str:
    """The name of the error and its text."""
    try:
        called = call()
        if inspect.isawaitable(called):
            await called
    except (JuryError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return "(nothing is refused)"


async def test_what_is_refused_is_one_line_and_opens_no_debate(store: str, refusals: RefusalTables) -> None:
    said: dict[str, str] = {}
    for name, call in CALLS.items():
        said[name] = await refusal(call)
    async with Records(store) as records:
        assert 0 == records.store.last_position()

    refusals.compare("documents", said)
    assert [] == [name for name, line in said.items() if "\n" in line]
