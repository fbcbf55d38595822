"""Fields and headers that a panel file adds to the requests of a provider: neither ours nor secrets."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

_OURS = frozenset(
    [
        "model",
        "messages",
        "input",
        "contents",
        "system",
        "systemInstruction",
        "instructions",
        "tools",
        "tool_choice",
        "toolConfig",
        "response_format",
        "text",
        "output_config",
        "generationConfig",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "temperature",
        "top_p",
        "seed",
        "reasoning",
        "reasoning_effort",
        "verbosity",
        "thinking",
        "service_tier",
        "serviceTier",
        "prompt_cache_key",
        "prompt_cache_options",
        "cache_control",
        "cachedContent",
        "diagnostics",
    ]
)
"""Fields of requests that the settings of a panel decide."""

_OUR_HEADERS = frozenset(
    ["host", "connection", "content-length", "content-type", "content-encoding", "transfer-encoding", "accept-encoding"]
)

_SECRET = re.compile(
    r"authorization|cookie|passw|secret|credential|(?:^|[^a-z])(?:api)?keys?$|apikey|token$", re.IGNORECASE
)
_LARGEST_BODY = 100_000


def _checked_body(body: dict[str, Any]) -> dict[str, Any]:
    for name in body:
        if name in _OURS:
            raise ValueError(f"{name} is decided by the panel's settings; remove it here")
    for name in _names(body):
        _refuse_secret(name)
    try:
        size = len(json.dumps(body, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"must be a table that JSON can write: {error}") from None
    if size > _LARGEST_BODY:
        raise ValueError(f"has {size} characters of JSON; {_LARGEST_BODY} are the most")
    return body


def _checked_headers(headers: dict[str, str]) -> dict[str, str]:
    for name in headers:
        if name.lower() in _OUR_HEADERS:
            raise ValueError(f"{name} is set by every request; remove it here")
        _refuse_secret(name)
    return headers


def _refuse_secret(name: str) -> None:
    if _SECRET.search(name):
        raise ValueError(
            f"{name}: a panel file must not contain a key; put it into an environment variable and name that in key_env"
        )


def _names(value: Any) -> Iterator[str]:
    """The names of all fields, at every depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


_HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")]
_HeaderValue = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{0,1000}$")]

ExtraBody = Annotated[dict[str, Any], AfterValidator(_checked_body)]
"""Top-level fields of a request's JSON."""

ExtraHeaders = Annotated[dict[_HeaderName, _HeaderValue], AfterValidator(_checked_headers)]
