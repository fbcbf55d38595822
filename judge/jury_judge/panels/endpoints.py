"""The table `providers` of a panel file: endpoints, without API keys."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, get_args

from jury_events.text import visible_line
from jury_judge.panels.document import PanelDocument
from jury_providers.dialects import profiles
from jury_providers.endpoints import ApiProtocol, Endpoint, Endpoints, ProviderName, completed
from jury_providers.registry import NO_ENDPOINTS, SIMULATED, known_providers

FIELD = "providers"

_SECRETS = frozenset(
    {"key", "api_key", "apikey", "token", "api_token", "access_token", "auth_token", "secret", "password", "headers"}
)


def read_endpoints(document: PanelDocument) -> Endpoints:
    """The endpoints by provider."""
    written = document.data.get(FIELD)
    if written is None:
        return NO_ENDPOINTS
    if isinstance(written, Mapping):
        _refuse_keys(document, written)
    said: dict[str, Endpoint] = document.validated([FIELD], dict[ProviderName, Endpoint], written)
    endpoints = {name: completed(name, endpoint) for name, endpoint in said.items()}
    for name, endpoint in endpoints.items():
        if name == SIMULATED:
            raise document.refused([FIELD, name], f"{FIELD}.{name}: simulated jurors have no endpoint; remove it")
        if endpoint.protocol is None and name not in known_providers():
            raise document.refused(
                [FIELD, name],
                f"{FIELD}.{name}: write its protocol: {', '.join(get_args(ApiProtocol))}",
            )
        led = endpoint.base_url is not None or endpoint.key_env is not None or endpoint.cloud is not None
        if not led and (name not in known_providers() or name in profiles()):
            raise document.refused(
                [FIELD, name],
                f"{FIELD}.{name}: write its base_url or cloud, or, for another key at the protocol's own provider, "
                "its key_env",
            )
    return MappingProxyType(endpoints)


def _refuse_keys(document: PanelDocument, written: Mapping[Any, Any]) -> None:
    for name, endpoint in written.items():
        for field in endpoint if isinstance(endpoint, Mapping) else ():
            if str(field).lower().replace("-", "_") in _SECRETS:
                raise document.refused(
                    [FIELD, name, field],
                    f"{FIELD}.{visible_line(str(name), 50)}.{field}: a panel file must not contain a key; "
                    "put it into an environment variable and name that in key_env",
                )
