"""Drives many debates at once. Holds no truth: what it knows of a debate it can fold from the log again."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence

from jury_actors.clerk import ClerkLink, ClerkPort, Recollection
from jury_actors.errors import Broken
from jury_actors.failing import has_failed
from jury_actors.juror_link import JurorLink, JurorPort
from jury_actors.messages import Chunk, Delivery, Finished, Job, Told
from jury_actors.outbox import Outbox
from jury_actors.sitting import Sitting, replica
from jury_actors.sources import Sources
from jury_events.errors import JuryError
from jury_store.errors import EventConflict, WrongVersion
from jury_store.seals.seal import Seal

_log = logging.getLogger(__name__)

_TAKEOVERS = 5
"""How often a debate is read again because somebody else wrote to it meanwhile."""


class Coordinator:
    """The one that holds the debates.

    Args:
        clerk: keeps the log.
        jurors: the replicas of each seat, by juror id; under None those of the final judge.
        sources: time and chance.
        linger: seconds that messages wait for company.
    """

    def __init__(
        self,
        clerk: ClerkPort,
        jurors: Mapping[str | None, Sequence[JurorPort]],
        *,
        sources: Sources = Sources(),
        linger: float = 0.0,
    ) -> None:
        self.clerk = clerk
        self.writer = ClerkLink(clerk)
        self.sources = sources
        self.epoch = 0
        self._starting: asyncio.Future[int] | None = None
        self._outbox: Outbox[Finished | Chunk] = Outbox(sources.entropy(8).hex(), linger=linger)
        self._sittings: dict[str, tuple[Sitting, asyncio.Task[None]]] = {}
        self._closed = False
        self._jurors = {
            seat: [JurorLink(port, self._deliver, self._lost, self._outbox.put, linger=linger) for port in ports]
            for seat, ports in jurors.items()
        }

    @property
    def links(self) -> Iterable[JurorLink]:
        """Every juror."""
        return (link for links in self._jurors.values() for link in links)

    def link(self, debate_id: str, juror_id: str | None) -> JurorLink:
        """The juror that does a seat's steps in a debate: always the same, so that texts travel to it once."""
        links = self._jurors[juror_id]
        return links[replica(debate_id, len(links))]

    async def submit(self, jobs: Sequence[Job]) -> None:
        """Take debates to hold. One that the log knows goes on where it stands, one that is held is left alone."""
        await self._start()
        new = [job for job in jobs if job.debate_id not in self._sittings]
        known = await self.clerk.recall([job.debate_id for job in new])
        for job in new:
            if self._closed or job.debate_id in self._sittings:
                continue
            sitting = Sitting(self, job)
            task = asyncio.create_task(self._hold(sitting, job, known.get(job.debate_id)))
            self._sittings[job.debate_id] = (sitting, task)

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        """Debates that ended, and pieces of watched answers; see `Outbox.poll`."""
        return await self._outbox.poll(life, ack)

    async def release(self, debate_ids: Sequence[str]) -> None:
        """Stop debates where they are; they can be resumed. What models are answering now is still recorded."""
        held = [self._sittings.pop(debate_id, None) for debate_id in debate_ids]
        tasks = [task for _, task in filter(None, held)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for debate_id in debate_ids:
            if debate_id not in self._sittings:
                for link in self.links:
                    link.release(debate_id)

    async def store_seal(self, seal: Seal) -> bool:
        """Hand a seal to the clerk, who is the only one to write."""
        return await self.clerk.store_seal(seal)

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """Hand the size of a run to the clerk, who is the only one to write."""
        await self.clerk.store_run_size(run_id, cases)

    async def close(self) -> None:
        """Stop at once; what is not finished can be resumed, and nothing is taken any more."""
        self._closed = True
        tasks = [task for _, task in self._sittings.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for link in self.links:
            await link.close()

    async def _start(self) -> None:
        """Draw this coordinator's epoch, once: writers with an older epoch are refused from now on.

        A draw that failed is made again by the next submission: the disk may have room by then.
        """
        if self._starting is None or has_failed(self._starting):
            self._starting = asyncio.ensure_future(self.clerk.next_epoch())
        self.epoch = await asyncio.shield(self._starting)

    async def _hold(self, sitting: Sitting, job: Job, known: Recollection | None) -> None:
        debate_id = job.debate_id
        try:
            finished = await self._held(sitting, job, known)
        except JuryError as error:
            # Without its traceback, whose frames hold the whole debate.
            error.__cause__ = error.__context__ = None
            finished = Finished(debate_id, "unfinished", error.with_traceback(None))
        except Exception as error:  # noqa: BLE001  (one debate's trouble is reported, the others go on)
            _log.info("debate %s broke", debate_id, exc_info=True)
            problem = Broken(f"debate {debate_id}: {type(error).__name__}: {error}")
            finished = Finished(debate_id, "unfinished", problem)
        for link in self.links:
            link.release(debate_id)
        self._sittings.pop(debate_id, None)
        self._outbox.put(finished)

    async def _held(self, sitting: Sitting, job: Job, known: Recollection | None) -> Finished:
        """Hold a debate. Where a predecessor's last append came after the log was read, it is read again."""
        for _ in range(_TAKEOVERS):
            try:
                return await sitting.hold(known)
            except (WrongVersion, EventConflict):
                known = (await self.clerk.recall([job.debate_id])).get(job.debate_id)
                sitting = Sitting(self, job)
                self._sittings[job.debate_id] = (sitting, self._sittings[job.debate_id][1])
        return await sitting.hold(known)

    def _deliver(self, told: Told) -> None:
        held = self._sittings.get(told.debate_id)
        if held is not None:
            held[0].tell(told)

    def _lost(self, steps: list[tuple[str, str]]) -> None:
        by_debate: dict[str, list[str]] = {}
        for debate_id, step_id in steps:
            by_debate.setdefault(debate_id, []).append(step_id)
        for debate_id, step_ids in by_debate.items():
            held = self._sittings.get(debate_id)
            if held is not None:
                held[0].juror_lost(step_ids)
