"""Which debates a bounded run may begin: with little left, those that are open are finished before others begin."""

from datetime import date
from typing import NamedTuple

from jury_actors.admission.budget import Ceiling, Spent, dollars
from jury_actors.messages import Job
from jury_actors.runtime import RuntimeConfig
from jury_debate.panel_spec import ResolvedPanel
from jury_events.case import Case
from jury_judge.estimate import Estimate, estimate
from jury_judge.views.counted import counted
from jury_store.event_store import EventStore


class _Open(NamedTuple):
    """A debate that is held: what was spent on it before, and what is kept for it."""

    before: Spent
    kept: Spent


class Allowance:
    """Keeps for each open debate what it may take, and lets another begin only where enough is left beside that.

    Kept are the most calls, and the likely cost: repairs, new tries and fallbacks are in neither. A debate that would
    be the only one begins where the least that it can take is left; else nothing more begins: the run is `short`.

    Args:
        plan: names the bounds, with what earlier sessions spent.
        resolved: the panel.
        store: open for reading.
        on: the day of the prices.
    """

    def __init__(self, plan: RuntimeConfig, resolved: ResolvedPanel, store: EventStore, on: date) -> None:
        self._ceiling: Ceiling = plan.ceiling
        self._plan = plan
        self._resolved = resolved
        self._store = store
        self._on = on
        self._spent = plan.ceiling.spent
        self._open: dict[str, _Open] = {}
        self._needs: dict[str, Estimate] = {}
        self._likely: dict[str, Spent] = {}
        self._begun = Spent()
        self.short = False

    def admits(self, job: Job) -> bool:
        """Whether the debate may begin now; it counts as open then. Refused while none is open, it never may."""
        before = self._taken(job.debate_id)
        needed = self._needed(job)
        cost = needed.cost
        kept = Spent(max(1, int(needed.calls.most) - before.calls), 0.0 if cost is None else cost.likely)
        least = Spent(max(1, int(needed.calls.least) - before.calls), 0.0 if cost is None else cost.least)
        self._likely[job.debate_id] = Spent(int(needed.calls.likely), 0.0 if cost is None else cost.likely)
        wanted = kept if self._open else least
        if not self._covers(wanted):
            self.short = self.short or not self._open
            return False
        self._open[job.debate_id] = _Open(before, kept)
        return True

    def ended(self, debate_id: str, *, finished: bool) -> None:
        """What was kept for it is free again, but for what it took."""
        one = self._open.get(debate_id)
        if one is None:
            return
        taken = self._taken(debate_id)  # may fail, and is asked again then
        del self._open[debate_id]
        calls, cost = taken.calls - one.before.calls, max(0.0, taken.cost - one.before.cost)
        self._spent = Spent(self._spent.calls + calls, self._spent.cost + cost)
        if not finished:
            self._begun = Spent(self._begun.calls + taken.calls, self._begun.cost + taken.cost)

    def rest(self, left: int | None) -> str:
        """What is left to do would take, in one line; `left` debates, None where they were not counted."""
        calls, cost = self._ceiling.max_calls, self._ceiling.max_cost
        bounds = [*([] if calls is None else [counted(calls, "call")]), *([] if cost is None else [dollars(cost)])]
        said = f"the budget of {' and '.join(bounds)} covers no further debate"
        if not self._likely:
            return said
        one = Spent(*(sum(amounts) / len(self._likely) for amounts in zip(*self._likely.values(), strict=True)))
        if left is None:
            return f"{said}: each that is left takes about {one.calls:.0f} calls{_and(one.cost)} (an estimate)"
        more = max(1, round(one.calls * left) - self._begun.calls)
        money = _and(one.cost * left - self._begun.cost)
        return f"{said}: {counted(left, 'debate')} left, about {more} more calls{money} (an estimate)"

    def _covers(self, wanted: Spent) -> bool:
        calls = self._spent.calls + wanted.calls + sum(one.kept.calls for one in self._open.values())
        cost = self._spent.cost + wanted.cost + sum(one.kept.cost for one in self._open.values())
        most = self._ceiling
        return (most.max_calls is None or calls <= most.max_calls) and (most.max_cost is None or cost <= most.max_cost)

    def _needed(self, job: Job) -> Estimate:
        """Worked out once for a debate, however often it has to wait."""
        found = self._needs.get(job.debate_id)
        if found is None:
            case, plan = Case.model_validate_json(job.case), self._plan
            found = estimate(
                self._resolved, [case], debates=1, prices=plan.prices, endpoints=plan.endpoints, on=self._on
            )
            self._needs = {job.debate_id: found}
        return found

    def _taken(self, debate_id: str) -> Spent:
        row = self._store.debate(debate_id)
        return Spent() if row is None else Spent(row.calls, row.cost or 0.0)


def _and(cost: float) -> str:
    return f" and {dollars(cost)}" if cost > 0 else ""
