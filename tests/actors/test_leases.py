"""What a run with a budget was charged never exceeds it, at whatever moments its processes are killed."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_actors import Acquire, AdmissionClient, BudgetRule, BudgetService, Halted, RunBudget, Settlement, Spent
from jury_events import BudgetBounds, CallOutcome
from jury_store import StoreFailed
from support.permit_requests import a_permit_request

MOST = 0.25
"""Dollars that a call can cost."""


class Ledger:
    """A server that charges, and the durable part of a run: the lease, and what was recorded."""

    def __init__(self, max_calls: int | None, max_cost: float | None) -> None:
        self.bounds = max_calls, max_cost
        self.charged = self.recorded = self.lease = Spent()
        self.writes = 0

    def budget(self) -> RunBudget:
        """As `jury_judge.runs.run_budget.budget` makes it."""
        spent = self.recorded
        if self.lease.calls > spent.calls:
            spent = Spent(self.lease.calls, max(self.lease.cost, spent.cost))
        return RunBudget(BudgetBounds(max_calls=self.bounds[0], max_cost=self.bounds[1]), spent, "r")

    def charge(self, cost: float) -> None:
        self.charged = Spent(self.charged.calls + 1, self.charged.cost + cost)

    def record(self, cost: float) -> None:
        self.recorded = Spent(self.recorded.calls + 1, self.recorded.cost + cost)

    def broken(self) -> str | None:
        calls, cost = self.bounds
        if calls is not None and self.charged.calls > calls:
            return f"{self.charged.calls} calls of {calls}"
        if cost is not None and self.charged.cost > cost + 1e-6:
            return f"{self.charged.cost} dollars of {cost}"
        return None


class Session:
    """A process that is killed when `steps` ends: a moment passes before and after all that is durable or charged."""

    def __init__(self, ledger: Ledger, steps: Iterator[int]) -> None:
        self.ledger = ledger
        self.killed = asyncio.Event()
        self._steps = steps
        self.service = BudgetService(BudgetRule(ledger.budget()), "b", self._store)
        self.clients = [AdmissionClient(self.service, name) for name in "cd"]

    async def moment(self) -> None:
        if self.killed.is_set() or next(self._steps, None) is None:
            self.killed.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)

    async def _store(self, lease: Spent) -> None:
        await self.moment()
        self.ledger.lease = lease
        self.ledger.writes += 1
        await self.moment()

    async def call(self, number: int, cost: float) -> None:
        async with self.clients[number % 2].permit(a_permit_request(cost=MOST)) as permit:
            await self.moment()
            permit.settlement = Settlement(CallOutcome.CONNECTION)
            self.ledger.charge(cost)
            await self.moment()
            permit.settlement = Settlement(CallOutcome.ANSWERED, cost=cost)
        await self.moment()
        self.ledger.record(cost)

    async def calls(self, costs: list[float], lane: int, lanes: int) -> None:
        for number in range(lane, len(costs), lanes):
            try:
                await self.call(number, costs[number])
            except Halted:
                return


async def until_killed(ledger: Ledger, steps: Iterator[int], costs: list[float], at_once: int) -> bool:
    """A session of many calls; whether it came to its end before it was killed."""
    session = Session(ledger, steps)
    killed, service, clients = session.killed, session.service, session.clients
    lanes = asyncio.gather(*(session.calls(costs, lane, at_once) for lane in range(at_once)))
    ending = asyncio.create_task(killed.wait())
    await asyncio.wait([lanes, ending], return_when=asyncio.FIRST_COMPLETED)
    if whole := not killed.is_set():
        for client in clients:
            await client.close()
        closing = asyncio.create_task(service.close_lease())
        await asyncio.wait([closing, ending], return_when=asyncio.FIRST_COMPLETED)
        whole = not killed.is_set()
        closing.cancel()
    lanes.cancel()
    ending.cancel()
    await asyncio.gather(lanes, ending, return_exceptions=True)
    for client in clients:
        await client.close()
    service.close()
    return whole


@given(
    kills=st.lists(st.integers(0, 40), max_size=6),
    costs=st.lists(st.floats(0.0, MOST), min_size=1, max_size=30),
    at_once=st.integers(1, 9),
    bounds=st.tuples(st.none() | st.integers(0, 20), st.none() | st.floats(0.0, 3.0)),
)
def test_a_server_never_charges_more_than_the_bounds(
    kills: list[int], costs: list[float], at_once: int, bounds: tuple[int | None, float | None]
) -> None:
    ledger = Ledger(*bounds)
    for steps in kills:
        asyncio.run(until_killed(ledger, iter(range(steps)), costs, at_once))
    whole = asyncio.run(until_killed(ledger, iter(range(10_000)), costs, at_once))

    assert whole
    assert ledger.broken() is None
    assert ledger.lease.calls >= ledger.charged.calls
    assert ledger.lease.cost >= ledger.charged.cost - 1e-6


async def test_a_session_that_ends_leaves_nothing_unrecorded() -> None:
    ledger = Ledger(None, 100.0)
    await until_killed(ledger, iter(range(10_000)), [0.01] * 40, at_once=8)

    assert Spent(40, pytest.approx(0.4)) == ledger.recorded == ledger.lease


async def test_a_lease_is_not_stored_before_every_call() -> None:
    ledger = Ledger(None, 1000.0)
    await until_killed(ledger, iter(range(100_000)), [MOST] * 400, at_once=40)

    assert ledger.recorded.calls == 400
    assert ledger.writes < 400 / 2


async def test_a_lease_that_cannot_be_stored_halts_the_calls_and_says_why() -> None:
    async def store(_lease: Spent) -> None:
        raise StoreFailed("the disk is full")

    client = AdmissionClient(BudgetService(BudgetRule(RunBudget(BudgetBounds(max_calls=5), run="r")), "b", store), "c")

    with pytest.raises(Halted, match="the disk is full; the same command goes on with the same bound"):
        async with client.permit(a_permit_request()):
            pass
    await client.close()


def test_calls_are_granted_only_within_the_lease_that_is_stored() -> None:
    rule = BudgetRule(RunBudget(BudgetBounds(max_cost=100.0), run="r"))
    for number in range(8):
        rule.acquire("c", Acquire(number, a_permit_request(cost=1.0)), 0.0)
    before = rule.decide(0.0)
    lease = rule.next_lease()
    assert lease is not None
    rule.lease_begins(lease)
    meanwhile = rule.decide(0.0)
    rule.lease_stored(lease)

    assert ([], []) == (before, meanwhile)
    assert Spent(10, 10.0) == lease
    assert len(rule.decide(0.0)) == 8
