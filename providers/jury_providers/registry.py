"""Providers by name: built in, from a panel file's endpoints, and from installed packages (entry points).

Each is imported only by a process that uses it. `recipients` says where case data goes.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from jury_debate.reading.token_estimate import answer_tokens
from jury_events.panel import CallSettings, Panel, Seat
from jury_providers.catalogue import ignored_settings, known_window, refused_settings
from jury_providers.clouds import CLOUDS, missing_for_cloud
from jury_providers.dialects import profiles
from jury_providers.endpoints import (
    BUILT_IN,
    PROTOCOL_DEFAULTS,
    ApiProtocol,
    Endpoint,
    Endpoints,
    ProviderConnection,
    connection_of,
    endpoint_of,
    header_destination,
    installed_providers,
    key_destination,
    key_variables,
    proxy_destination,
)
from jury_providers.errors import KeyMissing, SettingNotTaken, UnknownProvider
from jury_providers.provider import Provider
from jury_providers.simulated.script import NO_FAULTS, Script

if TYPE_CHECKING:
    from jury_providers.sdk.adapter import SdkAdapter
from urllib.parse import urlsplit

from jury_providers.errors import BadVariable

SIMULATED = "simulated"

_ADAPTERS: Mapping[ApiProtocol, tuple[str, str]] = MappingProxyType(
    {
        "openai": ("jury_providers.sdk.openai_chat", "OpenAIChat"),
        "openai-responses": ("jury_providers.sdk.openai_responses", "OpenAIResponses"),
        "anthropic": ("jury_providers.sdk.anthropic_messages", "AnthropicMessages"),
        "google": ("jury_providers.sdk.google_generate", "GoogleGenerate"),
        "openai-decisions": ("jury_providers.sdk.openai_decisions", "OpenAIDecisions"),
        "google-decisions": ("jury_providers.sdk.systemone", "GoogleDecisions"),
        "systemone": ("jury_providers.sdk.systemone", "SystemOne"),
    }
)

_OF_ITS_NAME: Mapping[str, ApiProtocol] = MappingProxyType({protocol: protocol for protocol in _ADAPTERS})

_JUDGE = "the final judge"

NO_ENDPOINTS: Endpoints = MappingProxyType({})


@dataclass(frozen=True)
class ProviderFactory:
    """Creates providers by name. It is pickled into worker processes, which read keys from their own environment.

    Args:
        endpoints: from the panel file.
    """

    script: Script = NO_FAULTS
    endpoints: Endpoints = field(default_factory=dict)

    def __call__(self, name: str) -> Provider:
        """A new client of the provider `name`."""
        if name == SIMULATED:
            from jury_providers.simulated.provider import SimulatedProvider  # noqa: PLC0415  (only if used)

            return SimulatedProvider(self.script)
        endpoint = endpoint_of(name, self.endpoints)
        protocol = protocol_of(name, endpoint)
        if protocol is None:
            return _installed(name, endpoint)
        return adapter_of(protocol, connection_of(name, protocol, endpoint, os.environ))


def adapter_of(protocol: ApiProtocol, connection: ProviderConnection) -> "SdkAdapter":
    """A new client of a connection, which speaks this protocol."""
    module, adapter = _ADAPTERS[protocol]
    made: SdkAdapter = getattr(import_module(module), adapter)(connection)
    return made


def provider_factory(script: Script = NO_FAULTS, endpoints: Endpoints = NO_ENDPOINTS) -> Callable[[str], Provider]:
    """A function from a provider's name to a new client."""
    return ProviderFactory(script, dict(endpoints))


def known_providers(endpoints: Endpoints = NO_ENDPOINTS) -> tuple[str, ...]:
    """The valid names before the slash in `provider/model`."""
    return tuple(dict.fromkeys((SIMULATED, *_ADAPTERS, *profiles(), *endpoints, *sorted(installed_providers()))))


def protocol_of(name: str, endpoint: Endpoint) -> ApiProtocol | None:
    """A provider's protocol; None: it uses none of the built-in protocols."""
    if endpoint.protocol is not None:
        return endpoint.protocol
    return _OF_ITS_NAME.get(name)


