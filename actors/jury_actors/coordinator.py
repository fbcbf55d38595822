"""Runs many debates at once. Keeps no state of its own: all of it can be folded from the log again."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from jury_actors.clerk import ClerkClient, ClerkInterface
from jury_actors.debate_process import DebateProcess
from jury_actors.effects import Effects
from jury_actors.errors import Broken
from jury_actors.failing import has_failed
from jury_actors.juror_client import JurorClient, JurorInterface
from jury_actors.juror_pool import JurorPool, Replicas
from jury_actors.load import JurorLoad, RuntimeLoad, SeatLoad, merged
from jury_actors.mailbox import Delivery, IncarnationLost, Outbox
from jury_actors.messages import AnswerBegan, Chunk, Finished, Job, StepResult
from jury_actors.observation.metric_list import DEBATES_IN_FLIGHT
from jury_actors.observation.observer import UNOBSERVED, Observer
from jury_debate.shared_prompts import RoundsSeen
from jury_events.debate_history import DebateHistory
from jury_events.errors import JuryError
from jury_providers.caching import KEEPS_NOTHING, CachePolicy
from jury_store.errors import EventConflict, WrongVersion

_log = logging.getLogger(__name__)

WARM_SECONDS = 10.0
"""A model that has not begun to answer by then may think for minutes; the others are asked without what it wrote."""

_RUNS_SEEN = 1000
"""A server's coordinator has many runs; what the oldest have shown is forgotten."""

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

    async def use_replicas(self, replicas: Replicas) -> frozenset[str]:
        """Use these juror processes from now on; see `JurorPool.use`."""
        ...

    async def cancel(self, run_id: str, by: str) -> None:
        """Cancel the debates of a run that are being run, for good; each ends as any other does."""
        ...

    async def load(self, run_id: str | None) -> RuntimeLoad:
        """What is being done now for a run; None: for all."""
        ...


class _Driver:
    def __init__(self, incarnation: str, linger: float) -> None:
        self.outbox: Outbox[Finished | Chunk] = Outbox(incarnation, linger=linger)
        self.debates: set[str] = set()


