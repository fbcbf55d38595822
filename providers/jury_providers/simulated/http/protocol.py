"""What a protocol is: how a request is read, how an answer and each failure is said."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from jury_events.panel import CallSettings
from jury_providers.provider import ModelMessage, ModelRequest, ToolDefinition
from jury_providers.simulated.http.faults import House
from jury_providers.simulated.http.fields import Table
from jury_providers.simulated.speech import Speech

REFUSAL = "I'm sorry, but I can't help with that."


class Asked(NamedTuple):
    """A request as understood. `counted`: a stream tells its usage (Chat Completions, where it is asked for)."""

    request: ModelRequest
    stream: bool
    counted: bool = True


class Said(NamedTuple):
    """What is answered: by which model, under which id (letters and digits), at which second.

    Of a `blocked` answer nothing is said. `variant` is 0 or 1, where a provider has two ways to say the same; `counted`
    as in `Asked`.
    """

    model: str
    speech: Speech
    identity: str
    created: int
    blocked: bool
    variant: int
    counted: bool


class Protocol(ABC):
    """One protocol, both ways; `kind` is what it is called in the counts."""

    kind: ClassVar[str]
    house: ClassVar[House]

    @abstractmethod
    def read(self, body: Table) -> Asked:
        """Understand a request.

        Raises:
            Unusable: a field is missing or wrong.
        """

    @abstractmethod
    def whole(self, said: Said) -> Table:
        """The response as one JSON object."""

    @abstractmethod
    def events(self, said: Said) -> Iterator[bytes]:
        """The same as server-sent events; without the last one the stream is broken off."""


def model_request(
    model: str, messages: tuple[ModelMessage, ...], tools: list[ToolDefinition], schema: Table, seed: int | None
) -> ModelRequest:
    """The request as providers' adapters know it; any whole number is a seed."""
    settings = CallSettings() if seed is None else CallSettings(seed=seed % 2**31)
    return ModelRequest(model, messages, tuple(tools), schema, settings, "")


def encoded(value: Any) -> bytes:
    """JSON as the providers send it. A lone surrogate, which only a garbled request brings in, becomes `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + encoded(data) + b"\n\n"
