"""What the adapters have in common: one call through an SDK, and one reply made of what went over the wire."""

import asyncio
import json
import logging
from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar

from jury_events.canonical import canonical_json
from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Connection
from jury_providers.provider import Heard, ModelReply, ModelRequest, Provider, RequestedTool
from jury_providers.sdk.connection_slots import Share
from jury_providers.sdk.failures import (
    MOST_CHARACTERS,
    Failure,
    Prompt,
    broken,
    one_line,
    refused,
    reported,
    shown,
)
from jury_providers.sdk.reading import Reading, as_json
from jury_providers.sdk.scrubbing import Scrubber
from jury_providers.sdk.streams import EventReader, events_of, json_object
from jury_providers.sdk.wire import MOST_BYTES, Passage, Wire, borrow, give_back, passing

MOST_KEPT = 1024 * 1024
"""Bytes of a response that are recorded."""

NO_KEY = "none"
"""What a server is sent where there is no key: the SDKs insist on one."""

_HEADERS_KEPT = (
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "openai-beta",
    "user-agent",
    "x-goog-api-client",
)
"""An allow-list: whatever else an SDK sends may be a secret."""

_REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id")
_GOOD = range(200, 300)


class SdkAdapter(Provider):
    """A provider that is reached through its SDK.

    The SDK signs and sends; what was received is read from the bytes, so that nothing of it is lost and every failure
    is told alike.

    Args:
        connection: where, and with which key.
    """

    sdk_logger: ClassVar[str]
    """The SDK's logger, which would print to stderr where nobody set up logging."""

    reply_key: ClassVar[str]
    """The key of a good reply's JSON under which its list of contents stands."""

    prompt_keys: ClassVar[frozenset[str]]
    """The keys of a request's JSON that hold messages, which are recorded on their own."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.key = connection.key or NO_KEY
        self._scrubber = Scrubber(connection.key)
        self._wire: Wire | None = None
        self._share: Share | None = None
        self._ready = False
        logging.getLogger(self.sdk_logger).addHandler(logging.NullHandler())

    @property
    def gate(self) -> Share:
        """Its share of the process's one HTTP client."""
        self._borrowed()
        assert self._share is not None
        return self._share

    @abstractmethod
    def open(self, wire: Wire) -> None:
        """Make the SDK's client over `wire`, which retries nothing."""

    @abstractmethod
    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The JSON of a call."""

    @abstractmethod
    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:
        """Send it once, through the SDK. What it gives or raises is passed over: the wire keeps what happened."""

    @abstractmethod
    def read(self, document: dict[str, Any]) -> Reading:
        """What a reply says."""

    @abstractmethod
    def piece(self, event: dict[str, Any]) -> str:
        """The text that an event of a stream adds to the answer."""

    @abstractmethod
    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The reply that a stream amounts to; None where its last words are missing."""

    async def call(self, request: ModelRequest, heard: Heard | None = None) -> ModelReply:
        """Make one call."""
        try:
            body = self.body(request, stream=heard is not None)
        except Exception as error:  # noqa: BLE001  (a schema that the SDK can't translate)
            return self._scrubbed(_failed(broken(error, built=False)))
        reader = EventReader()
        passage = Passage(None if heard is None else partial(self._listen, reader, heard))
        failure = await self._pass(request, body, passage, stream=heard is not None)
        passage.body = self._scrubber.data(passage.body)  # before a cut could leave half a key
        if heard is None:
            document = json_object(passage.body)
        else:
            self._tell(reader.end(), heard)
            # A server that does not stream answers at once, or tells of its error.
            document = self.assemble(reader.events) if reader.events else json_object(passage.body)
        prompt = partial(_texts_of, request)
        reply = self._scrubbed(self._reply(passage, failure, document, reader.events, prompt))
        if heard is not None and not reader.events and reply.answer is not None:
            heard(reply.answer.decode("utf-8", "replace"))
        return reply._replace(sent=self._sent(passage, body))

    async def close(self) -> None:
        """Release connections."""
        wire, share = self._wire, self._share
        self._wire, self._share, self._ready = None, None, False
        if wire is not None and share is not None:
            wire.places.leave(share)
            await give_back(wire)

    def recall(self, text: str) -> dict[str, Any] | None:
        """The reply that an assistant's text is, as JSON or as a stream; None where it is the answer alone."""
        data = text.encode("utf-8", "replace")
        document = json_object(data) or self.assemble(events_of(data))
        return _sendable(document) if document is not None and isinstance(document.get(self.reply_key), list) else None

    async def _pass(self, request: ModelRequest, body: dict[str, Any], passage: Passage, *, stream: bool) -> Failure:
        """Send it, and say what it means if the response did not come whole."""
        seconds = request.settings.timeout_seconds
        try:
            self._open()
            with passing(passage):
                async with asyncio.timeout(seconds):
                    await self.send(request, body, stream=stream)
        except TimeoutError:
            return Failure(CallOutcome.TIMEOUT, f"no answer within {seconds:g} s")
        except Exception as error:  # noqa: BLE001  (whatever went wrong is the reply)
            return broken(passage.trouble or error, built=True)
        return Failure(CallOutcome.MALFORMED_RESPONSE, f"the response has more than {MOST_BYTES} bytes")

    def _borrowed(self) -> Wire:
        if self._wire is None:
            self._wire = borrow()
            self._share = self._wire.places.share()
        return self._wire

    def _open(self) -> None:
        if not self._ready:
            self.open(self._borrowed())
            self._ready = True

    def _listen(self, reader: EventReader, heard: Heard, piece: bytes) -> None:
        self._tell(reader.feed(piece), heard)

    def _tell(self, events: list[dict[str, Any]], heard: Heard) -> None:
        for event in events:
            piece = self.piece(event)
            if piece:
                heard(self._scrubber.text(piece))

    def _reply(
        self,
        passage: Passage,
        failure: Failure,
        document: dict[str, Any] | None,
        events: list[dict[str, Any]],
        prompt: Prompt,
    ) -> ModelReply:
        status, headers, body = passage.status, passage.headers, passage.body
        reading = None
        if status is not None and status not in _GOOD:
            failure = refused(status, headers, body, prompt)
        elif passage.ended or document is not None:  # whole when its last words were said, whatever comes after
            reports = (reported(event, headers, prompt) for event in (*events, document or {}))
            told = next(filter(None, reports), None)
            if told is not None:
                failure = told
            elif document is None:
                failure = Failure(CallOutcome.MALFORMED_RESPONSE, _unusable(body, stream=bool(events)))
            else:
                reading = self.read(document)
        reply = _failed(failure) if reading is None else _made_of(reading)
        reply = self._kept(reply, body, document if events else None) if status is not None else reply
        return reply._replace(
            request_id=next((headers[name] for name in _REQUEST_IDS if name in headers), reply.request_id),
            simulated=headers.get("x-jury-simulated") == "1",
        )

    def _kept(self, reply: ModelReply, body: bytes, assembled: dict[str, Any] | None) -> ModelReply:
        """The reply with the bytes that it came in.

        Of a stream that is too long to be kept, what it amounts to is kept instead: the next turn needs it.
        """
        if len(body) <= MOST_KEPT:
            return reply._replace(response=body)
        if assembled is not None and reply.outcome in {CallOutcome.ANSWERED, CallOutcome.TRUNCATED}:
            kept, what = json.dumps(assembled).encode(), "what they amount to is kept"
        else:
            kept, what = body[:MOST_KEPT], f"the first {MOST_KEPT} are kept"
        note = f"the response has {len(body)} bytes, {what}"
        error = f"{one_line(reply.error, MOST_CHARACTERS - len(note) - 2)}; {note}" if reply.error else note
        return reply._replace(response=kept, error=error)

    def _scrubbed(self, reply: ModelReply) -> ModelReply:
        """The reply without the key, which a provider may repeat anywhere, and over several events of a stream."""
        text, data = self._scrubber.text, self._scrubber.data
        refused_key = reply.outcome is CallOutcome.AUTHENTICATION
        response = reply.response
        if response is not None:
            response = self._scrubber.error_data(response) if refused_key else data(response)
        return reply._replace(
            answer=None if reply.answer is None else data(reply.answer),
            response=response,
            error=None if reply.error is None else self._scrubber.error(reply.error),
            tool_calls=tuple(RequestedTool._make(map(text, call)) for call in reply.tool_calls),
            model_version=None if reply.model_version is None else text(reply.model_version),
            finish_reason=None if reply.finish_reason is None else text(reply.finish_reason),
            request_id=None if reply.request_id is None else text(reply.request_id),
        )

    def _sent(self, passage: Passage, body: dict[str, Any]) -> bytes:
        """What was sent besides the messages, from the request itself where one was made."""
        request = passage.request
        sent: dict[str, Any] = {}
        if request is not None:
            url, headers = request.url, request.headers
            body = json_object(request.content) or body
            sent = {
                "method": request.method,
                "url": f"{url.scheme}://{url.netloc.decode('ascii')}{url.path}",
                "headers": {name: headers[name] for name in _HEADERS_KEPT if name in headers},
            }
        sent["body"] = {name: value for name, value in body.items() if name not in self.prompt_keys}
        return self._scrubber.data(canonical_json(sent))


