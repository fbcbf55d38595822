"""A juror: what it asks its model, what it records, and when it says what came of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from jury_actors import (
    Backoff,
    Broken,
    DecodedTexts,
    Effects,
    ForgetDebate,
    Halted,
    Juror,
    Released,
    StepExecution,
    StepRequest,
    StepResult,
)
from jury_debate import Answered, Blocked, Unanswered
from jury_events import ArtifactRecord, CallOutcome, Case, FailureReason, PartBuffer, Usage, calls_stream
from jury_providers import ModelReply, ModelRequest, Provider, RequestedTool
from jury_store import EventConflict, StoreFailed
from support.debate_harness import SEATS, DebateHarness, Says, a_case, a_panel
from support.each_row import each_row
from support.jurors import Asking, BlockableClerk, ScriptedProvider, results_of
from support.loop_clock import LoopClock
from support.waiting import until

FAILED = ModelReply(CallOutcome.CONNECTION, error="reset by peer")
WITH_RECORDS = a_case(
    security_gate_records=tuple(ArtifactRecord.from_json({"verdict": "fail", "n": n}) for n in range(3)),
)
AT_ONCE = Backoff(base=0.0, cap=0.0)


class JurorHarness:
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
        async with asyncio.timeout(120):
            return await results_of(self.juror, len(asks))

    async def begin(self, *asks: StepRequest, calls: int = 1) -> None:
        """StepRequest, and wait until the provider was called so often."""
        await self.juror.submit(asks)
        await until(lambda: len(self.provider.requests) >= calls)


async def answers(harness: JurorHarness, ask: StepRequest) -> list[StepResult]:
    """The results of this step, once one has no problem."""
    await harness.juror.submit([ask])
    results: list[StepResult] = []
    async with asyncio.timeout(120):
        while not any(one.step_id == ask.assignment.step.id and one.problem is None for one in results):
            results = await results_of(harness.juror, len(results) + 1)
    return [one for one in results if one.step_id == ask.assignment.step.id and one.problem is None]


@pytest.fixture
async def make_harness() -> AsyncIterator[Callable[..., JurorHarness]]:
    made: list[JurorHarness] = []

    def make(*turns: Any, **options: Any) -> JurorHarness:
        made.append(JurorHarness(*turns, **options))
        return made[-1]

    yield make
    for one in made:
        one.clerk.open.set()
        await one.juror.close()


MakeHarness = Callable[..., JurorHarness]


def wants(*names: str, arguments: str = "{}") -> ModelReply:
    tools = tuple(RequestedTool(f"call-{number}", name, arguments) for number, name in enumerate(names))
    return ModelReply(CallOutcome.ANSWERED, response=b"[tool use]", tool_calls=tools)


GATE = "fetch_security_gate_failures"
PROSE = ModelReply(CallOutcome.ANSWERED, answer=b"prose, which is to be repaired")


@each_row(
    ("turns", "calls", "outcome"),
    [
        ((), ["1/1"], Answered),
        ((FAILED, PROSE), ["1/1", "1/2", "2/1"], Answered),
        ((FAILED,) * 5, ["1/1", "1/2", "1/3", "1/4"], Unanswered),
        ((ModelReply(CallOutcome.BLOCKED, error="safety"),), ["1/1"], Blocked),
        ((wants(GATE),), ["1/1", "2/1"], Answered),
    ],
)
async def test_a_step_comes_to_its_outcome_by_calls_that_are_traced_and_recorded(
    make_harness: MakeHarness, turns: tuple[ModelReply, ...], calls: list[str], outcome: type
) -> None:
    """A trace names debate, step, model, turn and try."""
    harness = make_harness(*turns)
    (result,) = await harness.ask(Asking().ask())
    model = "initial/gpt/simulated%2Fjuror"

    assert ("d1", "initial/gpt", None, outcome) == (*result[:2], result.problem, type(result.outcome))
    assert [f"d1/{model}/{one}" for one in calls] == harness.provider.traces
    assert [f"{model}/{one}" for one in calls] == [one.event_id for one in harness.clerk.exchanges()]
    assert {"juror"} == {one.model for one in harness.provider.requests}


@each_row("turns", [(), (FAILED,)])
async def test_no_result_is_sent_before_the_exchange_is_durable(
    make_harness: MakeHarness, turns: tuple[ModelReply, ...]
) -> None:
    """And no further call is made."""
    harness = make_harness(*turns)
    harness.clerk.open.clear()
    await harness.begin(Asking().ask())
    await until(lambda: harness.clerk.batches)
    telling = asyncio.create_task(results_of(harness.juror))
    for _ in range(50):
        await asyncio.sleep(0)
    early, calls = telling.done(), len(harness.provider.requests)
    harness.clerk.open.set()

    assert (False, 1) == (early, calls)
    assert isinstance((await telling)[0].outcome, Answered)


@each_row("how", ["refusal", "failure"])
async def test_an_exchange_that_is_not_kept_gives_a_problem_and_the_step_can_be_asked_again(
    make_harness: MakeHarness, how: str
) -> None:
    harness = make_harness()
    setattr(harness.clerk, how, StoreFailed("disk full"))
    (failed,) = await harness.ask(Asking().ask())
    setattr(harness.clerk, how, None)
    await until(lambda: not harness.juror._working)
    await harness.juror.submit([Asking().ask()])
    again = (await results_of(harness.juror, 2))[-1]

    assert (None, StoreFailed) == (failed.outcome, type(failed.problem))
    assert isinstance(again.outcome, Answered)


async def test_a_step_requested_again_costs_no_call_while_it_is_done_and_when_it_is(make_harness: MakeHarness) -> None:
    harness = make_harness()
    harness.provider.open.clear()
    await harness.begin(Asking().ask())
    await harness.juror.submit([Asking().ask()])
    harness.provider.open.set()
    (first,) = await results_of(harness.juror)
    await harness.juror.submit([Asking().ask()])
    again = (await results_of(harness.juror, 2))[-1]
    await harness.juror.submit([ForgetDebate("d1")])

    assert first == again
    assert 1 == len(harness.provider.requests)
    assert ({}, {}) == (harness.juror._texts, harness.juror._results)


@each_row(("again", "same_words"), [(False, False), (False, True), (True, False)])
async def test_an_exchange_that_another_process_recorded_meanwhile_is_a_problem_and_no_outcome(
    make_harness: MakeHarness, monkeypatch: pytest.MonkeyPatch, *, again: bool, same_words: bool
) -> None:
    """Its texts are kept under the first writer's references. A step that is asked again makes no call at all."""
    with monkeypatch.context() as patched:
        if same_words:
            patched.setattr("jury_actors.juror.time", SimpleNamespace(perf_counter=lambda: 1.0))
        old = make_harness()
        new = make_harness(clerk=old.clerk)
        await old.ask(Asking().ask())
        (result,) = await new.ask(Asking().ask()._replace(again=again))

    assert isinstance(result.problem, EventConflict)
    assert (not again) == len(new.provider.requests)


