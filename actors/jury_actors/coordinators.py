"""The coordinators of a runtime, used as one: each debate belongs to one of them, by the hash of its id.

The log knows nothing of this. A debate is fenced by the epoch in its own stream, so a run goes on with any number.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce

from jury_actors.coordinator import CoordinatorInterface
from jury_actors.juror_pool import Replicas
from jury_actors.load import RuntimeLoad
from jury_actors.mailbox import MailboxClient
from jury_actors.messages import Chunk, Finished, Job
from jury_actors.placement import place_of

_CPUS_EACH = 4
"""CPUs that one coordinator keeps busy: it does a third to a fourth of all work (`docs/capacity.md`)."""

MOST = 2
"""Beyond these the clerk is what is full: it spends about two thirds of a coordinator's CPU time a debate."""


def coordinators_for(cpus: float) -> int:
    """How many coordinators a runtime gets on a cluster with so many CPUs."""
    return max(1, min(MOST, int(cpus // _CPUS_EACH)))


class CoordinatorsClient:
    """One client of all coordinators (see `MailboxClient`); polls only those that it sent debates to.

    Args:
        name: of the client.
        coordinators: of the runtime.
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
            return self._by_place(self._on_loss(unconfirmed)).get(place, ())

        return MailboxClient(
            partial(coordinator.submit, self._name),
            partial(coordinator.poll, self._name),
            on_item=self._on_item,
            on_loss=lost,
            on_error=self.fail,
        )

    def _by_place(self, jobs: Iterable[Job]) -> dict[int, list[Job]]:
        found: dict[int, list[Job]] = {}
        for job in jobs:
            found.setdefault(place_of(job.debate_id, len(self._coordinators)), []).append(job)
        return found


class Coordinators:
    """What concerns all coordinators of a runtime.

    Where one of them is lost, these calls raise `IncarnationLost`; the others get them all the same.

    Args:
        coordinators: at least one.
    """

    def __init__(self, coordinators: Sequence[CoordinatorInterface]) -> None:
        self.all = coordinators

    def client(
        self,
        name: str,
        *,
        on_item: Callable[[Finished | Chunk], None],
        on_loss: Callable[[list[Job]], Iterable[Job]],
        on_error: Callable[[Exception], None],
    ) -> CoordinatorsClient:
        """A client of this name; see `CoordinatorsClient`."""
        return CoordinatorsClient(name, self.all, on_item=on_item, on_loss=on_loss, on_error=on_error)

    async def use_replicas(self, replicas: Replicas) -> frozenset[str]:
        """See `CoordinatorInterface`; a replica is named while any coordinator uses it."""
        used = await asyncio.gather(*(one.use_replicas(replicas) for one in self.all))
        return frozenset[str]().union(*used)

    async def cancel(self, run_id: str, by: str) -> None:
        """See `CoordinatorInterface`."""
        await asyncio.gather(*(one.cancel(run_id, by) for one in self.all))

    async def load(self, run_id: str | None) -> RuntimeLoad:
        """See `CoordinatorInterface`; the sum of all."""
        return reduce(RuntimeLoad.plus, await asyncio.gather(*(one.load(run_id) for one in self.all)))
