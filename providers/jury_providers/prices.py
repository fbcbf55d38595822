"""Prices of models: the list prices shipped with the package (`prices.toml`), overridden by a price file."""

import re
import tomllib
from collections.abc import Iterable
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from jury_events import regular_files
from jury_events.exchange import LIFETIMES, CacheLifetime, Usage
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.unknown_fields import first_error, hint
from jury_events.value import Label, Value
from jury_providers.cache_lifetimes import SECONDS
from jury_providers.errors import ProviderError
from jury_providers.provider import ModelReply
from jury_providers.registry import SIMULATED

PRICES_ENV = "JURY_PRICES"
"""The environment variable with the path of a price file."""

_MILLION = 1_000_000
_MAX_BYTES = 1 << 20
_SNAPSHOT = re.compile(r"[-@](20[0-9]{2}-[0-9]{2}-[0-9]{2}|20[0-9]{6})$")
_HEADER = re.compile(r"^\s*\[\[\s*price\s*\]\]", re.MULTILINE)

_USUAL_READ = 0.1
_USUAL_WRITE: dict[CacheLifetime, float] = {"1h": 2.0, "12h": 2.0}

_DEAREST_TIER = 2.0
"""Of the tier `priority`, where the list does not have its price: Google's is 1.75 to 2 times the standard one."""

_STANDARD_TIERS = frozenset({"auto", "default", "standard", "unspecified"})
"""Words of providers for the tier of the list prices."""

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


def _with_provider(pattern: str) -> str:
    if "/" not in pattern and not pattern.startswith("*"):
        raise ValueError(f"{pattern!r} matches no model; write provider/model, as in openai/gpt-5.4-mini")
    return pattern


PricePattern = Annotated[str, Field(max_length=300), AfterValidator(_with_provider)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000)]


class BadPrices(ProviderError):
    """A price file is invalid; the message names the file, the line and the field."""


class Price(Value):
    """US dollars per million tokens of the models that match one of the patterns (`fnmatch` of `provider/model`).

    Reasoning tokens are billed as output. `cached_input` is the price of tokens read from a prompt cache, `cache_write`
    of those written to it, by lifetime; without one, the price of other input. `tiers` are factors of the whole price,
    by the provider's word for the service tier. `prompt_over`: for prompts of more tokens only. `until`: last day of
    validity. `cache_storage`: of a million tokens that are kept for an hour, where a request of its own writes them; it
    costs as much as other input besides, at the standard tier.
    """

    models: Annotated[tuple[PricePattern, ...], Field(min_length=1, strict=False)]
    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    cache_write: dict[CacheLifetime, Dollars] = Field(default_factory=dict)
    cache_storage: Dollars | None = None
    tiers: dict[Label, Annotated[float, Field(gt=0, le=100)]] = Field(default_factory=dict)
    prompt_over: Annotated[int, Field(ge=0)] | None = None
    until: date | None = None

    def input_cost(self, usage: Usage) -> float:
        """The cost of the prompt, times a million: what was read from a cache, written to it, and the rest."""
        total = usage.input_tokens or 0
        read = min(usage.cached_input_tokens or 0, total)
        if self.cache_storage is not None:
            usage = usage.changed(cache_writes=())  # no part of the prompt; see `storage_cost`
        # A lifetime without a price of its own is booked at the dearest that is known: never too little.
        dearest = max((self.input, *self.cache_write.values())) if self.cache_write else self.input
        written = sum(write.tokens * self.cache_write.get(write.lifetime, dearest) for write in usage.cache_writes)
        rest = max(0, total - read - usage.written_tokens)
        return rest * self.input + read * (self.input if self.cached_input is None else self.cached_input) + written

    def storage_cost(self, usage: Usage) -> float:
        """The cost of caches that requests of their own wrote, times a million; 0 for a provider without these."""
        if self.cache_storage is None:
            return 0.0
        return sum(self._stored(write.tokens, write.lifetime) for write in usage.cache_writes)

    def _stored(self, tokens: int, lifetime: CacheLifetime) -> float:
        hours = SECONDS[lifetime] / SECONDS["1h"]
        return tokens * (self.input + hours * (self.cache_storage or 0.0))

    def most(self, input_tokens: int, settings: CallSettings) -> float:
        """The maximum cost of a call, times a million: everything written, answered at full length."""
        implicit = next((one for one in LIFETIMES if one in self.cache_write), None)
        asked = [one for one in (implicit, settings.cache) if one in self.cache_write]
        dearest = max(self.input, *(self.cache_write[one] for one in asked), 0.0)
        unlisted = _DEAREST_TIER if settings.tier == "priority" else 1.0
        factor = max(1.0, self.tiers.get(settings.tier or "", unlisted))
        kept = next((one for one in LIFETIMES if one == settings.cache), None)
        stored = 0.0 if self.cache_storage is None or kept is None else self._stored(input_tokens, kept)
        return factor * (input_tokens * dearest + settings.max_output_tokens * self.output) + stored

    def tier_factor(self, tier: str | None) -> float | None:
        """The factor of a service tier; None: a tier without a known price."""
        if tier is None or tier.lower() in _STANDARD_TIERS:
            return 1.0
        return self.tiers.get(tier.lower())

    def applies(self, model: str, tokens: int, on: date) -> bool:
        """Whether it applies to a prompt of `tokens` to `provider/model`; a dated snapshot has its alias's price."""
        return (
            (self.prompt_over is None or tokens > self.prompt_over)
            and (self.until is None or on <= self.until)
            and any(fnmatchcase(name, pattern) for name in {model, _SNAPSHOT.sub("", model)} for pattern in self.models)
        )


