"""What recorded calls would have cost without prompt caches."""

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from jury_events.exchange import ExchangeRecorded
from jury_judge.settings.budget import Budget
from jury_providers.prices import Prices, list_prices_date


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


def uncached_today(calls: Iterable[ExchangeRecorded], environ: Mapping[str, str] | None = None) -> float | None:
    """The same at today's prices, those of `JURY_PRICES` first.

    Raises:
        BadPrices: the price file cannot be read.
    """
    prices = Budget().price_list(os.environ if environ is None else environ)
    return uncached_cost(calls, prices, datetime.now(UTC).date())


def list_prices_of() -> date:
    """The day of the list prices, by which it is known."""
    return list_prices_date()
