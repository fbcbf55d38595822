"""Providers' endpoints: the table `providers` of a panel file, and the connection resolved from it.

API keys are never in a panel file: an endpoint names the environment variable, and only the process that calls the
provider reads it.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from jury_events.panel import CARRIAGE, CacheMode, FinalJudge, Panel, Seat, Switch, Tier
from jury_events.reading import Window
from jury_events.regular_files import read_failure, read_text
from jury_events.scrubbing import known_secrets
from jury_events.value import Value
from jury_providers.clouds import CLOUDS, CloudName
from jury_providers.dialects import OF_MESSAGES, OPENAI, ChatDialect, DialectSetting, SpokenDialect, profiles, spoken
from jury_providers.errors import BadVariable
from jury_providers.extra_fields import ExtraBody, ExtraHeaders, names_secret
from jury_providers.failure_table import FailureRow, FailureRows

ENTRY_POINTS = "jury_judge.providers"
"""The entry point group of `name = "package.module:make"`; `make(Endpoint)` returns a provider."""


@cache
def installed_providers() -> Mapping[str, EntryPoint]:
    """The entry points; none is loaded."""
    return {found.name: found for found in entry_points(group=ENTRY_POINTS)}


KEY_FILE_SUFFIX = "_FILE"
"""Of the variable that names a file with the key: `OPENAI_API_KEY_FILE`."""

_LONGEST_KEY_FILE = 1 << 14

ApiProtocol = Literal[
    "openai", "openai-responses", "anthropic", "google", "openai-decisions", "google-decisions", "systemone"
]
"""Chat Completions, Responses, Messages, generateContent; three of decision models."""


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if invalid
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and url.isprintable() and " " not in url


def _base_url(url: str) -> str:
    if not _is_http_url(url):
        raise ValueError("must be an http:// or https:// URL")
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise ValueError("must contain no user or password; name a variable with the key in key_env")
    if parts.fragment:
        raise ValueError("must end with its path or query, without #")
    for name in query_of(url):
        if names_secret(name):
            raise ValueError(f"must not contain a key ({name}); name a variable with it in key_env")
    return url


def query_of(url: str) -> dict[str, str]:
    """The query parameters of a base URL, which stand behind the path of every request."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


BaseUrl = Annotated[str, StringConstraints(max_length=2000), AfterValidator(_base_url)]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,199}$")]
ProviderName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,49}$")]
ModelPattern = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Limits(Value):
    """A provider's rate limits for one key and one class of models; a field without a value: unlimited."""

    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    """In any 60 seconds."""
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None
    """In any 60 seconds."""
    in_flight: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Calls at once at most; lowered while the provider reports that it is overloaded."""


def _check_dialect(dialect: ChatDialect, protocol: str | None) -> None:
    """Raises ValueError for what another protocol than `openai` does not know."""
    if protocol != "anthropic":
        raise ValueError(f"dialect: is of the protocols openai and anthropic, not of {protocol}; remove it")
    other = next((name for name in dialect.model_dump(exclude_none=True) if name not in OF_MESSAGES), None)
    if other is not None:
        raise ValueError(f"dialect: {other} is of the protocol openai, not of anthropic; remove it")
    if dialect.structured in {"json_object", "tool"}:
        raise ValueError(f"dialect: structured: {dialect.structured} is of the protocol openai; write words")


class Endpoint(Value):
    """How models of a provider are reached; the known providers need no field. Keys are refused here."""

    protocol: ApiProtocol | None = None
    """How its server is spoken to."""
    base_url: BaseUrl | None = None
    """Where it is; a query stands behind the path of every request."""
    key_env: Variable | None = None
    """The variable of the environment with its key; a server with a `base_url` gets no key without it."""
    api_version: Annotated[str, StringConstraints(pattern=r"^v[0-9][a-z0-9]{0,15}$")] | None = None
    """In the URL's path, for protocols that have one (google: `v1`)."""
    plain_http: bool = False
    """Send the key unencrypted to another machine."""
    limits: dict[ModelPattern, Limits] = Field(default_factory=dict)
    """By pattern of the model's id: models that match the same pattern share one limit; others have 64 calls at
    once."""
    cloud: CloudName | None = None
    """Its models are reached there, through the SDK's own client and the cloud's own credentials."""
    cache: CacheMode | None = None
    """For its seats that say nothing else."""
    warm: Switch | None = None
    """For its seats that say nothing else."""
    tier: Tier | None = None
    """For its seats that say nothing else."""
    flex_fallback: Switch | None = None
    """For its seats that say nothing else."""
    extra_body: ExtraBody = Field(default_factory=dict)
    """Added to every request, for what a server of your own needs; not what the panel decides or what makes a call
    dearer."""
    extra_headers: ExtraHeaders = Field(default_factory=dict)
    """Added to every request; none that looks like a secret."""
    sdk_headers: Switch = "off"
    """On: what the SDK takes from the environment into headers goes to another host than its own, too."""
    window: Window | None = None
    """Tokens of request and answer together that its models take; write it for servers that do not say, such as
    Ollama, which cuts longer prompts without an error."""
    dialect: DialectSetting | None = None
    """How its server speaks the protocol `openai` or `anthropic`: the name of a known one, or field by field; `jury
    doctor --probe --write` finds out."""
    batches: Switch | None = None
    """Whether its calls may be made in batches; by default only at the provider's own server."""
    failures: FailureRows = ()
    """What its errors mean; these rows decide first."""

    @model_validator(mode="after")
    def _key_is_not_sent_readable(self) -> Self:
        if self.cloud is not None and self.base_url is not None and query_of(self.base_url):
            raise ValueError("base_url: a cloud's client writes the query itself; leave ? and what follows out")
        if self.dialect is not None and self.protocol not in {None, "openai"}:
            _check_dialect(self.dialect, self.protocol)
        if (self.key_env is None and self.cloud is None) or self.base_url is None or self.plain_http:
            return self
        if urlsplit(self.base_url).scheme == "http" and not _is_loopback(self.base_url):
            what = f"the key in {self.key_env}" if self.key_env is not None else f"credentials of {self.cloud}"
            raise ValueError(
                f"{what} would go over plain http to another machine; write https:// in base_url, "
                "or plain_http: true where the network between is yours"
            )
        return self


