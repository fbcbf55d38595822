"""A juror: takes steps, asks its model, records every exchange before it says what came of it."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime
from functools import partial
from typing import NamedTuple

from jury_actors.admission.admission import Admission
from jury_actors.backoff import Backoff
from jury_actors.clerk import ClerkLink, ClerkPort
from jury_actors.duty import Duty
from jury_actors.errors import Broken, Halted, Released
from jury_actors.failing import has_failed
from jury_actors.messages import Ask, Chunk, Delivery, Told
from jury_actors.outbox import Outbox
from jury_actors.prices import Prices, cost_of
from jury_actors.providers.provider import Heard, ModelReply, ModelRequest, Provider
from jury_actors.sources import Sources
from jury_debate.rules_v1.conversation import Call
from jury_debate.rules_v1.outcome import Outcome
from jury_events.codec import encode
from jury_events.errors import JuryError
from jury_events.ids import calls_stream, exchange_id
from jury_events.outcome import CallOutcome
from jury_events.parts import SALT_BYTES, PartPen
from jury_store.errors import EventConflict
from jury_store.event_store import Append

_log = logging.getLogger(__name__)

_HALTS = {
    CallOutcome.AUTHENTICATION: "the provider refuses the key; set one that it takes",
    CallOutcome.QUOTA: "the provider's quota is used up; raise it, or wait until it is renewed",
}

_UNHEARD = frozenset({CallOutcome.CONNECTION, CallOutcome.TIMEOUT, CallOutcome.MALFORMED_RESPONSE})

_PATIENCE = 10
"""Calls that a provider may leave without an answer before it has given one: then its address leads nowhere."""

_GRACE = 1.1, 1.0
"""How much later than its timeout a call is given up: the provider itself can tell more of one that got no answer."""

ProviderFactory = Callable[[str], Provider]


class Juror:
    """One juror process's worth of work: many steps of many debates at once.

    Args:
        providers: gives the client of a provider by its name; called once a name.
        clerk: where exchanges are recorded.
        admission: what calls wait for; None: for nothing.
        prices: what calls cost where the provider does not say.
        sources: time and chance.
        backoff: between tries of a failed call.
        linger: seconds that a delivery waits for company.
    """

    def __init__(
        self,
        providers: ProviderFactory,
        clerk: ClerkPort,
        *,
        admission: Admission | None = None,
        prices: Prices = Prices(),
        sources: Sources = Sources(),
        backoff: Backoff = Backoff(),
        linger: float = 0.0,
    ) -> None:
        self._make_provider = providers
        self._admission = admission
        self._prices = prices
        self._providers: dict[str, asyncio.Future[Provider]] = {}
        self._halted: dict[str, Halted] = {}
        self._unheard: Counter[str] = Counter()
        self._heard: set[str] = set()
        self._absent: dict[str, Halted] = {}
        self._clerk = ClerkLink(clerk)
        self._log = clerk
        self._sources = sources
        self._backoff = backoff
        self._outbox: Outbox[Told | Chunk] = Outbox(sources.entropy(8).hex(), linger=linger)
        self._texts: dict[str, dict[str, bytes]] = {}
        self._working: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._told: dict[str, dict[str, Told]] = {}

    async def submit(self, asks: Sequence[Ask], release: Sequence[str]) -> None:
        """Take steps to do; forget the debates in `release`.

        A step that is done already is told again, one that is being done is joined: asking twice costs no call.
        """
        for debate in release:
            self._texts.pop(debate, None)
            self._told.pop(debate, None)
        if not self._texts:
            self._forget_halts()
        for ask in asks:
            debate_id, step_id = ask.assignment.debate_id, ask.assignment.step.id
            self._texts.setdefault(debate_id, {}).update(ask.texts)
            key = (debate_id, step_id)
            known = self._told.get(debate_id, {}).get(step_id)
            if known is not None:
                self._outbox.put(known)
            elif key not in self._working:
                self._working[key] = task = asyncio.create_task(self._work(ask))
                task.add_done_callback(partial(self._done, key))

    def _done(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        if self._working.get(key) is task:
            del self._working[key]

    async def poll(self, life: str, ack: int) -> Delivery[Told | Chunk]:
        """What steps came to, and what is being written of watched ones; see `Outbox.poll`."""
        return await self._outbox.poll(life, ack)

    async def close(self) -> None:
        """Give up what is being done and release the clients; what was answered already is recorded."""
        for task in list(self._working.values()):
            task.cancel()
        await asyncio.gather(*self._working.values(), return_exceptions=True)
        await self._clerk.drain()
        if self._admission is not None:
            await self._admission.close()
        for made in await asyncio.gather(*self._providers.values(), return_exceptions=True):
            if isinstance(made, Provider):
                await made.close()

    async def _work(self, ask: Ask) -> None:
        assignment = ask.assignment
        told = Told(assignment.debate_id, assignment.step.id, None)
        try:
            told = told._replace(outcome=await self._do(ask))
            if told.debate_id in self._texts:  # else nobody waits for it any more
                self._told.setdefault(told.debate_id, {})[told.step_id] = told
        except JuryError as error:
            told = told._replace(problem=error)
        except Exception as error:  # noqa: BLE001  (the coordinator decides what a juror's own failure means)
            _log.info("debate %s, step %s broke", told.debate_id, told.step_id, exc_info=True)
            problem = Broken(f"debate {told.debate_id}, step {told.step_id}: {type(error).__name__}: {error}")
            told = told._replace(problem=problem)
        # Before the result is sent: its receiver may ask for the same step again at once.
        self._working.pop((told.debate_id, told.step_id), None)
        self._outbox.put(told)

    async def _do(self, ask: Ask) -> Outcome:
        pen = PartPen(lambda: self._sources.entropy(SALT_BYTES))
        duty = Duty(ask, self._texts[ask.assignment.debate_id], pen)
        retry_after: float | None = None
        while (call := duty.conversation.call) is not None:
            self._check_absent(ask, call)
            delay = 0.0
            if call.attempt > 1:
                delay = self._backoff.delay(call.attempt, jitter=self._sources.jitter(), retry_after=retry_after)
                await asyncio.sleep(delay)
            if ask.assignment.debate_id not in self._texts:
                raise Released(f"debate {ask.assignment.debate_id} is over for its coordinator")
            await self._clerk.room()
            answered = await self._ask_model(call, duty, ask)
            exchange = duty.exchange(
                call,
                answered.reply,
                cost=answered.cost,
                latency_ms=answered.seconds * 1000,
                waited_ms=delay * 1000,
                simulated=answered.simulated,
            )
            new = encode(exchange, recorded_at=self._sources.clock(), parts=pen.take())
            # Durable before anything is made of it: an answer that was paid for is never lost.
            appended = await self._clerk.append(Append(calls_stream(ask.assignment.debate_id), (new,)))
            if appended.repeated:
                # Its texts stand under the first writer's references, which the log knows and we do not.
                raise EventConflict(f"{appended.stream}: {new.event_id!r} was recorded before; read the stream again")
            duty.hear(exchange)
            if duty.conversation.halted is not None:
                self._check_halt(call.model.partition("/")[0])
            retry_after = answered.reply.retry_after
        assert duty.conversation.outcome is not None
        return duty.conversation.outcome

    def _teller(self, ask: Ask, call: Call) -> Heard | None:
        """Who is told the answer while it is written; None where nobody watches."""
        if not ask.watched:
            return None
        step = ask.assignment.step
        exchange = exchange_id(step.id, call.model, call.turn, call.attempt)
        return lambda text: self._outbox.put(Chunk(ask.assignment.debate_id, step.id, exchange, text))

    async def _check_unrecorded(self, ask: Ask, call: Call) -> None:
        """Check that the call was not recorded since the step was read: a partitioned juror goes on recording.

        Raises:
            EventConflict: it is recorded; the caller reads the stream again instead of asking.
        """
        exchange = exchange_id(ask.assignment.step.id, call.model, call.turn, call.attempt)
        if ask.again and exchange in await self._log.recorded(ask.assignment.debate_id):
            raise EventConflict(
                f"debate {ask.assignment.debate_id}: {exchange!r} was recorded meanwhile; read it again"
            )

    async def _ask_model(self, call: Call, duty: Duty, ask: Ask) -> "_Answered":
        """Make the call when it may be made. The time until then counts neither as its own nor towards a deadline."""
        name = call.model.partition("/")[0]
        provider = await self._provider(name)
        request = duty.request(call)
        today = self._today()
        async with AsyncExitStack() as stack:
            self._check_halt(name)
            admitted = None
            if self._admission is not None:
                limited = provider.max_in_flight is not None
                admission = self._admission.admit(call.model, request, limited=limited, on=today)
                admitted = await stack.enter_async_context(admission)
            if (gate := provider.gate) is not None:
                await stack.enter_async_context(gate)
            self._check_halt(name)  # it may have been refused while this call waited
            await self._check_unrecorded(ask, call)
            if admitted is not None:
                admitted.leave()
            reply, seconds = await _timed(provider, request, self._teller(ask, call))
            if reply.outcome in _HALTS:
                self._halt(call.model, reply)
            if not provider.simulated:
                self._listen(call.model, reply)
            simulated = reply.simulated or provider.simulated
            cost = cost_of(call.model, reply, self._prices, today, simulated=simulated)
            if admitted is not None:
                admitted.settle(reply, cost)
        return _Answered(reply, cost, seconds, simulated)

    def _today(self) -> date:
        return datetime.fromtimestamp(self._sources.clock() // 1_000_000, UTC).date()

    def _check_halt(self, name: str) -> None:
        halted = self._halted.get(name)
        if halted is not None:
            raise halted

    def _halt(self, model: str, reply: ModelReply) -> None:
        """A person has to act: from now on the provider is not called any more, and nobody waits for it."""
        name = model.partition("/")[0]
        said = f": {reply.error}" if reply.error else ""
        halted = Halted(f"{model}: {_HALTS[reply.outcome]}{said}", about=name)
        if self._halted.setdefault(name, halted) is halted and self._admission is not None:
            self._admission.refuse(name, halted)

    def _listen(self, model: str, reply: ModelReply) -> None:
        """A provider that was never heard may not be there at all; one that was heard once may only be in trouble."""
        name = model.partition("/")[0]
        if reply.outcome not in _UNHEARD:
            self._heard.add(name)
        if name in self._heard:
            return
        self._unheard[name] += 1
        if self._unheard[name] >= _PATIENCE:
            said = f"{model}: the provider answered none of {_PATIENCE} calls, the last: {reply.error}"
            self._absent.setdefault(
                name, Halted(f"{said}; see that it is there, and where its address leads", about=name)
            )

    def _forget_halts(self) -> None:
        """Every debate that was stopped is over: whoever sends the next one may have mended the cause meanwhile.

        A provider that never answered gets one more call to do so, not ten.
        """
        self._halted.clear()
        for name in self._absent:
            self._unheard[name] = _PATIENCE - 1
        self._absent.clear()

    def _check_absent(self, ask: Ask, call: Call) -> None:
        """Where no other model is left to ask, the step waits until somebody looked after the provider."""
        absent = self._absent.get(call.model.partition("/")[0])
        if absent is not None and call.model == ask.assignment.models[-1]:
            raise absent

    async def _provider(self, name: str) -> Provider:
        """The client of a provider, made when it is needed; in a thread, for loading an SDK takes a second."""
        made = self._providers.get(name)
        if made is None or has_failed(made):
            made = self._providers[name] = asyncio.ensure_future(asyncio.to_thread(self._make_provider, name))
        return await asyncio.shield(made)


class _Answered(NamedTuple):
    reply: ModelReply
    cost: float | None
    seconds: float
    simulated: bool


async def _timed(provider: Provider, request: ModelRequest, heard: Heard | None) -> tuple[ModelReply, float]:
    seconds = request.settings.timeout_seconds
    started = time.perf_counter()
    try:
        async with asyncio.timeout(seconds * _GRACE[0] + _GRACE[1]):
            reply = await provider.call(request, heard)
    except TimeoutError:
        reply = ModelReply(CallOutcome.TIMEOUT, error=f"no answer within {seconds:g} s")
    return reply, time.perf_counter() - started
