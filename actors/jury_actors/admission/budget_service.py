"""Serves a budget, and stores its lease before the calls that it allows are granted."""

import asyncio
from collections.abc import Awaitable, Callable

from jury_actors.admission.budget import BUDGET_LOST, BudgetRule, Spent
from jury_actors.admission.service import AdmissionService
from jury_actors.errors import Halted
from jury_events.errors import JuryError

StoreLease = Callable[[Spent], Awaitable[None]]
"""Stores a lease; it is durable when this returns."""


class BudgetService(AdmissionService):
    """One write at a time: what waits during one is in the next.

    Args:
        rule: decides.
        incarnation: as of `AdmissionService`.
        store: called only if the rule's ceiling names a run.
        linger: seconds that a decision waits for more.
    """

    def __init__(self, rule: BudgetRule, incarnation: str, store: StoreLease, *, linger: float = 0.0) -> None:
        super().__init__(rule, incarnation, linger=linger)
        self._budget = rule
        self._store = store
        self._writing: asyncio.Task[None] | None = None
        self._closed = False

    def take(self, cost: float) -> Halted | None:
        """See `BudgetRule.take`; it is durable after `lease`."""
        return self._budget.take(cost)

    def correct(self, calls: int, cost: float) -> None:
        """See `BudgetRule.correct`."""
        self._budget.correct(calls, cost)
        self._decide()

    async def lease(self) -> None:
        """Store what was taken; it is durable when this returns.

        Raises:
            Halted: it cannot be stored.
        """
        if self._writing is not None:
            await self._writing
        if (lease := self._budget.next_lease()) is not None:
            await self._store_lease(lease)
        if self._budget.halted is not None:
            raise self._budget.halted

    async def close_lease(self) -> None:
        """Store what is settled and reserved; nothing more is granted."""
        self._closed = True
        if self._writing is not None:
            await self._writing
        if (lease := self._budget.next_lease()) is not None:
            await self._store_lease(lease)

    def _decide(self) -> None:
        super()._decide()
        if self._writing is None and not self._closed and (lease := self._budget.next_lease()) is not None:
            self._writing = asyncio.create_task(self._write(lease))

    async def _write(self, lease: Spent) -> None:
        await self._store_lease(lease)
        self._writing = None
        self._decide()

    async def _store_lease(self, lease: Spent) -> None:
        self._budget.lease_begins(lease)
        try:
            await self._store(lease)
        except JuryError as error:
            said = (
                f"what the run may have spent cannot be stored: {error}; the same command goes on with the same bound"
            )
            self._budget.halt(Halted(said, about=BUDGET_LOST))
        else:
            self._budget.lease_stored(lease)
