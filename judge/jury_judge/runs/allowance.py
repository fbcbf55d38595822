"""Which debates a run with a budget may begin. With little left, open debates are finished before others begin."""

import threading
from datetime import date
from typing import NamedTuple

from jury_actors.admission.budget import Ceiling, Spent
from jury_actors.messages import Job
from jury_events.case import Case
from jury_events.run_events import RunBudget
from jury_events.text import dollars, pluralize
from jury_judge.runs.estimate import RunEstimate, estimate
from jury_providers.endpoints import Endpoints
from jury_providers.prices import Prices
from jury_store.event_store import EventStore


class _OpenDebate(NamedTuple):
    """An open debate: what was spent on it before this session, and what is reserved for it."""

    before: Spent
    reserved: Spent


class Allowance:
    """Reserves for each open debate what it may take; another begins only if enough is left beside that. Thread-safe.

    Reserved are the most calls and the likely cost; repairs, retries and fallbacks are in neither. If no debate is
    open, one may begin where the least that it can take is left; else no more debates begin and the run is `short`.

    Args:
        ceiling: the budget, with what earlier sessions spent.
        store: open for reading.
        prices: of the models.
        endpoints: where providers are reached.
        on: the day of the prices.
    """

    def __init__(
        self,
        ceiling: Ceiling,
        store: EventStore,
        *,
        prices: Prices,
        endpoints: Endpoints,
        on: date,
    ) -> None:
        self._ceiling = ceiling
        self._store = store
        self._prices = prices
        self._endpoints = endpoints
        self._on = on
        self._spent = ceiling.spent
        self._open: dict[str, _OpenDebate] = {}
        self._reserved = Spent()
        self._needs: dict[str, RunEstimate] = {}
        self._asked = 0
        self._likely = Spent()
        self._begun = Spent()
        self._lock = threading.Lock()
        self.short = False

    @property
    def budget(self) -> RunBudget:
        """The bounds, over all sessions of the run."""
        return RunBudget(max_calls=self._ceiling.max_calls, max_cost=self._ceiling.max_cost)

    def admits(self, job: Job) -> bool:
        """Whether the debate may begin now; it is open then. One that is refused while none is open may never begin."""
        with self._lock:
            return self._admits(job)

    def _admits(self, job: Job) -> bool:
        before = self._taken(job.debate_id)
        needed = self._needed(job)
        cost = needed.cost
        reserved = Spent(max(1, int(needed.calls.most) - before.calls), 0.0 if cost is None else cost.likely)
        least = Spent(max(1, int(needed.calls.least) - before.calls), 0.0 if cost is None else cost.least)
        wanted = reserved if self._open else least
        if not self._covers(wanted):
            self.short = self.short or not self._open
            return False
        self._open[job.debate_id] = _OpenDebate(before, reserved)
        self._reserved = Spent(self._reserved.calls + reserved.calls, self._reserved.cost + reserved.cost)
        return True

    def ended(self, debate_id: str, *, finished: bool) -> None:
        """Release the reservation of a debate, and count what it took."""
        with self._lock:
            self._end(debate_id, finished=finished)

    def _end(self, debate_id: str, *, finished: bool) -> None:
        one = self._open.get(debate_id)
        if one is None:
            return
        taken = self._taken(debate_id)  # may fail; the caller then tries again
        del self._open[debate_id]
        rest = Spent(self._reserved.calls - one.reserved.calls, self._reserved.cost - one.reserved.cost)
        self._reserved = rest if self._open else Spent()  # sums of many costs are not exact
        calls, cost = taken.calls - one.before.calls, max(0.0, taken.cost - one.before.cost)
        self._spent = Spent(self._spent.calls + calls, self._spent.cost + cost)
        if not finished:
            self._begun = Spent(self._begun.calls + taken.calls, self._begun.cost + taken.cost)

    def rest(self, left: int | None) -> str:
        """One line: what the `left` debates would take (None: not known how many are left)."""
        said = f"the budget of {self.bounds} covers no further debate"
        if not self._asked:
            return said
        calls_each, cost_each = self._likely.calls / self._asked, self._likely.cost / self._asked
        if left is None:
            return f"{said}: each that is left takes about {calls_each:.0f} calls{_and(cost_each)} (an estimate)"
        more = max(1, round(calls_each * left) - self._begun.calls)
        money = _and(cost_each * left - self._begun.cost)
        return f"{said}: {pluralize(left, 'debate')} left, about {more} more calls{money} (an estimate)"

    @property
    def bounds(self) -> str:
        """The bounds, in words."""
        calls, cost = self._ceiling.max_calls, self._ceiling.max_cost
        bounds = [*([] if calls is None else [pluralize(calls, "call")]), *([] if cost is None else [dollars(cost)])]
        return " and ".join(bounds)

    def _covers(self, wanted: Spent) -> bool:
        calls = self._spent.calls + wanted.calls + self._reserved.calls
        cost = self._spent.cost + wanted.cost + self._reserved.cost
        most = self._ceiling
        return (most.max_calls is None or calls <= most.max_calls) and (most.max_cost is None or cost <= most.max_cost)

    def _needed(self, job: Job) -> RunEstimate:
        """Computed once a debate, however often it has to wait."""
        found = self._needs.get(job.debate_id)
        if found is None:
            case = Case.model_validate_json(job.case)
            found = estimate(
                job.context.resolved,
                [case],
                debates=1,
                prices=self._prices,
                endpoints=self._endpoints,
                on=self._on,
                operator_policy=job.context.operator_policy,
            )
            self._needs = {job.debate_id: found}
            self._asked += 1
            cost = 0.0 if found.cost is None else found.cost.likely
            self._likely = Spent(self._likely.calls + int(found.calls.likely), self._likely.cost + cost)
        return found

    def _taken(self, debate_id: str) -> Spent:
        row = self._store.debate(debate_id)
        return Spent() if row is None else Spent(row.calls, row.cost or 0.0)


def _and(cost: float) -> str:
    return f" and {dollars(cost)}" if cost > 0 else ""
