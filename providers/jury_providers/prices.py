"""Prices of models: the list prices shipped with the package (`prices.toml`), overridden by a price file."""

import re
import tomllib
from collections.abc import Collection, Iterable
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError

from jury_events import regular_files
from jury_events.exchange import CacheLifetime, Usage
from jury_events.models import listed_ids
from jury_events.named_files import read_named_text
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.unknown_fields import first_error, hint
from jury_events.value import Value
from jury_providers.endpoints import Endpoints
from jury_providers.errors import ProviderError
from jury_providers.price import BATCH_TIER, USUAL_READ, Price, usual_write
from jury_providers.provider import ModelReply
from jury_providers.registry import SIMULATED, protocol_of

PRICES_ENV = "JURY_PRICES"
"""The environment variable with the path of a price file."""

_MILLION = 1_000_000
_MAX_BYTES = 1 << 20
_HEADER = re.compile(r"^\s*\[\[\s*price\s*\]\]", re.MULTILINE)

_NOT_BILLED = frozenset(
    {
        CallOutcome.RATE_LIMITED,
        CallOutcome.OVERLOADED,
        CallOutcome.AUTHENTICATION,
        CallOutcome.QUOTA,
        CallOutcome.BAD_REQUEST,
        CallOutcome.CONTEXT_TOO_LONG,
    }
)
"""Refused before a model ran. A timeout or a lost connection may be billed: its cost is unknown."""


class BadPrices(ProviderError):
    """A price file is invalid; the message names the file, the line and the field."""


class _PriceFile(Value):
    as_of: date | None = None
    price: Annotated[tuple[Price, ...], Field(strict=False)] = ()


class Prices(NamedTuple):
    """An ordered price list: the first price that applies counts. The cost of a model without a price is unknown.

    Args:
        clouds: names of providers that are at a cloud, each with the provider whose prices count there too.
    """

    prices: tuple[Price, ...] = ()
    clouds: tuple[tuple[str, str], ...] = ()

    def at_clouds(self, endpoints: Endpoints) -> "Prices":
        """Where a provider of `endpoints` is at a cloud, its models cost what they do at their own provider."""
        names = ((name, protocol_of(name, endpoint)) for name, endpoint in endpoints.items() if endpoint.cloud)
        return self._replace(clouds=tuple((name, protocol) for name, protocol in names if protocol is not None))

    def has_price(self, model: str, on: date) -> bool:
        """Whether `provider/model` has a price."""
        return self._of(model, 0, on) is not None

    def cost(self, model: str, usage: Usage, on: date) -> float | None:
        """The cost of one call in US dollars; None if price or usage is unknown.

        No call has an empty prompt: a usage of 0 input tokens counts as unknown, not as free.
        """
        return self._cost(self._of(model, usage.input_tokens or 0, on), usage)

    def _cost(self, price: Price | None, usage: Usage) -> float | None:
        if price is _FREE:
            return 0.0
        if price is None or not usage.input_tokens or usage.output_tokens is None:
            return None
        if usage.service_tier == BATCH_TIER:
            price = price.in_batch()
        factor = price.factor(usage)
        if factor is None:
            return None
        return factor * (price.input_cost(usage) + usage.output_tokens * price.output) / _MILLION

    def uncached(self, model: str, usage: Usage, cost: float, on: date) -> float | None:
        """What a call that cost `cost` would have cost had nothing been read from caches, nor written to them.

        By the ratio of the listed prices, so that a reported cost is scaled too; None if the ratio is unknown.
        """
        sent = usage.input_tokens or 0
        return self.uncached_sum(model, usage, cost, (sent, sent), on)

    def uncached_sum(self, model: str, usage: Usage, cost: float, prompts: tuple[int, int], on: date) -> float | None:
        """The same for several calls together, of one service tier; `usage` and `cost` are their sums.

        `prompts` are the shortest and the longest prompt, in tokens; None if their prices differ.
        """
        if not cost or (not usage.cached_input_tokens and not usage.cache_writes):
            return cost
        price, of_longest = (self._of(model, tokens, on) for tokens in prompts)
        if price is not of_longest:
            return None
        listed = self._cost(price, usage)
        plain = self._cost(price, usage.changed(cached_input_tokens=None, cache_writes=()))
        if not listed or plain is None:
            return None
        return cost * plain / listed

    def cache_factors(self, model: str, lifetime: CacheLifetime, on: date) -> tuple[float, float]:
        """What a token costs that is written to a cache, and one that is read, in multiples of other input.

        Where no price is known: 1.25 (an hour or more: 2) and 0.1, as the providers charge.
        """
        price = self._of(model, 0, on)
        if price is None or not price.input:
            return usual_write(lifetime), USUAL_READ
        return price.write_price(lifetime) / price.input, price.read_price / price.input

    def cache_read_factor(self, model: str, on: date) -> float:
        """What a token costs that is read from a cache, in multiples of other input; 1 if that is not known."""
        price = self._of(model, 0, on)
        return 1.0 if price is None or not price.input else price.read_price / price.input

    def upper_bound(
        self, model: str, input_tokens: int, settings: CallSettings, on: date, *, batch: bool = False
    ) -> float | None:
        """The maximum cost of a call with at most `input_tokens`, answered at full length.

        A provider may write the whole prompt to its cache without being asked, for the shortest lifetime that it has; a
        seat may ask for a longer one. A tier that costs less is reserved at the standard price, at which the provider
        may answer. `batch`: the call is made in a batch, which has no tiers.
        """
        price = self._of(model, input_tokens, on)
        if price is None or price is _FREE:
            return None if price is None else 0.0
        if batch:
            price, settings = price.in_batch(), settings.changed(tier=None)
        return price.most(input_tokens, settings) / _MILLION

    def _of(self, model: str, tokens: int, on: date) -> Price | None:
        if model.startswith(f"{SIMULATED}/"):
            return _FREE
        names = self._names(model)
        return next((price for price in self.prices if price.applies(names, tokens, on)), None)

    def _names(self, model: str) -> Collection[str]:
        """Under which a model may be listed: at a cloud its provider's, and of a dated snapshot its alias's."""
        provider, _, name = model.partition("/")
        listed = dict(self.clouds).get(provider, provider)
        return {model} | {f"{one}/{known}" for one in (provider, listed) for known in listed_ids(name)}


