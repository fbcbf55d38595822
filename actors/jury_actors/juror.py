"""A juror: executes steps, calls models, and records every exchange before it returns a result."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from jury_actors.admission.admission import Admission, Admitted
from jury_actors.background import has_failed
from jury_actors.clerk import ClerkClient, ClerkInterface
from jury_actors.effects import Backoff, Effects, date_of
from jury_actors.errors import Broken, Released
from jury_actors.load import CalledModel, CallLog, JurorLoad, LoggedCalls, OpenCall, OpenCalls
from jury_actors.mailbox import Delivery, Outbox, RequestRoom, batch_window
from jury_actors.messages import AnswerBegan, Chunk, ForgetDebate, StepRequest, StepResult
from jury_actors.observation.observer import UNOBSERVED, Observer, Subject
from jury_actors.observation.tallies import QUEUE_LENGTH
from jury_actors.provider_halts import FORBIDDEN, ProviderHalts, asks_again_after
from jury_actors.step_execution import StepExecution, texts_in
from jury_debate.conversation import Call
from jury_debate.step_outcome import Outcome
from jury_events.codec import encode
from jury_events.errors import JuryError
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream
from jury_events.outcome import CallOutcome
from jury_events.parts import SALT_BYTES, PartBuffer
from jury_providers.prices import Prices, cost_of
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider
from jury_store.errors import EventConflict
from jury_store.event_store import Append

_log = logging.getLogger(__name__)

_GRACE = 1.1, 1.0
"""Factor and seconds beyond its timeout after which a call is given up: a provider's own timeout error says more."""

_WINDOW_BYTES = 32_000_000
"""Of calls that show parts of records, of all debates of a juror, whose requests are in memory at once."""

_UNLIMITED: AbstractAsyncContextManager[None] = nullcontext()

ProviderFactory = Callable[[str], Provider]


