"""The budget of a run: what its earlier sessions spent, and when it lets a debate begin.

With little left, open debates are finished before others begin. Calls are admitted by `jury_actors.admission.budget`.
"""

import threading
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from jury_actors.admission.budget import RunBudget, Spent
from jury_actors.batches.batch_log import batches_of
from jury_actors.messages import Job
from jury_events.case import Case
from jury_events.exchange import ExchangeRecorded
from jury_events.outcome import DebateStatus
from jury_events.run_events import BudgetBounds
from jury_events.text import dollars, pluralize
from jury_judge.store_access.debates import rows_of_run
from jury_providers.endpoints import Endpoints
from jury_providers.prices import Prices
from jury_providers.provider import token_upper_bound
from jury_store.debate_rows import DebateFilter, RunRow, Totals
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_judge.runs.cost_estimate import RunEstimate


class _OpenDebate(NamedTuple):
    """An open debate: what was spent on it before this session, and what is reserved for it."""

    before: Spent
    reserved: Spent


class DebateReservations:
    """Reserves for each open debate what it may take; another begins only if enough is left beside that. Thread-safe.

    Reserved are the most calls and the likely cost; repairs, retries and fallbacks are in neither. If no debate is
    open, one may begin where the least that it can take is left; else no more debates begin and the run is `short`.

    Args:
        endpoints: where providers are reached.
    """

    def __init__(
        self,
        budget: RunBudget,
        store: EventStore,
        *,
        prices: Prices,
        endpoints: Endpoints,
        on: date,
    ) -> None:
        self._budget = budget
        self._store = store
        self._prices = prices
        self._endpoints = endpoints
        self._on = on
        self._spent = budget.spent
        self._open: dict[str, _OpenDebate] = {}
        self._reserved = Spent()
        self._needs: dict[str, RunEstimate] = {}
        self._lock = threading.Lock()
        self.short = False

    @property
    def bounds(self) -> BudgetBounds:
        """Over all sessions of the run."""
        return self._budget.bounds

    def admits(self, job: Job) -> bool:
        """Whether the debate may begin now; it is open then. One that is refused while none is open may never begin."""
        with self._lock:
            return self._admits(job)

    def _admits(self, job: Job) -> bool:
        before = self._taken(job.debate_id)
        needed = self._needed(job)
        if needed is None:
            return True
        likely, least = (0.0, 0.0) if needed.cost is None else (needed.cost.likely, needed.cost.least)
        reserved = _rest(needed.calls.most, likely, before)
        if not self._fits(reserved if self._open else _rest(needed.calls.least, least, before)):
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
        if finished:
            self._needs.pop(debate_id, None)

    def rest(self, left: int | None) -> str:
        """One line: what the `left` debates would take (None: not known how many are left).

        Each as the first of them, without what begun ones took: the same in every session that stops at this place.
        """
        said = f"the budget of {self.bounds.words} covers no further debate"
        first = next(iter(self._needs.values()), None)
        if first is None:
            return said
        calls_each, cost_each = int(first.calls.likely), 0.0 if first.cost is None else first.cost.likely
        if left is None:
            return f"{said}: each that is left takes about {calls_each} calls{_and(cost_each)} (an estimate)"
        of_run = DebateFilter(run_id=self._budget.run, counted=None)
        begun = [self._store.totals(of_run._replace(status=status)) for status in _BEGUN]
        more = max(1, calls_each * left - sum(one.calls for one in begun))
        money = _and(cost_each * left - sum(one.cost for one in begun))
        return f"{said}: {pluralize(left, 'debate')} left, about {more} more calls{money} (an estimate)"

    def _fits(self, wanted: Spent) -> bool:
        calls = self._spent.calls + wanted.calls + self._reserved.calls
        cost = self._spent.cost + wanted.cost + self._reserved.cost
        return self._budget.bounds.covers(calls, cost)

    def _needed(self, job: Job) -> "RunEstimate | None":
        """Computed once a debate, however often it has to wait; None: its texts were erased, and it asks nothing."""
        found = self._needs.get(job.debate_id)
        if found is None:
            from jury_judge.runs.cases_once import recorded_cases
            from jury_judge.runs.cost_estimate import estimate

            if job.case:
                case = Case.model_validate_json(job.case)
            elif listed := recorded_cases(self._store, [job.debate_id]):
                case = listed[job.debate_id]
            else:
                return None
            found = estimate(
                job.context.resolved,
                [case],
                debates=1,
                prices=self._prices,
                endpoints=self._endpoints,
                on=self._on,
                operator_policy=job.context.operator_policy,
            )
            self._needs[job.debate_id] = found
        return found

    def _taken(self, debate_id: str) -> Spent:
        row = self._store.debate(debate_id)
        return Spent() if row is None else Spent(row.calls, row.cost or 0.0)