def check_models(panel: Panel, endpoints: Endpoints = NO_ENDPOINTS, environ: Mapping[str, str] | None = None) -> None:
    """Check that every model of a panel, fallbacks included, has a provider, and its provider a key.

    Args:
        endpoints: from the panel file.
        environ: the environment with the keys; None: keys are not checked.
    """
    missing_keys: dict[str, str] = {}
    for place, model, settings, window in _places(panel):
        name = model.partition("/")[0]
        if name not in BUILT_IN and name not in known_providers(endpoints):
            raise UnknownProvider(
                f"{place}: model {model!r} needs the provider {name!r}; the providers: "
                f"{', '.join(known_providers(endpoints))}; one of your own is written under providers in the panel "
                "file (--panel)"
            )
        endpoint = endpoint_of(name, endpoints)
        protocol = protocol_of(name, endpoint)
        if protocol is not None and endpoint.base_url is None:  # a server of its own takes what it likes
            _check_settings(panel, place, model, settings, protocol)
        window = window or known_window(model, endpoints)  # noqa: PLW2901  (as the panel writes it, else as known)
        if window is not None and settings.max_output_tokens > (left := answer_tokens(window)):
            raise SettingNotTaken(
                f"{place}: model {model!r}: max_output_tokens {settings.max_output_tokens:,} is more than the "
                f"{left:,} of its window of {window:,} that requests leave; write max_output_tokens: {left}"
            )
        if environ is not None and endpoint.cloud and (missing := _missing_at_cloud(name, endpoint, environ)):
            missing_keys.setdefault(name, f"{place}: model {model!r}: {'; '.join(missing)}")
        if environ is not None and (variables := missing_key(name, endpoints, environ)):
            remedy = f"set {' or '.join(variables)}"
            if any(model in one.fallbacks for one in panel.seats_and_judge):
                remedy += ", or write other fallbacks, [] for none"
            elif place == _JUDGE:
                remedy += ", or name another judge (final.judge), or a final.method without one"
            missing_keys.setdefault(name, f"{place}: model {model!r} needs a key; {remedy}")
    if missing_keys:
        raise KeyMissing("; ".join(missing_keys.values()))


