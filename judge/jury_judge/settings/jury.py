"""What a jury is made of: the panel, where debates run, what may be spent."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from jury_events.run_events import BudgetBounds
from jury_events.text import visible_line
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.variables import Overrides
from jury_judge.settings_model import Option, SettingsModel
from jury_providers.prices import PRICES_ENV, Prices, load_prices
from jury_providers.simulated.script import NO_FAULTS, BadScript, Script, parse_script

_spend = partial(Option, group="What it may spend")
_where = partial(Option, group="Where debates run")


def _prices(value: Any) -> Any:
    if value is None or isinstance(value, Prices | str):
        return value
    raise ValueError("must be the path of a price file")


PriceList = Annotated[Prices | str | None, PlainValidator(_prices)]


PRICES = _spend(
    help="Prices of models (TOML), before the list prices. [$JURY_PRICES]",
    metavar="FILE",
    variable=PRICES_ENV,
    rare=True,
)


class Budget(SettingsModel):
    """Bounds in calls and US dollars. Of a run they hold over all its sessions; of a `Jury` over its life."""

    max_cost: Annotated[
        Annotated[float, Field(ge=0, le=1e9)] | None,
        _spend(help="US dollars at most, over all sessions of the run.", metavar="USD"),
    ] = None
    max_calls: Annotated[
        Annotated[int, Field(ge=0)] | None,
        _spend(help="Model calls at most, over all sessions of the run.", rare=True),
    ] = None
    prices: Annotated[PriceList, PRICES] = None

    def price_list(self, environ: Mapping[str, str]) -> Prices:
        """The prices.

        Raises:
            BadPrices: the file cannot be read.
        """
        if isinstance(self.prices, Prices):
            return self.prices
        return load_prices(self.prices or environ.get(PRICES_ENV, "").strip() or None)

    def check_bounded(self, why: str) -> None:
        """Check that the cost is limited; `why` it has to be."""
        if self.bounds.max_cost is None:
            raise SettingsRefused(f"{{max_cost}} USD is needed: {why}")

    def check_priced(self, models: Iterable[str], prices: Prices, on: date) -> None:
        """Check that every model has a price, where the cost is limited."""
        unknown = (
            [model for model in models if not prices.has_price(model, on)] if self.bounds.max_cost is not None else []
        )
        if unknown:
            raise SettingsRefused(
                f"{{max_cost}}: no price is known for {escaped(', '.join(unknown))}; give one with {{prices}} FILE or "
                f"{PRICES_ENV}, or limit the run with {{max_calls}}",
                usage=False,
            )

    @property
    def bounds(self) -> BudgetBounds:
        """The bounds alone, as they are recorded."""
        return BudgetBounds(max_calls=self.max_calls, max_cost=self.max_cost)


class PanelName(SettingsModel):
    """Which panel."""

    panel_name: Annotated[
        str | None,
        Option(
            help="A panel file, a jury of models (current, documents), or rules with simulated jurors "
            "(parallel-rounds, on-disagreement, adk-sequential, independent). [default: parallel-rounds]",
            group="Jurors and rules",
            name="--panel",
            metavar="FILE|NAME",
        ),
    ] = None


class PanelSettings(PanelName, Overrides):
    """The panel, and what overrides its file. No `panel_name`: the default preset with simulated jurors."""


MOST_PROCESSES = 64
_ADDRESS = re.compile(r"[^\s:]+:[0-9]{1,5}")


def _processes(value: Any) -> Any:
    if value is None or value == "auto":
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if not isinstance(value, int) or not 1 <= value <= MOST_PROCESSES:
        raise ValueError(f"must be auto, or a number from 1 to {MOST_PROCESSES}")
    return value


Processes = Annotated[int | None, BeforeValidator(_processes)]
"""A number of processes; None, or `auto`: as many as the CPUs can use."""


def _address(value: str) -> str:
    if not _ADDRESS.fullmatch(value):
        raise ValueError(f"{visible_line(value, 100)!r} is not HOST:PORT")
    return value


def _simulate(value: Any) -> Any:
    if isinstance(value, Script):
        return value
    if isinstance(value, Mapping):
        return {str(name): str(given) for name, given in value.items()}
    raise ValueError("must be a table of settings, as in latency: 0.5")


Address = Annotated[str, AfterValidator(_address)]
"""`HOST:PORT` of a Ray cluster."""

Simulation = Annotated[Script | dict[str, str], PlainValidator(_simulate)]


class ClusterSettings(SettingsModel):
    """The Ray cluster that is joined, how many processes are started there, and how simulated jurors behave."""

    ray_address: Annotated[
        Address | None,
        _where(
            help="Join this Ray cluster instead of a local one; it must ask for a token (docs/ray.md).",
            metavar="HOST:PORT",
            rare=True,
        ),
    ] = None
    ray_open_cluster: Annotated[
        bool,
        _where(
            help="Join it even if it requires no token. Anyone who reaches its ports can then run code in the jurors' "
            "processes, and read keys and cases there.",
            rare=True,
        ),
    ] = False
    replicas: Annotated[
        Processes,
        _where(
            help="Juror processes a seat on Ray; auto: as many as the cluster's CPUs can serve, while nodes join and "
            "leave.",
            metavar="N|auto",
            typed="text",
            default="auto",
            rare=True,
        ),
    ] = None
    coordinators: Annotated[
        Processes,
        _where(
            help="Processes that share the debates on Ray; auto: as many as the CPUs can use when it starts "
            "(docs/ray.md).",
            metavar="N|auto",
            typed="text",
            default="auto",
            rare=True,
        ),
    ] = None
    simulate: Annotated[
        Simulation,
        _where(
            help="Latency and faults of simulated jurors: latency (mean seconds), sigma, seed, the rate of an outcome "
            "such as timeout=0.05, unparseable=0.1, or answers=scripted (fixed answers). Repeatable.",
            metavar="KEY=VALUE",
            rare=True,
        ),
    ] = NO_FAULTS

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.ray_open_cluster and self.ray_address is None:
            raise SettingsRefused("{ray_open_cluster} has no effect without {ray_address} HOST:PORT")


class PlaceSettings(SettingsModel):
    """Where debates run."""

    in_process: Annotated[bool, _where(help="Run the debates in this process, without Ray.", rare=True)] = False
    ray: Annotated[
        bool,
        _where(
            help="Run the debates on a local Ray cluster. [default for jury demo, and for jury run from 10,000 debates "
            "on with four CPUs or more]",
            rare=True,
        ),
    ] = False


class RuntimeSettings(PlaceSettings, ClusterSettings):
    """In this process, or on Ray."""

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.in_process and (self.ray or self.ray_address is not None):
            raise SettingsRefused("{in_process} does without Ray: leave out either it, or {ray} and {ray_address}")

    @property
    def asked_in_process(self) -> bool | None:
        """Whether this process (True) or Ray (False) is asked for; None if neither is."""
        if self.in_process:
            return True
        on_ray = self.ray or self.ray_address is not None
        return False if on_ray or max(self.replicas or 1, self.coordinators or 1) > 1 else None

    def script(self, models: Iterable[str]) -> Script:
        """The behaviour of the simulated ones among a panel's `models`.

        Raises:
            SettingsRefused: it cannot be read, or none of the models would follow it.
        """
        if isinstance(self.simulate, Script):
            return self.simulate
        try:
            script = parse_script(self.simulate)
        except BadScript as error:
            raise SettingsRefused(f"{{simulate}} {escaped(str(error))}", usage=False) from error
        if self.simulate and not any(model.startswith("simulated/") for model in models):
            raise SettingsRefused(
                "{simulate} has no effect without simulated jurors; jury simulate serves faults to real SDKs",
                usage=False,
            )
        return script
