"""Which providers have batches, and their clients; each is imported only by a process that uses it."""

import os
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from jury_providers.batches.provider import BatchProvider
from jury_providers.clouds import CLOUDS
from jury_providers.endpoints import (
    PROTOCOL_DEFAULTS,
    ApiProtocol,
    Endpoint,
    Endpoints,
    ProviderConnection,
    connection_of,
    endpoint_of,
)
from jury_providers.errors import ProviderError
from jury_providers.registry import NO_ENDPOINTS, SIMULATED, protocol_of

if TYPE_CHECKING:
    from jury_providers.batches.sdk_batches import SdkBatches

_MODULES: Mapping[ApiProtocol, tuple[str, str]] = MappingProxyType(
    {
        "openai": ("jury_providers.batches.openai_batches", "chat_batches"),
        "openai-responses": ("jury_providers.batches.openai_batches", "responses_batches"),
        "anthropic": ("jury_providers.batches.anthropic_batches", "AnthropicBatches"),
        "google": ("jury_providers.batches.google_batches", "GoogleBatches"),
    }
)


class NoBatches(ProviderError):
    """A provider has no batches; the message says why."""


def no_batches(name: str, endpoints: Endpoints = NO_ENDPOINTS) -> str | None:
    """Why the calls of a provider have to be made live; None: it has batches.

    A server of one's own (`base_url` in the panel file) has none, unless its entry says `batches: on`. One that an
    environment variable names stands for the provider's own.
    """
    endpoint = endpoint_of(name, endpoints)
    protocol = protocol_of(name, endpoint)
    if name == SIMULATED and protocol is None:
        return "simulated models are asked in this process"
    if protocol is None:
        return f"the installed provider {name} has no batches"
    if protocol not in _MODULES:
        return f"the protocol {protocol} has no batches"
    if endpoint.batches == "off":
        return f"the entry of {name} in the panel file says `batches: off`"
    if endpoint.cloud is not None:
        cloud = CLOUDS[protocol].get(endpoint.cloud)
        return f"{name} is at {endpoint.cloud if cloud is None else cloud.name}, whose batches are not offered here"
    if endpoint.batches is None and not _leads_to_provider(protocol, endpoint):
        return f"{name} is a server of its own; if it has batches, write `batches: on` in its entry of the panel file"
    return None


def batch_provider(name: str, endpoints: Endpoints = NO_ENDPOINTS) -> BatchProvider:
    """A new client of the batches of the provider `name`, with the key and base URL of this process's environment."""
    reason = no_batches(name, endpoints)
    if reason is not None:
        raise NoBatches(reason)
    endpoint = endpoint_of(name, endpoints)
    protocol = protocol_of(name, endpoint)
    assert protocol is not None
    return batches_of(protocol, connection_of(name, protocol, endpoint, os.environ))


def batches_of(protocol: ApiProtocol, connection: ProviderConnection) -> "SdkBatches":
    """A new client of the batches of a connection, in this protocol."""
    module, maker = _MODULES[protocol]
    made: SdkBatches = getattr(import_module(module), maker)(connection)
    return made


def _leads_to_provider(protocol: ApiProtocol, endpoint: Endpoint) -> bool:
    if endpoint.base_url is None:
        return True
    return connection_of("", protocol, endpoint, {}).leads_to(PROTOCOL_DEFAULTS[protocol].host)
