"""Runs many debates at once. Keeps no state of its own: all of it can be folded from the log again."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from jury_actors.clerk import ClerkClient, ClerkInterface
from jury_actors.debate_process import DebateProcess, replica
from jury_actors.effects import Effects
from jury_actors.errors import Broken
from jury_actors.failing import has_failed
from jury_actors.juror_client import JurorClient, JurorInterface
from jury_actors.mailbox import Delivery, Outbox
from jury_actors.messages import Chunk, Finished, Job, StepResult
from jury_events.errors import JuryError
from jury_store.debate_history import DebateHistory
from jury_store.errors import EventConflict, WrongVersion

_log = logging.getLogger(__name__)

_TAKEOVERS = 5
"""How often a debate is read again because another process wrote to it meanwhile."""


class CoordinatorInterface(Protocol):
    """What a coordinator does for drivers; calls raise `IncarnationLost` when its process died.

    Each driver is a client with a name and an outbox.
    """

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        """Take debates to run; one that runs already is not begun again."""
        ...

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Finished | Chunk]:
        """The client's debates that ended, and pieces of watched answers; see `Outbox.poll`."""
        ...

    async def leave(self, client: str) -> None:
        """Stop the debates that no other client waits for; submitted again, they go on."""
        ...


class _Driver:
    def __init__(self, incarnation: str, linger: float) -> None:
        self.outbox: Outbox[Finished | Chunk] = Outbox(incarnation, linger=linger)
        self.debates: set[str] = set()


class Coordinator:
    """Runs debates for its clients.

    Args:
        clerk: keeps the log.
        jurors: the replicas of each seat, by juror id; under None those of the final judge.
        effects: clock and entropy.
        linger: seconds that messages wait for more.
    """

    def __init__(
        self,
        clerk: ClerkInterface,
        jurors: Mapping[str | None, Sequence[JurorInterface]],
        *,
        effects: Effects = Effects(),
        linger: float = 0.0,
    ) -> None:
        self.clerk = clerk
        self.writer = ClerkClient(clerk)
        self.effects = effects
        self.epoch = 0
        self._starting: asyncio.Future[int] | None = None
        self._incarnation = effects.entropy(8).hex()
        self._linger = linger
        self._clients: dict[str, _Driver] = {}
        self._processes: dict[str, tuple[DebateProcess, asyncio.Task[None]]] = {}
        self._closed = False
        self._jurors = {
            seat: [JurorClient(juror, self._deliver, self._lose, self._publish, linger=linger) for juror in replicas]
            for seat, replicas in jurors.items()
        }

    @property
    def jurors(self) -> Iterable[JurorClient]:
        """Every juror."""
        return (juror for replicas in self._jurors.values() for juror in replicas)

    def juror(self, debate_id: str, juror_id: str | None) -> JurorClient:
        """The replica that executes a seat's steps in a debate: always the same, so that texts are sent to it once."""
        replicas = self._jurors[juror_id]
        return replicas[replica(debate_id, len(replicas))]

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        """See `CoordinatorInterface`; a debate that the log knows goes on where it stands.

        Raises:
            StoreError: the log cannot be read or written.
        """
        self._client(client).debates.update(job.debate_id for job in jobs)
        await self._start()
        new = [job for job in jobs if job.debate_id not in self._processes]
        known = await self.clerk.recall([job.debate_id for job in new])
        for job in new:
            if self._closed or client not in self._clients or job.debate_id in self._processes:
                continue
            process = DebateProcess(self, job)
            task = asyncio.create_task(self._run(process, job, known.get(job.debate_id)))
            self._processes[job.debate_id] = (process, task)

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Finished | Chunk]:
        """See `CoordinatorInterface`."""
        return await self._client(client).outbox.poll(incarnation, ack)

    async def leave(self, client: str) -> None:
        """See `CoordinatorInterface`; what models are answering now is still recorded."""
        left = self._clients.pop(client, None)
        if left is None:
            return
        left.outbox.close()
        debates = [
            debate for debate in left.debates if not any(debate in one.debates for one in self._clients.values())
        ]
        processes = [self._processes.pop(debate, None) for debate in debates]
        await _cancel(task for _, task in filter(None, processes))
        for debate in debates:
            if debate not in self._processes:
                self._release(debate)

    async def close(self) -> None:
        """Stop at once; what is not finished can be resumed, and nothing is taken any more."""
        self._closed = True
        await _cancel(task for _, task in self._processes.values())
        for juror in self.jurors:
            await juror.close()

    def _client(self, name: str) -> _Driver:
        return self._clients.setdefault(name, _Driver(self._incarnation, self._linger))

    async def _start(self) -> None:
        """Draw this coordinator's epoch, once: writers with an older epoch are refused from now on.

        A draw that failed is made again by the next submission: the disk may have room by then.
        """
        if self._starting is None or has_failed(self._starting):
            self._starting = asyncio.ensure_future(self.clerk.next_epoch())
        self.epoch = await asyncio.shield(self._starting)

    async def _run(self, process: DebateProcess, job: Job, known: DebateHistory | None) -> None:
        debate_id = job.debate_id
        try:
            finished = await self._run_to_its_end(process, job, known)
        except JuryError as error:
            # Without its traceback, whose frames refer to the whole debate.
            error.__cause__ = error.__context__ = None
            finished = Finished(debate_id, "unfinished", error.with_traceback(None))
        except Exception as error:  # noqa: BLE001  (one debate's error is reported, the others go on)
            _log.info("debate %s broke", debate_id, exc_info=True)
            problem = Broken(f"debate {debate_id}: {type(error).__name__}: {error}")
            finished = Finished(debate_id, "unfinished", problem)
        self._release(debate_id)
        self._processes.pop(debate_id, None)
        self._publish(finished)

    async def _run_to_its_end(self, process: DebateProcess, job: Job, known: DebateHistory | None) -> Finished:
        """Where a predecessor's last append came after the log was read, it is read again."""
        for _ in range(_TAKEOVERS):
            try:
                return await process.run(known)
            except (WrongVersion, EventConflict):
                known = (await self.clerk.recall([job.debate_id])).get(job.debate_id)
                process = DebateProcess(self, job)
                self._processes[job.debate_id] = (process, self._processes[job.debate_id][1])
        return await process.run(known)

    def _publish(self, item: Finished | Chunk) -> None:
        """To every client that waits for the debate."""
        for client in self._clients.values():
            if item.debate_id in client.debates:
                client.outbox.put(item)
                if isinstance(item, Finished):
                    client.debates.discard(item.debate_id)

    def _release(self, debate_id: str) -> None:
        for juror in self.jurors:
            juror.release(debate_id)

    def _deliver(self, result: StepResult) -> None:
        if (running := self._processes.get(result.debate_id)) is not None:
            running[0].deliver(result)

    def _lose(self, steps: list[tuple[str, str]]) -> None:
        by_debate: dict[str, list[str]] = {}
        for debate_id, step_id in steps:
            by_debate.setdefault(debate_id, []).append(step_id)
        for debate_id, step_ids in by_debate.items():
            if (running := self._processes.get(debate_id)) is not None:
                running[0].lose(step_ids)


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    cancelled = list(tasks)
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)
