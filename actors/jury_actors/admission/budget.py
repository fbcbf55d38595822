"""What a run may still spend, in calls and in US dollars. Pure: reserved before a call, settled after it."""

from collections import deque
from typing import NamedTuple

from jury_actors.admission.permit import Acquire, Departed, Grant, PermitHolder, PermitRequest, Release
from jury_actors.errors import Halted
from jury_events.text.dollars import dollars

_ROUNDING = 1e-9
"""Dollars: sums of floats that should be equal differ by less."""


class Spent(NamedTuple):
    """What was spent; the cost in US dollars."""

    calls: int = 0
    cost: float = 0.0


class Ceiling(NamedTuple):
    """What a run may spend over all its sessions, and what earlier ones did. None: no bound."""

    max_calls: int | None = None
    max_cost: float | None = None
    spent: Spent = Spent()

    @property
    def bounded(self) -> bool:
        """Whether anything is bounded."""
        return self.max_calls is not None or self.max_cost is not None


class BudgetRule:
    """Reserves what a call can cost at most.

    A call that finds too little left waits while calls in flight may turn out cheaper and leave enough; when they
    can't, it is halted. A call that was made counts, even if its client died before the settlement.

    Args:
        ceiling: what may be spent.
        lost: this is the successor of another, whose reservations are unknown: every call is halted.
    """

    def __init__(self, ceiling: Ceiling, *, lost: bool = False) -> None:
        self._ceiling = ceiling
        self._calls, self._cost = ceiling.spent
        self._waiting: deque[tuple[PermitHolder, PermitRequest]] = deque()
        self._reserved: dict[PermitHolder, float] = {}
        self._lost = lost

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

    def _spend(self, cost: float) -> None:
        self._calls += 1
        self._cost += cost

    def _fits(self, cost: float, reserved: float) -> bool:
        most = self._ceiling.max_cost
        return (
            not self._lost and self._calls_left and (most is None or self._cost + reserved + cost <= most + _ROUNDING)
        )

    @property
    def _calls_left(self) -> bool:
        """A call in flight stays a call, whatever it turns out to cost."""
        most = self._ceiling.max_calls
        return most is None or self._calls + len(self._reserved) < most

    def _problem(self, cost: float) -> Halted | None:
        """Why the call can never be made; None: it may be, once others are settled."""
        if self._lost:
            said = "the process that kept the budget was lost; call the same run again"
        elif not self._calls_left:
            said = f"the budget of {self._ceiling.max_calls} calls is used up; call again with a higher --max-calls"
        elif self._fits(cost, 0.0):
            return None
        else:
            said = (
                f"the budget of {dollars(self._ceiling.max_cost or 0.0)} is used up: {dollars(self._cost)} spent, and "
                f"the next call may cost up to {dollars(cost)}; call again with a higher --max-cost"
            )
        return Halted(said, about="budget")
