"""Answers of a batch become exchanges of their debates."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from jury_actors.clerk import ClerkInterface
from jury_actors.effects import Effects, date_of
from jury_actors.messages import StepRequest
from jury_actors.recorded_steps import learned, texts_of
from jury_actors.step_execution import StepExecution, texts_in
from jury_debate.conversation import Call
from jury_debate.debate import Debate
from jury_events.batch_events import BatchedExchange, UnansweredEnd
from jury_events.codec import encode
from jury_events.debate_history import DebateHistory
from jury_events.exchange import LIFETIMES, Usage, ViaBatch
from jury_events.ids import calls_stream, unescape
from jury_events.outcome import CallOutcome
from jury_events.parts import SALT_BYTES, PartBuffer
from jury_providers.batches.item import BatchLine
from jury_providers.batches.provider import BatchProvider
from jury_providers.prices import Prices, cost_of
from jury_providers.provider import Caching, ModelReply, ModelRequest
from jury_store.errors import StoreError
from jury_store.event_store import Append

_MICROSECONDS_A_MS = 1000
_AT_ONCE = 100
"""Debates that are read together."""

_CACHINGS: tuple[Caching, ...] = (None, "none", *LIFETIMES)


class AnsweredItem(NamedTuple):
    """A line that answers an item. `digest`: of what was sent, as recorded; None: it was erased.

    `refused`: the provider named the line as the reason for which it refused the whole batch, and there is no answer.
    """

    number: int
    custom_id: str
    debate_id: str
    exchange: str
    digest: str | None
    line: BatchLine
    refused: str | None = None


class Unused(NamedTuple):
    """An answer that is no exchange, and what it was billed."""

    item: int
    end: UnansweredEnd
    usage: Usage
    cost: float | None
    text: bytes | None


class AnsweredCalls:
    """Records answers of one batch.

    Args:
        clerk: of the log.
        provider: reads the lines.
        batch_id: of the batch.
        submitted_at: in microseconds since 1970-01-01 UTC.
        prices: of the models.
        effects: clock and entropy.
    """

    def __init__(
        self,
        clerk: ClerkInterface,
        provider: BatchProvider,
        batch_id: str,
        *,
        submitted_at: int,
        prices: Prices,
        effects: Effects,
    ) -> None:
        self._clerk = clerk
        self._provider = provider
        self._batch_id = batch_id
        self._submitted_at = submitted_at
        self._prices = prices
        self._effects = effects
        self._cachings: dict[str, Caching] = {}
        self.cost_sum = 0.0
        self.unpriced = 0

    def charge(self, cost: float | None) -> None:
        """Count what an exchange cost."""
        self.cost_sum += cost or 0.0
        self.unpriced += cost is None

    async def recorded(self, calls: Sequence[BatchedExchange]) -> set[int]:
        """The numbers of those items, counted from 1, that are recorded as answers of this batch."""
        debates = sorted({one.debate_id for one in calls})
        found: set[tuple[str, str]] = set()
        for start in range(0, len(debates), _AT_ONCE):
            known = await self._clerk.recall(debates[start : start + _AT_ONCE])
            for debate_id, history in known.items():
                for name, exchange in history.exchanges_by_id.items():
                    if exchange.via is not None and exchange.via.batch == self._batch_id:
                        found.add((debate_id, name))
        return {number for number, one in enumerate(calls, 1) if (one.debate_id, one.exchange) in found}

    async def record(self, items: Sequence[AnsweredItem]) -> list[Unused]:
        """Record the answers, durable when this returns; returns those that are not used.

        What is recorded already as an answer of this batch is passed over, so that results may be read again.

        Raises:
            StoreError: the log cannot be written.
        """
        by_debate: dict[str, list[AnsweredItem]] = {}
        for item in items:
            by_debate.setdefault(item.debate_id, []).append(item)
        known = await self._clerk.recall(list(by_debate))
        unused: list[Unused] = []
        appends: list[Append] = []
        for debate_id, of_debate in by_debate.items():
            history = known.get(debate_id)
            answered = _DebateAnswers(self, history, of_debate)
            unused += answered.unused
            if answered.append is not None:
                appends.append(answered.append)
        for answer in await self._clerk.record(appends) if appends else ():
            if isinstance(answer, StoreError):
                raise answer
        return unused

    def cost(self, model: str, reply: ModelReply) -> float | None:
        """What a reply costs, in US dollars."""
        on = date_of(self._effects.clock())
        return cost_of(model, reply, self._prices, on, simulated=reply.simulated)

    def reply(self, request: ModelRequest | None, item: AnsweredItem) -> ModelReply:
        """The reply in a line; `request`: None where it is not known any more what was asked."""
        if item.refused is not None or item.line.response is None:
            return ModelReply(CallOutcome.BAD_REQUEST, error=item.refused or item.line.error)
        return self._provider.reply(request, item.line)

    def as_sent(self, item: AnsweredItem, execution: StepExecution, call: Call) -> ModelRequest | None:
        """The request that was sent for a call; None: what would be asked now is another.

        What it asked the provider to keep is not recorded, and prices may have changed that it was decided by: each is
        tried, first what was found for the model last.
        """
        last = self._cachings.get(call.model)
        for caching in sorted(_CACHINGS, key=lambda one: one != last):
            request = execution.request(call, caching)
            line = self._line(item, request)
            if line is None:
                continue
            if item.digest is None or item.digest == hashlib.sha256(line).hexdigest():
                self._cachings[call.model] = caching
                return request
        return None

    def _line(self, item: AnsweredItem, request: ModelRequest) -> bytes | None:
        """What asks for a call; None: today's SDK cannot build it, so that it is not what was sent."""
        try:
            return self._provider.item(item.custom_id, request).line
        except Exception:  # noqa: BLE001  (an SDK raises what it likes; an answer is read all the same)
            return None

    def via(self, at: int) -> ViaBatch:
        """Stands in the exchanges that are recorded `at` a time in microseconds; verification compares the two."""
        waited = max(0, at - self._submitted_at) / _MICROSECONDS_A_MS
        return ViaBatch(batch=self._batch_id, waited_ms=round(waited, 3))

    @property
    def batch_id(self) -> str:
        """The batch."""
        return self._batch_id

    @property
    def effects(self) -> Effects:
        """Clock and entropy."""
        return self._effects


