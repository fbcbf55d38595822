"""The results of a provider's batch, read into exchanges."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jury_actors.batches.wave_spool import custom_id, item_number
from jury_actors.clerk import ClerkInterface
from jury_actors.debate_process import learned, texts_of
from jury_actors.effects import Effects, date_of
from jury_actors.messages import StepRequest
from jury_actors.step_execution import StepExecution, texts_in
from jury_debate.conversation import Call
from jury_debate.debate import Debate
from jury_events.batch_events import BatchedExchange, UnansweredEnd
from jury_events.batch_facts import BatchFacts
from jury_events.codec import encode
from jury_events.debate_history import DebateHistory
from jury_events.exchange import LIFETIMES, Usage, ViaBatch
from jury_events.ids import calls_stream, unescape
from jury_events.outcome import CallOutcome
from jury_events.parts import SALT_BYTES, PartBuffer
from jury_events.text import pluralize
from jury_providers.batches.provider import BatchCounts, BatchLine, BatchProvider, BatchState, ItemEnd, RefusedLine
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
        submitted_at: in microseconds since 1970-01-01 UTC.
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


_BYTES_AT_ONCE = 8 * 1024 * 1024
"""Lines and bytes that are recorded in one group."""

_ENDS: dict[ItemEnd, UnansweredEnd] = {
    ItemEnd.CANCELLED: "cancelled",
    ItemEnd.EXPIRED: "expired",
    ItemEnd.UNREADABLE: "unreadable",
}


_NOT_COMPUTED = frozenset({"cancelled", "expired"})


class ResultsReading:
    """Reads and records results.

    Args:
        calls: its items in order, with the recorded digests of what was sent.
    """

    def __init__(
        self,
        facts: BatchFacts,
        calls: Sequence[tuple[BatchedExchange, str | None]],
        provider: BatchProvider,
        clerk: ClerkInterface,
        *,
        prices: Prices,
        effects: Effects,
    ) -> None:
        self._facts = facts
        self._calls = calls
        self._provider = provider
        self._answered_calls = AnsweredCalls(
            clerk,
            provider,
            facts.prepared.batch_id,
            submitted_at=facts.submitted_at or facts.prepared_at,
            prices=prices,
            effects=effects,
        )
        self._seen = bytearray(len(calls) + 1)
        self._unused: dict[int, Unused] = {}
        self._group: list[AnsweredItem] = []
        self._size = 0
        self._lines: Counter[ItemEnd] = Counter()
        self.unknown = self.doubled = self.unreadable = self.answered = 0

    async def read(self, state: BatchState) -> None:
        """Read all results, and record the answers."""
        nonce, items = self._facts.prepared.nonce, len(self._calls)
        assert self._facts.submitted is not None
        await self.refuse(state.refused_lines)
        async for line in self._provider.results(self._facts.submitted.provider_id, state):
            number = item_number(nonce, line.custom_id, items)
            if number is None:
                if line.custom_id is None or line.end == ItemEnd.UNREADABLE:
                    self.unreadable += 1
                else:
                    self.unknown += 1
            elif self._seen[number] and not self._answers_after_all(number, line):
                self.doubled += 1
            else:
                self.doubled += self._seen[number]
                self._lines[line.end] += 1
                await self._take(number, line)
        await self._record()

    def _answers_after_all(self, number: int, line: BatchLine) -> bool:
        """Whether an item whose first line says that it was not answered has an answer in another line."""
        known = self._unused.get(number)
        return line.end is ItemEnd.ANSWERED and known is not None and known.end in _ENDS.values()

    async def recall(self) -> None:
        """Count what is recorded of these results, which are not there any more."""
        for number in await self._answered_calls.recorded([call for call, _ in self._calls]):
            if not self._seen[number]:
                self._seen[number] = 1
                self.answered += 1

    async def refuse(self, lines: Sequence[RefusedLine]) -> None:
        """Record the calls because of which the provider refused the batch as failed ones."""
        nonce, items = self._facts.prepared.nonce, len(self._calls)
        for refused in lines:
            if 1 <= refused.number <= items and not self._seen[refused.number]:
                line = BatchLine(
                    refused.number, custom_id(nonce, refused.number), ItemEnd.ERRORED, error=refused.message
                )
                await self._take(refused.number, line, refused=refused.message)
        await self._record()

    async def _take(self, number: int, line: BatchLine, refused: str | None = None) -> None:
        self._seen[number] = 1
        self._unused.pop(number, None)
        end = _ENDS.get(line.end)
        if end is not None:
            self._unused[number] = Unused(number, end, Usage(), None, None)
            return
        call, digest = self._calls[number - 1]
        name = custom_id(self._facts.prepared.nonce, number)
        self._group.append(AnsweredItem(number, name, call.debate_id, call.exchange, digest, line, refused))
        self._size += len(line.response or b"")
        if len(self._group) >= _AT_ONCE or self._size >= _BYTES_AT_ONCE:
            await self._record()

    async def _record(self) -> None:
        group, self._group, self._size = self._group, [], 0
        if group:
            unused = await self._answered_calls.record(group)
            self._unused.update((one.item, one) for one in unused)
            self.answered += len(group) - len(unused)

    @property
    def is_anothers(self) -> bool:
        """Whether these are the results of another batch, which was found by time and count alone."""
        return self._facts.uncertain and bool(self.unknown) and not self.names_calls

    @property
    def names_calls(self) -> bool:
        """Whether a result, now or before, is of a call of this batch."""
        return any(self._seen)

    def refused(self, state: BatchState) -> bool:
        """Whether nothing of the batch was computed, as the provider says with `state`."""
        return state.failed and not self._lines and not state.counts.answered

    def gap(self, state: BatchState) -> str | None:
        """What is not there and should be, as the provider counts with `state`, in words; None: nothing."""
        missing = sum(not seen for seen in self._seen[1:])
        if not missing or self.refused(state):
            return None
        answered, failed = self._lines[ItemEnd.ANSWERED], self._lines[ItemEnd.ERRORED]
        counts = state.counts
        known = counts.answered is not None and counts.failed is not None
        if (
            known
            and answered >= (counts.answered or 0)
            and answered + failed >= (counts.answered or 0) + (counts.failed or 0)
        ):
            return None  # the provider says itself that it has no more
        which = "it cannot be read" if self.unreadable else "it has no line"
        return f"of {pluralize(missing, 'call')} {which} in the results"

    def billed(self, counts: BatchCounts) -> float:
        """What the batch cost, in US dollars; a call of an unknown cost counts with the most that it can be.

        So does one that the provider counts as answered, or does not say that it is not, and of which no result says
        what it cost. What expired, or was cancelled, was not computed.
        """
        prepared, calls = self._facts.prepared, self._answered_calls
        each = (prepared.most or 0.0) / prepared.items
        unused = [one for one in self._unused.values() if one.end not in _NOT_COMPUTED]
        unknown = calls.unpriced + sum(one.cost is None for one in unused) + self._undelivered(counts)
        return calls.cost_sum + unknown * each + sum(one.cost or 0.0 for one in unused)

    def _undelivered(self, counts: BatchCounts) -> int:
        """How many calls without a result may have been answered, as the provider counts."""
        missing = sum(not seen for seen in self._seen[1:])
        if counts.answered is None:
            return missing
        others = sum(self._lines[end] for end in (ItemEnd.ERRORED, ItemEnd.CANCELLED, ItemEnd.EXPIRED))
        return max(0, min(missing, counts.answered - (len(self._calls) - missing - others)))

    def unanswered(self) -> Iterator[Unused]:
        """The items that are no exchange, by number."""
        for number in range(1, len(self._calls) + 1):
            if number in self._unused:
                yield self._unused[number]
            elif not self._seen[number]:
                yield Unused(number, "missing", Usage(), None, None)

    def remarks(self, of: str) -> Iterator[str]:
        """A line for each kind of thing that is odd about the results; `of` names the batch."""
        ends = Counter(one.end for one in self.unanswered())
        for end, count in sorted(ends.items()):
            yield f"{of}: {pluralize(count, 'call')} {_SAID[end]}"
        if self.unknown:
            yield f"{of}: {pluralize(self.unknown, 'line')} of its results name no call of it, and are not used"
        if self.doubled:
            yield f"{of}: {pluralize(self.doubled, 'line')} of its results name a call that another line has named"
        if self.unreadable:
            yield f"{of}: {pluralize(self.unreadable, 'line')} of its results cannot be read"


_SAID: dict[UnansweredEnd, str] = {
    "expired": "expired; made again",
    "cancelled": "cancelled; made again",
    "missing": "missing in its results; made again",
    "unreadable": "answered unreadably; made again",
    "superseded": "answered something that is not asked any more; not used",
}
