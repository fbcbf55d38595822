"""The base of the adapters: one call through an SDK, one reply read from the recorded response."""

import asyncio
import json
import logging
import os
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any, ClassVar
from urllib.parse import urlencode

from jury_events.canonical import canonical_json
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings, Tier
from jury_events.scrubbing import Scrubber
from jury_providers.dialects import OPENAI, SpokenDialect
from jury_providers.endpoints import PROTOCOL_DEFAULTS, ApiProtocol, ProviderConnection
from jury_providers.errors import ProviderError
from jury_providers.failure_table import PromptText, failure_table
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider
from jury_providers.sdk.conversation import LAST_REPLIES, is_marked, marked_blocks
from jury_providers.sdk.failures import (
    MAX_ERROR_CHARACTERS,
    NO_PROMPT_TEXT,
    CallFailure,
    FailureReader,
    exception_failure,
    one_line,
)
from jury_providers.sdk.http_client import (
    MAX_RESPONSE_BYTES,
    AdapterSlots,
    EventReader,
    HttpRecord,
    SharedHttpClient,
    acquire_client,
    environment_headers,
    events_of,
    recording,
    release_client,
)
from jury_providers.sdk.json_fields import as_json, json_object, text_at
from jury_providers.sdk.replies import (
    ParsedReply,
    explained,
    failed_reply,
    only_thoughts,
    opened,
    reply_of,
    scrubbed,
    stated_cost,
    unusable,
)

MAX_RECORDED_BYTES = 1024 * 1024
"""Bytes of a response that are recorded."""

NO_KEY = "none"
"""Sent as the key if there is none: the SDKs require one."""

_HEADERS_KEPT = (
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "openai-beta",
    "user-agent",
    "x-goog-api-client",
)
"""An allow list: other headers of an SDK may contain secrets."""


_REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id")
_GOOD = range(200, 300)
_DOCUMENT_SECONDS = 20.0


logging.getLogger("azure").addHandler(logging.NullHandler())  # a failed login is the reply's error


class EntraTokens:
    """What `DefaultAzureCredential` finds: the environment, a workload or managed identity, a command-line login.

    Calling it returns a token, which is kept until shortly before it expires.

    Args:
        scope: what the token is for.
    """

    def __init__(self, scope: str) -> None:
        from azure.identity.aio import DefaultAzureCredential, get_bearer_token_provider  # noqa: PLC0415  (an extra)

        self._credential = DefaultAzureCredential()
        self._token = get_bearer_token_provider(self._credential, scope)

    async def __call__(self) -> str:
        return await self._token()

    async def close(self) -> None:
        """Release its connections."""
        await self._credential.close()


