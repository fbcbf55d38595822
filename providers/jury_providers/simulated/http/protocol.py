"""The interface of a simulated protocol, and the errors of each provider."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from jury_events.exchange import CacheLifetime
from jury_events.panel import CallSettings
from jury_providers.provider import ModelMessage, ModelRequest, OfferedTool
from jury_providers.simulated.http.fields import JsonObject, encoded
from jury_providers.simulated.provider import RenderedReply


class CacheUse(NamedTuple):
    """Tokens of a prompt that were read from a cache, and those that were written to it, by lifetime."""

    read: int = 0
    written: Mapping[CacheLifetime, int] = MappingProxyType({})

    @property
    def written_tokens(self) -> int:
        return sum(self.written.values())


RETRY_AFTER = 1
"""Seconds, in rate limit errors."""

_UNKNOWN_TIME = "1970-01-01T00:00:00Z"
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"
_PER_DAY = "GenerateRequestsPerDayPerProjectPerModel"


class ErrorResponse(NamedTuple):
    """An HTTP error response."""

    status: int
    body: dict[str, Any]
    headers: tuple[tuple[str, str], ...] = ()


class ProviderErrors(ABC):
    """A provider's error responses and list of models.

    `failures` by outcome; `request_id` is the response header with the request's id, if the provider has one.
    """

    request_id: ClassVar[str | None]
    body_has_request_id: ClassVar[bool] = False
    failures: ClassVar[Mapping[str, ErrorResponse]]

    @abstractmethod
    def refusal(self, status: int, message: str) -> ErrorResponse:
        """The response to an invalid request."""

    @abstractmethod
    def models(self, name: str) -> dict[str, Any]:
        """The list of models, with one entry."""

    def body(self, failure: ErrorResponse, identity: str) -> dict[str, Any]:
        """The body to send; `identity` is the request's id."""
        return failure.body | ({"request_id": identity} if self.body_has_request_id else {})


def _openai(status: int, kind: str, code: str | None, message: str, *headers: tuple[str, str]) -> ErrorResponse:
    return ErrorResponse(status, {"error": {"message": message, "type": kind, "param": None, "code": code}}, headers)


class OpenAIErrors(ProviderErrors):
    """Chat Completions and Responses."""

    request_id = "x-request-id"
    failures: ClassVar[Mapping[str, ErrorResponse]] = {
        "rate_limited": _openai(
            429,
            "requests",
            "rate_limit_exceeded",
            f"Rate limit reached for requests per min (RPM). Please try again in {RETRY_AFTER}s.",
            ("retry-after", str(RETRY_AFTER)),
            ("retry-after-ms", str(RETRY_AFTER * 1000)),
        ),
        "quota": _openai(429, "insufficient_quota", "insufficient_quota", _QUOTA),
        "authentication": _openai(
            401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: simu*****ated."
        ),
        "overloaded": _openai(503, "server_error", None, "The engine is currently overloaded, please try again later."),
        "bad_request": _openai(400, "invalid_request_error", "invalid_value", "Invalid value."),
        "context_too_long": _openai(
            400,
            "invalid_request_error",
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
    }

    def refusal(self, status: int, message: str) -> ErrorResponse:
        return _openai(status, "invalid_request_error", None, message)

    def models(self, name: str) -> dict[str, Any]:
        return {"object": "list", "data": [self.model(name)]}

    @staticmethod
    def model(name: str, end: date | None = None, window: int | None = None) -> dict[str, Any]:
        """One model; `end`: its announced shutdown. Its window is named as vLLM names it."""
        shutdown = None if end is None else end.isoformat()
        said = {"id": name, "object": "model", "created": 0, "owned_by": "simulated", "shutdown_date": shutdown}
        return said if window is None else {**said, "max_model_len": window}


def _anthropic(status: int, kind: str, message: str, *headers: tuple[str, str]) -> ErrorResponse:
    return ErrorResponse(status, {"type": "error", "error": {"type": kind, "message": message}}, headers)


class AnthropicErrors(ProviderErrors):
    """Messages."""

    request_id = "request-id"
    body_has_request_id = True
    failures: ClassVar[Mapping[str, ErrorResponse]] = {
        "rate_limited": _anthropic(
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of requests per minute.",
            ("retry-after", str(RETRY_AFTER)),
        ),
        "quota": _anthropic(402, "billing_error", "Your credit balance is too low to access the API."),
        "authentication": _anthropic(401, "authentication_error", "invalid x-api-key"),
        "overloaded": _anthropic(529, "overloaded_error", "Overloaded"),
        "bad_request": _anthropic(400, "invalid_request_error", "messages: invalid value"),
        "context_too_long": _anthropic(
            400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"
        ),
    }
    _KINDS: ClassVar[Mapping[int, str]] = {404: "not_found_error", 413: "request_too_large", 500: "api_error"}

    def refusal(self, status: int, message: str) -> ErrorResponse:
        return _anthropic(status, self._KINDS.get(status, "invalid_request_error"), message)

    def models(self, name: str) -> dict[str, Any]:
        return {"data": [self.model(name)], "first_id": name, "last_id": name, "has_more": False}

    @staticmethod
    def model(name: str, end: date | None = None, window: int | None = None) -> dict[str, Any]:
        """One model; `end`: its announced retirement. A model that has ended is still served here."""
        return {
            "type": "model",
            "max_input_tokens": window,
            "id": name,
            "display_name": name,
            "created_at": _UNKNOWN_TIME,
            "lifecycle": "active" if end is None else "deprecated",
            "deprecated_at": None if end is None else _UNKNOWN_TIME,
            "retires_at": None if end is None else f"{end.isoformat()}T00:00:00Z",
        }


def _google(status: int, kind: str, message: str, *details: dict[str, Any]) -> ErrorResponse:
    error: dict[str, Any] = {"code": status, "message": message, "status": kind}
    if details:
        error["details"] = [
            {"@type": f"type.googleapis.com/google.rpc.{detail.pop('@type')}", **detail} for detail in details
        ]
    return ErrorResponse(status, {"error": error})


def _exhausted(quota: str) -> ErrorResponse:
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
        "quotaId": quota,
        "quotaDimensions": {"location": "global"},
    }
    return _google(
        429,
        "RESOURCE_EXHAUSTED",
        _QUOTA,
        {"@type": "QuotaFailure", "violations": [violation]},
        {"@type": "RetryInfo", "retryDelay": f"{RETRY_AFTER}s"},
    )