async def test_the_exchange_is_recorded_as_it_was_sent_and_answered(make_harness: MakeHarness) -> None:
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
    harness = make_harness(reply)
    asking = Asking()
    await harness.ask(asking.ask())
    first = harness.clerk.exchanges()[0]

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
    assert ("no JSON", '{"raw": true}') == (
        harness.clerk.text(first.answer.digest),
        harness.clerk.text(first.response.digest),
    )
    assert ["".join(asking.texts[ref.part].decode() for ref in message.parts) for message in first.request] == [
        message.whole for message in harness.provider.requests[0].messages
    ]


async def test_no_further_call_is_made_for_a_debate_that_was_released(make_harness: MakeHarness) -> None:
    harness = make_harness(PROSE)
    harness.provider.open.clear()
    await harness.begin(Asking().ask())
    await harness.juror.submit([ForgetDebate("d1")])
    harness.provider.open.set()
    (result,) = await results_of(harness.juror)

    assert isinstance(result.problem, Released)
    assert 1 == len(harness.provider.requests) == len(harness.clerk.exchanges())


async def test_a_step_of_a_stopped_debate_that_waits_to_try_again_ends_at_once_without_a_call(
    make_harness: MakeHarness,
) -> None:
    harness = make_harness(FAILED, backoff=Backoff(base=10_000.0, cap=10_000.0))
    await harness.begin(Asking().ask())
    await until(harness.clerk.exchanges)
    await harness.juror.submit([ForgetDebate("d1", stop=True)])
    async with asyncio.timeout(120):
        (result,) = await results_of(harness.juror)

    assert isinstance(result.problem, Released)
    assert len(harness.provider.requests) == 1


@each_row("stop", [True, False])
async def test_a_step_that_is_stopped_in_the_batch_that_requests_it_has_a_result(
    make_harness: MakeHarness, stop: bool
) -> None:
    """As the successor of a juror that died gets them, if the run was cancelled meanwhile."""
    harness = make_harness()
    await harness.juror.submit([Asking().ask(), ForgetDebate("d1", stop=stop)])
    async with asyncio.timeout(120):
        (result,) = await results_of(harness.juror)

    assert isinstance(result.problem, Released)
    assert not harness.provider.requests