Endpoints = Mapping[ProviderName, Endpoint]
"""By the name before the slash in `provider/model`."""


def bundled_endpoint(name: str) -> Endpoint | None:
    """The known provider or server of that name, with its own address and the variable of its key.

    None: it is none, or an installed package offers a provider of that name.
    """
    profile = profiles().get(name)
    if profile is None or name in installed_providers():
        return None
    return Endpoint(protocol="openai", base_url=profile.base_url, key_env=profile.key_env)


def completed(name: str, endpoint: Endpoint) -> Endpoint:
    """What a panel file says of a known provider, with what it leaves out; no key goes to another address unnamed."""
    known = bundled_endpoint(name)
    if known is None or endpoint.cloud is not None or endpoint.protocol not in {None, "openai"}:
        return endpoint
    key_env = endpoint.key_env or (known.key_env if endpoint.base_url is None else None)
    return endpoint.model_copy(
        update={"protocol": "openai", "base_url": endpoint.base_url or known.base_url, "key_env": key_env}
    )


def endpoint_of(name: str, endpoints: Endpoints) -> Endpoint:
    """The endpoint of a provider: as a panel file says, else that of a known provider, else an empty one."""
    if name in endpoints:
        return endpoints[name]
    return _USUAL if name in BUILT_IN else bundled_endpoint(name) or _USUAL


class ProviderConnection(NamedTuple):
    """An adapter's connection. `base_url` None: the provider's default; `key` None: no key is sent.

    `secrets`: what the SDK may find in the environment and send, and nothing may record. `query`: parameters behind the
    path of every request. `failures`: what its errors mean, before what is known of all providers'.
    """

    name: str
    base_url: str | None
    key: str | None
    api_version: str | None = None
    extra_body: Mapping[str, Any] = MappingProxyType({})
    extra_headers: Mapping[str, str] = MappingProxyType({})
    cloud: CloudName | None = None
    secrets: frozenset[str] = frozenset()
    sdk_headers: bool = False
    dialect: SpokenDialect = OPENAI
    query: Mapping[str, str] = MappingProxyType({})
    failures: tuple[FailureRow, ...] = ()

    def leads_to(self, host: str) -> bool:
        """Whether requests go to `host` or a region of it (`eu.HOST`): not to a cloud, a proxy or another server."""
        if self.cloud is not None or self.base_url is None:
            return self.cloud is None
        found = urlsplit(self.base_url).hostname or ""
        return found == host or found.endswith(f".{host}")


class ProtocolDefaults(NamedTuple):
    """A protocol's environment variables (those for keys in order of precedence) and its provider's host.

    `headers`: the variables that the SDK adds to every request, to whichever server.
    """

    keys: tuple[str, ...]
    base_url: str
    host: str
    headers: tuple[str, ...] = ()