class GoogleErrors(ProviderErrors):
    """generateContent."""

    request_id = None
    failures: ClassVar[Mapping[str, ErrorResponse]] = {
        "rate_limited": _exhausted(_PER_MINUTE),
        "quota": _exhausted(_PER_DAY),
        "authentication": _google(
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            {
                "@type": "ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            },
        ),
        "overloaded": _google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        "bad_request": _google(400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
        "context_too_long": _google(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        ),
    }
    _KINDS: ClassVar[Mapping[int, str]] = {
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        405: "NOT_FOUND",
        500: "INTERNAL",
    }

    def refusal(self, status: int, message: str) -> ErrorResponse:
        return _google(status, self._KINDS.get(status, "INVALID_ARGUMENT"), message)

    def models(self, name: str) -> dict[str, Any]:
        return {"models": [self.model(name)]}

    @staticmethod
    def model(name: str, window: int | None = None) -> dict[str, Any]:
        methods = ["generateContent", "streamGenerateContent"]
        said = {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
        return said if window is None else {**said, "inputTokenLimit": window}


REFUSAL = "I'm sorry, but I can't help with that."


class ParsedRequest(NamedTuple):
    """A parsed request.

    `tier`: the service tier that it asks for, as the provider names it in its answer. `include_usage`: a stream has
    the usage (optional in Chat Completions).
    """

    request: ModelRequest
    tier: str
    stream: bool
    include_usage: bool = True


class SimulatedResponse(NamedTuple):
    """A response to encode. `identity`: letters and digits. `created`: seconds since 1970.

    A `blocked` response has no content. `variant`, 0 or 1, selects one of two equivalent encodings, if the provider has
    two; `tier` and `include_usage` as in `ParsedRequest`. `cache`: tokens that were read and written.
    """

    model: str
    reply: RenderedReply
    identity: str
    created: int
    blocked: bool
    variant: int
    tier: str
    cache: CacheUse
    include_usage: bool


class ProtocolHandler(ABC):
    """Parses requests and encodes responses of one protocol; `kind` is its name in the counters."""

    kind: ClassVar[str]
    errors: ClassVar[ProviderErrors]
    batch_tier: ClassVar[str | None] = None
    """The service tier that answers in a batch name; None: that of any other answer."""

    @abstractmethod
    def read(self, body: JsonObject) -> ParsedRequest:
        """Parse a request."""

    @abstractmethod
    def response_body(self, response: SimulatedResponse) -> JsonObject:
        """The response as one JSON object."""

    def encode(self, response: SimulatedResponse) -> bytes:
        """The bytes of `response_body`."""
        return encoded(self.response_body(response))

    @abstractmethod
    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:
        """The response as server-sent events; without the last one the stream is incomplete."""


def model_request(
    model: str, messages: tuple[ModelMessage, ...], tools: list[OfferedTool], schema: JsonObject, seed: int | None
) -> ModelRequest:
    """The request as the adapters' interface defines it; any integer is a valid seed."""
    settings = CallSettings() if seed is None else CallSettings(seed=seed % 2**31)
    return ModelRequest(model, messages, tuple(tools), schema, settings, "")


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + encoded(data) + b"\n\n"


def openai_cache_counts(use: CacheUse) -> JsonObject:
    """What OpenAI's usage says of caches."""
    return {
        "cached_tokens": use.read,
        "cache_write_tokens": use.written_tokens,
        "cache_write_tokens_details": {
            "ttl_30m_tokens": use.written.get("30m", 0),
            "ttl_12h_tokens": use.written.get("12h", 0),
        },
    }