@each_row("seed", range(8))
async def test_every_request_has_a_result_whatever_the_order_of_the_messages(
    make_harness: MakeHarness, seed: int
) -> None:
    """Requests, stops and forgetting of one debate, by two coordinators, in batches of any size, in calls or not."""
    random = Random(seed)
    harness = make_harness(*[FAILED] * random.randrange(4))
    waiting: set[str] = set()

    async def take(reply_to: str) -> None:
        incarnation, ack = "", 0
        while True:
            delivery = await harness.juror.poll(reply_to, incarnation, ack)
            incarnation, ack = delivery.incarnation, delivery.upto
            waiting.discard(reply_to)

    async def deliver(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)

    takers = [asyncio.create_task(take(name)) for name in ("one", "two")]
    for _ in range(random.randrange(1, 8)):
        await deliver(5)  # results of earlier requests are no answers to later ones
        batch: list[StepRequest | ForgetDebate] = []
        for _ in range(random.randrange(1, 4)):
            if random.random() < 0.4:
                batch.append(ForgetDebate("d1", stop=random.random() < 0.7))
            else:
                reply_to = random.choice(["one", "two"])
                batch.append(Asking().ask()._replace(reply_to=reply_to))
                waiting.add(reply_to)
        (harness.provider.open.set if random.random() < 0.5 else harness.provider.open.clear)()
        await harness.juror.submit(batch)
        await deliver(random.randrange(20))
    harness.provider.open.set()
    await until(lambda: not waiting)
    await deliver(5)
    waiting |= {"one", "two"}
    await harness.juror.submit([Asking().ask()._replace(reply_to=name) for name in ("one", "two")])
    await until(lambda: not waiting)
    for taker in takers:
        taker.cancel()
    ended = await asyncio.gather(*takers, return_exceptions=True)

    assert all(isinstance(one, asyncio.CancelledError) for one in ended)


async def test_exchanges_that_are_recorded_are_not_asked_again(make_harness: MakeHarness) -> None:
    clerk = BlockableClerk()
    before = make_harness(ModelReply(CallOutcome.ANSWERED, answer=b"no JSON"), clerk=clerk)
    before.clerk.open.clear()
    await before.begin(Asking().ask())
    await until(lambda: clerk.batches)
    before.provider.open.clear()
    clerk.open.set()
    await before.begin(calls=2)
    await before.juror.close()
    stored = clerk.store.read_stream(calls_stream("d1"))[:1]
    after = make_harness(clerk=BlockableClerk(clerk.store))
    (result,) = await after.ask(Asking().ask(prior=stored, stored=clerk.store))

    assert ["d1/initial/gpt/simulated%2Fjuror/2/1"] == after.provider.traces
    assert isinstance(result.outcome, Answered)
    assert 2 == len(result.outcome.exchanges)


async def test_closing_a_juror_gives_up_its_calls_and_closes_its_providers(make_harness: MakeHarness) -> None:
    harness = make_harness()
    harness.provider.open.clear()
    await harness.begin(Asking().ask())
    await harness.juror.close()

    assert (0, True) == (harness.provider.running, harness.provider.closed)
    assert not harness.clerk.batches


async def test_closing_a_juror_waits_until_answers_are_recorded(make_harness: MakeHarness) -> None:
    harness = make_harness()
    harness.clerk.open.clear()
    await harness.begin(Asking().ask())
    await until(lambda: harness.clerk.batches)
    closing = asyncio.create_task(harness.juror.close())
    for _ in range(50):
        await asyncio.sleep(0)
    early = closing.done()
    harness.clerk.open.set()
    await closing

    assert not early
    assert 1 == len(harness.clerk.exchanges())


async def test_a_call_without_an_answer_in_time_is_recorded_as_a_timeout(make_harness: MakeHarness) -> None:
    harness = make_harness()
    harness.provider.open.clear()
    seats = [{"model": "simulated/juror", "juror_id": "gpt", "settings": {"timeout_seconds": 0.01, "tries": 1}}]
    (result,) = await harness.ask(Asking(seats=seats).ask())

    assert [CallOutcome.TIMEOUT] == [exchange.outcome for exchange in harness.clerk.exchanges()]
    assert Unanswered(FailureReason.TIMEOUT, None, ("initial/gpt/simulated%2Fjuror/1/1",)) == result.outcome


