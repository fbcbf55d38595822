"""When the budget of a run lets a debate begin: with little left, open debates are finished before others begin."""

import os
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple, Self

from jury_actors.admission.budget import Ceiling, Spent
from jury_actors.batches.batch_log import batches_of
from jury_actors.messages import Job
from jury_events.case import Case
from jury_events.exchange import ExchangeRecorded
from jury_events.outcome import DebateStatus
from jury_events.run_events import RunBudget
from jury_events.text import dollars, pluralize
from jury_judge.settings.jury import Budget
from jury_judge.stores.debates import rows_of_run
from jury_providers.endpoints import Endpoints
from jury_providers.prices import Prices, list_prices_date
from jury_providers.provider import token_upper_bound
from jury_store.cached_calls import CachedCalls, summed
from jury_store.debate_rows import NOTHING_UNRECORDED, DebateFilter, DebateRow, RunRow, Totals, Unrecorded
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_judge.runs.estimate import RunEstimate


_SHARE = 0.1
"""Of the time at most is spent on the sums of a large run."""


class PacedTotals:
    """Reads totals again and again."""

    def __init__(self, store: EventStore, wanted: DebateFilter) -> None:
        self._store = store
        self._wanted = wanted
        self._found: Totals | None = None
        self._at = self._took = 0.0

    def read(self) -> Totals:
        """The totals now."""
        started = time.monotonic()
        found = self._found = self._store.totals(self._wanted)
        self._at = time.monotonic()
        self._took = self._at - started
        return found

    def recent(self) -> Totals:
        """The totals that were read last, or those of now where these are old enough."""
        if self._found is None or (time.monotonic() - self._at) * _SHARE >= self._took:
            return self.read()
        return self._found


class _OpenDebate(NamedTuple):
    """An open debate: what was spent on it before this session, and what is reserved for it."""

    before: Spent
    reserved: Spent