class _PriceFile(Value):
    as_of: date | None = None
    price: Annotated[tuple[Price, ...], Field(strict=False)] = ()


class Prices(NamedTuple):
    """An ordered price list: the first price that applies counts. The cost of a model without a price is unknown."""

    prices: tuple[Price, ...] = ()

    def has_price(self, model: str, on: date) -> bool:
        """Whether `provider/model` has a price."""
        return self._of(model, 0, on) is not None

    def cost(self, model: str, usage: Usage, on: date) -> float | None:
        """The cost of one call in US dollars; None if price or usage is unknown.

        No call has an empty prompt: a usage of 0 input tokens counts as unknown, not as free.
        """
        price = self._of(model, usage.input_tokens or 0, on)
        if price is _FREE:
            return 0.0
        if price is None or not usage.input_tokens or usage.output_tokens is None:
            return None
        factor = price.tier_factor(usage.service_tier)
        if factor is None:
            return None
        asked = factor * (price.input_cost(usage) + usage.output_tokens * price.output)
        return (asked + price.storage_cost(usage)) / _MILLION

    def has_storage_price(self, model: str, on: date) -> bool:
        """Whether it is known what a cache costs that a request of its own writes, for prompts of every length."""
        steps = {0, *(price.prompt_over + 1 for price in self.prices if price.prompt_over is not None)}
        found = [self._of(model, tokens, on) for tokens in steps]
        return all(price is not None and price.cache_storage is not None for price in found)

    def storage_cost(self, model: str, usage: Usage, on: date) -> float:
        """The cost of the caches that requests of their own wrote for a call, in US dollars."""
        price = self._of(model, usage.input_tokens or usage.written_tokens, on)
        return 0.0 if price is None else price.storage_cost(usage) / _MILLION

    def uncached(self, model: str, usage: Usage, cost: float, on: date) -> float | None:
        """What a call that cost `cost` would have cost had nothing been read from caches, nor written to them.

        By the ratio of the listed prices, so that a reported cost is scaled too; None if the ratio is unknown.
        """
        if not usage.cached_input_tokens and not usage.cache_writes:
            return cost
        if usage.input_tokens is None and usage.cache_writes and self.has_storage_price(model, on):
            return 0.0  # only the cache was paid: the call itself was refused
        listed = self.cost(model, usage, on)
        plain = self.cost(model, usage.changed(cached_input_tokens=None, cache_writes=()), on)
        if not listed or plain is None:
            return None
        return cost * plain / listed

    def cache_factors(self, model: str, lifetime: CacheLifetime, on: date) -> tuple[float, float]:
        """What a token costs that is written to a cache, and one that is read, in multiples of other input.

        Where no price is known: 1.25 (an hour or more: 2) and 0.1, as the providers charge.
        """
        price = self._of(model, 0, on)
        write = _USUAL_WRITE.get(lifetime, 1.25)
        if price is None or not price.input:
            return write, _USUAL_READ
        if lifetime in price.cache_write:
            write = price.cache_write[lifetime] / price.input
        elif not price.cache_write:
            write = 1.0
        return write, 1.0 if price.cached_input is None else price.cached_input / price.input

    def cache_read_factor(self, model: str, on: date) -> float:
        """What a token costs that is read from a cache, in multiples of other input; 1 if that is not known."""
        price = self._of(model, 0, on)
        if price is None or not price.input or price.cached_input is None:
            return 1.0
        return price.cached_input / price.input

    def upper_bound(self, model: str, input_tokens: int, settings: CallSettings, on: date) -> float | None:
        """The maximum cost of a call with at most `input_tokens`, answered at full length.

        A provider may write the whole prompt to its cache without being asked, for the shortest lifetime that it has; a
        seat may ask for a longer one. A tier that costs less is reserved at the standard price, at which the provider
        may answer.
        """
        price = self._of(model, input_tokens, on)
        if price is None or price is _FREE:
            return None if price is None else 0.0
        return price.most(input_tokens, settings) / _MILLION

    def _of(self, model: str, tokens: int, on: date) -> Price | None:
        if model.startswith(f"{SIMULATED}/"):
            return _FREE
        return next((price for price in self.prices if price.applies(model, tokens, on)), None)


