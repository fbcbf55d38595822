"""Fields and headers that a panel file adds to a provider's requests: neither ours, nor unbooked costs, nor secrets."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints


def _key(name: str) -> str:
    """Without case, `_` and `-`: a protocol may name a field in snake case and in camel case."""
    return name.casefold().replace("_", "").replace("-", "")


_OURS = frozenset(
    map(
        _key,
        [
            "model",
            "messages",
            "input",
            "contents",
            "system",
            "system_instruction",
            "instructions",
            "tools",
            "tool_choice",
            "tool_config",
            "functions",
            "function_call",
            "response_format",
            "text",
            "output_config",
            "output_format",
            "generation_config",
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
            "thinking_config",
            "service_tier",
            "cache_control",
            "cached_content",
            "diagnostics",
        ],
    )
)
"""Fields of requests that the settings of a panel decide."""

_OUR_PREFIX = _key("prompt_cache_")

_DEARER = frozenset(
    map(
        _key,
        [
            "n",
            "best_of",
            "candidate_count",
            "inference_geo",
            "speed",
            "web_search_options",
            "background",
            "previous_response_id",
            "conversation",
            "prompt",
            "prediction",
            "audio",
            "modalities",
            "context_management",
            "compaction",
            "thread",
            "container",
            "mcp_servers",
            "fallbacks",
            "fallback_credit_token",
            "billing_policy",
            "models",
            "plugins",
        ],
    )
)
"""Fields that multiply what a call costs, add text or models to it that are not counted, or let it end unread.

Sources: the types of the SDKs openai 3.52, anthropic 2.11 and google-genai 3.4; the last two are OpenRouter's.
"""

_OUR_HEADERS = frozenset(
    ["host", "connection", "content-length", "content-type", "content-encoding", "transfer-encoding", "accept-encoding"]
)

_SECRET = re.compile(
    r"authorization|cookie|passw|secret|credential|(?:^|[^a-z])(?:api)?keys?$|apikey|token$", re.IGNORECASE
)
_SECRET_HEADER = re.compile(
    r"(?:^|[^a-z])(?:auth|authentication|bearer|tokens?|signature|session|cookies?)(?:$|[^a-z])"
)
"""Words inside the name of a header; fields of a body have them in names of other meaning (`stop_token_ids`)."""

_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LARGEST_BODY = 100_000


def _checked_body(body: dict[str, Any]) -> dict[str, Any]:
    for name in body:
        if _key(name) in _OURS or _key(name).startswith(_OUR_PREFIX):
            raise ValueError(f"{name} is decided by the panel's settings; remove it here")
        if _key(name) in _DEARER:
            raise ValueError(f"{name} can make a call cost more than is booked; remove it here")
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
        _refuse_secret(name, more=_SECRET_HEADER.search(_WORD_BEGINS.sub("-", name).lower()) is not None)
    return headers


def names_secret(name: str) -> bool:
    """Whether the name of a field says that a key or password is in it."""
    return _SECRET.search(name) is not None


def _refuse_secret(name: str, *, more: bool = False) -> None:
    if more or names_secret(name):
        raise ValueError(
            f"{name}: a panel file must not contain a key; put it into an environment variable and name that in key_env"
        )


def _names(value: Any) -> Iterator[str]:
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
