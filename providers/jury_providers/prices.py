"""Prices of models: the list prices shipped with the package (`prices.toml`), overridden by a price file."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from jury_events import regular_files
from jury_events.exchange import LIFETIMES, CacheLifetime, Usage
from jury_events.models import listed_ids
from jury_events.named_files import read_named_text
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.unknown_fields import first_error, hint
from jury_events.value import Label, Value
from jury_providers.endpoints import Endpoints
from jury_providers.errors import ProviderError
from jury_providers.provider import ModelReply
from jury_providers.registry import SIMULATED, protocol_of

USUAL_READ = 0.1
_USUAL_WRITE: dict[CacheLifetime, float] = {"1h": 2.0, "12h": 2.0}

_DEAREST_TIER = 2.0
"""Of the tier `priority`, where a price does not have its factor: as much as any provider charges."""

BATCH_TIER = "batch"
"""The service tier of calls that were made in a batch, whatever else their answers name."""

_BATCH_FACTOR = 0.5
"""Of a batch's calls, at every provider, where a price does not have its own."""

BatchCaches = Literal["halved", "apart", "unknown"]
"""How the prices of the prompt cache go together with that of a batch: `halved` like the rest (Anthropic); `apart`, a
read costs what it does without a batch (Gemini: a hit takes precedence); `unknown`: the dearer of both (OpenAI)."""

_STANDARD_TIERS = frozenset({"auto", "default", "standard", "unspecified"})
"""Words of providers for the tier of the list prices."""

_STANDARD_REGIONS = frozenset({"global", "not_available"})
"""Words of Anthropic for an answer that was not bound to a region."""

_STANDARD_SPEED = "standard"


def _with_provider(pattern: str) -> str:
    if "/" not in pattern and not pattern.startswith("*"):
        raise ValueError(f"{pattern!r} matches no model; write provider/model, as in openai/gpt-5.4-mini")
    return pattern


PricePattern = Annotated[str, Field(max_length=300), AfterValidator(_with_provider)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000)]


class Price(Value):
    """US dollars per million tokens of the models that match one of the patterns (`fnmatch` of `provider/model`).

    Reasoning tokens are billed as output. `cached_input` is the price of tokens read from a prompt cache, `cache_write`
    of those written to it, by lifetime; without one, the price of other input. `tiers` are factors of the whole price,
    by the provider's word for the service tier, and `regions` by its word for the region that an answer was bound to.
    `prompt_over`: for prompts of more tokens only. `until`: last day of validity. `batch_caches`: how the prices of
    caches go together with the price of a batch.
    """

    models: Annotated[tuple[PricePattern, ...], Field(min_length=1, strict=False)]
    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    cache_write: dict[CacheLifetime, Dollars] = Field(default_factory=dict)
    tiers: dict[Label, Annotated[float, Field(gt=0, le=100)]] = Field(default_factory=dict)
    regions: dict[Label, Annotated[float, Field(gt=0, le=100)]] = Field(default_factory=dict)
    prompt_over: Annotated[int, Field(ge=0)] | None = None
    until: date | None = None
    batch_caches: BatchCaches = "unknown"

    def in_batch(self) -> "Price":
        """The price of a call in a batch: half of it, unless `tiers` names the factor of `batch`."""
        factor = self.tiers.get(BATCH_TIER, _BATCH_FACTOR)
        halved = self.batch_caches == "halved"
        read: dict[str, Dollars | None] = {
            "halved": None if self.cached_input is None else factor * self.cached_input,
            "apart": self.cached_input,
            "unknown": max(factor * self.input, self.read_price) if self.cached_input is not None else None,
        }
        return self.model_copy(
            update={
                "input": factor * self.input,
                "output": factor * self.output,
                "cached_input": read[self.batch_caches],
                "cache_write": {name: price * (factor if halved else 1.0) for name, price in self.cache_write.items()},
                "tiers": {**self.tiers, BATCH_TIER: 1.0},
            }
        )

    def write_price(self, lifetime: CacheLifetime) -> float:
        """Of tokens that are written to a cache for `lifetime`.

        A lifetime without a price of its own costs as much as the dearest that has one, and at least what providers
        usually charge for it: never too little. Without any price of a write, it is other input.
        """
        if not self.cache_write:
            return self.input
        usual = usual_write(lifetime) * self.input
        return self.cache_write.get(lifetime, max(usual, self.input, *self.cache_write.values()))

    @property
    def read_price(self) -> float:
        """Of tokens that are read from a cache."""
        return self.input if self.cached_input is None else self.cached_input

    def input_cost(self, usage: Usage) -> float:
        """The cost of the prompt, times a million: what was read from a cache, written to it, and the rest."""
        total = usage.input_tokens or 0
        read = min(usage.cached_input_tokens or 0, total)
        written = sum(write.tokens * self.write_price(write.lifetime) for write in usage.cache_writes)
        rest = max(0, total - read - usage.written_tokens)
        return rest * self.input + read * self.read_price + written

    def most(self, input_tokens: int, settings: CallSettings) -> float:
        """The maximum cost of a call, times a million: everything written, answered at full length.

        In the dearest region: where answers are computed may be a setting of the account.
        """
        implicit = next((one for one in LIFETIMES if one in self.cache_write), None)
        asked = [one for one in LIFETIMES if one in {implicit, settings.cache}]
        dearest = max((self.input, *map(self.write_price, asked)))
        unlisted = _DEAREST_TIER if settings.tier == "priority" else 1.0
        factor = max(1.0, self.tiers.get(settings.tier or "", unlisted)) * max((1.0, *self.regions.values()))
        return factor * (input_tokens * dearest + settings.max_output_tokens * self.output)

    def factor(self, usage: Usage) -> float | None:
        """Of the whole price, by the tier, region and speed that the provider named; None: one has no known price."""
        tier = _factor(usage.service_tier, self.tiers, _STANDARD_TIERS)
        region = _factor(usage.region, self.regions, _STANDARD_REGIONS)
        if tier is None or region is None or (usage.speed or _STANDARD_SPEED).lower() != _STANDARD_SPEED:
            return None
        return tier * region

    def applies(self, names: Collection[str], tokens: int, on: date) -> bool:
        """Whether it applies to a prompt of `tokens` to a model with these names (`provider/model`)."""
        return (
            (self.prompt_over is None or tokens > self.prompt_over)
            and (self.until is None or on <= self.until)
            and any(fnmatchcase(name, pattern) for name in names for pattern in self.models)
        )


def usual_write(lifetime: CacheLifetime) -> float:
    """What providers charge for a token that is written to a cache, in multiples of other input."""
    return _USUAL_WRITE.get(lifetime, 1.25)


def _factor(word: str | None, factors: Mapping[str, float], standard: Collection[str]) -> float | None:
    if word is None or word.lower() in standard:
        return 1.0
    return factors.get(word.lower())


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
        clouds: list[tuple[str, str]] = []
        for name, endpoint in endpoints.items():
            if endpoint.cloud and (protocol := protocol_of(name, endpoint)) is not None:
                clouds.append((name, protocol))
        return self._replace(clouds=tuple(clouds))

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