def _rest(calls: float, cost: float, before: Spent) -> Spent:
    """What a debate takes beyond what it took before: nothing where all that it asked is answered and recorded."""
    return Spent(max(0, int(calls) - before.calls), max(0.0, cost - before.cost))


_BEGUN: tuple[DebateStatus, ...] = ("evaluating", "discussing", "judging")


def _and(cost: float) -> str:
    return f" and {dollars(cost)}" if cost > 0 else ""


def run_budget(
    store: EventStore, run_id: str, prices: Prices, on: date, bounds: BudgetBounds, *, is_new: bool = False
) -> RunBudget:
    """The budget of a run over all its sessions, with what the earlier ones spent.

    Calls that were sent and not recorded count with the most that they can have cost. A run that had a budget goes on
    being counted without one: what an earlier session left unrecorded is then still known to a later one.

    `is_new`: the store has no debate of it.
    """
    row = None if is_new else store.run(run_id)
    if not bounds.bounded and (row is None or row.calls_at_most is None):
        return RunBudget()
    if row is None:
        return RunBudget(bounds, run=run_id)
    sums = store.totals(DebateFilter(run_id, counted=None))
    recorded, at_most = _spent(store, run_id, sums, prices, on), lease_of(row)
    recorded = recorded._replace(cost=recorded.cost + sum(one.unused_cost for one in batches_of(store, run_id)))
    if at_most is not None and at_most.calls > recorded.calls:
        recorded = Spent(at_most.calls, max(at_most.cost, recorded.cost))
    return RunBudget(bounds, recorded, run_id)


def lease_of(row: RunRow | None) -> Spent | None:
    """What a run may have spent at most, with the calls that are not recorded; None: it never had a budget."""
    if row is None or row.calls_at_most is None:
        return None
    return Spent(row.calls_at_most, row.cost_at_most or 0.0)


def _spent(store: EventStore, run_id: str, sums: Totals, prices: Prices, on: date) -> Spent:
    if not sums.unknown_cost:
        return Spent(sums.calls, sums.cost)
    cost = sum(
        _cost(store, row.debate_id, prices, on) if row.cost is None else row.cost for row in rows_of_run(store, run_id)
    )
    return Spent(sums.calls, cost)


def _cost(store: EventStore, debate_id: str, prices: Prices, on: date) -> float:
    """The cost of a debate with calls whose cost is not recorded: those count with the most that they can have cost."""

    from jury_replay.intact import intact_history

    history = intact_history(store, debate_id)
    sizes = {ref: len(content) for ref, content in history.texts.items()}
    return sum(_most(one, sizes, prices, on) for one in history.exchanges)


def _most(exchange: ExchangeRecorded, sizes: dict[str, int], prices: Prices, on: date) -> float:
    if exchange.cost is not None:
        return exchange.cost
    known = prices.cost(exchange.model, exchange.usage, on)
    if known is not None:
        return known
    sent = sum(sizes.get(ref.part, 0) for message in exchange.request for ref in message.parts)
    pictures = sum(len(message.images) for message in exchange.request)
    most = token_upper_bound(sent, pictures, exchange.model.partition("/")[2])
    return prices.upper_bound(exchange.model, most, exchange.settings, on) or 0.0
