"""The interface of a simulated protocol: parses requests, encodes responses and errors."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from jury_events.panel import CallSettings
from jury_providers.provider import ModelMessage, ModelRequest, OfferedTool
from jury_providers.simulated.http.cache_use import CacheUse
from jury_providers.simulated.http.fields import JsonObject, encoded
from jury_providers.simulated.http.provider_errors import ProviderErrors
from jury_providers.simulated.rendered_reply import RenderedReply

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
