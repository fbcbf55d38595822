"""The price of a model: what its tokens cost, at which tier, in which region, and how long."""

from collections.abc import Collection, Mapping
from datetime import date
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from jury_events.exchange import LIFETIMES, CacheLifetime, Usage
from jury_events.panel import CallSettings
from jury_events.value import Label, Value

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