def missing_key(name: str, endpoints: Endpoints, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables of which one must contain the provider's key, if none does.

    () if a key is set or not needed, as for a server with its own base URL.
    """
    endpoint = endpoint_of(name, endpoints)
    protocol = protocol_of(name, endpoint)
    if protocol is None:
        return ()
    connection = connection_of(name, protocol, endpoint, environ)
    if endpoint.cloud is not None:
        return ()  # see `_missing_at_cloud`
    if connection.key is not None or (connection.base_url is not None and endpoint.key_env is None):
        return ()
    return key_variables(protocol, endpoint) or PROTOCOL_DEFAULTS[protocol].keys


def _missing_at_cloud(name: str, endpoint: Endpoint, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What a provider at a cloud lacks before a call, with the remedy."""
    protocol = protocol_of(name, endpoint)
    if protocol is None or endpoint.cloud is None:
        return ()
    cloud = CLOUDS[protocol].get(endpoint.cloud)
    if cloud is None:
        known = ", ".join(CLOUDS[protocol])
        remedy = f"write one of {known}" if known else "leave cloud out"
        return (f"the protocol {protocol} is not offered at the cloud {endpoint.cloud}; {remedy}",)
    connection = connection_of(name, protocol, endpoint, environ)
    missing = missing_for_cloud(
        cloud,
        has_key=connection.key is not None,
        key_env=endpoint.key_env,
        has_address=connection.base_url is not None,
        environ=environ,
    )
    return tuple(f"{one} ({cloud.name})" for one in missing)


def key_destinations(panel: Panel, endpoints: Endpoints, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A line for what of the environment is sent where the panel file or the environment leads, or through a proxy.

    See `key_destination`, `header_destination` and `proxy_destination`.
    """
    lines: list[str] = []
    seen: set[str] = set()
    for model in panel.models:
        name = model.partition("/")[0]
        if name in seen or (name == SIMULATED and name not in endpoints):
            continue  # of the simulated jurors nothing leaves this machine
        seen.add(name)
        endpoint = endpoint_of(name, endpoints)
        protocol = protocol_of(name, endpoint)
        for line_of in (key_destination, header_destination, proxy_destination):
            if (line := line_of(name, protocol, endpoint, environ)) is not None:
                lines.append(line)  # noqa: PERF401  (read as a list, this is two)
    return tuple(lines)


def setting_warnings(panel: Panel, endpoints: Endpoints) -> list[str]:
    """One line for each setting that is not sent or is deprecated, with the seats and the model that it concerns."""
    found: dict[str, list[str]] = {}
    for place, model, settings, _ in _places(panel):
        name, _, own_id = model.partition("/")
        endpoint = endpoint_of(name, endpoints)
        protocol = protocol_of(name, endpoint)
        if protocol is None:
            continue
        for clause in ignored_settings(protocol, own_id, settings, own_server=endpoint.base_url is not None):
            found.setdefault(f"model {model!r}: {clause}", []).append(place)
    return [f"{', '.join(places)}: {line}" for line, places in found.items()]


def _check_settings(panel: Panel, place: str, model: str, settings: CallSettings, protocol: ApiProtocol) -> None:
    tools = place != _JUDGE and panel.artifacts.mode == "tools"
    if model not in {one.model for one in panel.seats_and_judge}:
        settings = settings.without_carriage()  # a fallback is called as well as its provider can
    refused = refused_settings(protocol, model.partition("/")[2], settings, tools=tools)
    if refused:
        raise SettingNotTaken(f"{place}: model {model!r}: {'; '.join(refused)}")


class _CalledPlace(NamedTuple):
    """A seat or the final judge with one of its models; `window`: as the panel writes it."""

    name: str
    model: str
    settings: CallSettings
    window: int | None


def _places(panel: Panel) -> Iterator[_CalledPlace]:
    for place in panel.seats_and_judge:
        name = f"seat {place.juror_id}" if isinstance(place, Seat) else _JUDGE
        for model in (place.model, *place.fallbacks):
            yield _CalledPlace(name, model, place.settings, place.window)


def _installed(name: str, endpoint: Endpoint) -> Provider:
    found = installed_providers().get(name)
    if found is None:
        raise UnknownProvider(f"there is no provider {name!r}; the providers: {', '.join(known_providers())}")
    made = found.load()(endpoint)
    if not isinstance(made, Provider):
        raise UnknownProvider(f"the provider {name!r} ({found.value}) made a {type(made).__name__}, not a Provider")
    return made


def recipients(panel: Panel, endpoints: Endpoints, environ: Mapping[str, str] | None) -> tuple[str, ...]:
    """A line for each provider whose models may be called, seats first.

    Args:
        endpoints: from the panel file.
        environ: the environment with base URLs; None: it is that of other machines, so unknown.
    """
    primary = {place.model for place in panel.seats_and_judge}
    by_provider: dict[str, list[str]] = {}
    for model in panel.models:
        name, _, bare = model.partition("/")
        by_provider.setdefault(name, []).append(bare if model in primary else f"{bare} as a fallback")
    return tuple(_line(name, ", ".join(models), endpoints, environ) for name, models in by_provider.items())


_model = attrgetter("model")


def same_model_warning(panel: Panel) -> str | None:
    """A warning if all seats are one model, or the final judge is the model of a seat; else None."""
    judge, alike = panel.final.judge, one_model_warning(panel)
    if alike is not None or judge is None or judge.model not in map(_model, panel.seats):
        return alike
    return (
        f"the final judge {judge.model} is also the model of {', '.join(panel.seats_of(judge.model))}, "
        "so it judges its own statements; name another model as final.judge"
    )


def one_model_warning(panel: Panel) -> str | None:
    """A warning if all seats are one model, which is called; else None."""
    (model, *others) = dict.fromkeys(map(_model, panel.seats))
    if others or len(panel.seats) == 1 or model.startswith(f"{SIMULATED}/"):
        return None
    judge = panel.final.judge
    also = "" if judge is None or judge.model != model else ", and so is the final judge"
    return (
        f"all {len(panel.seats)} seats are {model}{also}: they mostly err together, so their agreement says less than "
        "that of several models; jury stats counts on labelled cases how many independent votes they are worth"
    )


def _line(name: str, models: str, endpoints: Endpoints, environ: Mapping[str, str] | None) -> str:
    if name == SIMULATED:
        return f"simulated ({models}): no model is called, nothing is sent"
    endpoint = endpoint_of(name, endpoints)
    protocol = protocol_of(name, endpoint)
    if protocol is None:
        return f"case data may go to the installed provider {name} ({models}), which decides where it is sent"
    cloud = None if endpoint.cloud is None else CLOUDS[protocol].get(endpoint.cloud)
    if cloud is not None and endpoint.base_url is None:
        return f"case data may be sent to {cloud.name}, where the SDK's settings lead ({name}: {models})"
    own = PROTOCOL_DEFAULTS[protocol]
    try:
        base_url = endpoint.base_url or (connection_of(name, protocol, endpoint, environ).base_url if environ else None)
    except BadVariable:
        base_url = None  # refused before anything is sent
    if base_url is None:
        elsewhere = "" if environ is not None else f", or where {own.base_url} on the cluster's nodes leads"
        return f"case data may be sent to https://{own.host} ({name}: {models}){elsewhere}"
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2].lower()
    by = "" if endpoint.base_url is not None else f" by {own.base_url}"
    foreign = "" if host == own.host or name in profiles() else f"{by}, which is not {own.host}"
    return f"case data may be sent to {parts.scheme}://{host} ({name}: {models}){foreign}"
