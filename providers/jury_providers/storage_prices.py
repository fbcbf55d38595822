"""Caches whose storage is billed by the hour (Gemini's explicit ones) are kept only where its price is known."""

from datetime import date

from jury_events.panel import Panel, Seat
from jury_providers.endpoints import Endpoint, Endpoints
from jury_providers.errors import SettingNotTaken
from jury_providers.prices import Prices
from jury_providers.registry import protocol_of


def check_storage_prices(panel: Panel, endpoints: Endpoints, prices: Prices, on: date) -> None:
    """Check that a lifetime which a seat or the final judge asks for has a price.

    A fallback without one is called without a cache of its own.

    Args:
        panel: the seats and the final judge.
        endpoints: from the panel file.
        prices: of models.
        on: today.

    Raises:
        SettingNotTaken: names the first seat (or the final judge) whose model has no price of storage.
    """
    for place in panel.seats_and_judge:
        cache, provider = place.settings.cache, place.model.partition("/")[0]
        if cache in {None, "auto", "off"} or protocol_of(provider, endpoints.get(provider, Endpoint())) != "google":
            continue
        if not prices.has_storage_price(place.model, on):
            name = f"seat {place.juror_id}" if isinstance(place, Seat) else "the final judge"
            raise SettingNotTaken(
                f"{name}: model {place.model!r}: cache {cache}: no price of storage is known; set cache_storage in "
                "your own price list, or write cache auto or off"
            )