_FREE = Price(models=(f"{SIMULATED}/*",), input=0.0, output=0.0)


def cost_of(model: str, reply: ModelReply, prices: Prices, on: date, *, simulated: bool) -> float | None:
    """The cost of a call in US dollars: as reported by the provider, else by the model's price; None: unknown.

    0 if no model was called (`simulated`), or the call was refused before a model ran. What failed after a model had
    begun to answer costs what its usage says, else something unknown.
    """
    if reply.cost is not None and not reply.simulated:
        return reply.cost
    if simulated or (reply.outcome in _NOT_BILLED and not reply.began):
        return 0.0
    return prices.cost(model, reply.usage, on)


def load_prices(path: str | None = None) -> Prices:
    """The prices in the file at `path`, if any, then the list prices."""
    own = () if path is None else _read(path).price
    return Prices((*own, *_listed().price))


def list_prices_date() -> date:
    """The day on which the list prices were last checked."""
    checked = _listed().as_of
    assert checked is not None
    return checked


@cache
def _listed() -> _PriceFile:
    source = files("jury_providers").joinpath("prices.toml")
    return _parse(source.read_text("utf-8"), "prices.toml")


def _read(path: str) -> _PriceFile:
    try:
        text = read_named_text(Path(path), _MAX_BYTES)
    except FileNotFoundError:
        raise BadPrices(f"{path}: there is no such price file") from None
    except regular_files.FileTooLarge as error:
        raise BadPrices(f"{path}: {error.strerror}; is this a price file?") from None
    except UnicodeDecodeError as error:
        raise BadPrices(f"{path}:{regular_files.line_of(error)}: not UTF-8; save the file as UTF-8") from None
    except (OSError, ValueError) as error:
        raise BadPrices(f"{path}: cannot be read: {regular_files.read_failure(error)}") from None
    return _parse(text, path)


def _parse(text: str, name: str) -> _PriceFile:
    try:
        return _PriceFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadPrices(f"{name}: not TOML: {error}") from None
    except ValidationError as error:
        first = first_error(error.errors(include_url=False))
        line = _line(text, first["loc"])
        field = ".".join(str(part) for part in first["loc"])
        message = (
            f"there is no such field{hint(first, _PriceFile)}"
            if first["type"] == "extra_forbidden"
            else first["msg"].removeprefix("Value error, ")
        )
        raise BadPrices(f"{name}{f':{line}' if line else ''}: {field}: {message}") from None


def _line(text: str, place: Iterable[int | str]) -> int | None:
    """The line of the field at `place`, or of its entry."""
    index, *rest = (*(part for part in place if part != "price"), "")
    starts = [found.start() for found in _HEADER.finditer(text)]
    if not isinstance(index, int) or index >= len(starts):
        return None
    end = starts[index + 1] if index + 1 < len(starts) else len(text)
    field = re.compile(rf"^\s*{re.escape(str(rest[0]))}\s*=", re.MULTILINE)
    at = field.search(text, starts[index], end)
    position = starts[index] if at is None else at.end()
    return text.count("\n", 0, position) + 1
