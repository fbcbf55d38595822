"""What recorded calls would have cost without prompt caches."""

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from jury_events.exchange import ExchangeRecorded
from jury_judge.settings.judging import Budget
from jury_providers.prices import Prices, list_prices_date
from jury_store.cached_calls import CachedCalls, summed
from jury_store.debate_rows import DebateRow


def uncached_cost(calls: Iterable[ExchangeRecorded], prices: Prices, on: date) -> float | None:
    """US dollars, had nothing been read from caches nor written to them; None where it is unknown of a call.

    Args:
        calls: recorded; simulated ones cost nothing.
        prices: today's: their ratios scale what was paid.
        on: today.
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
    """The same for those of these debates whose cost is known, at today's prices, those of `JURY_PRICES` first.

    Raises:
        BadPrices: the price file cannot be read.
    """
    known = [row for row in rows if row.cost is not None]
    calls = summed(one for row in known for one in row.cached_calls)
    return uncached_sums(calls, sum(row.cost or 0.0 for row in known), _todays_prices(environ), _today())


def uncached_today(calls: Iterable[ExchangeRecorded], environ: Mapping[str, str] | None = None) -> float | None:
    """The same at today's prices, those of `JURY_PRICES` first.

    Raises:
        BadPrices: the price file cannot be read.
    """
    return uncached_cost(calls, _todays_prices(environ), _today())


def list_prices_of() -> date:
    """The day of the list prices, by which it is known."""
    return list_prices_date()


def _todays_prices(environ: Mapping[str, str] | None) -> Prices:
    return Budget().price_list(os.environ if environ is None else environ)


def _today() -> date:
    return datetime.now(UTC).date()