class SdkAdapter(Provider):
    """A provider that is called through its SDK.

    The SDK signs and sends. The response is read from its bytes, so that it is recorded whole and failures do not
    depend on the SDK.
    """

    sdk_logger: ClassVar[str]
    """The SDK's logger, which prints to stderr unless logging is configured."""

    reply_key: ClassVar[str]
    """The key of a successful reply's JSON that contains its list of contents."""

    prompt_keys: ClassVar[frozenset[str]]
    """The keys of a request's JSON with messages, which are recorded separately."""

    api: ClassVar[ApiProtocol]

    marks_blocks: ClassVar[bool] = True
    """Whether the protocol marks the blocks that are to be kept."""

    def __init__(self, connection: ProviderConnection) -> None:
        self.connection = connection
        self.key = connection.key or NO_KEY
        self.keeps_limit = connection.dialect is OPENAI
        self.leads_home = connection.leads_to(PROTOCOL_DEFAULTS[self.api].host)
        self.scrubber = Scrubber((connection.key, *connection.secrets))
        self.failures = FailureReader(failure_table(connection.failures))
        self._headers_kept = (*_HEADERS_KEPT, *(name.lower() for name in connection.extra_headers))
        self._client: SharedHttpClient | None = None
        self._slots: AdapterSlots | None = None
        self._tokens: EntraTokens | None = None
        self._ready = False
        logging.getLogger(self.sdk_logger).addHandler(logging.NullHandler())

    @property
    def dialect(self) -> SpokenDialect | None:
        """Of a server of one's own, or of another provider."""
        own = self.connection.cloud is not None or self.leads_home
        return self.connection.dialect if self.dialect_ways and not own else None

    def speak(self, dialect: SpokenDialect) -> None:
        """Speak so from now on."""
        self.connection = self.connection._replace(dialect=dialect)

    def _tier(self, settings: CallSettings) -> Tier | None:
        """The tier that a request names; None: it names none.

        Without one, the protocols' own providers answer at the tier that the account is set to, which may be dearer
        than what was reserved. Other servers may not know the field.
        """
        if settings.tier is None and self.leads_home:
            return "standard"
        return settings.tier

    def default_headers(self, absent: object) -> dict[str, Any]:
        """The headers of every request beside the SDK's own: those of the panel file.

        To a host that is not the SDK's own nothing goes that the SDK finds in the environment, unless the panel says
        so: such headers are `absent` (the SDK's word for that), and the credentials those of the connection.
        """
        connection = self.connection
        given: dict[str, Any] = dict(connection.extra_headers)
        if connection.sdk_headers or self.leads_home:
            return given
        known = {name.lower() for name in given}
        # Other clouds' clients write their credentials after these headers.
        bearer = connection.cloud is None or (connection.cloud == "aws" and connection.key is not None)
        for name in environment_headers(PROTOCOL_DEFAULTS[self.api].headers, os.environ):
            if name.lower() == "authorization" and bearer:
                given[name] = f"Bearer {self.key}"
            elif name.lower() not in known:
                given[name] = absent
        return given

    @property
    def streams(self) -> bool:
        """Whether an answer can be read while it is written."""
        return True

    @property
    def concurrency_limit(self) -> AdapterSlots:
        """Its slots of the process's one HTTP client."""
        self._acquired()
        assert self._slots is not None
        return self._slots

    @abstractmethod
    def open(self, client: SharedHttpClient) -> None:
        """Create the SDK's client on top of `client`, without retries."""

    @abstractmethod
    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        """The JSON of a call."""

    @abstractmethod
    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:
        """Send the body once, through the SDK. Its result or exception is ignored: the HTTP client records both."""

    @abstractmethod
    def parse(self, document: dict[str, Any]) -> ParsedReply:
        """Read a reply's JSON."""

    def spelled_out(self, document: dict[str, Any]) -> dict[str, Any]:
        """The reply with a text that its server wrote more shortly in the place where the protocol has it."""
        return document

    def reports_of(self, document: dict[str, Any]) -> Iterable[dict[str, Any]]:
        """The objects of a reply, or of an event, in which an error may be reported."""
        return (document,)

    @abstractmethod
    def text_delta(self, event: dict[str, Any]) -> str:
        """The text that an event of a stream adds to the answer; "" for none."""

    @abstractmethod
    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The reply as one JSON object, from the events of a stream; None if the stream is incomplete."""

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        """Make one call."""
        streamed = self._is_streamed(on_chunk)
        try:
            body = {**self.body(request, stream=streamed), **self.connection.extra_body}
        except Exception as error:  # noqa: BLE001  (a schema that the SDK can't translate)
            return scrubbed(failed_reply(exception_failure(error, built=False)), self.scrubber)
        reader = EventReader()
        record = HttpRecord()
        record.query = self.connection.query
        if on_chunk is not None:
            record.on_bytes = partial(self._feed, record, reader, on_chunk)
        failure = await self._send(request, body, record, stream=streamed)
        scrubber = self.scrubber.knowing(record.secrets)
        record.body = scrubber.data(record.body)  # before a cut could leave half a key
        if on_chunk is not None:
            self._emit(reader.end(), record, on_chunk)
        # A server that does not stream, or reports an error, sends one JSON object; some stream unasked.
        document = None if reader.events else json_object(record.body)
        events = reader.events if document is not None or reader.events else events_of(record.body)
        document = self.assemble(events) if events else document
        prompt = partial(_texts_of, request)
        self._note(request, document)
        reply = explained(self._reply(record, failure, document, events, prompt), request)
        reply = scrubbed(reply, scrubber)
        if on_chunk is not None and not reader.events and reply.answer is not None:
            on_chunk(reply.answer.decode("utf-8", "replace"))
        return reply._replace(sent=self._sent(record, body, request))

    def reply_from(self, request: ModelRequest, body: dict[str, Any], record: HttpRecord) -> ModelReply:
        """The reply in a response that came another way than by a call, read as a call's."""
        reply = explained(self.read(record, partial(_texts_of, request)), request)
        return reply._replace(sent=self._sent(record, body, request))

    def read(self, record: HttpRecord, prompt: PromptText = NO_PROMPT_TEXT) -> ModelReply:
        """The reply in a complete response, without what was sent; `prompt` as far as it is known what was asked."""
        record.body = self.scrubber.data(record.body)
        failure = CallFailure(CallOutcome.MALFORMED_RESPONSE, "there is no response")
        return scrubbed(self._reply(record, failure, json_object(record.body), [], prompt), self.scrubber)

    def _is_streamed(self, on_chunk: OnChunk | None) -> bool:
        asked = self.connection.dialect.stream
        return self.streams and (asked == "always" or (on_chunk is not None and asked != "never"))

    async def close(self) -> None:
        """Release connections."""
        client, slots, tokens = self._client, self._slots, self._tokens
        self._client, self._slots, self._tokens, self._ready = None, None, None, False
        if tokens is not None:
            await tokens.close()
        if client is not None and slots is not None:
            client.slots.leave(slots)
            await release_client(client)

    def entra_tokens(self, scope: str) -> EntraTokens:
        """Tokens of Entra ID for `scope`, as long as the SDK's client is open."""
        self._tokens = EntraTokens(scope)
        return self._tokens

    async def document_at(self, get: Callable[[], Awaitable[object]]) -> dict[str, Any]:
        """The JSON object that answers a request beside the calls; {} where there is none: a server may not have it."""
        record = HttpRecord()
        try:
            self.ensure_open()
            with recording(record):
                async with asyncio.timeout(_DOCUMENT_SECONDS):
                    await get()
        except Exception:  # noqa: BLE001  (no call depends on it)
            return {}
        return (json_object(record.body) if record.status in _GOOD else None) or {}

    def stored_reply(self, text: str) -> dict[str, Any] | None:
        """The recorded reply in an assistant message's text, JSON or a stream; None if the text is a bare answer."""
        data = text.encode("utf-8", "replace")
        document = json_object(data) or self.assemble(events_of(data))
        document = None if document is None else self.spelled_out(document)
        return _sendable(document) if document is not None and isinstance(document.get(self.reply_key), list) else None

    def asks_why(self, request: ModelRequest) -> bool:
        """Whether a call asks the provider why nothing was read of an earlier prompt; clouds are not asked."""
        return self.connection.cloud is None and is_marked(request)

    def earlier_reply_id(self, request: ModelRequest) -> str | None:
        """The provider's id of the reply before this turn, else of the last call that began alike; None: of neither."""
        texts = [message.text for message in request.messages if message.role == "assistant"]
        reply = self.stored_reply(texts[-1]) if texts else None
        return LAST_REPLIES.before(self.connection, request) if reply is None else text_at(reply, "id")

    def _note(self, request: ModelRequest, document: dict[str, Any] | None) -> None:
        reply_id = text_at(document or {}, "id")
        if reply_id is not None and self.asks_why(request):
            LAST_REPLIES.note(self.connection, request, reply_id)

    async def _send(
        self, request: ModelRequest, body: dict[str, Any], record: HttpRecord, *, stream: bool
    ) -> CallFailure:
        """Send the body; the failure to report if the response turns out to be incomplete."""
        seconds = request.settings.attempt_seconds
        try:
            self.ensure_open()
            with recording(record):
                async with asyncio.timeout(seconds):
                    await self.send(request, body, stream=stream)
        except TimeoutError:
            return CallFailure(CallOutcome.TIMEOUT, f"no answer within {seconds:g} s")
        except ProviderError as error:
            return CallFailure(CallOutcome.CONNECTION, one_line(str(error)))
        except Exception as error:  # noqa: BLE001  (every failure is a reply)
            return exception_failure(record.error or error, built=True)
        return CallFailure(CallOutcome.MALFORMED_RESPONSE, f"the response has more than {MAX_RESPONSE_BYTES} bytes")

    def _acquired(self) -> SharedHttpClient:
        if self._client is None:
            self._client = acquire_client()
            self._slots = self._client.slots.join()
        return self._client

    def ensure_open(self) -> None:
        """Create the SDK's client before its first use."""
        if not self._ready:
            self.open(self._acquired())
            self._ready = True

    def _feed(self, record: HttpRecord, reader: EventReader, on_chunk: OnChunk, data: bytes) -> None:
        self._emit(reader.feed(data), record, on_chunk)

    def _emit(self, events: list[dict[str, Any]], record: HttpRecord, on_chunk: OnChunk) -> None:
        scrubber = self.scrubber.knowing(record.secrets)
        for event in events:
            text = self.text_delta(event)
            if text:
                on_chunk(scrubber.text(text))

    def _reply(
        self,
        record: HttpRecord,
        failure: CallFailure,
        document: dict[str, Any] | None,
        events: list[dict[str, Any]],
        prompt: PromptText,
    ) -> ModelReply:
        status, headers, body = record.status, record.headers, record.body
        parsed, begun = None, ModelReply(CallOutcome.OVERLOADED)
        if status is not None and status not in _GOOD:
            failure = self.failures.of_status(status, headers, body, prompt)
        elif record.complete or document is not None:  # complete with its final event, whatever follows
            reports = chain.from_iterable(map(self.reports_of, (*events, document or {})))
            failures = (self.failures.embedded(report, headers, prompt) for report in reports)
            embedded = next(filter(None, failures), None)
            if embedded is not None:
                failure = embedded
                begun = self._begun(document, events)
            elif document is None:
                failure = CallFailure(CallOutcome.MALFORMED_RESPONSE, unusable(body, stream=bool(events)))
            else:
                parsed = self.parse(document)
        cost = stated_cost(self.connection.dialect.stated_cost, document or {}, headers)
        if parsed is None:
            reply = failed_reply(failure._replace(status=failure.status or status), begun)
        else:
            reply = reply_of(self._opened(parsed))
        reply = self._with_response(reply, body, document if events else None) if status is not None else reply
        return reply._replace(
            request_id=next((headers[name] for name in _REQUEST_IDS if name in headers), reply.request_id),
            simulated=headers.get("x-jury-simulated") == "1",
            cost=cost if parsed is not None or begun.began else None,
            host=None if record.request is None else record.request.url.netloc.decode("ascii"),
        )

    def _begun(self, document: dict[str, Any] | None, events: list[dict[str, Any]]) -> ModelReply:
        """What is known of an answer in which an error is reported: its usage, and whether it had begun."""
        if document is None:
            began = any(map(self.text_delta, events))
            return ModelReply(CallOutcome.OVERLOADED, began=began)
        return reply_of(self.parse(document))

    def _opened(self, parsed: ParsedReply) -> ParsedReply:
        """The reply without what stands around its answer, as far as that is known of the server."""
        names = self.connection.dialect.around
        if not names:
            return parsed
        if parsed.outcome is CallOutcome.TRUNCATED and only_thoughts(parsed.text, names):
            return parsed._replace(outcome=CallOutcome.ONLY_REASONING)
        if parsed.outcome is not CallOutcome.ANSWERED or parsed.tool_calls:
            return parsed
        found = opened(parsed.text, names)
        return parsed._replace(text=found.text, stripped=(*parsed.stripped, *found.taken))

    def _with_response(self, reply: ModelReply, body: bytes, assembled: dict[str, Any] | None) -> ModelReply:
        """The reply with its response body.

        For a stream that is too long to be recorded, its assembled JSON is recorded instead: the next turn needs it.
        """
        if len(body) <= MAX_RECORDED_BYTES:
            return reply._replace(response=body)
        if assembled is not None and reply.outcome in {CallOutcome.ANSWERED, CallOutcome.TRUNCATED}:
            kept, what = json.dumps(assembled).encode(), "what they amount to is kept"
        else:
            kept, what = body[:MAX_RECORDED_BYTES], f"the first {MAX_RECORDED_BYTES} are kept"
        note = f"the response has {len(body)} bytes, {what}"
        error = f"{one_line(reply.error, MAX_ERROR_CHARACTERS - len(note) - 2)}; {note}" if reply.error else note
        return reply._replace(response=kept, error=error)

    def _sent(self, record: HttpRecord, body: dict[str, Any], call: ModelRequest) -> bytes:
        """The request without its messages, as sent; as built if it was not sent.

        `cache_marks`: how many blocks of the messages were marked, where some were. `dialect`: in what it differs from
        what OpenAI is sent.
        """
        request = record.request
        sent: dict[str, Any] = {}
        if request is not None:
            url, headers = request.url, request.headers
            body = json_object(request.content) or body
            sent = {
                "method": request.method,
                "url": f"{url.scheme}://{url.netloc.decode('ascii')}{url.path}{_query(self.connection.query)}",
                "headers": {name: headers[name] for name in self._headers_kept if name in headers},
            }
        sent["body"] = {name: value for name, value in body.items() if name not in self.prompt_keys}
        if self.marks_blocks and is_marked(call) and (marks := sum(map(len, marked_blocks(call, self.api)))):
            sent["cache_marks"] = marks
        if changed := self.connection.dialect.changed:
            sent["dialect"] = changed
        return self.scrubber.knowing(record.secrets).data(canonical_json(sent))


def _texts_of(request: ModelRequest) -> str:
    """All texts of a call: its messages, tools and schema."""
    tools = (f"{tool.name}\n{tool.description}\n{as_json(tool.parameters)}" for tool in request.tools)
    return "\n".join((*(message.whole for message in request.messages), *tools, as_json(request.schema)))


def _sendable(document: dict[str, Any]) -> dict[str, Any]:
    """The document without values that no request can contain: lone surrogates (of a cut answer), NaN and infinity."""
    text = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    sendable: dict[str, Any] = json.loads(text, parse_constant=lambda _name: None)
    return sendable


def _query(query: Mapping[str, str]) -> str:
    return f"?{urlencode(query)}" if query else ""