class Juror:
    """Executes many steps of many debates at once.

    Args:
        providers: returns the client of a provider by its name; called once a name.
        admission: limits and budget of calls; None: unlimited.
        prices: for calls whose cost the provider does not report.
        linger: seconds that a delivery waits for more.
        halts: what the jurors of this process learned of providers; None: it has what it learned alone.
    """

    def __init__(
        self,
        providers: ProviderFactory,
        clerk: ClerkInterface,
        *,
        admission: Admission | None = None,
        prices: Prices = Prices(),
        effects: Effects = Effects(),
        backoff: Backoff = Backoff(),
        linger: float = 0.0,
        observer: Observer = UNOBSERVED,
        halts: ProviderHalts | None = None,
    ) -> None:
        self._observer = observer
        self._make_provider = providers
        self._admission = admission
        self._prices = prices
        self._providers: dict[str, asyncio.Future[Provider]] = {}
        self._halts = halts or ProviderHalts()
        self._log = CallLog(clerk.logged, effects.clock)
        self._one_of_many = halts is None
        """Other processes have jurors, too."""
        self._open_calls = OpenCalls()
        self._window_calls = RequestRoom(_WINDOW_BYTES)
        self._clerk = clerk
        self._writer = ClerkClient(clerk, observer=observer)
        self._effects = effects
        self._backoff = backoff
        self._incarnation = effects.entropy(8).hex()
        self._outboxes: defaultdict[str, Outbox[StepResult | Chunk | AnswerBegan]] = defaultdict(
            partial(Outbox, self._incarnation, linger=linger)
        )
        self._texts: dict[str, dict[str, bytes]] = {}
        self._working: dict[tuple[str, str], _Work] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        observer.gauge(QUEUE_LENGTH, lambda: [(("steps",), len(self._working))])
        self._results: dict[str, dict[str, StepResult]] = {}

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        """See `JurorInterface`.

        The result of a step that was executed is sent again, one that is being executed is joined: a repeated request
        costs no call. Whatever the order of the messages, a result follows the last request of every step.
        """
        for message in messages:
            if isinstance(message, ForgetDebate):
                if self._texts.pop(message.debate_id, None) is not None:
                    self._halts.leave(message.debate_id)
                self._results.pop(message.debate_id, None)
                if message.stop:
                    self._stop(message.debate_id)
                continue
            key = debate_id, step_id = message.assignment.debate_id, message.assignment.step.id
            if debate_id not in self._texts:
                self._halts.enter(debate_id)
            self._texts.setdefault(debate_id, {}).update(message.texts)
            known = self._results.get(debate_id, {}).get(step_id)
            if known is not None:
                self._outboxes[message.reply_to].put(known)
            elif key in self._working:
                self._working[key].reply_to.add(message.reply_to)
            else:
                self._working[key] = work = _Work({message.reply_to}, debate_id)
                work.task = asyncio.create_task(self._execute_step(message, work))
                self._tasks.add(work.task)
                work.task.add_done_callback(partial(self._done, key, work))

    async def load(self, reply_to: str, run_id: str | None) -> JurorLoad:
        """See `JurorInterface`."""
        return self._open_calls.load(reply_to, run_id)

    def _stop(self, debate_id: str) -> None:
        """End the steps of a debate, except those whose call is being made: its answer will be recorded."""
        departed = self._open_calls.departed(debate_id)
        ended = [key for key in self._working if key[0] == debate_id and key[1] not in departed]
        for key, work in self._working.items():
            if key[0] == debate_id and key[1] in departed:
                work.end_waiting_calls()
        for key in ended:
            # A later request of the step begins it anew.
            work = self._working.pop(key)
            work.stopped = True
            work.task.cancel()

    def _done(self, key: tuple[str, str], work: "_Work", task: asyncio.Task[None]) -> None:
        """A task that was stopped before it began has sent no result: none of its code was executed."""
        self._tasks.discard(task)
        if self._working.get(key) is work:
            del self._working[key]
        if work.stopped and task.cancelled():
            self._reply(work, StepResult(*key, None, _released(key[0])))

    def _reply(self, work: "_Work", result: StepResult) -> None:
        for reply_to in work.reply_to:
            self._outboxes[reply_to].put(result)

    async def poll(self, reply_to: str, incarnation: str, ack: int) -> Delivery[StepResult | Chunk | AnswerBegan]:
        """See `JurorInterface`."""
        return await self._outboxes[reply_to].poll(incarnation, ack)

    async def close(self) -> None:
        """Cancel the steps and close the providers' clients; answers that arrived are recorded."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._writer.drain()
        if self._admission is not None:
            await self._admission.close()
        for made in await asyncio.gather(*self._providers.values(), return_exceptions=True):
            if isinstance(made, Provider):
                await made.close()

    async def _execute_step(self, request: StepRequest, work: "_Work") -> None:
        debate_id, step_id = request.assignment.debate_id, request.assignment.step.id
        try:
            result = StepResult(debate_id, step_id, await self._execute(request, work))
            if debate_id in self._texts:  # else no debate waits for it any more
                self._results.setdefault(debate_id, {})[step_id] = result
        except JuryError as error:
            result = StepResult(debate_id, step_id, None, error)
        except Exception as error:  # noqa: BLE001  (the coordinator decides what a juror's own failure means)
            _log.info("debate %s, step %s broke", debate_id, step_id, exc_info=True)
            problem = Broken(f"debate {debate_id}, step {step_id}: {type(error).__name__}: {error}")
            result = StepResult(debate_id, step_id, None, problem)
        # Before the result is sent: its receiver may request the same step again at once.
        if not work.stopped:
            self._working.pop((debate_id, step_id), None)
        self._reply(work, result)

    async def _execute(self, request: StepRequest, work: "_Work") -> Outcome:
        debate_id = request.assignment.debate_id
        if debate_id not in self._texts:
            raise _released(debate_id)
        pen = PartBuffer(partial(self._effects.entropy, SALT_BYTES))
        execution = StepExecution(request, self._texts[debate_id], pen)
        if request.prior:
            await self._recall(execution, debate_id)
        providers = {model.partition("/")[0] for model in request.assignment.models}
        making = _MadeCalls(request, execution, pen, work, providers, {}, {}, set())
        self._halts.begin(providers)
        try:
            while (outcome := execution.conversation.outcome) is None:
                due = execution.conversation.calls
                if not due:
                    await self._settle(making)
                elif len(due) == 1:
                    await self._make(due[0], making)
                else:
                    await self._make_together(making)
        finally:
            self._halts.end(providers)
        return outcome

    async def _recall(self, execution: StepExecution, debate_id: str) -> None:
        self._halts.recall(execution.failed_before, debate_id)
        for before in execution.unsettled_before:
            again = False
            if not _is_of_no_provider(before.exchange):
                logged = await self._log.of(_called(before.exchange), before.recorded_at, earlier=True)
                again = asks_again_after(before, answered=logged.answered_after(before.recorded_at))
            execution.conversation.settle(before.unsettled.window, again=again)

    async def _settle(self, making: "_MadeCalls") -> None:
        """Wait until it is known of each failure whether it is its provider's, and settle it."""
        conversation, debate_id = making.execution.conversation, making.request.assignment.debate_id
        for unsettled in conversation.unsettled:
            again, since = False, making.failed_at.get(unsettled.window)
            if since is not None:
                asked_before = unsettled.window in making.asked_again
                again = await self._halts.asks_again(
                    unsettled,
                    since.departures,
                    making.providers,
                    debate_id,
                    asked_before=asked_before,
                    elsewhere=partial(self._elsewhere, since) if self._one_of_many else None,
                )
            if again:
                making.asked_again.add(unsettled.window)
            conversation.settle(unsettled.window, again=again)

    async def _elsewhere(self, failed: "_FailedCall") -> LoggedCalls:
        """Calls of the same model that jurors of other processes made after the failure."""
        logged = await self._log.of(failed.called, failed.recorded_at)
        return logged if logged.answered_after(failed.recorded_at) else logged._replace(answered_at=None)

    async def _make_together(self, making: "_MadeCalls") -> None:
        """Make the calls that are due together, and those that follow from each, until one or none is due.

        After a failure no further call is made; those that are being made are recorded first.
        """
        conversation, work = making.execution.conversation, making.work
        problem: BaseException | None = None
        try:
            while True:
                due = conversation.calls if problem is None else ()
                if not work.calls and len(due) < 2:  # noqa: PLR2004
                    break
                for call in due:
                    if call.window not in work.calls:
                        work.calls[call.window] = asyncio.create_task(self._make_window(call, making))
                await asyncio.wait(work.calls.values(), return_when=asyncio.FIRST_COMPLETED)
                for window, task in [*work.calls.items()]:
                    if not task.done():
                        continue
                    del work.calls[window]
                    failed = _released(work.debate_id) if task.cancelled() else task.exception()
                    if failed is not None and problem is None:
                        problem = failed
                        work.end_waiting_calls()
        finally:
            left = list(work.calls.values())
            work.calls.clear()
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        if problem is not None:
            raise problem

    async def _make_window(self, call: Call, making: "_MadeCalls") -> None:
        """Make a call that shows a part of a record: of many, a few have their requests in memory at once."""
        async with self._window_calls.taken(making.execution.size(call)):
            await self._make(call, making)

    async def _make(self, call: Call, making: "_MadeCalls") -> None:
        request, execution, pen, work = making[:4]
        debate_id = request.assignment.debate_id
        self._halts.check(call.model, last=call.model == request.assignment.models[-1])
        delay = 0.0
        if call.failures:
            retry_after = making.retry_after.get(call.window)
            delay = self._backoff.delay(call.failures + 1, jitter=self._effects.jitter(), retry_after=retry_after)
            await asyncio.sleep(delay)
        if debate_id not in self._texts:
            raise _released(debate_id)
        await self._writer.room()
        answered = await self._call_model(call, execution, request, work)
        if request.awaited:
            self._say_begun(request)  # also a failure: the others wait no longer
        exchange = execution.exchange(
            call,
            answered.reply,
            cost=answered.cost,
            latency_ms=answered.seconds * 1000,
            waited_ms=delay * 1000,
            simulated=answered.simulated,
        )
        now, texts = self._effects.clock(), texts_in(exchange)
        new = encode(exchange, recorded_at=now, parts=pen.unstored(texts))
        # Durable before it is used: an answer that was paid for is never lost.
        window = batch_window(answered.seconds, len(self._working))
        appended = await self._writer.append(Append(calls_stream(debate_id), (new,)), window=window)
        if appended.repeated:
            # Its texts are stored under the first writer's references, which are not known here.
            raise EventConflict(f"{appended.stream}: {new.event_id!r} was recorded before; read the stream again")
        pen.stored(texts)
        execution.hear(exchange)
        following = execution.conversation.call_of(call.window)
        self._observer.call_recorded(Subject(debate_id, request.run_id), exchange, following)
        if execution.conversation.halted is not None:
            self._halts.check(call.model)
        making.retry_after[call.window] = answered.reply.retry_after
        making.failed_at[call.window] = (
            None if _is_of_no_provider(exchange) else _FailedCall(self._halts.departures, now, _called(exchange))
        )

    async def _call_model(self, call: Call, execution: StepExecution, step: StepRequest, work: "_Work") -> "_Answered":
        """Make the call when it may be made; the wait counts neither as latency nor towards a deadline."""
        name = call.model.partition("/")[0]
        provider = await self._provider(name)
        request = execution.request(call, step.caching_of(call.model))
        now = self._effects.clock()
        assignment = step.assignment
        admission: AbstractAsyncContextManager[Admitted | None] = _UNLIMITED
        if self._admission is not None:
            limited = provider.max_in_flight is not None
            admission = self._admission.admit(
                call.model, request, limited=limited, on=date_of(now), keeps_limit=provider.keeps_limit
            )
        with OpenCall(
            self._open_calls, assignment.debate_id, assignment.step.id, call.model, step.reply_to
        ) as open_call:
            async with admission as admitted, provider.concurrency_limit or _UNLIMITED:
                self._halts.check(call.model)  # it may have been halted while this call waited
                if step.again:
                    await self._check_unrecorded(step, call)
                if admitted is not None:
                    admitted.depart()
                open_call.depart()
                work.departed.add(call.window)
                departed = self._halts.depart()
                self._observer.call_began(call.model)
                try:
                    reply, seconds = await _timed(provider, request, self._on_chunk(step, call))
                finally:
                    self._observer.call_ended(call.model)
                simulated = reply.simulated or provider.simulated
                of_provider = not simulated or reply.host is not None
                if of_provider:
                    await self._learn_answered(call.model, reply)
                    reply = self._halts.taken_for(
                        reply,
                        call.model,
                        length=execution.size(call),
                        debate_id=assignment.debate_id,
                        now=self._effects.clock(),
                    )
                halted = self._halts.note(call.model, reply, departed if of_provider else None)
                if halted is not None and self._admission is not None:
                    self._admission.refuse(name, halted)
                cost = cost_of(call.model, reply, self._prices, date_of(now), simulated=simulated)
                if admitted is not None:
                    admitted.settle(reply, cost)
        return _Answered(reply, cost, seconds, simulated)

    async def _learn_answered(self, model: str, reply: ModelReply) -> None:
        """Of a refusal that means another thing once the model has answered: whether another process had answers."""
        calls = self._halts.calls_of(model)
        if reply.status == FORBIDDEN and not (reply.understood or calls.answered):
            calls.answered = (await self._log.of(CalledModel(model, reply.host), 0)).answered_at is not None

    async def _check_unrecorded(self, step: StepRequest, call: Call) -> None:
        """Check that the call was not recorded since the step was read: a partitioned juror goes on recording."""
        debate_id = step.assignment.debate_id
        exchange = call.exchange_id(step.assignment.step.id)
        if exchange in await self._clerk.recorded(debate_id):
            raise EventConflict(f"debate {debate_id}: {exchange!r} was recorded meanwhile; read it again")

    def _on_chunk(self, step: StepRequest, call: Call) -> OnChunk | None:
        """Publishes the answer while it is written, or that it began; None where nobody waits for either."""
        if step.awaited:
            return lambda _text: self._say_begun(step)
        if not step.watched:
            return None
        debate_id, step_id = step.assignment.debate_id, step.assignment.step.id
        exchange = call.exchange_id(step_id)
        outbox = self._outboxes[step.reply_to]
        return lambda text: outbox.put(Chunk(debate_id, step_id, exchange, text))

    def _say_begun(self, step: StepRequest) -> None:
        """Once a step, even if it has several calls."""
        key = step.assignment.debate_id, step.assignment.step.id
        work = self._working.get(key)
        if work is not None and not work.begun:
            work.begun = True
            self._outboxes[step.reply_to].put(AnswerBegan(*key))

    async def _provider(self, name: str) -> Provider:
        """The client of a provider, made at the first call; in a thread, since loading an SDK takes a second."""
        made = self._providers.get(name)
        if made is None or has_failed(made):
            made = self._providers[name] = asyncio.ensure_future(asyncio.to_thread(self._make_provider, name))
        return made.result() if made.done() else await asyncio.shield(made)


