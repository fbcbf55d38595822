"""What may be spent."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from jury_actors.admission.budget import Ceiling, Spent
from jury_judge.settings.model import SettingsModel
from jury_providers.prices import PRICES_ENV, Prices, load_prices

NOTHING_SPENT = Spent()


def _prices(value: Any) -> Any:
    if value is None or isinstance(value, Prices | str):
        return value
    raise ValueError("must be the path of a price file")


PriceList = Annotated[Prices | str | None, PlainValidator(_prices)]


class Budget(SettingsModel):
    """Bounds in calls and US dollars. Of a run they hold over all its sessions; of a `Jury` over its life.

    Attributes:
        max_calls: model calls at most.
        max_cost: US dollars at most.
        prices: of models, before the list prices: a file (TOML), or what was read; None is `JURY_PRICES`.
        spent: counts against both from the start, as of earlier sessions of a run.
        lease_of: the run whose spending at most is stored before its calls are made; None: the bounds end with the
            process.
    """

    max_calls: Annotated[int, Field(ge=0)] | None = None
    max_cost: Annotated[float, Field(ge=0, le=1e9)] | None = None
    prices: PriceList = None
    spent: Spent = Field(default=NOTHING_SPENT, exclude=True)
    lease_of: str | None = Field(default=None, exclude=True)

    def price_list(self, environ: Mapping[str, str]) -> Prices:
        """The prices.

        Raises:
            BadPrices: the file cannot be read.
        """
        if isinstance(self.prices, Prices):
            return self.prices
        return load_prices(self.prices or environ.get(PRICES_ENV, "").strip() or None)

    @property
    def ceiling(self) -> Ceiling:
        """As the actors take it."""
        return Ceiling(self.max_calls, self.max_cost, self.spent, self.lease_of)
