"""The streams of batches: read from the store, written by the clerk."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from jury_actors.clerk import ClerkInterface
from jury_actors.effects import Effects
from jury_events.batch_events import BatchedExchange, BatchItemsListed
from jury_events.batch_facts import BatchFacts, batch_facts, batched_calls
from jury_events.codec import BatchEvent, encode
from jury_events.ids import batch_stream, local_stream, stream_debate
from jury_events.local_facts import LocalFacts, local_facts
from jury_events.parts import SALT_BYTES, Part, PartRef, make_part
from jury_store.errors import StoreError
from jury_store.event_store import Append, EventStore

if TYPE_CHECKING:
    from jury_actors.batches.wave_spool import FilledSpool

_PAGE = 1000
"""Items an event."""


class BatchLog:
    """What is recorded of batches."""

    def __init__(self, store: EventStore, clerk: ClerkInterface, effects: Effects) -> None:
        self._store = store
        self._clerk = clerk
        self._effects = effects

    async def of_run(self, run_id: str) -> list[BatchFacts]:
        """The batches of a run, the oldest first."""
        return await asyncio.to_thread(lambda: list(batches_of(self._store, run_id)))

    async def calls(self, batch_id: str) -> list[tuple[BatchedExchange, str | None]]:
        """The items in order, each with the recorded SHA-256 of what was sent; None: it was erased."""
        return await asyncio.to_thread(self._calls, batch_id)

    def _calls(self, batch_id: str) -> list[tuple[BatchedExchange, str | None]]:
        parts = {part.ref.part: part.content for part in self._store.parts(batch_id).values()}
        found = batched_calls(self._store.read_stream(batch_stream(batch_id)))
        return [(call, parts[call.body.part].decode() if call.body.part in parts else None) for _, call in found]

    async def provider_ids(self, but: str) -> frozenset[str]:
        """The providers' ids of all batches of the store except the batch `but`, and those that were imported."""

        def read() -> frozenset[str]:
            ids = self._store.batch_ids()
            elsewhere = {name for name, facts in local_facts_of(self._store, ids).items() if facts.imported is not None}
            known = [self._facts(one) for one in ids if one != but and one not in elsewhere]
            return frozenset(one.submitted.provider_id for one in known if one.submitted is not None)

        return await asyncio.to_thread(read)

    async def open(self, prepared: BatchEvent, batch_id: str, spool: "FilledSpool") -> BatchFacts:
        """Record a batch and its items, before anything of it is sent."""
        events: list[BatchEvent] = [prepared]
        parts: list[Part] = []
        for start in range(0, len(spool.calls), _PAGE):
            page = spool.calls[start : start + _PAGE]
            made = [make_part(one.digest.encode(), self._effects.entropy(SALT_BYTES)) for one in page]
            calls = [
                BatchedExchange(debate_id=one.debate_id, exchange=one.exchange, body=PartRef(part=part.ref.part))
                for one, part in zip(page, made, strict=True)
            ]
            events.append(BatchItemsListed(first=start + 1, calls=tuple(calls)))
            parts += made
        await self._append(batch_id, events, 0, tuple(parts))
        return await self.facts(batch_id)

    async def add(self, facts: BatchFacts, *events: BatchEvent, parts: tuple[Part, ...] = ()) -> BatchFacts:
        """Record what happened to a batch."""
        batch_id = facts.prepared.batch_id
        await self._append(batch_id, events, facts.version, parts)
        stream = batch_stream(batch_id)
        return await asyncio.to_thread(lambda: batch_facts(self._store.read_stream(stream, after=facts.version), facts))

    async def facts(self, batch_id: str) -> BatchFacts:
        """How far a batch is."""
        return await asyncio.to_thread(self._facts, batch_id)

    def _facts(self, batch_id: str) -> BatchFacts:
        return batch_facts(self._store.read_stream(batch_stream(batch_id)))

    async def _append(self, batch_id: str, events: Sequence[BatchEvent], version: int, parts: tuple[Part, ...]) -> None:
        now, last = self._effects.clock(), len(events) - 1
        new = tuple(
            encode(event, recorded_at=now, parts=parts if index == last else ()) for index, event in enumerate(events)
        )
        (answer,) = await self._clerk.record([Append(batch_stream(batch_id), new, expected_version=version)])
        if isinstance(answer, StoreError):
            raise answer


def batches_of(store: EventStore, run_id: str | None) -> Iterator[BatchFacts]:
    """The batches of a run (None: of all), the oldest first.

    An imported one that a person has put in quarantine is left out: its calls count as never sent.
    """
    ids = store.batch_ids(run_id)
    aside = {
        name
        for name, facts in local_facts_of(store, ids).items()
        if facts.imported is not None and facts.quarantine is not None
    }
    found = [batch_facts(store.read_stream(batch_stream(one))) for one in ids if one not in aside]
    yield from sorted(found, key=lambda one: (one.prepared_at, one.prepared.batch_id))


def local_facts_of(store: EventStore, ids: Collection[str]) -> dict[str, LocalFacts]:
    """What this store did with batches, by id: their import and quarantine; nothing of those recorded here."""
    found = store.read_streams([local_stream(one) for one in ids]) if ids else {}
    return {stream_debate(stream): local_facts(events) for stream, events in found.items()}