_FREE = Price(models=(f"{SIMULATED}/*",), input=0.0, output=0.0)


def cost_of(model: str, reply: ModelReply, prices: Prices, on: date, *, simulated: bool) -> float | None:
    """The cost of a call in US dollars: as reported by the provider, else by the model's price; None: unknown.

    0 if no model was called (`simulated`); only what was kept for the call if it was refused before a model ran.
    """
    if reply.cost is not None and not reply.simulated:
        return reply.cost
    if simulated:
        return 0.0
    if reply.outcome in _NOT_BILLED:
        return prices.storage_cost(model, reply.usage, on)
    return prices.cost(model, reply.usage, on)


def load_prices(path: str | None = None) -> Prices:
    """The prices in the file at `path`, if any, then the list prices.

    Raises:
        BadPrices: the file cannot be read.
    """
    own = () if path is None else _read(path)
    return Prices((*own, *_list_prices()))


@cache
def _list_prices() -> tuple[Price, ...]:
    source = files("jury_providers").joinpath("prices.toml")
    return _parse(source.read_text("utf-8"), "prices.toml")


def _read(path: str) -> tuple[Price, ...]:
    try:
        text = regular_files.read_text(Path(path), _MAX_BYTES)
    except FileNotFoundError:
        raise BadPrices(f"{path}: there is no such price file") from None
    except regular_files.FileTooLarge as error:
        raise BadPrices(f"{path}: {error.strerror}; is this a price file?") from None
    except UnicodeDecodeError as error:
        raise BadPrices(f"{path}:{regular_files.line_of(error)}: not UTF-8; save the file as UTF-8") from None
    except (OSError, ValueError) as error:
        raise BadPrices(f"{path}: cannot be read: {regular_files.read_failure(error)}") from None
    return _parse(text, path)


def _parse(text: str, name: str) -> tuple[Price, ...]:
    try:
        return _PriceFile.model_validate(tomllib.loads(text)).price
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
