"""The interface of a provider of models. Adapters are thin: one call, one reply, never a retry, never a judgement."""

import asyncio
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings

Heard = Callable[[str], None]
"""Takes a piece of an answer while it is being given."""


class Picture(NamedTuple):
    """A picture as the model sees it: `media_type` (`image/png`) and its bytes, at most 3.75 MB."""

    media_type: str
    content: bytes

    @property
    def base64(self) -> str:
        """The bytes as protocols carry them."""
        return b64encode(self.content).decode("ascii")


class ModelMessage(NamedTuple):
    """One message as the model sees it; `pictures` follow the text.

    An `assistant` text is what the model itself said, verbatim.
    """

    role: str
    text: str
    call_id: str | None = None
    pictures: tuple[Picture, ...] = ()


class ToolDefinition(NamedTuple):
    """A tool on offer: `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class RequestedTool(NamedTuple):
    """A tool that the model asks for; `arguments` is JSON text as received."""

    call_id: str
    name: str
    arguments: str


class ModelRequest(NamedTuple):
    """One call. `model` is the provider's own id; `schema` the JSON schema of the answer.

    `trace` is the exchange's full id (debate/step/model/turn/try), for logs; it never reaches a model.
    """

    model: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...]
    schema: dict[str, Any]
    settings: CallSettings
    trace: str


class ModelReply(NamedTuple):
    """How it ended. `answer` are the bytes of the model's text, `response` the provider's bytes where they are more.

    `sent` is what the provider was sent besides the messages (tools, schema, parameters), without secrets.

    `simulated`: whoever answered says that it is no model.

    `retry_after` in seconds, `cost` in US dollars; None where the provider does not say.
    """

    outcome: CallOutcome
    answer: bytes | None = None
    response: bytes | None = None
    sent: bytes | None = None
    error: str | None = None
    tool_calls: tuple[RequestedTool, ...] = ()
    model_version: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    cost: float | None = None
    request_id: str | None = None
    simulated: bool = False
    retry_after: float | None = None


class Provider(ABC):
    """A client for one provider's models, used by one process and one event loop.

    `simulated` says that no model is called. `max_in_flight` bounds the calls at once (None: unbounded).
    """

    simulated: bool = False
    max_in_flight: int | None = 64
    _gate: asyncio.Semaphore | None = None

    @abstractmethod
    async def call(self, request: ModelRequest, heard: Heard | None = None) -> ModelReply:
        """Make one call. Whatever the provider does is a reply with an outcome; only cancellation is raised.

        Where somebody listens, `heard` is told the answer's text piece by piece as it comes, if the provider can
        stream; the reply holds the whole.
        """

    @property
    def gate(self) -> AbstractAsyncContextManager[object] | None:
        """What bounds the calls at once; a call is made within it, and its time begins there. None: nothing does."""
        if self._gate is None and self.max_in_flight is not None:
            self._gate = asyncio.Semaphore(self.max_in_flight)
        return self._gate

    async def close(self) -> None:
        """Release connections."""
        return
