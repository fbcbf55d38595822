"""The order of asking by price: seats with cheap models first, so that the dearest are asked last."""

from datetime import date

from jury_events.exchange import Usage
from jury_events.panel import Panel, Seat
from jury_judge.errors import PanelFileError
from jury_providers.endpoints import Endpoints
from jury_providers.prices import Prices, list_prices_date, load_prices

_CALL = Usage(input_tokens=10_000, output_tokens=500)
"""A usual call, by whose cost seats are compared."""


def with_asking_order(panel: Panel, endpoints: Endpoints) -> Panel:
    """The panel whose seats are asked by the list prices of their first models, where its stop rule says so."""
    if panel.stop is None or panel.stop.last != "price":
        return panel
    prices, on = load_prices().at_clouds(endpoints), list_prices_date()
    costs = {seat.juror_id: _cost(seat, prices, on) for seat in panel.seats}
    # Sorting keeps the order of seats that cost the same.
    order = tuple(sorted(panel.juror_ids, key=costs.__getitem__))
    return panel.model_copy(update={"stop": panel.stop.model_copy(update={"order": order})})


def _cost(seat: Seat, prices: Prices, on: date) -> float:
    cost = prices.cost(seat.model, _CALL, on)
    if cost is None:
        raise PanelFileError(
            f"stop.last: price needs a list price of {seat.model} (seat {seat.juror_id}), and there is none; "
            "write the order of asking: stop: {order: [...]}"
        )
    return cost
