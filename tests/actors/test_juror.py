"""A juror: what it asks its model, what it records, and when it says what came of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any

import pytest

from jury_actors.backoff import Backoff
from jury_actors.effects import Effects
from jury_actors.errors import Broken, Halted, Released
from jury_actors.juror import Juror
from jury_actors.messages import ForgetDebate, StepRequest, StepResult
from jury_debate.step_outcome import Answered, Blocked, Unanswered
from jury_events.case import ArtifactRecord
from jury_events.exchange import Usage
from jury_events.ids import calls_stream
from jury_events.outcome import CallOutcome, FailureReason
from jury_providers.provider import ModelReply, ModelRequest, Provider, RequestedTool
from jury_store.errors import EventConflict, StoreFailed
from support.debate_harness import a_case
from support.jurors import Asking, BlockableClerk, ScriptedProvider, results_of
from support.waiting import until

FAILED = ModelReply(CallOutcome.CONNECTION, error="reset by peer")
WITH_RECORDS = a_case(
    security_gate_records=tuple(ArtifactRecord.from_json({"verdict": "fail", "n": n}) for n in range(3)),
)
AT_ONCE = Backoff(base=0.0, cap=0.0)


class Bench:
    """A juror before a scripted provider and a clerk that can be blocked."""

    def __init__(
        self,
        *turns: Any,
        providers: dict[str, Provider] | None = None,
        backoff: Backoff = AT_ONCE,
        most: int | None = None,
        clerk: BlockableClerk | None = None,
    ) -> None:
        self.provider = ScriptedProvider(*turns, most=most)
        self.clerk = clerk or BlockableClerk()
        self.made: list[str] = []
        self.table = {"simulated": self.provider} if providers is None else providers

        def make(name: str) -> Provider:
            self.made.append(name)
            return self.table[name]

        ticks = count(1)
        self.juror = Juror(make, self.clerk, backoff=backoff, effects=Effects(clock=lambda: next(ticks)))

    async def ask(self, *asks: StepRequest) -> list[StepResult]:
        """Send requests and wait for their results."""
        await self.juror.submit(asks)
        async with asyncio.timeout(5):
            return await results_of(self.juror, len(asks))

    async def begin(self, *asks: StepRequest, calls: int = 1) -> None:
        """StepRequest, and wait until the provider was called so often."""
        await self.juror.submit(asks)
        await until(lambda: len(self.provider.requests) >= calls)


async def answers(bench: Bench, ask: StepRequest) -> list[StepResult]:
    """The results of this step, once one has no problem."""
    await bench.juror.submit([ask])
    results: list[StepResult] = []
    async with asyncio.timeout(5):
        while not any(one.step_id == ask.assignment.step.id and one.problem is None for one in results):
            results = await results_of(bench.juror, len(results) + 1)
    return [one for one in results if one.step_id == ask.assignment.step.id and one.problem is None]


@pytest.fixture
async def bench() -> AsyncIterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(*turns: Any, **options: Any) -> Bench:
        made.append(Bench(*turns, **options))
        return made[-1]

    yield make
    for one in made:
        one.clerk.open.set()
        await one.juror.close()


MakeBench = Callable[..., Bench]


async def test_a_step_comes_to_an_evaluation(bench: MakeBench) -> None:
    (results,) = await bench().ask(Asking().ask())

    assert ("d1", "initial/gpt", None) == (results.debate_id, results.step_id, results.problem)
    assert isinstance(results.outcome, Answered)


async def test_the_exchange_is_recorded_as_it_was_sent_and_answered(bench: MakeBench) -> None:
    reply = ModelReply(
        CallOutcome.ANSWERED,
        answer=b"no JSON",
        response=b'{"raw": true}',
        model_version="m-2",
        finish_reason="stop",
        usage=Usage(input_tokens=7, output_tokens=2),
        cost=0.5,
        request_id="req-1",
    )
    it = bench(reply)
    asking = Asking()
    await it.ask(asking.ask())
    first = it.clerk.exchanges()[0]

    assert "initial/gpt/simulated%2Fjuror/1/1" == first.event_id
    assert ("m-2", "stop", 0.5, "req-1", True) == (
        first.model_version,
        first.finish_reason,
        first.cost,
        first.request_id,
        first.simulated,
    )
    assert Usage(input_tokens=7, output_tokens=2) == first.usage
    assert first.answer is not None
    assert first.response is not None
    assert ("no JSON", '{"raw": true}') == (it.clerk.text(first.answer.digest), it.clerk.text(first.response.digest))
    assert ["".join(asking.texts[ref.part].decode() for ref in message.parts) for message in first.request] == [
        message.text for message in it.provider.requests[0].messages
    ]


async def test_no_result_is_sent_before_the_exchange_is_durable(bench: MakeBench) -> None:
    it = bench()
    it.clerk.open.clear()
    await it.begin(Asking().ask())
    await until(lambda: it.clerk.batches)
    telling = asyncio.create_task(results_of(it.juror))
    for _ in range(50):
        await asyncio.sleep(0)
    early = telling.done()
    it.clerk.open.set()

    assert not early
    assert isinstance((await telling)[0].outcome, Answered)


async def test_no_further_call_is_made_before_the_exchange_is_durable(bench: MakeBench) -> None:
    it = bench(FAILED)
    it.clerk.open.clear()
    await it.begin(Asking().ask())
    await until(lambda: it.clerk.batches)
    for _ in range(50):
        await asyncio.sleep(0)

    assert len(it.provider.requests) == 1


@pytest.mark.parametrize("how", ["refusal", "failure"])
async def test_an_exchange_that_is_not_kept_gives_a_problem_and_no_outcome(bench: MakeBench, how: str) -> None:
    it = bench()
    setattr(it.clerk, how, StoreFailed("disk full"))
    (results,) = await it.ask(Asking().ask())

    assert results.outcome is None
    assert isinstance(results.problem, StoreFailed)


async def test_after_a_problem_the_step_can_be_asked_again(bench: MakeBench) -> None:
    it = bench()
    it.clerk.refusal = EventConflict("stored otherwise")
    await it.ask(Asking().ask())
    await until(lambda: not it.juror._working)
    await it.juror.submit([Asking().ask()])
    results = await results_of(it.juror, 2)

    assert [True, False] == [one.outcome is None for one in results]


async def test_a_step_asked_while_it_is_being_done_costs_no_second_call(bench: MakeBench) -> None:
    it = bench()
    it.provider.open.clear()
    await it.begin(Asking().ask())
    await it.juror.submit([Asking().ask()])
    it.provider.open.set()
    await results_of(it.juror)

    assert len(it.provider.requests) == 1


async def test_a_step_requested_again_when_it_is_done_has_the_same_result_without_a_call(bench: MakeBench) -> None:
    it = bench()
    (first,) = await it.ask(Asking().ask())
    await it.juror.submit([Asking().ask()])
    again = (await results_of(it.juror, 2))[-1]

    assert first == again
    assert len(it.provider.requests) == 1


async def test_no_further_call_is_made_for_a_debate_that_was_released(bench: MakeBench) -> None:
    it = bench(ModelReply(CallOutcome.ANSWERED, answer=b"prose, which would be repaired"))
    it.provider.open.clear()
    await it.begin(Asking().ask())
    await it.juror.submit([ForgetDebate("d1")])
    it.provider.open.set()
    (results,) = await results_of(it.juror)

    assert isinstance(results.problem, Released)
    assert 1 == len(it.provider.requests) == len(it.clerk.exchanges())


async def test_a_debate_that_was_released_is_forgotten(bench: MakeBench) -> None:
    it = bench()
    await it.ask(Asking().ask())
    await it.juror.submit([ForgetDebate("d1")])

    assert ({}, {}) == (it.juror._texts, it.juror._results)


async def test_exchanges_that_are_recorded_are_not_asked_again(bench: MakeBench) -> None:
    clerk = BlockableClerk()
    before = bench(ModelReply(CallOutcome.ANSWERED, answer=b"no JSON"), clerk=clerk)
    before.clerk.open.clear()
    await before.begin(Asking().ask())
    await until(lambda: clerk.batches)
    before.provider.open.clear()
    clerk.open.set()
    await before.begin(calls=2)
    await before.juror.close()
    stored = clerk.store.read_stream(calls_stream("d1"))[:1]
    after = bench(clerk=BlockableClerk(clerk.store))
    (results,) = await after.ask(Asking().ask(prior=stored, stored=clerk.store))

    assert ["d1/initial/gpt/simulated%2Fjuror/2/1"] == after.provider.traces
    assert isinstance(results.outcome, Answered)
    assert 2 == len(results.outcome.exchanges)


async def test_a_recorded_answer_alone_gives_the_outcome_without_any_call(bench: MakeBench) -> None:
    clerk = BlockableClerk()
    await bench(clerk=clerk).ask(Asking().ask())
    after = bench(clerk=clerk)
    prior = clerk.store.read_stream(calls_stream("d1"))
    (results,) = await after.ask(Asking().ask(prior=prior, stored=clerk.store))

    assert isinstance(results.outcome, Answered)
    assert not after.provider.requests


async def test_an_exchange_that_an_earlier_process_recorded_meanwhile_is_a_problem_not_an_outcome(
    bench: MakeBench,
) -> None:
    clerk = BlockableClerk()
    await bench(clerk=clerk).ask(Asking().ask())
    (results,) = await bench(clerk=clerk).ask(Asking().ask())

    assert isinstance(results.problem, EventConflict)


async def test_an_exchange_recorded_meanwhile_with_the_same_words_is_no_outcome_either(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its texts are kept under the first writer's references: ours would name texts that are nowhere.
    monkeypatch.setattr("jury_actors.juror.time.perf_counter", lambda: 1.0)
    clerk = BlockableClerk()
    await bench(clerk=clerk).ask(Asking().ask())
    (results,) = await bench(clerk=clerk).ask(Asking().ask())

    assert isinstance(results.problem, EventConflict)


async def test_every_call_has_a_trace_that_names_debate_step_model_turn_and_try(bench: MakeBench) -> None:
    it = bench(FAILED, ModelReply(CallOutcome.ANSWERED, answer=b"prose"))
    await it.ask(Asking().ask())

    assert [f"d1/initial/gpt/simulated%2Fjuror/{end}" for end in ("1/1", "1/2", "2/1")] == it.provider.traces


async def test_a_model_is_called_by_its_name_without_the_provider(bench: MakeBench) -> None:
    it = bench()
    await it.ask(Asking().ask())

    assert "juror" == it.provider.requests[0].model


async def test_a_provider_is_made_once_however_many_steps_use_it(bench: MakeBench) -> None:
    it = bench()
    await it.ask(Asking().ask("gpt"), Asking().ask("claude"), Asking().ask("gemini"))

    assert ["simulated"] == it.made


async def test_closing_a_juror_gives_up_its_calls_and_closes_its_providers(bench: MakeBench) -> None:
    it = bench()
    it.provider.open.clear()
    await it.begin(Asking().ask())
    await it.juror.close()

    assert (0, True) == (it.provider.running, it.provider.closed)
    assert not it.clerk.batches


async def test_closing_a_juror_waits_until_answers_are_recorded(bench: MakeBench) -> None:
    it = bench()
    it.clerk.open.clear()
    await it.begin(Asking().ask())
    await until(lambda: it.clerk.batches)
    closing = asyncio.create_task(it.juror.close())
    for _ in range(50):
        await asyncio.sleep(0)
    early = closing.done()
    it.clerk.open.set()
    await closing

    assert not early
    assert 1 == len(it.clerk.exchanges())


async def test_a_call_without_an_answer_in_time_is_recorded_as_a_timeout(bench: MakeBench) -> None:
    it = bench()
    it.provider.open.clear()
    seats = [{"model": "simulated/juror", "juror_id": "gpt", "settings": {"timeout_seconds": 0.01, "tries": 1}}]
    (results,) = await it.ask(Asking(seats=seats).ask())

    assert [CallOutcome.TIMEOUT] == [exchange.outcome for exchange in it.clerk.exchanges()]
    assert Unanswered(FailureReason.TIMEOUT, None, ("initial/gpt/simulated%2Fjuror/1/1",)) == results.outcome


async def test_the_time_in_a_queue_is_no_part_of_the_timeout(bench: MakeBench) -> None:
    it = bench(most=1)
    it.provider.open.clear()
    seats = [
        {"model": "simulated/juror", "juror_id": juror, "settings": {"timeout_seconds": seconds, "tries": 1}}
        for juror, seconds in (("slow", 30), ("quick", 0.01))
    ]
    asking = Asking(seats=seats)
    await it.begin(asking.ask("slow"), asking.ask("quick"))
    await asyncio.sleep(0.03)
    it.provider.open.set()
    await results_of(it.juror, 2)

    assert [CallOutcome.ANSWERED] * 2 == [exchange.outcome for exchange in it.clerk.exchanges()]


async def test_a_call_that_fails_for_a_while_is_tried_again_as_often_as_the_seat_says(bench: MakeBench) -> None:
    it = bench(*[FAILED] * 5)
    (results,) = await it.ask(Asking().ask())

    assert [CallOutcome.CONNECTION] * 4 == [exchange.outcome for exchange in it.clerk.exchanges()]
    assert isinstance(results.outcome, Unanswered)


async def test_before_a_further_try_it_waits_as_the_backoff_says(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        if seconds:
            waits.append(seconds)
        await sleep(0)

    limited = ModelReply(CallOutcome.RATE_LIMITED, error="slow down", retry_after=5.0)
    it = bench(limited, FAILED, backoff=Backoff(base=0.0))
    monkeypatch.setattr(asyncio, "sleep", noted)
    await it.ask(Asking().ask())

    assert [5.0] == waits


async def test_no_more_calls_at_once_than_the_provider_bears(bench: MakeBench) -> None:
    it = bench(most=2)
    it.provider.open.clear()
    await it.juror.submit([Asking().ask(seat) for seat in ("gpt", "claude", "gemini")])
    await until(lambda: it.provider.running == 2)
    for _ in range(20):
        await asyncio.sleep(0)
    before = it.provider.most_running
    it.provider.open.set()
    await results_of(it.juror, 3)

    assert (2, 2) == (before, it.provider.most_running)


async def test_a_model_that_fails_is_followed_by_the_fallback_of_another_provider(bench: MakeBench) -> None:
    broken = ScriptedProvider(*[ModelReply(CallOutcome.BAD_REQUEST, error="no such model")])
    spare = ScriptedProvider()
    it = bench(providers={"first": broken, "second": spare})
    seats = [{"model": "first/a", "juror_id": "gpt", "fallbacks": ["second/b"]}]
    (results,) = await it.ask(Asking(seats=seats).ask())

    assert (["d1/initial/gpt/first%2Fa/1/1"], ["d1/initial/gpt/second%2Fb/1/1"]) == (broken.traces, spare.traces)
    assert isinstance(results.outcome, Answered)
    assert "second/b" == results.outcome.model


async def test_a_blocked_answer_is_an_outcome_of_its_own(bench: MakeBench) -> None:
    (results,) = await bench(ModelReply(CallOutcome.BLOCKED, error="safety")).ask(Asking().ask())

    assert isinstance(results.outcome, Blocked)


async def test_a_provider_that_breaks_gives_its_problem_and_leaves_other_steps_alone(bench: MakeBench) -> None:
    it = bench(RuntimeError("a bug in the adapter"))
    results = await it.ask(Asking().ask("gpt"), Asking().ask("claude"))
    by_step = {one.step_id: one for one in results}

    assert isinstance(by_step["initial/gpt"].problem, Broken)
    assert "debate d1, step initial/gpt: RuntimeError: a bug in the adapter" == str(by_step["initial/gpt"].problem)
    assert isinstance(by_step["initial/claude"].outcome, Answered)


async def test_an_ask_whose_texts_never_came_says_which_debate_lacks_them(bench: MakeBench) -> None:
    (results,) = await bench().ask(Asking().ask()._replace(texts={}))

    assert results.outcome is None
    assert "d1" in str(results.problem)


def wants(*names: str, arguments: str = "{}") -> ModelReply:
    tools = tuple(RequestedTool(f"call-{number}", name, arguments) for number, name in enumerate(names))
    return ModelReply(CallOutcome.ANSWERED, response=b"[tool use]", tool_calls=tools)


GATE = "fetch_security_gate_failures"


async def test_tools_are_offered_where_there_is_something_to_fetch(bench: MakeBench) -> None:
    it = bench()
    await it.ask(Asking(WITH_RECORDS).ask())
    plain = bench()
    await plain.ask(Asking().ask())

    assert GATE in [tool.name for tool in it.provider.requests[0].tools]
    assert () == plain.provider.requests[0].tools


async def test_a_tool_call_is_recorded_with_its_result(bench: MakeBench) -> None:
    it = bench(wants(GATE, arguments='{"max_records": 1}'))
    await it.ask(Asking(WITH_RECORDS).ask())
    (call,) = it.clerk.exchanges()[0].tool_calls
    given = it.provider.requests[1].messages[-1]

    assert (GATE, "call-0", True) == (call.name, call.call_id, call.ok)
    assert '{"max_records": 1}' == it.clerk.text(call.arguments.digest)
    assert ("tool", it.clerk.text(call.result.digest), "call-0") == (given.role, given.text, given.call_id)


async def test_the_result_of_a_tool_is_marked_as_data(bench: MakeBench) -> None:
    it = bench(wants(GATE))
    asking = Asking(WITH_RECORDS)
    await it.ask(asking.ask())
    (call,) = it.clerk.exchanges()[0].tool_calls

    assert asking.ask().assignment.marker in it.clerk.text(call.result.digest)


async def test_too_many_tool_calls_in_one_turn_are_refused_one_by_one(bench: MakeBench) -> None:
    it = bench(wants(GATE, GATE, GATE))
    await it.ask(Asking(WITH_RECORDS, artifacts={"max_calls": 2}).ask())
    calls = it.clerk.exchanges()[0].tool_calls

    assert [True, True, False] == [call.ok for call in calls]


async def test_of_tool_calls_by_the_thousand_only_the_first_are_recorded_one_by_one(bench: MakeBench) -> None:
    it = bench(wants(*[GATE] * 5000))
    (results,) = await it.ask(Asking(WITH_RECORDS).ask())

    assert isinstance(results.outcome, Answered)
    assert 100 == len(it.clerk.exchanges()[0].tool_calls)


async def test_a_tool_call_where_none_is_offered_is_answered_with_an_error(bench: MakeBench) -> None:
    it = bench(wants(GATE))
    (results,) = await it.ask(Asking().ask())

    assert [False] == [call.ok for call in it.clerk.exchanges()[0].tool_calls]
    assert isinstance(results.outcome, Answered)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 5000, "\ud800"])
async def test_a_tool_name_that_cannot_be_recorded_does_not_lose_the_answer(bench: MakeBench, name: str) -> None:
    it = bench(wants(name))
    (results,) = await it.ask(Asking(WITH_RECORDS).ask())

    assert isinstance(results.outcome, Answered)
    assert [False] == [call.ok for call in it.clerk.exchanges()[0].tool_calls]


async def test_arguments_with_a_lone_surrogate_are_no_reason_to_lose_the_answer(bench: MakeBench) -> None:
    (results,) = await bench(wants(GATE, arguments='{"max_records": "\ud800"}')).ask(Asking(WITH_RECORDS).ask())

    assert isinstance(results.outcome, Answered)


async def test_labels_of_a_provider_that_cannot_be_recorded_do_not_lose_the_answer(bench: MakeBench) -> None:
    def odd(request: ModelRequest) -> ModelReply:
        return ModelReply(
            CallOutcome.CONNECTION,
            error="broken \ud800",
            model_version="v" * 1000,
            finish_reason="",
            request_id="one\ntwo",
        )

    it = bench(odd)
    (results,) = await it.ask(Asking().ask())
    first = it.clerk.exchanges()[0]

    assert isinstance(results.outcome, Answered)
    assert ("v" * 200, None, "one two") == (first.model_version, first.finish_reason, first.request_id)


@pytest.mark.parametrize("outcome", [CallOutcome.AUTHENTICATION, CallOutcome.QUOTA])
async def test_a_halted_provider_is_called_again_once_no_stopped_debate_is_left(
    bench: Callable[..., Bench], outcome: CallOutcome
) -> None:
    one = bench(ModelReply(outcome, error="no"))
    (stopped,) = await one.ask(Asking().ask())
    await one.juror.submit([Asking().ask("claude")])
    _, still = await results_of(one.juror, 2)
    await one.juror.submit([ForgetDebate("d1")])
    (results,) = await answers(one, Asking().ask("claude"))

    assert (Halted, Halted) == (type(stopped.problem), type(still.problem))
    assert isinstance(results.outcome, Answered)


async def test_a_provider_that_could_not_be_made_is_made_again_for_the_next_step(bench: Callable[..., Bench]) -> None:
    one = bench(providers={})
    (broke,) = await one.ask(Asking().ask())
    one.table["simulated"] = one.provider
    results = await answers(one, Asking().ask("claude"))

    assert isinstance(broke.problem, Broken)
    assert isinstance(results[-1].outcome, Answered)


async def test_a_step_that_is_asked_again_makes_no_call_that_was_recorded_meanwhile(
    bench: Callable[..., Bench],
) -> None:
    old = bench()
    new = bench(clerk=old.clerk)
    (results,) = await old.ask(Asking().ask())
    (refused,) = await new.ask(Asking().ask()._replace(again=True))

    assert isinstance(results.outcome, Answered)
    assert isinstance(refused.problem, EventConflict)
    assert [] == new.provider.requests