def _texts_of(request: ModelRequest) -> str:
    """Whatever a call says: its messages, tools and schema."""
    tools = (f"{tool.name}\n{tool.description}\n{as_json(tool.parameters)}" for tool in request.tools)
    return "\n".join((*(message.text for message in request.messages), *tools, as_json(request.schema)))


def _sendable(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what no request can hold: half characters (an answer may be cut in one), and no numbers."""
    text = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    sendable: dict[str, Any] = json.loads(text, parse_constant=lambda _name: None)
    return sendable


def _failed(failure: Failure) -> ModelReply:
    return ModelReply(failure.outcome, error=failure.error, retry_after=failure.retry_after)


def _made_of(reading: Reading) -> ModelReply:
    answered = reading.outcome is CallOutcome.ANSWERED
    text = reading.text
    if not text.isascii():  # a stream may cut a character in two halves, which belong together
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    usable = answered or reading.outcome is CallOutcome.TRUNCATED
    error = None if usable else reading.error or f"it ended with the reason {reading.finish_reason!r}"
    return ModelReply(
        reading.outcome,
        # Half a character stays what it is: the parser refuses it, and nothing that was not said is recorded.
        answer=text.encode("utf-8", "surrogatepass") if usable and text else None,
        error=None if error is None else one_line(error),
        tool_calls=reading.tool_calls if answered else (),
        model_version=reading.model_version,
        finish_reason=reading.finish_reason,
        usage=_told(reading.usage, said=bool(text or reading.tool_calls)),
        request_id=reading.response_id,
    )


def _told(usage: Usage, *, said: bool) -> Usage:
    """The usage without counts that cannot be: none for a prompt, or for an answer that was given."""
    return usage.changed(
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or (None if said else usage.output_tokens),
    )


def _unusable(body: bytes, *, stream: bool) -> str:
    if stream:
        return "the stream ended without its last words"
    return one_line(f"the response is no JSON object: {shown(body)}") if body.strip() else "the response is empty"