async def test_the_time_in_a_queue_is_no_part_of_the_timeout(make_harness: MakeHarness) -> None:
    clock = LoopClock().of(asyncio.get_running_loop())
    harness = make_harness(most=1)
    harness.provider.open.clear()
    seats = [
        {"model": "simulated/juror", "juror_id": juror, "settings": {"timeout_seconds": seconds, "tries": 1}}
        for juror, seconds in (("slow", 3600), ("quick", 600))
    ]
    asking = Asking(seats=seats)
    await harness.begin(asking.ask("slow"), asking.ask("quick"))
    await until(lambda: harness.provider.running == 1)
    clock.forward(1800)
    for _ in range(10):  # what is due by now happens
        await asyncio.sleep(0)
    harness.provider.open.set()
    await results_of(harness.juror, 2)

    assert [CallOutcome.ANSWERED] * 2 == [exchange.outcome for exchange in harness.clerk.exchanges()]


async def test_before_a_further_try_it_waits_for_the_backoff(
    make_harness: MakeHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        if seconds:
            waits.append(seconds)
        await sleep(0)

    limited = ModelReply(CallOutcome.RATE_LIMITED, error="slow down", retry_after=5.0)
    harness = make_harness(limited, FAILED, backoff=Backoff(base=0.0))
    monkeypatch.setattr(asyncio, "sleep", noted)
    await harness.ask(Asking().ask())

    assert [5.0] == waits


async def test_no_more_concurrent_calls_than_the_provider_allows(make_harness: MakeHarness) -> None:
    harness = make_harness(most=2)
    harness.provider.open.clear()
    await harness.juror.submit([Asking().ask(seat) for seat in ("gpt", "claude", "gemini")])
    await until(lambda: harness.provider.running == 2)
    for _ in range(20):
        await asyncio.sleep(0)
    before = harness.provider.most_running
    harness.provider.open.set()
    await results_of(harness.juror, 3)

    assert (2, 2) == (before, harness.provider.most_running)


async def test_a_model_that_fails_is_followed_by_the_fallback_of_another_provider(make_harness: MakeHarness) -> None:
    broken, spare = ScriptedProvider(ModelReply(CallOutcome.BAD_REQUEST, error="no such model")), ScriptedProvider()
    harness = make_harness(providers={"first": broken, "second": spare})
    seats = [{"model": "first/a", "juror_id": "gpt", "fallbacks": ["second/b"]}]
    (result,) = await harness.ask(Asking(seats=seats).ask())

    assert (["d1/initial/gpt/first%2Fa/1/1"], ["d1/initial/gpt/second%2Fb/1/1"]) == (broken.traces, spare.traces)
    assert isinstance(result.outcome, Answered)
    assert "second/b" == result.outcome.model


async def test_a_provider_that_breaks_gives_its_problem_and_leaves_other_steps_alone(make_harness: MakeHarness) -> None:
    harness = make_harness(RuntimeError("a bug in the adapter"))
    results = await harness.ask(Asking().ask("gpt"), Asking().ask("claude"))
    by_step = {one.step_id: one for one in results}

    assert isinstance(by_step["initial/gpt"].problem, Broken)
    assert "debate d1, step initial/gpt: RuntimeError: a bug in the adapter" == str(by_step["initial/gpt"].problem)
    assert isinstance(by_step["initial/claude"].outcome, Answered)


async def test_a_request_without_its_texts_names_the_debate_that_lacks_them(make_harness: MakeHarness) -> None:
    (result,) = await make_harness().ask(Asking().ask()._replace(texts={}))

    assert result.outcome is None
    assert "d1" in str(result.problem)


async def test_tools_are_offered_where_there_is_something_to_fetch(make_harness: MakeHarness) -> None:
    harness = make_harness()
    await harness.ask(Asking(WITH_RECORDS).ask())
    plain = make_harness()
    await plain.ask(Asking().ask())

    assert GATE in [tool.name for tool in harness.provider.requests[0].tools]
    assert () == plain.provider.requests[0].tools


async def test_a_tool_call_is_recorded_with_its_result(make_harness: MakeHarness) -> None:
    """And its result is marked as data."""
    harness, asking = make_harness(wants(GATE, arguments='{"max_records": 1}')), Asking(WITH_RECORDS)
    await harness.ask(asking.ask())
    (call,) = harness.clerk.exchanges()[0].tool_calls
    given = harness.provider.requests[1].messages[-1]

    assert (GATE, "call-0", True) == (call.name, call.call_id, call.ok)
    assert '{"max_records": 1}' == harness.clerk.text(call.arguments.digest)
    assert ("tool", harness.clerk.text(call.result.digest), "call-0") == (given.role, given.text, given.call_id)
    assert asking.ask().assignment.marker in given.text


@each_row(
    ("case", "names", "spec", "done"),
    [
        (None, [GATE], {}, [False]),
        (WITH_RECORDS, [GATE] * 3, {"artifacts": {"max_calls": 2}}, [True, True, False]),
        *((WITH_RECORDS, [name], {}, [False]) for name in ("", "a\nb", "x" * 5000, "\ud800")),
    ],
)
async def test_tool_calls_that_cannot_be_done_are_answered_with_an_error(
    make_harness: MakeHarness, case: Case | None, names: list[str], spec: dict[str, Any], done: list[bool]
) -> None:
    harness = make_harness(wants(*names))
    (result,) = await harness.ask(Asking(case, **spec).ask())

    assert done == [call.ok for call in harness.clerk.exchanges()[0].tool_calls]
    assert isinstance(result.outcome, Answered)


async def test_odd_and_many_tool_calls_lose_no_answer(make_harness: MakeHarness) -> None:
    """Of thousands, the first hundred are recorded one by one."""
    many = make_harness(wants(*[GATE] * 5000))
    odd = make_harness(wants(GATE, arguments='{"max_records": "\ud800"}'))
    results = [*await many.ask(Asking(WITH_RECORDS).ask()), *await odd.ask(Asking(WITH_RECORDS).ask())]

    assert all(isinstance(one.outcome, Answered) for one in results)
    assert 100 == len(many.clerk.exchanges()[0].tool_calls)


async def test_labels_of_a_provider_that_cannot_be_recorded_do_not_lose_the_answer(make_harness: MakeHarness) -> None:
    def odd(request: ModelRequest) -> ModelReply:
        return ModelReply(
            CallOutcome.CONNECTION,
            error="broken \ud800",
            model_version="v" * 1000,
            finish_reason="",
            request_id="one\ntwo",
        )

    harness = make_harness(odd)
    (result,) = await harness.ask(Asking().ask())
    first = harness.clerk.exchanges()[0]

    assert isinstance(result.outcome, Answered)
    assert ("v" * 200, None, "one two") == (first.model_version, first.finish_reason, first.request_id)


@each_row("outcome", [CallOutcome.AUTHENTICATION, CallOutcome.QUOTA])
async def test_a_halted_provider_is_called_again_once_no_stopped_debate_is_left(
    make_harness: MakeHarness, outcome: CallOutcome
) -> None:
    one = make_harness(ModelReply(outcome, error="no"))
    (stopped,) = await one.ask(Asking().ask())
    await one.juror.submit([Asking().ask("claude")])
    _, still = await results_of(one.juror, 2)
    await one.juror.submit([ForgetDebate("d1")])
    (result,) = await answers(one, Asking().ask("claude"))

    assert (Halted, Halted) == (type(stopped.problem), type(still.problem))
    assert isinstance(result.outcome, Answered)


async def test_a_provider_that_could_not_be_made_is_made_again_for_the_next_step(
    make_harness: MakeHarness,
) -> None:
    one = make_harness(providers={})
    (broke,) = await one.ask(Asking().ask())
    one.table["simulated"] = one.provider
    results = await answers(one, Asking().ask("claude"))

    assert isinstance(broke.problem, Broken)
    assert isinstance(results[-1].outcome, Answered)


def test_a_text_is_one_object_while_it_is_kept() -> None:
    texts = DecodedTexts(10)
    first = texts.text("a", b"12345")

    assert first is texts.text("a", b"12345")
    assert "12345" == texts.text("b", b"12345")
    assert first is texts.text("a", b"12345")
    texts.text("c", b"1")  # b was used longer ago than a
    assert first is texts.text("a", b"12345")


def test_what_was_used_longest_ago_is_dropped_and_what_is_too_long_is_not_kept() -> None:
    texts = DecodedTexts(3)
    first = texts.text("a", b"one")

    assert "long text" == texts.text("long", b"long text")
    assert first is texts.text("a", b"one")
    texts.text("b", b"two")
    assert first == texts.text("a", b"one")
    assert first is not texts.text("a", b"one")


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    assert "a\ufffd" == DecodedTexts(9).text("a", b"a\xff")


def test_seats_of_a_debate_are_sent_one_object_of_the_case() -> None:
    panel = a_panel(*SEATS, preset="independent")
    debate = DebateHarness(panel, lambda _step, _call: Says("safe_pass")).run()
    shared = []
    for asked in debate.asked:
        request = StepRequest(asked.assignment, {}, None, ())
        execution = StepExecution(request, dict(debate.pen.texts), PartBuffer(lambda: bytes(16)))
        shared.append(execution.request(execution.conversation.calls[0]).messages[1].shared[0])

    assert len(SEATS) == len(shared)
    assert all(text is shared[0] for text in shared)
