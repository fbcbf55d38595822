"""Whether a call asks the provider to keep the beginning of its prompt, and whether other calls wait for it.

A write costs more than other input and a read less, so keeping pays where more than (write - 1) / (1 - read) further
reads are expected, with write and read as multiples of the input price.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

from jury_events.exchange import CacheLifetime
from jury_events.panel import CallSettings
from jury_providers.catalogue import lifetimes, model_facts
from jury_providers.endpoints import PROTOCOL_DEFAULTS, ApiProtocol, Endpoint, endpoint_of
from jury_providers.prices import Prices
from jury_providers.provider import Caching
from jury_providers.registry import NO_ENDPOINTS, protocol_of


class CachePolicy(NamedTuple):
    """Decides by prices and by what the protocols offer.

    Args:
        prices: of models; without one, a write costs 1.25 and a read 0.1 of other input (an hour: 2).
        protocols: of the providers by name; others keep what they like.
        own_servers: providers with a base URL of their own, or at a cloud, which may not know the marks: they are asked
            for nothing unless a seat's `cache` says so.
    """

    prices: Prices = Prices()
    protocols: Mapping[str, ApiProtocol] = MappingProxyType({})
    own_servers: frozenset[str] = frozenset()

    def choose(self, model: str, settings: CallSettings, further_calls: float, on: date) -> Caching:
        """What a call asks for.

        Args:
            model: `provider/model`.
            settings: of the call; `cache` is `auto` where it is None.
            further_calls: expected after this one, which begin with the same text.
        """
        mode = settings.cache or "auto"
        offered = self._lifetimes(model)
        if not offered or (settings.cache is None and model.partition("/")[0] in self.own_servers):
            return None
        if mode == "auto":
            shortest = offered[0]
            write, read = self.prices.cache_factors(model, shortest, on)
            return shortest if read < 1 and further_calls * (1 - read) > write - 1 else "none"
        return mode if mode in offered else "none"

    def worth_waiting(self, model: str, settings: CallSettings, tokens: int, on: date) -> bool:
        """Whether calls that begin with the same `tokens` wait until one of them begins to be answered.

        False where the provider keeps nothing, and where its prices are unknown: then nothing is known to be saved.
        """
        if settings.warm == "off" or settings.cache == "off" or not self.is_kept(model, tokens):
            return False
        return self.reads_for_less(model, on)

    def is_kept(self, model: str, tokens: int) -> bool:
        """Whether the provider keeps a beginning of so many tokens; False for a provider of which that is unknown."""
        provider, _, name = model.partition("/")
        protocol = self.protocols.get(provider)
        return protocol is not None and tokens >= model_facts(protocol, name).smallest_cache

    def reads_for_less(self, model: str, on: date) -> bool:
        """Whether a read is known to be cheaper than other input."""
        return self.prices.cache_read_factor(model, on) < 1

    def _lifetimes(self, model: str) -> tuple[CacheLifetime, ...]:
        provider, _, name = model.partition("/")
        protocol = self.protocols.get(provider)
        return () if protocol is None else lifetimes(protocol, name)


KEEPS_NOTHING = CachePolicy()
"""Asks for nothing, and lets no call wait."""


def cache_policy(
    models: Iterable[str],
    prices: Prices,
    endpoints: Mapping[str, Endpoint] = NO_ENDPOINTS,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> CachePolicy:
    """The policy for the providers of `models` (`provider/model`); `environ` may name base URLs."""
    protocols: dict[str, ApiProtocol] = {}
    own_servers: set[str] = set()
    for model in models:
        provider = model.partition("/")[0]
        if provider in protocols:
            continue
        endpoint = endpoint_of(provider, endpoints)
        protocol = protocol_of(provider, endpoint)
        if protocol is None:
            continue
        protocols[provider] = protocol
        if endpoint.cloud is not None:
            elsewhere = protocol != "anthropic"  # Anthropic's clouds know the marks of blocks
        else:
            elsewhere = bool(endpoint.base_url or environ.get(PROTOCOL_DEFAULTS[protocol].base_url, "").strip())
        if elsewhere:
            own_servers.add(provider)
    return CachePolicy(prices, protocols, frozenset(own_servers))
