"""The interface of a provider of models. An adapter makes one call and returns one reply; it does not retry."""

import asyncio
import json
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import date
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from jury_debate.decision_seats import DecisionQuestion
from jury_events.exchange import CacheLifetime, Usage
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_providers.catalogue import ModelLengths
from jury_providers.dialects import SpokenDialect, Ways

OnChunk = Callable[[str], None]
"""Receives each chunk of an answer's text as it arrives."""


class ModelPicture(NamedTuple):
    """A picture in a message: `media_type` (`image/png`) and its bytes, at most 3.75 MB."""

    media_type: str
    content: bytes

    @property
    def base64(self) -> str:
        """The bytes in base64, as the protocols send them."""
        return b64encode(self.content).decode("ascii")


class ModelMessage(NamedTuple):
    """One message of a conversation: the `shared` blocks, then the pictures, then `text`, a block of its own.

    Shared blocks are those that other calls have too (what is the same for a panel or a case): a prompt cache can keep
    everything up to the end of each. Without them the pictures follow the text. An `assistant` text is the model's
    earlier answer, verbatim.
    """

    role: str
    text: str
    call_id: str | None = None
    pictures: tuple[ModelPicture, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """All of its text."""
        return "".join((*self.shared, self.text))


Caching = CacheLifetime | Literal["none"] | None
"""What a call asks the provider to keep of what is shared: for how long; "none": nothing; None: as it likes."""


class OfferedTool(NamedTuple):
    """A tool that the model may call: `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class RequestedTool(NamedTuple):
    """A tool call that the model requests; `arguments` is JSON text as received."""

    call_id: str
    name: str
    arguments: str


class ModelRequest(NamedTuple):
    """One call. `model` is the provider's own id; `schema` the JSON schema of the answer.

    `trace` is the exchange's full id (debate/step/model/turn/try), for logs; it never reaches a model. `cache`: how
    long the provider is asked to keep what ends with a shared block; "none": nothing is to be cached, not even for a
    fee; None: nothing is said of it. `questions`: a decision model answers them about the shared blocks; the text
    behind these has them as JSON. (): the answer is in words, of the form of `schema`.
    """

    model: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[OfferedTool, ...]
    schema: dict[str, Any]
    settings: CallSettings
    trace: str
    cache: Caching = None
    questions: tuple[DecisionQuestion, ...] = ()


class ModelReply(NamedTuple):
    """The result of one call.

    `answer`: the model's text as bytes. `response`: the provider's response body, if it contains more than the answer.
    `sent`: the request without its messages (tools, schema, parameters) and without secrets. `simulated`: the server
    declares that no model answered. `retry_after` in seconds, `cost` in US dollars; None if the provider sends none.
    `stripped`: what stood around the answer and was taken off, by name. `began`: a model had begun to answer when the
    call failed, so that it may have cost something.
    `host`: that was asked, with its port if it is not the usual one. `status` (HTTP's) and `code` of a failure as the
    provider reported them; `understood`: they are known to mean `outcome`.
    """

    outcome: CallOutcome
    answer: bytes | None = None
    response: bytes | None = None
    sent: bytes | None = None
    error: str | None = None
    tool_calls: tuple[RequestedTool, ...] = ()
    model_version: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    cost: float | None = None
    request_id: str | None = None
    simulated: bool = False
    retry_after: float | None = None
    stripped: tuple[str, ...] = ()
    began: bool = False
    host: str | None = None
    status: int | None = None
    code: str | None = None
    understood: bool = True


class ServedModel(NamedTuple):
    """What a server says of a model that it serves.

    `shutdown`: the first day on which it is no longer served; None where the server does not say.
    """

    shutdown: date | None = None
    lengths: ModelLengths = ModelLengths()


class Provider(ABC):
    """A client for one provider's models, used by one process and one event loop.

    `simulated`: no model is called. `max_in_flight`: maximum of concurrent calls (None: unlimited). `keeps_limit`: no
    answer is longer than a call says. `dialect_ways`: what may be found out of its dialect.
    """

    simulated: bool = False
    max_in_flight: int | None = 64
    keeps_limit: bool = True
    dialect_ways: Ways = MappingProxyType({})
    _semaphore: asyncio.Semaphore | None = None

    @abstractmethod
    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        """Make one call. Every failure is returned as a reply with an outcome; only cancellation is raised.

        Args:
            on_chunk: receives the answer's text in chunks as they arrive, if the provider can stream. The reply
                contains the whole text in any case.
        """

    @property
    def concurrency_limit(self) -> AbstractAsyncContextManager[object] | None:
        """The context in which a call is made; entering it waits for a free slot, and latency is measured inside.

        None: unlimited.
        """
        if self._semaphore is None and self.max_in_flight is not None:
            self._semaphore = asyncio.Semaphore(self.max_in_flight)
        return self._semaphore

    @property
    def dialect(self) -> SpokenDialect | None:
        """How its server is spoken to, where that may be found out and changed."""
        return None

    def speak(self, dialect: SpokenDialect) -> None:
        """Speak so from now on; only where there is a `dialect`."""
        raise NotImplementedError

    async def served_model(self, _model: str) -> ServedModel:
        """What its server says of a model."""
        return ServedModel()

    async def close(self) -> None:
        """Release connections."""
        return


_BYTES_PER_TOKEN = 3.5
"""UTF-8: about 4 in English and code, about 3 in Japanese."""


_MIN_BYTES_PER_TOKEN = 2
"""Tokens of prose or JSON are hardly ever shorter; used for upper bounds."""


ESTIMATED_PICTURE_TOKENS = 1600
"""For a screenshot. Claude: one per 28 x 28 pixels, pictures shrunk to 1,568 of them. GPT: one per 32 x 32 square, at
most 1,536. Gemini: 258 per tile (four to six tiles), or 1,120 per picture."""


MAX_PICTURE_TOKENS = 5000
"""For any picture: 4,784 for Claude models of high resolution, 1,536 x 2.46 for GPT, 2,240 for Gemini.

Sources: the providers' pages on vision and on counting tokens.
"""


_MAX_OF_MODEL = {"gpt-4o-mini*": 48_169}
"""Exceptions: 2,833 + 8 tiles x 5,667, so that a picture costs as much as with a model of dearer tokens."""


def estimated_tokens(size: int, pictures: int = 0) -> int:
    """Estimate for `size` bytes of UTF-8 and a number of pictures."""
    return int(size / _BYTES_PER_TOKEN) + pictures * ESTIMATED_PICTURE_TOKENS


def token_upper_bound(size: int, pictures: int = 0, model: str = "") -> int:
    """Upper bound for `size` bytes of UTF-8 and a number of pictures; `model` is the provider's id."""
    return size // _MIN_BYTES_PER_TOKEN + pictures * picture_token_upper_bound(model)


def picture_token_upper_bound(model: str) -> int:
    """Upper bound for one picture; `model` is the provider's id."""
    others = (tokens for pattern, tokens in _MAX_OF_MODEL.items() if fnmatchcase(model, pattern))
    return next(others, MAX_PICTURE_TOKENS)


def request_pictures(request: ModelRequest) -> int:
    return sum(len(message.pictures) for message in request.messages)


def request_bytes(request: ModelRequest) -> int:
    """The size of a call's messages, tools and answer schema in bytes of UTF-8, without pictures."""
    texts = sum(map(text_bytes, (message.whole for message in request.messages)))
    return texts + tool_bytes(request) + _json_bytes(request.schema)


def tool_bytes(request: ModelRequest) -> int:
    """The size of a call's tools in bytes of UTF-8."""
    return sum(len(tool.name) + text_bytes(tool.description) + _json_bytes(tool.parameters) for tool in request.tools)


def text_bytes(text: str) -> int:
    """The size of a text in bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


def _json_bytes(value: object) -> int:
    return len(json.dumps(value))
