"""The interface of a simulated protocol: parses requests, encodes responses and errors."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from jury_events.panel import CallSettings
from jury_providers.provider import ModelMessage, ModelRequest, OfferedTool
from jury_providers.simulated.http.fields import JsonObject
from jury_providers.simulated.http.provider_errors import ProviderErrors
from jury_providers.simulated.rendered_reply import RenderedReply

REFUSAL = "I'm sorry, but I can't help with that."


class ParsedRequest(NamedTuple):
    """A parsed request. `include_usage`: a stream contains the usage (optional in Chat Completions)."""

    request: ModelRequest
    stream: bool
    include_usage: bool = True


class SimulatedResponse(NamedTuple):
    """A response to encode. `identity`: letters and digits. `created`: seconds since 1970.

    A `blocked` response has no content. `variant`, 0 or 1, selects one of two equivalent encodings, if the provider has
    two; `include_usage` as in `ParsedRequest`.
    """

    model: str
    reply: RenderedReply
    identity: str
    created: int
    blocked: bool
    variant: int
    include_usage: bool


class ProtocolHandler(ABC):
    """Parses requests and encodes responses of one protocol; `kind` is its name in the counters."""

    kind: ClassVar[str]
    errors: ClassVar[ProviderErrors]

    @abstractmethod
    def read(self, body: JsonObject) -> ParsedRequest:
        """Parse a request.

        Raises:
            InvalidRequest: a field is missing or invalid.
        """

    @abstractmethod
    def response_body(self, response: SimulatedResponse) -> JsonObject:
        """The response as one JSON object."""

    @abstractmethod
    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:
        """The response as server-sent events; without the last one the stream is incomplete."""


def model_request(
    model: str, messages: tuple[ModelMessage, ...], tools: list[OfferedTool], schema: JsonObject, seed: int | None
) -> ModelRequest:
    """The request as the adapters' interface defines it; any integer is a valid seed."""
    settings = CallSettings() if seed is None else CallSettings(seed=seed % 2**31)
    return ModelRequest(model, messages, tuple(tools), schema, settings, "")


def encoded(value: Any) -> bytes:
    """Compact JSON, as the providers send it. A lone surrogate (of a malformed request) becomes `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + encoded(data) + b"\n\n"
