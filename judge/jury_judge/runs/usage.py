"""The usage of a run, or of a session of it: calls, tokens and US dollars that are recorded, summed by the database."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Self

from jury_events.exchange import ExchangeRecorded
from jury_events.text import dollars, pluralize
from jury_judge.settings.jury import Budget
from jury_providers.prices import Prices, list_prices_date
from jury_store.cached_calls import CachedCalls, summed
from jury_store.debate_rows import NOTHING_UNRECORDED, DebateFilter, DebateRow, RunRow, Totals, Unrecorded
from jury_store.event_store import EventStore

_SHARE = 0.1
"""Of the time at most is spent on the sums of a large run."""


@dataclass
class PacedTotals:
    """Reads totals again and again."""

    _store: EventStore
    _wanted: DebateFilter
    _found: Totals | None = None
    _at: float = 0.0
    _took: float = 0.0

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
class RunUsage:
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
        """The usage of a run, summed by the database; `prices`, today's, are needed for `uncached`."""
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
        """The usage of a run: the calls that its debates made, not those of their forks."""
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


class RunUsageWatch:
    """Follows the usage of a run from now on, by sums of the database: no debate is kept in memory.

    `is_new`: the store has no debate of it.
    """

    def __init__(self, store: EventStore, run_id: str, *, is_new: bool = False) -> None:
        self._totals = PacedTotals(store, DebateFilter(run_id, counted=None))
        self._before, self._unknown_before = Totals(), 0
        if not is_new:
            begun = store.totals(DebateFilter(run_id, counted=None, unfinished=True))
            self._before = before = self._totals.read()
            self._unknown_before = before.unknown_cost - begun.unknown_cost

    def look(self) -> RunUsage:
        """The usage since the watch began."""
        return self._since(self._totals.read())

    def glance(self) -> RunUsage:
        """The same, perhaps of some time ago: see `PacedTotals`."""
        return self._since(self._totals.recent())

    def _since(self, now: Totals) -> RunUsage:
        """A debate that goes on and whose cost is not known now is unknown: what it cost before is subtracted too."""
        before = self._before
        return RunUsage(
            calls=now.calls - before.calls,
            input_tokens=now.input_tokens - before.input_tokens,
            output_tokens=now.output_tokens - before.output_tokens,
            read=now.cached_input_tokens - before.cached_input_tokens,
            written=now.cache_write_tokens - before.cache_write_tokens,
            cost=max(0.0, now.cost - before.cost),
            unknown=now.unknown_cost - self._unknown_before,
        )
