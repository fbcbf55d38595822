"""A lifetime at Google is refused by seat, before the first call, where the price of storage is unknown."""

from datetime import date
from typing import Any

import pytest

from jury_debate import PanelSpec, resolve
from jury_events import Panel
from jury_providers import (
    Endpoint,
    Endpoints,
    Prices,
    SettingNotTaken,
    check_storage_prices,
    load_prices,
    with_carriage,
)
from jury_providers.prices import Price

TODAY = date(2026, 11, 1)
FLASH = "google/gemini-3.8-flash"
OWN = Prices((Price(models=("google/*", "mine/*"), input=1, cached_input=0.1, cache_storage=1, output=5),))


def a_panel(model: str, **settings: Any) -> Panel:
    seats = [{"model": model, "juror_id": "a", "fallbacks": [], "images": False, "settings": settings}]
    return resolve(PanelSpec.model_validate({"seats": seats, "final": {"method": "majority_vote"}})).panel


def refusal(panel: Panel, prices: Prices, endpoints: Endpoints | None = None) -> str:
    try:
        check_storage_prices(with_carriage(panel, endpoints or {}), endpoints or {}, prices, TODAY)
    except SettingNotTaken as error:
        return str(error)
    return ""


def test_a_seat_whose_models_storage_has_no_price_is_named_with_the_remedy() -> None:
    said = refusal(a_panel(FLASH, cache="1h"), load_prices())

    assert said.startswith(f"seat a: model {FLASH!r}: cache 1h: no price of storage is known; set cache_storage in")


@pytest.mark.parametrize("cache", [None, "auto", "off"])
def test_without_a_lifetime_no_price_is_needed(cache: Any) -> None:
    assert "" == refusal(a_panel(FLASH, cache=cache), load_prices())


def test_ones_own_price_is_enough() -> None:
    assert "" == refusal(a_panel(FLASH, cache="30m"), OWN)


def test_other_providers_are_not_asked_for_a_price_of_storage() -> None:
    assert "" == refusal(a_panel("anthropic/claude-haiku-5-5", cache="1h"), load_prices())


def test_a_providers_lifetime_counts_as_its_seats_do() -> None:
    endpoints = {"mine": Endpoint(protocol="google", base_url="http://127.0.0.1:1", cache="5m")}
    panel = a_panel("mine/gemini-3.8-flash")

    assert "cache 5m" in refusal(panel, load_prices(), endpoints)
    assert "" == refusal(panel, OWN, endpoints)
