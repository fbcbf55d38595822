"""The log's one writer, and the link that others reach it by."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from jury_events.envelope import StoredEvent
from jury_events.ids import calls_stream, debate_stream, local_stream, streams_of
from jury_events.parts import Part
from jury_store.errors import StoreError
from jury_store.event_store import Append, Appended, EventStore
from jury_store.group_commit import GroupCommitter
from jury_store.seals.seal import Seal

_BATCH_ITEMS = 500
_BATCH_BYTES = 1024 * 1024


class Recollection(NamedTuple):
    """Everything that the log holds of a debate: its streams in order (`local`: what the store did), every text."""

    events: list[StoredEvent]
    exchanges: list[StoredEvent]
    parts: list[Part]
    local: Sequence[StoredEvent] = ()


class ClerkPort(Protocol):
    """What a clerk does for others, wherever it lives."""

    async def record(self, batch: Sequence[Append]) -> list[Appended | StoreError]:
        """Store a batch; durable when it returns. A repeated batch does no harm."""
        ...

    async def next_epoch(self) -> int:
        """A writer's number that none had before."""
        ...

    async def recall(self, debate_ids: Sequence[str]) -> dict[str, Recollection]:
        """What the log holds of those debates that exist."""
        ...

    async def keep_seal(self, seal: Seal) -> bool:
        """Store a seal over the log; False when there is one over as many events already."""
        ...

    async def keep_run_size(self, run_id: str, cases: int | None) -> None:
        """Note how many cases a run has; None: they are still being counted."""
        ...


class Clerk:
    """Writes in one thread with group commit; reads beside it.

    Args:
        store: open for writing; the clerk's to close.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._committer = GroupCommitter(store)

    async def record(self, batch: Sequence[Append]) -> list[Appended | StoreError]:
        """See `ClerkPort`; raises `StoreFailed` when the database failed, and nothing of the batch is kept."""
        return await asyncio.wrap_future(self._committer.submit_many(batch))

    async def next_epoch(self) -> int:
        """See `ClerkPort`."""
        return await asyncio.to_thread(self._store.next_epoch)

    async def recall(self, debate_ids: Sequence[str]) -> dict[str, Recollection]:
        """See `ClerkPort`."""
        return await asyncio.to_thread(self._recall, debate_ids)

    async def keep_seal(self, seal: Seal) -> bool:
        """See `ClerkPort`."""
        return await asyncio.to_thread(self._store.keep_seal, seal)

    async def keep_run_size(self, run_id: str, cases: int | None) -> None:
        """See `ClerkPort`."""
        await asyncio.to_thread(self._store.keep_run_size, run_id, cases)

    def _recall(self, debate_ids: Sequence[str]) -> dict[str, Recollection]:
        known = self._store.heads([debate_stream(debate) for debate in debate_ids])
        found = [debate for debate in debate_ids if debate_stream(debate) in known]
        if not found:
            return {}
        streams = self._store.read_streams([stream for one in found for stream in streams_of(one)])
        parts = self._store.parts_of(found)
        return {
            debate: Recollection(
                events=streams.get(debate_stream(debate), []),
                exchanges=streams.get(calls_stream(debate), []),
                parts=list(parts.get(debate, {}).values()),
                local=streams.get(local_stream(debate), []),
            )
            for debate in found
        }

    def close(self) -> None:
        """Store what waits, then let go of the database."""
        self._committer.close()
        self._store.close()


class ClerkLink:
    """Appends of many tasks in few messages: what waits travels together while an earlier batch is being stored.

    Args:
        port: the clerk.
        in_flight: batches on their way at once.
    """

    def __init__(self, port: ClerkPort, *, in_flight: int = 2) -> None:
        self._port = port
        self._waiting: list[tuple[Append, asyncio.Future[Appended]]] = []
        self._slots = in_flight
        self._sending = 0
        self._senders: set[asyncio.Task[None]] = set()

    async def append(self, append: Append) -> Appended:
        """Append to the log; returns when it is durable.

        Raises:
            StoreError: it was refused, or the store failed.
        """
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self._waiting.append((append, future))
        if self._sending < self._slots:
            self._sending += 1
            sender = asyncio.create_task(self._send())
            self._senders.add(sender)
            sender.add_done_callback(self._senders.discard)
        return await future

    async def drain(self) -> None:
        """Wait until all that was given is stored or refused, even where nobody waits for it any more."""
        await asyncio.gather(*self._senders)

    async def _send(self) -> None:
        try:
            await asyncio.sleep(0)  # lets every task that is ready add its own
            while self._waiting:
                batch = self._take()
                try:
                    results = await self._port.record([append for append, _ in batch])
                except Exception as error:  # noqa: BLE001  (every waiting task gets it)
                    for _, future in batch:
                        if not future.done():
                            future.set_exception(error)
                    continue
                for (_, future), result in zip(batch, results, strict=True):
                    if future.done():
                        continue
                    if isinstance(result, StoreError):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            # Here and not when the task is seen to be done: what is appended in between would find no sender.
            self._sending -= 1

    def _take(self) -> list[tuple[Append, asyncio.Future[Appended]]]:
        size = count = 0
        for append, _ in self._waiting[:_BATCH_ITEMS]:
            size += sum(len(event.body) + sum(len(part.content) for part in event.parts) for event in append.events)
            count += 1
            if size > _BATCH_BYTES:
                break
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch
