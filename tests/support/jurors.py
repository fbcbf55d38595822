"""Fakes around a juror: a scripted provider, a clerk that can be blocked, and requests made by the rules."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from jury_actors import CalledModel, LoggedCalls, StepRequest, StepResult, logged_calls
from jury_events import Case, DebateHistory, ExchangeRecorded, Step, StoredEvent, calls_stream, decode
from jury_providers import ModelReply, ModelRequest, OnChunk, Provider, SimulatedProvider
from jury_store import Append, Appended, EventStore, MemoryEventStore, StoreError
from support.debate_harness import DebateHarness, a_case, a_panel, by_round

Turn = ModelReply | Exception | Callable[[ModelRequest], ModelReply] | None
"""The answer to a call; None: a usable answer, or the tools that a simulated juror asks for."""


class ScriptedProvider(Provider):
    """Answers calls in order by the script, then usably; keeps every request.

    Args:
        turns: answers of the first calls.
        most: calls at once.
    """

    simulated = True

    def __init__(self, *turns: Turn, most: int | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self.running = 0
        self.most_running = 0
        self.closed = False
        self.open = asyncio.Event()
        self.open.set()
        self.max_in_flight = most
        self._turns = deque(turns)
        self._reader = SimulatedProvider()

    @property
    def traces(self) -> list[str]:
        return [request.trace for request in self.requests]

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            turn = self._turns.popleft() if self._turns else None
            await self.open.wait()
            if isinstance(turn, Exception):
                raise turn
            if isinstance(turn, ModelReply):
                return turn
            return await self._reader.call(request, on_chunk) if turn is None else turn(request)
        finally:
            self.running -= 1

    async def close(self) -> None:
        self.closed = True


class BlockableClerk:
    """A clerk over a store, in the same loop; `open` lets batches through, `refusal` is its next answer instead.

    A `failure` is raised instead of storing anything.
    """

    def __init__(self, store: EventStore | None = None) -> None:
        self.store = store or MemoryEventStore()
        self.batches: list[Sequence[Append]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.refusal: StoreError | None = None
        self.failure: Exception | None = None

    async def record(self, batch: Sequence[Append]) -> list[Appended | StoreError]:
        self.batches.append(batch)
        await self.open.wait()
        if self.failure is not None:
            raise self.failure
        if self.refusal is not None:
            refusal, self.refusal = self.refusal, None
            return [refusal for _ in batch]
        return self.store.append(batch)

    async def next_epoch(self) -> int:
        return self.store.next_epoch()

    async def recall(self, debate_ids: Sequence[str]) -> dict[str, DebateHistory]:
        return {history.debate_id: history for history in self.store.histories(debate_ids)}

    async def recorded(self, debate_id: str) -> frozenset[str]:
        return frozenset(event.event_id for event in self.store.read_stream(calls_stream(debate_id)))

    async def logged(self, called: CalledModel, since: int, until: int | None) -> LoggedCalls:
        return logged_calls(self.store, called, since, until)

    def exchanges(self, debate_id: str = "d1") -> list[ExchangeRecorded]:
        """What is recorded of a debate's calls."""
        decoded = [decode(stored) for stored in self.store.read_stream(calls_stream(debate_id))]
        return [exchange for exchange in decoded if isinstance(exchange, ExchangeRecorded)]

    def text(self, digest: bytes, debate_id: str = "d1") -> str:
        """A stored text."""
        return self.store.parts(debate_id, [digest])[digest].content.decode()


class Asking:
    """A debate that has just opened, from which the asks of phase 1 are made; `spec` as in a panel file."""

    def __init__(self, case: Case | None = None, **spec: object) -> None:
        self.case = case or a_case()
        room = DebateHarness(a_panel(**spec), by_round({}), case=self.case)
        self.debate = room.debate
        self.texts = room.pen.texts

    def ask(
        self, juror_id: str = "gpt", *, prior: Sequence[StoredEvent] = (), stored: EventStore | None = None
    ) -> StepRequest:
        """The first step of a seat; the texts of `prior` are those in `stored`."""
        assignment = self.debate.assign(Step(0, juror_id))
        texts = {ref.part: self.texts[ref.part] for message in assignment.messages for ref in message.parts}
        if stored is not None:
            texts |= {part.ref.part: part.content for part in stored.parts(assignment.debate_id).values()}
        case = self.debate.state.debate.case
        texts[case.part] = self.texts[case.part]
        return StepRequest(assignment, texts, case if assignment.tools else None, tuple(prior))


async def results_of(juror: object, count: int = 1) -> list[StepResult]:
    """The next `count` results of a juror, unacknowledged ones included."""
    incarnation, ack = "", 0
    results: list[StepResult] = []
    while len(results) < count:
        delivery = await juror.poll("", incarnation, ack)  # type: ignore[attr-defined]
        incarnation, ack = delivery.incarnation, delivery.upto
        results += delivery.items
    return results