_OPENAI = ProtocolDefaults(
    ("OPENAI_API_KEY",),
    "OPENAI_BASE_URL",
    "api.openai.com",
    ("OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
)


PROTOCOL_DEFAULTS: Mapping[str, ProtocolDefaults] = {
    "openai": _OPENAI,
    "openai-responses": _OPENAI,
    "anthropic": ProtocolDefaults(
        ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", "api.anthropic.com", ("ANTHROPIC_CUSTOM_HEADERS",)
    ),
    "google": ProtocolDefaults(
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL", "generativelanguage.googleapis.com"
    ),
    "openai-decisions": _OPENAI,
    "google-decisions": ProtocolDefaults(
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL", "generativelanguage.googleapis.com"
    ),
    "systemone": ProtocolDefaults(("TYPESAFE_API_KEY",), "TYPESAFE_BASE_URL", "api.typesafe.ai"),
}


BUILT_IN = frozenset({"simulated", *PROTOCOL_DEFAULTS})
"""Providers that are known without the table of the others, and without what is installed."""

_USUAL = Endpoint()


def key_variables(protocol: ApiProtocol, endpoint: Endpoint) -> tuple[str, ...]:
    """The environment variables that may contain the endpoint's key.

    A server with its own `base_url` in the panel file gets no hosted provider's key unless `key_env` names it.
    """
    if endpoint.key_env is not None:
        return (endpoint.key_env,)
    if endpoint.cloud is not None:
        cloud = CLOUDS[protocol].get(endpoint.cloud)
        return () if cloud is None else cloud.keys
    return () if endpoint.base_url is not None else PROTOCOL_DEFAULTS[protocol].keys


def key_destination(
    name: str, protocol: ApiProtocol | None, endpoint: Endpoint, environ: Mapping[str, str]
) -> str | None:
    """A line with the variable and the host that its value is sent to, for a key or a host that is not the usual one.

    For a cloud whose host is in the panel file, a line with that host: its SDK finds credentials by itself.
    None: the key stays on this machine, or it is the provider's usual key and host.
    """
    cloud = CLOUDS.get(protocol or "", {}).get(endpoint.cloud or "")
    if endpoint.key_env is None and cloud is not None:
        if endpoint.base_url is None or _is_loopback(endpoint.base_url):
            return None
        return f"credentials of {cloud.name} are sent to {_origin(endpoint.base_url)} (provider {name})"
    if cloud is not None and endpoint.base_url is None:
        return f"the value of {endpoint.key_env} is sent to {cloud.name} (provider {name})"
    own = PROTOCOL_DEFAULTS[protocol] if protocol is not None else None
    usual = () if own is None or endpoint.base_url is not None else own.keys
    key = endpoint.key_env or next((variable for variable in usual if environ.get(variable, "").strip()), None)
    if key is None:
        return None
    base_url = _base_of(endpoint, own, environ)
    if base_url and not _is_http_url(base_url):
        return None  # `connection_of` refuses it
    origin = _origin(base_url) if base_url else f"https://{own.host}" if own is not None else ""
    if not origin or _is_loopback(base_url) or (own is not None and _is_own(origin, own) and key in own.keys):
        return None
    return f"the value of {key} is sent to {origin} (provider {name})"


def header_destination(
    name: str, protocol: ApiProtocol | None, endpoint: Endpoint, environ: Mapping[str, str]
) -> str | None:
    """A line with the variables whose values the SDK would add to requests as headers, and whether another host than
    its own gets them; None: there is neither such a variable nor such a host."""
    own = PROTOCOL_DEFAULTS[protocol] if protocol is not None else None
    found = [one for one in (() if own is None else own.headers) if environ.get(one, "").strip()]
    base_url = _base_of(endpoint, own, environ)
    if not found or own is None or not _is_http_url(base_url) or _is_own(_origin(base_url), own):
        return None
    there = f"to {_origin(base_url)} (provider {name})"
    if endpoint.sdk_headers == "on":
        return f"the value of {', '.join(found)} is sent in headers {there}"
    return f"the value of {', '.join(found)} is not sent {there}; sdk_headers: on would send it"


def proxy_destination(
    name: str, protocol: ApiProtocol | None, endpoint: Endpoint, environ: Mapping[str, str]
) -> str | None:
    """A line with the proxy that the environment names for a provider's requests; None: there is none."""
    own = PROTOCOL_DEFAULTS[protocol] if protocol is not None else None
    base_url = _base_of(endpoint, own, environ) or (f"https://{own.host}" if own is not None else "")
    if not _is_http_url(base_url) or _is_loopback(base_url):
        return None
    parts = urlsplit(base_url)
    variables = [f"{parts.scheme}_proxy", "all_proxy"]
    variable = next((one for one in (*variables, *map(str.upper, variables)) if environ.get(one, "").strip()), None)
    passed_by = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if variable is None or proxy_bypass_environment(parts.hostname or "", {"no": passed_by}):
        return None
    proxy = urlsplit(environ[variable].strip())
    known = ", with the user and password in it" if proxy.password else ""
    host = proxy.netloc.rpartition("@")[2].lower()
    return f"requests to {_origin(base_url)} (provider {name}) go through {host}, which {variable} names{known}"


def _base_of(endpoint: Endpoint, own: "ProtocolDefaults | None", environ: Mapping[str, str]) -> str:
    """Where the panel file, else the environment says that requests go; "": nowhere else than usual."""
    if endpoint.base_url is not None or endpoint.cloud is not None or own is None:
        return endpoint.base_url or ""
    return environ.get(own.base_url, "").strip()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


def _is_own(origin: str, own: "ProtocolDefaults") -> bool:
    return origin.partition("://")[2] == own.host


def connection_of(
    name: str, protocol: ApiProtocol, endpoint: Endpoint, environ: Mapping[str, str]
) -> ProviderConnection:
    """The connection of the provider `name`, from its endpoint and an environment.

    A key is the value of its variable, or the content of the file that `VARIABLE_FILE` names.
    """
    key = None
    for variable in key_variables(protocol, endpoint):
        key = key or _key_in(variable, environ)
    variable = PROTOCOL_DEFAULTS[protocol].base_url
    base_url = endpoint.base_url
    if base_url is None and endpoint.cloud is None:
        base_url = environ.get(variable, "").strip() or None
    if base_url is not None and not _is_http_url(base_url):
        raise BadVariable(f"{variable}: must be an http:// or https:// URL")
    connection = ProviderConnection(
        name,
        None if base_url is None else base_url.partition("?")[0],
        key,
        endpoint.api_version,
        endpoint.extra_body,
        endpoint.extra_headers,
        endpoint.cloud,
        known_secrets(environ),
        endpoint.sdk_headers == "on",
        query=query_of(base_url or ""),
        failures=endpoint.failures,
    )
    own = connection.cloud is not None or connection.leads_to(PROTOCOL_DEFAULTS[protocol].host)
    return connection._replace(dialect=spoken(endpoint.dialect, name, connection.base_url, own=own))


_NEVER_IN_KEYS = frozenset(" \"'")
"""Files of variables, as of Docker, leave the quotation marks in a value."""


def _key_in(variable: str, environ: Mapping[str, str]) -> str | None:
    name, key = variable, environ.get(variable, "").strip()
    path = "" if key else environ.get(f"{variable}{KEY_FILE_SUFFIX}", "").strip()
    if path:
        name = f"{variable}{KEY_FILE_SUFFIX}"
        try:
            key = read_text(Path(path), _LONGEST_KEY_FILE).strip()
        except UnicodeDecodeError:
            raise BadVariable(f"{name}: the file is no text; write the key alone into it") from None
        except (OSError, ValueError) as error:
            raise BadVariable(f"{name}: the file cannot be read ({read_failure(error)})") from None
        if not key:
            raise BadVariable(f"{name}: the file is empty; write the key into it")
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or set(key) & _NEVER_IN_KEYS:
        raise BadVariable(
            f"{name}: contains a space, a quotation mark, a line break or another character that no key has; "
            "set it again"
        )
    return key


_Place = TypeVar("_Place", Seat, FinalJudge)


def with_carriage(panel: Panel, endpoints: Mapping[str, Endpoint]) -> Panel:
    """The panel whose seats say what their providers' endpoints say, where they say nothing themselves.

    A debate that is opened with it keeps these settings, whatever the panel file says later.
    """
    if not endpoints:
        return panel
    judge = panel.final.judge
    return panel.model_copy(
        update={
            "seats": tuple(_carried(seat, endpoints) for seat in panel.seats),
            "final": panel.final.model_copy(update={"judge": judge and _carried(judge, endpoints)}),
        }
    )


def _carried(place: _Place, endpoints: Mapping[str, Endpoint]) -> _Place:
    endpoint = endpoints.get(place.model.partition("/")[0])
    if endpoint is None:
        return place
    said = {
        name: value
        for name in CARRIAGE
        if getattr(place.settings, name) is None and (value := getattr(endpoint, name)) is not None
    }
    return place.model_copy(update={"settings": place.settings.model_copy(update=said)}) if said else place