class _DebateAnswers:
    """The answers to calls of one debate: an append with their exchanges, and what is not used."""

    def __init__(self, calls: AnsweredCalls, history: DebateHistory | None, items: Sequence[AnsweredItem]) -> None:
        self.unused: list[Unused] = []
        self.append: Append | None = None
        self._calls = calls
        stored = {} if history is None else history.exchanges_by_id
        fresh = []
        for item in items:
            exchange = stored.get(item.exchange)
            if exchange is None:
                fresh.append(item)
            elif exchange.via is None or exchange.via.batch != calls.batch_id:
                self.unused.append(self._unused(item))
            else:
                calls.charge(exchange.cost)
        if history is None or history.finished or not fresh:
            self.unused += [self._unused(item) for item in fresh]
            return
        due = DueSteps(history, calls.effects)
        events = []
        for item in fresh:
            found = due.find(item.exchange)
            if found is None:
                self.unused.append(self._unused(item))
                continue
            execution, call = found
            request = calls.as_sent(item, execution, call)
            if request is None:
                self.unused.append(self._unused(item))
                continue
            reply, now = calls.reply(request, item), calls.effects.clock()
            exchange = execution.exchange(
                call,
                reply,
                cost=calls.cost(call.model, reply),
                latency_ms=0.0,
                waited_ms=0.0,
                simulated=reply.simulated,
                via=calls.via(now),
            )
            texts = texts_in(exchange)
            events.append(encode(exchange, recorded_at=now, parts=due.pen.unstored(texts)))
            due.pen.stored(texts)
            execution.hear(exchange)
            calls.charge(exchange.cost)
        if events:
            self.append = Append(calls_stream(history.debate_id), tuple(events))

    def _unused(self, item: AnsweredItem) -> Unused:
        model = unescape(item.exchange.split("/")[-3])
        reply = self._calls.reply(None, item)
        return Unused(item.number, "superseded", reply.usage, self._calls.cost(model, reply), reply.answer)


class DueSteps:
    """The due steps of a recorded debate, as a juror would execute them."""

    def __init__(self, history: DebateHistory, effects: Effects) -> None:
        self.pen = PartBuffer(lambda: effects.entropy(SALT_BYTES), history.parts.values())
        opened = history.opened
        self._debate = Debate(opened, self.pen.text(opened.secret), self.pen)
        self._debate.fold(history.events[1:])
        self._prior = learned(self._debate, history, self.pen) if not self._debate.state.ended else {}
        self._executions: dict[str, StepExecution] = {}

    def find(self, exchange: str) -> tuple[StepExecution, Call] | None:
        """The due call that an exchange records, and its step; None: it is not due."""
        for step in self._debate.pending_steps():
            if not exchange.startswith(f"{step.id}/"):
                continue
            execution = self._executions.get(step.id) or self._execution(step.id)
            for call in execution.conversation.calls:
                if call.exchange_id(step.id) == exchange:
                    return execution, call
        return None

    def _execution(self, step_id: str) -> StepExecution:
        step = next(one for one in self._debate.pending_steps() if one.id == step_id)
        assignment = self._debate.assign(step)
        prior = self._prior.get(step_id, ())
        case = self._debate.state.debate.case if assignment.tools else None
        texts = {ref: self.pen.content(ref) for ref in texts_of(assignment, prior, case)}
        execution = StepExecution(StepRequest(assignment, texts, case, prior), texts, self.pen)
        self._executions[step_id] = execution
        return execution