class Allowance:
    """Reserves for each open debate what it may take; another begins only if enough is left beside that. Thread-safe.

    Reserved are the most calls and the likely cost; repairs, retries and fallbacks are in neither. If no debate is
    open, one may begin where the least that it can take is left; else no more debates begin and the run is `short`.

    Args:
        endpoints: where providers are reached.
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
        self._lock = threading.Lock()
        self.short = False

    @property
    def budget(self) -> RunBudget:
        """The bounds, over all sessions of the run."""
        return self._ceiling.bounds

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
        if not self._covers(reserved if self._open else _rest(needed.calls.least, least, before)):
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
        said = f"the budget of {self.bounds} covers no further debate"
        first = next(iter(self._needs.values()), None)
        if first is None:
            return said
        calls_each, cost_each = int(first.calls.likely), 0.0 if first.cost is None else first.cost.likely
        if left is None:
            return f"{said}: each that is left takes about {calls_each} calls{_and(cost_each)} (an estimate)"
        of_run = DebateFilter(run_id=self._ceiling.run, counted=None)
        begun = [self._store.totals(of_run._replace(status=status)) for status in _BEGUN]
        more = max(1, calls_each * left - sum(one.calls for one in begun))
        money = _and(cost_each * left - sum(one.cost for one in begun))
        return f"{said}: {pluralize(left, 'debate')} left, about {more} more calls{money} (an estimate)"

    @property
    def bounds(self) -> str:
        """The bounds, in words."""
        return self._ceiling.bounds.words

    def _covers(self, wanted: Spent) -> bool:
        calls = self._spent.calls + wanted.calls + self._reserved.calls
        cost = self._spent.cost + wanted.cost + self._reserved.cost
        return self._ceiling.bounds.covers(calls, cost)

    def _needed(self, job: Job) -> "RunEstimate | None":
        """Computed once a debate, however often it has to wait; None: its texts were erased, and it asks nothing."""
        found = self._needs.get(job.debate_id)
        if found is None:
            from jury_judge.runs.cases_once import recorded_cases
            from jury_judge.runs.estimate import estimate

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


def ceiling(
    store: EventStore, run_id: str, prices: Prices, on: date, bounds: RunBudget, *, is_new: bool = False
) -> Ceiling:
    """The budget of a run over all its sessions, with what the earlier ones spent.

    Calls that were sent and not recorded count with the most that they can have cost. A run that had a budget goes on
    being counted without one: what an earlier session left unrecorded is then still known to a later one.

    `is_new`: the store has no debate of it.
    """
    row = None if is_new else store.run(run_id)
    if not bounds.bounded and (row is None or row.calls_at_most is None):
        return Ceiling()
    if row is None:
        return Ceiling(bounds, run=run_id)
    sums = store.totals(DebateFilter(run_id, counted=None))
    recorded, at_most = _spent(store, run_id, sums, prices, on), lease_of(row)
    recorded = recorded._replace(cost=recorded.cost + sum(one.unused_cost for one in batches_of(store, run_id)))
    if at_most is not None and at_most.calls > recorded.calls:
        recorded = Spent(at_most.calls, max(at_most.cost, recorded.cost))
    return Ceiling(bounds, recorded, run_id)


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


def uncached_cost(calls: Iterable[ExchangeRecorded], prices: Prices, on: date) -> float | None:
    """US dollars, had nothing been read from caches nor written to them; None where it is unknown of a call.

    Args:
        prices: today's: their ratios scale what was paid.
    """
    total = 0.0
    for call in calls:
        plain = None if call.cost is None else prices.uncached(call.model, call.usage, call.cost, on)
        if plain is None:
            return None
        total += plain
    return total


def uncached_sums(calls: Iterable[CachedCalls], cost: float, prices: Prices, on: date) -> float | None:
    """The same for debates that cost `cost` in US dollars, by the sums over those of their calls that used caches."""
    total = cost
    for one in calls:
        plain = prices.uncached_sum(one.model, one.usage, one.cost, one.prompts, on)
        if plain is None:
            return None
        total += plain - one.cost
    return total


def uncached_of_debates(rows: Iterable[DebateRow], environ: Mapping[str, str] | None = None) -> float | None:
    """The same for those of these debates whose cost is known, at today's prices, those of `JURY_PRICES` first."""
    known = [row for row in rows if row.cost is not None]
    calls = summed(one for row in known for one in row.cached_calls)
    return uncached_sums(calls, sum(row.cost or 0.0 for row in known), _todays_prices(environ), _today())


def uncached_today(calls: Iterable[ExchangeRecorded], environ: Mapping[str, str] | None = None) -> float | None:
    """The same at today's prices, those of `JURY_PRICES` first."""
    return uncached_cost(calls, _todays_prices(environ), _today())


def list_prices_of() -> date:
    """The day of the list prices, by which it is known."""
    return list_prices_date()