class Coordinator:
    """Runs debates for its clients.

    Args:
        clerk: keeps the log.
        replicas: the juror processes of each seat.
        connect: gives the juror of a name.
        name: of this coordinator, the same for its successors: jurors keep an outbox for it.
        effects: clock and entropy.
        linger: seconds that messages wait for more.
        observer: gets reports of the debates.
        cache_policy: decides what providers are asked to keep of prompts.
        warm_seconds: the longest that steps wait for the answer of another one to begin.
    """

    def __init__(
        self,
        clerk: ClerkInterface,
        replicas: Replicas,
        connect: Callable[[str], JurorInterface],
        *,
        name: str = "",
        effects: Effects = Effects(),
        linger: float = 0.0,
        observer: Observer = UNOBSERVED,
        cache_policy: CachePolicy = KEEPS_NOTHING,
        warm_seconds: float = WARM_SECONDS,
    ) -> None:
        self.clerk = clerk
        self.writer = ClerkClient(clerk, observer=observer)
        self.effects = effects
        self.observer = observer
        observer.gauge(DEBATES_IN_FLIGHT, self._phases)
        self.cache_policy = cache_policy
        self.warm_seconds = warm_seconds
        self._rounds_seen: dict[str | None, RoundsSeen] = {}
        self.epoch = 0
        self._starting: asyncio.Future[int] | None = None
        self._incarnation = effects.entropy(8).hex()
        self._linger = linger
        self._clients: dict[str, _Driver] = {}
        self._processes: dict[str, tuple[DebateProcess, asyncio.Task[None]]] = {}
        self._closed = False
        self.jurors = JurorPool(
            replicas,
            lambda juror: JurorClient(
                connect(juror),
                self._deliver,
                self._lose,
                self._publish,
                self._begin,
                reply_to=name,
                linger=linger,
            ),
        )

    def juror(self, debate_id: str, juror_id: str | None) -> JurorClient:
        """See `JurorPool.juror`."""
        return self.jurors.juror(debate_id, juror_id)

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        """See `CoordinatorInterface`; a debate that the log knows goes on where it stands.

        Raises:
            StoreError: the log cannot be read or written.
        """
        self._client(client).debates.update(job.debate_id for job in jobs)
        await self._start()
        new = [job for job in jobs if job.debate_id not in self._processes]
        unread = [job.debate_id for job in new if job.known is None]
        known = await self.clerk.recall(unread) if unread else {}
        for job in new:
            if self._closed or client not in self._clients or job.debate_id in self._processes:
                continue
            recorded = known.get(job.debate_id) if job.known is None else job.known
            kept = job._replace(known=None)  # what was recorded then is read once
            process = DebateProcess(self, kept)
            task = asyncio.create_task(self._run(process, kept, recorded))
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
                self.jurors.release(debate)

    async def use_replicas(self, replicas: Replicas) -> frozenset[str]:
        """See `CoordinatorInterface`."""
        return await self.jurors.use(replicas)

    async def cancel(self, run_id: str, by: str) -> None:
        """See `CoordinatorInterface`; what models are answering now is still recorded before a debate ends."""
        for process, _ in self._processes.values():
            if process.run_id == run_id:
                process.cancel(by)

    async def load(self, run_id: str | None) -> RuntimeLoad:
        """See `CoordinatorInterface`."""
        running = sum(run_id in {None, process.run_id} for process, _ in self._processes.values())
        seats = [await self._seat_load(run_id, seat, replicas) for seat, replicas in self.jurors.by_seat()]
        return RuntimeLoad(running, tuple(seats), self.writer.waiting)

    async def _seat_load(self, run_id: str | None, seat: str | None, replicas: Sequence[JurorClient]) -> SeatLoad:
        calls: JurorLoad | None
        try:
            calls = merged(await asyncio.gather(*(one.load(run_id) for one in replicas)))
        except IncarnationLost:
            calls = None
        steps = sum(one.outstanding(run_id) for one in replicas)
        return SeatLoad(seat, steps, sum(one.queued for one in replicas), calls)

    def rounds_seen(self, run_id: str | None) -> RoundsSeen:
        """See `RuntimeContext`."""
        if run_id not in self._rounds_seen and len(self._rounds_seen) >= _RUNS_SEEN:
            del self._rounds_seen[next(iter(self._rounds_seen))]
        return self._rounds_seen.setdefault(run_id, RoundsSeen())

    def stop_steps(self, debate_id: str) -> None:
        """See `RuntimeContext`."""
        self.jurors.stop_steps(debate_id)

    async def close(self) -> None:
        """Stop at once; what is not finished can be resumed, and nothing is taken any more."""
        self._closed = True
        await _cancel(task for _, task in self._processes.values())
        for juror in self.jurors.clients:
            await juror.close()

    def _client(self, name: str) -> _Driver:
        return self._clients.setdefault(name, _Driver(self._incarnation, self._linger))

    async def _start(self) -> None:
        """Draw this coordinator's epoch, once: in debates that it writes to, older epochs are refused from now on.

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
        self.jurors.release(debate_id)
        self._processes.pop(debate_id, None)
        if finished.problem is not None:
            self.observer.debate_stopped(process.subject, finished.problem)
        self._publish(finished)

    def _phases(self) -> list[tuple[tuple[str], float]]:
        counted = Counter(process.phase for process, _ in list(self._processes.values()))
        return [((phase,), float(count)) for phase, count in counted.items()]

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

    def _deliver(self, result: StepResult) -> None:
        if (running := self._processes.get(result.debate_id)) is not None:
            running[0].deliver(result)

    def _begin(self, began: AnswerBegan) -> None:
        if (running := self._processes.get(began.debate_id)) is not None:
            running[0].begin(began)

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
