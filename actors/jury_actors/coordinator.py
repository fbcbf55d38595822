"""Debates driven at once, by one coordinator or by several.

The log knows nothing of this. A debate is fenced by the epoch in its own stream, so a run goes on with any number.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Protocol

from jury_actors.background import has_failed
from jury_actors.clerk import ClerkClient, ClerkInterface
from jury_actors.debate_process import DebateProcess
from jury_actors.effects import Effects
from jury_actors.errors import Broken
from jury_actors.juror_client import JurorClient, JurorInterface, JurorPool, Replicas, place_of
from jury_actors.load import JurorLoad, RuntimeLoad, SeatLoad, merged
from jury_actors.mailbox import Delivery, IncarnationLost, MailboxClient, Outbox
from jury_actors.messages import AnswerBegan, Chunk, Finished, Job, StepResult
from jury_actors.observation.observer import UNOBSERVED, Observer
from jury_actors.observation.tallies import DEBATES_IN_FLIGHT
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


@dataclass
class _Driver:
    outbox: Outbox[Finished | Chunk]
    debates: set[str] = field(default_factory=set)


class Coordinator:
    """Runs debates for its clients.

    Args:
        name: of this coordinator, the same for its successors: jurors keep an outbox for it.
        linger: seconds that messages wait for more.
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

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        """See `CoordinatorInterface`; a debate that the log knows goes on where it stands."""
        self._client(client).debates.update([job.debate_id for job in jobs])
        # Its epoch is drawn once: in debates that it writes to, older epochs are refused from now on. A draw that
        # failed is made again by the next submission: the disk may have room by then.
        if self._starting is None or has_failed(self._starting):
            self._starting = asyncio.ensure_future(self.clerk.next_epoch())
        self.epoch = await asyncio.shield(self._starting)
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
        if name not in self._clients:
            self._clients[name] = _Driver(Outbox(self._incarnation, linger=self._linger))
        return self._clients[name]

    async def _run(self, process: DebateProcess, job: Job, known: DebateHistory | None) -> None:
        debate_id = job.debate_id
        takeovers = 0
        try:
            while True:
                try:
                    finished = await process.run(known)
                    break
                except (WrongVersion, EventConflict):
                    # A predecessor's last append came after the log was read: it is read again.
                    takeovers += 1
                    if takeovers > _TAKEOVERS:
                        raise
                    known = (await self.clerk.recall([debate_id])).get(debate_id)
                    process = DebateProcess(self, job)
                    self._processes[debate_id] = (process, self._processes[debate_id][1])
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


_CPUS_EACH = 4
"""CPUs that one coordinator keeps busy: it does a third to a fourth of all work (`docs/ray.md`)."""

MOST = 2
"""Beyond these the clerk is what is full: it spends about two thirds of a coordinator's CPU time a debate."""


def coordinators_for(cpus: float) -> int:
    """How many coordinators a runtime gets on a cluster with so many CPUs."""
    return max(1, min(MOST, int(cpus // _CPUS_EACH)))


class CoordinatorsClient:
    """One client of all coordinators (see `MailboxClient`); polls only those that it sent debates to.

    Args:
        on_item: called with each debate that ended, and each piece of a watched answer.
        on_loss: called when a coordinator is lost; returns the debates to submit again, of which its successor gets its
            own.
        on_error: called once, with the first error that is not a loss; the client stops, for all coordinators.
    """

    def __init__(
        self,
        name: str,
        coordinators: Sequence[CoordinatorInterface],
        *,
        on_item: Callable[[Finished | Chunk], None],
        on_loss: Callable[[list[Job]], Iterable[Job]],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._name = name
        self._coordinators = coordinators
        self._on_item = on_item
        self._on_loss = on_loss
        self._on_error = on_error
        self._mailboxes: dict[int, MailboxClient[Job, Finished | Chunk]] = {}
        self._problem: Exception | None = None

    def send(self, *jobs: Job) -> None:
        """Submit debates, each to its coordinator."""
        if self._problem is not None:
            return
        for place, its_jobs in self._by_place(jobs).items():
            if place not in self._mailboxes:
                self._mailboxes[place] = self._open(place)
            self._mailboxes[place].send(*its_jobs)

    def fail(self, error: Exception) -> None:
        """Stop with an error; only the first one is reported."""
        if self._problem is None:
            self._problem = error
            self._on_error(error)
            for mailbox in self._mailboxes.values():
                mailbox.fail(error)

    async def close(self) -> None:
        """Stop submitting and polling."""
        await asyncio.gather(*(mailbox.close() for mailbox in self._mailboxes.values()))

    async def leave(self) -> None:
        """Stop the debates that no other client waits for; a coordinator that does not answer runs none."""
        leaving = (self._coordinators[place].leave(self._name) for place in self._mailboxes)
        await asyncio.gather(*leaving, return_exceptions=True)

    def _open(self, place: int) -> MailboxClient[Job, Finished | Chunk]:
        coordinator = self._coordinators[place]

        def lost(unconfirmed: list[Job]) -> Iterable[Job]:
            return self._by_place(list(self._on_loss(unconfirmed))).get(place, ())

        return MailboxClient(
            partial(coordinator.submit, self._name),
            partial(coordinator.poll, self._name),
            on_item=self._on_item,
            on_loss=lost,
            on_error=self.fail,
        )

    def _by_place(self, jobs: Collection[Job]) -> dict[int, list[Job]]:
        if len(self._coordinators) == 1:
            return {0: list(jobs)} if jobs else {}
        found: dict[int, list[Job]] = {}
        for job in jobs:
            found.setdefault(place_of(job.debate_id, len(self._coordinators)), []).append(job)
        return found


class Coordinators:
    """What concerns all coordinators of a runtime.

    Where one of them is lost, these calls raise `IncarnationLost`; the others get them all the same.

    Args:
        coordinators: none where no debate runs.
    """

    def __init__(self, coordinators: Sequence[CoordinatorInterface]) -> None:
        self.all = coordinators

    async def use_replicas(self, replicas: Replicas) -> frozenset[str]:
        """See `CoordinatorInterface`; a replica is named while any coordinator uses it."""
        used = await asyncio.gather(*(one.use_replicas(replicas) for one in self.all))
        return frozenset[str]().union(*used)

    async def cancel(self, run_id: str, by: str) -> None:
        """See `CoordinatorInterface`."""
        await asyncio.gather(*(one.cancel(run_id, by) for one in self.all))

    async def load(self, run_id: str | None) -> RuntimeLoad:
        """See `CoordinatorInterface`; the sum of all."""
        loads = await asyncio.gather(*(one.load(run_id) for one in self.all))
        return reduce(RuntimeLoad.plus, loads) if loads else RuntimeLoad(0, (), 0)