def _released(debate_id: str) -> Released:
    return Released(f"debate {debate_id} is over for its coordinator")


@dataclass(eq=False)
class _Work:
    """A step that is being executed: its task, who gets the result, whether the debate was stopped, whether a model
    began to answer.

    `calls`: those that are made at once, by the parts of the record that they show; `departed`: the parts whose calls
    are being made.
    """

    reply_to: set[str]
    debate_id: str
    task: asyncio.Task[None] = field(init=False)
    calls: dict[str | None, asyncio.Task[None]] = field(default_factory=dict)
    departed: set[str | None] = field(default_factory=set)
    stopped: bool = False
    begun: bool = False

    def end_waiting_calls(self) -> None:
        """End the calls that are not being made yet."""
        for window, task in self.calls.items():
            if window not in self.departed:
                task.cancel()


class _MadeCalls(NamedTuple):
    """What the calls of one step have in common, by window; `providers`: of all models that it may ask.

    `retry_after`: how long providers asked to wait; `failed_at`: what is known of a failure (None: no provider was
    asked); `asked_again`: after a failure.
    """

    request: StepRequest
    execution: StepExecution
    pen: PartBuffer
    work: _Work
    providers: set[str]
    retry_after: dict[str | None, float | None]
    failed_at: "dict[str | None, _FailedCall | None]"
    asked_again: set[str | None]


class _FailedCall(NamedTuple):
    """A failed call: the number of the last departure before, when it was recorded, and who was called."""

    departures: int
    recorded_at: int
    called: CalledModel


class _Answered(NamedTuple):
    reply: ModelReply
    cost: float | None
    seconds: float
    simulated: bool


def _called(exchange: ExchangeRecorded) -> CalledModel:
    return CalledModel(exchange.model, exchange.host)


def _is_of_no_provider(exchange: ExchangeRecorded) -> bool:
    """Whether a reply came from this process alone: a simulated juror, or an answer that the caller supplied."""
    return exchange.simulated and exchange.host is None


async def _timed(provider: Provider, request: ModelRequest, on_chunk: OnChunk | None) -> tuple[ModelReply, float]:
    seconds = request.settings.attempt_seconds
    started = time.perf_counter()
    try:
        async with asyncio.timeout(seconds * _GRACE[0] + _GRACE[1]):
            reply = await provider.call(request, on_chunk)
    except TimeoutError:
        reply = ModelReply(CallOutcome.TIMEOUT, error=f"no answer within {seconds:g} s")
    return reply, time.perf_counter() - started
