"""The budget of a run: reserved before a call, settled after it.

Of a run that can be resumed, what it may have spent at most is durable before a call is made (its lease): what was sent
and not recorded when a process was killed counts in later sessions as what it can cost at most.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from jury_actors.admission.permit import Acquire, Departed, Grant, PermitHolder, PermitRequest, Release
from jury_actors.admission.service import AdmissionService
from jury_actors.errors import Halted
from jury_events.errors import JuryError
from jury_events.run_events import BUDGET_ROUNDING, BudgetBounds, fits
from jury_events.text import dollars

_AHEAD = 4
"""Of so many calls in flight, one more is leased ahead."""

BUDGET = "budget"
BUDGET_LOST = "the process of the budget"
"""What a halted call is about: only the first asks for a higher bound."""

LOST = (
    "the process that kept the budget was lost; the same command goes on with the same bound, and calls that were in "
    "flight count as what they can cost at most"
)


class Spent(NamedTuple):
    """What was spent; the cost in US dollars."""

    calls: int = 0
    cost: float = 0.0


NO_BOUNDS = BudgetBounds()


class RunBudget(NamedTuple):
    """The bounds of a run over all its sessions, and what the earlier ones spent.

    `spent` has what was recorded, and the most that calls can have cost that were sent and not recorded. `run`: whose
    lease is stored; None: the budget ends with its process.
    """

    bounds: BudgetBounds = NO_BOUNDS
    spent: Spent = Spent()
    run: str | None = None

    @property
    def counted(self) -> bool:
        """Whether calls are counted: there is a bound, or there was one in an earlier session."""
        return self.bounds.bounded or self.run is not None


class BudgetRule:
    """Reserves what a call can cost at most.

    A call that finds too little left waits while calls in flight may turn out cheaper and leave enough; when they
    can't, it is halted. A call that was made counts, even if its client died before the settlement.

    Where the budget names a run, a call is granted only within the lease: what is settled, reserved and granted next
    never exceeds it. `next_lease` says which one to store, `lease_begins` and `lease_stored` that this is done.

    Args:
        budget: what may be spent.
        lost: this is the successor of another, whose reservations are unknown: every call is halted.
    """

    def __init__(self, budget: RunBudget, *, lost: bool = False) -> None:
        self._bounds = budget.bounds
        self._calls, self._cost = budget.spent
        self._waiting: deque[tuple[PermitHolder, PermitRequest]] = deque()
        self._reserved: dict[PermitHolder, float] = {}
        self._halted = Halted(LOST, about=BUDGET_LOST) if lost else None
        self._lease = None if budget.run is None else budget.spent

    def acquire(self, client: str, acquire: Acquire, _now: float) -> None:
        """See `AdmissionRule`. One that was granted before was counted when its client was taken for dead."""
        if not acquire.granted:
            self._waiting.append((PermitHolder(client, acquire.number), acquire.request))

    def depart(self, client: str, departed: Departed, now: float) -> None:
        """What a call costs does not depend on when it is made."""

    def release(self, client: str, release: Release, _now: float) -> None:
        """See `AdmissionRule`."""
        holder = PermitHolder(client, release.number)
        reserved = self._reserved.pop(holder, None)
        if reserved is None:
            self._waiting = deque(one for one in self._waiting if one[0] != holder)
        elif release.settlement is not None:
            self._spend(reserved if release.settlement.cost is None else release.settlement.cost)

    def lose(self, client: str, _now: float) -> None:
        """See `AdmissionRule`; calls that were granted to the client count as made."""
        self._waiting = deque(one for one in self._waiting if one[0].client != client)
        for holder in [one for one in self._reserved if one.client == client]:
            self._spend(self._reserved.pop(holder))

    def take(self, cost: float) -> Halted | None:
        """Count a call that goes into a batch, with the most that it can cost; else why it does not fit."""
        if self._fits(cost, sum(self._reserved.values())):
            self._spend(cost)
            return None
        return self._problem(cost) or Halted(
            "the calls that are in flight may use up the budget; the same command goes on once they are answered",
            about=BUDGET,
        )

    def correct(self, calls: int, cost: float) -> None:
        """Add to what is settled, as a batch has ended: both may be negative."""
        self._calls, self._cost = max(0, self._calls + calls), max(0.0, self._cost + cost)

    def decide(self, _now: float) -> list[tuple[str, Grant]]:
        """See `AdmissionRule`."""
        found = []
        reserved = sum(self._reserved.values())
        while self._waiting:
            holder, request = self._waiting[0]
            problem = None
            if not self._fits(request.cost, reserved):
                problem = self._problem(request.cost)
                if problem is None:
                    break
            elif not self._leased(request.cost, reserved):
                break
            self._waiting.popleft()
            if problem is None:
                self._reserved[holder] = request.cost
                reserved += request.cost
            found.append((holder.client, Grant(holder.number, problem)))
        return found

    def next_decision(self) -> float | None:
        """Nothing is decided by time alone."""
        return None

    @property
    def spent(self) -> Spent:
        """What is settled."""
        return Spent(self._calls, self._cost)

    @property
    def at_most(self) -> Spent:
        """What is settled and reserved."""
        return Spent(self._calls + len(self._reserved), self._cost + sum(self._reserved.values()))

    def next_lease(self) -> Spent | None:
        """The lease that is to be stored now; None: the one that is stored will do, or none is kept.

        It has room for every request that waits and fits, and for a quarter more calls than are then in flight, so that
        not every call is preceded by a write. It is lowered as calls turn out cheaper than what was reserved.
        """
        if self._lease is None or self._halted is not None:
            return None
        taken, wanted = self.at_most, self._wanted()
        in_flight = len(self._reserved) + wanted.calls
        ahead = in_flight // _AHEAD
        each = (taken.cost - self._cost + wanted.cost) / in_flight if in_flight else 0.0
        needed = Spent(taken.calls + wanted.calls, taken.cost + wanted.cost)
        lease = self._within(Spent(needed.calls + ahead, needed.cost + ahead * each))
        if not fits(*needed, *self._lease):
            return lease
        slack = self._lease.cost - lease.cost
        too_high = self._lease.calls > lease.calls or slack > (needed.cost - self._cost) / _AHEAD + BUDGET_ROUNDING
        return lease if too_high else None

    def lease_begins(self, lease: Spent) -> None:
        """It is being stored: until it is, only what both the new and the old one allow is granted."""
        if self._lease is not None:
            self._lease = Spent(min(lease.calls, self._lease.calls), min(lease.cost, self._lease.cost))

    def lease_stored(self, lease: Spent) -> None:
        """It is durable."""
        self._lease = lease

    @property
    def halted(self) -> Halted | None:
        """Why every call is halted, if so."""
        return self._halted

    def halt(self, problem: Halted) -> None:
        """Halt every call that waits, now and later: the lease cannot be stored."""
        self._halted = problem

    def _wanted(self) -> Spent:
        calls, cost, reserved = 0, 0.0, sum(self._reserved.values())
        for _, request in self._waiting:
            if not self._fits(request.cost, reserved + cost, calls):
                break
            calls, cost = calls + 1, cost + request.cost
        return Spent(calls, cost)

    def _within(self, lease: Spent) -> Spent:
        """Not more than the bounds allow."""
        calls, cost = self._bounds.max_calls, self._bounds.max_cost
        return Spent(
            lease.calls if calls is None else min(lease.calls, max(calls, self.at_most.calls)),
            lease.cost if cost is None else min(lease.cost, max(cost, self.at_most.cost)),
        )

    def _leased(self, cost: float, reserved: float) -> bool:
        return self._lease is None or fits(*self._with_one(cost, reserved), *self._lease)

    def _with_one(self, cost: float, reserved: float, further: int = 0) -> tuple[int, float]:
        """What is spent with one more call; a call in flight stays a call, whatever it turns out to cost."""
        return self._calls + len(self._reserved) + further + 1, self._cost + reserved + cost

    def _spend(self, cost: float) -> None:
        self._calls += 1
        self._cost += cost

    def _fits(self, cost: float, reserved: float, further: int = 0) -> bool:
        """Whether a call fits beside what is reserved, and beside so many `further` calls."""
        return self._halted is None and self._bounds.covers(*self._with_one(cost, reserved, further))

    def _problem(self, cost: float) -> Halted | None:
        """Why the call can never be made; None: it may be, once others are settled."""
        if self._halted is not None:
            return self._halted
        bounds = self._bounds
        if not bounds.covers(self._with_one(0.0, 0.0)[0], 0.0):
            said = f"the budget of {bounds.max_calls} calls is used up; call again with a higher --max-calls"
        elif self._fits(cost, 0.0):
            return None
        else:
            said = (
                f"the budget of {dollars(bounds.max_cost or 0.0)} is used up: {dollars(self._cost)} spent, and "
                f"the next call may cost up to {dollars(cost)}; call again with a higher --max-cost"
            )
        return Halted(said, about=BUDGET)


StoreLease = Callable[[Spent], Awaitable[None]]
"""Stores a lease; it is durable when this returns."""


class BudgetService(AdmissionService):
    """One write at a time: what waits during one is in the next.

    Args:
        incarnation: as of `AdmissionService`.
        store: called only if the rule's budget names a run.
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
        """Store what was taken; it is durable when this returns."""
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