def _todays_prices(environ: Mapping[str, str] | None) -> Prices:
    return Budget().price_list(os.environ if environ is None else environ)


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """Recorded calls, tokens and US dollars; `unknown` counts debates with a call whose cost is not known.

    `unrecorded` calls were sent and are not recorded: they are in none of the other figures.

    The cost is without those debates. A provider that does not say what a call cost may not have counted its tokens
    either: with `unknown`, tokens and cost are at least these.

    Of the input tokens, `read` were read from prompt caches and `written` written to them. `uncached` is what the same
    debates would have cost without caches; None: that is unknown, or was not asked for.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0
    uncached: float | None = None
    unknown: int = 0
    unrecorded: Unrecorded = NOTHING_UNRECORDED

    @classmethod
    def total(cls, store: EventStore, run_id: str, prices: Prices | None = None) -> Self:
        """The spending of a run, summed by the database; `prices`, today's, are needed for `uncached`."""
        row = store.run(run_id)
        if row is None:
            return cls()
        debates = DebateFilter(run_id, counted=None)
        found = cls.of_run(row, store.totals(debates))
        if prices is None or not (found.read or found.written):
            return found
        today = datetime.now(UTC).date()
        return replace(found, uncached=uncached_sums(store.cached_calls(debates), found.cost, prices, today))

    @classmethod
    def of_run(cls, row: RunRow, totals: Totals) -> Self:
        """The spending of a run: the calls that its debates made, not those of their forks."""
        return cls(
            calls=totals.calls,
            input_tokens=totals.input_tokens,
            output_tokens=totals.output_tokens,
            read=totals.cached_input_tokens,
            written=totals.cache_write_tokens,
            cost=totals.cost,
            unknown=totals.unknown_cost,
            unrecorded=row.unrecorded(totals),
        )

    def __add__(self, later: Self) -> Self:
        """What two sessions of a run spent, one after the other; what it would have cost without caches is left out."""
        names = ("calls", "input_tokens", "output_tokens", "read", "written", "cost", "unknown")
        summed = {name: getattr(self, name) + getattr(later, name) for name in names}
        return replace(later, uncached=None, **summed)

    @property
    def at_least(self) -> str:
        """`at least ` where more may have been spent."""
        return "at least " if self.unknown else ""

    @property
    def cost_text(self) -> str:
        """The cost as text, with what is certain of it."""
        cost, unrecorded = f"{self.at_least}{dollars(self.cost)}", self.unrecorded
        if not unrecorded.calls:
            return cost
        calls = f"{pluralize(unrecorded.calls, 'call')} that {'was' if unrecorded.calls == 1 else 'were'}"
        most = f"at most {dollars(unrecorded.cost)} for " if unrecorded.cost else "at most "
        return f"{cost} recorded, and {most}{calls} sent and not recorded"

    def __str__(self) -> str:
        caches = caches_said(self.read, self.written, self.input_tokens)
        tokens = f"{self.at_least}{self.input_tokens:,} tokens in{caches} and {self.output_tokens:,} out"
        said = f"{self.calls:,} {'call' if self.calls == 1 else 'calls'}, {tokens}, {self.cost_text}"
        if self.uncached:  # of what cost nothing, nothing is said
            said += f" ({self.at_least}{dollars(self.uncached)} without caches)"
        return said + (f" (the cost of {pluralize(self.unknown, 'debate')} is not known)" if self.unknown else "")


def caches_said(read: int, written: int, sent: int) -> str:
    """What of the tokens sent was read from prompt caches, as a remark in brackets; "" where none were used."""
    if read:
        return f" ({read / max(1, sent):.0%} read from prompt caches)"
    return f" ({written:,} written to prompt caches, none read)" if written else ""


class SpendingWatch:
    """Follows the spending of a run from now on, by sums of the database: no debate is kept in memory.

    `is_new`: the store has no debate of it.
    """

    def __init__(self, store: EventStore, run_id: str, *, is_new: bool = False) -> None:
        self._totals = PacedTotals(store, DebateFilter(run_id, counted=None))
        self._before, self._unknown_before = Totals(), 0
        if not is_new:
            begun = store.totals(DebateFilter(run_id, counted=None, unfinished=True))
            self._before = before = self._totals.read()
            self._unknown_before = before.unknown_cost - begun.unknown_cost

    def look(self) -> Spending:
        """The spending since the watch began."""
        return self._since(self._totals.read())

    def glance(self) -> Spending:
        """The same, perhaps of some time ago: see `PacedTotals`."""
        return self._since(self._totals.recent())

    def _since(self, now: Totals) -> Spending:
        """A debate that goes on and whose cost is not known now is unknown: what it cost before is subtracted too."""
        before = self._before
        return Spending(
            calls=now.calls - before.calls,
            input_tokens=now.input_tokens - before.input_tokens,
            output_tokens=now.output_tokens - before.output_tokens,
            read=now.cached_input_tokens - before.cached_input_tokens,
            written=now.cache_write_tokens - before.cache_write_tokens,
            cost=max(0.0, now.cost - before.cost),
            unknown=now.unknown_cost - self._unknown_before,
        )
